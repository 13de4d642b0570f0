"""Which claim a citation mark belongs to, and claims put back into the draft with its marks.

A mark belongs to what stands before it in its sentence, back to the mark before: "A rose [1], and
B fell [2]." cites one source for each half, "A rose, and B fell [1]." the same for both. A mark
right after the full stop belongs to the sentence that the stop ends, and one that opens a line to
the statement after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claim_ir.citation_marks import CitedDraft, Mark
from certirag.core.citation import Citation
from certirag.core.claim import Claim, ClaimIR

_STOP: Final = re.compile(r"[.!?][\"”’)\]*_]*(?=\s)|\n")
_ENDS: Final = re.compile(r"[.!?:;,]*[\"”’)\]*_]*\s*$")


@dataclass(frozen=True, slots=True)
class ClaimCitations:
    """The citations of all claims, in the order of the marks; *dropped* names marks of no claim."""

    citations: tuple[Citation, ...]
    dropped: tuple[str, ...] = ()


def citations_of(claims: Sequence[Claim], cited: CitedDraft) -> ClaimCitations:
    """Return the citations of *claims*, whose places are in ``cited.text``."""
    citations: list[Citation] = []
    dropped: list[str] = []
    previous = 0
    for at in dict.fromkeys(mark.at for mark in cited.marks):
        group = [mark for mark in cited.marks if mark.at == at]
        owners = _owners(claims, cited.text, at, previous)
        previous = at
        if not owners:
            dropped += [f"the mark '{mark.raw[:60]}' stands by no claim" for mark in group]
        citations += [_citation(claim, mark) for claim in owners for mark in group]
    return ClaimCitations(tuple(citations), tuple(dropped))


def with_marks(claim_ir: ClaimIR, cited: CitedDraft) -> ClaimIR:
    """Return *claim_ir*, made of ``cited.text``, with its places in the draft as it was written.

    The claims' texts stay as they are, without marks; ``draft[draft_start:draft_end]`` holds the
    marks that stand inside a claim.
    """
    if claim_ir.draft != cited.text:
        return claim_ir  # these claims are not of this text: there is nothing to move
    return replace(
        claim_ir,
        draft=cited.draft,
        claims=tuple(_moved(claim, cited) for claim in claim_ir.claims),
    )


def _owners(claims: Sequence[Claim], text: str, at: int, previous: int) -> list[Claim]:
    ended = _ENDS.search(text, max(0, at - 40), at)
    stop = ended.start() if ended else at
    line = text.rfind("\n", 0, at) + 1
    stop = max(stop, line)
    boundaries = [match.end() for match in _STOP.finditer(text, line, stop)]
    start = max([line, *boundaries, *([previous] if previous < stop else [])])
    owners = [c for c in claims if c.draft_start < stop and c.draft_end > start]
    if owners or text[line:stop].strip():
        return owners
    end = text.find("\n", at)
    following = [c for c in claims if at <= c.draft_start < (end if end >= 0 else len(text))]
    return following[:1]


def _citation(claim: Claim, mark: Mark) -> Citation:
    return Citation(
        claim_id=claim.id,
        doc_id=mark.doc_id,
        raw=mark.raw,
        place=mark.place,
        quote=mark.quote,
        start=mark.start,
        end=mark.end,
    )


def _moved(claim: Claim, cited: CitedDraft) -> Claim:
    if not 0 <= claim.draft_start < claim.draft_end <= len(cited.places):
        return claim
    return replace(
        claim,
        draft_start=cited.places[claim.draft_start],
        draft_end=cited.places[claim.draft_end - 1] + 1,
    )
