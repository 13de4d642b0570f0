"""Figures as tokens, so that they can be aligned with what is said of them.

`quantities.find` reads them: value, unit and date come from the one reader of figures that
the program has. Here each keeps its place in the sentence, its bound and its preposition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.core.claim import Quantity as Figure
from certirag.quantities import units
from certirag.quantities.find import find_quantities
from certirag.text.word_classes import word_set

_MARK: Final = re.compile("0\x00([0-9]+)")
_SPACED: Final = re.compile("(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{3}(?![0-9]))")
_RATE: Final = re.compile(r"\s*(/|\b(?:per|an?|every|each)\b)", re.IGNORECASE)
_PERIOD: Final = re.compile(r"([0-9]{4})?-?(Q|H)([1-4])")
_FISCAL: Final = re.compile(r"FY([0-9]{4})")
_RANKS: Final = ("first", "second", "third", "fourth")
_PREPOSITIONS: Final = word_set(
    "from to by until till before after between since at on in for of every"
)
_DATES: Final = frozenset({"date", "year", "period"})


@dataclass(frozen=True, slots=True)
class AlignedFigure:
    """A value with its unit: *comparator* is ``""``, le, ge, lt, gt, within, about or eq.

    *preposition* is the small word before it; dates have the unit ``date`` and times of day
    ``clock``; other units are those of `quantities.units`. *kind* is what the unit measures.
    """

    text: str
    value: str
    unit: str
    comparator: str = ""
    preposition: str = ""
    kind: str = ""

    @property
    def canonical(self) -> str:
        """The value and unit as one comparable word."""
        return f"{self.value} {self.unit}".strip()


def joined_digits(text: str) -> str:
    """Close the blanks that part thousands ("1 048" with a no-break blank)."""
    return _SPACED.sub("", text)


def pieces_of(text: str) -> tuple[str | AlignedFigure, ...]:
    """Cut *text* into the figures in it and the runs of text between them.

    Ordinals and counts in words ("first", "twice") stay words: the lists of words know them.
    """
    pieces: list[str | AlignedFigure] = []
    start = 0
    for figure in find_quantities(text):
        said = _without_rate(figure)
        if _stays_word(figure, said) or figure.start < start:
            continue
        pieces.append(text[start : figure.start])
        pieces.extend(_parts(figure, said))
        start = figure.start + len(said)
        if text[start : start + 1] == "-" and text[start + 1 : start + 2].isalpha():
            start += 1
    return (*pieces, text[start:])


def mark(number: int) -> str:
    """The word that stands for figure *number* until `merge_quantities` puts it back."""
    return f"0\x00{number}"


def _without_rate(figure: Figure) -> str:
    """The words of a figure without what it is paid per: that is compared word by word."""
    if "/" not in figure.unit or figure.kind in _DATES:
        return figure.text
    found = _RATE.search(figure.text, 1)
    return figure.text[: found.start()] if found else figure.text


def _stays_word(figure: Figure, said: str) -> bool:
    if figure.kind == "ordinal":
        return True
    counted = figure.unit.startswith("times") and figure.kind == "number"
    return counted or said.lower() in {"half", "a half", "a quarter", "quarter", "third", "a third"}


def _parts(figure: Figure, said: str) -> list[str | AlignedFigure]:
    """The tokens of one figure: itself, both ends of a range, or the words of a period."""
    period = _PERIOD.fullmatch(figure.value)
    if figure.kind == "period" and period:
        span = "quarter" if period[2] == "Q" else "half"
        words: list[str | AlignedFigure] = [_RANKS[int(period[3]) - 1], span]
        year = [AlignedFigure(period[1], period[1], "date", kind="date")] if period[1] else []
        return words + (["of", *year] if year else [])
    fiscal = _FISCAL.fullmatch(figure.value)
    if figure.kind == "period" and fiscal:
        return ["fiscal", AlignedFigure(fiscal[1], fiscal[1], "date", kind="date")]
    unit = _unit(figure)
    kind = "date" if unit == "date" else _kind(figure, unit)
    value = figure.value.removeprefix("-") if unit == "date" else figure.value
    low = AlignedFigure(said, value, unit, kind=kind)
    if not figure.high:
        return [low]
    joint = "and" if re.search(r"\band\b", said) else "to"
    return [low, joint, AlignedFigure(said, figure.high, unit, kind=kind)]


def _unit(figure: Figure) -> str:
    if figure.kind in _DATES:
        return "date"
    if figure.unit == "time of day":
        return "clock"
    unit = figure.unit.removeprefix("every ")
    return unit.partition("/")[0] if _without_rate(figure) != figure.text else unit


def _kind(figure: Figure, unit: str) -> str:
    if figure.kind in {"measure", "duration"}:
        return units.base_unit(unit)[0] if figure.kind == "measure" else "duration"
    return figure.kind if unit else ""


def merge_quantities(
    words: Sequence[str], figures: Sequence[AlignedFigure]
) -> list[str | AlignedFigure]:
    """Put the figures back in place of their marks, with the bound and preposition around them."""
    out: list[str | AlignedFigure] = []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        marked = _MARK.fullmatch(word)
        if marked is None and word.lower() != "one":
            out.append(word)
            continue
        figure = figures[int(marked[1])] if marked else AlignedFigure(word, "1", "")
        comparator, preposition = _before(out)
        if position < len(words) and re.fullmatch(r">[a-z]+", words[position]):
            comparator = words[position][1:]
            position += 1
        out.append(replace(figure, comparator=comparator, preposition=preposition))
    return [w for w in out if isinstance(w, AlignedFigure) or not re.fullmatch(r"[<>][a-z]+", w)]


def _before(out: list[str | AlignedFigure]) -> tuple[str, str]:
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
