"""README, the model cards and the pipeline page say no figure that `certirag eval` does not print.

What it printed stands in two pages, word for word; each says which verifier was measured.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from certirag.bootstrap import load_policy, make_verifier
from certirag.eval.pairs import head_of
from certirag.settings import read_settings
from certirag.verification.measured import read_measurements

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "assets" / "models"
BENCHMARK = (ROOT / "docs" / "builtin.md").read_text("utf-8")
PUBLIC = (ROOT / "docs" / "public-pairs.md").read_text("utf-8")
PRINTED = {*BENCHMARK.splitlines(), *PUBLIC.splitlines()}
# Counts, shares and figures of three decimals; how a model was made is no measurement.
FIGURE = re.compile(r"\d[\d,]* of (?:the )?\d[\d,]*|\d+(?:\.\d+)? ?%|(?<!\d)0?\.\d{3,}(?!\d)")
MADE = (
    "## What it is",
    "## How it was made",
    "## Origin and licence",
    "## How close it is",
    "## Files",
)
STATED = (
    "README.md",
    "docs/pipeline.md",
    *sorted(str(path.relative_to(ROOT)) for path in MODELS.glob("*/MODEL_CARD.md")),
)


def _stated(page: str) -> str:
    """Return what *page* says of measurements: all of it but how a model was made."""
    parts = re.split(r"(?m)^(?=## )", (ROOT / page).read_text("utf-8"))
    return "".join(part for part in parts if not part.startswith(MADE))


@pytest.mark.parametrize("page", [BENCHMARK, PUBLIC], ids=["builtin", "public-pairs"])
def test_a_page_is_of_the_verifier_and_the_policy_that_ship(page: str) -> None:
    """Whoever changes either measures again: ``certirag eval``."""
    settings = read_settings({})
    head = head_of(make_verifier(settings.verifier), load_policy(settings.policy))
    reader = f"{head[:-1]}; reader `{settings.reader}`."
    assert {head, reader} & {*page.splitlines()}
    small = head_of(make_verifier("embedded"), load_policy(settings.policy))
    for line in page.splitlines():
        assert not line.startswith("Measured: verifier") or line in (head, reader, small)


@pytest.mark.parametrize("page", STATED)
def test_no_other_figures_are_stated(page: str) -> None:
    """Every row of a table of figures is one of theirs, and so is every figure in the text."""
    text = _stated(page)
    rows = [row for row in re.findall(r"(?m)^\|.*\|$", text) if FIGURE.search(row)]
    assert [row for row in rows if row not in PRINTED] == []
    printed = {*FIGURE.findall(BENCHMARK), *FIGURE.findall(PUBLIC)}
    assert sorted({*FIGURE.findall(text)} - printed) == []


def test_most_pages_state_some() -> None:
    """The search finds figures where there are any."""
    assert len(FIGURE.findall(_stated("README.md"))) > 50
    assert sum(bool(FIGURE.search(_stated(page))) for page in STATED) >= 4


def test_the_badge_says_what_the_page_says() -> None:
    """`certirag eval risk` wrote both."""
    for one in read_measurements(MODELS / "verifier" / "measured.json"):
        row = f"| {one.set_name} | {one.policy.name} | {one.badges} | {one.wrong} |"
        assert any(line.startswith(row) for line in PRINTED), row
