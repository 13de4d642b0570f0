"""The reranker that needs no model of its own: late interaction over the embedder's tokens."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from certirag.core.generation import ModelIdentity
from certirag.core.text import sha256_hex
from certirag.errors import ModelError
from certirag.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = "1"


class LateInteractionReranker:
    """Scores by MaxSim (Reranker port): the mean over query tokens of their best cosine.

    Khattab & Zaharia 2020, "ColBERT", eq. 3, with the mean in place of the sum, so that a
    score lies in [-1, 1] whatever the length of the query. Unlike ColBERT's, the token vectors
    were not trained for it: they are those of *embedder*, which the name says. An empty text
    scores -1, the lowest there is, and under a query without tokens every text scores 0.

    Token vectors are kept by the digest of their text, the least recently used leaving first,
    in at most *cache_bytes* bytes. Safe to share between threads.
    """

    def __init__(self, embedder: Embedder, *, cache_bytes: int = 96 * 1024 * 1024) -> None:
        self._embedder = embedder
        self._cache_bytes = cache_bytes
        self._cached_bytes = 0
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()
        base = embedder.identity
        self._identity = ModelIdentity(
            role="reranker",
            name=f"late-interaction/{base.name}",
            version=f"{VERSION}+{base.version}",
            sha256=sha256_hex(f"late-interaction {VERSION}\n{base.sha256}"),
        )

    @property
    def identity(self) -> ModelIdentity:
        """The method's name and version, with a digest derived from the embedder's."""
        return self._identity

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score in [-1, 1] for each text; ModelError for vectors of a wrong shape."""
        if not texts:
            return ()
        asked, *read = self._token_vectors([query, *texts])
        if len(asked) == 0:
            return (0.0,) * len(texts)
        return tuple(_max_sim(asked, tokens) for tokens in read)

    def _token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        keys = [sha256_hex(text) for text in texts]
        known: dict[str, NDArray[np.float32]] = {}
        with self._lock:
            for key in keys:
                if key in self._cache:
                    self._cache.move_to_end(key)
                    known[key] = self._cache[key]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:  # outside the lock: another thread need not wait for this one's model
            fresh = self._embedder.embed_tokens(list(missing.values()))
            known.update(zip(missing, self._checked(fresh, len(missing)), strict=True))
            self._keep({key: known[key] for key in missing})
        return [known[key] for key in keys]

    def _checked(
        self, fresh: Sequence[NDArray[np.float32]], count: int
    ) -> Sequence[NDArray[np.float32]]:
        width = self._embedder.dimension
        if len(fresh) != count or any(v.ndim != 2 or v.shape[1] != width for v in fresh):
            raise ModelError(
                f"{self._embedder.identity.name} gave token vectors of a wrong shape: "
                "choose another embedder with CERTIRAG_EMBEDDER"
            )
        return fresh

    def _keep(self, fresh: dict[str, NDArray[np.float32]]) -> None:
        with self._lock:
            for key, vectors in fresh.items():
                if key not in self._cache and vectors.nbytes <= self._cache_bytes:
                    self._cache[key] = vectors
                    self._cached_bytes += vectors.nbytes
            while self._cached_bytes > self._cache_bytes:
                _, oldest = self._cache.popitem(last=False)
                self._cached_bytes -= oldest.nbytes


def _max_sim(query: NDArray[np.float32], tokens: NDArray[np.float32]) -> float:
    """Return the mean over rows of *query* of their largest cosine with a row of *tokens*."""
    if len(tokens) == 0:
        return -1.0
    return float((query @ tokens.T).max(axis=1).mean(dtype="float64"))
