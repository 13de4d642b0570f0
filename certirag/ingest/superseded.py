"""Does a document say of itself, at its top, that it no longer holds? See docs/adr/0006."""

from __future__ import annotations

import re
from typing import Final

from certirag.core.text import Block, Document

_STATE: Final = re.compile(
    r"\b(?:superseded|obsolete|withdrawn|no longer (?:valid|in force))\b", re.I
)
# A sentence at the top counts when its subject is the document itself.
_ITSELF: Final = re.compile(
    r"\b(?:this|the present) (?:document|version|guideline|policy|report|page|notice|edition|"
    r"standard|procedure|handbook|schedule)\b[^.;]{0,40}?\b(?:is|was|has been|are|were)\b"
    r"[^.;]{0,20}?\b(?:superseded|obsolete|withdrawn|no longer (?:valid|in force))\b"
    r"|\A\W{0,8}(?:status\s*:\s*)?(?:superseded|obsolete|withdrawn)\b",
    re.I,
)
_OPENING_BLOCKS: Final = 4


def superseded_notice(document: Document) -> str:
    """Return the words by which *document* calls itself superseded, or "" when it does not.

    Only what a reader sees counts, in the title and the first blocks; a heading that does not
    stand above all the text speaks of its section alone, and is judged with each claim on it.
    """
    if _STATE.search(document.title):
        return document.title
    seen = [block for block in document.blocks if block.visible]
    for block in seen[:_OPENING_BLOCKS]:
        text = document.text[block.start : block.end]
        heads = block.kind == "heading" and _STATE.search(text)
        if _ITSELF.search(text) or (heads and all(_under(b, text) for b in seen)):
            return text
    return ""


def _under(block: Block, heading: str) -> bool:
    return block.kind == "heading" or heading in block.section.split(" › ")
