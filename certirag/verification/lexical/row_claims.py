"""Compares a claim with one table row, read as ``name: cell; name: cell``.

A row states of its first cells what its other cells hold. A claim must name those cells and
the column of every figure that it takes; columns that it does not speak of narrow nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from certirag.quantities.units import CURRENCIES, unit_word
from certirag.text.word_classes import word_set
from certirag.verification.lexical.alignment import SAME, match
from certirag.verification.lexical.markers import NEGATIONS, RESTRICTORS, UNIVERSAL
from certirag.verification.lexical.predicate_clauses import parse
from certirag.verification.lexical.word_tokens import WordToken, tokenise

_PAIR: Final = re.compile(r"(?:^|; )([^:;]{1,80}): ([^;]*)")
# Column words that a sentence leaves unsaid: "phone number", "time limit".
_UNSAID: Final = word_set("""number no name length amount value total time limit function id code type status date
    level category role group item state step class office""")
# Verbs that a sentence adds when it reads a row aloud.
_READING: Final = word_set("""be have need require take receive amount last may can cost employ earn apply count stand
    come pay work""")
_LEAVE_TO: Final = frozenset({"limit", "maximum", "max", "allow", "approve", "approval", "option"})


@dataclass(frozen=True, slots=True)
class ClaimedCell:
    """One cell with the name of its column, as tokens."""

    name: tuple[WordToken, ...]
    value: tuple[WordToken, ...]

    @property
    def is_text(self) -> bool:
        """Say whether the cell names something rather than counts it."""
        return not any(token.quantity for token in self.value)


@lru_cache(maxsize=4096)
def cells_of(line: str) -> tuple[ClaimedCell, ...]:
    """Return the cells of a row line; () where the line is not of that form."""
    pairs = _PAIR.findall(line)
    if len(pairs) < 2 or sum(len(a) + len(b) + 2 for a, b in pairs) < 0.8 * len(line):
        return ()
    return tuple(ClaimedCell(tokenise(name), tokenise(value)) for name, value in pairs)


@dataclass(frozen=True, slots=True)
class RowReading:
    """How a claim reads against a row: *coverage* of its words, reasons against, a rival figure."""

    coverage: float
    against: tuple[str, ...]
    rival: bool = False


def read_row(
    claim: str, cells: tuple[ClaimedCell, ...], context: tuple[WordToken, ...]
) -> RowReading:
    """Compare *claim* with the row *cells*; *context* may supply words that are no figures."""
    parsed = parse(claim)
    carrying = [token for token in parsed.tokens if token.carries]
    against: list[str] = []
    touched: set[int] = set()
    found = 0
    rivals = 0
    for token in carrying:
        homes = _homes(token, cells)
        if homes:
            found += 1
            touched |= _value_homes(token, cells)
        elif token.quantity is not None:
            against.append(f"{token.text} is not in the row")
            rivals += _has_rival(token, cells)
        elif _read_aloud(token, context):
            found += 1
        else:
            against.append(f"{token.text} is not in the row")
    figures = len(against)
    against += _unnamed(cells, touched, carrying)
    against += _spoken_limits(parsed.tokens, cells, touched)
    coverage = found / len(carrying) if carrying else 0.0
    rival = rivals == 1 == figures and len(against) == 1 and len(touched) >= 1
    return RowReading(coverage, tuple(against), rival)


def _homes(token: WordToken, cells: tuple[ClaimedCell, ...]) -> bool:
    return any(_same(token, other, cell) for cell in cells for other in cell.name + cell.value)


def _value_homes(token: WordToken, cells: tuple[ClaimedCell, ...]) -> set[int]:
    return {
        number
        for number, cell in enumerate(cells)
        if any(_same(token, other, cell) for other in cell.value)
    }


def _same(token: WordToken, other: WordToken, cell: ClaimedCell) -> bool:
    if not other.carries:
        return token.text.lower() == other.text.lower()
    if token.quantity and other.quantity and not other.quantity.unit and token.quantity.unit:
        units = {CURRENCIES.get(t.text.lower()) or unit_word(t.text) for t in cell.name}
        return token.quantity.value == other.quantity.value and token.quantity.unit in units
    if token.quantity and other.quantity and not token.quantity.unit and other.quantity.unit:
        return False  # a bare number is not the figure with a unit in another column
    return match(token, other) >= SAME


def _has_rival(token: WordToken, cells: tuple[ClaimedCell, ...]) -> int:
    quantity = token.quantity
    return int(
        quantity is not None
        and quantity.unit != ""
        and sum(
            1 for c in cells for o in c.value if o.quantity and o.quantity.unit == quantity.unit
        )
        == 1
    )


def _read_aloud(token: WordToken, context: tuple[WordToken, ...]) -> bool:
    if token.lemma in _READING or token.kind == "light":
        return True
    return any(match(token, other) >= SAME for other in context)


def _unnamed(
    cells: tuple[ClaimedCell, ...], touched: set[int], claim: list[WordToken]
) -> list[str]:
    """What the claim must name and does not: label cells, columns of figures, rest of cells."""
    reasons: list[str] = []
    last = max(touched, default=-1)
    for number, cell in enumerate(cells):
        label = number == 0 or (cell.is_text and number < last)
        if label and number not in touched:
            reasons.append(f"the row is about {_text(cell.value)}")
        if number not in touched:
            continue
        if not label and not cell.is_text and _column_elsewhere(cells, number, claim):
            continue  # the same figure in a column that the claim does name
        reasons += [
            f"the row says {other.text}"
            for other in cell.value
            if other.kind in {"name", "number", "content"}
            and not any(_same(token, other, cell) for token in claim)
        ]
        if not label and not cell.is_text:
            reasons += _unnamed_column(cell, claim)
    if len(touched) < 2:
        reasons.append("the claim names fewer than two cells")
    return reasons


def _column_elsewhere(cells: tuple[ClaimedCell, ...], number: int, claim: list[WordToken]) -> bool:
    """Say whether another cell holds the figure too, in a column that the claim names."""
    if not _unnamed_column(cells[number], claim):
        return False
    wanted = {token.lemma for token in cells[number].value if token.quantity}
    return any(
        wanted == {token.lemma for token in cell.value if token.quantity}
        and not _unnamed_column(cell, claim)
        for other, cell in enumerate(cells)
        if other != number and not cell.is_text
    )


def _unnamed_column(cell: ClaimedCell, claim: list[WordToken]) -> list[str]:
    wanted = [
        other
        for other in cell.name
        if other.kind in {"name", "number", "content"}
        and other.lemma not in _UNSAID
        and other.text.lower() not in CURRENCIES
        and not unit_word(other.text)
    ]
    return [
        f"the column is {other.text}"
        for other in wanted
        if not any(_same(token, other, cell) for token in claim)
    ]


def _text(tokens: tuple[WordToken, ...]) -> str:
    return " ".join(token.text for token in tokens)


def _spoken_limits(
    tokens: tuple[WordToken, ...], cells: tuple[ClaimedCell, ...], touched: set[int]
) -> list[str]:
    """Negation, quantifiers, restrictors and duties are said by the row too, or not at all."""
    row = {t.text.lower() for c in cells for t in c.name + c.value}
    lemmas = {t.lemma for c in cells for t in c.name + c.value}
    values = {t.text.lower() for at in touched for t in cells[at].value}
    reasons = []
    for token in tokens:
        word = token.text.lower()
        checked = NEGATIONS | RESTRICTORS | UNIVERSAL
        if (word in checked or token.kind in {"quantifier", "marker"}) and word not in row:
            reasons.append(f"the row does not say {word}")
        leave = word in {"may", "can"} and lemmas & _LEAVE_TO
        if token.kind == "modal" and word not in row and not leave:
            reasons.append(f"the row does not say {word}")
    said = {token.text.lower() for token in tokens}
    reasons += [f"the row says {word}" for word in sorted((values & NEGATIONS) - said)]
    reasons += [f"the row says {word}" for word in sorted((values & RESTRICTORS) - said)]
    for token in tokens:
        if token.quantity and token.quantity.comparator in {"ge", "gt", "lt", "about"}:
            values_q = [t.quantity for c in cells for t in c.value if t.quantity]
            if not any(
                q.value == token.quantity.value and q.comparator == token.quantity.comparator
                for q in values_q
            ):
                reasons.append(f"the row does not say {token.quantity.comparator} {token.text}")
        elif token.quantity and token.quantity.comparator in {"le", "within"}:
            bounded = any(
                t.quantity and t.quantity.value == token.quantity.value and t.quantity.comparator
                for c in cells
                for t in c.value
            )
            if not bounded and not lemmas & (_LEAVE_TO | {"deadline", "longest", "highest"}):
                reasons.append(f"the row does not limit {token.text}")
    return reasons
