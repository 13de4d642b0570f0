"""List items and the half sentence that leads into them: "The policy covers:" and "- fire"."""

from __future__ import annotations

import re
from typing import Final

from certirag.claim_ir.verbs import is_verb_form
from certirag.claim_ir.words import word_set

_LEAD_IN: Final = re.compile(r"(.{2,200}?)\s*:$", re.DOTALL)
_FILLER: Final = re.compile(r"\s*,?\s*(?:as follows|the following(?: \w+)?|these)$")
_OPEN_ENDS: Final = word_set("by for to from with that of in on at if when against")
_BULLET: Final = re.compile(r"\s*(?:[-*•◦‣·–]|\d{1,2}[.)])\s+(?=\S)")


def lead_stem(lead: str) -> str:
    """Return "The policy covers" of "The policy covers the following:", or "".

    Only a lead that breaks off at a verb or a preposition can be completed by an item.
    """
    match = _LEAD_IN.match(lead.strip())
    if not match:
        return ""
    stem = _FILLER.sub("", match.group(1))
    words = stem.split()
    last = words[-1].lower() if words else ""
    return stem if len(words) > 1 and (is_verb_form(last) or last in _OPEN_ENDS) else ""


def list_item(text: str) -> str:
    """Return *text* as the end of a sentence: its own end mark gone, a common word lowered."""
    item = re.sub(r"[;,]\s*(?:and|or)$", "", text.rstrip(" .;,"))
    word = item.split(" ", 1)[0]
    common = word[:1].isupper() and word[1:].islower() and len(word) > 1
    return item[:1].lower() + item[1:] if common else item


def unbulleted(sentence: str) -> str:
    """Return *sentence* without the bullet or the number of a list before it."""
    match = _BULLET.match(sentence)
    return sentence[match.end() :].rstrip() if match else sentence.strip()
