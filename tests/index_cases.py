"""Two small corpora, and what the tests of the local index look at on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fakes import document_of

from certirag.adapters.index.index_format import StoredCorpus
from certirag.adapters.index.index_store import stored_corpus
from certirag.core.text import Document, EvidenceChunk
from certirag.ingest.collect import Corpus, Skipped


def corpus_of(
    pairs: Sequence[tuple[Document, Sequence[EvidenceChunk]]], skipped: Sequence[Skipped] = ()
) -> StoredCorpus:
    """Return the corpus of documents, each given with its chunks."""
    documents = tuple(document for document, _ in pairs)
    chunks = tuple(chunk for _, held in pairs for chunk in held)
    return stored_corpus(Corpus(documents, chunks, tuple(skipped)))


HANDBOOK = corpus_of(
    [
        document_of("leave", "Leave is thirty days.", "Ask early."),
        document_of("pay", "Pay is fair."),
    ],
    [Skipped("scan.pdf", "holds no text")],
)
CHANGED = corpus_of([document_of("leave", "Leave is forty days.", "Ask early.")])


def files(directory: Path) -> dict[str, tuple[bytes, int]]:
    """Return the content and time of change of every file below *directory*."""
    return {
        str(p.relative_to(directory)): (p.read_bytes(), p.stat().st_mtime_ns)
        for p in sorted(directory.rglob("*"))
        if p.is_file()
    }


def part(directory: Path, name: str) -> Path:
    """Return the file *name* of the only generation in *directory*."""
    return next(directory.glob("gen-*")) / name
