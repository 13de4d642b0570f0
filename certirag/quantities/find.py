"""Find every number, date, amount and measure in a text, and every identifier with digits.

No digit escapes: each one is inside a quantity or inside an identifier, so that a claim cannot
hold a figure that nobody compares. Work is linear in the text.
"""

from __future__ import annotations

from dataclasses import dataclass

from certirag.core.claim import Quantity, QuantityKind
from certirag.quantities.amounts import amounts_at
from certirag.quantities.dates import temporals_at
from certirag.quantities.figure_tokens import Tokens, ends_cleanly, tokenize
from certirag.quantities.identifiers import label_end, run_end
from certirag.quantities.numbers import exact_text, ordinal_at
from certirag.quantities.qualifiers import qualifier_of
from certirag.quantities.row_figures import with_header_units

_TEMPORAL = ("date", "year", "period")
# Before a date these are prepositions of another sense ("growth over 2023", "notes about May").
_NOT_BOUNDS = frozenset(("over", "under", "above", "below", "about", "some", "within"))


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name that holds digits, verbatim: ``source[start:end]``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of one text, in order and without overlap."""

    quantities: tuple[Quantity, ...]
    identifiers: tuple[Identifier, ...]


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of *text* in order; offsets are code points, without overlap."""
    return find_figures(text).quantities


def find_figures(text: str) -> Figures:
    """Return quantities and identifiers of *text*; any text is welcome, none raises."""
    tokens = tokenize(text)
    quantities: list[Quantity] = []
    identifiers: list[Identifier] = []
    index = 0
    while index < len(tokens.items):
        found, after = _quantities_at(tokens, index)
        end = 0 if found else label_end(tokens, index) or run_end(tokens, index)
        if end:
            start, stop = tokens.at(index).start, tokens.at(end - 1).end
            identifiers.append(Identifier(text[start:stop], start, stop))
        quantities.extend(found)
        index = after if found else end or index + 1
    return Figures(with_header_units(text, quantities), tuple(identifiers))


def _quantities_at(tokens: Tokens, index: int) -> tuple[tuple[Quantity, ...], int]:
    for temporal in temporals_at(tokens, index):
        found = _quantity(tokens, temporal.kind, index, temporal.next, temporal.value)
        return (found,), temporal.next
    if label_end(tokens, index):
        return (), index
    ordinal = _ordinal(tokens, index)
    if ordinal:
        return ordinal, index + _token_count(tokens, index, ordinal[0].end)
    amounts = amounts_at(tokens, index)
    found_all = tuple(
        _quantity(tokens, a.kind, a.start, a.next, a.value, unit=a.unit, high=a.high)
        for a in amounts
    )
    return found_all, amounts[-1].next if amounts else index


def _token_count(tokens: Tokens, index: int, end: int) -> int:
    count = 1
    while tokens.at(index + count - 1).end < end:
        count += 1
    return count


def _ordinal(tokens: Tokens, index: int) -> tuple[Quantity, ...]:
    """Read an ordinal that ranks a noun ("third party" and "first, …" rank nothing)."""
    number = ordinal_at(tokens, index)
    if number is None or not ends_cleanly(tokens, number.next):
        return ()
    following = tokens.at(number.next)
    hyphen = following.text == "-" and following.glued
    noun = tokens.at(number.next + 1) if hyphen else following
    if number.spelled and (noun.kind != "word" or noun.lower in ("party", "parties", "hand")):
        return ()
    if number.spelled and tokens.at(index - 1).lower == "at":
        return ()
    return (_quantity(tokens, "ordinal", index, number.next, exact_text(number.value)),)


def _quantity(
    tokens: Tokens,
    kind: QuantityKind,
    index: int,
    after: int,
    value: str,
    *,
    unit: str = "",
    high: str = "",
) -> Quantity:
    start, end = tokens.at(index).start, tokens.at(after - 1).end
    if value.startswith("T") and kind == "measure":
        unit = "time of day"
    qualifier = qualifier_of(tokens, index, after)
    if kind in _TEMPORAL and tokens.at(index - 1).lower in _NOT_BOUNDS:
        qualifier = ""
    text = tokens.source[start:end]
    return Quantity(kind, text, start, end, value, unit=unit, high=high, qualifier=qualifier)
