"""Which spans are worth scoring for a claim: by shared content words, rarest first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.text.stems import FUNCTION_WORDS, stem

_TOKEN: Final = re.compile(r"[^\W_]+(?:[.,]\d+)*")
# A span that shares at least this part of a claim's content words speaks of the same matter:
# leaving it unscored could hide a contradiction.
NEEDED_SHARE: Final = 0.6
# The sentences beside so many of the best ones are scored too: a claim in other words often rests on
# one that shares no word with it, together with one that does.
READ_AROUND: Final = 3
# The sets of spans that the search for a smallest one may judge for a claim.
MOST_SETS: Final = 5
# Pairs kept back for each claim: those sets and one reading without the evidence.
EXTRA_PAIRS: Final = MOST_SETS + 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """One span to be scored for a claim; *share* in [0, 1] is the weight of shared words."""

    chunk: EvidenceChunk
    span: SentenceSpan
    share: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """The spans chosen for one claim, and what the caps left out.

    *spare* is the number of pairs that may still be asked about the claim once every chosen span
    has been judged alone.
    """

    claim: Claim
    chosen: tuple[Candidate, ...]
    dropped: int
    needed_dropped: int
    spare: int = EXTRA_PAIRS


def choose_candidates(
    claims: Sequence[Claim],
    chunks: Sequence[EvidenceChunk],
    *,
    max_spans: int,
    max_pairs: int,
) -> tuple[Candidates, ...]:
    """Return for each claim its candidate spans, best first, under both caps.

    They are the spans that share a word with the claim, and those beside the best of them.

    Spans that a reader cannot see are never candidates. *max_pairs* counts everything that the
    verifier is asked, `EXTRA_PAIRS` a claim included, and is shared evenly, so that a late
    claim is not starved by an early one. Ties fall to document order, so equal
    input gives equal output.
    """
    share = max_pairs // max(1, len(claims))
    budget = max(0, min(max_spans, share - EXTRA_PAIRS))
    spans = [
        (chunk, span, content_words(span.sentence), content_words(chunk.context))
        for chunk in chunks
        for span in chunk.spans
        if span.visible
    ]
    frequency = Counter(word for _, _, words, _ in spans for word in words)
    chosen = []
    for claim in claims:
        words = content_words(claim.text)
        weights = {w: 1.0 / (1.0 + math.log1p(frequency[w])) for w in words}
        preferred = {(ref.chunk_id, ref.span_id) for ref in claim.evidence_candidates}
        ranked = sorted(
            (
                Candidate(chunk, span, _share(weights, own, around))
                for chunk, span, own, around in spans
            ),
            key=lambda c: (
                (c.chunk.chunk_id, c.span.span_id) not in preferred,
                -c.share,
                c.chunk.chunk_id,
                c.span.start,
            ),
        )
        related = [c for c in ranked if c.share > 0.0]
        best = related[:READ_AROUND]
        ordered = [*best, *_beside(best, related), *related[READ_AROUND:]]
        rest = ordered[budget:]
        needed = sum(c.share >= NEEDED_SHARE for c in rest)
        kept = tuple(ordered[:budget])
        chosen.append(Candidates(claim, kept, len(rest), needed, share - len(kept)))
    return tuple(chosen)


def _beside(best: Sequence[Candidate], related: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield the spans next to *best* that share no word with the claim: what they say may complete it."""
    known = {(c.chunk.chunk_id, c.span.span_id) for c in related}
    for one in best:
        for span in neighbours(one.chunk, one.span):
            if (one.chunk.chunk_id, span.span_id) not in known:
                known.add((one.chunk.chunk_id, span.span_id))
                yield Candidate(one.chunk, span, 0.0)


def neighbours(chunk: EvidenceChunk, span: SentenceSpan) -> tuple[SentenceSpan, ...]:
    """Return the visible spans of *chunk* before and after *span*."""
    seen = [other for other in chunk.spans if other.visible]
    at = seen.index(span)
    return (*seen[max(0, at - 1) : at], *seen[at + 1 : at + 2])


def _share(weights: dict[str, float], own: frozenset[str], around: frozenset[str]) -> float:
    """Weight of the claim's words in the sentence, a third for those only in its headings."""
    total = sum(weights.values())
    if not total:
        return 0.0
    found = sum(weights[w] for w in weights if w in own)
    headed = sum(weights[w] for w in weights if w in around and w not in own)
    return round((found + headed / 3) / total, 6) if found else 0.0


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of *text* that carry meaning."""
    return frozenset(stem(t) for t in _TOKEN.findall(text.casefold()) if t not in FUNCTION_WORDS)
