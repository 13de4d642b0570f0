"""How good a ranking is: binary relevance, each measure as its source defines it, and a paired test.

A ranking is given as its *marks*: for each place, best first, whether what stands there is relevant.
*relevant* counts all that is relevant, found or not, and is at least 1: a question without anything to
find measures no ranking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from certirag.errors import InputError

SAMPLES: Final = 10_000


def recall_at(marks: Sequence[bool], relevant: int, k: int) -> float:
    """Return the share in [0, 1] of the *relevant* items that stand in the first *k* places.

    Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", §8.3.
    """
    _check(marks, relevant, k)
    return sum(marks[:k]) / relevant


def precision_at(marks: Sequence[bool], relevant: int, k: int) -> float:
    """Return the share in [0, 1] of the first *k* places that are relevant; an empty place is not.

    Manning, Raghavan and Schütze 2008, §8.4: of *k*, also where less was found.
    """
    _check(marks, relevant, k)
    return sum(marks[:k]) / k


def ndcg_at(marks: Sequence[bool], relevant: int, k: int) -> float:
    """Return the discounted gain of the first *k* places over the best there could be, in [0, 1].

    Järvelin and Kekäläinen 2002, "Cumulated gain-based evaluation of IR techniques", with the
    discount log2(place + 1) of Burges et al. 2005, "Learning to Rank using Gradient Descent".
    """
    _check(marks, relevant, k)
    best = math.fsum(_gain(place) for place in range(1, min(k, relevant) + 1))
    found = math.fsum(_gain(place) for place, mark in enumerate(marks[:k], 1) if mark)
    return found / best


def reciprocal_rank(marks: Sequence[bool], relevant: int) -> float:
    """Return 1 over the first relevant place, 0 where nothing relevant was found; its mean is the MRR.

    Voorhees 1999, "The TREC-8 Question Answering Track Report".
    """
    _check(marks, relevant, 1)
    return next((1 / place for place, mark in enumerate(marks, 1) if mark), 0.0)


def paired_randomization(
    one: Sequence[float], other: Sequence[float], *, seed: int, samples: int = SAMPLES
) -> float:
    """Return the two-sided p that the means of two paired measures differ by chance, in (0, 1].

    Fisher's randomization test with *samples* drawn signs (Smucker, Allan and Carterette 2007, "A
    Comparison of Statistical Significance Tests for Information Retrieval Evaluation"); the pairs as
    they are count as one of the samples. 1.0 where they differ nowhere. InputError for unequal lengths.
    """
    if len(one) != len(other):
        raise InputError(f"{len(one)} measures beside {len(other)}: compare the same questions")
    differences = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    differences = differences[differences != 0.0]
    if not len(differences):
        return 1.0
    random = np.random.default_rng(seed)
    reached, least = 0, abs(float(differences.sum())) - _ROUNDING
    for start in range(0, samples, _AT_ONCE):
        drawn = random.integers(0, 2, (min(_AT_ONCE, samples - start), len(differences)))
        reached += int((np.abs((2 * drawn - 1) @ differences) >= least).sum())
    return (reached + 1) / (samples + 1)


_AT_ONCE: Final = 1_000
_ROUNDING: Final = 1e-9  # sums of the same numbers in another order


def _gain(place: int) -> float:
    return 1 / math.log2(place + 1)


def _check(marks: Sequence[bool], relevant: int, k: int) -> None:
    if relevant < 1 or k < 1 or sum(marks) > relevant:
        message = f"{sum(marks)} of {relevant} relevant items found, to the place {k}"
        raise InputError(f"{message}: give at least 1 of each, and no more found than there are")
