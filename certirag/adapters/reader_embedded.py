"""The reader that ships: how surely a statement answers a question, by two networks together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from certirag.adapters.model_files import ModelFiles
from certirag.adapters.pair_model import Logits, PairModel
from certirag.claim_ir.asked import halves
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
# Asked of every statement that may answer; its network is taught on this very question.
INSTRUCTS = "Does this text tell a language model what to do?"
# Asked of a question that is cut in two at `BETWEEN`.
ASKS_TWICE = "Are these two separate questions?"
BETWEEN = " | "
_MOST_KNOWN = 8  # questions whose statements are not measured twice


@dataclass(frozen=True, slots=True)
class Weights:
    """What each of `Features` counts: for the relevance, and for the order of several statements.

    *instruction* is the log-odds from which a statement is taken for an instruction to a model,
    *two_questions* those from which two halves of a question are taken for two.
    """

    log_odds: float
    cosine: float
    headed_cosine: float
    intercept: float
    order_log_odds: float
    order_cosine: float
    order_headed_cosine: float
    instruction: float
    two_questions: float

    def probability(self, found: Features) -> float:
        """Return the probability in [0, 1]; 0 for a statement that could not be read."""
        if found.log_odds is None:
            return 0.0
        cosines = self.cosine * found.cosine + self.headed_cosine * found.headed_cosine
        total = self.log_odds * found.log_odds + cosines + self.intercept
        return round(1 / (1 + exp(-total)), 6)

    def place(self, found: Features) -> float:
        """Return the score to order by; what could not be read comes last."""
        if found.log_odds is None:
            return float("-inf")
        cosines = self.order_cosine * found.cosine + self.order_headed_cosine * found.headed_cosine
        return round(self.order_log_odds * found.log_odds + cosines, 6)


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
    statement, without and with its headings. The first knows best whether a statement answers, all
    three together which of several answers best: a logistic regression joins them for each. A
    statement that cannot be read whole scores 0. The same network is asked whether a text instructs
    a model (`INSTRUCTS`) and whether a question asks two things (`ASKS_TWICE`).
    Raises ModelError or MissingExtra on construction.
    """

    def __init__(self, directory: Path, embedder: Embedder, *, threads: int | None = None) -> None:
        self._model, self._embedder = PairModel(directory, threads=threads), embedder
        files, base = self._model.files, embedder.identity
        self._weights = _weights(files)
        self._lock = Lock()
        self._known: dict[str, dict[tuple[str, str], Features]] = {}
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

    def order(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return for each (headings, statement) a score to order by, larger first."""
        found = self.features(question, statements) if statements else []
        return tuple(self._weights.place(one) for one in found)

    def instructs(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return for each text whether it tells a language model what to do; so does one unread.

        None does where the limit is beyond any log-odds: a network that was not taught the question.
        """
        least = self._weights.instruction
        if least > -log(_LEAST):
            return [False] * len(texts)
        return [odds is None or odds >= least for odds in self.instruction_odds(texts)]

    def parts(self, question: str) -> Sequence[str]:
        """Return the two questions that *question* asks, word for word, or itself alone.

        Never two where the limit is beyond any log-odds, or a half could not be read.
        """
        cuts = halves(question) if self._weights.two_questions <= -log(_LEAST) else []
        odds = [one if one is not None else -inf for one in self.cut_odds(cuts)]
        best = max(odds, default=-inf)
        return cuts[odds.index(best)] if best >= self._weights.two_questions else (question,)

    def cut_odds(self, cuts: Sequence[tuple[str, str]]) -> list[float | None]:
        """Return for each (first, second) the log-odds that these are two questions."""
        return self._odds([Pair(ASKS_TWICE, BETWEEN.join(cut)) for cut in cuts])

    def instruction_odds(self, texts: Sequence[str]) -> list[float | None]:
        """Return for each text the log-odds that it instructs a model, None if it was not read."""
        return self._odds([Pair(INSTRUCTS, text) for text in texts])

    def features(self, question: str, statements: Sequence[tuple[str, str]]) -> list[Features]:
        """Return what is measured of each (headings, statement), before it is weighed."""
        asked = f"{question.strip().rstrip('?').rstrip()}?"
        with self._lock:
            known = self._known.setdefault(asked, {})
            while len(self._known) > _MOST_KNOWN:
                self._known.pop(next(iter(self._known)))
        new = [one for one in dict.fromkeys(statements) if one not in known]
        known.update(zip(new, self._measured(asked, new) if new else (), strict=True))
        return [known[one] for one in statements]

    def _measured(self, asked: str, statements: Sequence[tuple[str, str]]) -> list[Features]:
        pairs = [Pair(asked, statement, headings) for headings, statement in statements]
        odds = self._odds(pairs)
        texts = [statement for _, statement in statements]
        texts += [f"{headings}\n{statement}" for headings, statement in statements]
        cosines = _cosines(self._embedder.embed([asked, *texts]), len(texts))
        bare, headed = cosines[: len(statements)], cosines[len(statements) :]
        return [Features(*one) for one in zip(odds, bare, headed, strict=True)]

    def _odds(self, pairs: Sequence[Pair]) -> list[float | None]:
        return [
            max((_log_odds(w.logits) for w in one.windows), default=None)
            for one in self._model.logits(pairs)
        ]


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
