"""Scored spans in, the smallest set of them that reaches the target out (CertiRAG seed §7.2).

The search stops at the first size that suffices, each size one batch for all claims:
  (1) single spans, which the caller has judged already;
  (2) what the claim was taken from, and two spans that stand side by side; for a comparison,
      which is looked up in two places, the best one with each that says something else.
Sentences that never stood together are no proof of anything else: a network was seen to join them
to claims that the document denies in between (docs/adr/0028-sentences-side-by-side.md).
A claim's own share of the pair budget bounds the search (`candidates.Candidates.spare`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.core.claim import Claim, RiskClass
from certirag.core.text import joined_evidence, reading_window, shared_context
from certirag.ports import Judgement, Pair, Verifier
from certirag.verification.candidates import (
    MOST_SETS,
    Candidate,
    Candidates,
    content_words,
    neighbours,
)
from certirag.verification.judge import judge_pairs
from certirag.verification.vetoes import reservations

# Where the search for a smallest set of spans ends (CertiRAG seed §7.2, its example threshold).
ATTACH_TARGET: Final = 0.85
# What two sentences side by side have to reach: there are several such sets, and a sentence that says
# nothing on the claim was seen to lift one from 0.82 to 0.88 beside the restriction that denies it.
BESIDE_TARGET: Final = 0.90
# A comparison is looked up in two places (RFC-0004 §6.2); every other class in one.
_WANTED: Final[dict[RiskClass, int]] = {"comparative_claim": 2}

Members = tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class SpanSet:
    """Spans judged together, in reading order."""

    members: Members
    judgement: Judgement

    @property
    def entailed(self) -> float:
        """The entailment score in [0, 1], or -1 where the verifier gave none."""
        return self.judgement.entailed if self.judgement.label != "error" else -1.0


def pair_of(claim: Claim, spans: Sequence[Candidate]) -> Pair:
    """Return what the verifier sees of *claim* and *spans*; as `pair_with`."""
    return pair_with(claim.text, spans)


def pair_with(claim: str, spans: Sequence[Candidate]) -> Pair:
    """Return what the verifier sees: the claim, the sentences, their headings and window."""
    chunks = [span.chunk for span in spans]
    evidence = joined_evidence([span.span.sentence for span in spans])
    return Pair(claim, evidence, shared_context(chunks), reading_window(chunks, evidence))


def attached_sets(
    candidates: Sequence[Candidates],
    single: Sequence[Sequence[SpanSet]],
    verifier: Verifier,
) -> tuple[SpanSet | None, ...]:
    """Return for each claim the set of spans to attach; None where it has no span at all.

    *single* holds each claim's judged spans, in the order of *candidates*. Where no set reaches
    `ATTACH_TARGET`, the best single span is attached, so that the record shows how far it fell
    short. At most one call of *verifier*, with the pairs of all claims.
    """
    judged = [list(sets) for sets in single]
    asked = [(at, members) for at, c in enumerate(candidates) for members in _to_try(c, judged[at])]
    pairs = [pair_of(candidates[at].claim, members) for at, members in asked]
    for (at, members), judgement in zip(asked, judge_pairs(verifier, pairs), strict=True):
        judged[at].append(SpanSet(members, judgement))
    return tuple(_attached(c, sets) for c, sets in zip(candidates, judged, strict=True))


def _to_try(c: Candidates, judged: Sequence[SpanSet]) -> list[Members]:
    """Return the sets worth judging where no single span suffices."""
    ranked = _ranked(judged)
    if len(ranked) < 2 or _sufficient(c, judged) is not None:
        return []
    own = _taken_from(c)
    sets = [own] if len(own) > 1 else []
    if _WANTED.get(c.claim.risk_class, 1) > 1:
        sets += _compared(ranked)
    sets += _side_by_side(c.claim, judged)
    return list(dict.fromkeys(sets))[: max(0, min(MOST_SETS, c.spare - 1))]


def _taken_from(c: Candidates) -> Members:
    """Return the spans that the claim was taken from, if there are no more than three."""
    named = {(ref.chunk_id, ref.span_id) for ref in c.claim.evidence_candidates}
    own = [m for m in c.chosen if (m.chunk.chunk_id, m.span.span_id) in named]
    return _in_order(tuple(own)) if len(own) == len(named) <= _MOST_TAKEN else ()


_MOST_TAKEN: Final = 12  # a line that leads into a list, and the items of it


def _attached(c: Candidates, judged: Sequence[SpanSet]) -> SpanSet | None:
    if not judged:
        return None
    found = _sufficient(c, judged)
    if found is None:
        return _ranked([s for s in judged if len(s.members) == 1])[0]
    parts = [s for s in judged if set(s.members) < set(found.members)]
    for part in parts:  # where one could not be judged, the set was never shown to be smallest
        if part.judgement.label == "error":
            return replace(found, judgement=part.judgement)
    return found


def _sufficient(c: Candidates, judged: Sequence[SpanSet]) -> SpanSet | None:
    """Return the smallest set at the target, of at least the class's number of spans.

    Spans of several chunks have no window together, so each is asked for its own: what a document
    only quotes, asks or lists is no part of a joint proof either.
    """
    wanted = _WANTED.get(c.claim.risk_class, 1)
    own = _taken_from(c)

    def target(members: Members) -> float:
        beside = len(members) > 1 and wanted == 1 and members != own
        return BESIDE_TARGET if beside else ATTACH_TARGET

    enough = [
        s
        for s in judged
        if s.entailed >= target(s.members)
        and len(s.members) >= wanted
        and (
            len(s.members) == 1 or not any(reservations(pair_of(c.claim, (m,))) for m in s.members)
        )
        and not _leads_elsewhere(s.members)
    ]
    return min(_ranked(enough), key=lambda s: len(s.members), default=None)


def _leads_elsewhere(members: Members) -> bool:
    """Say whether a line that leads into a list is put together with what another passage says."""
    several = len({member.chunk.chunk_id for member in members}) > 1
    return several and any(member.span.sentence.endswith(":") for member in members)


def _side_by_side(claim: Claim, judged: Sequence[SpanSet]) -> list[Members]:
    """Return each two spans of which one follows the other, those with most of the claim's words first."""
    spans = {(m.chunk.chunk_id, m.span.span_id): m for s in judged for m in s.members}
    wanted = content_words(claim.text)
    pairs = [
        (one, spans[one.chunk.chunk_id, other.span_id])
        for one in spans.values()
        for other in neighbours(one.chunk, one.span)
        if other.start > one.span.start
        and other.sentence != one.span.sentence
        and (one.chunk.chunk_id, other.span_id) in spans
    ]

    def shared(pair: Members) -> int:
        return len(wanted & frozenset().union(*(content_words(m.span.sentence) for m in pair)))

    return sorted(pairs, key=shared, reverse=True)


def _compared(ranked: Sequence[SpanSet]) -> list[Members]:
    """Return the best span of a comparison with each other one, of its own headings or another document."""
    (first,) = ranked[0].members
    own = first.chunk
    return [
        _in_order((first, other))
        for other in (s.members[0] for s in ranked[1:])
        if other.span.sentence != first.span.sentence
        and (other.chunk.doc_id != own.doc_id or other.chunk.context == own.context)
    ]


def _in_order(members: Members) -> Members:
    return tuple(sorted(members, key=lambda m: (m.chunk.chunk_id, m.span.start)))


def _ranked(sets: Sequence[SpanSet]) -> list[SpanSet]:
    """Return *sets* best score first; ties by the words they share with the claim."""
    return sorted(
        sets,
        key=lambda s: (
            -s.entailed,
            -sum(m.share for m in s.members),
            [(m.chunk.chunk_id, m.span.start) for m in s.members],
        ),
    )
