"""The judgement on a whole answer: decision, reason, confidence, what is left out, what came near."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from builders import FACTS, Statement, answer_record, hostile_record
from fakes import WordReader
from gate_cases import CLAIM, POLICY, TRUSTED, chunk, export, record, result, score
from hypothesis import given
from hypothesis import strategies as st

from certirag.checker import check
from certirag.core.judgement import REASON_CODES, ConfidenceBasis, Suggestion, Suggestions
from certirag.core.text import RetrievalScores, sha256_hex
from certirag.core.verdict import two_places
from certirag.proof.certificate import (
    AnswerSummary,
    Confidence,
    open_export,
    record_json,
)
from certirag.render import Mode, certify, present, presentation_html
from certirag.render.abstain import REASONS, Grounds, lacks_answer, with_suggestions
from certirag.render.closest import (
    MAX_REFERENCES,
    carried_references,
    closest_references,
    found_references,
)
from certirag.render.confidence import CAVEATS, confidence_of, evidence_quality, with_caveats
from certirag.render.judgement_text import judgement_lines
from certirag.retrieve.relevance import nearest

LADDER = ("insufficient_evidence", "low", "medium", "high")
GOOD, WEAK, AGAINST = (
    Statement(FACTS[0]),
    Statement(FACTS[1], "unsupported", "Travel handbook"),
    Statement("Full-time employees receive 30 days of leave.", "contradicted", "Old policy"),
)
HELP = Suggestions((Suggestion("heading", "What is said under “Fire drills”?", "a heading"),))


def _basis(verified: int, checkable: int, **changes: object) -> ConfidenceBasis:
    share = round(verified / checkable, 6) if checkable else 0.0
    return replace(ConfidenceBasis(checkable, verified, share), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("basis", "label"),
    [
        (_basis(9, 10), "high"),
        (_basis(89, 100), "medium"),
        (_basis(3, 4), "medium"),
        (_basis(74, 100), "low"),
        (_basis(1, 2), "low"),
        (_basis(49, 100), "insufficient_evidence"),
        (_basis(0, 0), "insufficient_evidence"),
        (_basis(9, 10, high_risk_unresolved=1), "medium"),
        (_basis(6, 10, high_risk_unresolved=1), "low"),
        (_basis(10, 10, contested=1), "medium"),
        (_basis(9, 10, contradicted=1), "low"),
        (_basis(6, 8, contradicted=2), "insufficient_evidence"),
        (_basis(10, 10, retrieval=1.0, specificity=1.0), "high"),
        (_basis(10, 10, retrieval=0.1, specificity=1.0), "medium"),
        (_basis(10, 10, retrieval=1.0, specificity=0.4), "medium"),
        (_basis(10, 10, retrieval=float("nan")), "medium"),
        (_basis(10, 10, relevance=0.85), "high"),
        (_basis(10, 10, relevance=0.84), "medium"),
        (_basis(10, 10, relevance=0.49), "low"),
        (_basis(10, 10, relevance=float("nan")), "low"),
        (_basis(10, 10, pass_rate=float("nan")), "insufficient_evidence"),
        (_basis(10, 10, pass_rate=7.0), "insufficient_evidence"),
    ],
)
def test_the_bands_are_the_rfcs_and_caveats_only_lower_them(basis, label) -> None:
    """RFC-0004 §7: 90, 75 and 50 percent; unresolved risk, contradiction and thin evidence lower."""
    assert confidence_of(basis) == label


small = st.integers(0, 12)


@given(small, small, small, small, small)
def test_nothing_bad_raises_the_confidence(verified, unmet, risky, against, contested) -> None:
    """One more claim without a badge, open, risky, contested or contradicted, never raises it."""

    def rank(verified: int, unmet: int, risky: int, against: int, contested: int) -> int:
        counts = {"high_risk_unresolved": risky, "contradicted": against, "contested": contested}
        return LADDER.index(confidence_of(_basis(verified, verified + unmet, **counts)))

    unmet += against
    before = rank(verified, unmet, risky, against, contested)
    assert rank(verified, unmet + 1, risky, against, contested) <= before
    assert rank(verified, unmet + 1, risky + 1, against, contested) <= before
    assert rank(verified, unmet + 1, risky, against + 1, contested) <= before
    assert rank(verified, unmet, risky, against, contested + 1) <= before
    assert rank(verified + 1, unmet, risky, against, contested) >= before


def test_every_caveat_can_occur_and_is_named() -> None:
    """The basis says by name what lowered it, so that a reader can see why."""
    worst = with_caveats(
        replace(
            _basis(0, 4, high_risk_unresolved=1, contradicted=4, contested=1, retrieval=0.0),
            relevance=0.1,
            open_parts=1,
        )
    )
    none = with_caveats(_basis(0, 0, specificity=0.0, relevance=0.6))
    assert set(worst.caveats) | set(none.caveats) == set(CAVEATS)
    assert "thin_relevance" not in worst.caveats, "what answers nothing is told once"
    assert set(CAVEATS.values()) < set(get_args(Confidence))
    assert with_caveats(_basis(4, 4, retrieval=1.0, specificity=1.0)).caveats == ()


def test_the_quality_of_evidence_is_rank_and_words() -> None:
    """Retrieval is the reciprocal of the best rank, specificity the claim's words in sentences."""
    of = replace(chunk(), retrieval=RetrievalScores(bm25_rank=4, dense_rank=2, rank=5))
    results, chunks = {CLAIM.id: result(of)}, {of.chunk_id: of}
    assert evidence_quality([CLAIM], results, chunks) == (0.5, 1.0)
    unranked = replace(of, retrieval=RetrievalScores())
    assert evidence_quality([CLAIM], results, {of.chunk_id: unranked}) == (0.0, 1.0)
    assert evidence_quality([CLAIM], {}, {}) == (0.0, 0.0)
    assert evidence_quality([], results, chunks) == (None, None)


@pytest.mark.parametrize(
    ("statements", "decision", "code"),
    [
        ((GOOD,), "ACCEPT", "ALL_VERIFIED"),
        ((GOOD, WEAK), "STRIP", "SOME_UNVERIFIED"),
        ((GOOD, WEAK, AGAINST), "STRIP", "SOME_CONTRADICTED"),
        ((WEAK,), "REJECT", "INSUFFICIENT_EVIDENCE"),
        ((WEAK, AGAINST), "REJECT", "CONTRADICTED"),
        ((), "REJECT", "NO_CLAIMS"),
    ],
)
def test_the_answer_is_the_largest_part_with_badges(statements, decision, code) -> None:
    """Every claim that passes alone is in the answer, whatever stands beside it."""
    of = answer_record(statements)
    assert (of.answer.decision, of.answer.reason_code) == (decision, code)
    assert of.answer.reason == REASONS[code]
    alone = [answer_record([one]).answer.verified for one in statements]
    assert of.answer.verified == sum(alone)
    seen = present(export(of), Mode.STRICT, trusted=TRUSTED)
    assert len(seen.shown) == of.answer.verified
    left = [claim for group in of.answer.left_out for claim in group.claims]
    assert len(left) == len(set(left)) == len(statements) - of.answer.verified


def _summary(claim, of, measured) -> AnswerSummary:
    return certify([claim], [measured], [of] if of else [], POLICY, question="Leave?")[1]


def test_a_part_that_failed_is_not_taken_for_missing_evidence() -> None:
    """No passage, a failed verifier and an opposing document are reasons of their own."""
    of = chunk()
    nothing = replace(result(of), best_evidence=(), all_scores=(), score=0.0, label="error")
    assert _summary(CLAIM, of, nothing).reason_code == "UNGROUNDED_CLAIMS"
    broken = replace(result(of), error="the verifier did not answer", label="error")
    assert _summary(CLAIM, of, broken).reason_code == "MEASUREMENT_FAILED"
    other = replace(chunk(doc_id="other"), sha256=chunk().sha256)
    opposes = score(other, entailed=0.1, neutral=0.28, contradicted=0.62)
    whole = result(of)
    measured = replace(whole, all_scores=(*whole.all_scores, opposes))
    policy = replace(POLICY, tau_contest=0.6)
    _, summary = certify([CLAIM], [measured], [of, other], policy)
    assert (summary.reason_code, summary.basis.contested) == ("CONTESTED", 1)


def test_the_codes_are_a_closed_set_with_words() -> None:
    """Each code has its sentence, and no sentence is without a code."""
    assert set(REASONS) == set(REASON_CODES)
    assert len(set(REASONS.values())) == len(REASON_CODES)


def test_limitations_name_claims_rules_and_documents_but_no_contradicted_text() -> None:
    """What is missing is said by claim, reason and document; blocked text stays in debug."""
    of = answer_record([GOOD, WEAK, AGAINST])
    text = "\n".join(of.answer.limitations)
    assert "2 of 3 checkable claims are left out." in text
    assert "Claim c2 is left out: the closest passage supports it with 0.31; 0.85 is needed" in text
    assert "“Old policy” contradicts it" in text
    assert "“Old policy” says otherwise (c3)." in text
    for mode in (Mode.STRICT, Mode.MIXED):
        seen = present(export(of), mode, trusted=TRUSTED)
        assert "30 days" not in "\n".join([*judgement_lines(seen), *seen.summary.limitations])
    assert answer_record([GOOD]).answer.limitations == ()


def test_a_name_that_the_answer_does_not_speak_of_is_a_limitation() -> None:
    """A figure of the question that stands in no supported claim and no heading is named."""
    of = chunk()
    asked = "How many days of annual leave do employees in Norway get in 2031?"
    _, summary = certify([CLAIM], [result(of)], [of], POLICY, question=asked)
    assert summary.decision == "ACCEPT"
    assert summary.limitations == ("The answer says nothing of “Norway”, “2031”.",)


def _no_claims(question: str, *chunks) -> AnswerSummary:
    return certify([], [], chunks, POLICY, question=question)[1]


def test_the_nearest_passages_say_what_they_lack() -> None:
    """Without a claim: what a reader says of them, best first, instructions by name."""
    of = chunk()
    asked = "How much annual leave is there in Norway?"
    near = found_references(nearest(asked, [of], WordReader(), most=MAX_REFERENCES))
    assert near[0].quote == CLAIM.text
    assert near[0].why == "it answers the question with 0.40; 0.50 is needed"
    assert (near[0].title, near[0].section) == ("Leave policy", "Annual leave")
    span = of.spans[0]
    told = found_references([(of, span, None), (of, span, 0.9)])
    assert told[0].why == "it reads as an instruction to a model, and was ignored"
    assert told[1].why == "it answers the question with 0.90, and no claim here says it"
    assert _no_claims(asked, of).closest_references == ()
    assert nearest("?", [of], WordReader(), most=3) == []


def test_a_passage_that_a_record_carries_is_shown_where_it_is_what_it_quotes() -> None:
    """A record may say of a passage what it likes; the words are those of the passage."""
    of = chunk()
    (one, *_) = found_references(nearest("How much leave?", [of], WordReader(), most=1))
    assert carried_references([one], [of]) == (one,)
    assert carried_references([replace(one, title="Another")], [of]) == (one,)
    for forged in (replace(one, quote="Leave is unlimited."), replace(one, span_id="s9")):
        assert carried_references([forged], [of]) == ()
    assert carried_references([one], []) == ()


def test_the_nearest_passages_of_claims_say_their_scores() -> None:
    """With claims: the spans that say most for or against, and how much is needed."""
    near = answer_record([WEAK, AGAINST]).answer.closest_references
    assert near[0].why == "says otherwise than claim c2 (0.93)"
    assert near[1].why == "supports claim c1 with 0.31; 0.85 is needed"
    assert len(near) <= MAX_REFERENCES
    assert answer_record([GOOD]).answer.closest_references == ()


def test_of_low_scores_the_passage_nearest_in_words_comes_first() -> None:
    """0.31 against 0.02 says nothing; what was scored nought is no passage at all."""
    text, free = "Children under five do not pay.", "Children under five travel free of charge."
    of = answer_record([Statement(text, "unsupported", sentence="The ferry crosses hourly.")])
    (claim,), (found,) = of.claim_ir.claims, of.verification
    other = chunk(free, "doc9", free)
    for entailed, first in ((0.02, free), (0.0, "The ferry crosses hourly.")):
        low = score(other, claim=claim, entailed=entailed, neutral=1 - entailed, contradicted=0.0)
        results = (replace(found, all_scores=(*found.all_scores, low)),)
        near = closest_references(
            [claim], Grounds("", results, (*of.retrieval.chunks, other), POLICY)
        )
        assert near[0].quote == first
    assert len(near) == 1


def test_a_passage_that_does_not_resolve_or_cannot_be_seen_is_not_shown() -> None:
    """A hidden sentence and a quote that differs from its chunk are no reference."""
    of = chunk()
    hidden = replace(of, spans=tuple(replace(span, visible=False) for span in of.spans))
    moved = replace(of, spans=tuple(replace(span, start=span.start + 1) for span in of.spans))
    for bad in (hidden, moved):
        assert _no_claims("How much annual leave is there?", bad).closest_references == ()
        grounds = Grounds("", (result(of),), (bad,), POLICY)
        assert closest_references([CLAIM], grounds) == ()


def test_suggestions_are_carried_only_where_an_answer_is_missing() -> None:
    """They change no decision, and an accepted answer carries none."""
    accepted, refused = answer_record([GOOD]).answer, answer_record([WEAK]).answer
    assert with_suggestions(accepted, HELP) == accepted
    helped = with_suggestions(refused, HELP)
    assert helped.query_refinements == ("What is said under “Fire drills”?",)
    assert replace(helped, query_refinements=(), suggestions=None) == refused
    assert lacks_answer(refused)
    assert not lacks_answer(accepted)


def test_what_is_recorded_is_what_a_display_derives() -> None:
    """Decision, limitations, counts and nearest passages come out of the record alone."""
    whole = answer_record([GOOD, WEAK, AGAINST])
    measured = (whole.claim_ir.claims, whole.verification, whole.retrieval.chunks)
    kept = open_export(export(whole), TRUSTED)
    again = certify(kept.claim_ir.claims, kept.verification, kept.retrieval.chunks, kept.policy)
    assert again == certify(*measured, whole.policy)
    assert again[1] == kept.answer


def test_a_stricter_display_says_why_it_refuses_what_was_accepted() -> None:
    """A reader's own policy takes the badge: reason and passages are those of that policy."""
    floor = replace(POLICY, name="floor", tau_entail=0.99)
    seen = present(export(record()), Mode.STRICT, trusted=TRUSTED, floor=floor)
    lines = "\n".join(judgement_lines(seen))
    assert seen.summary.decision == "REJECT"
    assert "it supports a statement here with 0.97; 0.99 is needed" in lines


def test_hostile_texts_stay_text_in_the_judgement() -> None:
    """Titles, quotes and questions full of markup make no tag, mark or control character."""
    of = hostile_record()
    refused = replace(
        of,
        claim_ir=replace(of.claim_ir, claims=()),
        verification=(),
        decisions=(),
        answer=with_suggestions(
            certify([], [], of.retrieval.chunks, of.policy, question=of.question)[1],
            Suggestions((Suggestion("heading", of.question, of.question),)),
        ),
    )
    seen = present(export(refused), Mode.STRICT, trusted=TRUSTED)
    lines = judgement_lines(seen)
    assert any(of.question[:4] in line for line in lines)
    html = presentation_html(seen)
    assert "<script" not in html
    assert "<img" not in html
    assert not set("".join(lines)) & set("✅✔☑✓❌\x1b\u202e\u200b")


def test_the_summary_is_in_the_export_and_signed() -> None:
    """Changing a suggested question or a passage in the readable part is seen."""
    of = answer_record([WEAK])
    of = replace(of, answer=with_suggestions(of.answer, HELP))
    data = export(of)
    assert record_json(of)["answer"]["suggestions"]["refinements"][0]["kind"] == "heading"
    assert check(data, TRUSTED).verdict == "VALID"
    assert check(data.replace(b"Fire drills", b"Fire alarm", 1), TRUSTED).verdict == "TAMPERED"
    assert sha256_hex(data) == sha256_hex(export(of))


@pytest.mark.parametrize(
    ("score", "needed", "told"),
    [
        (0.847, 0.85, "0.84"),
        (0.8499999, 0.85, "0.84"),
        (0.8449, 0.85, "0.84"),
        (0.85, 0.85, "0.85"),
        (0.996, 1.0, "0.99"),
        (0.0, 0.85, "0.00"),
        (0.91, 0.85, "0.91"),
    ],
)
def test_a_score_that_falls_short_does_not_read_like_what_it_lacks(
    score: float, needed: float, told: str
) -> None:
    """Of "0.85; 0.85 is needed" a reader learns nothing."""
    assert two_places(score, needed) == told
