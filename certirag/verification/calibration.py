"""Features of a pair → three calibrated probabilities: the small head that was fitted on them.

This part reads and applies a calibration; `training/calibrate.py` fits one. The file lies
beside the model and its digest is in the model's manifest, so every certificate names it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from pydantic import TypeAdapter, ValidationError

from certirag.errors import CertificateError, ModelError
from certirag.proof.envelope import strict_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION: Final = 1
CLASSES: Final = ("entailed", "not_enough_info", "contradicted")
_MILLION: Final = 1_000_000
_SHA256_LENGTH: Final = 64


@dataclass(frozen=True, slots=True)
class Head:
    """Multinomial logistic regression over `CLASSES`: standardise, weigh, add.

    *means* and *scales* have one entry per feature, *coefficients* one row of that length per
    class, *intercepts* one entry per class. Raises ModelError when they do not fit together.
    """

    means: tuple[float, ...]
    scales: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse shapes that do not fit together and numbers that are none."""
        count = len(self.means)
        rows = self.coefficients
        if not count or len(self.scales) != count or any(len(row) != count for row in rows):
            raise ModelError("the head's means, scales and coefficients differ in length")
        if len(rows) != len(CLASSES) or len(self.intercepts) != len(CLASSES):
            raise ModelError(f"the head must have coefficients for {', '.join(CLASSES)}")
        _require_finite("head", [*self.means, *self.scales, *self.intercepts, *chain(*rows)])
        if min(self.scales) <= 0.0:
            raise ModelError("the head has a scale that is not positive")

    def logits(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, 3) logits of (n, d) *features*; ModelError for another d or a non-number."""
        found = np.asarray(features, dtype=np.float64)
        if found.ndim != 2 or found.shape[1] != len(self.means):
            message = f"features of shape {found.shape} for a head of {len(self.means)} features"
            raise ModelError(message)
        if not np.isfinite(found).all():
            raise ModelError("a feature is not a finite number, so there is no probability")
        standard = (found - np.array(self.means)) / np.array(self.scales)
        # Row by row, not by a matrix product: a pair's score must not depend on its batch.
        columns = [(standard * np.array(row)).sum(axis=1) for row in self.coefficients]
        logits: NDArray[np.float64] = np.stack(columns, axis=1) + np.array(self.intercepts)
        if not np.isfinite(logits).all():
            raise ModelError("a feature is too large, so there is no probability")
        return logits


@dataclass(frozen=True, slots=True)
class FittedOn:
    """What a calibration was fitted on: in words, how many rows, and the digest of the rows."""

    description: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """A head, a temperature and a monotone curve that turn features into probabilities.

    *features* are the names of the columns in order. Logits are divided by *temperature* (Guo
    et al. 2017, "On Calibration of Modern Neural Networks"). *isotonic* holds (score, share)
    knots of the curve over the entailed probability, () for none; the other two share what it
    leaves in their own proportion. *tau_entail* and *tau_contradict* are the thresholds that
    reached the precision aimed at on rows that were not trained on; policies set their own.
    """

    version: int
    features: tuple[str, ...]
    head: Head
    temperature: float
    isotonic: tuple[tuple[float, float], ...]
    tau_entail: float
    tau_contradict: float
    fitted_on: FittedOn

    def __post_init__(self) -> None:
        """Refuse everything that could turn a sound feature into an unsound probability."""
        if self.version != VERSION:
            raise ModelError(f"version {self.version!r}, this program reads version {VERSION}")
        names = self.features
        if len(names) != len(self.head.means) or len(set(names)) != len(names) or not all(names):
            raise ModelError("the names of the features are not one for each, or not distinct")
        _require_finite("calibration", [self.temperature, *chain(*self.isotonic)])
        if self.temperature <= 0.0:
            raise ModelError(f"temperature {self.temperature!r} is not positive")
        _require_curve(self.isotonic)
        for name, tau in (
            ("tau_entail", self.tau_entail),
            ("tau_contradict", self.tau_contradict),
        ):
            if not 0.0 < tau <= 1.0:
                raise ModelError(f"{name} is {tau!r}, not a number in (0, 1]")
        digest = self.fitted_on.sha256
        if len(digest) != _SHA256_LENGTH or set(digest) - set("0123456789abcdef"):
            raise ModelError(f"fitted_on.sha256 is {digest[:80]!r}, not a SHA-256 in hex")
        if self.fitted_on.rows < 1:
            raise ModelError(f"fitted_on.rows is {self.fitted_on.rows}, not a count")

    def probabilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, 3) probabilities over `CLASSES` of (n, d) *features*.

        Each has at most six decimals and the millionths of a row sum to a million. Raises
        ModelError for another number of features and for one that is not finite.
        """
        return self.of_logits(self.head.logits(features))

    def of_logits(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `probabilities` of the head's own (n, 3) *logits*."""
        shares = softmax(logits / self.temperature)
        if self.isotonic:
            shares = _curved(shares, self.isotonic)
        return _millionths(shares) / _MILLION


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, 3) shares of (n, 3) *logits*, rows summing to one."""
    raised: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = raised / raised.sum(axis=1, keepdims=True)
    return shares


def read_calibration(data: bytes, *, features: Sequence[str], place: str) -> Calibration:
    """Return the calibration in *data*, JSON as `calibration_bytes` writes it.

    Raises ModelError, naming *place*, for a missing, unknown, doubled or malformed field, for
    another version, and when its features are not exactly *features* in this order.
    """
    try:
        found = _ADAPTER.validate_json(json.dumps(strict_json(data)), strict=True, extra="forbid")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its top"
        raise ModelError(_complaint(place, f"it is malformed at {where}")) from error
    except (CertificateError, ModelError) as error:
        raise ModelError(_complaint(place, str(error))) from error
    if found.features != tuple(features):
        raise ModelError(_complaint(place, "its features are not those that are measured here"))
    return found


def calibration_bytes(calibration: Calibration) -> bytes:
    """Return *calibration* as JSON; reading it gives an equal value, number for number."""
    return (json.dumps(asdict(calibration), allow_nan=False, indent=1) + "\n").encode()


_ADAPTER: Final = TypeAdapter(Calibration)


def _curved(
    shares: NDArray[np.float64], knots: Sequence[tuple[float, float]]
) -> NDArray[np.float64]:
    """Lead the first column through the curve; the others keep their proportion."""
    at, to = np.array(knots).T
    entailed = np.interp(shares[:, 0], at, to)
    others = shares[:, 1:]
    left = others.sum(axis=1, keepdims=True)
    # Where the network left nothing, what the curve takes back is silence, not opposition.
    parts = np.where(left > 0.0, others / np.where(left > 0.0, left, 1.0), [[1.0, 0.0]])
    return np.column_stack([entailed, parts * (1.0 - entailed)[:, None]])


def _millionths(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole millionths that sum to a million a row, by the largest remainders.

    Of equal remainders the later class gets the millionth: a tie must not help support.
    """
    exact = shares * _MILLION
    whole = np.floor(exact).astype(np.int64)
    missing = _MILLION - whole.sum(axis=1)
    last_first = np.arange(len(CLASSES))[::-1]
    order = last_first[np.argsort(-(exact - whole)[:, last_first], axis=1, kind="stable")]
    for place in range(len(CLASSES)):
        rows = np.flatnonzero(missing > place)
        whole[rows, order[rows, place]] += 1
    return whole


def _require_finite(what: str, values: Sequence[float]) -> None:
    if not all(math.isfinite(value) for value in values):
        raise ModelError(f"the {what} holds a number that is not finite")


def _require_curve(knots: Sequence[tuple[float, float]]) -> None:
    at, to = [x for x, _ in knots], [y for _, y in knots]
    rising = all(a < b for a, b in pairwise(at))
    if not rising or to != sorted(to) or any(not 0.0 <= value <= 1.0 for value in at + to):
        raise ModelError("the isotonic knots do not rise from 0 to 1")


def _complaint(place: str, fault: str) -> str:
    return f"{place} is not a calibration: {fault}; restore it from the release"
