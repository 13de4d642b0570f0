"""Seconds per stage of one question, and ports that report what passes through them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from certirag.answers.services import Stage
from certirag.core.models import ModelIdentity
from certirag.ports import Embedder, Judgement, Pair, Reranker, Verifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Stopwatch:
    """Adds up the seconds of each stage, without those of the stages opened inside it.

    The sum over all stages is therefore the time of the outermost ones. For one thread at a time.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._inside: list[float] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what happens in this context as *name*, also when it raises."""
        started = self._clock()
        self._inside.append(0.0)
        try:
            yield
        finally:
            spent = self._clock() - started
            self.seconds[name] += spent - self._inside.pop()
            if self._inside:
                self._inside[-1] += spent

    def taken(self) -> dict[str, float]:
        """Return the seconds of each stage so far, and begin again at zero."""
        taken = dict(self.seconds)
        self.seconds.clear()
        return taken


class TimedEmbedder:
    """An embedder (Embedder port) whose work counts as the stage ``embed``."""

    def __init__(self, embedder: Embedder, stage: Stage) -> None:
        self._embedder = embedder
        self._stage = stage

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the embedder inside."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """The dimension of the embedder inside."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what the embedder inside returns."""
        with self._stage("embed"):
            return self._embedder.embed(texts)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        """Return what the embedder inside returns."""
        with self._stage("embed"):
            return self._embedder.embed_tokens(texts)


class TimedReranker:
    """A reranker (Reranker port) whose work counts as the stage ``rerank``."""

    def __init__(self, reranker: Reranker, stage: Stage) -> None:
        self._reranker = reranker
        self._stage = stage

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the reranker inside."""
        return self._reranker.identity

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return what the reranker inside returns."""
        with self._stage("rerank"):
            return self._reranker.score(query, texts)


class CountingVerifier:
    """A verifier (Verifier port) that counts the *pairs* it was asked, in how many *calls*."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.pairs = 0
        self.calls = 0

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the verifier inside."""
        return self._verifier.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return what the verifier inside returns."""
        self.pairs += len(pairs)
        self.calls += 1
        return self._verifier.judge(pairs)
