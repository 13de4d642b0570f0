"""Planted errors judged again from the record: caught, passed every rule, or not measured.

A claim whose planted error passes every rule loses its badge: the verifier and the policy cannot
tell it from a false one. So does a claim whose planted error could not be measured, for a
verifier that breaks on an error has not caught it (docs/adr/0009).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from certirag.core.claim import Claim
from certirag.core.said import ended, said, said_n, together
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import PlantedError, PlantKind, Probe, VerificationResult
from certirag.render.gate import Case, Finding, RenderState, decide, state_of
from certirag.render.rules import RULES
from certirag.render.why import ALL_PASSED

PLANTED_ERRORS: Final = "planted_errors"
Outcome = Literal["caught", "survived", "unmeasured"]
# Where one of these fails, the error was not put to the test, so nothing caught it.
_FAIR_TEST: Final = ("evidence", "well_formed", "sound_measurement", "isolated")
_QUOTED: Final = 160


@dataclass(frozen=True, slots=True)
class PlantedView:
    """One planted error as drawn: what stood there, what was put there, what came of it."""

    claim_id: str
    kind: PlantKind
    text: str
    was: str
    becomes: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class ProbeView:
    """What came of all errors planted in an answer, judged under the policy of that name."""

    planted: tuple[PlantedView, ...]
    policy_name: str
    left_out: int

    def count(self, outcome: Outcome) -> int:
        """Return how many errors came to *outcome*."""
        return sum(view.outcome == outcome for view in self.planted)

    @property
    def sentence(self) -> str:
        """The result in one line; what was not caught is said, never rounded away."""
        counted = counted_sentence(self.planted)
        if not self.left_out:
            return counted
        return together(counted, said("Left out by the cap: {count}.", count=self.left_out))


def counted_sentence(planted: Sequence[PlantedView]) -> str:
    """Return "12 planted, 12 caught." with whatever was not caught."""
    if not planted:
        return said("No error could be planted.")
    counts = Counter(view.outcome for view in planted)
    parts = [
        said("{count} planted", count=len(planted)),
        said("{count} caught", count=counts["caught"]),
    ]
    if counts["survived"]:
        parts.append(said_n("{n} passed every rule", "{n} passed every rule", counts["survived"]))
    if counts["unmeasured"]:
        unmeasured = counts["unmeasured"]
        parts.append(said_n("{n} could not be measured", "{n} could not be measured", unmeasured))
    return ended(together(*parts, between=", "))


def planted_errors(case: Case) -> Finding:
    """Every error planted in the claim was measured and caught; asked only where some were."""
    judged = [(planted.claim.text, *outcome_of(planted)) for planted in case.planted]
    for text, outcome, _ in judged:
        if outcome == "survived":
            short = text if len(text) <= _QUOTED else text[:_QUOTED] + "…"
            return Finding(False, f"a planted error passed every rule: “{short}”")
    missed = [reason for _, outcome, reason in judged if outcome != "caught"]
    if missed:
        count = f"{len(missed)} of {len(judged)} planted errors"
        return Finding(False, f"{count} could not be measured: {missed[0]}")
    if not judged:
        return Finding(False, "no planted error is in the record")
    return Finding(True, f"{len(judged)} planted, {len(judged)} caught")


def outcome_of(case: Case) -> tuple[Outcome, str]:
    """Return what came of one planted error and why, by the rules that its claim answers to."""
    decision = decide(case, RULES)
    if state_of(decision) is RenderState.VERIFIED:
        return "survived", ALL_PASSED
    failed = {finding.rule: finding.reason for finding in decision.findings if not finding.passed}
    for rule in _FAIR_TEST:
        if rule in failed:
            return "unmeasured", failed[rule]
    objecting = [rule for rule in failed if _objects(rule, case)]
    if not objecting:
        return "unmeasured", next(iter(failed.values()), "no rule could be asked")
    return "caught", failed[objecting[0]]


def planted_cases(
    probe: Probe,
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Mapping[str, EvidenceChunk],
) -> tuple[tuple[PlantedError, Case], ...]:
    """Return each planted error with the case to be judged, under the probe's own policy.

    An error without a claim or measurement of its own, one that is not an edit of its claim, and
    one that was compared with less than its claim get a measurement that no rule accepts.
    """
    ids = Counter(error.id for error in probe.planted)
    claim_ids = Counter(claim.id for claim in claims)
    measured = Counter(result.claim_id for result in (*probe.verification, *results))
    by_claim = {claim.id: claim for claim in claims if claim_ids[claim.id] == 1}
    by_id = {result.claim_id: result for result in (*probe.verification, *results)}
    cases = []
    for error in probe.planted:
        claim, own = by_claim.get(error.claim_id), by_id.get(error.claim_id)
        result = by_id.get(error.id)
        sole = ids[error.id] == measured[error.id] == measured[error.claim_id] == 1
        if claim is None or own is None or result is None or not sole:
            reason = "there is no single measurement of it"
        elif not _is_edit_of(claim, error):
            reason = "it is not an edit of its claim"
        elif not _spans(result) >= _spans(own) or _stated(error, own, chunks):
            reason = "it was not set against the sentences that its claim was"
        else:
            reason = ""
        if result is None or reason:
            result = _unmeasured(error.id, reason)
        shaped = claim or Claim(error.id, error.text, "fact", "factual_lit_claim")
        planted = replace(shaped, id=error.id, text=error.text)
        cases.append((error, Case(planted, result, chunks, probe.policy)))
    return tuple(cases)


def probe_view(
    probe: Probe,
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
) -> ProbeView:
    """Return what came of every planted error, derived from the record."""
    counts = Counter(chunk.chunk_id for chunk in chunks)
    by_chunk = {chunk.chunk_id: chunk for chunk in chunks if counts[chunk.chunk_id] == 1}
    texts = {claim.id: claim.text for claim in claims}
    views = []
    for error, case in planted_cases(probe, claims, results, by_chunk):
        outcome, reason = outcome_of(case)
        was = texts.get(error.claim_id, "")[max(0, error.start) : max(0, error.end)]
        views.append(
            PlantedView(error.claim_id, error.kind, error.text, was, error.becomes, outcome, reason)
        )
    return ProbeView(tuple(views), probe.policy.name, max(0, probe.left_out))


def _objects(rule: str, case: Case) -> bool:
    """Say whether *rule* answers and refuses; one that breaks on an error has not caught it."""
    try:
        finding = RULES[rule](case)
    except Exception:  # noqa: BLE001  # a broken rule catches nothing
        return False
    return type(finding) is Finding and finding.passed is False


def _is_edit_of(claim: Claim, error: PlantedError) -> bool:
    if not 0 <= error.start <= error.end <= len(claim.text) or error.text == claim.text:
        return False
    return claim.text[: error.start] + error.becomes + claim.text[error.end :] == error.text


def _spans(result: VerificationResult) -> set[tuple[str, str]]:
    return {(score.chunk_id, score.span_id) for score in result.all_scores}


def _stated(
    error: PlantedError, own: VerificationResult, chunks: Mapping[str, EvidenceChunk]
) -> bool:
    """Say whether the evidence states the edited claim word for word: then it is no error."""
    said = {
        " ".join(span.sentence.casefold().split())
        for chunk_id, span_id in _spans(own)
        for span in (chunks[chunk_id].spans if chunk_id in chunks else ())
        if span.span_id == span_id
    }
    return " ".join(error.text.casefold().split()) in said


def _unmeasured(error_id: str, reason: str) -> VerificationResult:
    return VerificationResult(
        claim_id=error_id, label="error", score=None, best_evidence=(), all_scores=(), error=reason
    )
