"""Documents that disagree about a claim: both sides beside each other in its drawer, told once."""

from __future__ import annotations

import re

import pytest
from builders import disputed_record, hostile_strings
from gate_cases import TRUSTED, export, record
from page_stage import html_of
from streamlit.testing.v1 import AppTest

from certirag.proof.certificate import AnswerRecord


def _page(data, trusted) -> None:
    """Draw an answer in Debug, with the drawer that its address asks for."""
    from gate_cases import POLICY

    from certirag.render import Mode
    from ui.answer import show_answer

    show_answer(data, Mode.DEBUG, trusted=trusted, floor=POLICY)


def _drawn(of: AnswerRecord, claim: str = "") -> AppTest:
    at = AppTest.from_function(_page, default_timeout=60, args=(export(of), TRUSTED))
    if claim:
        at.query_params["claim"] = claim
    at.run()
    assert not at.exception
    return at


def _quotes(block) -> str:
    """Return the quotations that stand in *block*."""
    bodies = [element.proto.body for element in block.get("html")]
    return "\n".join(body for body in bodies if "cr-quote" in body)


@pytest.mark.parametrize(
    ("claim", "own", "other"), [("c1", "4 hours", "24 hours"), ("c2", "24 hours", "4 hours")]
)
def test_both_sides_stand_beside_each_other(claim, own, other) -> None:
    """Left what speaks for the claim, right what speaks against it, each marked and dated."""
    at = _drawn(disputed_record(), claim)
    dialog = at.get("dialog")[0]
    left, right = (_quotes(column) for column in dialog.get("column")[-2:])
    assert f'<strong class="cr-differs">{own}</strong>' in left
    assert f'<strong class="cr-differs">{other}</strong>' in right
    titles = ["Security 2024", "Reports 2023"][:: 1 if claim == "c1" else -1]
    for side, title in zip((left, right), titles, strict=True):
        assert title in side
        assert f"Dated {title[-4:]}, by its title" in side
        assert "Annual leave" in side
    headings = [one.value for one in at.subheader]
    assert headings.index("Evidence for it") < headings.index(
        "Contested: another document speaks against it"
    )
    assert "cr-status--verified" not in html_of(at)


def test_a_claim_that_nothing_speaks_against_has_one_side() -> None:
    """Its drawer has no columns."""
    at = _drawn(record(), "c1")
    assert not at.get("dialog")[0].get("column")
    assert "Evidence it stands on" in [one.value for one in at.subheader]


def test_the_page_tells_a_disagreement_once() -> None:
    """Two quotations beside each other, not four."""
    at = _drawn(disputed_record())
    page = html_of(at)
    assert len(re.findall(r"<blockquote", page)) == 2
    assert page.count("cr-differs") == 2


@pytest.mark.parametrize(("name", "text"), hostile_strings(), ids=lambda value: value[:20])
def test_hostile_sides_are_inert(name, text) -> None:
    """Whatever stands in the two documents and their titles, only our own marks are markup."""
    if not text.strip():
        return
    html = _quotes(_drawn(disputed_record(text, f"{text} 30 days", (text, text)), "c1"))
    for quote in re.findall(r"<blockquote[^>]*>(.*?)</blockquote>", html, re.DOTALL):
        assert set(re.findall(r"<(\w+)", quote)) <= {"mark", "strong"}, name
        assert not re.search("[✅✔☑\u202a-\u202e\u2066-\u2069\u200b]", quote)
