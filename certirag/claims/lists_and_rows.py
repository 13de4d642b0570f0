"""List items with the half sentence that leads into them, and table rows as sentences.

"The policy covers:" and "- fire" make one statement; a row says what it is about, then some of its
cells with their columns' names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from certirag.claims.split import is_table_row
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.quantities.row_figures import row_cells as cells_in
from certirag.text.word_classes import is_verb_form, word_set

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


@dataclass(frozen=True, slots=True)
class RowCell:
    """One cell: the *name* of its column and its *value*."""

    name: str
    value: str

    @property
    def names(self) -> bool:
        """Say whether the cell names something and counts nothing."""
        return not any(c.isdigit() for c in self.value)


def row_cells(row: str) -> tuple[RowCell, ...]:
    """Return the cells of "Column: value; Column: value", () where *row* is not of that form.

    It is not where anything of it is in no cell: what stands there may be a condition.
    """
    if not is_table_row(row):
        return ()
    row = row.strip().rstrip(".")
    values = [(c.header, row[c.value_start : c.end].strip()) for c in cells_in(row)]
    again = "; ".join(f"{header}: {value}" for header, value in values)
    if again.split() != row.split():
        return ()
    return tuple(RowCell(header, value) for header, value in values if value)


def row_sentence(cells: Sequence[RowCell], columns: Sequence[int]) -> str:
    """Return what the row says in *columns*, of all that it names before them.

    ``(Office: Skarholm; Limit: €175; Lunch: €12)``, column 1, gives "Skarholm (office), limit: €175."
    Every cell before the last of *columns* that names something is said: a row about Rotterdam
    in the Netherlands says nothing of the Netherlands alone.
    """
    wanted = sorted(set(columns))
    about = [
        at
        for at, cell in enumerate(cells[: max(wanted)])
        if at not in wanted and (at == 0 or cell.names)
    ]
    front = ", ".join(f"{cells[at].value} ({_lowered(cells[at].name)})" for at in about)
    said = "; ".join(f"{_lowered(cells[at].name)}: {cells[at].value}" for at in wanted)
    sentence = f"{front}, {said}." if front else f"{said}."
    return sentence[:1].upper() + sentence[1:]


def reads_row(claim: str, row: str) -> bool:
    """Say whether *claim* is, word for word, what `row_sentence` makes of some cells of *row*."""
    cells = row_cells(row)
    if len(cells) < 2 or len(cells) > _MOST_CELLS:
        return False
    said = claim.rstrip(".").split("; ")
    wanted = [at for at, cell in enumerate(cells) if _said(cell, said)]
    return bool(wanted) and row_sentence(cells, wanted) == claim


_MOST_CELLS: Final = 40


def _said(cell: RowCell, said: Sequence[str]) -> bool:
    """Say whether *cell* is one of the parts *said*; the first also names what the row is about."""
    whole = f"{_lowered(cell.name)}: {cell.value}".rstrip(".")
    first = said[0][:1].lower() + said[0][1:]
    return whole in said[1:] or first == whole or said[0].endswith(f", {whole}")


def _lowered(name: str) -> str:
    """Return *name* without its capital, unless it is an abbreviation or a proper symbol."""
    return name if name[1:2].isupper() or not name[1:2] else name[:1].lower() + name[1:]
