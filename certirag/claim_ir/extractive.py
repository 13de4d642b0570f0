"""From evidence to an answer without a language model: the sentences that answer, best first.

Nothing is written that the evidence does not say. How well a sentence answers is measured by
whoever calls (the reader that ships, or any other); no word is counted here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claim_ir.lists import lead_stem, list_item
from certirag.claim_ir.quantities import find_quantities
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

# (question, [(headings, statement)]) → how surely each statement answers, in [0, 1].
Relevance = Callable[[str, Sequence[tuple[str, str]]], Sequence[float]]

MOST_SENTENCES: Final = 3
# Below this a sentence is not even on the topic; below that share of the best one's relevance it
# adds nothing to it. Chosen on the questions of `certirag eval answers` (docs/pipeline.md).
RELATED: Final = 0.10
FALL_OFF: Final = 0.90
_LOOKED_INTO: Final = 12
# A second question in one sentence: ", and when are approved claims paid?"
_SECOND: Final = re.compile(
    r",? and (?=(?:by |until |since |at |in |on |for |within )?(?:how|when|what|which|who|where|why)\b)",
    re.IGNORECASE,
)
_DUPLICATE: Final = 0.85


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence span of a retrieved chunk; *score* is the retriever's, larger is better."""

    chunk: EvidenceChunk
    span: SentenceSpan
    score: float


def claims_from_evidence(
    question: str, candidates: Sequence[Candidate], relevance: Relevance, *, max_claims: int
) -> ClaimIR:
    """Return the claims of the sentences among *candidates* that answer *question*, best first.

    A claim's ``draft_start`` and ``draft_end`` are its place in its chunk's text and its
    ``evidence_candidates`` is the span it was taken from. Text that a reader of the document
    cannot see is never used. The same input gives the same claims.
    """
    usable = [c for c in candidates if _is_usable(c) and _states(c)]
    claims: list[Claim] = []
    parts = [part for part in _SECOND.split(question) if any(x.isalnum() for x in part)]
    for part in parts:
        asked = _periods(part)
        about = [c for c in usable if _in_period(asked, c)]
        claims += _best(part, about, relevance, most=MOST_SENTENCES if len(parts) == 1 else 2)
    own = [c for at, c in enumerate(claims) if c not in claims[:at]]  # one may answer both parts
    return capped(question, own, generator="extractive", draft="", max_claims=max_claims)


def _best(
    question: str, candidates: Sequence[Candidate], relevance: Relevance, *, most: int
) -> list[Claim]:
    """Return the claims of at most *most* sentences that answer best.

    What is no whole statement by itself (it points elsewhere, it is too long) gets no badge, so
    it is taken only where nothing better is on the topic.
    """
    texts = [(c.chunk.context, _self_contained(c).text) for c in candidates]
    scores = relevance(question, texts) if texts else ()
    ranked = sorted(zip(scores, candidates, strict=True), key=lambda one: -one[0])
    near = [(score, c) for score, c in ranked if score >= RELATED][:_LOOKED_INTO]
    made = {id(c): _claims(c) for _, c in near}
    sound = [(s, c) for s, c in near if made[id(c)] and not any(x.problems for x in made[id(c)])]
    near = sound or near
    best = _distinct([c for score, c in near if score >= FALL_OFF * near[0][0]])
    return [x for c in best[:most] for x in _by_relevance(question, c, made[id(c)], relevance)]


def _by_relevance(
    question: str, candidate: Candidate, claims: list[Claim], relevance: Relevance
) -> list[Claim]:
    """Return the *claims* of one sentence, the one that answers best first."""
    if len(claims) < 2:
        return claims
    scores = relevance(question, [(candidate.chunk.context, claim.text) for claim in claims])
    return [claims[at] for at in sorted(range(len(claims)), key=lambda at: -scores[at])]


def _is_usable(candidate: Candidate) -> bool:
    span, chunk = candidate.span, candidate.chunk
    sound = math.isfinite(candidate.score) and chunk.text[span.start : span.end] == span.sentence
    return span.visible and sound and bool(span.sentence.strip())


def _before(chunk: EvidenceChunk, span: SentenceSpan) -> str:
    """Return the visible sentence before *span* in the same paragraph of its chunk, or ""."""
    earlier = [s for s in chunk.spans if s.visible and s.end <= span.start]
    if not earlier:
        return ""
    last = max(earlier, key=lambda s: s.end)
    return "" if "\n\n" in chunk.text[last.end : span.start] else last.sentence


def _periods(text: str) -> frozenset[str]:
    """Return the years, quarters and dates in *text*, in canonical form."""
    kinds = {"year", "period", "date"}
    return frozenset(q.value for q in find_quantities(text) if q.kind in kinds)


def _in_period(asked: frozenset[str], candidate: Candidate) -> bool:
    """Say whether the sentence may speak of a period that is asked for.

    Revenue of another quarter, or of the whole year, is not the revenue of the third quarter.
    A sentence that names no period takes the one of its headings.
    """
    source = candidate.chunk.source
    for text in (candidate.span.sentence, source.section, source.title):
        named = _periods(text) if asked else frozenset()
        if named:
            return any(name.startswith(period) for name in named for period in asked)
    return True


def _states(candidate: Candidate) -> bool:
    """Say whether the sentence states something, by itself or under its lead or heading."""
    text = candidate.span.sentence
    unfit = problems(text, max_tokens=4 * MAX_CLAIM_TOKENS)
    if not any(problem.startswith("not_checkable:") for problem in unfit):
        return True
    fragment = any("heading or a fragment" in problem for problem in unfit)
    figure = any(c.isdigit() for c in text) and _heading_noun(candidate.chunk)
    return fragment and bool(_lead(candidate) is not None or figure)


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop sentences that say the same as one before them, in the same figures."""
    kept: list[Candidate] = []
    for candidate in candidates:
        if not any(_same(candidate, other) for other in kept):
            kept.append(candidate)
    return kept


def _same(one: Candidate, other: Candidate) -> bool:
    first, second = _words(one), _words(other)
    figures = [
        {w for w in words if w[:1].isdigit() or w in NUMBER_WORDS} for words in (first, second)
    ]
    if figures[0] != figures[1] or (first ^ second) & {"not", "no", "never", "only", "cannot"}:
        return False
    union = first | second
    return not union or len(first & second) / len(union) >= _DUPLICATE


def _words(candidate: Candidate) -> frozenset[str]:
    return frozenset(re.findall(r"\w+(?:[.,]\d+)*", candidate.span.sentence.lower()))


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
