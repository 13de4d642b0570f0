"""Figures in table rows written as "Header: cell; Header: cell": the header holds the unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from certirag.core.claim import Quantity
from certirag.quantities.amounts import kind_of
from certirag.quantities.figure_tokens import Tokens, tokenize
from certirag.quantities.numbers import exact_text
from certirag.quantities.units import CURRENCIES, SCALES, unit_word
from certirag.text.word_classes import word_set

MAX_HEADER = 100
_CELL = re.compile(r"[^;]+")
_COUNTED = word_set("minutes hours days nights weeks months years percent")
_LETTER_SCALES = {"m": 10**6, "b": 10**9, "k": 10**3}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: ``text[start:end]`` is "header: value"; *value_start* is where the value begins."""

    header: str
    start: int
    value_start: int
    end: int


def row_cells(text: str) -> tuple[Cell, ...]:
    """Return the cells of *text* if it is a table row, else ().

    A row has two cells or more, or one whose header names a unit in brackets.
    """
    if ": " not in text:
        return ()
    cells = []
    for match in _CELL.finditer(text):
        header, colon, _ = match.group()[: MAX_HEADER + 2].partition(": ")
        if colon and header.strip() and ". " not in header:
            cells.append(
                Cell(header.strip(), match.start(), match.start() + len(header) + 2, match.end())
            )
    named = len(cells) >= 2 and len(cells) * 2 > text.count(";")
    return tuple(cells) if named or (cells and _unit_of(cells[0].header) != ("", 1)) else ()


def _unit_of(header: str) -> tuple[str, int]:
    """Return unit and scale that a header names: "Revenue ($M)", "Sales, EUR million"."""
    opened = header.rfind("(")
    if opened >= 0:
        part = header[opened + 1 :].partition(")")[0]
    else:
        counted = [word.lower() for word in header.split() if word.lower() in _COUNTED]
        if counted:
            return unit_word(counted[0]), 1
        part = header.rpartition(",")[2] if "," in header else ""
        part = part or header.rpartition(" in ")[2] * (" in " in header)
    tokens = tokenize(part)
    return _read_unit(tokens) if len(tokens.items) <= 6 else ("", 1)


def _read_unit(tokens: Tokens) -> tuple[str, int]:
    unit, scale = "", 1
    for index, token in enumerate(tokens.items):
        if token.lower in CURRENCIES:
            unit = CURRENCIES[token.lower]
        elif token.lower in SCALES and token.lower not in ("dozen",):
            scale = SCALES[token.lower]
        elif token.lower in _LETTER_SCALES and unit and token.text != "K":
            scale = _LETTER_SCALES[token.lower]
        elif token.lower in ("in", "of", "and") or token.text in (".", "'"):
            continue
        elif token.text == "/" and unit and index + 1 < len(tokens.items):
            following = tokens.items[index + 1]
            return f"{unit}/{unit_word(following.text) or following.lower}", scale
        elif unit_word(token.text) and not unit:
            unit = unit_word(token.text)
        elif token.text != "K":
            return "", 1
        else:
            scale = 1000
    return unit, scale


def with_header_units(text: str, quantities: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """Give bare numbers in cells the unit and scale of their header, and "(3.2)" its minus."""
    cells = row_cells(text)
    if not cells:
        return tuple(quantities)
    changed, place = [], 0
    for quantity in quantities:
        while place < len(cells) - 1 and cells[place].end <= quantity.start:
            place += 1
        cell = cells[place]
        inside = cell.value_start <= quantity.start and quantity.end <= cell.end
        changed.append(_in_cell(text, quantity, cell) if inside else quantity)
    return tuple(changed)


def _in_cell(text: str, quantity: Quantity, cell: Cell) -> Quantity:
    around = text[max(cell.value_start, quantity.start - 2) : quantity.end + 1].strip()
    alone = cell.end - cell.value_start <= len(quantity.text) + 4
    if (
        alone
        and around == f"({quantity.text})"
        and not quantity.value.startswith(("-", "ambiguous"))
    ):
        quantity = replace(quantity, value=f"-{quantity.value}")
    bare = quantity.kind in ("number", "year") and not quantity.unit
    unit, scale = _unit_of(cell.header)
    if not bare or (unit, scale) == ("", 1) or quantity.value.startswith("ambiguous"):
        return quantity
    if quantity.kind == "year" and not quantity.value.isdecimal():
        return quantity
    high = exact_text(Fraction(quantity.high) * scale) if quantity.high else ""
    return replace(
        quantity,
        kind=kind_of(unit),
        value=exact_text(Fraction(quantity.value) * scale),
        high=high,
        unit=unit,
    )
