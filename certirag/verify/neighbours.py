"""The sentences beside the attached ones: what follows a sentence may take it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from certirag.core.claim import Claim
from certirag.verify.candidates import Candidate, content_words
from certirag.verify.sufficient import SpanSet

# For one claim: both sides of an attached sentence, and of a second one.
MOST_NEIGHBOURS: Final = 4


def neighbours_of(
    claim: Claim, attached: SpanSet | None, scored: Sequence[SpanSet], *, most: int
) -> tuple[Candidate, ...]:
    """Return the visible sentences beside those of *attached* that are not in *scored* yet.

    They stand in the same chunk, directly before or after; at most *most* and `MOST_NEIGHBOURS`.
    """
    if attached is None:
        return ()
    known = {(s.members[0].chunk.chunk_id, s.members[0].span.span_id) for s in scored}
    wanted = content_words(claim.text)
    found: dict[tuple[str, str], Candidate] = {}
    for member in attached.members:
        spans = member.chunk.spans
        at = next(i for i, span in enumerate(spans) if span.span_id == member.span.span_id)
        for beside in spans[max(0, at - 1) : at] + spans[at + 1 : at + 2]:
            place = (member.chunk.chunk_id, beside.span_id)
            if place not in known and beside.visible:
                share = len(wanted & content_words(beside.sentence)) / max(1, len(wanted))
                found[place] = Candidate(member.chunk, beside, round(share, 6))
    return tuple(found.values())[: max(0, min(most, MOST_NEIGHBOURS))]
