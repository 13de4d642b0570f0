"""The head of the reading network: what its thresholds promise, on claims with known scores."""

from __future__ import annotations

import random

import numpy as np
import pytest

from certirag.adapters.verifiers.embedded_verifier import MeasuredPair
from certirag.errors import InputError
from certirag.ports import Pair
from training.build_reading import ACCUSED, RISKS, ReadClaim, calibrated, held_cases
from training.near_misses import FOLDER, read_near_misses, split_cases


def drawn(count: int, seed: int) -> tuple[list[ReadClaim], list[tuple[MeasuredPair, ...]]]:
    """Draw claims whose support and opposition differ by their letter, with much overlap."""
    chance = random.Random(seed)
    claims, measured = [], []
    for number in range(count):
        letter = chance.choice("eenc")
        support = chance.gauss(2.0 if letter == "e" else -1.0, 1.5)
        against = chance.gauss(1.0 if letter == "c" else -2.0, 1.5)
        claims.append(
            ReadClaim(f"claim {number} of {seed}", letter, (Pair("a", "b"),), number % 2 == 0)
        )
        measured.append((MeasuredPair((support, support, support, against, against, against)),))
    return claims, measured


def test_thresholds_keep_the_risk_that_they_are_named_for():
    """On claims that nothing was fitted on, too; a curve by accuracy would let 20 times more by."""
    calibration = calibrated(*drawn(6000, 1))
    claims, measured = drawn(6000, 2)
    scores = calibration.probabilities(np.array([one[0].features for one in measured]))
    untrue = np.array([claim.letter != "e" for claim in claims])
    for threshold, share in RISKS:
        assert (scores[untrue, 0] >= threshold).mean() <= share
        assert (scores[~untrue, 0] >= threshold).mean() > 5 * share
    assert (scores[~untrue, 2] >= 0.5).mean() <= ACCUSED
    assert (scores[np.array([claim.letter == "c" for claim in claims]), 2] >= 0.5).mean() > 0.1


def test_claims_that_could_not_be_read_teach_nothing():
    """Without one that could be read there is no head, and that is said."""
    claims, measured = drawn(50, 3)
    unread = [(MeasuredPair(None),) for _ in measured]
    with pytest.raises(InputError, match="near miss"):
        calibrated(claims, unread)
    calibrated([*claims, *claims], [*measured, *unread])


def test_no_case_that_was_trained_on_is_calibrated_on():
    """The head would believe a network that knows the answers by heart."""
    trained, _, _ = split_cases(read_near_misses(FOLDER))
    held = held_cases(50)
    assert 40 < len(held) < 120
    assert not {case.key for case in held} & {case.key for case in trained}
