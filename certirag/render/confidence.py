"""The confidence of an answer: RFC-0004 §7, its inputs named and kept.

The RFC gives the bands by the share of verified claims and names four inputs; what it leaves open
is decided here to the careful side: an input can only lower the band that the share allows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from certirag.core.claim import Claim
from certirag.core.judgement import ANSWERS, OPEN, ConfidenceBasis
from certirag.core.policy import Policy
from certirag.core.text import EvidenceChunk, SpanRef
from certirag.core.verdict import VerificationResult, is_score
from certirag.proof.certificate import Confidence
from certirag.text.question import has_term, stems

# RFC-0004 §7: the least share of verified claims for each label.
HIGH: Final = 0.90
MEDIUM: Final = 0.75
LOW: Final = 0.50
# "High contradiction": the share of contradicted claims among those that the documents say
# something of, for or against; one more open claim must not make it look smaller.
HIGH_CONTRADICTION: Final = 0.25
# Evidence is thin where the searches ranked it below the fifth place on average, or where less
# than half of a claim's words stand in the attached sentences themselves.
THIN_RETRIEVAL: Final = 0.20
THIN_SPECIFICITY: Final = 0.50
# An answer may be one to another question than was asked. Of 225 everyday questions 119 were "high", and
# 91 began with their answer; from this relevance on it was 25 of 25, and of 237 others 30 of 34.
THIN_RELEVANCE: Final = 0.85

# RFC-0004 §6.1: the classes that need the stronger support.
HIGH_RISK: Final = frozenset({"scope_claim", "comparative_claim"})

_LADDER: Final[tuple[Confidence, ...]] = ("insufficient_evidence", "low", "medium", "high")
# The highest label that each caveat leaves: RFC-0004 has minor caveats under "medium",
# significant ones under "low", high contradiction and coverage gaps at the bottom.
CAVEATS: Final[Mapping[str, Confidence]] = {
    "high_risk_unresolved": "medium",
    "contested": "medium",
    "thin_retrieval": "medium",
    "thin_specificity": "medium",
    "thin_relevance": "medium",
    "contradicted": "low",
    "related_only": "low",
    "part_open": "low",
    "high_contradiction": "insufficient_evidence",
    "no_checkable_claim": "insufficient_evidence",
}


def confidence_of(basis: ConfidenceBasis) -> Confidence:
    """Return the label that *basis* earns: the band of its share, lowered by each caveat."""
    ceilings = [CAVEATS[name] for name in caveats_of(basis)]
    return min([_band(basis.pass_rate), *ceilings], key=_LADDER.index)


def with_caveats(basis: ConfidenceBasis) -> ConfidenceBasis:
    """Return *basis* with the names of the inputs that lower its confidence."""
    return replace(basis, caveats=caveats_of(basis))


def caveats_of(basis: ConfidenceBasis) -> tuple[str, ...]:
    """Return the names of what lowers the confidence of *basis*, in a fixed order."""
    decided = basis.contradicted + basis.verified
    share = basis.contradicted / decided if decided else 0.0
    holds = {
        "high_risk_unresolved": basis.high_risk_unresolved > 0,
        "contested": basis.contested > 0,
        "thin_retrieval": _thin(basis.retrieval, THIN_RETRIEVAL),
        "thin_specificity": _thin(basis.specificity, THIN_SPECIFICITY),
        "thin_relevance": answers(basis.relevance) and _thin(basis.relevance, THIN_RELEVANCE),
        "contradicted": basis.contradicted > 0,
        "related_only": not answers(basis.relevance),
        "part_open": basis.open_parts > 0,
        "high_contradiction": share >= HIGH_CONTRADICTION,
        "no_checkable_claim": basis.checkable < 1,
    }
    return tuple(name for name in CAVEATS if holds[name])


def answers(relevance: float | None) -> bool:
    """Say whether a statement of this *relevance* answers; one of which nobody asked does."""
    return relevance is None or relevance >= ANSWERS  # NaN does not


def open_parts(claims: Sequence[Claim]) -> tuple[int, ...]:
    """Return which parts of a question of two none of *claims* is about, while one is about the other.

    () for a question that asks one thing.
    """
    best = [max(scores) for scores in zip(*(c.by_part for c in claims if c.by_part), strict=False)]
    unanswered = tuple(at for at, score in enumerate(best) if not score >= OPEN)
    return unanswered if len(unanswered) < len(best) else ()


def evidence_quality(
    claims: Sequence[Claim],
    results: Mapping[str, VerificationResult],
    chunks: Mapping[str, EvidenceChunk],
) -> tuple[float | None, float | None]:
    """Return how well the evidence of verified *claims* was found, and how specific it is.

    Both in [0, 1], means over the claims; None when there are none. Found: the reciprocal of the
    best rank that a search or the reranker gave to a passage of its evidence (Voorhees 1999,
    "The TREC-8 question answering track report"); a passage without a rank counts 0. Specific:
    the share of the claim's words that stand in the attached sentences, headings left out.
    """
    if not claims:
        return None, None
    found, specific = [], []
    for claim in claims:
        result = results.get(claim.id)
        attached = () if result is None else result.best_evidence
        found.append(max((_reciprocal(chunks.get(r.chunk_id)) for r in attached), default=0.0))
        specific.append(_share_in_sentences(claim.text, attached, chunks))
    return _mean(found), _mean(specific)


def contested_claims(
    claims: Sequence[Claim],
    results: Mapping[str, VerificationResult],
    chunks: Mapping[str, EvidenceChunk],
    policy: Policy,
) -> frozenset[str]:
    """Return the ids of *claims* that a document other than their own opposes.

    Asked of every claim, whether or not *policy* has the rule that takes its badge for it.
    """
    found = set()
    for claim in claims:
        result = results.get(claim.id)
        if result is None:
            continue
        own = {chunks[r.chunk_id].doc_id for r in result.best_evidence if r.chunk_id in chunks}
        for score in result.all_scores:
            chunk = chunks.get(score.chunk_id)
            strong = is_score(score.contradicted) and score.contradicted is not None
            if chunk is not None and chunk.doc_id not in own and strong:
                found |= {claim.id} if (score.contradicted or 0.0) >= policy.tau_contest else set()
    return frozenset(found)


def _band(share: float) -> Confidence:
    if not (math.isfinite(share) and 0.0 <= share <= 1.0):
        return "insufficient_evidence"
    if share >= HIGH:
        return "high"
    if share >= MEDIUM:
        return "medium"
    return "low" if share >= LOW else "insufficient_evidence"


def _thin(quality: float | None, least: float) -> bool:
    return quality is not None and not quality >= least  # NaN is thin


def _reciprocal(chunk: EvidenceChunk | None) -> float:
    scores = None if chunk is None else chunk.retrieval
    places = () if scores is None else (scores.rank, scores.bm25_rank, scores.dense_rank)
    ranks = [rank for rank in places if type(rank) is int and rank >= 1]
    return 1.0 / min(ranks) if ranks else 0.0


def _share_in_sentences(
    text: str, attached: Sequence[SpanRef], chunks: Mapping[str, EvidenceChunk]
) -> float:
    wanted, held = stems(text), frozenset[str]()
    for ref in attached:
        chunk = chunks.get(ref.chunk_id)
        for span in () if chunk is None else chunk.spans:
            if span.span_id == ref.span_id:
                held |= stems(span.sentence)
    return sum(has_term(term, held) for term in wanted) / len(wanted) if wanted else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(math.fsum(values) / len(values), 6)
