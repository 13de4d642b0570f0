"""Figures that two operands make: differences, growth, multiples and shares."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from certirag.core.claim import Quantity
from certirag.quantities.arithmetic import Outcome
from certirag.quantities.asked_operation import (
    asks_average,
    asks_sum,
    bases,
    direction,
    factors,
    is_earlier,
    is_multiple,
    is_size,
    pivot,
    subject_words,
    whole_of,
)
from certirag.quantities.figured_sentence import Sentence
from certirag.quantities.operands import Figure, Reckoned, Sources, in_unit_of, is_share
from certirag.quantities.roles import role_of
from certirag.quantities.units import base_unit
from certirag.quantities.word_order import senses


def changes(claim: Sentence, figure: Quantity, sources: Sources) -> Iterator[Reckoned]:
    """Yield how *figure* is the change of one subject between two dates, or in one sentence."""
    if role_of(claim, figure) not in ("", "by") or asks_sum(claim) or asks_average(claim):
        return
    wanted = subject_words(claim, "change")
    base, other = bases(claim)
    if len(base) == 1 and len(other) == 1:
        compared = pivot(claim, figure) >= 0
        if compared or is_earlier(base[0].value, other[0].value):
            firsts = _at(sources, wanted, other[0].value)
            seconds = _at(sources, wanted, base[0].value)
            for first, second in product(firsts, seconds):
                yield from _pair(claim, figure, first, second)
    elif not base and len(other) < 2:
        yield from _told_changes(claim, figure, sources, wanted)


def _at(sources: Sources, wanted: frozenset[str], period: str) -> list[Figure]:
    """Return the figures about *wanted* in *period*; none where a narrower one stands against."""
    found = [f for f in sources.figures if f.periods == {period} and sources.fits(f.words, wanted)]
    return [] if any(sources.rivals(f, wanted) for f in found) else found


def _told_changes(
    claim: Sentence, figure: Quantity, sources: Sources, wanted: frozenset[str]
) -> Iterator[Reckoned]:
    """Yield the size of a change that one sentence tells ("fell from 44.8% to 42.1%").

    The claim names the date of the change's end or, where the sentence has no dates, none.
    """
    dates = frozenset(q.value for q in claim.temporals())
    for first, second in product(sources.figures, sources.figures):
        told = first.number == second.number and (first.role, second.role) == ("to", "from")
        fits = sources.fits(first.words, wanted) and sources.fits(second.words, wanted)
        dated = first.periods == dates and (
            second.periods == dates or any(is_earlier(p, q) for p in second.periods for q in dates)
        )
        if told and fits and dated and len(second.periods) <= 1:
            yield from _pair(claim, figure, first, second)


def comparisons(claim: Sentence, figure: Quantity, sources: Sources) -> Iterator[Reckoned]:
    """Yield how *figure* compares two subjects ("40 more employees than the Gent plant")."""
    place = pivot(claim, figure)
    base, other = bases(claim)
    dates = frozenset(q.value for q in claim.temporals())
    if place < 0 or base or len(dates) > 1 or len(other) != len(dates):
        return
    left = subject_words(claim, "change", end=place)
    right = subject_words(claim, "change", start=place)
    for first, second in product(sources.figures, sources.figures):
        if first is second or first.periods != second.periods:
            continue
        if first.periods != dates or not _sides(first, second, left, right, sources):
            continue
        rival = sources.rivals(first, left | right) or sources.rivals(second, left | right)
        if not rival:
            yield from _pair(claim, figure, first, second)


def _sides(
    first: Figure, second: Figure, left: frozenset[str], right: frozenset[str], sources: Sources
) -> bool:
    """Say whether *first* is about the left side of the comparison and *second* the right."""
    common = first.words & second.words
    mine, theirs = first.words - common, second.words - common
    told = left | right
    return (
        bool(mine and theirs)
        and mine <= left - right
        and theirs <= right - left
        and common <= told
        and told - mine - theirs <= common | sources.heading
    )


def _pair(claim: Sentence, figure: Quantity, first: Figure, second: Figure) -> Iterator[Reckoned]:
    """Yield what *figure* says of *first* against its base *second*, by its unit and wording."""
    said = senses(claim, claim=True)
    if (first.base, first.rate) != (second.base, second.rate) or first.sense != said:
        return
    if second.sense != said:
        return
    rises = direction(claim)
    base = base_unit(figure.unit.partition("/")[0])[0]
    if is_multiple(claim, figure) or figure in factors(claim):
        if rises == 0 and second.value > 0 and first.value >= 0:
            yield Reckoned(
                "ratio", (first, second), Outcome(first.value / second.value, divided=True)
            )
        return
    gap = first.value - second.value
    if rises not in (1, -1) or gap * rises <= 0 or not is_size(claim, figure):
        return
    size, rising = abs(gap), rises > 0
    if figure.unit == "%":
        if second.value > 0 and first.value >= 0:
            share = Outcome(100 * size / second.value, divided=True)
            yield Reckoned("growth", (first, second), share, rising)
        return
    same = base == first.base and figure.unit.partition("/")[2] in ("", first.rate)
    points = base == "pp" and first.base == "%"
    if points or (same and base != "%"):
        outcome = Outcome(in_unit_of(figure, size))
        yield Reckoned("difference", (first, second), outcome, rising)


def shares(claim: Sentence, figure: Quantity, sources: Sources) -> Iterator[Reckoned]:
    """Yield how *figure* is the share of a part in a whole ("25% of employees work remotely")."""
    base, other = bases(claim)
    dates = frozenset(q.value for q in claim.temporals())
    plain = not base and len(other) < 2 and direction(claim) == 0
    if not (is_share(figure) and plain):
        return
    said = senses(claim, claim=True)
    scale = 100 if figure.unit == "%" else 1
    wanted = subject_words(claim, "share")
    wholes = {frozenset(words) for words in whole_of(claim, figure)}
    for part, whole in product(sources.figures, sources.figures):
        if part is whole or (part.base, part.rate) != (whole.base, whole.rate):
            continue
        if (
            part.sense != said
            or part.periods != whole.periods
            or part.periods != dates
            or part.base == "%"
        ):
            continue
        if whole.words not in wholes or not sources.fits(part.words, wanted):
            continue
        rival = sources.rivals(part, wanted) or sources.rivals(whole, whole.words)
        if not rival and part.words > whole.words and 0 <= part.value <= whole.value > 0:
            quotient = Fraction(scale) * part.value / whole.value
            yield Reckoned("share", (part, whole), Outcome(quotient, divided=True))
