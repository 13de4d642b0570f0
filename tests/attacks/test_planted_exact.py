"""Planted errors at the edges: what is an edit, what was a fair test, what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_cases import CLAIM, OTHER, POLICY, SENTENCE, chunk, good_case, score, with_result

from certirag.core.text import SpanRef, pair_digest
from certirag.core.verdict import PlantedError, Probe, VerificationResult
from certirag.render import probe_verdicts
from certirag.render.certify import certify, decide_all
from certirag.render.gate import Case, Finding, is_verified
from certirag.render.probe_verdicts import (
    PlantedView,
    ProbeView,
    counted_sentence,
    outcome_of,
    planted_cases,
    planted_errors,
    probe_view,
)

TEXT = SENTENCE.replace("27", "31")
AT = SENTENCE.index("27")
ERROR = PlantedError("c1~1", "c1", "number", TEXT, AT, AT + 2, "31")
OF = chunk()


def _measured(error: PlantedError = ERROR, **changes: object) -> VerificationResult:
    """Return a whole and isolated measurement of *error* that does not support it."""
    claim = replace(CLAIM, id=error.id, text=error.text)
    scores = tuple(
        score(OF, span.span_id, claim=claim, entailed=0.05, neutral=0.93, contradicted=0.02)
        for span in OF.spans
    )
    result = VerificationResult(
        claim_id=error.id,
        label="not_enough_info",
        score=0.05,
        best_evidence=(SpanRef(OF.chunk_id, "s1"),),
        all_scores=scores,
        set_input_sha256=pair_digest(error.text, SENTENCE, OF.context),
        score_without=0.01,
    )
    return replace(result, **changes)  # type: ignore[arg-type]


def _outcome(
    error: PlantedError = ERROR,
    result: VerificationResult | None = None,
) -> tuple[str, str]:
    made = Probe((error,), (result or _measured(error),), POLICY, "one-edit-1")
    cases = planted_cases(made, [CLAIM], [good_case().result], {OF.chunk_id: OF})
    return outcome_of(cases[0][1])


def _why(error: PlantedError, **more: object) -> str:
    """Return the reason why *error* has no measurement, as its case carries it."""
    made = Probe((error,), (_measured(error),), POLICY, "one-edit-1")
    arguments = {"claims": [CLAIM], "results": [good_case().result], "chunks": {OF.chunk_id: OF}}
    ((_, case),) = planted_cases(made, **{**arguments, **more})  # type: ignore[arg-type]
    return case.result.error


def test_a_fair_test_that_fails_a_rule_is_caught() -> None:
    """The first objecting rule is the reason."""
    outcome, reason = _outcome()
    assert outcome == "caught"
    assert reason == "the closest passage supports it with 0.05; 0.85 is needed"
    assert _why(ERROR) == ""


EDITS: dict[str, tuple[dict[str, object], str]] = {
    "nothing changed": ({"text": SENTENCE, "becomes": "27"}, "it is not an edit of its claim"),
    "another place": ({"start": AT + 1, "end": AT + 3}, "it is not an edit of its claim"),
    "before the text": ({"start": -1}, "it is not an edit of its claim"),
    "counted from the end": (
        {
            "text": SENTENCE[:-1] + "!",
            "start": -1,
            "end": len(SENTENCE),
            "becomes": "!",
        },
        "it is not an edit of its claim",
    ),
    "backwards": ({"start": AT + 2, "end": AT}, "it is not an edit of its claim"),
    "past the text": ({"end": len(SENTENCE) + 1}, "it is not an edit of its claim"),
    "another text": ({"text": OTHER}, "it is not an edit of its claim"),
    "at the start": (
        {"text": "Now " + SENTENCE, "start": 0, "end": 0, "becomes": "Now "},
        "",
    ),
    "at the end": (
        {
            "text": SENTENCE[:-1],
            "start": len(SENTENCE) - 1,
            "end": len(SENTENCE),
            "becomes": "",
        },
        "",
    ),
    "what the evidence says": (
        {"text": OTHER, "start": 0, "end": len(SENTENCE), "becomes": OTHER},
        "it was not set against the sentences that its claim was",
    ),
    "what it says in other spacing and case": (
        {
            "text": OTHER.upper().replace(" ", "  "),
            "start": 0,
            "end": len(SENTENCE),
            "becomes": OTHER.upper().replace(" ", "  "),
        },
        "it was not set against the sentences that its claim was",
    ),
    "of no claim": ({"claim_id": "c9"}, "there is no single measurement of it"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_error_is_one_edit_of_its_claim(name: str) -> None:
    """Whatever else it says of itself, it has no measurement then."""
    changes, reason = EDITS[name]
    assert _why(replace(ERROR, **changes)) == reason  # type: ignore[arg-type]


def test_a_measurement_of_its_own_is_asked_of_error_and_claim() -> None:
    """None, two, or two of the claim are each no single one; so are two claims of one id."""
    single = "there is no single measurement of it"
    own = good_case().result
    assert _why(ERROR, results=[]) == single
    assert _why(ERROR, results=[own, own]) == single
    assert _why(ERROR, claims=[CLAIM, CLAIM]) == single
    assert _why(ERROR, claims=[]) == single
    twice = Probe((ERROR, ERROR), (_measured(),), POLICY, "p")
    none = Probe((ERROR,), (), POLICY, "p")
    double = Probe((ERROR,), (_measured(), _measured()), POLICY, "p")
    for probe in (twice, none, double):
        cases = planted_cases(probe, [CLAIM], [own], {OF.chunk_id: OF})
        assert {case.result.error for _, case in cases} == {single}
        assert {case.result.claim_id for _, case in cases} == {ERROR.id}


def test_less_than_the_claim_was_compared_with_is_no_test() -> None:
    """Every span that the claim was scored on; more is fine."""
    short = _measured(all_scores=_measured().all_scores[:1])
    made = Probe((ERROR,), (short,), POLICY, "p")
    ((_, case),) = planted_cases(made, [CLAIM], [good_case().result], {OF.chunk_id: OF})
    assert case.result.error == "it was not set against the sentences that its claim was"
    own = replace(good_case().result, all_scores=good_case().result.all_scores[:1])
    assert _why(ERROR, results=[own]) == ""


def test_only_what_the_claim_was_compared_with_states_an_error() -> None:
    """A sentence of the same chunk that was not scored says nothing here."""
    own = replace(good_case().result, all_scores=good_case().result.all_scores[:1])
    whole = replace(ERROR, text=OTHER, start=0, end=len(SENTENCE), becomes=OTHER)
    assert _why(whole, results=[own]) == ""


def test_a_missing_chunk_states_nothing() -> None:
    """The record without the chunk has no such sentence; the rules then find no evidence."""
    assert _why(ERROR, chunks={}) == ""


def test_the_planted_case_is_its_claim_with_other_words() -> None:
    """Class and hedges stay the claim's; id and text are the error's; the policy the probe's."""
    hedged = replace(CLAIM, risk_class="scope_claim", hedges=("may",))
    lax = replace(POLICY, name="lax")
    made = Probe((ERROR,), (_measured(),), lax, "p")
    ((error, case),) = planted_cases(made, [hedged], [good_case().result], {OF.chunk_id: OF})
    assert error is ERROR
    assert case.claim == replace(hedged, id=ERROR.id, text=TEXT)
    assert case.policy is lax


def test_each_unfair_rule_makes_it_unmeasured() -> None:
    """Where evidence, form, soundness or isolation fails, nothing was put to the test."""
    for changes, reason in (
        ({"best_evidence": ()}, "no evidence is attached"),
        ({"truncated": True}, "part of the text was cut off before it was scored"),
        ({"set_input_sha256": ""}, "the attached set was not what the verifier was given"),
    ):
        assert _outcome(result=_measured(**changes)) == ("unmeasured", reason)
    long = replace(ERROR, text=TEXT[:-1] + " now" * 60 + ".", becomes="x")
    edited = replace(long, start=0, end=len(SENTENCE), becomes=long.text)
    assert _outcome(edited)[0] == "unmeasured"
    assert _outcome(edited)[1].startswith("too long")


def test_rules_that_break_catch_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal because a rule broke, or answered oddly, is no catch."""

    def breaks(_case: Case) -> Finding:
        raise RuntimeError

    only = {name: lambda _case: Finding(True, "") for name in probe_verdicts.RULES}
    for odd, outcome in (
        (breaks, "unmeasured"),
        (lambda _case: None, "unmeasured"),
        (lambda _case: Finding(0, ""), "unmeasured"),  # type: ignore[arg-type]
        (lambda _case: Finding(False, "no"), "caught"),
    ):
        monkeypatch.setattr(probe_verdicts, "RULES", {**only, "entailed": odd})
        assert _outcome()[0] == outcome
    monkeypatch.setattr(probe_verdicts, "RULES", only)
    assert _outcome() == ("survived", "every rule passed")


def _case_of(*cases: Case) -> Case:
    return replace(good_case(), planted=cases)


def _caught() -> Case:
    made = Probe((ERROR,), (_measured(),), POLICY, "p")
    return planted_cases(made, [CLAIM], [good_case().result], {OF.chunk_id: OF})[0][1]


def test_the_rule_counts_what_was_caught() -> None:
    """All caught passes; none is no pass; one survivor or one unmeasured refuses and is named."""
    caught, survivor = _caught(), good_case()
    lost = with_result(_caught(), truncated=True)
    cut = "part of the text was cut off before it was scored"
    assert planted_errors(_case_of(caught, caught)) == Finding(True, "2 planted, 2 caught")
    assert planted_errors(_case_of()) == Finding(False, "no planted error is in the record")
    assert planted_errors(_case_of(caught, lost)) == Finding(
        False, f"1 of 2 planted errors could not be measured: {cut}"
    )
    alone = with_result(_caught(), set_input_sha256="")
    assert planted_errors(_case_of(lost, alone)).reason.endswith(
        f"2 planted errors could not be measured: {cut}"
    )
    assert planted_errors(_case_of(lost, survivor)) == Finding(
        False, f"a planted error passed every rule: “{SENTENCE}”"
    )


@pytest.mark.parametrize(("length", "cut"), [(159, False), (160, False), (161, True)])
def test_a_long_survivor_is_quoted_in_part(
    length: int, cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """160 characters at most, and an ellipsis where more was there."""
    monkeypatch.setattr(
        probe_verdicts, "RULES", {n: lambda _c: Finding(True, "") for n in probe_verdicts.RULES}
    )
    text = "x" * length
    survivor = replace(good_case(), claim=replace(CLAIM, text=text))
    shown = "x" * 160 + "…" if cut else text
    assert planted_errors(_case_of(survivor)).reason.endswith(f": “{shown}”")


def _view(outcome: str) -> PlantedView:
    return PlantedView("c1", "number", "", "", "", outcome, "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcomes", "left_out", "sentence"),
    [
        ((), 0, "No error could be planted."),
        ((), 2, "No error could be planted. Left out by the cap: 2."),
        (("caught",) * 2, 0, "2 planted, 2 caught."),
        (("caught", "survived"), 0, "2 planted, 1 caught, 1 passed every rule."),
        (
            ("unmeasured",),
            1,
            "1 planted, 0 caught, 1 could not be measured. Left out by the cap: 1.",
        ),
    ],
)
def test_what_was_not_caught_is_said(
    outcomes: tuple[str, ...], left_out: int, sentence: str
) -> None:
    """Counts in one line, the cap's too."""
    views = tuple(map(_view, outcomes))
    view = ProbeView(views, "p", left_out)
    assert view.sentence == sentence
    assert sentence.startswith(counted_sentence(views))
    assert view.count("caught") == outcomes.count("caught")


def test_the_view_shows_what_stood_there() -> None:
    """The replaced words come from the claim; odd places and counts are clamped."""
    made = Probe((ERROR,), (_measured(),), POLICY, "p", left_out=-3)
    view = probe_view(made, [CLAIM], [good_case().result], [OF])
    assert view.left_out == 0
    assert view.policy_name == POLICY.name
    (one,) = view.planted
    assert (one.was, one.becomes, one.kind, one.text) == ("27", "31", "number", TEXT)
    assert (one.claim_id, one.outcome) == ("c1", "caught")
    for start, end, was in ((-5, 4, "Full"), (0, -1, ""), (-2, -1, "")):
        odd = Probe((replace(ERROR, start=start, end=end),), (_measured(),), POLICY, "p", 4)
        view = probe_view(odd, [CLAIM], [good_case().result], [OF])
        assert view.planted[0].was == was
        assert view.left_out == 4
    lost = probe_view(made, [], [good_case().result], [OF])
    assert lost.planted[0].was == ""
    doubled = probe_view(made, [CLAIM], [good_case().result], [OF, OF])
    assert doubled.planted[0].outcome == "unmeasured"


def test_an_error_takes_the_badge_of_its_own_claim_alone() -> None:
    """A survivor of one claim leaves the other's badge; a caught error leaves its own."""
    second = replace(CLAIM, id="c2")
    results = [good_case().result, replace(good_case().result, claim_id="c2")]
    survivor = Probe((ERROR,), (replace(_measured(), truncated=True),), POLICY, "p")
    decisions = decide_all([CLAIM, second], results, [OF], POLICY, survivor)
    assert [is_verified(one) for one in decisions] == [False, True]
    caught = Probe((ERROR,), (_measured(),), POLICY, "p")
    decisions = decide_all([CLAIM, second], results, [OF], POLICY, caught)
    assert [is_verified(one) for one in decisions] == [True, True]
    assert decisions[0].findings[-1].reason == "1 planted, 1 caught"
    records, summary = certify([CLAIM], results[:1], [OF], POLICY, survivor)
    assert records[0].reason.startswith("planted_errors: 1 of 1 planted errors")
    assert summary.reason_code == "PLANTED_ERRORS_PASSED"
