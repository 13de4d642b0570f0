"""Searches a local index: exact cosine with FAISS, Okapi BM25 with rank_bm25, all in process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from certirag.adapters.index.index_format import (
    DocumentRecord,
    Generation,
    StoredCorpus,
    Trusted,
    encode_generation,
    read_generation,
)
from certirag.adapters.index.index_store import foreign, vectors_of
from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk
from certirag.errors import CorpusError, ModelError
from certirag.ingest.collect import Skipped
from certirag.ports import Embedder, Hit, Progress
from certirag.retrieve.hybrid import search_text, terms, visible_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DECIMALS = 6
# Wider than half a unit of the last decimal, so that whatever rounds alike is compared.
_TIE = 2e-6


class LocalIndex:
    """One generation of a corpus, read whole into memory (Index port).

    It never changes: whoever ingests while it is open makes a new generation beside it.
    Chunks without any visible text are there and are found by no search. Safe to share
    between threads. Sets FAISS to one thread, in the whole process, because sums on several
    threads may differ in their last digits.
    """

    def __init__(self, generation: Generation, *, foreign: bool = False) -> None:
        self._generation = generation
        self._foreign = foreign
        self._chunks = generation.corpus.chunks
        self._places = {chunk.chunk_id: place for place, chunk in enumerate(self._chunks)}
        # Searches see rows; row r is the chunk at place self._rows[r].
        self._rows = [p for p, chunk in enumerate(self._chunks) if visible_text(chunk).strip()]
        self._vectors = _flat_index(generation.vectors, self._rows)
        self._bm25 = _Bm25([terms(search_text(self._chunks[place])) for place in self._rows])

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        embedder: ModelIdentity | None = None,
        trusted: Trusted | None = None,
        allow_foreign: bool = False,
    ) -> Self:
        """Return the index in *directory*.

        *embedder* is the model that questions will be embedded with. Raises CorpusError when
        the index is missing, damaged, of another format, or made with another embedder; and,
        unless *allow_foreign*, when none of *trusted* signed it. None asks for no signature.
        """
        generation = read_generation(directory, trusted)
        unsigned = trusted is not None and not generation.signed
        if unsigned and not allow_foreign:
            raise CorpusError(foreign(directory))
        if embedder is not None and embedder != generation.embedder:
            message = (
                f"the index in {directory} was made with {_named(generation.embedder)}, "
                f"not with {_named(embedder)}: run certirag ingest again"
            )
            raise CorpusError(message)
        return cls(generation, foreign=unsigned)

    @classmethod
    def of(
        cls,
        chunks: Sequence[EvidenceChunk],
        embedder: Embedder,
        progress: Progress | None = None,
        known: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> Self:
        """Return an index of *chunks* that lives in memory only, for documents seen once.

        *known* are vectors by the text that *embedder* made them of before.

        Raises CorpusError for chunks that contradict themselves, ModelError when they cannot
        be embedded.
        """
        report = progress or (lambda _line, _done, _total: None)
        corpus = StoredCorpus(documents=_documents(chunks), chunks=tuple(chunks))
        vectors, _ = vectors_of(chunks, embedder, known or {}, report)
        return cls(encode_generation(corpus, vectors, embedder.identity)[0])

    def restricted(self, doc_ids: Collection[str]) -> LocalIndex:
        """Return an index of the documents *doc_ids* alone: nothing of the others is in it.

        Its fingerprint is its own. Raises CorpusError when none of them is here.
        """
        generation = self._generation
        places = [p for p, chunk in enumerate(self._chunks) if chunk.doc_id in doc_ids]
        documents = tuple(d for d in self.documents if d.doc_id in doc_ids)
        if not documents:
            raise CorpusError("none of these documents is in the index: choose others")
        corpus = StoredCorpus(documents, tuple(self._chunks[place] for place in places))
        part, _ = encode_generation(corpus, generation.vectors[places], generation.embedder)
        return LocalIndex(part, foreign=self._foreign)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the chunks, their vectors and the embedder's identity."""
        return self._generation.fingerprint

    @property
    def foreign(self) -> bool:
        """Whether no trusted key signed it, and it was opened all the same."""
        return self._foreign

    @property
    def embedder(self) -> ModelIdentity:
        """The model that made the vectors."""
        return self._generation.embedder

    @property
    def documents(self) -> tuple[DocumentRecord, ...]:
        """The documents in the order of their paths."""
        return self._generation.corpus.documents

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The files that were not taken in, each with its reason."""
        return self._generation.corpus.skipped

    @property
    def sources(self) -> tuple[str, ...]:
        """The files and folders that it was read from; none where that is not known."""
        return self._generation.corpus.sources

    def chunks(self) -> Sequence[EvidenceChunk]:
        """Return every chunk, document by document."""
        return self._chunks

    def chunk(self, chunk_id: str) -> EvidenceChunk:
        """Return the chunk called *chunk_id*; CorpusError when there is none of that name."""
        if chunk_id not in self._places:
            message = f"the index has no chunk {chunk_id!r}: take its name from this index"
            raise CorpusError(message)
        return self._chunks[self._places[chunk_id]]

    def search_terms(self, query: str, *, limit: int) -> Sequence[Hit]:
        """Return the best *limit* chunks that share a term with *query*, by BM25 above zero."""
        return self._best(self._bm25.scores(terms(query)), limit)

    def search_vector(self, vector: NDArray[np.float32], *, limit: int) -> Sequence[Hit]:
        """Return the best *limit* chunks by cosine, in [-1, 1], with the unit *vector*.

        Raises ModelError when *vector* is not a unit vector of this index's dimension.
        """
        import numpy as np

        dimension = self._generation.vectors.shape[1]
        if vector.shape != (dimension,) or not abs(float(np.linalg.norm(vector)) - 1) < 1e-3:
            message = (
                f"a query vector of shape {vector.shape} is no unit vector of {dimension} numbers: "
                f"embed the question with {_named(self.embedder)}"
            )
            raise ModelError(message)
        if limit < 1 or not self._rows:
            return ()
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        top, _ = self._vectors.search(query, min(limit, len(self._rows)))
        # A cut at *limit* would choose among equals by their place; fetch all of them instead.
        _, scores, rows = self._vectors.range_search(query, float(top[0, -1]) - _TIE)
        return self._best(dict(zip(rows.tolist(), scores.tolist(), strict=True)), limit)

    def _best(self, scores: dict[int, float], limit: int) -> tuple[Hit, ...]:
        hits = [
            Hit(self._chunks[self._rows[row]].chunk_id, round(score, _DECIMALS) + 0.0)
            for row, score in scores.items()
        ]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(limit, 0)])


class _Bm25:
    """Okapi BM25 over rows of terms: k1 = 1.5 and b = 0.75, rank_bm25's own.

    Only the inverse document frequency is not rank_bm25's, which falls below zero for a term
    in more than half of the rows, and then takes a share of a mean that can itself be below
    zero in a small corpus. It is ln(1 + (N - n + 0.5) / (n + 0.5)), above zero always
    (Kamphuis et al. 2020, "Which BM25 do you mean?", the variant of Lucene).
    """

    def __init__(self, rows: Sequence[tuple[str, ...]]) -> None:
        self._rows_of: dict[str, list[int]] = {}
        for row, found in enumerate(rows):
            for term in dict.fromkeys(found):
                self._rows_of.setdefault(term, []).append(row)
        self._okapi = self._scorer(rows) if self._rows_of else None

    def _scorer(self, rows: Sequence[tuple[str, ...]]) -> Any:
        from rank_bm25 import BM25Okapi

        okapi = BM25Okapi(rows)
        okapi.idf = {
            term: math.log(1 + (len(rows) - len(holders) + 0.5) / (len(holders) + 0.5))
            for term, holders in self._rows_of.items()
        }
        return okapi

    def scores(self, query: Sequence[str]) -> dict[int, float]:
        """Return the score of each row that shares a term with *query*; repeats count once."""
        asked = [term for term in dict.fromkeys(query) if term in self._rows_of]
        rows = sorted({row for term in asked for row in self._rows_of[term]})
        if self._okapi is None or not rows:
            return {}
        return dict(zip(rows, self._okapi.get_batch_scores(asked, rows), strict=True))


def _flat_index(vectors: NDArray[np.float32], rows: Sequence[int]) -> Any:
    import faiss
    import numpy as np

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors[list(rows)]))
    return index


def _documents(chunks: Sequence[EvidenceChunk]) -> tuple[DocumentRecord, ...]:
    """Return what the chunks themselves tell of their documents; not the media type."""
    counts = Counter(chunk.doc_id for chunk in chunks)
    first = {chunk.doc_id: chunk.source for chunk in reversed(chunks)}
    records = [
        DocumentRecord(doc_id, source.title, source.url_or_path, "", source.sha256, counts[doc_id])
        for doc_id, source in first.items()
    ]
    return tuple(sorted(records, key=lambda record: (record.path, record.doc_id)))


def _named(model: ModelIdentity) -> str:
    return f"{model.name} {model.version} ({model.sha256[:12]})"
