"""Find the tables of a PDF page: by their drawn grid, else by cells that line up in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from certirag.core.text import Box
from certirag.ingest.pdf_frame import Ruling
from certirag.ingest.pdf_lines import PdfLine, box_of, same_row
from certirag.ingest.pdf_page import PdfWord

_MOST_RULINGS: Final = 1_500  # drawings have more; to compare all of them would take long
_TOUCH: Final = 2.5  # points apart that two rulings still meet
_STREAM_REACH: Final = 8  # lines apart in the stream that two cells of one row may be
_CELL_WORDS: Final = 9  # more words a cell on average is prose in columns


@dataclass(frozen=True, slots=True)
class Table:
    """Cells by row and column; *bold* says of each row whether all of its text is bold."""

    rows: tuple[tuple[str, ...], ...]
    boxes: tuple[tuple[Box, ...], ...]
    bold: tuple[bool, ...]
    page: int
    index: int
    top: float


Row = list[list[PdfWord]]


def split_tables(
    lines: Sequence[PdfLine], rulings: Sequence[Ruling]
) -> tuple[list[Table], list[PdfLine]]:
    """Return the tables among the *lines* of one page, and the lines that are in none."""
    tables: list[Table] = []
    rest = list(lines)
    for columns, edges in _grids(rulings):
        inside = [line for line in rest if _within(line, columns, edges)]
        rows: list[Row] = [[[] for _ in columns[1:]] for _ in edges[1:]]
        for line in inside:
            for word in line.words:
                across, down = (word.left + word.right) / 2, (word.bottom + word.top) / 2
                row = sum(down < edge for edge in edges[1:-1])
                rows[row][sum(across > edge for edge in columns[1:-1])].append(word)
        filled = [row for row in rows if any(row)]
        if len(filled) > 1 and sum(bool(cell) for row in filled for cell in row) > len(filled):
            tables.append(_table(filled, inside))
            rest = [line for line in rest if line not in inside]
    for run in _aligned_runs(rest):
        columns_of_run = _columns(run)
        if len(columns_of_run) > 1 and _is_tabular(run):
            inside = [line for row in run for line in row]
            tables.append(_table(_logical_rows(run, columns_of_run), inside))
            rest = [line for line in rest if line not in inside]
    return tables, rest


def _table(rows: Sequence[Row], lines: Sequence[PdfLine]) -> Table:
    page = lines[0].page
    texts, boxes, bold = [], [], []
    for row in rows:
        ordered = [_reading_order(cell) for cell in row]
        texts.append(tuple(" ".join(word.text for word in cell) for cell in ordered))
        boxes.append(tuple(box_of(cell, page) for cell in ordered if cell))
        bold.append(all(word.bold for cell in ordered for word in cell))
    index = min(line.index for line in lines)
    top = max(line.top for line in lines)
    return Table(tuple(texts), tuple(boxes), tuple(bold), page, index, top)


def _reading_order(cell: Sequence[PdfWord]) -> list[PdfWord]:
    rows: list[list[PdfWord]] = []
    for word in sorted(cell, key=lambda word: -word.base):
        if rows and abs(rows[-1][0].base - word.base) < 0.4 * word.size:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [word for row in rows for word in sorted(row, key=lambda word: word.left)]


def _grids(rulings: Sequence[Ruling]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield (edges of columns from left, edges of rows from the top) of each drawn grid."""
    if len(rulings) > _MOST_RULINGS:
        return
    for group in _touching(rulings):
        columns = _distinct([ruling.left for ruling in group if ruling.vertical])
        edges = _distinct([ruling.bottom for ruling in group if not ruling.vertical])[::-1]
        if len(columns) > 2 and len(edges) > 2:
            yield columns, edges


def _touching(rulings: Sequence[Ruling]) -> list[list[Ruling]]:
    groups: list[list[Ruling]] = []
    for ruling in rulings:
        near = [group for group in groups if any(_meet(ruling, other) for other in group)]
        merged = [ruling, *(member for group in near for member in group)]
        groups = [group for group in groups if group not in near]
        groups.append(merged)
    return groups


def _meet(one: Ruling, other: Ruling) -> bool:
    return (
        one.left <= other.right + _TOUCH
        and other.left <= one.right + _TOUCH
        and one.bottom <= other.top + _TOUCH
        and other.bottom <= one.top + _TOUCH
    )


def _distinct(values: Sequence[float]) -> list[float]:
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > _TOUCH:
            kept.append(value)
    return kept


def _within(line: PdfLine, columns: Sequence[float], edges: Sequence[float]) -> bool:
    middle = (line.bottom + line.top) / 2
    centre = (line.left + line.right) / 2
    return columns[0] <= centre <= columns[-1] and edges[-1] <= middle <= edges[0]


def _aligned_runs(lines: Sequence[PdfLine]) -> Iterator[list[list[PdfLine]]]:
    """Yield runs of rows, top to bottom, that may be a table: the first has several cells."""
    rows: list[list[PdfLine]] = []
    for line in sorted(lines, key=lambda line: (-line.base, line.left)):
        if rows and same_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    run: list[list[PdfLine]] = []
    for row in rows:
        row.sort(key=lambda line: line.left)
        near = bool(run) and run[-1][0].base - row[0].base < 2.6 * row[0].size
        wraps = near and len(row) == 1 and _wraps(run, row[0])
        if near and (len(row) > 1 or wraps):
            run.append(row)
            continue
        yield from _trimmed(run)
        run = [row] if len(row) > 1 else []
    yield from _trimmed(run)


def _trimmed(run: list[list[PdfLine]]) -> Iterator[list[list[PdfLine]]]:
    if sum(len(row) > 1 for row in run) > 1:
        yield run


def _wraps(run: Sequence[Sequence[PdfLine]], line: PdfLine) -> bool:
    """Say whether a lone *line* is the rest of a cell: it fits in one column, and close below."""
    columns = _columns(run)
    hits = [c for c in columns if line.left < c[1] and line.right > c[0]]
    close = run[-1][0].base - line.base < 1.6 * line.size
    return len(columns) > 1 and len(hits) == 1 and line.left >= hits[0][0] - line.size and close


def _columns(run: Sequence[Sequence[PdfLine]]) -> list[tuple[float, float]]:
    """Return the (left, right) of each column: cells that overlap sideways share one."""
    spans = sorted((line.left, line.right) for row in run if len(row) > 1 for line in row)
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _is_tabular(run: Sequence[Sequence[PdfLine]]) -> bool:
    """Tell a table from prose in columns: cells are short and drawn row by row."""
    several = [row for row in run if len(row) > 1]
    words = [len(line.words) for row in several for line in row]
    steps = [abs(right.index - left.index) for row in several for left, right in pairwise(row)]
    if sum(words) / len(words) > _CELL_WORDS or median(steps) > _STREAM_REACH:
        return False
    down = [
        below.index - above.index
        for upper, lower in pairwise(several)
        for above, below in zip(upper, lower, strict=False)
    ]
    by_column = sum(step == 1 for step in down) > 0.8 * len(down)
    return not by_column or sum(words) / len(words) < 3


def _logical_rows(
    run: Sequence[Sequence[PdfLine]], columns: Sequence[tuple[float, float]]
) -> list[Row]:
    """Return the rows of a table; a row that only goes on with the one above is joined to it."""
    gaps = [a[0].base - b[0].base for a, b in pairwise(run)]
    usual = max(gaps, default=0.0)
    rows: list[Row] = []
    for number, physical in enumerate(run):
        cells: Row = [[] for _ in columns]
        for line in physical:
            middle = (line.left + line.right) / 2
            nearest = min(
                range(len(columns)),
                key=lambda at: max(columns[at][0] - middle, middle - columns[at][1], 0.0),
            )
            cells[nearest].extend(line.words)
        tight = number > 0 and gaps[number - 1] < min(0.85 * usual, 1.5 * physical[0].size)
        rest = number > 0 and not cells[0] and gaps[number - 1] < 1.6 * physical[0].size
        if rows and (tight or rest):
            rows[-1] = [above + below for above, below in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows
