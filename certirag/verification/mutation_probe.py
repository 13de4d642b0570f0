"""An answer's own Verified claims, each with one small error planted, measured like the claims.

An edit makes a claim false to its evidence (docs/adr/0009). Only edits are made after which the
evidence surely no longer bears the claim out: what the evidence says elsewhere, a bound that a
changed figure would still satisfy, and an edit that leaves no well-formed claim all rule one out.
Deterministic; any text is welcome. The errors go to the same verifier over the spans that the
claim itself was compared with. What comes of it is recorded; whether an error was caught is the
gate's to say (`render/probe_verdicts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from certirag.claims.well_formed import problems
from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import PlantedError, PlantKind, VerificationResult
from certirag.ports import Verifier
from certirag.verification.candidates import Candidate, Candidates, content_words
from certirag.verification.mutated_figures import date_edits, number_edits, unit_edits
from certirag.verification.mutated_words import (
    Edit,
    Surroundings,
    entity_edits,
    negation_edits,
    plain,
)
from certirag.verification.opinion import verify_claims

# Changes whenever the same claim and evidence would get other edits.
PLANTER: Final = "one-edit-1"

_WAYS: Final[dict[PlantKind, Callable[[str, Surroundings], Iterator[Edit]]]] = {
    "number": number_edits,
    "date": date_edits,
    "negation": negation_edits,
    "entity": entity_edits,
    "unit": unit_edits,
}


def edits_of(text: str, around: Surroundings, *, max_tokens: int) -> tuple[Edit, ...]:
    """Return at most one edit of each kind, in the order number, date, negation, entity, unit.

    *max_tokens* is the cap on a claim's words. A claim that is stated word for word in several
    ways keeps no edit that one of them states.
    """
    said = [plain(sentence) for sentence in around.compared]
    found = []
    for way in _WAYS.values():
        for edit in way(text, around):
            changed = edit.applied(text)
            stated = any(plain(changed).rstrip(".") in sentence for sentence in said)
            if not stated and changed != text and not problems(changed, max_tokens=max_tokens):
                found.append(edit)
                break
    return tuple(found)


# Errors in one answer: two for each of twelve claims. The kinds that come first go first.
MAX_PLANTED: Final = 24


@dataclass(frozen=True, slots=True)
class Planted:
    """The errors planted in an answer, in the order of its claims, and how many the cap cut."""

    errors: tuple[PlantedError, ...]
    left_out: int


def plant_errors(
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    *,
    max_tokens: int,
) -> Planted:
    """Return the errors planted in *claims*, at most `MAX_PLANTED`; the same for equal input.

    *results* are the claims' own measurements, by id. Under the cap every claim gets its first
    error before any gets its second, so that with fewer claims each gets at least as many.
    """
    by_id = {result.claim_id: result for result in results}
    by_chunk = {chunk.chunk_id: chunk for chunk in chunks}
    retrieved = tuple(
        span.sentence for chunk in chunks for span in chunk.spans if span.visible is True
    )
    found = [_planted(claim, by_id[claim.id], by_chunk, retrieved, max_tokens) for claim in claims]
    rounds = [error for turn in zip_longest(*found) for error in turn if error is not None]
    kept = rounds[:MAX_PLANTED]
    in_order = tuple(error for own in found for error in own if error in kept)
    return Planted(in_order, len(rounds) - len(kept))


def measure_planted(
    errors: Sequence[PlantedError],
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    verifier: Verifier,
) -> tuple[VerificationResult, ...]:
    """Return one measurement per planted error over its claim's own spans, under its id.

    A verifier that fails gives the label ``error``, as it does of a claim.
    """
    by_claim = {claim.id: claim for claim in claims}
    by_id = {result.claim_id: result for result in results}
    by_chunk = {chunk.chunk_id: chunk for chunk in chunks}
    return verify_claims(
        [_candidates(e, by_claim[e.claim_id], by_id[e.claim_id], by_chunk) for e in errors],
        verifier,
    )


def _planted(
    claim: Claim,
    result: VerificationResult,
    chunks: dict[str, EvidenceChunk],
    retrieved: tuple[str, ...],
    max_tokens: int,
) -> tuple[PlantedError, ...]:
    compared = [(chunks[s.chunk_id], s.span_id) for s in result.all_scores]
    around = Surroundings(
        attached=tuple(
            chunks[ref.chunk_id].span(ref.span_id).sentence for ref in result.best_evidence
        ),
        compared=tuple(
            dict.fromkeys(
                text
                for chunk, span in compared
                for text in (chunk.span(span).sentence, chunk.context)
            )
        ),
        retrieved=retrieved,
    )
    return tuple(
        PlantedError(
            id=f"{claim.id}~{number}",
            claim_id=claim.id,
            kind=edit.kind,
            text=edit.applied(claim.text),
            start=edit.start,
            end=edit.end,
            becomes=edit.becomes,
        )
        for number, edit in enumerate(edits_of(claim.text, around, max_tokens=max_tokens), start=1)
    )


def _candidates(
    error: PlantedError,
    claim: Claim,
    result: VerificationResult,
    chunks: dict[str, EvidenceChunk],
) -> Candidates:
    words = content_words(error.text)
    chosen = []
    for score in result.all_scores:
        chunk = chunks[score.chunk_id]
        span = chunk.span(score.span_id)
        share = len(words & content_words(span.sentence)) / max(1, len(words))
        chosen.append(Candidate(chunk, span, round(share, 6)))
    planted = replace(claim, id=error.id, text=error.text)
    return Candidates(planted, tuple(chosen), result.pairs_dropped, result.needed_dropped)
