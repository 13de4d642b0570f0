"""Does a document say of itself, at its top, that it no longer holds? See docs/adr/0006."""

from __future__ import annotations

import re
from typing import Final

from certirag.core.text import Document

# "superseded" is a state; "this policy supersedes …" and "replaces all earlier guidance" are not.
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

    Only what a reader sees counts, in the title and the first blocks.
    """
    if _STATE.search(document.title):
        return document.title
    opening = [block for block in document.blocks if block.visible][:_OPENING_BLOCKS]
    for block in opening:
        text = document.text[block.start : block.end]
        if _ITSELF.search(text) or (block.kind == "heading" and _STATE.search(text)):
            return text
    return ""
