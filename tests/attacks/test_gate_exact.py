"""The gate and the policy at their edges: what each part answers, on both sides of each line."""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from gate_cases import (
    CLAIM,
    POLICY,
    chunk,
    good_case,
    record,
    score,
    with_first_score,
    with_result,
)

from certirag.core.claim import Claim
from certirag.core.policy import BASE_RULES, RISK_CLASSES, STRICT_RULES, Policy
from certirag.errors import PolicyError
from certirag.proof.certificate import AnswerSummary
from certirag.render import gate
from certirag.render.badge import badge_of
from certirag.render.certify import certify, decide_all, summarise
from certirag.render.gate import (
    Case,
    Decision,
    Finding,
    NamedFinding,
    RenderState,
    decide,
    is_verified,
    state_of,
)
from certirag.render.rules import RULES


def _yes(_case: object) -> Finding:
    return Finding(True, "yes")


def _no(_case: object) -> Finding:
    return Finding(False, "no")


def _asked(*rules: str, **scores: object) -> SimpleNamespace:
    """Return a case whose policy lists *rules*, which no real policy could."""
    policy = SimpleNamespace(rules=rules, tau_contradict=0.7)
    return SimpleNamespace(
        policy=policy, claim=CLAIM, result=good_case().result, planted=(), **scores
    )


def test_a_policy_without_rules_verifies_nothing() -> None:
    """Nothing asked is nothing passed, even where such a policy could be had."""
    assert state_of(decide(_asked(), {})) is RenderState.UNVERIFIED
    assert state_of(decide(_asked("a"), {"a": _yes})) is RenderState.VERIFIED


def test_every_finding_is_kept_with_its_rule() -> None:
    """In the policy's order: passes, refusals, what broke and what is unknown."""

    def breaks(_case: object) -> Finding:
        raise KeyError("x")

    decision = decide(
        _asked("a", "b", "c", "d", "e"),
        {"a": _yes, "b": _no, "c": breaks, "d": lambda _case: None},
    )
    assert decision.findings == (
        NamedFinding("a", True, "yes"),
        NamedFinding("b", False, "no"),
        NamedFinding("c", False, "the rule broke (KeyError); no pass"),
        NamedFinding("d", False, "the rule gave no finding; no pass"),
        NamedFinding("e", False, "this rule is unknown here, so it cannot pass"),
    )


@pytest.mark.parametrize("passed", [1, "yes", None, 0, 1.0])
def test_a_finding_that_is_no_bool_is_said_to_be_none(passed: object) -> None:
    """It is recorded as a refusal in the gate's own words."""
    found = decide(_asked("a"), {"a": lambda _case: Finding(passed, "x")}).findings  # type: ignore[arg-type]
    assert found == (NamedFinding("a", False, "the rule gave no finding; no pass"),)


def test_planted_errors_ask_one_rule_more() -> None:
    """Its refusal takes the badge; without such a rule at hand there is none either."""
    planted = replace(good_case(), planted=(good_case(),))
    assert not is_verified(decide(planted, RULES))
    assert is_verified(decide(planted, {**RULES, "planted_errors": _yes}))
    refused = decide(planted, {**RULES, "planted_errors": _no})
    assert refused.findings[-1] == NamedFinding("planted_errors", False, "no")
    assert not is_verified(refused)


@pytest.mark.parametrize(
    ("contradicted", "state"),
    [
        (0.7, RenderState.BLOCKED),
        (1.0, RenderState.BLOCKED),
        (1, RenderState.BLOCKED),
        (math.nextafter(0.7, 0), RenderState.UNVERIFIED),
        (0.0, RenderState.UNVERIFIED),
        (0, RenderState.UNVERIFIED),
        (math.nextafter(1, 2), RenderState.UNVERIFIED),
        (math.inf, RenderState.UNVERIFIED),
        (math.nan, RenderState.UNVERIFIED),
        (True, RenderState.UNVERIFIED),
        (None, RenderState.UNVERIFIED),
        ("0.9", RenderState.UNVERIFIED),
    ],
)
def test_only_a_sound_contradiction_blocks(contradicted: object, state: RenderState) -> None:
    """At or above the threshold and a score; what is no score is no ground for a statement."""
    case = with_first_score(with_result(good_case(), score=0.1), contradicted=contradicted)
    assert state_of(decide(case, RULES)) is state


def test_a_record_that_breaks_blocks_nothing() -> None:
    """A malformed measurement is Unverified, not Contradicted."""
    broken = _asked("a")
    broken.result = None
    assert state_of(decide(broken, {"a": _no})) is RenderState.UNVERIFIED


def test_a_pass_beside_a_contradiction_stays_a_pass() -> None:
    """The states are decided in order: all passed, else contradicted, else neither."""
    case = with_first_score(good_case(), contradicted=0.99)
    assert state_of(decide(replace(case, policy=_asked("a").policy), {"a": _yes})) is (
        RenderState.VERIFIED
    )


def test_the_seal_is_of_this_process_and_of_every_field() -> None:
    """32 random bytes key an HMAC over id, text, findings and state."""
    assert len(gate._PROCESS_KEY) == 32
    decision = decide(good_case(), RULES)
    body = repr(
        (
            decision.claim_id,
            decision.claim_text,
            tuple(map(tuple, decision.findings)),
            "VERIFIED",
        )
    )
    expected = hmac.digest(gate._PROCESS_KEY, body.encode(), hashlib.sha256)
    assert decision._seal == expected


def test_a_decision_of_a_text_with_half_a_surrogate_is_sealed() -> None:
    """Odd text is no way to break the seal: such a decision is genuine."""
    odd = replace(good_case(), claim=replace(CLAIM, text="\ud800 leave"))
    assert state_of(decide(odd, dict.fromkeys(RULES, _yes))) is RenderState.VERIFIED


class _Duck:
    """Has everything that a genuine decision has, its seal too, but the type."""

    def __init__(self, decision: Decision) -> None:
        for name in ("claim_id", "claim_text", "findings", "state", "_seal"):
            setattr(self, name, getattr(decision, name))


def test_only_the_type_itself_is_read() -> None:
    """A copy of all fields in another object is no decision."""
    assert state_of(_Duck(decide(good_case(), RULES))) is RenderState.UNVERIFIED
    assert badge_of(_Duck(decide(good_case(), RULES))).kind == "unverified"


def test_each_state_has_its_badge() -> None:
    """Verified, Contradicted, Unverified."""
    good = good_case()
    blocked = with_first_score(with_result(good, score=0.1), contradicted=0.9)
    weak = with_result(good, score=0.1)
    kinds = [badge_of(decide(case, RULES)).kind for case in (good, blocked, weak)]
    assert kinds == ["verified", "contradicted", "unverified"]


def test_a_record_names_what_failed_or_else_what_passed() -> None:
    """The reason lists the failures alone where there are any; the policy's name and taus go along."""
    good = record().decisions[0]
    assert good.reason.count(": ") >= len(POLICY.rules)
    assert good.reason.startswith("evidence: 1 span attached, each found word for word; entailed: ")
    weak = record(with_result(good_case(), score=0.1)).decisions[0]
    assert weak.reason == "entailed: the set's score differs from its only span's score"
    assert weak.policy == {"name": "test-1", "tau_entail": 0.85, "tau_contradict": 0.7}
    assert [(f.rule, f.passed) for f in weak.findings] == [
        (rule, rule != "entailed") for rule in POLICY.rules
    ]


def test_a_claim_without_a_result_says_so() -> None:
    """Its measurement is an error of that name, for it and no other claim."""
    (of,) = good_case().chunks.values()
    (lost,) = decide_all([CLAIM], [], [of], POLICY)
    reasons = {f.rule: f.reason for f in lost.findings}
    assert reasons["sound_measurement"] == (
        "the verifier did not answer: there is no single verification result for this claim"
    )
    second = replace(CLAIM, id="c2")
    kept = decide_all([CLAIM, second], [good_case().result], [of], POLICY)
    assert [is_verified(one) for one in kept] == [True, False]


def test_the_summary_counts_states() -> None:
    """Each claim is counted once; what is neither verified nor blocked is unverified."""
    good = good_case()
    (of,) = good.chunks.values()
    claims = [replace(CLAIM, id=f"c{n}") for n in range(1, 5)]
    weak = replace(good.result, claim_id="c2", score=0.1)
    first, *rest = good.result.all_scores
    against = (replace(first, contradicted=0.9), *rest)
    blocked = [replace(good.result, claim_id=name, all_scores=against) for name in ("c3", "c4")]
    _, summary = certify(claims, [good.result, weak, *blocked], [of], POLICY)
    assert (summary.verified, summary.unverified, summary.blocked) == (1, 1, 2)
    assert (summary.decision, summary.reason_code) == ("STRIP", "SOME_CONTRADICTED")
    assert (summary.basis.checkable, summary.basis.pass_rate) == (4, 0.25)
    assert (summary.basis.verified, summary.basis.contradicted) == (1, 2)


def _basis(*cases: Case, claims: tuple[Claim, ...] | None = None) -> AnswerSummary:
    """Return the summary of one claim per case, each under an id of its own."""
    named = claims or tuple(replace(case.claim, id=f"c{n}") for n, case in enumerate(cases))
    results = [
        replace(case.result, claim_id=claim.id) for claim, case in zip(named, cases, strict=True)
    ]
    chunks = {of.chunk_id: of for case in cases for of in case.chunks.values()}
    return certify(named, results, tuple(chunks.values()), POLICY, question="How much leave?")[1]


def test_only_an_answer_that_is_refused_shows_what_came_near() -> None:
    """Near passages stand where there is no answer, and where there is evidence to look at."""
    weak = with_first_score(with_result(good_case(), score=0.1), entailed=0.1)
    refused = _basis(weak)
    assert refused.decision == "REJECT"
    assert refused.closest_references
    assert _basis(good_case()).closest_references == ()
    decisions = decide_all([CLAIM], [weak.result], list(weak.chunks.values()), POLICY)
    bare = summarise([CLAIM], decisions)
    assert (bare.decision, bare.closest_references) == ("REJECT", ())
    assert (bare.basis.retrieval, bare.basis.specificity) == (None, None)


def test_the_basis_counts_shares_and_risks() -> None:
    """Six decimals; 0.0 without a checkable claim; open claims of a high risk class."""
    good, weak = good_case(), with_result(good_case(), score=0.1)
    third = _basis(good, weak, weak).basis
    assert third.pass_rate == 0.333333
    assert third.high_risk_unresolved == 0
    risky = replace(weak, claim=replace(CLAIM, risk_class="scope_claim"))
    assert _basis(good, weak, risky).basis.high_risk_unresolved == 1
    greeting = replace(CLAIM, problems=("not_checkable: greeting",))
    assert _basis(weak, claims=(greeting,)).basis.pass_rate == 0.0


def test_the_basis_counts_the_checkable_claims_that_another_document_opposes() -> None:
    """By the rule where it is asked, and by the recorded scores in any case; others do not count."""
    good = good_case()
    other = chunk("Leave is 24 days.", "old", "Leave is 24 days.")
    against = score(other, entailed=0.0, neutral=0.2, contradicted=0.75)
    opposed = with_result(good, all_scores=(*good.result.all_scores, against))
    opposed = replace(opposed, chunks={**good.chunks, other.chunk_id: other})
    weak = with_result(good, score=0.1)
    assert _basis(good, weak, opposed).basis.contested == 1
    greeting = replace(CLAIM, problems=("not_checkable: greeting",))
    assert _basis(opposed, claims=(greeting,)).basis.contested == 0
    assert _basis(good, weak).basis.contested == 0
    lax = replace(POLICY, rules=BASE_RULES)
    _, summary = certify([CLAIM], [opposed.result], tuple(opposed.chunks.values()), lax)
    assert summary.basis.contested == 1
    decisions = decide_all([CLAIM], [opposed.result], tuple(opposed.chunks.values()), POLICY)
    assert summarise([CLAIM], decisions).basis.contested == 1
    fine = decide_all([CLAIM], [weak.result], tuple(weak.chunks.values()), POLICY)
    assert summarise([CLAIM], fine).basis.contested == 0


LEAST = {
    "tau_entail": 0.5,
    "tau_contradict": 5e-324,
    "tau_contest": 5e-324,
    "max_claim_tokens": 1,
    "class_minimum": dict.fromkeys(RISK_CLASSES, 1),
}
MOST = {"tau_entail": 1.0, "tau_contradict": 1, "tau_contest": 1.0, "max_claim_tokens": 400}


@pytest.mark.parametrize("fields", [LEAST, MOST])
def test_the_bounds_of_a_policy_are_allowed(fields: dict[str, object]) -> None:
    """Both ends of each range are policies."""
    assert Policy("edge", BASE_RULES + STRICT_RULES, **fields).name == "edge"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("tau_entail", math.nextafter(0.5, 0)), ("tau_entail", math.nextafter(1, 2))),
        *(("tau_contradict", 0.0), ("tau_contradict", -0.0), ("tau_contradict", -5e-324)),
        *(("tau_contradict", math.nextafter(1, 2)), ("tau_contradict", True)),
        *(("tau_contest", 0), ("tau_contest", 2), ("tau_contest", math.nan), ("tau_contest", None)),
        *(
            ("tau_contest", True),
            ("tau_contest", -0.5),
            ("tau_contest", "0.5"),
            ("tau_contradict", "0.5"),
        ),
        *(("max_claim_tokens", 0), ("max_claim_tokens", 401), ("max_claim_tokens", True)),
        *(("max_claim_tokens", 60.0), ("max_claim_tokens", None)),
        *(
            ("class_minimum", {**LEAST["class_minimum"], "scope_claim": odd})  # type: ignore[dict-item]
            for odd in (0, -1, True, 1.0, None)
        ),
        ("class_minimum", {**LEAST["class_minimum"], "other": 1}),  # type: ignore[dict-item]
        ("class_minimum", {"scope_claim": 1}),
        *(("rules", BASE_RULES[:-1]), ("rules", (*BASE_RULES, "x")), ("rules", BASE_RULES * 2)),
        ("rules", (*BASE_RULES, "load_bearing", "load_bearing")),
    ],
)
def test_beyond_its_bounds_there_is_no_policy(field: str, value: object) -> None:
    """One step outside is an error that names the policy and the field."""
    with pytest.raises(PolicyError, match=r"policy 'edge': .*" + field):
        Policy("edge", **{"rules": BASE_RULES, field: value})  # type: ignore[arg-type]


def test_the_defaults_are_the_contract_s() -> None:
    """DESIGN §2: 0.85 and 0.70, one span for each class."""
    plain = Policy("plain", BASE_RULES)
    assert (plain.tau_entail, plain.tau_contradict, plain.tau_contest) == (0.85, 0.7, 0.7)
    assert plain.max_claim_tokens == 60
    assert plain.class_minimum == dict.fromkeys(RISK_CLASSES, 1)


LAX = Policy("lax", BASE_RULES)
TIGHTER: list[dict[str, object]] = [
    {"rules": (*BASE_RULES, "load_bearing")},
    {"tau_entail": math.nextafter(0.85, 1)},
    {"tau_contradict": math.nextafter(0.7, 0)},
    {"max_claim_tokens": 59},
    *({"class_minimum": {**LAX.class_minimum, risk: 2}} for risk in RISK_CLASSES),
]


@pytest.mark.parametrize("changes", TIGHTER, ids=str)
def test_one_step_tighter_is_finer_and_never_the_other_way(changes: dict[str, object]) -> None:
    """In each field alone; the meet of both is the tighter one itself, either way round."""
    tight = replace(LAX, name="tight", **changes)  # type: ignore[arg-type]
    assert tight.refines(LAX)
    assert not LAX.refines(tight)
    assert tight.refines(tight)
    assert LAX.meet(tight) is tight
    assert tight.meet(LAX) is tight


def test_a_contest_limit_counts_where_the_rule_is_asked() -> None:
    """A lower limit refines; a higher one only a policy without the rule."""
    strict = Policy("strict", BASE_RULES + STRICT_RULES, tau_contest=0.5)
    looser = replace(strict, tau_contest=0.6)
    assert strict.refines(looser)
    assert strict.refines(replace(strict, name="same", tau_contest=0.5))
    assert not looser.refines(strict)
    assert strict.refines(replace(LAX, tau_contest=0.1))


def test_the_meet_of_two_takes_the_tighter_of_each_field() -> None:
    """Name, rules in their usual order, thresholds, cap and minima."""
    one = replace(
        LAX,
        name="b+a",
        rules=("uncontested", *BASE_RULES),
        tau_entail=0.9,
        tau_contest=0.4,
        class_minimum={**LAX.class_minimum, "scope_claim": 3},
    )
    other = replace(
        LAX,
        name="c+a",
        rules=("load_bearing", "uncontested", *BASE_RULES),
        tau_contradict=0.5,
        max_claim_tokens=20,
        class_minimum={**LAX.class_minimum, "scope_claim": 2, "historical_claim": 2},
    )
    plain = replace(LAX, tau_entail=0.9).meet(replace(LAX, tau_contradict=0.5))
    assert (plain.rules, plain.tau_entail, plain.tau_contradict) == (BASE_RULES, 0.9, 0.5)
    for meet in (one.meet(other), other.meet(one)):
        assert meet == Policy(
            "a+b+c",
            BASE_RULES + STRICT_RULES,
            tau_entail=0.9,
            tau_contradict=0.5,
            tau_contest=0.4,
            max_claim_tokens=20,
            class_minimum={**LAX.class_minimum, "scope_claim": 3, "historical_claim": 2},
        )
