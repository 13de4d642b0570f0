"""Claims in, what was measured of them out: evidence for and against, scores, citations.

    claims ─ search (for, against) ─▶ chunks ─▶ candidates ─ route ─▶ verify at its depth
        ─▶ opposition ─▶ citations judged and corrected

Nothing here decides. Each claim is measured on its own evidence, so that what is measured of it
does not change when the answer goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.answers.services import Instruments
from certirag.core.citation import Citation, CitationJudgement, Correction
from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import SpanScore, VerificationResult
from certirag.ports import Index
from certirag.retrieve.hybrid import retrieve
from certirag.verification.candidates import Candidates, choose_candidates
from certirag.verification.citation_check import judge_citations
from certirag.verification.correction import correct_citations, keep_citations
from certirag.verification.depth import verify_at_depths
from certirag.verification.further_search import (
    counter_queries,
    opposition,
    verify_with_retrieval,
    with_opposition,
)
from certirag.verification.places import find_cited
from certirag.verification.proposals import correction_strategy
from certirag.verification.question_answers import question_records
from certirag.verification.routing import UNROUTED, Route, route_claims

# Chunks that a search against a claim may add: it looks for one that opposes, not for a topic.
_AGAINST: Final = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of some claims, in order, and the chunks that it was measured on."""

    results: tuple[VerificationResult, ...] = ()
    chunks: tuple[EvidenceChunk, ...] = ()
    judgements: tuple[CitationJudgement, ...] = ()
    corrections: tuple[Correction, ...] = ()

    def with_more(self, other: Measured) -> Measured:
        """Return both together; of a chunk that both have, the first stays as it is."""
        known = {chunk.chunk_id for chunk in self.chunks}
        return Measured(
            (*self.results, *other.results),
            (*self.chunks, *(c for c in other.chunks if c.chunk_id not in known)),
            (*self.judgements, *other.judgements),
            (*self.corrections, *other.corrections),
        )

    def of(self, claim_ids: Collection[str]) -> Measured:
        """Return what was measured of the claims *claim_ids* alone."""
        return Measured(
            tuple(r for r in self.results if r.claim_id in claim_ids),
            self.chunks,
            tuple(j for j in self.judgements if j.citation.claim_id in claim_ids),
            tuple(c for c in self.corrections if c.claim_id in claim_ids),
        )


def measure_claims(
    claims: Sequence[Claim],
    found: Sequence[EvidenceChunk],
    index: Index,
    instruments: Instruments,
    *,
    citations: Sequence[Citation] = (),
) -> Measured:
    """Measure *claims* on the chunks *found* for the question and on their own searches.

    *citations* are what a draft cited for them. Where citation correction is off, a claim that
    cites may lean on what it cites alone.
    """
    settings = instruments.settings
    with instruments.stage("evidence"):
        chunks = _evidence_for(claims, found, index, instruments)
    with instruments.stage("candidates"):
        candidates = choose_candidates(
            claims,
            chunks,
            max_spans=settings.max_spans_per_claim,
            max_pairs=settings.max_pairs,
        )
    with instruments.stage("verify"):
        results, candidates, more = _verified(candidates, index, instruments)
    chunks = (*chunks, *(c for c in more if c.chunk_id not in {k.chunk_id for k in chunks}))
    if citations and not settings.enable_citation_correction:
        results = _on_cited(candidates, results, citations, index, instruments)
    results = tuple(
        with_opposition(result, opposition(claim, result, chunks))
        for claim, result in zip(claims, results, strict=True)
    )
    with instruments.stage("citations"):
        judgements, corrections = _cited(claims, results, chunks, citations, index, instruments)
    return Measured(results, chunks, judgements, corrections)


def _evidence_for(
    claims: Sequence[Claim], found: Sequence[EvidenceChunk], index: Index, instruments: Instruments
) -> tuple[EvidenceChunk, ...]:
    """Return the chunks that speak for or against any claim.

    Each claim searches the whole corpus by itself, without the reranker, and so does what would
    oppose it: either may have been far from the question.
    """
    chunks = {chunk.chunk_id: chunk for chunk in found}
    for claim in claims:
        limits = [(claim.text, instruments.settings.max_chunks)]
        limits += [(query, _AGAINST) for query in counter_queries(claim.text)]
        for query, limit in limits:
            for chunk in _searched(query, limit, index, instruments):
                chunks.setdefault(chunk.chunk_id, chunk)
    return tuple(chunks.values())


def _searched(
    query: str, limit: int, index: Index, instruments: Instruments
) -> tuple[EvidenceChunk, ...]:
    return retrieve(query, index, instruments.embedder, None, max_chunks=limit).chunks


def _verified(
    candidates: Sequence[Candidates], index: Index, instruments: Instruments
) -> tuple[
    tuple[VerificationResult, ...],
    tuple[Candidates, ...],
    tuple[EvidenceChunk, ...],
]:
    """Return a result per claim, what each was compared with, and chunks found by searching again."""

    def verify(part: Sequence[Candidates], _verifier: object) -> Sequence[VerificationResult]:
        return _looked_at(part, instruments)

    if not instruments.settings.enable_verification_retrieval:
        return _looked_at(candidates, instruments), tuple(candidates), ()

    def search(query: str, limit: int) -> Sequence[EvidenceChunk]:
        return _searched(query, limit, index, instruments)

    more = verify_with_retrieval(candidates, instruments.verifier, search, verify=verify)
    return more.results, more.candidates, more.chunks


def _looked_at(
    candidates: Sequence[Candidates], instruments: Instruments
) -> tuple[VerificationResult, ...]:
    """Return a result per claim, each at the depth that the settings and its wording ask for."""
    settings = instruments.settings
    routes: Sequence[Route] = [UNROUTED] * len(candidates)
    if settings.enable_confidence_classification:
        routes = route_claims(candidates)
    nei = settings.enable_nei_verdict and settings.enable_abstention
    ask = question_records if settings.enable_numeric_qa_verification else None
    return verify_at_depths(candidates, routes, instruments.verifier, ask=ask, nei=nei)


def _on_cited(
    candidates: Sequence[Candidates],
    results: Sequence[VerificationResult],
    citations: Sequence[Citation],
    index: Index,
    instruments: Instruments,
) -> tuple[VerificationResult, ...]:
    """Return the results with each claim that cites leaning on what it cites alone.

    What was scored of it elsewhere stays, so that what opposes it does. A claim that cites what
    does not exist leans on nothing; one that cites nothing is left as it is.
    """
    everything = index.chunks()
    cited: dict[str, set[tuple[str, str]]] = {}
    for citation in citations:
        places = find_cited(citation, everything).spans
        own = cited.setdefault(citation.claim_id, set())
        own.update((chunk.chunk_id, span.span_id) for chunk, span in places)
    parts = [
        replace(
            own,
            chosen=tuple(
                c for c in own.chosen if (c.chunk.chunk_id, c.span.span_id) in cited[own.claim.id]
            ),
            dropped=0,  # what is not cited was not left out by a cap
        )
        for own in candidates
        if own.claim.id in cited
    ]
    leaning = {result.claim_id: result for result in _looked_at(parts, instruments)}
    return tuple(
        _joined(leaning[whole.claim_id], whole) if whole.claim_id in leaning else whole
        for whole in results
    )


def _joined(own: VerificationResult, whole: VerificationResult) -> VerificationResult:
    """Return *own*, measured on the cited spans, beside all that *whole* was scored on."""
    verdict = own.verdict
    if verdict in ("NEI", "UNSUPPORTED") and whole.verdict == "CONTRADICTED":
        verdict = "CONTRADICTED"
    elif verdict == "NEI" and whole.verdict != "NEI":
        verdict = "UNSUPPORTED"  # there is evidence on the topic, only not where it was cited
    return replace(
        own,
        verdict=verdict,
        all_scores=(*own.all_scores, *_others(own, whole)),
        pairs_dropped=whole.pairs_dropped,
        needed_dropped=whole.needed_dropped,
    )


def _others(own: VerificationResult, whole: VerificationResult) -> tuple[SpanScore, ...]:
    """Return the scores of *whole* for spans that *own* has none of."""
    places = {(score.chunk_id, score.span_id) for score in own.all_scores}
    return tuple(s for s in whole.all_scores if (s.chunk_id, s.span_id) not in places)


def _cited(
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    citations: Sequence[Citation],
    index: Index,
    instruments: Instruments,
) -> tuple[tuple[CitationJudgement, ...], tuple[Correction, ...]]:
    """Judge what the draft cited, and correct it; without citations there is nothing to do."""
    if not citations:
        return (), ()
    if not instruments.settings.enable_citation_correction:
        return (), keep_citations(citations)
    everything = index.chunks()  # a place that is not among them is taken not to exist
    judgements = judge_citations(claims, citations, everything, instruments.verifier)
    strategy = correction_strategy(
        instruments.settings.correction, instruments.embedder, instruments.verifier
    )
    to_cite = _scored_or_cited(results, chunks, citations, everything)
    corrections = correct_citations(
        claims, judgements, to_cite, instruments.verifier, strategy, cite_uncited=False
    )
    return judgements, corrections


def _scored_or_cited(
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    citations: Sequence[Citation],
    everything: Sequence[EvidenceChunk],
) -> tuple[EvidenceChunk, ...]:
    """Return the sentences that were scored for a claim or are cited at a place, by chunk.

    A better place to cite is sought among these: each claim has searched the whole corpus before,
    and to compare it with every sentence again would take as long as the corpus is large.
    """
    wanted = {(score.chunk_id, score.span_id) for own in results for score in own.all_scores}
    known = {chunk.chunk_id: chunk for chunk in chunks}
    for citation in citations:
        if citation.spans or citation.place or citation.quote:
            for chunk, span in find_cited(citation, everything).spans:
                known.setdefault(chunk.chunk_id, chunk)
                wanted.add((chunk.chunk_id, span.span_id))
    return tuple(
        replace(chunk, spans=spans)
        for chunk in known.values()
        if (spans := tuple(s for s in chunk.spans if (chunk.chunk_id, s.span_id) in wanted))
    )
