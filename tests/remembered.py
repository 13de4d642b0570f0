"""Models that are asked the same thing once: they are pure functions, and many runs ask the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certirag.adapters.reranker_late_interaction import LateInteractionReranker
from certirag.core.models import ModelIdentity
from certirag.ports import Embedder, Judgement, Pair, Verifier
from certirag.services import Services


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


def remembering_services(services: Services) -> Services:
    """Return *services* with its verifier and its embedder asked the same thing once."""
    vectors = RememberedVectors(services.embedder)
    return replace(
        services,
        verifier=Remembered(services.verifier),
        embedder=vectors,
        reranker=LateInteractionReranker(vectors),
    )
