"""Edits of a claim's figures: another number, another date, another unit.

A changed figure can still be borne out where the wording bounds it: who may carry over five days
may carry over four, and what takes more than six weeks takes more than five. So a figure is moved
only the way that says more than the evidence does, and left alone where that way is unclear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from certirag.core.claim import Quantity
from certirag.quantities.find import find_quantities
from certirag.quantities.units import base_unit
from certirag.text.tokens import finite_verb, tokenize
from certirag.text.word_classes import word_set
from certirag.verification.mutated_words import Edit, Surroundings, says

_TEMPORAL: Final = frozenset({"date", "year", "period"})
_NUMERAL: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SPELLED: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|none)\b|n['’]t\b", re.I
)
_CEILING: Final = re.compile(r"\bnot(?: \w+)? more than $|\bno more than $", re.I)
_PERMISSION: Final = re.compile(r"\b(?:may|can|could|might|eligible|entitled|allow\w*)\b", re.I)
# Words after which a bound narrows down who or what is meant, and a tighter one still holds.
_NARROWS: Final = re.compile(
    r"\b(?:with|who|whose|which|that|if|when|where|for|unless|aged|any|every|each|all|than)\b", re.I
)
# Right before a time these make it an edge: what holds after three months holds after four.
_EDGES: Final = word_set(
    "in by before after until till from since through to between than later earlier or and past"
)
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_QUARTERS: Final = (
    ("first quarter", "second quarter", "third quarter", "fourth quarter"),
    ("Q1", "Q2", "Q3", "Q4"),
    ("first half", "second half"),
    ("H1", "H2"),
)
_RISES: Final = re.compile(
    r"\b(?:up|down|by|ro?se|fell|grew|increas\w+|decreas\w+|declin\w+|gain\w*|lost|added)\b", re.I
)
# (surface, surface after the edit, +1 where that is more, -1 less, 0 something else)
_UNITS: Final = (
    ("percentage points", "%", 0), ("percentage point", "%", 0), ("pp", "%", 0),
    ("%", " percentage points", 0), ("percent", "percentage points", 0),
    ("per cent", "percentage points", 0),
    ("mcg", "mg", 1), ("mg", "g", 1), ("g", "kg", 1), ("mL", "L", 1), ("ml", "l", 1),
    ("kg", "g", -1), ("g", "mg", -1), ("mg", "mcg", -1), ("L", "mL", -1), ("l", "ml", -1),
    ("micrograms", "milligrams", 1), ("milligrams", "grams", 1), ("grams", "kilograms", 1),
    ("kilograms", "grams", -1), ("grams", "milligrams", -1), ("milligrams", "micrograms", -1),
    ("mm", "cm", 1), ("cm", "m", 1), ("metres", "kilometres", 1), ("m", "km", 1),
    ("km", "m", -1), ("kilometres", "metres", -1),
    ("MB", "GB", 1), ("GB", "TB", 1), ("TB", "GB", -1), ("kWh", "MWh", 1), ("MWh", "GWh", 1),
    ("seconds", "minutes", 1), ("minutes", "hours", 1), ("hours", "days", 1),
    ("days", "weeks", 1), ("weeks", "months", 1), ("months", "years", 1),
    ("years", "months", -1), ("months", "weeks", -1), ("weeks", "days", -1),
    ("days", "hours", -1), ("hours", "minutes", -1),
    ("thousand", "million", 1), ("million", "billion", 1), ("billion", "million", -1),
    ("$", "€", 0), ("€", "$", 0), ("£", "€", 0), ("USD", "EUR", 0), ("EUR", "USD", 0),
    ("GBP", "EUR", 0), ("°C", "°F", 0),
)  # fmt: skip


def number_edits(text: str, around: Surroundings) -> Iterator[Edit]:
    """Yield edits of one digit or number word, in the order of the claim's figures."""
    for quantity in find_quantities(text):
        way = _way(text, quantity) if _stated(quantity, around.attached) else 0
        for start, end, becomes in _moved(quantity, way):
            edit = Edit("number", quantity.start + start, quantity.start + end, becomes)
            if way and not says(around.compared, becomes) and _is_new(text, edit, around):
                yield edit


def date_edits(text: str, around: Surroundings) -> Iterator[Edit]:
    """Yield edits of a month, a quarter or a year; dates that are an edge are left alone."""
    for quantity in find_quantities(text):
        if quantity.kind not in _TEMPORAL or quantity.high or quantity.qualifier:
            continue
        if _word_before(text, quantity.start) in _EDGES - {"in"}:
            continue
        if not _stated(quantity, around.compared):
            continue
        for start, end, becomes in _redated(quantity.text):
            edit = Edit("date", quantity.start + start, quantity.start + end, becomes)
            if not says(around.compared, becomes) and _is_new(text, edit, around):
                yield edit


def unit_edits(text: str, around: Surroundings) -> Iterator[Edit]:
    """Yield edits of a unit, a scale word or a currency."""
    for quantity in find_quantities(text):
        if quantity.kind in _TEMPORAL or not _stated(quantity, around.attached):
            continue
        way = _way(text, quantity)
        for surface, becomes, more in _UNITS:
            if more not in {0, way} or not _fits(text, quantity):
                continue
            place = _unit_place(quantity.text, surface)
            if place:
                edit = Edit("unit", quantity.start + place[0], quantity.start + place[1], becomes)
                if _is_new(text, edit, around):
                    yield edit


def _way(text: str, quantity: Quantity) -> int:
    """Say which change says more than the evidence: 1 a larger figure, -1 a smaller one, 0 none."""
    before = text[: quantity.start]
    if quantity.kind in _TEMPORAL | {"ordinal"} or quantity.high or quantity.qualifier == "about":
        return 0
    if quantity.unit == "time of day" or (quantity.kind == "duration" and _is_edge(text, quantity)):
        return 0
    if _CEILING.search(before):
        return -1 if not _NARROWS.search(before.rsplit(" more than ", 1)[0]) else 0
    if _NEGATION.search(before):
        return 0
    if not quantity.qualifier:
        return 1
    verb = _verb_end(text)
    narrowed = not 0 <= verb <= quantity.start or _NARROWS.search(text[verb : quantity.start])
    if narrowed or _PERMISSION.search(text):
        return 0
    return 1 if quantity.qualifier in {"at_least", "more_than"} else -1


def _is_edge(text: str, quantity: Quantity) -> bool:
    return not quantity.qualifier and _word_before(text, quantity.start) in _EDGES


def _verb_end(text: str) -> int:
    tokens = tokenize(text)
    verb = finite_verb(tokens)
    return tokens[verb].end if verb >= 0 else -1


def _word_before(text: str, place: int) -> str:
    words = [w for w in text[:place].split() if w.lower() not in {"the", "a", "an", "of", "on"}]
    return words[-1].lower() if words else ""


def _moved(quantity: Quantity, way: int) -> Iterator[tuple[int, int, str]]:
    """Yield the places inside a figure and what stands there after one step the given way."""
    numerals = list(_NUMERAL.finditer(quantity.text))
    if len(numerals) == 1:
        (numeral,) = numerals
        text = numeral.group()
        lead = int(text[0])
        if way > 0 and lead and Fraction(text.replace(",", "")) != 1:
            for digit in range(lead + 1, 10):
                yield *numeral.span(), f"{digit}{text[1:]}"
            if "," not in text:
                yield *numeral.span(), f"1{text}"
        for digit in range(lead - 1, 1 if len(text) == 1 else 0, -1) if way < 0 else ():
            yield *numeral.span(), f"{digit}{text[1:]}"
        return
    word = quantity.text.split()[0]
    if numerals or word.lower() not in _SPELLED:
        return
    at = _SPELLED.index(word.lower())
    for other in _SPELLED[at + 1 :] if way > 0 else _SPELLED[:at][::-1] if way < 0 else ():
        yield 0, len(word), other.capitalize() if word[:1].isupper() else other


def _redated(text: str) -> Iterator[tuple[int, int, str]]:
    month = _MONTH.search(text)
    if month:
        at = _MONTHS.index(month.group())
        for step in (2, 5, 7, 10, 3):
            other = _MONTHS[(at + step) % 12]
            long = other in {"January", "March", "May", "July", "August", "October", "December"}
            if long or (other != "February" and "31" not in text):
                yield *month.span(), other
    for names in _QUARTERS:
        for name in names:
            place = text.find(name)
            if place >= 0:
                at = names.index(name)
                for step in range(1, len(names)):
                    yield place, place + len(name), names[(at + step) % len(names)]
    year = _YEAR.search(text)
    if year:
        for step in (1, 2, 3, 4, -5, -6, -7):
            yield *year.span(), str(int(year.group()) + step)


def _fits(text: str, quantity: Quantity) -> bool:
    """Say whether another unit surely means something else here.

    A percentage is taken for points only of a change: a margin of 48 points is one of 48 %.
    """
    if quantity.kind != "percent":
        return True
    return bool(_RISES.search(text[max(0, quantity.start - 24) : quantity.start]))


def _unit_place(text: str, surface: str) -> tuple[int, int] | None:
    """Return where the unit *surface* stands in a figure's *text*: as a word of its own."""
    word = surface[0].isalpha()
    bounds = (r"(?<![^\W\d_])", r"(?![^\W_])") if word else ("", "")
    match = re.search(f"{bounds[0]}{re.escape(surface)}{bounds[1]}", text)
    if match is None:
        return None
    start, end = match.span()
    if surface.startswith(("percentage", "pp")):  # "1.6 percentage points" becomes "1.6%"
        start -= text[:start].endswith(" ")
    return start, end


def _is_new(text: str, edit: Edit, around: Surroundings) -> bool:
    """Say whether the edited figure is read as a figure, and no evidence says the same."""
    changed = edit.applied(text)
    old = {_measure(quantity) for quantity in find_quantities(text)}
    new = {_measure(quantity) for quantity in find_quantities(changed)} - old
    said = {_measure(q) for sentence in around.compared for q in find_quantities(sentence)}
    return bool(new) and not new & said


def _stated(quantity: Quantity, sentences: tuple[str, ...]) -> bool:
    """Say whether the evidence states the figure itself, so that another one departs from it."""
    wanted = _measure(quantity)
    return any(wanted == _measure(q) for sentence in sentences for q in find_quantities(sentence))


def _measure(quantity: Quantity) -> tuple[str, str]:
    """Return value and unit in the unit that others convert into, for comparing figures."""
    unit, factor = base_unit(quantity.unit)
    try:
        return str(Fraction(quantity.value) * factor), unit
    except ValueError:
        return quantity.value, quantity.unit
