"""Figures that operands make: differences, growth, multiples, shares, sums and averages.

Two operands make the first four; sums and averages run over named parts or complete spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from certirag.core.claim import Quantity
from certirag.quantities.asked_operation import (
    asks_average,
    asks_sum,
    bases,
    direction,
    factors,
    is_earlier,
    is_multiple,
    is_size,
    lowers,
    pivot,
    subject_words,
    wanted_parts,
    whole_of,
)
from certirag.quantities.figured_sentence import Sentence
from certirag.quantities.operands import Figure, Outcome, Reckoned, Sources, in_unit_of, is_share
from certirag.quantities.roles import role_of, senses
from certirag.quantities.subject_words import class_of
from certirag.quantities.units import base_unit
from certirag.text.word_classes import word_set


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


# What adds up over time. A level (headcount, debt, cash, a price) does not, so it is not here.
_FLOWS = frozenset(
    class_of(word)
    for word in word_set(
        "revenue profit loss cost income output production shipment delivery order purchase "
        "payment rainfall emission donation visitor passenger incident accident birth death "
        "export import capex dividend tax wage sold produced delivered shipped spent earned "
        "raised installed visit ticket"
    )
)
# What adds up over separate places or groups besides: levels do, prices and rates do not.
_LEVELS = frozenset(
    class_of(word)
    for word in word_set(
        "employee people customer store site plant member patient participant debt cash asset "
        "liability equity budget seat bed vehicle school hospital house"
    )
)
_LENGTHS = {
    "annual": "year", "annually": "year", "yearly": "year", "quarterly": "quarter",
    "quarter": "quarter", "monthly": "month", "month": "month",
}  # fmt: skip


def totals(claim: Sentence, figure: Quantity, sources: Sources) -> Iterator[Reckoned]:
    """Yield how *figure* is the sum or the average of all parts that the claim names."""
    average = asks_average(claim)
    if not (average or asks_sum(claim)) or direction(claim) != 0:
        return
    base = base_unit(figure.unit.partition("/")[0])[0]
    if base in ("%", "pp", "times") or figure.kind in ("ordinal", "percent"):
        return
    wanted = subject_words(claim, "average" if average else "sum")
    said = senses(claim, claim=True)
    like = [f for f in sources.figures if f.base == base and f.sense == said]
    if _told(claim, like, wanted, sources):
        return
    rate = figure.unit.partition("/")[2]
    named = tuple(q.value for q in claim.temporals())
    for chosen, periods in (
        *_over_time(claim, like, wanted, sources, average=average),
        *_over_parts(claim, like, wanted, sources, average=average),
    ):
        if len({f.rate for f in chosen}) != 1 or not _per(
            claim, rate, chosen, named, average=average
        ):
            continue
        total = sum((f.value for f in chosen), Fraction(0))
        if average:
            mean = Outcome(in_unit_of(figure, total / len(chosen)), divided=True)
            yield Reckoned("average", chosen, mean, periods=periods)
        else:
            yield Reckoned("sum", chosen, Outcome(in_unit_of(figure, total)), periods=periods)


def _told(
    claim: Sentence, like: Sequence[Figure], wanted: frozenset[str], sources: Sources
) -> bool:
    """Say whether the evidence has a figure of its own for the whole: then nothing is added up."""
    dates = frozenset(q.value for q in claim.temporals())
    return any(f.periods == dates and sources.fits(f.words, wanted) for f in like if f.words)


def _per(
    claim: Sentence, rate: str, chosen: Sequence[Figure], named: Sequence[str], *, average: bool
) -> bool:
    """Say whether the claim speaks of the same length of time as the operands.

    An average over the parts of one year must say "a quarter" or "quarterly": "averaged $2.5M in
    2024" does not say per what. A sum must not, and no claim may name another length.
    """
    per = {rate} if rate != chosen[0].rate else set()
    per |= {length for word, length in _LENGTHS.items() if word in lowers(claim)}
    if not average:
        return per <= {"year"} and rate == chosen[0].rate
    told = {p for f in chosen for p in f.periods}
    if rate != chosen[0].rate and (chosen[0].rate or not rate):
        return False
    within_one = len(named) == 1 and not told <= set(named)
    return bool(per or not within_one) and all(
        _is_of_length(p, length) for p in told for length in per
    )


def _is_of_length(period: str, length: str) -> bool:
    if length == "year":
        return len(period.removeprefix("FY")) == 4
    return length == "quarter" and "-Q" in period


def _over_time(
    claim: Sentence,
    like: Sequence[Figure],
    wanted: frozenset[str],
    sources: Sources,
    *,
    average: bool,
) -> Iterator[tuple[tuple[Figure, ...], tuple[str, ...]]]:
    if not wanted & _FLOWS:
        return
    mine = [f for f in like if sources.fits(f.words, wanted)]
    named = tuple(q.value for q in claim.temporals())
    if average and not named:
        return
    for parts in wanted_parts(claim):
        chosen = [_only([f for f in mine if _is_part(f, part)]) for part in parts]
        if all(f is not None and not sources.rivals(f, wanted) for f in chosen):
            found = tuple(f for f in chosen if f is not None)
            if len({_year(f) for f in found}) == 1 or named:
                yield found, (*named, *parts)


def _is_part(figure: Figure, part: str) -> bool:
    """Say whether the period of *figure* is *part*; "-Q1" without a year is any year's first."""
    return len(figure.periods) == 1 and all(
        p == part or (part.startswith("-") and p.endswith(part)) for p in figure.periods
    )


def _year(figure: Figure) -> str:
    return next(iter(figure.periods)).partition("-")[0]


def _only(figures: Sequence[Figure]) -> Figure | None:
    """Return the figure on which all of *figures* agree; None where there is none, or several."""
    values = {(f.value, f.rate) for f in figures}
    return figures[0] if len(values) == 1 else None


def _over_parts(
    claim: Sentence,
    like: Sequence[Figure],
    wanted: frozenset[str],
    sources: Sources,
    *,
    average: bool,
) -> Iterator[tuple[tuple[Figure, ...], tuple[str, ...]]]:
    """Choose the figures of the parts that the claim lists: "in Europe and Asia together"."""
    base, other = bases(claim)
    dates = frozenset(q.value for q in claim.temporals())
    adds = _FLOWS if average else _FLOWS | _LEVELS
    if base or len(other) > 1 or not wanted & adds:
        return
    near = [f for f in like if f.words <= wanted and f.words & adds and f.periods == dates]
    groups: dict[frozenset[str], list[Figure]] = {}
    for figure in near:
        groups.setdefault(figure.words, []).append(figure)
    common = frozenset.intersection(*groups) if groups else frozenset()
    groups.pop(common, None)  # the figure of the whole, if the evidence has it
    chosen = [_only(found) for found in groups.values()]
    own = [words - common for words in groups]
    apart = sum(len(words) for words in own) == len(frozenset().union(*own))
    named = wanted - common - frozenset().union(*own) <= sources.heading
    if len(chosen) < 2 or not (apart and named) or not common & adds:
        return
    found = tuple(f for f in chosen if f is not None)
    if len(found) == len(chosen) and not any(sources.rivals(f, wanted) for f in found):
        yield found, ()
