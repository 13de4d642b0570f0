"""What an evaluation says of a claim by itself: how much it states, and whether answers to it are the same."""

from __future__ import annotations

import pytest

from certirag.core.verdict import QuestionRecord
from certirag.eval.claim_comparison import (
    COMPARISONS,
    LEVELS,
    claim_complexity,
    exact_match,
    token_f1,
)


@pytest.mark.parametrize(
    ("claim", "level"),
    [
        ("It was closed for good.", 1),
        ("The ferry leaves at nine.", 2),
        ("The ferry leaves at nine if the tide allows it.", 3),
        ("The ferry leaves at nine and the bus leaves at ten.", 4),
        ("The ferry leaves at nine, the bus leaves at ten, and the train leaves at noon.", 5),
        ("", 1),
    ],
)
def test_a_claim_has_one_of_five_levels(claim, level) -> None:
    """More statements, or statements that lean on something, are a higher level."""
    assert claim_complexity(claim) == level
    assert level in LEVELS


@pytest.mark.parametrize(
    ("said", "found", "exact", "f1"),
    [
        ("the 14 days", "14 days", 1.0, 1.0),
        ("14 days", "14 working days", 0.0, 0.8),
        ("fourteen days", "14 days", 0.0, 0.5),
        ("Bergen", "Oslo", 0.0, 0.0),
        ("", "", 1.0, 1.0),
        ("", "Oslo", 0.0, 0.0),
        ("so so", "so", 0.0, 2 / 3),
    ],
)
def test_answers_are_compared_as_squad_does(said, found, exact, f1) -> None:
    """Articles, case and punctuation count for nothing; a word counts as often as it stands there."""
    assert exact_match(said, found) == exact
    assert token_f1(said, found) == pytest.approx(f1)


def test_each_way_of_comparing_decides_by_its_own_measure() -> None:
    """A figure written otherwise is the pipeline's; of several answers the closest one counts."""
    written = QuestionRecord("amount", "___ days", "14 days", "two weeks", "agree")
    several = QuestionRecord("when", "in ___", "2024", "2023; 2024", "differ")
    own, exact, f1 = COMPARISONS.values()
    assert [agree([written]) for agree in (own, exact, f1)] == [True, False, False]
    assert [agree([several]) for agree in (own, exact, f1)] == [False, True, True]
    assert not any(agree([written, several]) for agree in (own, exact, f1))
