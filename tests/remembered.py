"""Models that are asked the same thing once: they are pure functions, and many runs ask the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certirag.adapters.rerankers.late_interaction import LateInteractionReranker
from certirag.answers.services import Services
from certirag.bootstrap import make_verifier
from certirag.core.generation import ModelIdentity
from certirag.ports import Embedder, Judgement, Pair, Reader, Verifier


class Remembered:
    """Answers as *verifier* did when it was first asked; its identity is that verifier's."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self._known: dict[Pair, Judgement] = {}

    @property
    def identity(self) -> ModelIdentity:
        return self._verifier.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair; only pairs that were never asked are passed on."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        self._known.update(zip(new, self._verifier.judge(new), strict=True) if new else ())
        return [self._known[pair] for pair in pairs]


class RememberedVectors:
    """Gives the vectors that *embedder* gave when it was first asked for a text."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}
        self._tokens: dict[str, NDArray[np.float32]] = {}

    @property
    def identity(self) -> ModelIdentity:
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._embedder.embed(new), strict=True) if new else ())
        none = np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._known[text] for text in texts]) if texts else none

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        """Return the token rows of each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._tokens]
        self._tokens.update(zip(new, self._embedder.embed_tokens(new), strict=True) if new else ())
        return tuple(self._tokens[text] for text in texts)


class RememberedReader:
    """Answers as *reader* did when it was first asked, statement by statement."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.parts = cache(reader.parts)
        self._known: dict[tuple[str, ...], dict[Any, Any]] = {}

    @property
    def identity(self) -> ModelIdentity:
        return self._reader.identity

    def relevance(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return one probability per statement."""
        ask = partial(self._reader.relevance, question)
        return self._asked(("relevance", question), ask, statements)

    def order(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return one score per statement."""
        return self._asked(("order", question), partial(self._reader.order, question), statements)

    def instructs(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return one verdict per text."""
        return self._asked(("instructs",), self._reader.instructs, texts)

    def _asked(
        self, of: tuple[str, ...], ask: Callable[[Any], Sequence[Any]], items: Sequence[Any]
    ) -> list[Any]:
        known = self._known.setdefault(of, {})
        new = [item for item in dict.fromkeys(items) if item not in known]
        known.update(zip(new, ask(new), strict=True) if new else ())
        return [known[item] for item in items]


def remembering_services(services: Services) -> Services:
    """Return *services* with its embedder and reader, and the small verifier, asked a thing once.

    Runs that differ in a step are compared with each other: the larger network would change all
    of them alike, and takes several times as long.
    """
    small = make_verifier("embedded")
    vectors = RememberedVectors(services.embedder)
    return replace(
        services,
        verifier=Remembered(small),
        embedder=vectors,
        reader=RememberedReader(services.reader),
        reranker=LateInteractionReranker(vectors),
    )
