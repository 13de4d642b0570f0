"""From ranked evidence to an answer without a language model: the sentences that answer.

Nothing is written that the evidence does not say; a question whose subject is nowhere in the
evidence gets no claims, which is how an abstention begins (RFC-0004 §8).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claim_ir.lists import lead_stem, list_item
from certirag.claim_ir.quantities import find_quantities
from certirag.claim_ir.relevance import (
    Ask,
    fits,
    has_term,
    read_questions,
    stems,
    weights,
)
from certirag.claim_ir.selfcontained import pointing_words, resolve
from certirag.claim_ir.split import is_table_row
from certirag.claim_ir.statement import (
    MAX_CLAIM_TOKENS,
    Statement,
    capped,
    is_uncheckable,
    moved,
    statement_claims,
)
from certirag.claim_ir.wellformed import problems
from certirag.claim_ir.words import NUMBER_WORDS
from certirag.core.claim import Claim, ClaimIR
from certirag.core.text import EvidenceChunk, SentenceSpan, SpanRef

# Share of the question's weight that a sentence with its headings must cover to be an answer,
# and the share that must stand in the sentence itself: a heading alone answers nothing.
MIN_COVERAGE: Final = 0.58
MIN_OWN_COVERAGE: Final = 0.22
# Sentences below this share of the best one's relevance are no longer answers.
FALL_OFF: Final = 0.84
# Words around a sentence count for less than its own.
_HEADING: Final = 0.85
_BEFORE: Final = 0.55
_DUPLICATE: Final = 0.85
# A sentence that needs another one to be understood comes after one that does not.
_POINTING: Final = 0.9


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence span of a retrieved chunk; *score* is the retriever's, larger is better."""

    chunk: EvidenceChunk
    span: SentenceSpan
    score: float


@dataclass(frozen=True, slots=True)
class _Reading:
    """A candidate with the stems of its sentence and of what a reader sees around it."""

    candidate: Candidate
    own: frozenset[str]
    heading: frozenset[str]
    before: frozenset[str]


def claims_from_evidence(
    question: str, candidates: Sequence[Candidate], *, max_claims: int
) -> ClaimIR:
    """Return the claims of the sentences among *candidates* that answer *question*, best first.

    A claim's ``draft_start`` and ``draft_end`` are its place in its chunk's text and its
    ``evidence_candidates`` is the span it was taken from. Text that a reader of the document
    cannot see is never used. The same input gives the same claims.
    """
    readings = [_read(c) for c in candidates if _is_usable(c)]
    claims: list[Claim] = []
    answers = [r for ask in read_questions(question) for r in _answers(ask, readings)]
    for reading in _distinct(answers):
        claims.extend(_claims(reading.candidate))
    return capped(question, claims, generator="extractive", draft="", max_claims=max_claims)


def _is_usable(candidate: Candidate) -> bool:
    span, chunk = candidate.span, candidate.chunk
    sound = math.isfinite(candidate.score) and chunk.text[span.start : span.end] == span.sentence
    return span.visible and sound and bool(span.sentence.strip())


def _read(candidate: Candidate) -> _Reading:
    chunk, span = candidate.chunk, candidate.span
    before, lead = _before(chunk, span), _lead(candidate)
    return _Reading(
        candidate,
        stems(_self_contained(candidate).text),
        stems(f"{chunk.source.section} {chunk.source.title}"),
        stems(f"{before} {lead.sentence if lead else ''}"),
    )


def _before(chunk: EvidenceChunk, span: SentenceSpan) -> str:
    """Return the visible sentence before *span* in the same paragraph of its chunk, or ""."""
    earlier = [s for s in chunk.spans if s.visible and s.end <= span.start]
    if not earlier:
        return ""
    last = max(earlier, key=lambda s: s.end)
    return "" if "\n\n" in chunk.text[last.end : span.start] else last.sentence


def _answers(ask: Ask, readings: Sequence[_Reading]) -> list[_Reading]:
    """Return the readings that answer, best first; none when nothing is about the question."""
    if not ask.terms or not readings:
        return []
    weigh = weights(ask, [r.own | r.heading for r in readings])
    scores = [r.candidate.score for r in readings]
    low, high = min(scores), max(scores)
    asked = _periods(ask.text) if ask.kind != "time" else frozenset()
    found: list[tuple[float, int]] = []
    for place, reading in enumerate(readings):
        text = reading.candidate.span.sentence
        if not _can_answer(ask, reading, text) or not _in_period(asked, reading):
            continue
        own = _coverage(weigh, reading.own, frozenset(), frozenset())
        whole = _coverage(weigh, reading.own, reading.heading, reading.before)
        if whole < MIN_COVERAGE or own < MIN_OWN_COVERAGE:
            continue
        relative = (reading.candidate.score - low) / (high - low) if high > low else 1.0
        close = own * len(ask.terms) / max(len(ask.terms), len(reading.own))
        score = 0.50 * whole + 0.28 * own + 0.12 * relative + 0.10 * close
        if _points_outside(reading.candidate):
            score *= _POINTING
        found.append((score, place))
    if not found:
        return []
    best = max(score for score, _ in found)
    kept = sorted((-score, place) for score, place in found if score >= FALL_OFF * best)
    return [readings[place] for _, place in kept]


def _points_outside(candidate: Candidate) -> bool:
    return bool(pointing_words(_self_contained(candidate).text))


def _periods(text: str) -> frozenset[str]:
    """Return the years, quarters and dates in *text*, in canonical form."""
    kinds = {"year", "period", "date"}
    return frozenset(q.value for q in find_quantities(text) if q.kind in kinds)


def _in_period(asked: frozenset[str], reading: _Reading) -> bool:
    """Say whether the sentence may speak of a period that is asked for.

    Revenue of another quarter, or of the whole year, is not the revenue of the third quarter.
    A sentence that names no period takes the one of its headings.
    """
    if not asked:
        return True
    chunk = reading.candidate.chunk
    named = _periods(reading.candidate.span.sentence) or _periods(chunk.source.section)
    named = named or _periods(chunk.source.title)
    if not named:
        return True
    return any(
        name == period or (name.startswith(period) and "Q" not in name and "H" not in name)
        for name in named
        for period in asked
    )


def _can_answer(ask: Ask, reading: _Reading, text: str) -> bool:
    """Say whether the sentence states something of the kind that is asked for."""
    unfit = problems(text, max_tokens=4 * MAX_CLAIM_TOKENS)
    fragment = any("heading or a fragment" in problem for problem in unfit)
    if any(p.startswith("not_checkable:") for p in unfit) and not (
        fragment
        and (
            _lead(reading.candidate) is not None
            or (any(c.isdigit() for c in text) and _heading_noun(reading.candidate.chunk))
        )
    ):
        return False
    if ask.counted and not has_term(ask.counted, reading.own):
        return False
    return fits(ask, _self_contained(reading.candidate).text)


def _coverage(
    weigh: Mapping[str, float],
    own: frozenset[str],
    heading: frozenset[str],
    before: frozenset[str],
) -> float:
    total = sum(weigh.values())
    got = 0.0
    for term, weight in weigh.items():
        if has_term(term, own):
            got += weight
        elif has_term(term, heading):
            got += weight * _HEADING
        elif has_term(term, before):
            got += weight * _BEFORE
    return got / total


def _distinct(readings: Sequence[_Reading]) -> list[_Reading]:
    """Drop sentences that say the same as one before them, in the same figures."""
    kept: list[_Reading] = []
    for reading in readings:
        if not any(_same(reading, other) for other in kept):
            kept.append(reading)
    return kept


def _same(one: _Reading, other: _Reading) -> bool:
    first, second = _words(one), _words(other)
    figures = [
        {w for w in words if w[:1].isdigit() or w in NUMBER_WORDS} for words in (first, second)
    ]
    if figures[0] != figures[1] or (first ^ second) & {"not", "no", "never", "only", "cannot"}:
        return False
    union = first | second
    return not union or len(first & second) / len(union) >= _DUPLICATE


def _words(reading: _Reading) -> frozenset[str]:
    return frozenset(re.findall(r"\w+(?:[.,]\d+)*", reading.candidate.span.sentence.lower()))


def _lead(candidate: Candidate) -> SentenceSpan | None:
    """Return the span that leads into the list item *candidate* ("… patients with:")."""
    for span in reversed([s for s in candidate.chunk.spans if s.end <= candidate.span.start]):
        if not span.visible:
            continue
        if span.sentence.rstrip().endswith(":"):
            return span if lead_stem(span.sentence) else None
        if span.sentence.rstrip().endswith((".", "!", "?")):
            ends = problems(_unbulleted(span.sentence), max_tokens=MAX_CLAIM_TOKENS)
            if not any("heading or a fragment" in problem for problem in ends):
                return None
    return None


def _claims(candidate: Candidate) -> list[Claim]:
    """Return the checkable claims of one sentence, each pointing at its span."""
    statement = _self_contained(candidate)
    spans = [candidate.span]
    lead = _lead(candidate)
    if lead is not None and statement.text.startswith(lead_stem(lead.sentence)):
        spans.insert(0, lead)  # what the item says is only half of the claim
    references = tuple(SpanRef(candidate.chunk.chunk_id, span.span_id) for span in spans)
    return [
        replace(claim, evidence_candidates=references)
        for claim in statement_claims(statement)
        if not is_uncheckable(claim)
    ]


def _self_contained(candidate: Candidate) -> Statement:
    """Return the sentence with its pronoun resolved, or its missing subject from the heading."""
    chunk, span = candidate.chunk, candidate.span
    text = _unbulleted(span.sentence)
    offset = span.start + span.sentence.index(text)
    places = tuple(range(offset, offset + len(text)))
    whole = Statement(text, span.start, span.end, places)
    if is_table_row(text):
        return whole
    if pointing_words(text):
        resolved = resolve(text, _resolved_before(chunk, span))
        if not resolved.words:
            return whole
        return replace(
            whole,
            text=resolved.text,
            places=moved(text, resolved.text, places),
            given=(resolved.words,),
        )
    fragment = "heading or a fragment" in "".join(problems(text, max_tokens=MAX_CLAIM_TOKENS))
    lead = _lead(candidate) if fragment else None
    if lead is not None:
        stem, item = lead_stem(lead.sentence), list_item(text)
        unplaced = tuple(-1 for _ in range(len(stem) + 1))
        joined = f"{stem} {item}."
        return replace(
            whole, text=joined, places=(*unplaced, *places[: len(item)], -1), given=(stem,)
        )
    noun = _heading_noun(chunk)
    if not fragment or not noun:
        return whole
    front = f"{noun}: "
    return replace(whole, text=front + text, places=(*(-1 for _ in front), *places), given=(noun,))


def _resolved_before(chunk: EvidenceChunk, span: SentenceSpan) -> str:
    """Return the sentence before *span*, its own pronoun resolved from the one before it."""
    before = _before(chunk, span)
    if not before or not pointing_words(before):
        return before
    earlier = next((s for s in chunk.spans if s.sentence == before and s.end <= span.start), None)
    return resolve(before, _before(chunk, earlier)).text if earlier else before


def _unbulleted(sentence: str) -> str:
    match = re.match(r"\s*(?:[-*•◦‣·–]|\d{1,2}[.)])\s+(?=\S)", sentence)
    return sentence[match.end() :].rstrip() if match else sentence.strip()


def _heading_noun(chunk: EvidenceChunk) -> str:
    """Return the nearest heading over *chunk* if it can be a subject; a question cannot."""
    for name in (chunk.source.section.split(" › ")[-1].strip(), chunk.source.title.strip()):
        if name and not name.endswith("?") and len(name.split()) <= 8:
            return name.rstrip(":.")
    return ""
