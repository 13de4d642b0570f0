"""How far a span or a claim answers a question; all in [0, 1]."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from certirag.core.claim import ClaimIR
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.errors import ModelError
from certirag.ports import Embedder, Reader, Reranker
from certirag.retrieve.terms import clean_text, terms

Place = tuple[EvidenceChunk, SentenceSpan]

# Okapi BM25 (Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework", eq. 3.15).
# Spans are single sentences, so length is discounted less than the usual 0.75.
K1: Final = 1.2
B: Final = 0.4
# A question's word that stands only in the span's headings counts for half.
HEADING: Final = 0.5


def read_text(place: Place) -> str:
    """Return what a reader sees of a span: the headings over it, a newline, its sentence."""
    chunk, span = place
    return clean_text(f"{chunk.context}\n{span.sentence}")


def keyword_relevance(question: str, spans: Sequence[Place]) -> list[float]:
    """Return for each span the share of *question*'s words that it bears, weighted by rarity.

    A word's part is its Okapi BM25 term, weighted by its rarity among *spans*, over the most that
    a single mention in a span of mean length can have; 1 means that every word of the question
    is there. A question without a word to look for gives 0 throughout.
    """
    asked = sorted(set(terms(question)))
    own = [Counter(terms(clean_text(span.sentence))) for _, span in spans]
    around = [frozenset(terms(clean_text(chunk.context))) for chunk, _ in spans]
    lengths = [sum(words.values()) for words in own]
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    spread = Counter(
        word
        for words, headings in zip(own, around, strict=True)
        for word in {*words, *headings} & set(asked)
    )
    rarity = {w: math.log(1 + (len(spans) - spread[w] + 0.5) / (spread[w] + 0.5)) for w in asked}
    total = math.fsum(rarity.values())
    found = []
    for words, headings, length in zip(own, around, lengths, strict=True):
        norm = K1 * (1 - B + B * length / mean)
        parts = [
            rarity[w] * (words[w] * (K1 + 1) / (words[w] + norm) if words[w] else HEADING)
            for w in asked
            if words[w] or w in headings
        ]
        found.append(min(1.0, math.fsum(parts) / total) if total else 0.0)
    return found


def semantic_relevance(question: str, spans: Sequence[Place], embedder: Embedder) -> list[float]:
    """Return the cosine of *question* with each span under its headings, 0 where negative.

    ModelError when *embedder* does not answer with one finite vector for each text.
    """
    vectors = embedder.embed([question, *map(read_text, spans)])
    if vectors.shape != (len(spans) + 1, embedder.dimension):
        raise ModelError(
            f"the embedder {embedder.identity.name} gave vectors of a wrong shape: "
            "choose another with CERTIRAG_EMBEDDER"
        )
    found = [float(cosine) for cosine in vectors[1:] @ vectors[0]]
    if not all(map(math.isfinite, found)):
        raise ModelError(
            f"the embedder {embedder.identity.name} gave vectors that are not finite: "
            "choose another with CERTIRAG_EMBEDDER"
        )
    return [min(1.0, max(0.0, cosine)) for cosine in found]


def rerank_relevance(question: str, spans: Sequence[Place], reranker: Reranker) -> list[float]:
    """Return each span's place between the worst and the best score of *reranker* for *spans*.

    A reranker's unit is its own, so only the place among the spans at hand says anything; where
    all score alike, all are as good as the best. ModelError when *reranker* does not answer with
    one finite number for each span.
    """
    scores = [float(score) for score in reranker.score(question, [read_text(s) for s in spans])]
    if len(scores) != len(spans) or not all(map(math.isfinite, scores)):
        raise ModelError(
            f"the reranker {reranker.identity.name} did not give one finite score for each of "
            f"{len(spans)} spans: choose another with CERTIRAG_RERANKER"
        )
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def with_relevance(claim_ir: ClaimIR, chunks: Sequence[EvidenceChunk], reader: Reader) -> ClaimIR:
    """Return *claim_ir* with the relevance of each claim to its question, if there is one.

    A claim that was taken from a passage is read under the headings of that passage.
    """
    if not any(character.isalnum() for character in claim_ir.question):
        return claim_ir
    headings = {chunk.chunk_id: chunk.context for chunk in chunks}
    first = [next(iter(claim.evidence_candidates), None) for claim in claim_ir.claims]
    statements = [
        (headings.get(ref.chunk_id, "") if ref else "", claim.text)
        for ref, claim in zip(first, claim_ir.claims, strict=True)
    ]
    scores = reader.relevance(claim_ir.question, statements) if statements else ()
    rated = zip(claim_ir.claims, scores, strict=True)
    return replace(claim_ir, claims=tuple(replace(c, relevance=score) for c, score in rated))
