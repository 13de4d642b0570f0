"""How far a span or a claim answers a question; all in [0, 1]."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from certirag.claims.lists_and_rows import reads_row
from certirag.core.claim import Claim, ClaimIR
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.errors import ModelError
from certirag.ports import Embedder, Reader, Reranker
from certirag.retrieve.hybrid import clean_text, terms
from certirag.text.question import part_of

Place = tuple[EvidenceChunk, SentenceSpan]

# Okapi BM25 (Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework", eq. 3.15).
# Spans are single sentences, so length is discounted less than the usual 0.75.
K1: Final = 1.2
B: Final = 0.4
# A question's word that stands only in the span's headings counts for half.
HEADING: Final = 0.5
# Of what answers less surely it makes no difference whether it instructs a model.
_ASKED_FROM: Final = 0.05
# What is said of a claim that instructs a model.
INSTRUCTS: Final = "not_checkable: it tells a language model what to do"


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

    Where a question asks two things, each has its own. A claim that was taken from a passage is
    read under the headings of that passage. What instructs a model answers nobody: 0.
    """
    if not claim_ir.claims or not any(map(str.isalnum, claim_ir.question)):
        return claim_ir
    headings = {chunk.chunk_id: chunk.context for chunk in chunks}
    statements = []
    for claim in claim_ir.claims:
        refs = [ref for ref in claim.evidence_candidates if ref.chunk_id in headings]
        statements.append((headings[refs[0].chunk_id] if refs else "", claim.text))
    sources = _sources(claim_ir.claims, chunks)
    parts = tuple(reader.parts(claim_ir.question))
    two = [part_of(claim_ir.question, part) for part in parts] if len(parts) > 1 else []
    scores = [
        _of_statements(reader, asked, statements, sources) for asked in two or [claim_ir.question]
    ]
    claims = tuple(
        replace(claim, relevance=max(own), by_part=own if two else ())
        for claim, own in zip(claim_ir.claims, zip(*scores, strict=True), strict=True)
    )
    return replace(claim_ir, claims=claims, parts=parts if two else ())


def with_instructions_named(
    claim_ir: ClaimIR, chunks: Sequence[EvidenceChunk], reader: Reader
) -> ClaimIR:
    """Return *claim_ir* where a claim that instructs a model has that as a problem: it states nothing."""
    told = reader.instructs(_sources(claim_ir.claims, chunks))
    claims = (
        replace(claim, problems=(*claim.problems, INSTRUCTS))
        if instructs and INSTRUCTS not in claim.problems
        else claim
        for claim, instructs in zip(claim_ir.claims, told, strict=True)
    )
    return replace(claim_ir, claims=tuple(claims))


def _sources(claims: Sequence[Claim], chunks: Sequence[EvidenceChunk]) -> list[str]:
    """Return what each of *claims* is to be looked at as, where an order to a model is looked for.

    A row that is read as a sentence looks like an order; the row itself does not.
    """
    said = {(c.chunk_id, s.span_id): s.sentence for c in chunks for s in c.spans}
    found = []
    for claim in claims:
        refs = [(ref.chunk_id, ref.span_id) for ref in claim.evidence_candidates]
        own = " ".join(said[ref] for ref in refs if ref in said)
        found.append(own if reads_row(claim.text, own) else claim.text)
    return found


def answers_in(reader: Reader, question: str, statements: Sequence[tuple[str, str]]) -> list[float]:
    """Return how surely each (headings, sentence) answers; 0 for what instructs a model."""
    return _of_statements(reader, question, statements, [text for _, text in statements])


def nearest(
    question: str, chunks: Sequence[EvidenceChunk], reader: Reader, *, most: int
) -> list[tuple[EvidenceChunk, SentenceSpan, float | None]]:
    """Return the *most* sentences that answer best, and how surely; None for what instructs."""
    seen: dict[str, Place] = {}
    for chunk in chunks:
        for span in chunk.spans:
            if span.visible and span.sentence.strip():
                seen.setdefault(span.sentence, (chunk, span))
    places = list(seen.values())
    if not places or not any(map(str.isalnum, question)):
        return []
    scores = reader.relevance(question, [(chunk.context, span.sentence) for chunk, span in places])
    best = sorted(zip(scores, places, strict=True), key=lambda one: -one[0])[:most]
    told = reader.instructs([span.sentence for _, (_, span) in best])
    return [
        (chunk, span, None if instructs else score)
        for (score, (chunk, span)), instructs in zip(best, told, strict=True)
    ]


def _of_statements(
    reader: Reader, question: str, statements: Sequence[tuple[str, str]], sources: Sequence[str]
) -> list[float]:
    """Return the relevance of *statements*, 0 where what stands for it in *sources* instructs a model."""
    scores = list(reader.relevance(question, statements))
    asked = [at for at, score in enumerate(scores) if score >= _ASKED_FROM]
    told = reader.instructs([sources[at] for at in asked])
    for at, instructs in zip(asked, told, strict=True):
        scores[at] = 0.0 if instructs else scores[at]
    return scores
