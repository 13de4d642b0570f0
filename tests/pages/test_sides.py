"""Documents that disagree about a claim: both sides beside each other in its drawer, told once."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from builders import hostile_strings
from gate_cases import CLAIM, POLICY, TRUSTED, chunk, export, record, result, score
from page_stage import html_of
from streamlit.testing.v1 import AppTest

from certirag.core.text import SpanRef
from certirag.proof.certificate import AnswerRecord, RetrievalRecord
from certirag.render import certify

FOUR = "A lost laptop is reported within 4 hours."
DAY = "A lost laptop is reported within 24 hours."


def disputed(
    one: str = FOUR, other: str = DAY, titles: tuple[str, str] = ("Security 2024", "Reports 2023")
) -> AnswerRecord:
    """Return a record of two claims, each a sentence of one document that the other opposes."""
    sides = [chunk(f"{text} Call.", f"doc{n}", text) for n, text in enumerate((one, other))]
    chunks = tuple(
        replace(of, source=replace(of.source, title=title))
        for of, title in zip(sides, titles, strict=True)
    )
    claims, results = [], []
    for number, (own, against) in enumerate((chunks, chunks[::-1]), 1):
        claim = replace(CLAIM, id=f"c{number}", text=own.spans[0].sentence)
        opposed = score(against, claim=claim, entailed=0.02, neutral=0.08, contradicted=0.9)
        found = result(own, claim)
        ref = SpanRef(against.chunk_id, "s1")
        claims.append(claim)
        results.append(replace(found, all_scores=(*found.all_scores, opposed), opposing=(ref,)))
    decisions, summary = certify(claims, results, chunks, POLICY)
    whole = record()
    return replace(
        whole,
        claim_ir=replace(whole.claim_ir, claims=tuple(claims)),
        retrieval=RetrievalRecord("How fast?", chunks),
        verification=tuple(results),
        decisions=decisions,
        answer=summary,
    )


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
    at = _drawn(disputed(), claim)
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
    at = _drawn(disputed())
    page = html_of(at)
    assert len(re.findall(r"<blockquote", page)) == 2
    assert page.count("cr-differs") == 2


@pytest.mark.parametrize(("name", "text"), hostile_strings(), ids=lambda value: value[:20])
def test_hostile_sides_are_inert(name, text) -> None:
    """Whatever stands in the two documents and their titles, only our own marks are markup."""
    if not text.strip():
        return
    html = _quotes(_drawn(disputed(text, f"{text} 30 days", (text, text)), "c1"))
    for quote in re.findall(r"<blockquote[^>]*>(.*?)</blockquote>", html, re.DOTALL):
        assert set(re.findall(r"<(\w+)", quote)) <= {"mark", "strong"}, name
        assert not re.search("[✅✔☑\u202a-\u202e\u2066-\u2069\u200b]", quote)
