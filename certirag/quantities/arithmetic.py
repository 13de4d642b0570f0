"""Exact arithmetic on figures, and how far a claim may round what comes out of it.

No float anywhere: a quotient is a fraction until it is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from certirag.core.claim import Quantity
from certirag.quantities.compare import is_within_wording
from certirag.quantities.numbers import exact_text

MAX_VALUE = Fraction(10**24)
_WRITTEN = re.compile(r"[0-9][0-9,]*(?:\.([0-9]+))?")
_RATE = re.compile(r"\s+(?:an?|per|each|every)\b|/", re.IGNORECASE)
_EXACT_PLACES = 2  # a quotient with no more decimals than these can be stated, so it must be
_CONVERSION_DIGITS = 3
_QUOTIENT_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """An exact *value* in the unit of the claim's figure, and how it came about.

    *divided* says that a division may have left no short decimal; *digits* is how many
    significant digits a claim must write to be read as its rounding.
    """

    value: Fraction
    divided: bool = False
    digits: int = _QUOTIENT_DIGITS


def converted(value: Fraction) -> Outcome:
    """Return the outcome of a conversion between systems of units."""
    return Outcome(value, divided=True, digits=_CONVERSION_DIGITS)


def states(figure: Quantity, outcome: Outcome, *, nearly: bool = False) -> bool:
    """Say whether *figure* states *outcome*.

    It does when the values are equal. A hedged figure ("about", "nearly") may round as its
    wording allows. An unhedged figure may round a quotient only, and only where the quotient
    cannot be written in full (more than two decimals): the figure then asserts no more than
    the digits it writes, so the exact value must round to precisely these digits, at least two
    of them (three for a conversion), which keeps the gap under 5 % and usually far below. A
    sum, a difference or a quotient that ends must be stated exactly.
    """
    value = _value(figure)
    if value is None or abs(outcome.value) > MAX_VALUE:
        return False
    if figure.qualifier == "about":
        return is_within_wording(figure, value, outcome.value, nearly=nearly)
    if figure.qualifier or figure.high:
        return False
    if value == outcome.value:
        return True
    return _is_rounding(figure, value, outcome)


def _value(figure: Quantity) -> Fraction | None:
    try:
        return Fraction(figure.value)
    except (ValueError, ZeroDivisionError):
        return None


def _is_rounding(figure: Quantity, value: Fraction, outcome: Outcome) -> bool:
    if not outcome.divided or _places(outcome.value) <= _EXACT_PLACES:
        return False
    written = _WRITTEN.search(figure.text)
    if not written or not value:
        return False
    digits = written.group().replace(",", "")
    if len(digits.replace(".", "").lstrip("0")) < outcome.digits or not Fraction(digits):
        return False
    step = abs(value / Fraction(digits)) * Fraction(1, 10 ** len(written.group(1) or ""))
    gap = outcome.value - value
    return -step <= 2 * gap < step  # halves are rounded up


def _places(value: Fraction) -> int:
    """Return how many decimals *value* has; many where it never ends."""
    text = exact_text(value)
    return 99 if "/" in text else len(text.partition(".")[2])


def shown_result(figure: Quantity, outcome: Outcome) -> str:
    """Return " = 2.7 pp": the right side of a ledger, with "≈" where digits are left out."""
    if _value(figure) == outcome.value:
        return f" = {_as_claimed(figure)}"
    if figure.qualifier == "about":
        number, exact = _short(outcome.value)
        unit = {"times": ""}.get(figure.unit.partition("/")[0], figure.unit.partition("/")[0])
        return f" {'=' if exact else '≈'} {number} {unit}".rstrip()
    return f" ≈ {_as_claimed(figure)}"


def _as_claimed(figure: Quantity) -> str:
    """Return the claim's own figure; percentages and multiples in one plain form."""
    unit = figure.unit.partition("/")[0]
    text = " ".join(_RATE.split(figure.text)[0].split())
    written = _WRITTEN.search(text)
    if unit in ("%", "pp") and written:
        return f"{written.group()} {unit}"
    if unit == "times":
        return exact_text(Fraction(figure.value))
    return text if text[:1].isdigit() else text[:1].lower() + text[1:]


def _short(value: Fraction) -> tuple[str, bool]:
    exact = _places(value) <= 6
    shown = exact_text(value if exact else Fraction(round(value * 10_000), 10_000))
    whole, point, decimals = shown.partition(".")
    return f"{int(whole):,}{point}{decimals}", exact


def _said(text: str) -> str:
    return " ".join(_RATE.split(text)[0].split())


def ledger_of(operation: str, texts: tuple[str, ...], *, rising: bool = True) -> str:
    """Return the left side of a ledger for operands that read *texts*.

    Of two operands the first is the later or the compared one, the second the base; *rising*
    says that the first is the larger.
    """
    said = [_said(text) for text in texts]
    if operation in ("sum", "average"):
        total = " + ".join(said)
        return f"({total}) ÷ {len(said)}" if operation == "average" else total
    if operation == "conversion":
        return said[0]
    first, base = said
    if operation in ("ratio", "share"):
        return f"{first} ÷ {base}"
    change = f"{first} − {base}" if rising else f"{base} − {first}"
    return f"({change}) ÷ {base}" if operation == "growth" else change
