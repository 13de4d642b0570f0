"""Finds single substitutions in a sentence that change whether a text that held it supports it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Final

from training.contrast_swap import Edit, holds
from training.contrast_turns import turns
from training.contrast_words import (
    COMPARED,
    CURRENCIES,
    MONTHS,
    NAMES,
    NUMBER_WORDS,
    OPPOSITES,
    ORDINAL_WORDS,
    UNITS,
    WEEKDAYS,
    listed,
)

_NUMBER: Final = re.compile(
    r"(?<![\w.,/-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w/-])|"
    r"(?<![\w.,/-])\d+(?:\.\d+)?(?=%|(?![\w/:-]|[.,]\d))"
)
_YEAR: Final = re.compile(r"(?<![\w.,/$€£-])(?:1[1-9]|20)\d\d(?![\w/-]|[.,]\d)")
_UNIT: Final = re.compile(
    r"\d (" + "|".join(re.escape(u) for row in UNITS for u in row if len(u) > 1) + r")\b"
)
_SMALL: Final = re.compile(r"\b(" + "|".join(NUMBER_WORDS[2:]) + r")\b")
_ORDINAL: Final = re.compile(r"\b(" + "|".join(ORDINAL_WORDS[1:]) + r")\b")


def other_number(text: str, chance: random.Random) -> str:
    """Return another number written in the same way as *text*, as such slips are made."""
    comma, places = "," in text, len(text.partition(".")[2])
    value = float(text.replace(",", ""))
    ways = [value + 1, value - 1, value * 2, value * 10, value + 10, value / 2, value * 1.1]
    digits = [c for c in text if c.isdigit()]
    if len(digits) > 1 and digits[-1] != digits[-2] and digits[-1] != "0":
        exchanged = "".join((*digits[:-2], digits[-1], digits[-2]))
        ways.append(float(exchanged) / float(10**places))
    for way in chance.sample(ways, len(ways)):
        found = f"{way:,.{places}f}" if comma else f"{way:.{places}f}"
        if way > 0 and found != text and float(found.replace(",", "")) > 0:
            return found
    return str(int(value) + 1)


def _numbers(text: str, chance: random.Random) -> Iterator[Edit]:
    for match in _NUMBER.finditer(text):
        if not _YEAR.fullmatch(match[0]):
            new = other_number(match[0], chance)
            yield Edit("number", match[0], new, "contradicted", "contradicted")
    for match in _SMALL.finditer(text):
        new = chance.choice([w for w in NUMBER_WORDS[2:] if w != match[0]])
        yield Edit("number", match[0], new, "contradicted", "contradicted")
    for match in _ORDINAL.finditer(text):
        row = (
            ORDINAL_WORDS[:4]
            if text.startswith((" quarter", " half"), match.end())
            else ORDINAL_WORDS
        )
        new = chance.choice([w for w in row if w != match[0]])
        yield Edit("number", match[0], new, "contradicted", "contradicted")


_DAY: Final = re.compile(rf"\b({'|'.join((*MONTHS, *WEEKDAYS))})\b")
_NOT_MONTH: Final = re.compile(r"\b(?:May|March|August) [a-z]")


def _dates(text: str, chance: random.Random) -> Iterator[Edit]:
    for match in _YEAR.finditer(text):
        year = int(match[0])
        new = chance.choice([year + d for d in (-10, -5, -3, -2, -1, 1, 2, 3, 5, 10)])
        yield Edit("date", match[0], str(new), "contradicted", "contradicted")
    for match in _DAY.finditer(text):
        if not _NOT_MONTH.match(text, match.start()):
            row = MONTHS if match[0] in MONTHS else WEEKDAYS
            new_day = chance.choice([w for w in row if w != match[0]])
            yield Edit("date", match[0], new_day, "contradicted", "contradicted")


def _units(text: str, chance: random.Random) -> Iterator[Edit]:
    for match in _UNIT.finditer(text):
        row = next(row for row in UNITS if match[1] in row)
        at = row.index(match[1])
        new = chance.choice([*row[max(0, at - 1) : at], *row[at + 1 : at + 2]])
        yield Edit("unit", match[1], new, "contradicted", "contradicted")
    for row_of in CURRENCIES:
        for old in row_of:
            if old in text and (holds(text, old) if old.isalpha() else re.search(r"[$€£]\d", text)):
                new = chance.choice([c for c in row_of if c != old])
                yield Edit("currency", old, new, "contradicted", "contradicted")
    for match in re.finditer(r"\bby (\d+(?:\.\d+)?)( ?%| percent| per cent)(?! points?)", text):
        new = f"{match[1]} percentage points"
        yield Edit("percent", match[1] + match[2], new, "contradicted", "contradicted")
    for match in re.finditer(r"\d( percentage points?)\b", text):
        yield Edit("percent", match[1], " percent", "contradicted", "contradicted")


_KIND_OF_NAME: Final = {name: kind for kind, names in NAMES.items() for name in names}
_NAMED: Final = re.compile(
    r"(?<![\w-])("
    + "|".join(sorted(map(re.escape, _KIND_OF_NAME), key=len, reverse=True))
    + r")(?![\w-])"
)


def _names(text: str, chance: random.Random) -> Iterator[Edit]:
    for match in _NAMED.finditer(text):
        # Half of "New York City" or of "Paris Hilton" would be another name than was meant.
        beside = text[: match.start()].split(" ")[-2:-1] + text[match.end() + 1 :].split(" ")[:1]
        if match[0][0].isupper() and any(word[:1].isupper() for word in beside):
            continue
        row = NAMES[_KIND_OF_NAME[match[0]]]
        new = chance.choice([name for name in row if name != match[0]])
        yield Edit("entity", match[0], new, "contradicted", "contradicted")


_OPPOSED: Final = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, OPPOSITES)) + r")(?![\w-])")
_COMPARED: Final = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, COMPARED)) + r")(?![\w-])")
_FIXED: Final = re.compile(  # here the word is part of a name or a turn of phrase
    r"(?:as well|as soon|as long|no|not|at|so|even|any|once|right|back|right) $|(?:like|kind|close) $"
)
_AFTER: Final = re.compile(r" (?:to|of|as|up|over|out|off|down)\b")
_LOOSE: Final = frozenset(
    listed("""
    like right back left close kind second light hard top over with more less under before after
    above first last above below enter pass contract lower end lead fast well cool single fall
    spring present long complete fail within same day north south east west open kept keep
    """)
)


def _opposites(text: str, chance: random.Random) -> Iterator[Edit]:
    for match in _OPPOSED.finditer(text):
        old = match[0]
        if old in _LOOSE or _FIXED.search(text[: match.start()]) or _AFTER.match(text, match.end()):
            continue
        new = chance.choice(OPPOSITES[old])
        yield Edit("antonym", old, new, "contradicted", "contradicted")


def _comparisons(text: str, chance: random.Random) -> Iterator[Edit]:
    for match in _COMPARED.finditer(text):
        old, before, after = match[0], text[: match.start()], text[match.end() :]
        than = re.match(r"(?: \w+){0,2} than (?!or\b)", after)
        if old in {"more", "less", "fewer"}:
            if not than or _FIXED.search(before):
                continue
            new = "fewer" if old == "more" and after.startswith(" than ") else COMPARED[old][0]
        elif old in {"before", "after", "above", "below"}:
            if not re.match(r" (?:the|a|an|\d+|noon|midnight|he|she|it|they|his|her|its)\b", after):
                continue
            new = COMPARED[old][0]
        elif (old.endswith("er") and not than) or (
            old in {"first", "last", "most", "least", "best"} and not before.endswith("the ")
        ):
            continue
        else:
            new = chance.choice(COMPARED[old])
        yield Edit("comparison", old, new, "contradicted", "contradicted")


FINDERS: Final[tuple[Callable[[str, random.Random], Iterator[Edit]], ...]] = (
    _numbers,
    _dates,
    _units,
    _names,
    _opposites,
    _comparisons,
    turns,
)


def edits_of(text: str, chance: random.Random) -> list[Edit]:
    """Return every single edit that *text* offers; choices among words are drawn from *chance*."""
    return [edit for find in FINDERS for edit in find(text, chance)]
