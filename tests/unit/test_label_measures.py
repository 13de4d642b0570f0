"""Average precision, macro-F1 and the difference of two systems: counted by hand, and as others compute them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from certirag.errors import InputError
from certirag.eval.label_measures import average_precision, macro_f1, paired_bootstrap


def test_average_precision_by_hand() -> None:
    """Entailed at ranks 1 and 3: half the recall at 1/1 and half at 2/3."""
    scores, positive = np.array([0.9, 0.8, 0.7, 0.1]), np.array([True, False, True, False])
    assert average_precision(scores, positive) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    # Equal scores are one step: two right of four.
    assert average_precision(np.full(4, 0.5), positive) == 0.5


def test_average_precision_as_scikit_learn_has_it() -> None:
    """The same on many rows with ties."""
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(3)
    scores, positive = random.integers(0, 20, 500) / 20, random.random(500) < 0.3
    expected = metrics.average_precision_score(positive, scores)
    assert average_precision(scores, positive) == pytest.approx(expected)


def test_average_precision_needs_both_classes_and_scores() -> None:
    """No guess where a class is missing, and a message where a score is none."""
    assert math.isnan(average_precision(np.array([0.2]), np.array([False])))
    assert math.isnan(average_precision(np.array([0.2]), np.array([True])))
    with pytest.raises(InputError, match="from 0 to 1"):
        average_precision(np.array([1.2]), np.array([True]))
    with pytest.raises(InputError, match="shape"):
        average_precision(np.array([0.2, 0.3]), np.array([True]))


def test_macro_f1_by_hand() -> None:
    """a: 1 right, 1 missed, 1 called wrongly, so 2/4; b: 2 right, 1 called wrongly, so 4/5."""
    gold = ["a", "a", "b", "b", "a"]
    called = ["a", "b", "b", "b", "error"]
    # a: 2*1 / (2*1 + 2 missed + 0), b: 2*2 / (2*2 + 0 missed + 1).
    assert macro_f1(called, gold) == pytest.approx((2 / 4 + 4 / 5) / 2)
    assert math.isnan(macro_f1(["a"], ["a"]))
    metrics = pytest.importorskip("sklearn.metrics")
    expected = metrics.f1_score(gold, called, labels=["a", "b"], average="macro")
    assert macro_f1(called, gold) == pytest.approx(expected)


def test_a_difference_on_the_same_rows() -> None:
    """A constant one has no width and is never on the other side of 0; one of nothing has p 1."""
    sure = paired_bootstrap(lambda rows: 0.2, 50, seed=1, samples=99)
    assert (sure.difference, sure.low, sure.high, sure.p) == (0.2, 0.2, 0.2, pytest.approx(0.02))
    none = paired_bootstrap(lambda rows: 0.0, 50, seed=1)
    assert (none.difference, none.p) == (0.0, 1.0)
    one, other = np.arange(200) % 10 < 6, np.arange(200) % 10 < 5  # 60 % and 50 % right
    found = paired_bootstrap(lambda at: float(one[at].mean() - other[at].mean()), 200, seed=2)
    assert found.difference == pytest.approx(0.1)
    # 0.1 +- 1.96 * sqrt(.09 / 200)
    assert (found.low, found.high) == (
        pytest.approx(0.058, abs=0.01),
        pytest.approx(0.142, abs=0.01),
    )
    assert found.p < 0.01
    assert found == paired_bootstrap(
        lambda at: float(one[at].mean() - other[at].mean()), 200, seed=2
    )


def test_a_difference_that_cannot_be_measured_is_none() -> None:
    """No rows, or only samples without a figure: NaN and no p."""
    assert math.isnan(paired_bootstrap(lambda rows: 0.2, 0, seed=1).p)
    assert math.isnan(paired_bootstrap(lambda rows: math.nan, 5, seed=1).low)
