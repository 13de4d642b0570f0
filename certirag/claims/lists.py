"""List items and the half sentence that leads into them: "The policy covers:" and "- fire"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from certirag.claims.split import is_table_row
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.text.verbs import is_verb_form
from certirag.text.word_classes import word_set

_LEAD_IN: Final = re.compile(r"(.{2,200}?)\s*:$", re.DOTALL)
_FILLER: Final = re.compile(r"\s*,?\s*(?:as follows|the following(?: \w+)?|these)$")
_OPEN_ENDS: Final = word_set("by for to from with that of in on at if when against")
LEFT_OUT: Final = "[…]"  # in a quotation, for items of the list that are not quoted
_ENDED: Final = re.compile(r"[.!?;:,]\s*$")
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


def list_around(chunk: EvidenceChunk, span: SentenceSpan) -> tuple[SentenceSpan, ...]:
    """Return the list in which *span* stands, with the line that leads into it; () if in none.

    A list is a run of lines with no blank line between them, as ingest leaves it: under a line
    that ends in a colon or, of two lines or more with no end marks, right under a heading. Table
    rows are none.
    """
    text = chunk.text
    start = text.rfind("\n\n", 0, span.start) + 1
    end = text.find("\n\n", span.end)
    spans = [s for s in chunk.spans if s.visible and start <= s.start < (end + 1 or len(text) + 1)]
    spans.sort(key=lambda s: s.start)
    leads = [s for s in spans if s.sentence.endswith(":") and text.startswith("\n", s.end)]
    own = max((s for s in leads if s.start <= span.start), key=lambda s: s.start, default=None)
    if any(is_table_row(s.sentence) for s in spans) or (leads and own is None):
        return ()
    if own is not None:
        following = min((s.start for s in leads if s.start > own.start), default=len(text))
        return tuple(s for s in spans if own.start <= s.start < following)
    several = any("\n" in text[s.end : t.start] for s, t in pairwise(spans))
    whole = any(s.sentence.rstrip().endswith((".", "!", "?")) for s in spans)
    return tuple(spans) if several and not start and not whole else ()


def as_quoted(sentences: Sequence[str], heading: str = "") -> str:
    """Return *sentences* as one text, word for word: "You may bring: a dog; a cat".

    Bullets go; the items of a list, under a line that ends in a colon or under *heading*, are
    parted by semicolons where they have no marks of their own. `LEFT_OUT` stands as it is.
    """
    text = f"{heading}:" if heading else ""
    listed = bool(heading)
    for sentence in map(unbulleted, sentences):
        apart = ";" if listed and not _ENDED.search(text) and text[-1] != LEFT_OUT[-1] else ""
        text += f"{apart} {sentence}" if text else sentence
        listed = listed or sentence.endswith(":")
    return text


def quotations(sentences: Sequence[str], context: str) -> tuple[str, ...]:
    """Return what *sentences* say word for word, by themselves and under their innermost heading."""
    heading = context.rpartition(" › ")[2].strip().rstrip(":.")
    return as_quoted(sentences), as_quoted(sentences, heading)


def without_gaps(text: str) -> str:
    """Return a quotation without the marks of what it leaves out."""
    return " ".join(text.replace(f"; {LEFT_OUT}", "").replace(LEFT_OUT, "").split())
