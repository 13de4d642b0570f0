"""The passages that came nearest to an answer, and what each lacks: evidence for nothing.

Those of claims are derived from the record alone, so that each display can do it again (RFC-0004
§8.2). Those of a question without a claim were read by a network: the record carries them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from certirag.core.claim import Claim
from certirag.core.judgement import ANSWERS, Reference
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.core.verdict import SpanScore, is_score, two_places
from certirag.render.abstain import Grounds
from certirag.text.question import stems

MAX_REFERENCES: Final = 3
_SAYS_MUCH: Final = 0.5
# A passage, and how surely it answers; None where it instructs a model.
Rated = tuple[EvidenceChunk, SentenceSpan, float | None]


def closest_references(claims: Sequence[Claim], grounds: Grounds) -> tuple[Reference, ...]:
    """Return at most three passages, those that were scored best for or against the claims.

    Of low scores the order means nothing: there the passage that shares most words with its claim
    comes first. Over 34 claims about two texts that is the one a person would name 33 times, by the
    score 30 times. A span that does not resolve, or that a reader of the document cannot see, is never shown.
    """
    return tuple(islice(_scored(claims, grounds), MAX_REFERENCES))


def _scored(claims: Sequence[Claim], grounds: Grounds) -> Iterator[Reference]:
    """Yield the spans that were scored, the one that says most first, each once."""
    known = {claim.id: stems(claim.text) for claim in claims}
    chunks = {chunk.chunk_id: chunk for chunk in grounds.chunks}
    rows = []
    for result in grounds.results:
        for score in result.all_scores if result.claim_id in known else ():
            chunk, weight = chunks.get(score.chunk_id), _weight(score)
            span = None if chunk is None else whole_span(chunk, score.span_id)
            if chunk is not None and span is not None and weight > 0.0:
                shared = len(known[result.claim_id] & stems(span.sentence))
                key = (-weight if weight >= _SAYS_MUCH else 0.0, -shared, -weight)
                place = (score.chunk_id, score.span_id, result.claim_id)
                rows.append((key, place, score, chunk, span))
    seen = set()
    for _, (_, _, claim_id), score, chunk, span in sorted(rows, key=lambda row: row[:2]):
        if span.sentence not in seen:
            seen.add(span.sentence)
            yield _reference(chunk, span, _lacks(score, claim_id, grounds))


def _lacks(score: SpanScore, claim_id: str, grounds: Grounds) -> str:
    entailed, against = _sound(score.entailed), _sound(score.contradicted)
    policy = grounds.policy
    if against >= policy.tau_contradict:
        return f"says otherwise than claim {claim_id} ({against:.2f})"
    if entailed < policy.tau_entail:
        shown = two_places(entailed, policy.tau_entail)
        return f"supports claim {claim_id} with {shown}; {policy.tau_entail:.2f} is needed"
    opposed = any(
        _sound(other.contradicted) >= min(policy.tau_contradict, policy.tau_contest)
        for result in grounds.results
        if result.claim_id == claim_id
        for other in result.all_scores
    )
    but = "another passage says otherwise" if opposed else "another rule did not pass"
    return f"supports claim {claim_id} with {entailed:.2f}, but {but}"


def found_references(rated: Iterable[Rated]) -> tuple[Reference, ...]:
    """Return the passages that were found for a question, with how surely each answers it."""
    return tuple(_reference(chunk, span, _answers(how)) for chunk, span, how in rated)


def carried_references(
    references: Sequence[Reference], chunks: Sequence[EvidenceChunk]
) -> tuple[Reference, ...]:
    """Return what a record says of passages, of those that resolve to just what they quote."""
    known = {chunk.chunk_id: chunk for chunk in chunks}
    found = []
    for one in references[:MAX_REFERENCES]:
        chunk = known.get(one.chunk_id)
        span = None if chunk is None else whole_span(chunk, one.span_id)
        if chunk is not None and span is not None and span.sentence == one.quote:
            found.append(_reference(chunk, span, one.why))
    return tuple(found)


def _answers(how: float | None) -> str:
    if how is None:
        return "it reads as an instruction to a model, and was ignored"
    if how < ANSWERS:
        return f"it answers the question with {two_places(how, ANSWERS)}; {ANSWERS:.2f} is needed"
    return f"it answers the question with {how:.2f}, and no claim here says it"


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
