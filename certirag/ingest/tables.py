"""Turn the rows of a table into lines that each can be read alone: ``Office: Oslo; Staff: 12``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from certirag.ingest.extract import clean

# A cell that is a figure; a year or a quarter is not, since columns are named after them.
_FIGURE = re.compile(r"[-+(−±<>≤≥~]?\s*[$€£¥]?\s*\d[\d.,\s  ]*\s*(%|[a-zA-Zµ/%°]{0,8})?\)?")
_PERIOD = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:[/-]\d{2,4})?|[QH][1-4](?:\s(?:19|20)\d\d)?")
_IDENTIFIER = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_MOST_SPANNED: Final = 200  # columns or rows that one cell may claim: a larger figure is hostile


def span_width(declared: str | None) -> int:
    """Return how many columns or rows a cell spans, at least 1, however *declared*."""
    text = (declared or "1").strip()
    width = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 1
    return min(max(width, 1), _MOST_SPANNED)


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first of *rows* names the columns of the others.

    A first row with figures does not, nor does a list of ``Name:`` and value.
    """
    if len(rows) < 2:
        return False
    first = [clean(cell) for cell in rows[0]]
    filled = [cell for cell in first if cell]
    if len(filled) < 2 or any(cell.endswith(":") for cell in first[:1]):
        return False
    return not any(_FIGURE.fullmatch(cell) and not _PERIOD.fullmatch(cell) for cell in filled)


def column_names(header_rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return one name a column; several header rows are read downwards ("2024 Revenue")."""
    width = max((len(row) for row in header_rows), default=0)
    names = []
    for column in range(width):
        parts: list[str] = []
        for row in header_rows:
            part = clean(row[column]) if column < len(row) else ""
            if part and part not in parts:
                parts.append(part)
        name = " ".join(parts).rstrip(":").rstrip()
        names.append(name.replace("_", " ") if _IDENTIFIER.fullmatch(name) else name)
    return tuple(names)


def row_line(names: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as ``name: cell`` pairs; empty cells are left out, unnamed cells stand alone."""
    parts = []
    for column, raw in enumerate(cells):
        cell = clean(raw)
        name = names[column] if column < len(names) else ""
        if cell:
            parts.append(f"{name}: {cell}" if name and name != cell else cell)
    return "; ".join(parts)


def table_of(
    lines: Sequence[str],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None:
    """Return (names of the columns, cells of each row) that `row_line` made *lines* of, or None.

    There is one reading or none: two rows or more, each with the same two or more columns, and no
    cell or name that holds the marks between them. A row that lacks a cell has other columns.
    """
    rows = [_cells_of(line) for line in lines]
    names = tuple(name for name, _ in rows[0]) if rows else ()
    if len(rows) < 2 or len(names) < 2 or len(set(names)) < len(names):
        return None
    if any(tuple(name for name, _ in row) != names for row in rows):
        return None
    return names, tuple(tuple(cell for _, cell in row) for row in rows)


def _cells_of(line: str) -> list[tuple[str, str]]:
    """Return (name, cell) pairs of *line*, [] where any of it could be read in another way."""
    cells = []
    for part in line.split("; "):
        name, _, cell = part.partition(": ")
        if (
            part.count(": ") != 1
            or clean(name) != name
            or clean(cell) != cell
            or not (name and cell)
        ):
            return []
        cells.append((name, cell))
    return cells


def table_lines(
    rows: Sequence[Sequence[str]], *, header_rows: int | None = None
) -> Iterator[tuple[int, str]]:
    """Yield (index of the row, its line) for each row of a table that is no header.

    *header_rows* is how many rows name the columns; None: see for itself.
    """
    count = header_rows if header_rows is not None else int(has_header(rows))
    names = column_names(rows[:count])
    for index in range(count, len(rows)):
        line = _pair_line(rows[index]) if not count else row_line(names, rows[index])
        if line:
            yield index, line


def _pair_line(cells: Sequence[str]) -> str:
    filled = [clean(cell) for cell in cells if clean(cell)]
    if len(filled) > 1 and filled[0].endswith(":"):
        return f"{filled[0]} {'; '.join(filled[1:])}"
    return "; ".join(filled)
