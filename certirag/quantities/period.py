"""Which period a figure belongs to, and whether claim and evidence name the same one.

"Revenue rose from $3.1M in 2023 to $3.6M in 2024" holds two figures of two years: each figure is
aligned with its own period, and a figure of one year never supports a claim about another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from certirag.core.claim import Quantity
from certirag.quantities.dates import as_written
from certirag.quantities.figured_sentence import Segment, Sentence, segments_of, token_index
from certirag.text.word_classes import word_set

_LINKS = word_set("in for during at on of since until by as (")
_BREAKERS = frozenset(("and", "but", "while", "whereas", "or", "to", "from", ";", "than", "versus"))
_COMPARISONS = word_set("from compared than versus vs against up down")
_YEAR = re.compile(r"(?:FY)?[0-9]{4}(?:/[0-9]{2})?")


@dataclass(frozen=True, slots=True)
class Aligned:
    """The periods of one figure; *clear* is False where several could be meant."""

    values: frozenset[str]
    clear: bool = True


def aligned_periods(sentence: Sentence, quantity: Quantity) -> Aligned:
    """Return the dates and periods of *sentence* that *quantity* belongs to."""
    temporals = sentence.temporals()
    amounts = tuple(q for q in sentence.amounts() if q.kind != "ordinal")
    if not temporals or quantity not in amounts:
        return Aligned(frozenset())
    if sentence.cells:
        return _in_row(sentence, quantity, amounts)
    if "respectively" in sentence.text.lower() and len(temporals) > 1:
        same = len(temporals) == len(amounts)
        value = temporals[amounts.index(quantity)].value if same else ""
        return Aligned(frozenset({value} if same else ()), clear=same)
    links = {t.start: _linked(sentence, t, amounts) for t in temporals}
    mine = [t for t in temporals if links[t.start] == quantity.start]
    free = [t for t in temporals if links[t.start] < 0]
    if mine:
        return _aligned(mine)
    segments = segments_of(sentence, amounts)
    return _free_period(sentence, quantity, segments[amounts.index(quantity)], free)


def _aligned(temporals: Sequence[Quantity]) -> Aligned:
    return Aligned(frozenset(t.value for t in temporals))


def _free_period(
    sentence: Sentence,
    quantity: Quantity,
    segment: Segment,
    free: Sequence[Quantity],
) -> Aligned:
    """Choose among periods that no figure holds: own clause, then before, then behind."""
    temporals = sentence.temporals()
    inside = [t for t in free if segment.start <= t.start < segment.end]
    if inside:
        return _aligned(inside)
    earlier = [t for t in free if t.start < quantity.start]
    if earlier:
        return _aligned(earlier[-1:]) if len({t.value for t in earlier}) == 1 else _unclear(earlier)
    chosen = free or ([] if _compared(sentence, quantity) else temporals)
    return _aligned(chosen) if len({t.value for t in chosen}) < 2 else _unclear(chosen)


def _compared(sentence: Sentence, quantity: Quantity) -> bool:
    """Say whether what follows *quantity* is what it is compared with ("up from 5 in May")."""
    first = token_index(sentence.tokens, quantity.end)
    words = sentence.tokens.words(first, len(sentence.tokens.items) - first)
    return bool(_COMPARISONS & set(words))


def _unclear(temporals: Sequence[Quantity]) -> Aligned:
    return Aligned(frozenset(t.value for t in temporals), clear=False)


def _linked(sentence: Sentence, temporal: Quantity, amounts: Sequence[Quantity]) -> int:
    """Return the start of the figure that *temporal* closely follows ("$3.1M in 2023"), or -1."""
    before = [a for a in amounts if a.end <= temporal.start]
    if not before:
        return -1
    first = token_index(sentence.tokens, before[-1].end)
    last = token_index(sentence.tokens, temporal.start)
    words = sentence.tokens.words(first, last - first)
    close = 0 < len(words) <= 6 and not _BREAKERS & set(words) and words[-1] in (*_LINKS, "the")
    return before[-1].start if close else -1


def _in_row(sentence: Sentence, quantity: Quantity, amounts: Sequence[Quantity]) -> Aligned:
    """A row's period stands in the figure's own header, or in a cell without amounts."""
    temporals = sentence.temporals()
    mine: list[Quantity] = []
    common: list[Quantity] = []
    for cell in sentence.cells:
        inside = [t for t in temporals if cell.start <= t.start < cell.end]
        if cell.start <= quantity.start < cell.end:
            mine.extend(inside)
        elif not any(cell.start <= a.start < cell.end for a in amounts):
            # A full date in a cell of its own is a fact of the row ("expires"), not its period.
            common.extend(t for t in inside if t.kind != "date" or len(t.value) == 7)
    chosen = mine or common
    return _aligned(chosen) if chosen else Aligned(frozenset())


def period_mismatch(
    claim: Sentence, ours: Quantity, evidence: Sentence, theirs: Quantity, context: frozenset[str]
) -> str:
    """Return why the periods differ, in plain words, or "" where they agree.

    *context* holds the period values of the titles and headings above the evidence.
    """
    wanted, found = aligned_periods(claim, ours), aligned_periods(evidence, theirs)
    values = frozenset(completed(value, context) for value in found.values)
    if not wanted.values:
        return _unnamed(evidence, theirs, found)
    asked = ", ".join(map(as_written, sorted(wanted.values)))
    if values and not found.clear and values != wanted.values:
        return f"it is not clear which period {theirs.text} belongs to; the claim says {asked}"
    if values == wanted.values:
        return ""
    if values:
        return (
            f"the claim says {ours.text} for {asked}; "
            f"the evidence says it for {', '.join(map(as_written, sorted(values)))}"
        )
    told = {t.value for t in evidence.temporals()}
    for value in sorted(wanted.values):  # whatever the order of a set in this process
        if value in told:
            return f"the evidence says {as_written(value)} of another figure than {theirs.text}"
        rivals = {c for c in context if _grain(c) == _grain(value)}
        if rivals != {value}:
            return f"the evidence does not say that {theirs.text} is for {as_written(value)}"
    return ""


def _unnamed(evidence: Sentence, theirs: Quantity, found: Aligned) -> str:
    """A claim without a period may not choose among figures of several periods."""
    others = {
        aligned_periods(evidence, other).values
        for other in evidence.amounts()
        if other.unit == theirs.unit and other.kind != "ordinal" and other.value != theirs.value
    }
    rivals = {values for values in others if values and values != found.values}
    if found.values and rivals:
        return f"the evidence has {theirs.text} for one of several periods; the claim names none"
    return ""


def completed(value: str, context: frozenset[str]) -> str:
    """Give "-Q3" the year of the headings, where they name exactly one."""
    if not value.startswith(("-Q", "-H")):
        return value
    years = {c for c in context if _YEAR.fullmatch(c)}
    years |= {c.rpartition("-")[0] for c in context if c.endswith(value) and c != value}
    return f"{years.pop()}{value}" if len(years) == 1 else value


def is_within(period: str, asked: str) -> bool:
    """Say whether *period* lies in *asked*: "2024-Q3" in "2024", and in "-Q3", that of any year."""
    if period.startswith("-") or asked.startswith("-"):
        return period.endswith(asked) or asked.endswith(period)
    return period.startswith(asked)


def _grain(value: str) -> str:
    """Return the grain of a period value: its shape without the digits."""
    return re.sub(r"[0-9]+", "", value) + str(len(value))


def covers_date(claim: str, evidence: str) -> bool:
    """Say whether the date *evidence* is the date *claim* or lies in its month or year."""
    if claim == evidence:
        return True
    coarse = re.fullmatch(r"[0-9]{4}(-[0-9]{2})?", claim)
    dated = re.fullmatch(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?", evidence)
    return bool(coarse and dated) and evidence.startswith(f"{claim}-")
