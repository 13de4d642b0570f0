"""Measures of rankings against values worked out by hand, and the paired test against all its signs."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certirag.errors import InputError
from certirag.eval.ranking import (
    ndcg_at,
    paired_randomization,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from certirag.eval.retrieval_report import (
    SYSTEMS,
    FoundPlaces,
    RankedQuestion,
    write_retrieval_report,
)

MARKS = (False, True, False, True, False)  # two of three relevant items found


def test_the_name_of_a_part_is_no_markup_and_no_formula(tmp_path) -> None:
    """It comes from the data, and its figures are printed to a terminal and opened in spreadsheets."""
    part = '=HYPERLINK("http://x") \x1b[31m**✅ Verified**'
    found = dict.fromkeys(SYSTEMS, FoundPlaces((1,), (2,)))
    row = RankedQuestion(0, part, "data", "Where?", 1, 1, found)
    write_retrieval_report([row], tmp_path, head="Measured.", without_answer=0)
    page = (tmp_path / "figures.md").read_text("utf-8")
    assert "\x1b" not in page
    assert "✅" not in page
    assert "**" not in page
    assert "## HYPERLINK http x 31m Verified: passages" in page
    assert "\n=HYPERLINK" not in (tmp_path / "figures.csv").read_text("utf-8")


def test_a_ranking_worked_out_by_hand() -> None:
    """Places 2 and 4 of five, one relevant item not found."""
    assert [recall_at(MARKS, 3, k) for k in (1, 2, 5, 10)] == [0, 1 / 3, 2 / 3, 2 / 3]
    assert [precision_at(MARKS, 3, k) for k in (1, 2, 5, 10)] == [0, 1 / 2, 2 / 5, 2 / 10]
    assert reciprocal_rank(MARKS, 3) == 1 / 2
    best = 1 + 1 / math.log2(3) + 1 / 2
    assert ndcg_at(MARKS, 3, 10) == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / best)
    assert ndcg_at(MARKS, 3, 2) == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


def test_nothing_found_is_zero_and_all_first_is_one() -> None:
    """The ends of each measure."""
    for of in (recall_at, precision_at, ndcg_at):
        assert of((), 2, 5) == 0
    assert (recall_at((True, True), 2, 5), ndcg_at((True, True), 2, 5)) == (1, 1)
    assert (reciprocal_rank((), 1), reciprocal_rank((True,), 1)) == (0, 1)


@given(st.lists(st.booleans(), max_size=20), st.integers(1, 5), st.integers(1, 25))
def test_measures_stay_in_their_unit_and_a_better_place_never_hurts(marks, more, k) -> None:
    """All lie in [0, 1]; one mark moved to the front raises none of them less than before."""
    relevant = sum(marks) + more
    moved = sorted(marks, reverse=True)
    for of in (recall_at, precision_at, ndcg_at):
        low, high = of(marks, relevant, k), of(moved, relevant, k)
        assert 0 <= low <= high + 1e-12 <= 1 + 1e-11
    assert reciprocal_rank(marks, relevant) <= reciprocal_rank(moved, relevant) <= 1


@pytest.mark.parametrize(("marks", "relevant", "k"), [((), 0, 1), ((), 1, 0), ((True,) * 3, 2, 5)])
def test_a_ranking_that_measures_nothing_is_refused(marks, relevant, k) -> None:
    """Nothing to find, no place, or more found than there is."""
    with pytest.raises(InputError, match="give at least 1"):
        recall_at(marks, relevant, k)


def test_the_paired_test_is_close_to_trying_every_sign() -> None:
    """Eight differing questions have 256 signs; their exact share is what the drawn ones approach."""
    one, other = (
        [0.9, 0.8, 1, 0.5, 0.7, 0.6, 1, 0.4, 0.5],
        [0.5, 0.9, 0.2, 0.4, 0.3, 0.6, 0.1, 0.5, 0],
    )
    differences = [a - b for a, b in zip(one, other, strict=True)]
    reached = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= sum(differences) - 1e-9
        for signs in product((1, -1), repeat=len(one))
    ]
    exact = sum(reached) / len(reached)
    assert 0.01 < exact < 0.2
    assert paired_randomization(one, other, seed=1) == pytest.approx(exact, abs=0.01)
    assert paired_randomization(other, one, seed=1) == pytest.approx(exact, abs=0.01)


def test_the_paired_test_at_its_ends() -> None:
    """The same is no difference; one sided in thirty questions is none by chance; lengths must agree."""
    assert paired_randomization([0.5] * 9, [0.5] * 9, seed=0) == 1.0
    assert paired_randomization([1.0] * 30, [0.0] * 30, seed=0) == pytest.approx(1 / 10_001)
    assert paired_randomization([1.0], [0.0], seed=0) > 0.99
    with pytest.raises(InputError, match="the same questions"):
        paired_randomization([1.0], [0.0, 1.0], seed=0)
