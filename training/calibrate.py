"""Fits the head over a pair's features and calibrates it on rows that it never saw.

Everything is a small convex or one-dimensional search in numpy: the same rows give the same
numbers. `certirag/verification/calibration.py` reads and applies what is fitted here.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from certirag.errors import InputError
from certirag.verification.calibration import CLASSES, Head, softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from training.rows import Row

    Floats = NDArray[np.float64]
    Labels = NDArray[np.int64]
    Objective = Callable[[Floats], tuple[float, Floats]]

ENTAILED: Final = 0
NOT_ENTAILED: Final = 3  # two-way rows: silent or opposed, nobody said which
_MEMORY: Final = 12
_LOG_TEMPERATURES: Final = (-3.0, 3.0)
_GOLDEN: Final = (5**0.5 - 1) / 2


def fit_head(
    features: Floats,
    labels: Labels,
    *,
    signs: Labels | None = None,
    weights: Floats | None = None,
    l2: float = 1e-3,
    steps: int = 2_000,
) -> Head:
    """Return the multinomial logistic regression of (n,) *labels* on (n, d) *features*.

    *labels* are the places in `CLASSES`, or `NOT_ENTAILED` for a two-way row, which counts on
    the support side only: its loss is -log(1 - p(entailed)). *weights* (n,) are brought to a mean
    of one; *l2* weighs half the squared coefficients of the standardised features against the
    mean loss. *signs* (3, d), where given, says which way each coefficient may point: 1 up, -1
    down, 0 not at all. Raises InputError for malformed rows or a class without any.
    """
    features, labels, weights = _checked(features, labels, weights)
    missing = [name for place, name in enumerate(CLASSES) if not (labels == place).any()]
    if missing:
        raise InputError(f"no row is labelled {', '.join(missing)}: give rows of every class")
    share = weights / weights.sum()
    means = (features * share[:, None]).sum(axis=0)
    spread = np.sqrt((((features - means) ** 2) * share[:, None]).sum(axis=0))
    # A feature that never varies must not be blown up when it does vary at inference.
    scales = np.where(spread > 1e-9, spread, 1.0)
    standard = np.column_stack([(features - means) / scales, np.ones(len(features))])
    shape = (len(CLASSES), standard.shape[1])

    def objective(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(shape)
        losses, slopes = _losses(standard @ table.T, labels)
        plain = table.copy()
        plain[:, -1] = 0.0  # intercepts are free
        loss = float(share @ losses) + 0.5 * l2 * float((plain**2).sum())
        return loss, ((slopes * share[:, None]).T @ standard + l2 * plain).ravel()

    start = np.zeros(shape[0] * shape[1])
    if signs is None:
        flat = _minimum(objective, start, steps)
    else:
        low = np.column_stack([np.where(signs < 0, -np.inf, 0.0), np.full(3, -np.inf)]).ravel()
        high = np.column_stack([np.where(signs > 0, np.inf, 0.0), np.full(3, np.inf)]).ravel()
        flat = _minimum_within(objective, start, steps, low, high)
    table = flat.reshape(shape)
    intercepts = table[:, -1] - table[:, -1].mean()
    return Head(
        means=tuple(means.tolist()),
        scales=tuple(scales.tolist()),
        coefficients=tuple(tuple(row) for row in table[:, :-1].tolist()),
        intercepts=tuple(intercepts.tolist()),
    )


def fit_temperature(logits: Floats, labels: Labels, *, weights: Floats | None = None) -> float:
    """Return the temperature that makes (n, 3) *logits* likeliest (Guo et al. 2017, §4.2).

    Two-way rows count as in `fit_head`. The rows must be none that the head was fitted on.
    """
    logits, labels, weights = _checked(logits, labels, weights)

    def loss(log_temperature: float) -> float:
        losses, _ = _losses(logits / np.exp(log_temperature), labels)
        return float(weights @ losses)

    low, high = _LOG_TEMPERATURES
    while high - low > 1e-7:  # golden section: the loss has one valley
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if loss(left) <= loss(right):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))


def fit_isotonic(
    scores: Floats,
    positive: NDArray[np.bool_],
    *,
    weights: Floats | None = None,
    least: int = 50,
) -> tuple[tuple[float, float], ...]:
    """Return the (score, share) knots of the rising curve nearest to (n,) *positive*.

    Pool adjacent violators (Zadrozny and Elkan 2002) over groups of at least *least* rows of
    neighbouring scores; each group counts half a row more of either kind, so that no share is 0
    or 1. Knots lie at a pool's mean score, between (0, 0) and (1, 1): equal shares become equal
    slopes there, and the order of scores is kept.
    """
    found, marks, own = _checked_scores(scores, positive, weights)
    order = np.argsort(found, kind="stable")
    ordered = found[order]
    pools: list[tuple[float, float, float]] = []  # weight, sum of scores, weight of positives
    start = 0
    for end in range(1, len(ordered) + 1):
        full = end - start >= least and len(ordered) - end >= least
        if end < len(ordered) and (not full or ordered[end] == ordered[end - 1]):
            continue
        rows = order[start:end]
        mass = float(own[rows].sum())
        middle = float((own[rows] * found[rows]).sum()) / mass
        pools.append((mass + 1.0, middle * (mass + 1.0), float(own[rows] @ marks[rows]) + 0.5))
        start = end
        while len(pools) > 1 and _share(pools[-2]) >= _share(pools[-1]):
            last, before = pools.pop(), pools.pop()
            pools.append((last[0] + before[0], last[1] + before[1], last[2] + before[2]))
    knots = [(score / mass, hits / mass) for mass, score, hits in pools]
    inner = [knot for knot in knots if 1e-9 < knot[0] < 1.0 - 1e-9]
    return ((0.0, 0.0), *inner, (1.0, 1.0))


def rows_sha256(rows: Iterable[Row]) -> str:
    """Return the SHA-256 over *rows* in their order, each as one line of JSON."""
    digest = hashlib.sha256()
    for row in rows:
        line = json.dumps([row.source, row.premise, row.hypothesis, row.label])
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _share(pool: tuple[float, float, float]) -> float:
    return pool[2] / pool[0]


def _losses(logits: Floats, labels: Labels) -> tuple[Floats, Floats]:
    """Return per row the loss and its (n, 3) slope; two-way rows by -log(1 - p(entailed))."""
    top = logits.max(axis=1, keepdims=True)
    total = np.log(np.exp(logits - top).sum(axis=1)) + top[:, 0]
    shares = softmax(logits)
    rows = np.arange(len(labels))
    two_way = labels == NOT_ENTAILED
    target = np.where(two_way, ENTAILED, labels)
    rest = logits[:, 1:]
    peak = rest.max(axis=1, keepdims=True)
    weighed = np.exp(rest - peak)
    others = np.log(weighed.sum(axis=1)) + peak[:, 0]
    losses = np.where(two_way, total - others, total - logits[rows, target])
    wanted = np.zeros_like(logits)
    wanted[rows, target] = 1.0
    wanted[two_way, 0] = 0.0
    wanted[two_way, 1:] = (weighed / weighed.sum(axis=1, keepdims=True))[two_way]
    return losses, shares - wanted


def _minimum(objective: Objective, start: Floats, steps: int) -> Floats:
    """Return where *objective* is least: L-BFGS with backtracking (Nocedal and Wright, §7.2)."""
    point = start
    value, slope = objective(point)
    past: deque[tuple[Floats, Floats]] = deque(maxlen=_MEMORY)
    for _ in range(steps):
        if float(np.abs(slope).max()) < 1e-8:
            break
        heading = -_scaled(slope, past)
        descent = float(slope @ heading)
        if descent >= 0.0:
            past.clear()
            heading, descent = -slope, -float(slope @ slope)
        length = 1.0
        while True:
            ahead = point + length * heading
            new_value, new_slope = objective(ahead)
            if new_value <= value + 1e-4 * length * descent:
                break
            length /= 2
            if length < 1e-12:
                return point
        moved, turned = ahead - point, new_slope - slope
        if float(moved @ turned) > 1e-14:
            past.append((moved, turned))
        point, value, slope = ahead, new_value, new_slope
    return point


def _minimum_within(
    objective: Objective, start: Floats, steps: int, low: Floats, high: Floats
) -> Floats:
    """Return where *objective* is least within bounds: FISTA with restarts.

    Beck and Teboulle 2009; restarts by O'Donoghue and Candès 2015, §3.2.
    """
    point = ahead = start
    momentum, pace = 1.0, 1.0
    for _ in range(steps):
        value, slope = objective(ahead)
        while True:
            new = np.clip(ahead - pace * slope, low, high)
            moved = new - ahead
            bound = value + float(slope @ moved) + float(moved @ moved) / (2 * pace)
            if objective(new)[0] <= bound + 1e-12 or pace < 1e-9:
                break
            pace /= 2
        if float(np.abs(new - point).max()) < 1e-9 and momentum > 1.0:
            return new
        turning = float((ahead - new) @ (new - point)) > 0.0
        next_momentum = 1.0 if turning else (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = new if turning else new + (momentum - 1) / next_momentum * (new - point)
        point, momentum = new, next_momentum
        pace *= 1.1
    return point


def _scaled(slope: Floats, past: deque[tuple[Floats, Floats]]) -> Floats:
    """Return the inverse curvature, as *past* steps show it, times *slope*."""
    found = slope.copy()
    kept = []
    for moved, turned in reversed(past):
        share = float(moved @ found) / float(moved @ turned)
        found -= share * turned
        kept.append(share)
    if past:
        moved, turned = past[-1]
        found *= float(moved @ turned) / float(turned @ turned)
    for (moved, turned), share in zip(past, reversed(kept), strict=True):
        found += (share - float(turned @ found) / float(moved @ turned)) * moved
    return found


def _checked(
    table: Floats, labels: Labels, weights: Floats | None
) -> tuple[Floats, Labels, Floats]:
    found, marks = np.asarray(table, dtype=np.float64), np.asarray(labels)
    if found.ndim != 2 or marks.shape != (len(found),) or not len(found):
        message = f"labels of shape {marks.shape} for features of shape {found.shape}"
        raise InputError(message)
    if not np.isfinite(found).all():
        raise InputError("a feature is not a finite number: leave out rows that failed")
    if not np.isin(marks, range(NOT_ENTAILED + 1)).all():
        raise InputError(f"a label is none of 0 to {NOT_ENTAILED}")
    return found, marks.astype(np.int64), _weights(weights, len(found))


def _checked_scores(
    scores: Floats, positive: NDArray[np.bool_], weights: Floats | None
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    found, marks = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    if found.ndim != 1 or found.shape != marks.shape or not len(found):
        message = f"scores of shape {found.shape} for truths of shape {marks.shape}"
        raise InputError(message)
    if not ((found >= 0.0) & (found <= 1.0)).all():
        raise InputError("a score is not a number from 0 to 1; leave out rows that failed")
    return found, marks, _weights(weights, len(found))


def _weights(weights: Floats | None, count: int) -> Floats:
    found = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if found.shape != (count,) or not np.isfinite(found).all() or (found <= 0.0).any():
        raise InputError("the weights are not one positive number for each row")
    scaled: Floats = found / found.mean()
    return scaled
