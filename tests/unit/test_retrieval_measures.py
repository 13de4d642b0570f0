"""Precision, recall, nDCG and reciprocal rank at a cut: counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from certirag.errors import InputError
from certirag.eval.retrieval_measures import (
    mean_of,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)

RANKING = ("d", "a", "x", "b", "y")
RELEVANT = {"a", "b", "c"}


def test_precision_and_recall_by_hand() -> None:
    """Found are a at rank 2 and b at rank 4, not c; places beyond the ranking hold nothing."""
    assert [precision_at(RANKING, RELEVANT, k) for k in (1, 2, 4, 10)] == [0.0, 0.5, 0.5, 0.2]
    assert [recall_at(RANKING, RELEVANT, k) for k in (1, 2, 4)] == [0.0, 1 / 3, 2 / 3]
    assert math.isnan(recall_at(RANKING, set(), 3))
    assert recall_at((), RELEVANT, 3) == precision_at((), RELEVANT, 3) == 0.0


def test_ndcg_by_hand() -> None:
    """Gains 2 at rank 2 and 1 at rank 4, of the best 3, 2, 1 at ranks 1 to 3."""
    gains = {"a": 2.0, "b": 1.0, "c": 3.0, "d": 0.0}
    best = 3 + 2 / math.log2(3) + 1 / 2
    assert ndcg_at(RANKING, gains, 5) == pytest.approx((2 / math.log2(3) + 1 / math.log2(5)) / best)
    assert ndcg_at(RANKING, gains, 1) == 0.0
    assert ndcg_at(("c", "a", "b"), gains, 3) == pytest.approx(1.0)
    assert math.isnan(ndcg_at(RANKING, {"a": 0.0}, 3))
    with pytest.raises(InputError, match="gain"):
        ndcg_at(RANKING, {"a": -1.0}, 3)


def test_ndcg_as_scikit_learn_has_it() -> None:
    """The same with linear gains, every document ranked."""
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(5)
    gains, scores = random.integers(0, 4, 30), random.permutation(30)
    ranking = [str(at) for at in np.argsort(-scores)]
    for k in (1, 5, 30):
        expected = metrics.ndcg_score([gains], [scores], k=k)
        found = ndcg_at(ranking, {str(at): float(gain) for at, gain in enumerate(gains)}, k)
        assert found == pytest.approx(expected)


def test_reciprocal_rank_by_hand() -> None:
    """The first relevant one stands at rank 2; its mean leaves out questions without a figure."""
    assert reciprocal_rank(RANKING, RELEVANT, 5) == 0.5
    assert reciprocal_rank(RANKING, RELEVANT, 1) == 0.0
    assert mean_of([1.0, 0.5, math.nan]) == 0.75
    assert math.isnan(mean_of([math.nan]))


@pytest.mark.parametrize("measure", [precision_at, recall_at, reciprocal_rank])
def test_a_ranking_that_would_count_twice_is_refused(measure) -> None:
    """The same id twice, or a cut before the first rank."""
    with pytest.raises(InputError, match="twice"):
        measure(("a", "a"), RELEVANT, 2)
    with pytest.raises(InputError, match="rank 0"):
        measure(RANKING, RELEVANT, 0)
