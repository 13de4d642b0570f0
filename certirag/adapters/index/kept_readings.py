"""What was read of documents that are not on disk, so that none of them is read twice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from certirag.adapters.index.index_store import vectors_of
from certirag.core.text import Document, EvidenceChunk, sha256_hex
from certirag.errors import IngestError
from certirag.ingest.collect import Corpus, DocumentReader, Watch, read_uploads
from certirag.ingest.extract import printable
from certirag.ports import Embedder
from certirag.retrieve.hybrid import search_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Read = tuple[Document, tuple[EvidenceChunk, ...]]


@dataclass
class KeptReadings:
    """What was read and embedded, or why it was not, by path and digest; *vectors* by text.

    What breaks off a reading leaves what was finished before it.
    """

    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    _outcomes: dict[tuple[str, str], _Read | str] = field(default_factory=dict)

    def corpus(
        self,
        uploads: Sequence[tuple[str, bytes]],
        read: DocumentReader,
        embedder: Embedder,
        watch: Watch,
        *,
        left_out: Collection[str] = (),
    ) -> Corpus:
        """Return the corpus of uploaded (name, bytes); only what is not kept is read.

        Files whose digest is in *left_out* are not read, if they were not before. Whatever belongs
        to no file of *uploads* is forgotten.
        """

        def read_once(data: bytes, path: str) -> _Read:
            place = path, sha256_hex(data)
            found = self._outcomes.get(place)
            if found is None and place[1] in left_out:
                raise IngestError(f"{printable(path)}: not read, for the reading was cancelled")
            if found is None:
                try:
                    found = read(data, path)
                    self._embed(found[1], embedder, watch)
                except IngestError as error:
                    found = str(error)
                self._outcomes[place] = found
            if isinstance(found, str):
                raise IngestError(found)
            return found

        corpus = read_uploads(uploads, read=read_once, watch=watch)
        self.forget({digest for _, digest in self._outcomes} - {sha256_hex(d) for _, d in uploads})
        texts = set(map(search_text, corpus.chunks))
        self.vectors = {text: vector for text, vector in self.vectors.items() if text in texts}
        return corpus

    def knows(self, digest: str) -> bool:
        """Say whether a file of that *digest* was read, or found to be none that can be."""
        return any(digest == known for _, known in self._outcomes)

    def forget(self, digests: Collection[str]) -> None:
        """Let the files of these *digests* be read afresh."""
        self._outcomes = {
            place: found for place, found in self._outcomes.items() if place[1] not in digests
        }

    def _embed(self, chunks: Sequence[EvidenceChunk], embedder: Embedder, watch: Watch) -> None:
        vectors, _ = vectors_of(chunks, embedder, self.vectors, lambda *_: watch.waiting())
        self.vectors.update(zip(map(search_text, chunks), vectors, strict=True))
