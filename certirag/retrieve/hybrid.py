"""From a question to ranked chunks: BM25 and vectors, fused by reciprocal rank, reranked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from certirag.core.text import EvidenceChunk, RetrievalScores
from certirag.errors import InputError, ModelError
from certirag.ports import Embedder, Hit, Index, Reranker
from certirag.retrieve.terms import clean_text, search_text, terms

DECIMALS = 6


@dataclass(frozen=True, slots=True)
class RetrievalOutcome:
    """The chunks that were kept, best first, each with its score and rank at every stage.

    *dropped* says, one line each, what a cap left out or a stage could not do; *settings* are
    what another program needs to retrieve the same again.
    """

    chunks: tuple[EvidenceChunk, ...]
    dropped: tuple[str, ...] = ()
    settings: dict[str, str | int | float] = field(default_factory=dict)


def retrieve(
    question: str,
    index: Index,
    embedder: Embedder,
    reranker: Reranker | None,
    *,
    max_chunks: int,
    pool: int = 40,
    rrf_k: int = 60,
) -> RetrievalOutcome:
    """Return the at most *max_chunks* chunks of *index* that fit *question* best.

    Each search gives its best *pool* chunks; their ranks are fused as the sum of
    1 / (*rrf_k* + rank) (Cormack, Clarke, Büttcher 2009, "Reciprocal rank fusion", k = 60
    there); the best *pool* of these are scored by *reranker*, or left in fused order when it
    is None. A question without a searchable term is answered by vectors alone.

    Chunks with the same text stay apart: two documents that say the same are two sources.
    Scores are rounded to six decimals before anything is sorted by them. Equal scores are put
    in the order of the stage before, and in the first stages by chunk_id, so that the same
    question over the same corpus gives an equal outcome.

    Raises InputError for an empty question or a cap below 1, ModelError when the reranker
    answers with anything but one finite number for each text.
    """
    query = clean_text(question).strip()
    _check(query, max_chunks=max_chunks, pool=pool, rrf_k=rrf_k)
    notes = []
    by_terms = index.search_terms(query, limit=pool)
    if not terms(query):
        notes.append("the question holds no searchable term: found by vectors alone")
    by_vector = index.search_vector(embedder.embed([query])[0], limit=pool)
    fused = _fused(by_terms, by_vector, rrf_k)
    if len(fused) > pool:
        notes.append(f"{len(fused) - pool} of {len(fused)} chunks found were left out by the pool")
    found = [(index.chunk(chunk_id), scores) for chunk_id, scores in fused[:pool]]
    ranked = _reranked(query, found, reranker)
    if len(ranked) > max_chunks:
        left_out = len(ranked) - max_chunks
        notes.append(f"{left_out} of {len(ranked)} ranked chunks were left out by max_chunks")
    return RetrievalOutcome(
        chunks=tuple(replace(chunk, retrieval=scores) for chunk, scores in ranked[:max_chunks]),
        dropped=tuple(notes),
        settings={
            "method": "bm25+dense, reciprocal rank fusion",
            **corpus_settings(index),
            "embedder": embedder.identity.name,
            "reranker": "none" if reranker is None else reranker.identity.name,
            "max_chunks": max_chunks,
            "pool": pool,
            "rrf_k": rrf_k,
        },
    )


def corpus_settings(index: Index) -> dict[str, str | int]:
    """Return how a certificate names *index*, and that it is foreign where it is."""
    origin = {"corpus_origin": "foreign: no key that this home trusts signed the index"}
    return {"corpus": index.fingerprint, **(origin if index.foreign else {})}


def _check(query: str, **caps: int) -> None:
    if not query:
        raise InputError("the question is empty: write at least one word")
    for name, value in caps.items():
        if value < 1:
            raise InputError(f"{name}={value}: give a whole number of at least 1")


def _fused(
    by_terms: Sequence[Hit], by_vector: Sequence[Hit], rrf_k: int
) -> list[tuple[str, RetrievalScores]]:
    """Return chunk ids with bm25, dense and fused scores and ranks, best first."""
    bm25 = _ranks(by_terms)
    dense = _ranks(by_vector)
    sums = {
        chunk_id: _rounded(
            math.fsum(
                1 / (rrf_k + ranks[chunk_id][0]) for ranks in (bm25, dense) if chunk_id in ranks
            )
        )
        for chunk_id in {*bm25, *dense}
    }
    order = sorted(sums, key=lambda chunk_id: (-sums[chunk_id], chunk_id))
    return [
        (
            chunk_id,
            RetrievalScores(
                bm25=bm25[chunk_id][1] if chunk_id in bm25 else None,
                bm25_rank=bm25[chunk_id][0] if chunk_id in bm25 else None,
                dense=dense[chunk_id][1] if chunk_id in dense else None,
                dense_rank=dense[chunk_id][0] if chunk_id in dense else None,
                fused=sums[chunk_id],
                fused_rank=rank,
            ),
        )
        for rank, chunk_id in enumerate(order, 1)
    ]


def _ranks(hits: Sequence[Hit]) -> Mapping[str, tuple[int, float]]:
    return {hit.chunk_id: (rank, _rounded(hit.score)) for rank, hit in enumerate(hits, 1)}


def _reranked(
    query: str,
    found: Sequence[tuple[EvidenceChunk, RetrievalScores]],
    reranker: Reranker | None,
) -> list[tuple[EvidenceChunk, RetrievalScores]]:
    """Return *found*, which is in fused order, in its final order with its final ranks."""
    if reranker is None or not found:
        return [(chunk, replace(s, rank=rank)) for rank, (chunk, s) in enumerate(found, 1)]
    answered = reranker.score(query, [search_text(chunk) for chunk, _ in found])
    if len(answered) != len(found) or not all(math.isfinite(score) for score in answered):
        raise ModelError(
            f"the reranker {reranker.identity.name} did not give one finite score for each of "
            f"{len(found)} texts: choose another with CERTIRAG_RERANKER"
        )
    scored = [
        (chunk, replace(s, rerank=_rounded(float(score))))
        for (chunk, s), score in zip(found, answered, strict=True)
    ]
    scored.sort(key=lambda pair: -(pair[1].rerank or 0.0))  # stable: ties keep the fused order
    return [(chunk, replace(s, rank=rank)) for rank, (chunk, s) in enumerate(scored, 1)]


def _rounded(score: float) -> float:
    return round(float(score), DECIMALS) + 0.0  # + 0.0 turns -0.0, which prints apart, into 0.0
