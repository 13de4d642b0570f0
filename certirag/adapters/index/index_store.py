"""Writes a local index: the new generation beside the old one, then one atomic exchange.

Whatever kills a writer, and whenever, the index is afterwards the old one or the new one,
whole. What a killed writer left lying is removed by the next one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certirag.adapters.index import originals
from certirag.adapters.index.index_format import (
    CURRENT,
    GENERATION_NAME,
    MANIFEST,
    SIGNATURE,
    DocumentRecord,
    Generation,
    StoredCorpus,
    Trusted,
    Version,
    encode_generation,
    read_generation,
    signature_of,
)
from certirag.core.text import EvidenceChunk
from certirag.errors import CorpusError, ModelError
from certirag.ingest.collect import Corpus, Skipped
from certirag.ports import Embedder, Progress
from certirag.retrieve.hybrid import search_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOCK = ".lock"
_TEMPORARY = ".tmp-"
_BATCH = 32
_MOST_VERSIONS = 20  # of one document, the newest


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a write came to: *written* is False when the index already held exactly this."""

    fingerprint: str
    corpus: StoredCorpus
    embedded: int
    reused: int
    written: bool


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest came to."""

    index: Path
    documents: int
    chunks: int
    embedded: int
    written: bool
    skipped: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        """Return the report in plain lines, the skipped files first."""
        state = "written" if self.written else "unchanged"
        return (
            *(f"skipped {reason}" for reason in self.skipped),
            (
                f"{self.documents} documents, {self.chunks} chunks in {self.index} "
                f"({state}; {self.embedded} chunks embedded, {len(self.skipped)} files skipped)"
            ),
        )


def stored_corpus(read: Corpus) -> StoredCorpus:
    """Return what ingest read as an index holds it: in the order of the documents' paths."""
    chunks: dict[str, list[EvidenceChunk]] = {document.doc_id: [] for document in read.documents}
    for chunk in read.chunks:
        chunks.setdefault(chunk.doc_id, []).append(chunk)
    records = (
        DocumentRecord(d.doc_id, d.title, d.path, d.media_type, d.sha256, len(chunks[d.doc_id]))
        for d in read.documents
    )
    return _ordered(records, chunks, read.skipped)


def without(old: StoredCorpus, path: str) -> StoredCorpus:
    """Return *old* without the document at *path*."""
    gone = {document.doc_id for document in old.documents if document.path == path}
    return replace(
        old,
        documents=tuple(d for d in old.documents if d.doc_id not in gone),
        chunks=tuple(c for c in old.chunks if c.doc_id not in gone),
    )


def merge(old: StoredCorpus, new: StoredCorpus) -> StoredCorpus:
    """Return *old* with *new* added.

    A document of *old* gives way when *new* has one of its doc_id or its path, or has skipped
    its path: what was there before is not there any more. All others stay.
    """
    taken = {document.doc_id for document in new.documents}
    paths = {document.path for document in new.documents} | {file.path for file in new.skipped}
    kept = [d for d in old.documents if d.doc_id not in taken and d.path not in paths]
    kept_ids = {document.doc_id for document in kept}
    chunks: dict[str, list[EvidenceChunk]] = {}
    for chunk in (*(c for c in old.chunks if c.doc_id in kept_ids), *new.chunks):
        chunks.setdefault(chunk.doc_id, []).append(chunk)
    still_skipped = (file for file in old.skipped if file.path not in paths)
    both = _ordered((*kept, *new.documents), chunks, (*still_skipped, *new.skipped))
    return replace(both, sources=old.sources)


def _with_versions(old: StoredCorpus, new: StoredCorpus, read_on: str) -> StoredCorpus:
    """Return *new* whose documents remember, of the same path in *old*, what was read before."""
    before = {document.path: document for document in old.documents}
    texts_before, texts = _texts(old), _texts(new)
    records = []
    for document in new.documents:
        last = before.get(document.path)
        versions = () if last is None else last.versions
        if last is not None and last.sha256 != document.sha256:
            changed = texts_before.get(last.doc_id) != texts.get(document.doc_id)
            versions = (*versions, Version(read_on, last.sha256, changed))[-_MOST_VERSIONS:]
        records.append(replace(document, versions=versions))
    return replace(new, documents=tuple(records))


def _texts(corpus: StoredCorpus) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for chunk in corpus.chunks:
        texts.setdefault(chunk.doc_id, []).append(search_text(chunk))
    return texts


def _ordered(
    documents: Iterable[DocumentRecord],
    chunks: Mapping[str, Sequence[EvidenceChunk]],
    skipped: Iterable[Skipped],
) -> StoredCorpus:
    # One order for one content, so that a corpus has one fingerprint however it was named.
    records = tuple(sorted(documents, key=lambda d: (d.path, d.doc_id)))
    known = dict.fromkeys(record.doc_id for record in records)
    # Chunks of no document go along: whoever writes the corpus refuses it, and says which.
    strays = (doc_id for doc_id in chunks if doc_id not in known)
    return StoredCorpus(
        documents=records,
        chunks=tuple(c for doc_id in (*known, *strays) for c in chunks.get(doc_id, ())),
        skipped=tuple(sorted(set(skipped), key=lambda file: (file.path, file.reason))),
    )


def write_corpus(
    directory: Path,
    corpus: StoredCorpus | Callable[[StoredCorpus], StoredCorpus],
    embedder: Embedder,
    progress: Progress = lambda _line, _done, _total: None,
    *,
    read_on: str = "",
    key: Ed25519PrivateKey | None = None,
    trusted: Trusted | None = None,
) -> WriteReport:
    """Make the index in *directory* hold exactly *corpus*, or what that makes of the old one.

    Chunks whose searched text and embedder are those of the old index keep their vectors;
    when nothing differs, nothing is written. A damaged old index is replaced; where *corpus* is
    to be made of it, what it held cannot be known and the write is refused. *read_on* is the time
    that documents with other bytes than before remember. *key* signs what is written;
    of an old index that none of *trusted* signed nothing is kept. Raises CorpusError when
    another writer is at work, the disk refuses, or *corpus* contradicts itself.
    """
    with _writing(directory):
        old = _old_generation(directory, trusted, needed=callable(corpus))
        if callable(corpus):
            corpus = corpus(StoredCorpus((), ()) if old is None else old.corpus)
        if old is not None:
            corpus = _with_versions(old.corpus, corpus, read_on)
        known = _known(old, embedder)
        vectors, embedded = vectors_of(corpus.chunks, embedder, known, progress)
        generation, contents = encode_generation(corpus, vectors, embedder.identity)
        written = old is None or old.name != generation.name
        if key is not None:
            contents[SIGNATURE] = signature_of(contents[MANIFEST], key)
        if written:
            progress("Writing the index", 0, 1)
            _write_generation(directory, generation.name, contents)
            progress("Writing the index", 1, 1)
        _sweep(directory, keep=generation.name)
        originals.sweep(directory, {document.sha256 for document in corpus.documents})
    reused = len(corpus.chunks) - embedded
    return WriteReport(generation.fingerprint, corpus, embedded, reused, written)


@contextmanager
def _writing(directory: Path) -> Iterator[None]:
    """Hold the directory's lock; the system lets go of it when the process ends, killed or not."""
    import fcntl

    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)  # documents' text, in clear
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(directory / LOCK, flags, 0o600)
    except OSError as error:
        raise CorpusError(_refused(directory, error)) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        message = f"another ingest is writing {directory}: wait until it ends, then run it again"
        raise CorpusError(message) from error
    except OSError as error:
        raise CorpusError(_refused(directory, error)) from error
    finally:
        os.close(lock)


def _old_generation(directory: Path, trusted: Trusted | None, *, needed: bool) -> Generation | None:
    if not (directory / CURRENT).exists():
        return None
    try:
        old = read_generation(directory, trusted)
        if trusted is not None and not old.signed:
            raise CorpusError(foreign(directory))
    except CorpusError:
        if needed:
            raise
        return None
    return old


def foreign(directory: Path) -> str:
    """Return the line about an index that no trusted key signed."""
    return (
        f"the index in {directory} was not made here, or was changed since (no key that this home "
        "trusts signed it): run certirag ingest again, or set CERTIRAG_FOREIGN_INDEX=on to ask it "
        "as it is; its answers then say so"
    )


def _known(old: Generation | None, embedder: Embedder) -> dict[str, NDArray[np.float32]]:
    """Return the old vectors by the text that was embedded, if the same model made them."""
    if old is None or old.embedder != embedder.identity:
        return {}
    texts = (search_text(chunk) for chunk in old.corpus.chunks)
    return dict(zip(texts, old.vectors, strict=True))


def vectors_of(
    chunks: Sequence[EvidenceChunk],
    embedder: Embedder,
    known: Mapping[str, NDArray[np.float32]],
    progress: Progress,
) -> tuple[NDArray[np.float32], int]:
    """Return the vectors (chunks, dimension) and how many had to be computed.

    *known* are those of texts that this embedder has embedded before, by the text.
    """
    import numpy as np

    texts = [search_text(chunk) for chunk in chunks]
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    rows = dict(known) | dict(zip(missing, embed_texts(missing, embedder, progress), strict=True))
    vectors = np.empty((len(texts), embedder.dimension), dtype=np.float32)
    for place, text in enumerate(texts):
        vectors[place] = rows[text]
    return vectors, len(missing)


def embed_texts(
    texts: Sequence[str], embedder: Embedder, progress: Progress
) -> Iterator[NDArray[np.float32]]:
    """Yield the unit vector of each text; ModelError when the embedder gives anything else."""
    import numpy as np

    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        progress("Embedding the documents", start, len(texts))
        rows = embedder.embed(batch)
        if rows.shape != (len(batch), embedder.dimension) or rows.dtype != np.float32:
            message = f"{embedder.identity.name} gave {rows.dtype} vectors of shape {rows.shape}"
            raise ModelError(f"{message}: choose another embedder with CERTIRAG_EMBEDDER")
        if not np.all(np.abs(np.linalg.norm(rows, axis=1) - 1) < 1e-3):  # NaN is refused too
            message = f"{embedder.identity.name} gave vectors that are not of length one"
            raise ModelError(f"{message}: choose another embedder with CERTIRAG_EMBEDDER")
        yield from rows
        progress("Embedding the documents", start + len(batch), len(texts))


def _write_generation(directory: Path, name: str, contents: dict[str, bytes]) -> None:
    """Write the files beside, make them durable, rename, and only then let CURRENT name them."""
    temporary = directory / f"{_TEMPORARY}{name}"
    try:
        _remove(temporary)
        temporary.mkdir(mode=0o700)
        for part, content in contents.items():
            _write_durably(temporary / part, content)
        _sync_folder(temporary)
        # Of this name there can be the work of a writer killed before its last step, or the
        # generation in force with a damaged file; both are worth nothing beside this one.
        _remove(directory / name)
        temporary.rename(directory / name)
        _sync_folder(directory)
        _write_durably(directory / f"{_TEMPORARY}{CURRENT}", f"{name}\n".encode("ascii"))
        (directory / f"{_TEMPORARY}{CURRENT}").replace(directory / CURRENT)
        _sync_folder(directory)
    except OSError as error:
        raise CorpusError(_refused(directory, error)) from error
    finally:
        _remove(temporary)


def _write_durably(path: Path, content: bytes) -> None:
    # An index may come from elsewhere: what stands in the way, a link above all, is not written to.
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(directory: Path, *, keep: str) -> None:
    """Remove what older writers left, and nothing that this program did not name."""
    for entry in sorted(directory.iterdir()):
        name = entry.name.removeprefix(_TEMPORARY)
        temporary = name != entry.name and (GENERATION_NAME.fullmatch(name) or name == CURRENT)
        if temporary or (GENERATION_NAME.fullmatch(entry.name) and entry.name != keep):
            _remove(entry)


def _remove(path: Path) -> None:
    # What will not go is no reason to fail: it is not in force, and the next write tries again.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _refused(directory: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"the index in {directory} cannot be written ({reason}): free it or name another folder"
