"""The one figure that a text has against a claim's, and the claim with that figure put in."""

from __future__ import annotations

from typing import Final

from certirag.core.claim import Quantity
from certirag.quantities.compare import same_dimension, same_value
from certirag.quantities.figured_sentence import Sentence, read_sentence

MAX_LENGTH: Final = 6_000  # characters of one text; longer ones are not compared
MAX_FIGURES: Final = 60  # likewise
# A number or a measure may be of anything: only one of the same unit stands against it.
_LOOSE: Final = frozenset({"number", "measure"})
# Two texts may both be right about two days, years or periods.
_OF_TIME: Final = frozenset({"date", "year", "period"})


def figure_against(claim: str, passage: str) -> tuple[Quantity, Quantity] | None:
    """Return the claim's one wrong figure and the one of *passage* that can stand for it, or None."""
    if max(len(claim), len(passage)) > MAX_LENGTH:
        return None
    ours, theirs = read_sentence(claim), read_sentence(passage)
    if max(len(ours.quantities), len(theirs.quantities)) > MAX_FIGURES:
        return None
    wrong = [one for one in ours.quantities if not stands_in(one, theirs)]
    if len(wrong) != 1:
        return None
    others = [one for one in theirs.quantities if not stands_in(one, ours)]
    alike = [one for one in others if can_replace(one, wrong[0])]
    return (wrong[0], alike[0]) if len(alike) == 1 else None


def with_figure_of(claim: str, passage: str) -> str:
    """Return *claim* with the figure that *passage* has against its own, or "" where none has.

    Whoever finds that in *passage* finds the claim contradicted: two amounts of one thing, with the
    same bound and rate, do not both hold.
    """
    pair = figure_against(claim, passage)
    if pair is None:
        return ""
    own, other = pair
    if own.kind in _OF_TIME or own.qualifier != other.qualifier or _rate(own) != _rate(other):
        return ""
    return f"{claim[: own.start]}{other.text}{claim[own.end :]}"


def stands_in(figure: Quantity, other: Sentence) -> bool:
    """Say whether *other* has *figure*: value, unit, rate and bound."""
    return any(_same(figure, one) for one in other.quantities)


def _same(one: Quantity, other: Quantity) -> bool:
    if one.kind != other.kind or one.qualifier != other.qualifier:
        return False
    return same_value(one, other) and _rate(one) == _rate(other)


def _rate(figure: Quantity) -> tuple[bool, str]:
    """Return what makes *figure* an amount for each of something: "every six months", "€5 a day"."""
    return figure.unit.startswith("every "), figure.unit.partition("/")[2]


def can_replace(one: Quantity, other: Quantity) -> bool:
    """Say whether *one* can stand where *other* does: of its kind, a loose one of its unit too."""
    return one.kind == other.kind and (one.kind not in _LOOSE or same_dimension(one, other))
