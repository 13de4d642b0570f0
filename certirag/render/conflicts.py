"""Where documents disagree: both sides quoted side by side, neither with a badge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.claim import Claim
from certirag.core.judgement import Reference
from certirag.core.text import EvidenceChunk, SpanRef
from certirag.core.verdict import VerificationResult, is_score
from certirag.quantities.find import find_quantities
from certirag.render.abstain import Grounds, is_uncheckable
from certirag.render.closest import whole_span

MAX_CONFLICTS: Final = 3
_DATED: Final = frozenset({"year", "date", "period"})


@dataclass(frozen=True, slots=True)
class Conflict:
    """What one document says, and what others say against it; *newest* is the number of a side.

    The first *own* sides say the one thing, the rest the other. *newest* is -1 where the titles do
    not tell. A side's ``why`` is empty.
    """

    sides: tuple[Reference, ...]
    own: int
    newest: int = -1

    @property
    def halves(self) -> tuple[tuple[Reference, ...], tuple[Reference, ...]]:
        """What says the one thing, and what says the other."""
        return self.sides[: self.own], self.sides[self.own :]

    @property
    def lines(self) -> tuple[str, ...]:
        """Each side as a quotation with its place in words."""
        return tuple(
            f"“{side.quote}” — {side.title}{', newer' if at == self.newest else ''}"
            for at, side in enumerate(self.sides)
        )


def conflicts(claims: Sequence[Claim], grounds: Grounds) -> tuple[Conflict, ...]:
    """Return the conflicts over *claims*, each told once and from one side, at most three.

    A conflict is a claim whose attached sentences entail it under the policy and that a sentence
    of another document contradicts under the policy. What does not resolve, or what a reader of
    the document cannot see, is no side of it.
    """
    found: dict[frozenset[str], Conflict] = {}
    known = {claim.id for claim in claims if not is_uncheckable(claim)}
    for result in grounds.results:
        conflict = _conflict(result, grounds) if result.claim_id in known else None
        if conflict is not None:
            found.setdefault(frozenset(side.quote for side in conflict.sides), conflict)
    # Where one says all that is opposed in another, the other adds nothing to it.
    least = [conflict for quotes, conflict in found.items() if not any(o < quotes for o in found)]
    once: list[Conflict] = []
    for conflict in least:
        if not any(_is_turned_round(conflict, other) for other in once):
            once.append(conflict)
    return tuple(once)[:MAX_CONFLICTS]


def dates_in(title: str) -> tuple[str, ...]:
    """Return the years, dates and periods that *title* names, as they are written there."""
    return tuple(title[q.start : q.end] for q in find_quantities(title) if q.kind in _DATED)


def _is_turned_round(conflict: Conflict, other: Conflict) -> bool:
    """Say whether *conflict* is *other* told from its other side."""
    own, against = ({side.quote for side in half} for half in conflict.halves)
    others_own, others_against = ({side.quote for side in half} for half in other.halves)
    return bool(own & others_against and against & others_own)


def _conflict(result: VerificationResult, grounds: Grounds) -> Conflict | None:
    """Return what speaks for the claim of *result* and then what speaks against it, or None."""
    policy = grounds.policy
    chunks = {chunk.chunk_id: chunk for chunk in grounds.chunks}
    if not is_score(result.score) or (result.score or 0.0) < policy.tau_entail:
        return None
    found = [_side(ref, chunks) for ref in result.best_evidence]
    own = [side for side in found if side is not None]
    if not own or None in found:
        return None
    documents = {chunks[ref.chunk_id].doc_id for ref in result.best_evidence}
    against = [
        _side(SpanRef(score.chunk_id, score.span_id), chunks)
        for score in result.all_scores
        if is_score(score.contradicted)
        and (score.contradicted or 0.0) >= policy.tau_contradict
        and score.chunk_id in chunks
        and chunks[score.chunk_id].doc_id not in documents
    ]
    others = [side for side in against if side is not None]
    sides = (*own, *others)
    return Conflict(sides, len(own), _newest(sides)) if others else None


def _side(ref: SpanRef, chunks: dict[str, EvidenceChunk]) -> Reference | None:
    chunk = chunks.get(ref.chunk_id)
    span = None if chunk is None else whole_span(chunk, ref.span_id)
    if chunk is None or span is None:
        return None
    source = chunk.source
    title = source.title or chunk.doc_id
    return Reference(
        chunk.chunk_id, span.span_id, title, source.section, source.page, span.sentence, ""
    )


def _newest(sides: Sequence[Reference]) -> int:
    """Return the number of the side whose title names the latest year, if every title names one."""
    years = [
        [q.value[:4] for q in find_quantities(side.title) if q.kind in _DATED] for side in sides
    ]
    if not all(len(named) == 1 for named in years):
        return -1
    latest = max(named[0] for named in years)
    newest = [at for at, named in enumerate(years) if named[0] == latest]
    return newest[0] if len(newest) == 1 else -1
