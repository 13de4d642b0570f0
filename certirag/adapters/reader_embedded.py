"""The reader that ships: how surely a statement answers a question, by two networks together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, log
from pathlib import Path
from typing import TYPE_CHECKING

from certirag.adapters.model_files import ModelFiles
from certirag.adapters.pair_model import Logits, PairModel
from certirag.core.models import ModelIdentity
from certirag.core.text import sha256_hex
from certirag.errors import ModelError
from certirag.ports import Embedder, Pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "embedded"
CALIBRATION = "calibration.json"
_LEAST = 1e-5  # a probability is not trusted beyond this


@dataclass(frozen=True, slots=True)
class Weights:
    """What each of `Features` counts, and the intercept of their sum."""

    log_odds: float
    cosine: float
    headed_cosine: float
    intercept: float

    def probability(self, found: Features) -> float:
        """Return the probability in [0, 1]; 0 for a statement that could not be read."""
        if found.log_odds is None:
            return 0.0
        total = self.log_odds * found.log_odds + self.cosine * found.cosine
        total += self.headed_cosine * found.headed_cosine + self.intercept
        return round(1 / (1 + exp(-total)), 6)


@dataclass(frozen=True, slots=True)
class Features:
    """The log-odds of the cross-encoder, and the cosine without and with the headings."""

    log_odds: float | None
    cosine: float
    headed_cosine: float


class EmbeddedReader:
    """Scores statements with the model in *directory* (Reader port); no torch, no network.

    A cross-encoder over (headings: statement, question), taught on questions with the sentences
    that people marked as their answer, and the cosine of *embedder* between the question and the
    statement, without and with its headings: the first knows best which sentence of a passage
    answers, the others how near the passage is at all. A logistic regression joins them. A
    statement that cannot be read whole scores 0.
    Raises ModelError or MissingExtra on construction.
    """

    def __init__(self, directory: Path, embedder: Embedder, *, threads: int | None = None) -> None:
        self._model, self._embedder = PairModel(directory, threads=threads), embedder
        files, base = self._model.files, embedder.identity
        self._weights = _weights(files)
        self._identity = ModelIdentity(
            "reader",
            NAME,
            f"{files.text('version')}+{base.version}",
            sha256_hex(f"{files.sha256}\n{base.sha256}"),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name and versions, and a digest over the manifests of both networks."""
        return self._identity

    def relevance(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return for each (headings, statement) the probability in [0, 1] that it answers."""
        found = self.features(question, statements) if statements else []
        return tuple(self._weights.probability(one) for one in found)

    def features(self, question: str, statements: Sequence[tuple[str, str]]) -> list[Features]:
        """Return what is measured of each (headings, statement), before it is weighed."""
        asked = f"{question.strip().rstrip('?').rstrip()}?"
        pairs = [Pair(asked, statement, headings) for headings, statement in statements]
        odds = [
            max((_log_odds(w.logits) for w in one.windows), default=None)
            for one in self._model.logits(pairs)
        ]
        texts = [statement for _, statement in statements]
        texts += [f"{headings}\n{statement}" for headings, statement in statements]
        cosines = _cosines(self._embedder.embed([asked, *texts]), len(texts))
        bare, headed = cosines[: len(statements)], cosines[len(statements) :]
        return [Features(*one) for one in zip(odds, bare, headed, strict=True)]


def _cosines(vectors: NDArray[np.float32], count: int) -> list[float]:
    if vectors.ndim != 2 or len(vectors) != count + 1:
        raise ModelError("the embedder did not give one vector for each statement")
    found = [float(value) for value in vectors[1:] @ vectors[0]]
    if not all(map(isfinite, found)):
        raise ModelError("the embedder gave vectors that are not finite")
    return found


def _log_odds(logits: Logits) -> float:
    top = max(logits)
    shares = [exp(value - top) for value in logits]
    share = min(1 - _LEAST, max(_LEAST, shares[0] / sum(shares)))
    return log(share / (1 - share))


def _weights(files: ModelFiles) -> Weights:
    try:
        content = json.loads(files.contents[CALIBRATION])
        found = Weights(*(float(content[name]) for name in Weights.__slots__))
    except (KeyError, TypeError, ValueError) as error:
        message = f"{files.directory / CALIBRATION} has no sound weights ({error!r}); restore it"
        raise ModelError(message) from error
    if not all(isfinite(getattr(found, name)) for name in Weights.__slots__):
        message = f"{files.directory / CALIBRATION} has a weight that is no number; restore it"
        raise ModelError(message)
    return found
