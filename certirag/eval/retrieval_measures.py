"""How good a ranking of documents or passages is: precision, recall, nDCG and reciprocal rank at a cut.

A *ranking* is the ids in the order in which they were found, best first. The measures are those of
TREC, as trec_eval and ir_measures compute them, so that figures can be set beside published ones. A
figure of several questions is the mean over questions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from certirag.errors import InputError


def precision_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of the first *k* places that hold a relevant id; an empty place holds none.

    P@k of trec_eval (Buckley; Voorhees and Harman 2005, "TREC", ch. 3). In [0, 1].
    """
    return sum(own in relevant for own in _first(ranking, k)) / k


def recall_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of *relevant* ids that stand in the first *k* places; NaN where none is relevant.

    R@k of trec_eval (Voorhees and Harman 2005, "TREC", ch. 3). In [0, 1].
    """
    found = sum(own in relevant for own in _first(ranking, k))
    return found / len(set(relevant)) if relevant else math.nan


def ndcg_at(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Return the discounted gain of the first *k* places as a share of the best possible one.

    *gains* has a number from 0 for each judged id; others gain nothing. Järvelin and Kekäläinen 2002,
    "Cumulated Gain-based Evaluation of IR Techniques", with the gain itself and log2(rank + 1), as in
    trec_eval (others take 2^gain - 1). NaN where nothing gains. Raises InputError for a gain below 0.
    """
    if not all(gain >= 0 and math.isfinite(gain) for gain in gains.values()):
        raise InputError("a gain is no number from 0: give each judged id how relevant it is")
    best = _discounted(sorted(gains.values(), reverse=True)[:k])
    found = _discounted([gains.get(own, 0.0) for own in _first(ranking, k)])
    return found / best if best else math.nan


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1 / rank of the first relevant id among the first *k*, 0 where there is none.

    Its mean over questions is MRR@k (Voorhees 1999, "The TREC-8 Question Answering Track Report").
    """
    for rank, own in enumerate(_first(ranking, k), 1):
        if own in relevant:
            return 1 / rank
    return 0.0


def mean_of(values: Sequence[float]) -> float:
    """Return the mean over the questions that have a figure; NaN where none has."""
    found = [value for value in values if not math.isnan(value)]
    return sum(found) / len(found) if found else math.nan


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _first(ranking: Sequence[str], k: int) -> Sequence[str]:
    if k < 1:
        raise InputError(f"a cut at rank {k}: give 1 or more")
    if len(set(ranking)) < len(ranking):
        raise InputError("a ranking names an id twice, which would count twice: leave one out")
    return ranking[:k]
