"""Writing a local index: idempotent, incremental, and only what holds together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeEmbedder, chunk_of, document_of
from index_cases import CHANGED, HANDBOOK, corpus_of, files
from numpy.typing import NDArray

from certirag.adapters.index.index_format import DocumentRecord, StoredCorpus
from certirag.adapters.index.index_store import merge, write_corpus
from certirag.adapters.index.local import LocalIndex
from certirag.core.text import Box, EvidenceChunk
from certirag.errors import CorpusError, ModelError
from certirag.ingest.collect import Skipped


def test_what_is_written_is_read_back_equal(tmp_path: Path) -> None:
    """Documents, chunks, spans with boxes and skipped files survive; retrieval scores do not."""
    chunk = chunk_of("Ünïcode “text” \u2028 with 🌿. Two.", title="T", section="A › B")
    spans = tuple(replace(s, boxes=(Box(1, 0.1, 0.2, 1 / 3, 4.0),)) for s in chunk.spans)
    chunk = replace(chunk, spans=spans, source=replace(chunk.source, page=3, start=17))
    document = document_of("d1")[0]
    write_corpus(tmp_path, corpus_of([(document, [chunk])], [Skipped("b", "ä")]), FakeEmbedder())
    index = LocalIndex.open(tmp_path)
    assert index.chunks() == (chunk,)
    assert index.documents == (
        DocumentRecord("d1", "", "d1.txt", "text/plain", document.sha256, 1),
    )
    assert index.skipped == (Skipped("b", "ä"),)
    assert index.embedder == FakeEmbedder().identity


def test_writing_twice_changes_no_byte(tmp_path: Path) -> None:
    """The second write embeds nothing and touches no file."""
    first = write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    before = files(tmp_path)
    embedder = FakeEmbedder()
    second = write_corpus(tmp_path, HANDBOOK, embedder)
    assert (first.written, first.embedded, first.reused) == (True, 3, 0)
    assert (second.written, second.embedded, second.reused) == (False, 0, 3)
    assert second.fingerprint == first.fingerprint == LocalIndex.open(tmp_path).fingerprint
    assert embedder.embedded == []
    assert files(tmp_path) == before


def test_the_order_of_documents_does_not_matter(tmp_path: Path) -> None:
    """The same documents named in another order are the same corpus."""
    pair = [document_of("a", "One."), document_of("b", "Two.")]
    one = write_corpus(tmp_path / "1", corpus_of(pair), FakeEmbedder())
    two = write_corpus(tmp_path / "2", corpus_of(pair[::-1]), FakeEmbedder())
    assert one.fingerprint == two.fingerprint


def test_only_changed_chunks_are_embedded(tmp_path: Path) -> None:
    """A changed file replaces its chunks; the others keep their vectors; the old files go."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    embedder = FakeEmbedder()
    report = write_corpus(tmp_path, CHANGED, embedder)
    assert embedder.embedded == ["\nLeave is forty days."]
    assert (report.written, report.embedded, report.reused) == (True, 1, 1)
    index = LocalIndex.open(tmp_path)
    assert [c.text for c in index.chunks()] == ["Leave is forty days.", "Ask early."]
    assert len(list(tmp_path.glob("gen-*"))) == 1
    fresh = write_corpus(tmp_path.with_name("fresh"), CHANGED, FakeEmbedder())
    assert fresh.fingerprint == report.fingerprint


def test_a_new_title_is_embedded_again(tmp_path: Path) -> None:
    """The context is part of what is embedded, so a new one needs new vectors."""
    write_corpus(tmp_path, corpus_of([document_of("a", "One.", title="Old")]), FakeEmbedder())
    report = write_corpus(
        tmp_path, corpus_of([document_of("a", "One.", title="New")]), FakeEmbedder()
    )
    assert report.embedded == 1


def test_a_new_skipped_file_is_recorded(tmp_path: Path) -> None:
    """What was skipped is part of the index even when no chunk changes."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    fewer = replace(HANDBOOK, skipped=())
    report = write_corpus(tmp_path, fewer, FakeEmbedder())
    assert (report.written, report.embedded) == (True, 0)
    assert LocalIndex.open(tmp_path).skipped == ()
    assert report.fingerprint == write_corpus(tmp_path, HANDBOOK, FakeEmbedder()).fingerprint


def test_another_embedder_embeds_all_again(tmp_path: Path) -> None:
    """Vectors of another model are never mixed in, and opening with the wrong one is refused."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    other = FakeEmbedder(version="2")
    with pytest.raises(CorpusError, match=r"made with fake 1 .* run certirag ingest again"):
        LocalIndex.open(tmp_path, embedder=other.identity)
    assert write_corpus(tmp_path, HANDBOOK, other).embedded == 3
    assert LocalIndex.open(tmp_path, embedder=other.identity).embedder == other.identity


def test_add_keeps_the_other_documents(tmp_path: Path) -> None:
    """With add, a document of the same name is replaced and all others stay."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    report = write_corpus(tmp_path, lambda old: merge(old, CHANGED), FakeEmbedder())
    assert [d.doc_id for d in report.corpus.documents] == ["leave", "pay"]
    texts = ["Leave is forty days.", "Ask early.", "Pay is fair."]
    assert [c.text for c in LocalIndex.open(tmp_path).chunks()] == texts
    assert report.corpus.skipped == HANDBOOK.skipped


def test_add_to_nothing_is_a_first_write(tmp_path: Path) -> None:
    """Adding to a directory without an index makes one."""
    assert write_corpus(tmp_path / "new", lambda old: merge(old, HANDBOOK), FakeEmbedder()).written


@pytest.mark.parametrize(
    ("new", "documents", "skipped"),
    [
        (corpus_of([document_of("new", "New.")]), ["leave", "new", "pay"], ["scan.pdf"]),
        (corpus_of([document_of("pay")]), ["leave", "pay"], ["scan.pdf"]),
        (corpus_of([], [Skipped("pay.txt", "damaged")]), ["leave"], ["pay.txt", "scan.pdf"]),
        (corpus_of([], [Skipped("scan.pdf", "gone")]), ["leave", "pay"], ["scan.pdf"]),
        (corpus_of([]), ["leave", "pay"], ["scan.pdf"]),
    ],
    ids=["new", "replaced by an empty one", "now skipped", "skipped again", "nothing"],
)
def test_merge(new: StoredCorpus, documents: list[str], skipped: list[str]) -> None:
    """New documents win by name and path, a path now skipped goes, the rest stays."""
    merged = merge(HANDBOOK, new)
    assert [d.doc_id for d in merged.documents] == documents
    assert [f.path for f in merged.skipped] == skipped
    assert {c.doc_id for c in merged.chunks} <= set(documents)
    for document in merged.documents:
        assert sum(c.doc_id == document.doc_id for c in merged.chunks) == document.chunks


def test_a_moved_document_id_gives_way_to_its_path() -> None:
    """A document that has the same path under a new name does not stay twice."""
    document, chunks = document_of("renamed", "Pay is better.")
    merged = merge(HANDBOOK, corpus_of([(replace(document, path="pay.txt"), chunks)]))
    assert [d.doc_id for d in merged.documents] == ["leave", "renamed"]


def test_progress_counts_to_the_end(tmp_path: Path) -> None:
    """Progress never runs backwards within a stage and ends with all done."""
    said: list[tuple[str, int, int]] = []
    many = corpus_of([document_of(f"d{n:03}", f"Text {n}.") for n in range(70)])
    write_corpus(tmp_path, many, FakeEmbedder(), lambda *args: said.append(args))
    embedding = [(done, total) for line, done, total in said if line.startswith("Embedding")]
    assert embedding[0] == (0, 70)
    assert embedding[-1] == (70, 70)
    assert [done for done, _ in embedding] == sorted(done for done, _ in embedding)


def broken_corpora() -> dict[str, StoredCorpus]:
    """Return corpora that contradict themselves, by their fault."""
    document, (first, second) = document_of("a", "One two.", "Three.")
    span = replace(first.spans[0], start=1)
    box = replace(first.spans[0], boxes=(Box(1, float("nan"), 0, 0, 0),))

    def of(*chunks: EvidenceChunk) -> StoredCorpus:
        return corpus_of([(document, chunks)])

    return {
        "a chunk twice": of(first, first),
        "an unknown document": of(first, replace(second, doc_id="b")),
        "another digest": of(replace(first, text="One too.")),
        "a span beside its text": of(replace(first, spans=(span,))),
        "a box that is no number": of(replace(first, spans=(box,))),
        "a document twice": corpus_of([(document, [first]), (document, [second])]),
        "a wrong count": StoredCorpus(of(first, second).documents, (first,)),
    }


@pytest.mark.parametrize("fault", sorted(broken_corpora()))
def test_a_corpus_that_contradicts_itself_is_not_written(tmp_path: Path, fault: str) -> None:
    """Chunks, spans and digests that do not agree never reach the disk."""
    write_corpus(tmp_path, HANDBOOK, FakeEmbedder())
    before = files(tmp_path)
    with pytest.raises(CorpusError):
        write_corpus(tmp_path, broken_corpora()[fault], FakeEmbedder())
    assert files(tmp_path) == before


class StrangeEmbedder(FakeEmbedder):
    """Gives *rows* of its own, whatever it is asked."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        super().__init__()
        self.rows = rows

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.rows


@pytest.mark.parametrize(
    "rows",
    [
        np.full((3, 32), np.nan, np.float32),
        np.zeros((3, 32), np.float32),
        np.eye(2, 32, dtype=np.float32),
        np.eye(3, 31, dtype=np.float32),
        np.eye(3, 32, dtype=np.float64),
    ],
    ids=["nan", "zero", "too few", "too narrow", "doubles"],
)
def test_vectors_amiss_are_not_written(tmp_path: Path, rows: NDArray[np.float32]) -> None:
    """An embedder that fails leaves the old index as it was."""
    write_corpus(tmp_path, CHANGED, FakeEmbedder(version="old"))
    before = files(tmp_path)
    with pytest.raises(ModelError, match="CERTIRAG_EMBEDDER"):
        write_corpus(tmp_path, HANDBOOK, StrangeEmbedder(rows))
    assert files(tmp_path) == before
