"""Says a claim in other words or figures without changing what it claims."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Final

from training.contrast_swap import holds, swapped
from training.contrast_words import ALIKE, MONTHS, NUMBER_WORDS, SHORT, listed

Keep = Callable[[str, random.Random], str]
_WORDY: Final = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, ALIKE)) + r")(?![\w-])")
_SHORT: Final = re.compile(
    r"(?<![\w.-])("
    + "|".join(sorted(map(re.escape, SHORT), key=len, reverse=True))
    + r")(?![\w.-])"
)
_FIXED: Final = frozenset(
    listed("like set made hard big man men home now fast about main begin end get")
)


def synonym(text: str, chance: random.Random) -> str:
    """Put a synonym for one word, or return *text* as it is."""
    found = [word for word in dict.fromkeys(_WORDY.findall(text)) if word not in _FIXED]
    if not found:
        return text
    old = chance.choice(found)
    new = chance.choice(ALIKE[old])
    return text if holds(text, new) else swapped(text, old, new)


def short_form(text: str, chance: random.Random) -> str:
    """Write one abbreviation out, or abbreviate one phrase."""
    for match in _SHORT.finditer(text):
        old = match[0]
        unit = (
            len(old) < 3
            or old in {"hours", "minutes", "min"}
            or old.endswith(("grams", "res", "ers"))
        )
        if unit and not re.search(r"\d $", text[: match.start()]):
            continue
        if old in {"h", "min", "hours", "minutes"} and old != "min":
            continue
        return text[: match.start()] + chance.choice(SHORT[old]) + text[match.end() :]
    return text


_PLAIN: Final = re.compile(r"(?<![\w.,/-])(?P<n>\d{4,7}|\d{1,3}(?:,\d{3})+)(?![\w/%-]|[.,]\d)")
_BIG: Final = re.compile(r"(?<![\w.,])(?P<n>\d+(?:\.\d)?) (?P<size>thousand|million)(?= )")
_SMALL: Final = re.compile(r"(?<![\w.,$€£/%-])(?P<n>[2-9]|1[0-2])(?= [a-z]{3,})")
_WORD: Final = re.compile(r"(?<![\w-])(?P<n>" + "|".join(NUMBER_WORDS[2:]) + r")(?= [a-z]{3,})")
_PERCENT: Final = re.compile(
    r"(?<![\w.,])(?P<n>\d+(?:\.\d+)?)(?P<sign>%| percent| per cent)(?! points?)"
)
_SIZES: Final = {"thousand": 1000, "million": 1_000_000}


def number_form(text: str, chance: random.Random) -> str:
    """Write one number in another way: 1,200 for 1200, five for 5, 3 million for 3,000,000."""
    ways = [text]
    for match in _PLAIN.finditer(text):
        value = int(match["n"].replace(",", ""))
        if "," not in match["n"] and 1100 <= value <= 2099:
            continue  # a year
        new = str(value) if "," in match["n"] else f"{value:,}"
        if value >= 1_000_000 and value % 100_000 == 0:
            new = f"{value / 1_000_000:g} million"
        ways.append(text[: match.start()] + new + text[match.end() :])
    for match in _BIG.finditer(text):
        value = round(float(match["n"]) * _SIZES[match["size"]])
        ways.append(f"{text[: match.start()]}{value:,}{text[match.end() :]}")
    for match in _SMALL.finditer(text):
        if match.start() and not re.search(rf"(?:{'|'.join(MONTHS)}) $", text[: match.start()]):
            ways.append(text[: match.start()] + NUMBER_WORDS[int(match["n"])] + text[match.end() :])
    for match in _WORD.finditer(text):
        ways.append(
            text[: match.start()] + str(NUMBER_WORDS.index(match["n"])) + text[match.end() :]
        )
    for match in _PERCENT.finditer(text):
        new = match["n"] + (" percent" if match["sign"] == "%" else "%")
        ways.append(text[: match.start()] + new + text[match.end() :])
    return chance.choice(ways[1:]) if len(ways) > 1 else text


_MONTH: Final = "|".join(MONTHS)
_DAY_FIRST: Final = re.compile(
    rf"(?<![\w.-])(?P<d>\d{{1,2}}) (?P<m>{_MONTH})(?:,? (?P<y>\d{{4}}))?(?![\w-])"
)
_MONTH_FIRST: Final = re.compile(
    rf"\b(?P<m>{_MONTH}) (?P<d>\d{{1,2}})(?:, (?P<y>\d{{4}}))?(?![\w-])"
)


def date_form(text: str, chance: random.Random) -> str:
    """Write one date in another order or in figures."""
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        match = pattern.search(text)
        if match is None or not 1 <= int(match["d"]) <= 31:
            continue
        day, month, year = match["d"], match["m"], match["y"]
        ways = [f"{month} {day}, {year}" if year else f"{month} {day}"]
        if pattern is _MONTH_FIRST:
            ways = [f"{day} {month} {year}" if year else f"{day} {month}"]
        if year:
            ways.append(f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d}")
        return text[: match.start()] + chance.choice(ways) + text[match.end() :]
    return text


_IN_FRONT: Final = re.compile(
    r"^(?P<when>(?:In|On|During|By|Since|After|Before) (?:[\w ]{0,24}\d{4}|the \w+ \w+)),? (?P<main>(?:the |an? |it |he |she |they |[A-Z]).{12,}[^.?!])\.$"
)
_AT_END: Final = re.compile(
    r"^(?P<main>[A-Z][^,;:]{12,160}?) (?P<when>(?:in|on|by|since) (?:\d{1,2} )?(?:(?:"
    + _MONTH
    + r") )?(?:\d{1,2}, )?\d{4})\.$"
)
_COMMON: Final = re.compile(
    r"^(?:The|A|An|It|He|She|They|His|Her|Its|Their|This|These|There|Two|Three|Some|All|Many)\b"
)


def reordered(text: str, chance: random.Random) -> str:
    """Move the time from the front of a sentence to its end, or back."""
    del chance
    match = _IN_FRONT.match(text)
    if match and not re.search(r"[;:]|, ", match["main"]):
        main, when = match["main"], match["when"]
        return f"{main[0].upper()}{main[1:]} {when[0].lower()}{when[1:]}."
    match = _AT_END.match(text)
    if match and not re.search(
        r"\b(?:and|but|from|between|that|who|which|when|of|while)\b", match["main"]
    ):
        main, when = match["main"], match["when"]
        start = main[0].lower() if _COMMON.match(main) else main[0]
        return f"{when[0].upper()}{when[1:]}, {start}{main[1:]}."
    return text


KEEPS: Final[dict[str, Keep]] = {
    "synonym": synonym,
    "short_form": short_form,
    "number_form": number_form,
    "date_form": date_form,
    "reorder": reordered,
}
