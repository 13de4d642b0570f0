"""The ways in which other products let an unchecked claim pass, each shut here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from gate_cases import (
    CLAIM,
    OTHER,
    POLICY,
    SENTENCE,
    chunk,
    good_case,
    score,
    with_first_score,
    with_result,
)

from certirag.core.policy import BASE_RULES, RISK_CLASSES, Policy
from certirag.core.text import FragmentSelector, SpanRef, sha256_hex
from certirag.errors import PolicyError
from certirag.render.certify import certify, decide_all, summarise
from certirag.render.gate import Case, Finding, RenderState, decide, is_verified, state_of
from certirag.render.rules import RULES

Spoil = Callable[[Case], Case]


def _chunks(case: Case, **changes: object) -> Case:
    changed = {key: replace(value, **changes) for key, value in case.chunks.items()}  # type: ignore[arg-type]
    return replace(case, chunks=changed)


def _first_span(case: Case, **changes: object) -> Case:
    first, second = chunk().spans
    return _chunks(case, spans=(replace(first, **changes), second))  # type: ignore[arg-type]


def _selector(case: Case, **changes: object) -> Case:
    selector = chunk().spans[0].selector
    assert selector is not None
    return _first_span(case, selector=replace(selector, **changes))  # type: ignore[arg-type]


def _with_opposition(case: Case, contradicted: float) -> Case:
    """Add another document that contradicts the claim with this score."""
    text = "Full-time employees receive 24 days of annual leave per calendar year."
    other = chunk(text, "old-leave", text)
    opposing = score(other, entailed=0.0, neutral=1 - contradicted, contradicted=contradicted)
    grown = replace(case, chunks={**case.chunks, other.chunk_id: other})
    return with_result(grown, all_scores=(*case.result.all_scores, opposing))


# name → (how the case is spoiled, the rule that must refuse)
SPOILED: dict[str, tuple[Spoil, str]] = {
    "no evidence attached": (lambda c: with_result(c, best_evidence=()), "evidence"),
    "cited chunk is missing": (lambda c: replace(c, chunks={}), "evidence"),
    "cited span is missing": (
        lambda c: with_result(c, best_evidence=(SpanRef("leave#c1", "s9"),)),
        "evidence",
    ),
    "same span attached twice": (
        lambda c: with_result(c, best_evidence=(SpanRef("leave#c1", "s1"),) * 2),
        "evidence",
    ),
    "chunk text was changed": (lambda c: _chunks(c, text="x" * 200), "evidence"),
    "chunk digest was changed": (lambda c: _chunks(c, sha256="0" * 64), "evidence"),
    "source digest is no digest": (
        lambda c: _chunks(c, source=replace(chunk().source, sha256="unknown")),
        "evidence",
    ),
    "quote differs by one character": (
        lambda c: _chunks(
            c, spans=(replace(chunk().spans[0], sentence=SENTENCE[:-1] + "!"), chunk().spans[1])
        ),
        "evidence",
    ),
    "span runs past the chunk": (
        lambda c: _chunks(c, spans=(replace(chunk().spans[0], end=9999), chunk().spans[1])),
        "evidence",
    ),
    "two spans share a name": (
        lambda c: _chunks(c, spans=(chunk().spans[0], replace(chunk().spans[1], span_id="s1"))),
        "evidence",
    ),
    "evidence is invisible on the page": (
        lambda c: _chunks(c, spans=(replace(chunk().spans[0], visible=False), chunk().spans[1])),
        "evidence",
    ),
    "nothing says where the quote stands": (
        lambda c: _first_span(c, selector=None),
        "evidence",
    ),
    "the quote's selector is another sentence's": (
        lambda c: _first_span(c, selector=chunk().spans[1].selector),
        "evidence",
    ),
    "the quote's selector is no selector": (
        lambda c: _first_span(c, selector=True),
        "evidence",
    ),
    "a UTF-8 offset is one byte off": (
        lambda c: _selector(c, utf8_end=len(SENTENCE) + 1),
        "evidence",
    ),
    "a UTF-16 offset is one unit off": (
        lambda c: _selector(c, utf16_start=1),
        "evidence",
    ),
    "an offset is True": (lambda c: _selector(c, utf8_start=False), "evidence"),
    "the selector names a page that the source has not": (
        lambda c: _selector(c, fragment=FragmentSelector("page=1")),
        "evidence",
    ),
    "the selector quotes other words around": (
        lambda c: _selector(c, quote=replace(chunk().spans[0].selector.quote, suffix=" Not so.")),
        "evidence",
    ),
    "the passage is said to stand elsewhere": (
        lambda c: _chunks(c, source=replace(chunk().source, start=7)),
        "evidence",
    ),
    "the passage is said to be of another section": (
        lambda c: _chunks(c, source=replace(chunk().source, section="Sick leave")),
        "evidence",
    ),
    "the passage has half a character": (
        lambda c: _chunks(
            c,
            text=f"{SENTENCE} \ud83d{OTHER}",
            sha256=sha256_hex(f"{SENTENCE} \ud83d{OTHER}"),
        ),
        "evidence",
    ),
    "score below the threshold": (
        lambda c: with_first_score(with_result(c, score=0.84), entailed=0.84),
        "entailed",
    ),
    "score is None": (lambda c: with_result(c, score=None), "entailed"),
    "score is NaN": (lambda c: with_result(c, score=math.nan), "entailed"),
    "score is infinite": (lambda c: with_result(c, score=math.inf), "entailed"),
    "score is above one": (lambda c: with_result(c, score=1.5), "entailed"),
    "score is negative": (lambda c: with_result(c, score=-0.1), "entailed"),
    "score is True": (lambda c: with_result(c, score=True), "entailed"),
    "score is text": (lambda c: with_result(c, score="0.99"), "entailed"),
    "set score differs from its only span's": (
        lambda c: with_first_score(c, entailed=0.2),
        "entailed",
    ),
    "attached span was never scored": (
        lambda c: with_result(c, all_scores=c.result.all_scores[1:]),
        "entailed",
    ),
    "label is not entailed": (
        lambda c: with_result(c, label="not_enough_info"),
        "entailed",
    ),
    "an unattached span contradicts": (
        lambda c: _with_opposition(c, 0.90),
        "not_contradicted",
    ),
    "contradiction score is missing": (
        lambda c: with_first_score(c, contradicted=None),
        "not_contradicted",
    ),
    "contradiction score is NaN": (
        lambda c: with_first_score(c, contradicted=math.nan),
        "not_contradicted",
    ),
    "a number is not in the evidence": (
        lambda c: replace(c, claim=replace(CLAIM, text=SENTENCE.replace("27", "28"))),
        "numbers",
    ),
    "a unit is not in the evidence": (
        lambda c: replace(c, claim=replace(CLAIM, text=SENTENCE.replace("days", "weeks"))),
        "numbers",
    ),
    "the claim is a question": (
        lambda c: replace(c, claim=replace(CLAIM, text="Is there leave?")),
        "well_formed",
    ),
    "the claim is empty": (lambda c: replace(c, claim=replace(CLAIM, text="")), "well_formed"),
    "the claim was marked when compiled": (
        lambda c: replace(c, claim=replace(CLAIM, problems=("not_atomic: two facts",))),
        "well_formed",
    ),
    "the claim is longer than the cap": (
        lambda c: replace(c, claim=replace(CLAIM, text=SENTENCE + " word" * 60)),
        "well_formed",
    ),
    "the verifier failed": (
        lambda c: with_result(c, label="error", error="timed out"),
        "sound_measurement",
    ),
    "one pair failed": (
        lambda c: with_first_score(c, label="error", error="late"),
        "sound_measurement",
    ),
    "the set was truncated": (lambda c: with_result(c, truncated=True), "sound_measurement"),
    "one pair was truncated": (
        lambda c: with_first_score(c, truncated=True),
        "sound_measurement",
    ),
    "nothing was scored": (lambda c: with_result(c, all_scores=()), "sound_measurement"),
    "a neutral score is out of range": (
        lambda c: with_first_score(c, not_enough_info=7.0),
        "sound_measurement",
    ),
    "a cap dropped a pair that matters": (
        lambda c: with_result(c, needed_dropped=1),
        "sound_measurement",
    ),
    "the measurement is another claim's": (
        lambda c: with_result(c, claim_id="c2"),
        "sound_measurement",
    ),
    "a span was scored twice": (
        lambda c: with_result(c, all_scores=(*c.result.all_scores, c.result.all_scores[0])),
        "sound_measurement",
    ),
    "the verifier was given something else": (
        lambda c: with_first_score(c, input_sha256="0" * 64),
        "isolated",
    ),
    "the set was not what was given": (
        lambda c: with_result(c, set_input_sha256=""),
        "isolated",
    ),
    "a comparison has one source": (
        lambda c: replace(c, claim=replace(CLAIM, risk_class="comparative_claim")),
        "class_minimum",
    ),
    "headings alone carry the claim": (
        lambda c: with_result(c, score_without=0.95),
        "load_bearing",
    ),
    "support without evidence was not measured": (
        lambda c: with_result(c, score_without=None),
        "load_bearing",
    ),
    "another document opposes": (lambda c: _with_opposition(c, 0.72), "uncontested"),
}


def test_the_unspoiled_case_is_verified() -> None:
    """The case from which the others are spoiled passes every rule, so each refusal is earned."""
    assert is_verified(decide(good_case(), RULES))


@pytest.mark.parametrize("name", SPOILED)
def test_each_known_way_to_fail_open_is_refused(name: str) -> None:
    """The named rule refuses, and the decision is not Verified."""
    spoil, rule = SPOILED[name]
    decision = decide(spoil(good_case()), RULES)
    assert not is_verified(decision)
    assert rule in {finding.rule for finding in decision.findings if not finding.passed}


@pytest.mark.parametrize("selector", [None, chunk().spans[1].selector], ids=["none", "other"])
def test_a_quote_that_cannot_be_located_loses_the_badge_by_one_rule(selector: object) -> None:
    """Everything else holds; the reason is plain and names the span."""
    decision = decide(_first_span(good_case(), selector=selector), RULES)
    failed = [finding for finding in decision.findings if not finding.passed]
    assert [finding.rule for finding in failed] == ["evidence"]
    assert failed[0].reason.startswith("cannot locate s1 in leave#c1: ")
    assert state_of(decision) is RenderState.UNVERIFIED


@pytest.mark.parametrize("rule", [*BASE_RULES, "load_bearing", "uncontested"])
@pytest.mark.parametrize(
    "answer",
    [None, True, 1, "passed", (True, "passed"), Finding(1, "passed"), Finding("yes", "x")],  # type: ignore[arg-type]
    ids=repr,
)
def test_a_rule_that_gives_no_finding_refuses(rule: str, answer: object) -> None:
    """Anything but a Finding with a real bool is a refusal."""
    broken = {**RULES, rule: lambda _case: answer}
    assert not is_verified(decide(good_case(), broken))  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [*BASE_RULES, "load_bearing", "uncontested"])
def test_a_rule_that_raises_or_is_missing_refuses(rule: str) -> None:
    """An exception inside a rule, or a rule that nobody wrote, is a refusal."""

    def explode(_case: Case) -> Finding:
        raise RuntimeError("boom")

    assert not is_verified(decide(good_case(), {**RULES, rule: explode}))
    assert not is_verified(decide(good_case(), {k: v for k, v in RULES.items() if k != rule}))


def test_strong_contradiction_blocks() -> None:
    """A sound contradiction at or above the threshold is shown as Contradicted, not Unverified."""
    assert state_of(decide(_with_opposition(good_case(), 0.9), RULES)) is RenderState.BLOCKED


def test_no_claims_is_never_all_verified() -> None:
    """An empty claim list, or one without a checkable claim, rejects the answer."""
    decisions, summary = certify([], [], [], POLICY)
    assert decisions == ()
    assert (summary.decision, summary.confidence) == ("REJECT", "insufficient_evidence")
    greeting = replace(CLAIM, text="Hello!", problems=("not_checkable: greeting",))
    assert summarise([greeting], decide_all([greeting], [], [], POLICY)).decision == "REJECT"


def test_duplicate_ids_lose_their_badge() -> None:
    """Two claims, results or chunks of one name leave nobody certain which was measured."""
    case = good_case()
    of = tuple(case.chunks.values())
    twice = decide_all([CLAIM, CLAIM], [case.result], of, POLICY)
    assert not any(map(is_verified, twice))
    assert not any(map(is_verified, decide_all([CLAIM], [case.result] * 2, of, POLICY)))
    assert not any(map(is_verified, decide_all([CLAIM], [case.result], of * 2, POLICY)))
    assert not any(map(is_verified, decide_all([CLAIM], [], of, POLICY)))


@pytest.mark.parametrize("rules", [(), BASE_RULES[1:], (*BASE_RULES, "vibes"), BASE_RULES * 2])
def test_a_policy_without_all_base_rules_cannot_be_built(rules: tuple[str, ...]) -> None:
    """No rules, a missing one, an unknown one and a repeated one are each refused."""
    with pytest.raises(PolicyError):
        Policy("lax", rules)


@pytest.mark.parametrize("tau", [0.0, 0.49, -1.0, 1.01, math.nan, math.inf, True, None, "0.9"])
def test_a_policy_with_an_unsound_threshold_cannot_be_built(tau: object) -> None:
    """tau_entail must be a number from 0.5 to 1; tau_contradict must be above 0."""
    with pytest.raises(PolicyError):
        Policy("lax", BASE_RULES, tau_entail=tau)  # type: ignore[arg-type]
    if tau not in (0.49, True):
        with pytest.raises(PolicyError):
            Policy("lax", BASE_RULES, tau_contradict=tau)  # type: ignore[arg-type]


def test_a_policy_must_name_every_class_minimum() -> None:
    """A class left out would otherwise ask for nothing."""
    for minimum in ({}, dict.fromkeys(RISK_CLASSES, 0), {"factual_lit_claim": 1}):
        with pytest.raises(PolicyError):
            Policy("lax", BASE_RULES, class_minimum=minimum)


def test_other_text_beside_the_evidence_changes_nothing() -> None:
    """The unrelated neighbour sentence of the chunk is scored and does not decide."""
    assert OTHER in next(iter(good_case().chunks.values())).text
