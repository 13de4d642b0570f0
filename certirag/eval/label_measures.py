"""More of how good scores and labels are: average precision, macro-F1, and the difference of two systems.

*scores* are entailed probabilities in [0, 1], shape (n,); *positive* says of each row whether it is
entailed. Where a figure needs a class that the rows lack, it is NaN, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from certirag.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def average_precision(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the area under the precision-recall curve, by steps: the sum of precision times gain in recall.

    Average precision of Buckley and Voorhees 2000, "Evaluating Evaluation Measure Stability"; a step
    and no straight line between two points (Davis and Goadrich 2006). Equal scores are taken together.
    By chance it is the share of entailed rows. NaN when a class is missing: every order would do.
    """
    scores, positive = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    if scores.shape != positive.shape or not ((scores >= 0) & (scores <= 1)).all():
        message = (
            f"scores of shape {scores.shape} for truths of shape {positive.shape}: give one number "
            "from 0 to 1 for each row"
        )
        raise InputError(message)
    if not positive.any() or positive.all():
        return math.nan
    order = np.argsort(-scores, kind="stable")
    ordered, right = scores[order], np.cumsum(positive[order])
    last = np.append(ordered[1:] != ordered[:-1], True)  # of equal scores, the last
    found, called = right[last], np.flatnonzero(last) + 1
    gained = np.diff(found, prepend=0) / found[-1]
    return float((gained * found / called).sum())


def macro_f1(called: Sequence[str], gold: Sequence[str]) -> float:
    """Return the mean, over the classes that *gold* holds, of the F1 of calling that class.

    The mean of F1 scores, not the F1 of means (Opitz and Burst 2019, "Macro F1 and Macro F1"). A
    label that *gold* does not hold is a wrong call of the row's class. NaN for fewer than two classes.
    """
    classes = sorted(set(gold))
    if len(classes) < 2:
        return math.nan
    pairs = list(zip(called, gold, strict=True))
    return sum(_f1(name, pairs) for name in classes) / len(classes)


def _f1(name: str, pairs: Sequence[tuple[str, str]]) -> float:
    """Return 2 TP / (2 TP + FP + FN): the F1 of van Rijsbergen 1979 for one class."""
    both = sum(own == name == true for own, true in pairs)
    either = sum((own == name) + (true == name) for own, true in pairs)
    return 2 * both / either


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much better one system is than another on the same rows: interval of 95 % and two-sided p."""

    difference: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    difference: Callable[[NDArray[np.int64]], float],
    rows: int,
    *,
    seed: int,
    samples: int = 1_000,
) -> PairedDifference:
    """Return the difference of two systems on *rows* rows, with what drawing other rows makes of it.

    *difference* takes the numbers of rows, and both systems are measured on the same ones (Koehn 2004,
    "Statistical Significance Tests for Machine Translation Evaluation"). The interval is the percentile
    one of Efron 1979; p is twice the smaller share of samples on one side of 0, the rows as they are
    counted as a sample (Davison and Hinkley 1997, §4.2.3). A sample in which the difference is NaN is
    left out; where all are, or there are no rows, everything is NaN.
    """
    if not rows:
        return PairedDifference(math.nan, math.nan, math.nan, math.nan)
    random = np.random.default_rng(seed)
    own = float(difference(np.arange(rows)))
    found = np.array([difference(random.integers(0, rows, rows)) for _ in range(samples)])
    found = found[~np.isnan(found)]
    if math.isnan(own) or not len(found):
        return PairedDifference(own, math.nan, math.nan, math.nan)
    low, high = np.percentile(found, [2.5, 97.5])
    side = min(int((found <= 0).sum()), int((found >= 0).sum())) + 1
    return PairedDifference(own, float(low), float(high), min(1.0, 2 * side / (len(found) + 1)))
