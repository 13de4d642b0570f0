"""What every page shares: its style and heading, and errors as one plain line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import streamlit as st

from certirag.core.said import Message
from certirag.errors import CertiRAGError
from ui.inert import draw_style, draw_text
from ui.language import choose_language, tr

LOGO: Final = Path(__file__).resolve().parent.parent / "assets" / "logo.png"
# Page → its title and its one line of purpose.
PAGES: Final[dict[str, tuple[Message, Message]]] = {
    "ask": ("Ask", "Ask your documents. Every claim of the answer is checked against them."),
    "draft": (
        "Check a draft",
        "Paste somebody else's answer. Each of its claims is checked against documents.",
    ),
    "corpus": (
        "Corpus",
        "What was read, what was not and why, and the passages that may be quoted.",
    ),
    "document": (
        "Document",
        "One document as it was read: the text that answers are made from.",
    ),
    "audit": (
        "Audit",
        "What was answered before, whether the log holds, and what has changed since.",
    ),
    "evaluation": (
        "Evaluation",
        "What was measured of the verifier and the gate, run by run, down to each claim.",
    ),
    "contract": (
        "Trust contract",
        "What a badge here says, what it does not, and the rules behind it.",
    ),
}


def begin(page: str) -> None:
    """Draw the style sheet, the title of *page* and its one line of purpose."""
    draw_style()
    st.logo(LOGO, size="large")
    with st.container(horizontal=True, vertical_alignment="center", key="title"):
        st.title(tr(PAGES[page][0]), anchor=False)
        choose_language()
    st.caption(tr(PAGES[page][1]))


@contextmanager
def plain_errors() -> Iterator[None]:
    """Draw a CertiRAGError as one plain line; whatever was to follow it is not drawn."""
    try:
        yield
    except CertiRAGError as error:
        draw_text(str(error), "error")
