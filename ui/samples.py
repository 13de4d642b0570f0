"""Sample questions and drafts of the demo corpora, read from the fixtures, one click away."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import streamlit as st

from certirag.core.said import Message
from ui.inert import draw_lines, draw_text
from ui.language import tr

FIXTURES: Final = Path(__file__).resolve().parent.parent / "fixtures"
ANSWERABLE: Final = 3
UNANSWERABLE: Final = 1
DRAFTS: Final = 2
TOUR: Final[tuple[Message, ...]] = (
    "1. Ask question 1 below: each claim of the answer has a badge, or none.",
    "2. Click the badge: the passage, the words on their page, and what every rule said.",
    "3. Plant errors in this answer: each error is caught, or it is said that it was not.",
    "4. Check a draft: a pasted answer is marked in its own words.",
    "5. Download audit JSON, and check it offline: Trust contract, Checking us, says how.",
)


def draw_samples(corpus: str, choose: Callable[[str, str], None], *, drafts: bool = False) -> None:
    """Draw samples for *corpus*, each with a button that calls *choose(text, question)*."""
    samples = _drafts(corpus) if drafts else _questions(corpus)
    if not samples:
        return
    if not drafts:
        with st.expander(tr("A tour in five clicks")):
            draw_lines(map(tr, TOUR))
    st.caption(tr("Or try one of these"))
    for number, (text, question) in enumerate(samples):
        with st.container(
            key=f"sample-{corpus}-{number}",
            horizontal=True,
            vertical_alignment="center",
            wrap=False,
        ):
            draw_text(_begin(text), "note")
            st.button(
                tr("Check draft {n:d}", n=number + 1)
                if drafts
                else tr("Ask question {n:d}", n=number + 1),
                key=f"try-{corpus}-{number}",
                type="tertiary",
                on_click=choose,
                args=(text, question),
            )


def _begin(text: str, length: int = 160) -> str:
    return text if len(text) <= length else f"{text[:length].rsplit(' ', 1)[0]} …"


@cache
def _questions(corpus: str) -> tuple[tuple[str, str], ...]:
    """Return questions that the corpus answers and one that it does not, which is refused."""
    rows = _rows(corpus)
    answered = [row for row in rows if row["answerable"]][:ANSWERABLE]
    refused = [row for row in rows if not row["answerable"]][:UNANSWERABLE]
    return tuple((str(row["question"]), "") for row in (*answered, *refused))


def _rows(corpus: str) -> list[dict[str, Any]]:
    path = FIXTURES / "questions" / f"{corpus}.jsonl"
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


@cache
def _drafts(corpus: str) -> tuple[tuple[str, str], ...]:
    paths = sorted((FIXTURES / "drafts").glob(f"{corpus}-*.json"))[:DRAFTS]
    found = [json.loads(path.read_text("utf-8")) for path in paths]
    return tuple((str(draft["text"]), str(draft["question"])) for draft in found)
