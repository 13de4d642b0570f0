"""The passages that came nearest to an answer, and what each lacks: evidence for nothing.

Derived from the record alone, so that each display can do it again (RFC-0004 §8.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from certirag.claim_ir.asked import AskedWord, asked_words
from certirag.claim_ir.relevance import has_term, stems
from certirag.core.claim import Claim
from certirag.core.judgement import Reference
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.core.verdict import SpanScore, is_score
from certirag.render.abstain import Grounds

MAX_REFERENCES: Final = 3


def closest_references(claims: Sequence[Claim], grounds: Grounds) -> tuple[Reference, ...]:
    """Return at most three passages: the best scored ones, or those with most of the question.

    A span that does not resolve, or that a reader of the document cannot see, is never shown.
    """
    scored = list(_scored(claims, grounds))
    return tuple(scored or _found(grounds))[:MAX_REFERENCES]


def _scored(claims: Sequence[Claim], grounds: Grounds) -> Iterator[Reference]:
    """Yield the spans that were scored, the one that says most first, each once."""
    known = {claim.id for claim in claims}
    chunks = {chunk.chunk_id: chunk for chunk in grounds.chunks}
    rows = [
        (score, result.claim_id)
        for result in grounds.results
        if result.claim_id in known
        for score in result.all_scores
    ]
    rows.sort(key=lambda row: (-_weight(row[0]), row[0].chunk_id, row[0].span_id, row[1]))
    seen = set()
    for score, claim_id in rows:
        chunk = chunks.get(score.chunk_id)
        span = None if chunk is None else whole_span(chunk, score.span_id)
        if chunk is None or span is None or span.sentence in seen or _weight(score) <= 0.0:
            continue
        seen.add(span.sentence)
        yield _reference(chunk, span, _lacks(score, claim_id, grounds))


def _lacks(score: SpanScore, claim_id: str, grounds: Grounds) -> str:
    entailed, against = _sound(score.entailed), _sound(score.contradicted)
    policy = grounds.policy
    if against >= policy.tau_contradict:
        return f"says otherwise than claim {claim_id} ({against:.2f})"
    if entailed < policy.tau_entail:
        return f"supports claim {claim_id} with {entailed:.2f}; {policy.tau_entail:.2f} is needed"
    opposed = any(
        _sound(other.contradicted) >= min(policy.tau_contradict, policy.tau_contest)
        for result in grounds.results
        if result.claim_id == claim_id
        for other in result.all_scores
    )
    but = "another passage says otherwise" if opposed else "another rule did not pass"
    return f"supports claim {claim_id} with {entailed:.2f}, but {but}"


def _found(grounds: Grounds) -> Iterator[Reference]:
    """Yield from each chunk in order of rank the sentence that holds most of the question."""
    words = asked_words(grounds.question)
    ranked = sorted(grounds.chunks, key=lambda c: (c.retrieval.rank or 10_000, c.chunk_id))
    weigh = _weights(words, ranked)
    best = []
    for place, chunk in enumerate(ranked):
        spans = [s for s in chunk.spans if whole_span(chunk, s.span_id) is not None]
        if not spans:
            continue
        span = max(spans, key=lambda s: (_held(words, weigh, s.sentence), -s.start))
        share = _held(words, weigh, f"{chunk.context}\n{span.sentence}")
        best.append((-share, place, chunk, span))
    for _, _, chunk, span in sorted(best, key=lambda row: row[:2]):
        yield _reference(chunk, span, "it was found for the question and does not answer it")


def _weights(words: Sequence[AskedWord], chunks: Sequence[EvidenceChunk]) -> dict[str, float]:
    """Return for each term how much it tells: the rarer among *chunks*, the more; verbs little."""
    texts = [stems(f"{chunk.context}\n{chunk.text}") for chunk in chunks]
    found = {}
    for word in words:
        having = sum(has_term(word.term, text) for text in texts)
        found[word.term] = math.log(1.0 + (len(texts) + 1) / (having + 0.5))
    return found


def _held(words: Sequence[AskedWord], weigh: dict[str, float], text: str) -> float:
    held = stems(text)
    return round(math.fsum(weigh[w.term] for w in words if has_term(w.term, held)), 9)


def whole_span(chunk: EvidenceChunk, span_id: str) -> SentenceSpan | None:
    """Return the span that resolves and that a reader of the document can see, or None."""
    named = [span for span in chunk.spans if span.span_id == span_id]
    if len(named) != 1 or named[0].visible is not True:
        return None
    span = named[0]
    whole = chunk.text[span.start : span.end] == span.sentence and span.sentence.strip()
    return span if whole else None


def _reference(chunk: EvidenceChunk, span: SentenceSpan, why: str) -> Reference:
    source = chunk.source
    title = source.title or chunk.doc_id
    return Reference(
        chunk.chunk_id, span.span_id, title, source.section, source.page, span.sentence, why
    )


def _weight(score: SpanScore) -> float:
    return max(_sound(score.entailed), _sound(score.contradicted))


def _sound(value: float | None) -> float:
    return float(value) if value is not None and is_score(value) else 0.0
