"""The embedder that ships: all-MiniLM-L6-v2 as int8 ONNX, on the CPU, without a network."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from certirag.adapters.embedders.unit_vectors import checked_texts, mean_of_windows, unit_rows
from certirag.adapters.networks.model_files import (
    GRAPH,
    TOKENIZER,
    marker,
    open_session,
    open_tokenizer,
    read_model_files,
)
from certirag.core.generation import ModelIdentity
from certirag.errors import ModelError

INPUTS: Final = ("input_ids", "attention_mask")


class OnnxEmbedder:
    """Embeds by mean pooling over the token vectors of an ONNX encoder (Embedder port).

    *directory* holds manifest.json and the files that it names; each is checked against its
    SHA-256 first. *threads* is how many windows run at once: four, or one per processor where
    there are fewer, unless given.

    The vector of a text is the same bits whatever it is embedded with, in whatever order and on
    however many threads. For that each window is its own run on one thread, without padding:
    padding changes the lengths over which softmax and the attention sums are added up, hence
    their last bits, and a code that then rounds the other way is visible. Threads take whole
    windows, so nothing is lost by it; several threads inside one small run gain little.

    A text longer than the model's window is cut into windows of nearly equal length, so that no
    short last one weighs as much as a full one. ``embed`` gives the unit mean of the windows'
    unit vectors, ``embed_tokens`` their token vectors one after the other. An empty text has the
    vector that the original gives it (that of its two markers) and no token vectors. Markers such
    as ``[SEP]`` written in a text are read as those five characters, never as markers.

    Safe to share between threads: onnxruntime's ``run`` and tokenizers' ``encode`` are, and
    nothing else is kept. Raises ModelError or MissingExtra on construction.
    """

    def __init__(self, directory: Path, *, threads: int | None = None) -> None:
        count = threads if threads is not None else min(4, os.cpu_count() or 1)
        if count < 1:
            message = f"threads must be at least 1, not {count}"
            raise ModelError(message)
        files = read_model_files(directory, needed=(GRAPH, TOKENIZER))
        self._identity = ModelIdentity(
            role="embedder",
            name=files.text("name"),
            version=files.text("version"),
            sha256=files.sha256,
        )
        self._dimension = files.count("dimension")
        self._room = files.count("max_tokens") - 2  # the first and last place are markers
        if self._room < 1:
            message = f"max_tokens in {directory} leaves no room for text; it must exceed 2"
            raise ModelError(message)
        self._tokenizer = open_tokenizer(files)
        self._first, self._last = (marker(self._tokenizer, name) for name in ("[CLS]", "[SEP]"))
        self._session = open_session(files, inputs=INPUTS, output="token_vectors")
        self._workers = ThreadPoolExecutor(count, thread_name_prefix="certirag-embed")
        self._ahead = 8 * count  # enough to keep the workers busy; bounds what waits in memory

    @property
    def identity(self) -> ModelIdentity:
        """Name, version and the digest of the manifest, which covers every file."""
        return self._identity

    @property
    def dimension(self) -> int:
        """The length of every vector (384)."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array (len(texts), dimension) of unit rows; see the class for long texts."""
        vectors = [mean_of_windows(windows) for windows in self._per_text(texts, self._vector)]
        if not vectors:
            return np.empty((0, self._dimension), dtype=np.float32)
        return np.stack(vectors)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        """Return per text an array (tokens, dimension) of unit rows, markers removed."""
        return tuple(
            np.concatenate(windows) for windows in self._per_text(texts, self._token_vectors)
        )

    def _per_text(
        self,
        texts: Sequence[str],
        compute: Callable[[list[int]], NDArray[np.float32]],
    ) -> Iterator[list[NDArray[np.float32]]]:
        """Yield, text by text in order, what *compute* gives for each of the text's windows."""
        counts: deque[int] = deque()

        def windows() -> Iterator[list[int]]:
            for text in checked_texts(texts):
                cut = self._windows(text)
                counts.append(len(cut))
                yield from cut

        results = self._in_order(compute, windows())
        for first in results:
            yield [first, *islice(results, counts.popleft() - 1)]

    def _in_order(
        self,
        compute: Callable[[list[int]], NDArray[np.float32]],
        windows: Iterator[list[int]],
    ) -> Iterator[NDArray[np.float32]]:
        waiting = deque(self._workers.submit(compute, ids) for ids in islice(windows, self._ahead))
        try:
            while waiting:
                yield waiting.popleft().result()
                waiting += [self._workers.submit(compute, ids) for ids in islice(windows, 1)]
        finally:
            for future in waiting:
                future.cancel()

    def _windows(self, text: str) -> list[list[int]]:
        """Cut the token ids of *text* into windows, at least one, nearly equal, markers added."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        count = max(1, -(-len(ids) // self._room))
        edges = [len(ids) * part // count for part in range(count + 1)]
        return [[self._first, *ids[start:end], self._last] for start, end in pairwise(edges)]

    def _vector(self, ids: list[int]) -> NDArray[np.float32]:
        # Markers count in the mean, as they do in the original's pooling.
        mean = self._run(ids).mean(axis=0, dtype=np.float64, keepdims=True)
        vector: NDArray[np.float32] = unit_rows(mean)[0]
        return vector

    def _token_vectors(self, ids: list[int]) -> NDArray[np.float32]:
        return unit_rows(self._run(ids)[1:-1])

    def _run(self, ids: list[int]) -> NDArray[np.float32]:
        row = np.array([ids], dtype=np.int64)
        feed = dict(zip(INPUTS, (row, np.ones_like(row)), strict=True))
        try:
            (output,) = self._session.run(["token_vectors"], feed)
        except Exception as error:
            message = f"the embedder failed on {len(ids)} tokens: {error}"
            raise ModelError(message) from error
        if output.shape != (1, len(ids), self._dimension):
            message = f"the embedder gave shape {output.shape}, not (1, {len(ids)}, dimension)"
            raise ModelError(message)
        vectors: NDArray[np.float32] = output[0]
        return vectors
