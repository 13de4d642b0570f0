"""Periods that add up: the quarters of a year, the years of a span, the dates of a list."""

from __future__ import annotations

import re
from itertools import pairwise

from certirag.claim_ir.derived_wording import bases, is_annual
from certirag.claim_ir.quantity_sentence import Sentence

MAX_PERIODS = 40
_YEAR = re.compile(r"(FY)?([0-9]{4})")
_QUARTER = re.compile(r"((?:FY)?[0-9]{4}|)-Q([1-4])")


def grain(period: str) -> str:
    """Return the shape of a period value, equal for periods of one length ("2023", "2024")."""
    return re.sub(r"[0-9]", "9", period)


def is_earlier(first: str, second: str) -> bool:
    """Say whether *first* is before *second*; False for periods of different length."""
    return grain(first) == grain(second) and first < second


def wanted_parts(claim: Sentence) -> tuple[tuple[str, ...], ...]:
    """Return the sets of periods of which each would make up the time that the claim names.

    A year is its four quarters or two halves; "from 2022 to 2024" is three years; "2023 and
    2024" are two. () where the claim names no such time, or one that has no known parts.
    """
    temporals = claim.temporals()
    if not temporals:
        return _of_year("") if is_annual(claim) else ()
    values = [q.value for q in temporals]
    if len(values) == 1:
        return _of_year(values[0]) if _YEAR.fullmatch(values[0]) else ()
    base, _ = bases(claim)
    dashed = len(values) == 2 and claim.text[temporals[0].end : temporals[1].start].strip() in (
        "-", "–", "—", "to",
    )  # fmt: skip
    if len(values) == 2 and (dashed or base == (temporals[0],)):
        whole = _between(values[0], values[1])
        return (whole,) if whole else ()
    listed = all(
        re.fullmatch(r"\s*(?:,|and|,\s*and)\s*(?:in\s+)?", claim.text[a.end : b.start])
        for a, b in pairwise(temporals)
    )
    same = len({grain(v) for v in values}) == 1 and len(set(values)) == len(values)
    return (tuple(values),) if listed and same and not base else ()


def _of_year(year: str) -> tuple[tuple[str, ...], ...]:
    quarters = tuple(f"{year}-Q{n}" for n in range(1, 5))
    return quarters, tuple(f"{year}-H{n}" for n in (1, 2))


def _between(first: str, last: str) -> tuple[str, ...]:
    """Return all periods from *first* to *last*, for years and for quarters; () for others."""
    one, two = _YEAR.fullmatch(first), _YEAR.fullmatch(last)
    if one and two and one[1] == two[1]:
        years = range(int(one[2]), int(two[2]) + 1)
        found = tuple(f"{one[1] or ''}{year}" for year in years[: MAX_PERIODS + 1])
        return found if 2 <= len(found) <= MAX_PERIODS else ()
    q_one, q_two = _QUARTER.fullmatch(first), _QUARTER.fullmatch(last)
    if q_one and q_two and q_one[1] == q_two[1] and q_one[2] < q_two[2]:
        return tuple(f"{q_one[1]}-Q{n}" for n in range(int(q_one[2]), int(q_two[2]) + 1))
    return ()
