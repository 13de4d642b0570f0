"""A table row as a sentence: what it is about, then some of its cells with their columns' names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.claims.split import is_table_row
from certirag.quantities.row_figures import row_cells as cells_in


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
