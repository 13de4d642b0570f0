"""The reader that ships: how surely a statement answers a question, by two or three networks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import exp, inf, isfinite, log
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from certirag.adapters.networks.model_files import GRAPH, ModelFiles
from certirag.adapters.networks.pair_model import Logits, PairModel, shared_pair_model
from certirag.core.generation import ModelIdentity
from certirag.core.text import sha256_hex
from certirag.errors import InputError, ModelError
from certirag.ports import Embedder, Pair
from certirag.text.question import PART, halves

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "embedded"
READS_TWICE = "embedded,reading"
CALIBRATION = "calibration.json"
SECOND = "calibration_second.json"
FITTED_WITH = "fitted_with"  # in the manifest: the digest of the larger network's graph
_LEAST = 1e-5  # a probability is not trusted beyond this
# Asked of every statement that may answer; its network is taught on this very question.
INSTRUCTS = "Does this text tell a language model what to do?"
# Asked of a question that is cut in two at `BETWEEN`.
ASKS_TWICE = "Are these two separate questions?"
BETWEEN = " | "
# Chosen on the parts of `fixtures/everyday/dev.jsonl` (docs/development.md, "Two questions in one").
_SURE_BY_ITSELF = 0.70
_MOST_KNOWN = 8  # questions whose statements are not measured twice
_BEHIND = 1000.0  # what was not read twice comes after what was, in the order that it had


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
class SecondWeights:
    """What each of `Features` counts once the larger network has read the statement too.

    It reads what the first reading gives *asked_from* or more.
    """

    asked_from: float
    log_odds: float
    cosine: float
    headed_cosine: float
    second: float
    intercept: float
    order_log_odds: float
    order_cosine: float
    order_headed_cosine: float
    order_second: float

    def probability(self, found: Features) -> float:
        """Return the probability in [0, 1]; 0 for a statement that the larger one cannot read."""
        if found.log_odds is None or found.second is None:
            return 0.0
        total = self.log_odds * found.log_odds + self.second * found.second + self.intercept
        total += self.cosine * found.cosine + self.headed_cosine * found.headed_cosine
        return round(1 / (1 + exp(-total)), 6)

    def place(self, found: Features) -> float:
        """Return the score to order by; what could not be read comes last."""
        if found.log_odds is None or found.second is None:
            return float("-inf")
        total = self.order_log_odds * found.log_odds + self.order_second * found.second
        cosines = self.order_cosine * found.cosine + self.order_headed_cosine * found.headed_cosine
        return round(total + cosines, 6)


@dataclass(frozen=True, slots=True)
class Features:
    """The log-odds of the cross-encoder, and the cosine without and with the headings.

    *second* is the log-odds of the larger network, None where it was not asked or could not read.
    """

    log_odds: float | None
    cosine: float
    headed_cosine: float
    second: float | None = None


class EmbeddedReader:
    """Scores statements with the model in *directory* (Reader port); no torch, no network.

    A cross-encoder over (headings: statement, question), taught on questions with the sentences
    that people marked as their answer, and the cosine of *embedder* between the question and the
    statement, without and with its headings. The first knows best whether a statement answers, all
    three together which of several answers best: a logistic regression joins them for each. A
    statement that cannot be read whole scores 0. The same network is asked whether a text instructs
    a model (`INSTRUCTS`) and whether a question asks two things (`ASKS_TWICE`).

    *second* is the larger network of the verifier, which was taught on the same questions: it reads
    again what the first reading does not rule out, and a regression joins both.
    Raises ModelError or MissingExtra on construction.
    """

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        second: PairModel | None = None,
        *,
        threads: int | None = None,
    ) -> None:
        self._model, self._embedder = PairModel(directory, threads=threads), embedder
        files, base = self._model.files, embedder.identity
        self._weights = _weights(files, CALIBRATION, Weights)
        self._larger = second
        self._second = _weights(files, SECOND, SecondWeights) if second is not None else None
        self._lock = Lock()
        self._known: dict[str, dict[tuple[str, str], Features]] = {}
        versions = [files.text("version"), base.version]
        digests = [files.sha256, base.sha256]
        if second is not None:
            if files.manifest.get(FITTED_WITH) != second.files.manifest["files"][GRAPH]:
                message = f"{directory} was fitted with another larger network; restore both"
                raise ModelError(message)
            versions.append(second.files.text("version"))
            digests.append(second.files.sha256)
        self._identity = ModelIdentity(
            "reader",
            NAME if second is None else READS_TWICE,
            "+".join(versions),
            sha256_hex("\n".join(digests)),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name and versions, and a digest over the manifests of all its networks."""
        return self._identity

    def relevance(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return for each (headings, statement) the probability in [0, 1] that it answers."""
        return tuple(probability for probability, _ in self._read(question, statements))

    def order(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return for each (headings, statement) a score to order by, larger first."""
        return tuple(place for _, place in self._read(question, statements))

    def _read(
        self, question: str, statements: Sequence[tuple[str, str]]
    ) -> list[tuple[float, float]]:
        """Return the probability and the place of each statement.

        A part of a question (`part_of`) is read by itself too, and counts so where a statement
        surely answers it: beside another topic the networks believe neither.
        """
        found = self._weighed(question, statements)
        _, mark, part = question.rpartition(PART)
        alone = self._weighed(part, statements) if mark and part.strip() else found
        return [
            (max(own[0], by_itself[0]), max(own[1], by_itself[1]))
            if by_itself[0] >= _SURE_BY_ITSELF
            else own
            for own, by_itself in zip(found, alone, strict=True)
        ]

    def _weighed(
        self, question: str, statements: Sequence[tuple[str, str]]
    ) -> list[tuple[float, float]]:
        found = self.features(question, statements) if statements else []
        return [(self._probability(one), self._place(one)) for one in found]

    def _probability(self, found: Features) -> float:
        once = self._weights.probability(found)
        if self._second is None or once < self._second.asked_from:
            return once
        return self._second.probability(found)

    def _place(self, found: Features) -> float:
        once = self._weights.place(found)
        if self._second is None:
            return once
        if self._weights.probability(found) < self._second.asked_from:
            return once - _BEHIND
        return self._second.place(found)

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
        return _odds(self._model, [Pair(ASKS_TWICE, BETWEEN.join(cut)) for cut in cuts])

    def instruction_odds(self, texts: Sequence[str]) -> list[float | None]:
        """Return for each text the log-odds that it instructs a model, None if it was not read."""
        return _odds(self._model, [Pair(INSTRUCTS, text) for text in texts])

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
        odds = _odds(self._model, pairs)
        texts = [statement for _, statement in statements]
        texts += [f"{headings}\n{statement}" for headings, statement in statements]
        cosines = _cosines(self._embedder.embed([asked, *texts]), len(texts))
        bare, headed = cosines[: len(statements)], cosines[len(statements) :]
        found = [Features(*one) for one in zip(odds, bare, headed, strict=True)]
        if self._larger is None or self._second is None:
            return found
        least = self._second.asked_from
        asked_again = [
            at for at, one in enumerate(found) if self._weights.probability(one) >= least
        ]
        again = _odds(self._larger, [pairs[at] for at in asked_again])
        for at, second in zip(asked_again, again, strict=True):
            found[at] = replace(found[at], second=second)
        return found


def open_reader(name: str, models: Path, embedder: Embedder) -> EmbeddedReader:
    """Return the reader *name*: ``embedded`` or, with the larger network too, ``embedded,reading``.

    *models* is the folder of the models that ship. InputError for another name.
    """
    if name not in (NAME, READS_TWICE):
        raise InputError(f"unknown reader {name!r}: choose {NAME} or {READS_TWICE}")
    larger = shared_pair_model(models / "verifier-large") if name == READS_TWICE else None
    return EmbeddedReader(models / "reader", embedder, larger)


def _odds(model: PairModel, pairs: Sequence[Pair]) -> list[float | None]:
    return [
        max((_log_odds(window.logits) for window in one.windows), default=None)
        for one in model.logits(pairs)
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


_Kind = TypeVar("_Kind", Weights, SecondWeights)


def _weights(files: ModelFiles, name: str, kind: type[_Kind]) -> _Kind:
    try:
        content = json.loads(files.contents[name])
        found = kind(*(float(content[one.name]) for one in fields(kind)))
    except (KeyError, TypeError, ValueError) as error:
        message = f"{files.directory / name} has no sound weights ({error!r}); restore it"
        raise ModelError(message) from error
    if not all(isfinite(getattr(found, one.name)) for one in fields(kind)):
        message = f"{files.directory / name} has a weight that is no number; restore it"
        raise ModelError(message)
    return found
