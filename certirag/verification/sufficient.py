"""Scored spans in, the smallest set of them that reaches the target out (CertiRAG seed §7.2).

The search is greedy and stops at the first size that suffices, each size one batch for all claims:
  (1) single spans, which the caller has judged already;
  (2) two spans: the best one with each partner that says what it leaves unsaid;
  (3) three spans: the best two with each span that adds most;
  (4) the parts of a set of three that were never judged: a member without which the rest still
      reaches the target is dropped, so that every span in a certificate is needed there.
A claim's own share of the pair budget bounds the search (`candidates.Candidates.spare`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from certirag.core.claim import Claim, RiskClass
from certirag.core.text import joined_evidence, reading_window, shared_context
from certirag.ports import Judgement, Pair, Verifier
from certirag.verification.asserted import reservations
from certirag.verification.candidates import (
    MOST_PAIR_SETS,
    MOST_PARTS,
    MOST_TRIPLE_SETS,
    Candidate,
    Candidates,
    content_words,
)
from certirag.verification.judge import judge_pairs

# Where the search for a smallest set of spans ends (CertiRAG seed §7.2, its example threshold).
ATTACH_TARGET: Final = 0.85
# A comparison is looked up in two places (RFC-0004 §6.2); every other class in one.
_WANTED: Final[dict[RiskClass, int]] = {"comparative_claim": 2}
# What a word outside the claim that two spans share, and standing in one chunk, are worth beside
# the share of the claim's words that a partner adds: enough to order partners that add as much.
_BRIDGE: Final = 0.25
_NEAR: Final = 0.25

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
    short. At most three calls of *verifier*, each with the pairs of all claims.
    """
    judged = [list(sets) for sets in single]
    steps: tuple[Callable[[Candidates, Sequence[SpanSet]], list[Members]], ...]
    steps = (_pairs_to_try, _triples_to_try, _parts_to_try)
    for to_try in steps:
        asked = [
            (at, members) for at, c in enumerate(candidates) for members in to_try(c, judged[at])
        ]
        pairs = [pair_of(candidates[at].claim, members) for at, members in asked]
        for (at, members), judgement in zip(asked, judge_pairs(verifier, pairs), strict=True):
            judged[at].append(SpanSet(members, judgement))
    return tuple(_attached(c, sets) for c, sets in zip(candidates, judged, strict=True))


def _pairs_to_try(c: Candidates, judged: Sequence[SpanSet]) -> list[Members]:
    """Return the sets worth judging where one span does not suffice: what it was taken from, and two."""
    ranked = _ranked(judged)
    if len(ranked) < 2 or _sufficient(c, judged) is not None:
        return []
    first = ranked[0].members
    partners = _partners(c, first, ranked[1:])
    sets = [_in_order((*first, p)) for p in partners]
    own = _taken_from(c)
    if len(own) > 1:
        sets = [own, *(s for s in sets if s != own)]
    return sets[: max(0, min(MOST_PAIR_SETS, c.spare - 1))]


def _taken_from(c: Candidates) -> Members:
    """Return the spans that the claim was taken from, if there are no more than three."""
    named = {(ref.chunk_id, ref.span_id) for ref in c.claim.evidence_candidates}
    own = [m for m in c.chosen if (m.chunk.chunk_id, m.span.span_id) in named]
    return _in_order(tuple(own)) if len(own) == len(named) <= _MOST_TAKEN else ()


_MOST_TAKEN: Final = 12  # a line that leads into a list, and the items of it


def _triples_to_try(c: Candidates, judged: Sequence[SpanSet]) -> list[Members]:
    """Return the sets of three worth judging where no two spans suffice.

    A third span is tried only when it adds something to the two, and only while the budget
    covers the parts of the set too.
    """
    pairs = _ranked([s for s in judged if len(s.members) == 2])
    allowed = min(MOST_TRIPLE_SETS, c.spare - 1 - len(pairs) - MOST_PARTS)
    if not pairs or allowed < 1 or _sufficient(c, judged) is not None:
        return []
    best = pairs[0].members
    others = [s for s in _ranked(judged) if len(s.members) == 1 and s.members[0] not in best]
    added = [p for p in _partners(c, best, others) if _gain(c.claim, best, p) > 0.0]
    return [_in_order((*best, p)) for p in added[:allowed]]


def _parts_to_try(c: Candidates, judged: Sequence[SpanSet]) -> list[Members]:
    """Return the parts of the sufficient set that were not judged: one of them may suffice."""
    found = _sufficient(c, judged)
    if found is None or len(found.members) < 3:
        return []
    known = {s.members for s in judged}
    return [part for part in combinations(found.members, 2) if part not in known]


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
    enough = [
        s
        for s in judged
        if s.entailed >= ATTACH_TARGET
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


def _partners(c: Candidates, first: Members, others: Sequence[SpanSet]) -> list[Candidate]:
    """Return the spans to try beside *first*, those that add most ahead.

    Only spans under the same headings of one document go together: read side by side, those of two
    would stand under neither's own, and what a network makes of sentences that never stood together
    is a guess. Where a class asks for several pieces of evidence, they may be of several documents,
    and the best-scored spans with other words come first, for there each must speak for the claim.
    """
    said = {member.span.sentence for member in first}
    several = _WANTED.get(c.claim.risk_class, 1) > 1
    place = {member.chunk.doc_id: member.chunk.context for member in first}
    spans = [
        span
        for span in (s.members[0] for s in others)
        if span.span.sentence not in said
        and place.get(span.chunk.doc_id, span.chunk.context if several else None)
        == span.chunk.context
    ]
    if several:
        return spans
    return sorted(spans, key=lambda s: -_gain(c.claim, first, s))  # stable: ties by score


def _gain(claim: Claim, first: Members, span: Candidate) -> float:
    """Say what *span* adds to *first*: the share of the claim's words, a bridge, nearness.

    A bridge is a word that the two share and the claim leaves out, such as the name over which
    a claim of two steps was drawn together; near is the rest of a thought in the same chunk.
    """
    wanted, own = content_words(claim.text), content_words(span.span.sentence)
    said = frozenset[str]().union(*(content_words(m.span.sentence) for m in first))
    added = len((wanted & own) - said) / max(1, len(wanted))
    bridge = _BRIDGE if (own & said) - wanted else 0.0
    near = _NEAR if any(span.chunk.chunk_id == m.chunk.chunk_id for m in first) else 0.0
    return added + bridge + near


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
