"""Calibration: what is fitted is likeliest, what is read is sound, what is measured is exact."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from certirag.errors import InputError, ModelError
from certirag.eval.measures import (
    auroc,
    auroc_within,
    balanced_accuracy,
    brier_score,
    expected_calibration_error,
    length_strata,
    reliability,
    threshold_for_precision,
)
from certirag.verification.calibration import (
    Calibration,
    FittedOn,
    Head,
    calibration_bytes,
    read_calibration,
    softmax,
)
from certirag.verification.clopper_pearson import exact_interval, surely_reaches
from training.calibrate import (
    NOT_ENTAILED,
    fit_head,
    fit_isotonic,
    fit_temperature,
    rows_sha256,
)
from training.rows import Row

FEATURES = ("support", "cover", "denial")
HEAD = Head(
    means=(0.5, -1.0, 0.25),
    scales=(2.0, 1.0, 0.5),
    coefficients=((1.5, 0.5, -1.0), (-0.5, -0.25, 0.0), (-1.0, -0.25, 1.0)),
    intercepts=(0.1, 0.2, -0.3),
)
CALIBRATION = Calibration(
    version=1,
    features=FEATURES,
    head=HEAD,
    temperature=1.3,
    isotonic=((0.0, 0.0), (0.3, 0.1), (0.9, 0.8), (1.0, 1.0)),
    tau_entail=0.9,
    tau_contradict=0.8,
    fitted_on=FittedOn("made rows", 7, "ab" * 32),
)


def _drawn(rows: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, logits and labels drawn from a known head."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((rows, 3)) * HEAD.scales + HEAD.means
    logits = HEAD.logits(features)
    labels = (softmax(logits).cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)
    return features, logits, labels


def test_probabilities_are_millionths_that_sum_to_one() -> None:
    """Each row sums to a million millionths, whatever its batch and however extreme it is."""
    features, _, _ = _drawn(500)
    features[:3] = [[1e4, 1e4, -1e4], [-1e4, 0.0, 1e4], [0.0, 0.0, 0.0]]
    found = CALIBRATION.probabilities(features)
    millionths = np.rint(found * 1e6).astype(np.int64)
    assert (millionths.sum(axis=1) == 1_000_000).all()
    assert (millionths >= 0).all()
    assert (found == millionths / 1_000_000).all()
    alone = np.vstack([CALIBRATION.probabilities(row[None]) for row in features])
    assert (alone == found).all()
    assert found[0].tolist() == [1.0, 0.0, 0.0]


def test_probabilities_are_those_of_the_formula() -> None:
    """Standardise, weigh, divide by the temperature, lead through the curve."""
    plain = replace(CALIBRATION, isotonic=())
    row = [1.0, 0.0, 0.5]
    standard = [(x - m) / s for x, m, s in zip(row, HEAD.means, HEAD.scales, strict=True)]
    logits = [
        sum(w * x for w, x in zip(weights, standard, strict=True)) + bias
        for weights, bias in zip(HEAD.coefficients, HEAD.intercepts, strict=True)
    ]
    raised = [math.exp(value / 1.3) for value in logits]
    expected = [value / sum(raised) for value in raised]
    assert plain.probabilities(np.array([row]))[0] == pytest.approx(expected, abs=1e-6)
    curved = CALIBRATION.probabilities(np.array([row]))[0]
    entailed = np.interp(expected[0], [0.0, 0.3, 0.9, 1.0], [0.0, 0.1, 0.8, 1.0])
    assert curved[0] == pytest.approx(entailed, abs=1e-6)
    assert curved[1] / curved[2] == pytest.approx(expected[1] / expected[2], rel=1e-3)


@pytest.mark.parametrize(
    "features",
    [
        [[0.0, math.nan, 0.0]],
        [[0.0, math.inf, 0.0]],
        [[1e308, -1e308, 1e308]],
        [[0.0, 0.0]],
        [[0.0, 0.0, 0.0, 0.0]],
        [0.0, 0.0, 0.0],
    ],
    ids=["nan", "inf", "too large", "too few", "too many", "no row"],
)
def test_unsound_features_have_no_probability(features: list) -> None:
    """One number that is none, or one feature too few, is an error and never a score."""
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ModelError):
        CALIBRATION.probabilities(np.array(features))


def test_a_calibration_is_read_as_it_was_written() -> None:
    """Number for number, and written the same way again."""
    data = calibration_bytes(CALIBRATION)
    found = read_calibration(data, features=FEATURES, place="here")
    assert found == CALIBRATION
    assert calibration_bytes(found) == data


def _edited(**changes: object) -> bytes:
    return json.dumps({**json.loads(calibration_bytes(CALIBRATION)), **changes}).encode()


def _head(**changes: object) -> bytes:
    return _edited(head={**asdict(HEAD), **changes})


MALFORMED = {
    "not JSON": b"{",
    "not an object": b"[]",
    "empty": b"",
    "another version": _edited(version=2),
    "version true": _edited(version=True),
    "unknown field": _edited(more=1),
    "missing field": b'{"version": 1}',
    "doubled field": calibration_bytes(CALIBRATION).replace(b"{", b'{"version": 1,', 1),
    "NaN": calibration_bytes(CALIBRATION).replace(b"1.3", b"NaN"),
    "infinite by size": calibration_bytes(CALIBRATION).replace(b"1.3", b"1e999"),
    "number as text": _edited(temperature="1.3"),
    "temperature 0": _edited(temperature=0.0),
    "tau over one": _edited(tau_entail=1.1),
    "tau zero": _edited(tau_contradict=0.0),
    "falling knots": _edited(isotonic=[[0.0, 0.5], [1.0, 0.4]]),
    "knots at one place": _edited(isotonic=[[0.5, 0.1], [0.5, 0.9]]),
    "knots over one": _edited(isotonic=[[0.0, 0.0], [1.0, 2.0]]),
    "scale 0": _head(scales=[1.0, 0.0, 1.0]),
    "scale below 0": _head(scales=[1.0, -1.0, 1.0]),
    "two classes": _head(coefficients=[[0.0] * 3] * 2, intercepts=[0.0, 0.0]),
    "short row": _head(coefficients=[[0.0] * 3, [0.0] * 3, [0.0] * 2]),
    "other features": _edited(features=["cover", "support", "denial"]),
    "doubled feature": _edited(features=["support", "support", "denial"]),
    "digest": _edited(fitted_on={"description": "x", "rows": 1, "sha256": "zz" * 32}),
    "no rows": _edited(fitted_on={"description": "x", "rows": 0, "sha256": "ab" * 32}),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_calibration_is_refused(name: str) -> None:
    """Every malformed file is one line that names the place."""
    with pytest.raises(ModelError, match=r"here is not a calibration: .*; restore it") as caught:
        read_calibration(MALFORMED[name], features=FEATURES, place="here")
    assert "\n" not in str(caught.value)


def test_the_head_finds_what_the_labels_were_drawn_from() -> None:
    """On many rows its probabilities are those of the truth, with a third of them two-way."""
    features, logits, labels = _drawn(20_000)
    hidden = (labels != 0) & (np.arange(len(labels)) % 3 == 0)
    fitted = fit_head(features, np.where(hidden, NOT_ENTAILED, labels), l2=1e-6)
    assert np.abs(softmax(fitted.logits(features)) - softmax(logits)).max() < 0.05


def test_the_head_is_a_minimum() -> None:
    """No coefficient can be moved to a lower loss, and fitting twice gives the same numbers."""
    features, _, labels = _drawn(400)
    labels[::5] = np.where(labels[::5] == 0, 0, NOT_ENTAILED)
    weights = np.linspace(0.5, 1.5, len(labels))
    head = fit_head(features, labels, weights=weights, l2=0.01)
    assert head == fit_head(features, labels, weights=weights, l2=0.01)

    def loss(tried: Head) -> float:
        shares = softmax(tried.logits(features))
        rows = np.arange(len(labels))
        own = np.where(
            labels == NOT_ENTAILED, 1 - shares[:, 0], shares[rows, np.minimum(labels, 2)]
        )
        squares = sum(w * w for row in tried.coefficients for w in row)
        return float((weights / weights.sum()) @ -np.log(own)) + 0.005 * squares

    least = loss(head)
    for place in range(3):
        for feature in range(3):
            for step in (-0.01, 0.01):
                table = [list(row) for row in head.coefficients]
                table[place][feature] += step
                moved = replace(head, coefficients=tuple(map(tuple, table)))
                assert loss(moved) > least


def test_a_constant_feature_weighs_nothing() -> None:
    """It neither divides by zero nor speaks when it varies later."""
    features, _, labels = _drawn(300)
    features[:, 1] = 4.0
    head = fit_head(features, labels)
    assert all(abs(row[1]) < 1e-6 for row in head.coefficients)


@pytest.mark.parametrize(
    ("features", "labels", "weights"),
    [
        ([[0.0], [1.0]], [0, 1], None),
        ([[0.0], [math.nan], [1.0]], [0, 1, 2], None),
        ([[0.0], [1.0], [2.0]], [0, 1, 4], None),
        ([[0.0], [1.0], [2.0]], [0, 1], None),
        ([[0.0], [1.0], [2.0]], [0, 1, 2], [1.0, 0.0, 1.0]),
        ([[0.0], [1.0], [2.0]], [0, 1, 2], [1.0, math.nan, 1.0]),
        (np.empty((0, 1)), [], None),
    ],
    ids=["class missing", "nan", "label", "lengths", "weight 0", "weight nan", "empty"],
)
def test_malformed_rows_fit_nothing(features, labels, weights) -> None:
    """What cannot be fitted is said, not skipped."""
    with pytest.raises(InputError):
        fit_head(
            np.array(features, dtype=float),
            np.array(labels, dtype=np.int64),
            weights=None if weights is None else np.array(weights),
        )


def test_the_temperature_undoes_overconfidence() -> None:
    """Logits three times too large come back, from two-way rows too."""
    _, logits, labels = _drawn(20_000)
    assert fit_temperature(logits * 3, labels) == pytest.approx(3.0, rel=0.05)
    two_way = np.where(labels == 0, 0, NOT_ENTAILED)
    assert fit_temperature(logits * 3, two_way) == pytest.approx(3.0, rel=0.08)


def test_the_curve_calibrates_and_keeps_the_order() -> None:
    """It brings the error down on other rows, keeps every ranking, and is never sure."""
    scores = np.linspace(0.0, 1.0, 20_001)
    truth = np.random.default_rng(1).random(len(scores)) < scores**2
    knots = fit_isotonic(scores[::2], truth[::2])
    at, to = np.array(knots).T
    curved = np.interp(scores, at, to)
    fresh = slice(1, None, 2)
    before = expected_calibration_error(scores[fresh], truth[fresh])
    after = expected_calibration_error(curved[fresh], truth[fresh])
    assert before > 0.1
    assert after < 0.02
    assert (np.diff(curved) > 0).all()
    assert 0.0 < to[1] <= to[-2] < 1.0
    assert replace(CALIBRATION, isotonic=knots).isotonic == knots


def test_pooled_neighbours_share_one_value() -> None:
    """A dip is pooled with what precedes it; equal scores are never parted."""
    scores = np.repeat([0.2, 0.4, 0.6], 100)
    truth = np.concatenate([np.arange(100) < share for share in (60, 40, 90)])
    knots = fit_isotonic(scores, truth, least=50)
    assert knots[0] == (0.0, 0.0)
    assert knots[-1] == (1.0, 1.0)
    assert knots[1] == pytest.approx((0.3, 101 / 202))
    assert knots[2] == pytest.approx((0.6, 90.5 / 101))


def test_ece_and_brier_by_hand() -> None:
    """Two filled bins of 15: gaps of 0.1 and 0.5, weighted by their rows."""
    scores = np.array([0.9, 0.9, 0.9, 0.9, 0.5, 0.5])
    truth = np.array([1, 1, 1, 1, 1, 1], dtype=bool)
    assert expected_calibration_error(scores, truth) == pytest.approx((4 * 0.1 + 2 * 0.5) / 6)
    assert brier_score(scores, truth) == pytest.approx((4 * 0.01 + 2 * 0.25) / 6)
    bins = reliability(scores, truth)
    assert [(b.rows, b.mean_score, b.share_entailed) for b in bins] == [
        (2, 0.5, 1.0),
        (4, pytest.approx(0.9), 1.0),
    ]
    assert reliability(np.array([1.0]), np.array([True]))[0].high == 1.0
    assert math.isnan(expected_calibration_error(np.empty(0), np.empty(0, bool)))


def test_auroc_counts_ties_as_halves() -> None:
    """It equals the count over all pairs, ties included."""
    rng = np.random.default_rng(2)
    scores, truth = rng.integers(0, 5, 60) / 4, rng.random(60) < 0.4
    pairs = [(a, b) for a in scores[truth] for b in scores[~truth]]
    wins = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs)
    assert auroc(scores, truth) == pytest.approx(wins / len(pairs))
    assert auroc(np.ones(4), np.array([True, False, True, False])) == 0.5
    assert math.isnan(auroc(scores[truth], truth[truth]))


def test_matched_lengths_take_the_advantage_of_length() -> None:
    """A score that only knows the length is a coin once lengths are matched."""
    words = np.repeat([10, 100], 50)
    truth = np.concatenate([np.arange(50) < 40, np.arange(50) < 10])
    scores = np.where(words == 10, 0.9, 0.1)
    strata = length_strata(words, np.full(100, 12))
    assert auroc(scores, truth) > 0.75
    assert auroc_within(scores, truth, strata) == (0.5, 2 * 40 * 10)
    assert len(set(length_strata(np.array([10, 11, 22]), np.array([5, 5, 5])))) == 2


def test_balanced_accuracy_weighs_both_classes_alike() -> None:
    """Calling everything entailed is worth one half, however many are."""
    truth = np.array([True] * 90 + [False] * 10)
    assert balanced_accuracy(np.ones(100, bool), truth) == 0.5
    assert balanced_accuracy(truth, truth) == 1.0
    assert math.isnan(balanced_accuracy(truth, np.ones(100, bool)))


@pytest.mark.parametrize("scores", [[math.nan], [1.5], [-0.1]])
def test_unsound_scores_are_not_measured(scores) -> None:
    """A score that is none makes no figure."""
    with pytest.raises(InputError):
        brier_score(np.array(scores), np.array([True]))


def test_a_threshold_reaches_its_precision_with_confidence() -> None:
    """Its interval's low end does, one row further down does not, and coverage is of all."""
    scores = np.linspace(1.0, 0.0, 1_001)
    truth = np.concatenate([np.ones(400, bool), np.arange(601) % 2 == 0])
    found = threshold_for_precision(scores, truth, 0.9)
    assert found.low >= 0.9
    assert found.called == int((scores >= found.tau).sum())
    assert found.coverage == found.right / truth.sum()
    below = scores[found.called]
    lower = int((scores >= below).sum())
    assert exact_interval(int(truth[:lower].sum()), lower)[0] < 0.9
    assert threshold_for_precision(scores, truth, 0.95).tau > found.tau


def test_a_precision_out_of_reach_is_said() -> None:
    """Twenty right rows do not prove 99 %; nor is a threshold put between equal scores."""
    with pytest.raises(InputError, match="no threshold reaches"):
        threshold_for_precision(np.linspace(0.5, 1.0, 20), np.ones(20, bool), 0.99)
    with pytest.raises(InputError, match="no threshold reaches"):
        threshold_for_precision(np.full(200, 0.9), np.arange(200) < 100, 0.8)


def test_exact_intervals_are_the_published_ones() -> None:
    """Clopper and Pearson's limits, by their closed forms and by the binomial sum."""
    assert exact_interval(0, 10) == pytest.approx((0.0, 1 - 0.025**0.1))
    assert exact_interval(10, 10) == pytest.approx((0.025**0.1, 1.0))
    for count, total in ((1, 7), (3, 412), (50, 100), (399, 400), (2, 2_000)):
        low, high = exact_interval(count, total)
        assert _at_least(count, total, low) == pytest.approx(0.025, rel=1e-6)
        assert 1 - _at_least(count + 1, total, high) == pytest.approx(0.025, rel=1e-6)
        for share in (0.001, 0.01, 0.4, 0.9, 0.99):
            assert surely_reaches(count, total, share) is (low >= share)
    assert exact_interval(3, 412, confidence=0.99)[1] > exact_interval(3, 412)[1]


def _at_least(count: int, total: int, share: float) -> float:
    """Return the chance of *count* or more of *total*, summed from the smaller side."""
    terms = [math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(count)]
    return 1 - math.fsum(terms)


@pytest.mark.parametrize(
    ("count", "total", "confidence"), [(1, 0, 0.95), (-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0)]
)
def test_impossible_counts_have_no_interval(count, total, confidence) -> None:
    """Counts that cannot be are an error."""
    with pytest.raises(InputError):
        exact_interval(count, total, confidence=confidence)


def test_the_digest_of_rows_knows_their_order_and_every_field() -> None:
    """Swapping rows, or moving a word between fields, changes it."""
    one, two = Row("s", "a b", "c", "entailed"), Row("s", "a", "b c", "entailed")
    assert rows_sha256([one, two]) == rows_sha256([one, two])
    assert len({rows_sha256(rows) for rows in ([one, two], [two, one], [one], [two])}) == 4
