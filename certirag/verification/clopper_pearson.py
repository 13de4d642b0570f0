"""n wrong of N → between what and what the true share lies: the exact binomial interval.

Clopper and Pearson 1934, "The use of confidence or fiducial limits illustrated in the case of the
binomial". It never claims more than was seen: none wrong of ten still leaves up to 31 %.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p
from typing import Final

from certirag.errors import InputError

_STEPS: Final = 200  # halvings; a double has 53 bits between 0 and 1, more near 0
_TINY: Final = 1e-300


def exact_interval(count: int, total: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the (low, high) shares that *count* of *total* leaves open at *confidence*.

    Both sides are two-sided limits: each is passed with a chance of (1 - *confidence*) / 2.
    Raises InputError unless 0 <= *count* <= *total*, 1 <= *total* and 0 < *confidence* < 1.
    """
    tail = _tail(count, total, confidence)
    low = 0.0 if count == 0 else _beta_quantile(tail, count, total - count + 1)
    high = 1.0 if count == total else _beta_quantile(1.0 - tail, count + 1, total - count)
    return low, high


def surely_reaches(count: int, total: int, share: float, *, confidence: float = 0.95) -> bool:
    """Say whether the low end of `exact_interval` is at least *share*; much faster than asking it."""
    tail = _tail(count, total, confidence)
    return share <= 0.0 or (count > 0 and _beta_below(share, count, total - count + 1) <= tail)


def _tail(count: int, total: int, confidence: float) -> float:
    if not 0 <= count <= total or total < 1 or not 0.0 < confidence < 1.0:
        message = (
            f"no interval for {count!r} of {total!r} at confidence {confidence!r}: "
            "give counts with 0 <= count <= total, and a confidence between 0 and 1"
        )
        raise InputError(message)
    return (1.0 - confidence) / 2


def _beta_quantile(share: float, a: int, b: int) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if _beta_below(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_below(x: float, a: int, b: int) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if not 0.0 < x < 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on one side only
        return 1.0 - _beta_below(1.0 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return min(1.0, front * _fraction(x, a, b))


def _fraction(x: float, a: int, b: int) -> float:
    """Return the continued fraction of I_x(a, b) by Lentz's method (Abramowitz, Stegun 26.5.8)."""
    c, d = 1.0, 1.0 / _apart(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 20_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _apart(1.0 + step * d)
            c = _apart(1.0 + step / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _apart(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
