"""A claim as the gate decided it, with what was read for it: what a run keeps, so that a person can look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk, SpanRef
from certirag.core.verdict import SpanScore, VerificationResult
from certirag.proof.certificate import RendererDecision
from certirag.render.trace import stage_of


@dataclass(frozen=True, slots=True)
class MeasuredClaim:
    """One claim: the gate's *state*, the verifier's *verdict* and scores, and the sentences read.

    *evidence* are the attached sentences, or the closest one where none is; *against* is the sentence
    that contradicts most, "" where none was compared. *entailed* is the score of the attached set,
    *contradicted* the highest of any sentence; None where there is no sound number. *failed* are the
    rules that did not pass, with their recorded reasons, and *stage* is where the claim failed, by
    rule; "" for a Verified one.
    """

    text: str
    state: str
    verdict: str
    entailed: float | None
    contradicted: float | None
    evidence: tuple[str, ...]
    against: str
    failed: tuple[tuple[str, str], ...]
    stage: str


def measured_claims(
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    decisions: Mapping[str, RendererDecision],
) -> Iterator[MeasuredClaim]:
    """Yield *claims*, each with its result and its decision, which is found by the claim's id."""
    by_claim = {result.claim_id: result for result in results}
    said = {
        SpanRef(chunk.chunk_id, span.span_id): span.sentence
        for chunk in chunks
        for span in chunk.spans
    }
    for claim in claims:
        result, decision = by_claim[claim.id], decisions[claim.id]
        closest = _most(result.all_scores, "entailed")
        against = _most(result.all_scores, "contradicted")
        chosen = result.best_evidence or ((_place(closest),) if closest else ())
        failed = [finding for finding in decision.findings if finding.passed is not True]
        yield MeasuredClaim(
            text=claim.text,
            state=decision.render_state,
            verdict=result.verdict,
            entailed=result.score,
            contradicted=against.contradicted if against else None,
            evidence=tuple(said[place] for place in chosen if place in said),
            against=said.get(_place(against), "") if against else "",
            failed=tuple((finding.rule, finding.reason) for finding in failed),
            stage=stage_of(result, failed) if failed else "",
        )


def _place(score: SpanScore) -> SpanRef:
    return SpanRef(score.chunk_id, score.span_id)


def _most(scores: Sequence[SpanScore], field: str) -> SpanScore | None:
    return max(scores, key=lambda score: attrgetter(field)(score) or 0.0, default=None)
