"""Planted errors only take badges: whatever the verifier, the record or the text does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from builders import hostile_strings
from gate_cases import CLAIM, POLICY, SENTENCE, TRUSTED, chunk, export, logged, record
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.auditing.recheck import judged_otherwise
from certirag.checker import check
from certirag.core.claim import ClaimIR
from certirag.core.policy import BASE_RULES, Policy
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import PlantedError, Probe
from certirag.errors import CertificateError, VerifierError
from certirag.ports import Judgement, Pair
from certirag.proof.certificate import AnswerRecord, open_export, record_json, statement_bytes
from certirag.render import Mode, certify, present, presentation_html
from certirag.render import presentation_text as text_of
from certirag.verification.candidates import choose_candidates
from certirag.verification.mutation_probe import measure_planted, plant_errors
from certirag.verification.opinion import verify_claims

SURE = Judgement("entailed", 0.97, 0.02, 0.01)
UNSURE = Judgement("not_enough_info", 0.05, 0.94, 0.01)
BASE = Policy(name="test-base", rules=BASE_RULES)
Answer = Callable[[Sequence[Pair]], object]


class Scripted:
    """A verifier that answers with what it was told to."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        return self._answer(pairs)  # type: ignore[return-value]


def honest(pairs: Sequence[Pair]) -> list[Judgement]:
    """Support what stands in the evidence word for word."""
    return [SURE if pair.claim in pair.evidence else UNSURE for pair in pairs]


def credulous(pairs: Sequence[Pair]) -> list[Judgement]:
    """Support everything of which a sentence speaks at all."""
    return [SURE if pair.evidence.endswith(".") else UNSURE for pair in pairs]


def breaks_on_errors(pairs: Sequence[Pair]) -> list[Judgement]:
    """Answer on the claim and fail on everything else."""
    if any(pair.claim != SENTENCE for pair in pairs):
        raise VerifierError("timed out")
    return honest(pairs)


def probed(
    on_claim: Answer = honest,
    on_errors: Answer | None = None,
    policy: Policy = POLICY,
    probe_policy: Policy | None = None,
    of: EvidenceChunk | None = None,
) -> AnswerRecord:
    """Return the record of one claim with errors planted, as the pipeline makes it."""
    of = of or chunk()
    candidates = choose_candidates([CLAIM], [of], max_spans=20, max_pairs=240)
    results = verify_claims(candidates, Scripted(on_claim))  # type: ignore[arg-type]
    planted = plant_errors([CLAIM], results, [of], max_tokens=60)
    measured = measure_planted(
        planted.errors,
        [CLAIM],
        results,
        [of],
        Scripted(on_errors or on_claim),  # type: ignore[arg-type]
    )
    probe = Probe(planted.errors, measured, probe_policy or policy, "one-edit-1")
    return _with_probe(replace(record(policy=policy), verification=results), probe)


def _with_probe(of: AnswerRecord, probe: Probe | None) -> AnswerRecord:
    """Return *of* with *probe*, its decisions derived."""
    decisions, summary = certify(
        of.claim_ir.claims, of.verification, of.retrieval.chunks, of.policy, probe
    )
    return replace(of, probe=probe, decisions=decisions, answer=summary)


def state(of: AnswerRecord) -> str:
    """Return the recorded state of the one claim."""
    return of.decisions[0].render_state


def counts(of: AnswerRecord) -> tuple[int, int, int, int]:
    """Return how many were planted, caught, passed and not measured, from the signed export."""
    view = present(export(of), Mode.DEBUG, trusted=TRUSTED).probe
    assert view is not None
    outcomes = (view.count("caught"), view.count("survived"), view.count("unmeasured"))
    return (len(view.planted), *outcomes)


def test_an_honest_verifier_catches_all_and_keeps_the_badge() -> None:
    """Number, negation and unit are planted; the sentence says so; the export is VALID."""
    of = probed()
    assert (state(of), counts(of)) == ("VERIFIED", (3, 3, 0, 0))
    assert [error.kind for error in of.probe.planted] == ["number", "negation", "unit"]
    assert "Planted errors: 3 planted, 3 caught." in text_of(
        present(export(of), Mode.STRICT, trusted=TRUSTED)
    )
    assert check(export(of), TRUSTED).verdict == "VALID"


def test_a_credulous_verifier_loses_the_badge() -> None:
    """What the numbers rule does not catch passes; the reason names it and is recorded."""
    of = probed(credulous)
    assert state(_with_probe(of, None)) == "VERIFIED"
    assert (state(of), counts(of)) == ("UNVERIFIED", (3, 2, 1, 0))
    assert "do not receive 27 days" in of.decisions[0].reason
    assert of.answer.decision == "REJECT"
    assert check(export(of), TRUSTED).verdict == "VALID"


def test_of_errors_that_only_a_verifier_can_see_a_credulous_one_catches_none() -> None:
    """With no figure to compare, 0 of n are caught."""
    of = chunk(
        "The lab of Hallowmere tests each lot.", sentence="The lab of Hallowmere tests each lot."
    )
    claim = replace(CLAIM, text=of.text)
    candidates = choose_candidates([claim], [of], max_spans=20, max_pairs=240)
    results = verify_claims(candidates, Scripted(credulous))  # type: ignore[arg-type]
    planted = plant_errors([claim], results, [of], max_tokens=60)
    measured = measure_planted(planted.errors, [claim], results, [of], Scripted(credulous))  # type: ignore[arg-type]
    base = replace(
        record(),
        claim_ir=ClaimIR("", (claim,)),
        verification=results,
        retrieval=replace(record().retrieval, chunks=(of,)),
    )
    probe = Probe(planted.errors, measured, POLICY, "one-edit-1")
    assert state(_with_probe(base, None)) == "VERIFIED"
    probed_record = _with_probe(base, probe)
    assert (state(probed_record), counts(probed_record)) == ("UNVERIFIED", (2, 0, 2, 0))


def test_a_verifier_that_says_yes_to_everything_has_no_badge() -> None:
    """Not even under a policy that does not ask whether the evidence is needed."""
    of = probed(lambda pairs: [SURE] * len(pairs), policy=BASE)
    assert state(_with_probe(of, None)) == "VERIFIED"
    assert state(of) == "UNVERIFIED"


FAILING: dict[str, Answer] = {
    "raises": breaks_on_errors,
    "answers nothing": lambda _pairs: [],
    "answers None": lambda _pairs: None,
    "says NaN": lambda pairs: [replace(UNSURE, entailed=float("nan"))] * len(pairs),
    "says truncated": lambda pairs: [replace(UNSURE, truncated=True)] * len(pairs),
    "says error": lambda pairs: [replace(UNSURE, error="late")] * len(pairs),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_error_that_was_not_measured_was_not_caught(name: str) -> None:
    """It counts neither way, takes the badge, and is said."""
    of = probed(honest, FAILING[name])
    assert (state(of), counts(of)) == ("UNVERIFIED", (3, 0, 0, 3))
    assert "could not be measured" in of.decisions[0].reason


@examples(60)
@given(st.lists(st.sampled_from([SURE, UNSURE, None, "x"]), min_size=1, max_size=12), st.booleans())
def test_a_probe_never_adds_a_badge(answers: list[object], supported: bool) -> None:
    """Whatever the verifier says of the errors, a refused claim stays refused."""

    def drawn(pairs: Sequence[Pair]) -> list[object]:
        return [answers[n % len(answers)] for n, _ in enumerate(pairs)]

    of = probed(honest if supported else lambda pairs: [UNSURE] * len(pairs), drawn)
    without = state(_with_probe(of, None))
    assert (without == "VERIFIED") is supported
    assert state(of) in {without, "UNVERIFIED"}


@examples(60)
@given(st.sampled_from([0.86, 0.9, 0.95, 0.99]), st.sampled_from([0.5, 0.85, 0.9, 0.97]))
def test_tightening_brings_no_badge_back(of_error: float, tau: float) -> None:
    """An error that survives the server's policy takes the badge under every stricter one too."""

    def nearly(pairs: Sequence[Pair]) -> list[Judgement]:
        return [replace(UNSURE, label="entailed", entailed=of_error)] * len(pairs)

    of = probed(honest, nearly, BASE)
    tight = replace(BASE, name="tight", tau_entail=max(tau, BASE.tau_entail))
    assert state(of) == "UNVERIFIED"
    shown = present(export(of), Mode.STRICT, trusted=TRUSTED, floor=tight)
    assert shown.shown == ()
    assert state(probed(honest, nearly, tight, BASE)) == "UNVERIFIED"


def test_errors_judged_more_strictly_than_the_claims_are_refused() -> None:
    """A laxer policy for the claims than for the errors makes no record, signed or not."""
    strict = replace(POLICY, name="stricter", tau_entail=0.96)
    with pytest.raises(CertificateError, match="stricter"):
        probed(probe_policy=strict)
    data = _resigned(lambda v: v["probe"]["policy"].update(tau_entail=0.96))
    assert check(data, TRUSTED).verdict == "TAMPERED"


GOOD = probed()
EXPORT = export(GOOD)


def _changed(change: Any) -> bytes:
    value = json.loads(EXPORT)
    change(value)
    return json.dumps(value).encode()


def _resigned(change: Any) -> bytes:
    """Return an export whose record was changed by whoever holds the key, signed and logged."""
    statement = json.loads(statement_bytes(GOOD))
    change(statement["predicate"])
    return logged(json.dumps(statement).encode())


CHANGES: dict[str, Any] = {
    "removed": lambda v: v.pop("probe"),
    "emptied": lambda v: v.update(probe=None),
    "one error fewer": lambda v: v["probe"]["planted"].pop(),
    "one measurement fewer": lambda v: v["probe"]["verification"].pop(),
    "another text": lambda v: v["probe"]["planted"][0].update(text="All is well."),
    "another score": lambda v: v["probe"]["verification"][0].update(score=0.0),
    "another policy": lambda v: v["probe"]["policy"].update(tau_entail=0.9),
    "another cap": lambda v: v["probe"].update(left_out=7),
    "a new field": lambda v: v["probe"].update(caught=99),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_probe_is_tampered(name: str) -> None:
    """A readable probe that differs from the signed one shows nothing."""
    assert check(_changed(CHANGES[name]), TRUSTED).verdict == "TAMPERED"
    with pytest.raises(CertificateError):
        present(_changed(CHANGES[name]), Mode.DEBUG, trusted=TRUSTED)


def _first(value: dict[str, Any], **changes: object) -> None:
    value["probe"]["planted"][0].update(changes)


FALSE: dict[str, Any] = {
    "an error that is no edit of its claim": lambda v: _first(v, text="Nothing at all happens."),
    "an edit outside the claim": lambda v: _first(v, start=900, end=901),
    "a claim that is not there": lambda v: _first(v, claim_id="c9", id="c9~1"),
    "an error under another's id": lambda v: _first(v, id=v["probe"]["planted"][1]["id"]),
    "an error under its claim's id": lambda v: _first(v, id="c1"),
    "a missing measurement": lambda v: v["probe"]["verification"].pop(0),
    "a measurement given twice": lambda v: v["probe"]["verification"].append(
        v["probe"]["verification"][0]
    ),
    "less evidence than the claim had": lambda v: v["probe"]["verification"][0]["all_scores"].pop(),
    "evidence that was not read": lambda v: v["probe"]["verification"][0]["all_scores"][0].update(
        input_sha256="0" * 64
    ),
    "a score of NaN": lambda v: v["probe"]["verification"][0].update(score=None),
}


# What speaks against itself is TAMPERED; the rest takes the renderer's rules to see.
TAMPERED: dict[str, str] = {
    "a claim that is not there": "integrity",
    "an error under another's id": "integrity",
    "an error under its claim's id": "integrity",
    "a missing measurement": "integrity",
    "a measurement given twice": "integrity",
}


@pytest.mark.parametrize("name", FALSE)
def test_a_genuine_signature_does_not_excuse_a_false_probe(name: str) -> None:
    """The recorded badge does not follow from such a record: it is refused, or judged otherwise."""
    data = _resigned(FALSE[name])
    assert check(data, TRUSTED).code == TAMPERED.get(name, "")
    if name != "a claim that is not there":  # of which not even a record can be read
        assert "planted_errors passed, now" in judged_otherwise(open_export(data, TRUSTED))
        assert present(data, Mode.STRICT, trusted=TRUSTED).shown == ()


def test_a_survivor_cannot_be_recorded_as_verified() -> None:
    """A decision without the rule is TAMPERED; one that says it passed is judged otherwise."""
    of = probed(credulous)
    silent = replace(of, decisions=_with_probe(of, None).decisions, answer=GOOD.answer)
    assert check(export(silent), TRUSTED).code == "finding"
    claimed = replace(of, decisions=GOOD.decisions, answer=GOOD.answer)
    assert check(export(claimed), TRUSTED).verdict == "VALID"
    assert "planted_errors passed, now" in judged_otherwise(claimed)
    for false in (silent, claimed):
        assert present(export(false), Mode.STRICT, trusted=TRUSTED).shown == ()


def test_an_error_that_the_evidence_states_takes_the_badge() -> None:
    """What stands in the compared text is no error, so nothing was tested by it."""
    text = "Full-time employees receive 30 days of annual leave per calendar year."
    of = probed(of=chunk(f"{SENTENCE} {text}"))
    stated = PlantedError("c1~1", "c1", "number", text, 28, 30, "30")
    others = of.probe.planted[1:]
    assert state(_with_probe(of, replace(of.probe, planted=(stated, *others)))) == "UNVERIFIED"


def test_a_claim_without_a_place_for_an_error_keeps_its_badge() -> None:
    """A probe that found nothing to plant says so and takes nothing."""
    of = _with_probe(record(), Probe((), (), POLICY, "one-edit-1"))
    assert (state(of), counts(of)) == ("VERIFIED", (0, 0, 0, 0))
    shown = present(export(of), Mode.STRICT, trusted=TRUSTED)
    assert "No error could be planted." in text_of(shown)


def test_an_export_without_a_probe_reads_as_before() -> None:
    """It has no such key, in the readable part or the signed one, and opens."""
    plain = export()
    assert "probe" not in json.loads(plain)
    assert "probe" not in record_json(record())
    assert open_export(plain, TRUSTED).probe is None
    assert check(plain, TRUSTED).verdict == "VALID"


def test_hostile_text_in_an_error_is_drawn_inert() -> None:
    """Markup, directives and look-alikes of the badge in a planted error reach no page."""
    for _, text in hostile_strings():
        error = PlantedError("c1~1", "c1", "entity", text, 0, len(SENTENCE), text)
        of = _with_probe(record(), Probe((error,), (), POLICY, text))
        shown = present(export(of), Mode.DEBUG, trusted=TRUSTED)
        assert [chip.badge.kind for chip in shown.shown] == ["unverified"]
        html = presentation_html(shown)
        for tag in ("<script", "<img", "<iframe", "<svg", "<a "):
            assert tag not in html.lower()
        assert "✅" not in html
        assert "✅" not in text_of(shown)
