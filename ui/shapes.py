"""How a passage's text is laid out: its paragraphs, lists and tables, as ranges of that text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from certirag.claims.split import is_table_row
from certirag.ingest.tables import table_of

_BETWEEN: Final = "\n\n"  # stands between two blocks; one line end between items or rows


@dataclass(frozen=True, slots=True)
class Shape:
    """A part of a passage; *rows* are cells as (start, end) code points of the passage's text.

    Only a table has *names* of columns, and rows of more than one cell.
    """

    kind: Literal["paragraph", "list", "lines", "table"]
    rows: tuple[tuple[tuple[int, int], ...], ...]
    names: tuple[str, ...] = ()


def shapes_of(text: str) -> tuple[Shape, ...]:
    """Return the shapes of a passage's *text* in order; every word of it is in one of them."""
    return tuple(shape for block in _pieces(text, _BETWEEN) for shape in _block(text, *block))


def _block(text: str, start: int, end: int) -> Iterator[Shape]:
    """Yield the shapes of a block: a paragraph, or items or rows below the line that leads in."""
    lines = [(start + a, start + b) for a, b in _pieces(text[start:end], "\n")]
    if len(lines) > 1 and text[slice(*lines[0])].endswith(":"):
        yield Shape("paragraph", ((lines.pop(0),),))
    elif len(lines) == 1:
        yield Shape("paragraph", ((lines.pop(),),))
    if lines:
        yield _items(text, lines)


def _items(text: str, lines: list[tuple[int, int]]) -> Shape:
    """Return *lines* as the table that they surely are, else as a list, else as they stand."""
    written = [text[start:end] for start, end in lines]
    table = table_of(written)
    if table is None:
        rows = tuple((line,) for line in lines)
        return Shape("lines" if any(map(is_table_row, written)) else "list", rows)
    names, cells = table
    found = []
    for (start, _), row in zip(lines, cells, strict=True):
        places, at = [], start
        for name, cell in zip(names, row, strict=True):
            first = at + len(name) + len(": ")
            places.append((first, first + len(cell)))
            at = first + len(cell) + len("; ")
        found.append(tuple(places))
    return Shape("table", tuple(found), names)


def _pieces(text: str, between: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of *text* that *between* separates, blank ones left out."""
    start = 0
    for piece in text.split(between):
        if piece.strip():
            yield start, start + len(piece)
        start += len(piece) + len(between)
