"""How good scores are: ranking, calibration and thresholds, each as its paper defines it.

*scores* are entailed probabilities in [0, 1], shape (n,); *positive* says of each row whether it
is entailed. Where a figure needs a class that the rows lack, it is NaN, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from certirag.errors import InputError
from certirag.verification.clopper_pearson import exact_interval, surely_reaches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Marks = NDArray[np.bool_]

BINS: Final = 15


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows whose score lies in [*low*, *high*): their mean score and the share that is entailed."""

    low: float
    high: float
    rows: int
    mean_score: float
    share_entailed: float


def reliability(scores: Scores, positive: Marks, *, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Return the filled ones of *bins* equal-width bins; the last one holds 1.0 too.

    The reliability diagram of Guo et al. 2017, "On Calibration of Modern Neural Networks".
    """
    scores, positive = _checked(scores, positive)
    places = np.minimum((scores * bins).astype(np.int64), bins - 1)
    return tuple(
        ReliabilityBin(
            low=place / bins,
            high=(place + 1) / bins,
            rows=int((places == place).sum()),
            mean_score=float(scores[places == place].mean()),
            share_entailed=float(positive[places == place].mean()),
        )
        for place in range(bins)
        if (places == place).any()
    )


def expected_calibration_error(scores: Scores, positive: Marks, *, bins: int = BINS) -> float:
    """Return the mean gap of score and share over equal-width bins, weighted by rows.

    ECE of Naeini et al. 2015, "Obtaining Well Calibrated Probabilities Using Bayesian Binning",
    for the entailed probability. NaN for no rows.
    """
    found = reliability(scores, positive, bins=bins)
    rows = sum(own.rows for own in found)
    if not rows:
        return math.nan
    return sum(own.rows * abs(own.mean_score - own.share_entailed) for own in found) / rows


def brier_score(scores: Scores, positive: Marks) -> float:
    """Return the mean squared distance of score and truth (Brier 1950). NaN for no rows."""
    scores, positive = _checked(scores, positive)
    return float(((scores - positive) ** 2).mean()) if len(scores) else math.nan


def auroc(scores: Scores, positive: Marks) -> float:
    """Return the chance that an entailed row outscores another; a tie counts one half.

    By rank sums (Hanley and McNeil 1982). NaN when a class is missing.
    """
    scores, positive = _checked(scores, positive)
    comparisons, wins = _wins(scores, positive)
    return wins / comparisons if comparisons else math.nan


def auroc_within(scores: Scores, positive: Marks, strata: NDArray[np.int64]) -> tuple[float, int]:
    """Return the AUROC over pairs of rows of one stratum only, and how many pairs those are.

    With strata of equal length no score can win by preferring short texts. (NaN, 0) when no
    stratum has both classes.
    """
    scores, positive = _checked(scores, positive)
    found = [_wins(scores[strata == s], positive[strata == s]) for s in np.unique(strata)]
    comparisons = sum(pairs for pairs, _ in found)
    return (sum(wins for _, wins in found) / comparisons if comparisons else math.nan), comparisons


def length_strata(
    premise_words: NDArray[np.int64], hypothesis_words: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return one number for each row; rows share it when both lengths are within about 40 %."""
    steps = [
        np.round(2 * np.log2(np.maximum(words, 1))).astype(np.int64)
        for words in (premise_words, hypothesis_words)
    ]
    found: NDArray[np.int64] = steps[0] * 1_000 + steps[1]
    return found


def balanced_accuracy(called: Marks, positive: Marks) -> float:
    """Return the mean of the shares called right among both classes. NaN when one is missing."""
    called, positive = np.asarray(called, dtype=bool), np.asarray(positive, dtype=bool)
    if not positive.any() or positive.all():
        return math.nan
    return float((called[positive].mean() + (~called[~positive]).mean()) / 2)


@dataclass(frozen=True, slots=True)
class Threshold:
    """What calling rows of score >= *tau* entailed comes to.

    *precision* is the share of the *called* rows that are *right*, *low* and *high* its exact
    interval, *coverage* the share of all entailed rows that are reached. Without a called row the
    precision is NaN and the interval is all of [0, 1].
    """

    tau: float
    called: int
    right: int
    precision: float
    low: float
    high: float
    coverage: float


def at_threshold(
    scores: Scores, positive: Marks, tau: float, *, confidence: float = 0.95
) -> Threshold:
    """Return precision and coverage of *tau*, the precision with its exact interval."""
    scores, positive = _checked(scores, positive)
    over = scores >= tau
    called, right, entailed = int(over.sum()), int((over & positive).sum()), int(positive.sum())
    low, high = exact_interval(right, called, confidence=confidence) if called else (0.0, 1.0)
    return Threshold(
        tau=tau,
        called=called,
        right=right,
        precision=right / called if called else math.nan,
        low=low,
        high=high,
        coverage=right / entailed if entailed else math.nan,
    )


def threshold_for_precision(
    scores: Scores, positive: Marks, precision: float, *, confidence: float = 0.95
) -> Threshold:
    """Return the lowest threshold whose precision is at least *precision* with *confidence*.

    The lower end of the exact two-sided interval must reach *precision*. The search comes down
    from the highest score and ends where the share itself first falls below *precision* after
    that, so that a lucky stretch further down does not choose. Raises InputError when no
    threshold reaches it.
    """
    scores, positive = _checked(scores, positive)
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    right = np.cumsum(positive[order])
    chosen = math.nan
    for at in range(len(ordered)):
        if at + 1 < len(ordered) and ordered[at + 1] == ordered[at]:
            continue  # a threshold takes equal scores together
        if surely_reaches(int(right[at]), at + 1, precision, confidence=confidence):
            chosen = float(ordered[at])
        elif not math.isnan(chosen) and right[at] < precision * (at + 1):
            break
    if math.isnan(chosen):
        message = (
            f"no threshold reaches a precision of {precision} with confidence {confidence} on "
            f"{len(scores)} rows: lower the precision or give more rows"
        )
        raise InputError(message)
    return at_threshold(scores, positive, chosen, confidence=confidence)


def bootstrap_interval(
    measure: Callable[[NDArray[np.int64]], float], rows: int, *, seed: int, samples: int = 1_000
) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of *measure* over rows drawn with replacement.

    *measure* takes the numbers of *rows* rows. The percentile bootstrap of Efron 1979; NaN for a sample that lacks a
    class is left out, and (NaN, NaN) returned where all are.
    """
    random = np.random.default_rng(seed)
    found = np.array([measure(random.integers(0, rows, rows)) for _ in range(samples)])
    found = found[~np.isnan(found)]
    if not len(found):
        return math.nan, math.nan
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the exact two-sided p that two paired systems, each alone right so often, are equally good.

    McNemar 1947, by the binomial distribution. 1.0 where they differ nowhere.
    """
    differing = only_one + only_other
    tail = sum(math.comb(differing, k) for k in range(min(only_one, only_other) + 1))
    return float(min(1.0, 2 * tail / (1 << differing)))


def holm(p: Sequence[float]) -> list[float]:
    """Return each of *p* adjusted for their number, in order (Holm 1979)."""
    adjusted, floor = [0.0] * len(p), 0.0
    for rank, at in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
        floor = max(floor, min(1.0, (len(p) - rank) * p[at]))
        adjusted[at] = floor
    return adjusted


def cohen_kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how far two raters agree on the same items beyond chance, from -1 to 1.

    Cohen 1960, "A Coefficient of Agreement for Nominal Scales": chance is what each rater's own
    shares of the labels give. NaN for no items, and where both say one label alone.
    """
    if len(one) != len(other):
        raise InputError(f"{len(one)} labels beside {len(other)}: give both raters' of each item")
    items = len(one)
    if not items:
        return math.nan
    agreed = sum(mine == theirs for mine, theirs in zip(one, other, strict=True)) / items
    labels = {*one, *other}
    chance = sum(one.count(label) * other.count(label) for label in labels) / items**2
    return math.nan if chance == 1 else (agreed - chance) / (1 - chance)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Return how far several raters agree beyond chance, from -1 to 1.

    *counts* says of each item how many raters gave each label, shape (items, labels); each item
    has the same number of raters, two at least. Fleiss 1971, "Measuring Nominal Scale Agreement among
    Many Raters". NaN for no items, and where all say one label alone.
    """
    if not counts:
        return math.nan
    raters = sum(counts[0])
    if raters < 2 or any(sum(item) != raters for item in counts):
        raise InputError(
            "Fleiss' kappa wants the same number of raters for each item, two at least"
        )
    pairs = raters * (raters - 1)
    agreed = sum(sum(n * (n - 1) for n in item) / pairs for item in counts) / len(counts)
    said = [sum(column) / (len(counts) * raters) for column in zip(*counts, strict=True)]
    chance = sum(share**2 for share in said)
    return math.nan if math.isclose(chance, 1) else (agreed - chance) / (1 - chance)


def _wins(scores: Scores, positive: Marks) -> tuple[int, float]:
    count = int(positive.sum())
    comparisons = count * (len(positive) - count)
    if not comparisons:
        return 0, 0.0
    _, place, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[place]  # equal scores share their mean rank
    return comparisons, float(ranks[positive].sum() - count * (count + 1) / 2)


def _checked(scores: Scores, positive: Marks) -> tuple[Scores, Marks]:
    found, marks = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    if found.ndim != 1 or found.shape != marks.shape:
        message = f"scores of shape {found.shape} for truths of shape {marks.shape}"
        raise InputError(message)
    if not ((found >= 0.0) & (found <= 1.0)).all():
        raise InputError("a score is not a number from 0 to 1; leave out rows labelled error")
    return found, marks
