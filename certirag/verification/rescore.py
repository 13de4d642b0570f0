"""A recorded answer and its verifier → the first score that does not come out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from certirag.core.text import (
    EvidenceChunk,
    joined_evidence,
    pair_digests,
    shared_context,
)
from certirag.ports import Pair, Verifier
from certirag.proof.certificate import AnswerRecord
from certirag.verification.judge import judge_pairs

# Scores are recorded with six decimals; float sums may differ in the last ones elsewhere.
TOLERANCE: Final = 0.005


def first_difference(record: AnswerRecord, verifier: Verifier) -> str:
    """Return in plain words which score differs by more than `TOLERANCE`, or "" when none does.

    Every scored span is judged again, and every attached set, of the claims and of the errors
    planted in them; what cannot be judged differs.
    """
    chunks = {chunk.chunk_id: chunk for chunk in record.retrieval.chunks}
    claims = {claim.id: claim.text for claim in record.claim_ir.claims}
    results = record.verification
    if record.probe is not None:
        claims |= {error.id: error.text for error in record.probe.planted}
        results += record.probe.verification
    asked: list[tuple[str, Pair, float | None]] = []
    for result in results:
        claim = claims[result.claim_id]
        for score in result.all_scores:
            chunk = chunks[score.chunk_id]
            sentence = chunk.span(score.span_id).sentence
            pair = _as_recorded(claim, [chunk], [sentence], score.input_sha256)
            asked.append((f"{result.claim_id} on {score.chunk_id}", pair, score.entailed))
        attached = [chunks[ref.chunk_id] for ref in result.best_evidence]
        if attached:
            sentences = [
                chunk.span(ref.span_id).sentence
                for chunk, ref in zip(attached, result.best_evidence, strict=True)
            ]
            pair = _as_recorded(claim, attached, sentences, result.set_input_sha256)
            asked.append((f"{result.claim_id} on its evidence", pair, result.score))
    judgements = judge_pairs(verifier, [pair for _, pair, _ in asked])
    for (place, _, recorded), judgement in zip(asked, judgements, strict=True):
        now = None if judgement.label == "error" else judgement.entailed
        if now is None or recorded is None:
            if now is not recorded:
                return f"claim {place}: recorded {recorded}, now {now}"
        elif abs(now - recorded) > TOLERANCE:
            return f"claim {place}: recorded {recorded:.6f}, now {now:.6f}"
    return ""


def _as_recorded(
    claim: str, chunks: Sequence[EvidenceChunk], sentences: Sequence[str], digest: str
) -> Pair:
    """Return what the verifier was given, with the window that the record's *digest* stands for."""
    evidence, context = joined_evidence(sentences), shared_context(chunks)
    window = pair_digests(claim, evidence, context, chunks).get(digest, "")
    return Pair(claim, evidence, context, window)
