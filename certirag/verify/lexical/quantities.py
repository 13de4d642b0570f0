"""Numbers, amounts, dates and times as tokens, so that they can be aligned with their unit.

`claim_ir.quantity_match` decides whether a claim's quantities are all in the evidence; this
file keeps their place in the sentence, which tells what each of them is said of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from certirag.verify.lexical.numerals import (
    CURRENCIES,
    KINDS,
    MONTHS,
    NUMBER_WORDS,
    SCALE_LETTERS,
    SCALES,
    UNITS,
)
from certirag.verify.lexical.words import word_set

_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_NUMBER_UNIT: Final = re.compile(r"(\d+(?:[.,]\d+)*)([^\W\d_]+(?:/[^\W\d_]+)?|%)")
_ADJECTIVES: Final = word_set(
    "working calendar business consecutive full whole more additional extra further full-time paid unpaid successive"
)
_PREPOSITIONS: Final = word_set(
    "from to by until till before after between since at on in for of every"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with its unit: *comparator* is ``""``, le, ge, lt, gt, within, about or eq.

    *preposition* is the small word before it; dates have the unit ``date`` and times ``clock``.
    """

    text: str
    value: str
    unit: str
    comparator: str = ""
    preposition: str = ""

    @property
    def canonical(self) -> str:
        """The value and unit as one comparable word."""
        return f"{self.value} {self.unit}".strip()

    @property
    def kind(self) -> str:
        """What the unit measures, or the unit itself where it is of no listed kind."""
        return KINDS.get(self.unit, self.unit)


def plain_number(value: float) -> str:
    """Write a number without trailing zeros: ``2.50`` and ``2.5`` are the same."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _number_value(word: str) -> float | None:
    """Read one word as a number; None where it is not one."""
    lowered = word.lower()
    if lowered in NUMBER_WORDS:
        return NUMBER_WORDS[lowered]
    if not _DIGITS.fullmatch(word):
        return None
    whole = word
    if "," in whole:
        groups = whole.split(",")
        thousands = all(len(part.split(".")[0]) == 3 for part in groups[1:])
        whole = whole.replace(",", "") if thousands else whole.replace(",", ".", 1)
    if not re.fullmatch(r"\d{1,30}(?:\.\d+)?", whole):
        return None
    return float(whole)


def _split_units(words: list[str]) -> list[str]:
    """Separate ``40mg``, ``€4m`` and ``25%`` into number and unit."""
    out: list[str] = []
    for word in words:
        match = _NUMBER_UNIT.fullmatch(word)
        if match and (
            match[2].lower() in UNITS
            or match[2].lower() in SCALE_LETTERS
            or match[2].lower() in CURRENCIES
        ):
            out.extend(match.groups())
        else:
            out.append(word)
    return out


def merge_quantities(words: list[str]) -> list[str | Quantity]:
    """Replace runs of words that state a quantity by one `Quantity`; keep the other words."""
    words = _split_units(words)
    out: list[str | Quantity] = []
    position = 0
    while position < len(words):
        found = (
            _date_at(words, position) or _clock_at(words, position) or _amount_at(words, position)
        )
        if found is None:
            position += 1
            out.append(words[position - 1])
            continue
        (value, unit), length = found
        comparator, preposition = _before(out)
        end = position + length
        if end < len(words) and words[end].startswith(">") and len(words[end]) > 1:
            comparator = words[end][1:]
            length += 1
        text = " ".join(words[position : position + length])
        out.append(Quantity(text, value, unit, comparator, preposition))
        position += length
    return [w for w in out if isinstance(w, Quantity) or not re.fullmatch(r"[<>][a-z]+", w)]


def _before(out: list[str | Quantity]) -> tuple[str, str]:
    """Take the comparator mark off the end of *out*; read the preposition before it."""
    comparator = ""
    if out and isinstance(out[-1], str) and out[-1].startswith("<") and len(out[-1]) > 1:
        comparator = str(out.pop())[1:]
    back = [w for w in out[-2:] if isinstance(w, str)]
    near = [w.lower() for w in reversed(back)]
    preposition = next((w for w in near if w in _PREPOSITIONS), "")
    if near and near[0] not in _PREPOSITIONS and near[0] not in {"the", "a", "an"}:
        preposition = ""
    return comparator, preposition


Found = tuple[tuple[str, str], int]


def _date_at(words: list[str], at: int) -> Found | None:
    """Read ``31 March 2024``, ``March 31, 2024``, ``March 2024``, ``2024-03-31``, ``the 25th``."""
    word = words[at]
    iso = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", word)
    if iso:
        return (f"{iso[1]}-{int(iso[2]):02d}-{int(iso[3]):02d}", "date"), 1
    day = _day(word)
    following = words[at + 1] if at + 1 < len(words) else ""
    if day and _month(following):
        year, extra = _year_at(words, at + 2)
        return (f"{year}-{_month(following):02d}-{day:02d}", "date"), 2 + extra
    if day and following.lower() == "of" and at + 2 < len(words) and _month(words[at + 2]):
        year, extra = _year_at(words, at + 3)
        return (f"{year}-{_month(words[at + 2]):02d}-{day:02d}", "date"), 3 + extra
    month = _month(word)
    if month:
        if _day(following):
            year, extra = _year_at(words, at + 2)
            return (f"{year}-{month:02d}-{_day(following):02d}", "date"), 2 + extra
        year, extra = _year_at(words, at + 1)
        return (f"{year}-{month:02d}", "date"), 1 + extra
    if _ORDINAL.fullmatch(word) and day:
        return (f"-{day:02d}", "date"), 1
    if re.fullmatch(r"(?:19|20)\d{2}", word) and following.lower() not in UNITS:
        return (word, "date"), 1
    return None


def _month(word: str) -> int:
    """The number of the month that *word* names, else 0; "may" and "march" need their capital."""
    return MONTHS.get(word.lower(), 0) if word[:1].isupper() else 0


def _day(word: str) -> int:
    match = _ORDINAL.fullmatch(word)
    digits = match[1] if match else word
    return int(digits) if digits.isdecimal() and 1 <= int(digits) <= 31 else 0


def _year_at(words: list[str], at: int) -> tuple[str, int]:
    for skip in (0, 1):
        reached = at + skip < len(words) and (skip == 0 or words[at] == ",")
        if reached and re.fullmatch(r"(?:19|20)\d{2}", words[at + skip]):
            return words[at + skip], skip + 1
    return "", 0


def _clock_at(words: list[str], at: int) -> Found | None:
    """Read ``10:00`` and ``8 am`` as a time of day."""
    match = re.fullmatch(r"(\d{1,2}):(\d{2})(?::\d{2})?", words[at])
    suffix = words[at + 1].lower().replace(".", "") if at + 1 < len(words) else ""
    half = 12 if suffix == "pm" else 0
    if match:
        hour = int(match[1]) % 12 + half if suffix in {"am", "pm"} else int(match[1])
        return (f"{hour:02d}:{match[2]}", "clock"), 2 if suffix in {"am", "pm"} else 1
    if suffix in {"am", "pm"} and words[at].isdecimal():
        return (f"{int(words[at]) % 12 + half:02d}:00", "clock"), 2
    return None


def _amount_at(words: list[str], at: int) -> Found | None:
    """Read a number with its scale and unit or currency."""
    start = at
    unit = ""
    if (
        words[at].lower() in CURRENCIES
        and at + 1 < len(words)
        and _number_value(words[at + 1]) is not None
    ):
        unit, at = CURRENCIES[words[at].lower()], at + 1
    value = _number_value(words[at])
    if value is None:
        return None
    at += 1
    if 20 <= value < 100 and value % 10 == 0 and at < len(words):
        ones = NUMBER_WORDS.get(words[at].lower(), 0.0)
        if words[at - 1].isalpha() and 0 < ones < 10:
            value, at = value + ones, at + 1
    while at < len(words) and (
        words[at].lower() in SCALES or (unit and words[at].lower() in SCALE_LETTERS)
    ):
        value *= SCALES.get(words[at].lower()) or SCALE_LETTERS[words[at].lower()]
        at += 1
    if unit:
        return (plain_number(value), unit), at - start
    unit, length = _unit_at(words, at)
    return (plain_number(value), unit), at + length - start


def _unit_at(words: list[str], at: int) -> tuple[str, int]:
    """The unit after a number and how many words it takes; adjectives stay words of their own."""
    if at >= len(words):
        return "", 0
    word = words[at].lower()
    if CURRENCIES.get(word):
        return CURRENCIES[word], 1
    if word in UNITS:
        return UNITS[word], 1
    if word in _ADJECTIVES and at + 1 < len(words):
        for ahead in (at + 1, at + 2):
            if ahead < len(words) and words[ahead].lower() in UNITS:
                return UNITS[words[ahead].lower()], 0
    return "", 0
