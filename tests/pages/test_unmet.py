"""What the page says of claims without a badge: plain words, what differs, nothing internal."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from builders import FACTS, Statement, answer_record, hostile_record
from fakes import AlignedWords
from gate_cases import TRUSTED, export, record
from near_miss_path import measured, read_rows
from page_stage import html_of
from plain_words import internal, texts_of
from streamlit.testing.v1 import AppTest

from certirag.proof.certificate import AnswerRecord, RetrievalRecord
from certirag.render import certify

THIRTY = Statement(
    "Full-time employees receive 30 days of leave, says Dana Okoye.",
    "unsupported",
    sentence="Full-time employees receive 27 days of leave, says Ivo Brandt.",
)


def _page(data, trusted, mode) -> None:
    """Draw an answer as a page does, with the drawer that its address asks for."""
    from gate_cases import POLICY

    from certirag.render import Mode
    from ui.answer import show_answer

    show_answer(data, Mode(mode), trusted=trusted, floor=POLICY)


def _drawn(of: AnswerRecord, mode: str, claim: str = "") -> str:
    at = AppTest.from_function(_page, default_timeout=60, args=(export(of), TRUSTED, mode))
    if claim:
        at.query_params["claim"] = claim
    at.run()
    assert not at.exception
    said = [*(c.value for c in at.caption), *(s.value for s in at.subheader)]
    return "\n".join([html_of(at), *said])


def _sentences(html: str) -> list[str]:
    """Return what the page drew between its tags, of several words; the footer names the trace.

    A word alone is a name or a value: where a document lies, its digest.
    """
    texts = unescape(re.sub(r"<[^>]*>", "\n", html)).splitlines()
    return [text for text in texts if " " in text.strip() and not text.startswith("Trace ")]


def _near_misses() -> AnswerRecord:
    rows = read_rows("attacks", "near_misses")[:40]
    claims, results, chunks = measured(rows, AlignedWords())
    whole = record()
    decisions, summary = certify(claims, results, chunks, whole.policy)
    return replace(
        whole,
        retrieval=RetrievalRecord(whole.question, chunks),
        claim_ir=replace(whole.claim_ir, claims=tuple(claims)),
        verification=tuple(results),
        decisions=decisions,
        answer=summary,
    )


RECORDS = {
    "plain": answer_record([Statement(FACTS[0]), THIRTY, Statement(FACTS[1], "contradicted")]),
    "hostile": hostile_record(),
    "near misses": _near_misses(),
}


@pytest.mark.parametrize("mode", ["strict", "mixed"])
@pytest.mark.parametrize("name", RECORDS)
def test_no_internal_word_is_drawn_outside_debug(name: str, mode: str) -> None:
    """The answer and the drawers of its first unverified claims, whatever the record holds."""
    of = RECORDS[name]
    outside = [*texts_of(of), *(chunk.source.section for chunk in of.retrieval.chunks)]
    open_ones = [d.claim_id for d in of.decisions if d.render_state == "UNVERIFIED"][:4]
    for claim in ("", *open_ones):
        assert internal(_sentences(_drawn(of, mode, claim)), outside) == []


def test_debug_draws_what_was_recorded() -> None:
    """There ids, scores of passages and the rules' own reasons are what somebody looks for."""
    html = _drawn(RECORDS["plain"], "debug", "c2")
    for said in ("Chunk doc2#c1", "Entailment 0.31", "Verifier&#x27;s label", "1 span attached"):
        assert said in html


def test_the_drawer_says_why_what_differs_and_what_would_mend_it() -> None:
    """One sentence; figure and names marked on both sides; the claim's lone words in a line."""
    html = _drawn(RECORDS["plain"], "strict", "c2")
    assert "It says 30 days; the closest passage says 27 days." in html
    assert "With the figure that a passage gives" in html
    marked = re.findall(r'<strong class="cr-differs">(.*?)</strong>', html)
    assert marked == ["30 days", "Dana", "Okoye", "27 days", "Ivo", "Brandt"]
    assert "Not in the marked sentence: 30 days, Dana, Okoye" in html


def test_a_claim_with_a_badge_has_nothing_marked_as_different() -> None:
    """What it stands on is quoted as before."""
    html = _drawn(RECORDS["plain"], "strict", "c1")
    assert "Quoted from" in html
    assert "cr-differs" not in html
    assert "Not in the marked sentence" not in html
