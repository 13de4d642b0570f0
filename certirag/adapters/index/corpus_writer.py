"""Changes to a corpus on disk, one way for the command line and the page: read, read again, remove.

Each writes a new sound index in place of the old one, or raises and leaves the old one in force.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certirag.adapters.index.index_format import (
    DocumentRecord,
    StoredCorpus,
    Trusted,
    read_generation,
)
from certirag.adapters.index.index_store import (
    IngestReport,
    merge,
    stored_corpus,
    without,
    write_corpus,
)
from certirag.adapters.index.originals import keeping
from certirag.errors import CorpusError, InputError
from certirag.ingest.apart import ReadingProcess
from certirag.ingest.collect import Corpus, Watch, file_paths, read_corpus
from certirag.ingest.extract import printable
from certirag.ports import Embedder
from certirag.proof.keys import own_keys


@dataclass(frozen=True, slots=True)
class CorpusWriter:
    """Changes the corpus in *directory*; what it writes is signed with *key*.

    Only an index that the home itself signed is changed, with *key* or a former one of *trusted*:
    it names the files that are opened. What *watch* raises breaks a change off.
    """

    directory: Path
    read: ReadingProcess
    embedder: Embedder
    key: Ed25519PrivateKey
    trusted: Trusted
    now: Callable[[], datetime]
    watch: Watch

    def ingest(self, paths: Sequence[Path]) -> IngestReport:
        """Make the index hold exactly what *paths* hold.

        Raises InputError when none of it can be evidence: an empty index answers nothing.
        """
        return self._write(self._all_of(paths))

    def reread(self, document: str = "") -> IngestReport:
        """Read the document at that path again, or without one all of it, from where it came.

        Raises InputError when it is not there any more, or cannot be read as it is now, and
        CorpusError when this home did not sign the index, it does not say where it came from, or
        another one changed it meanwhile: what was read here may be older than what is there.
        """
        old = self._trusted_corpus()
        paths = [Path(source) for source in old.sources]
        if not paths:
            raise CorpusError(
                "this index does not say where its documents came from: "
                f"run certirag ingest PATH --index {self.directory}"
            )
        if not document:
            everything = self._all_of(paths)
            return self._write(lambda now: self._unchanged(old, now, everything))
        before = _document(old, document)
        _require_one_meaning(document, old, paths)
        corpus = self._read(paths, only=document)
        if not corpus.documents:
            gone = f"{printable(document)}: it is no longer where it was read"
            raise InputError(corpus.skipped[0].reason if corpus.skipped else gone)
        new = stored_corpus(corpus)

        def replaced(now: StoredCorpus) -> StoredCorpus:
            self._unchanged(before, _document(now, document), new)
            for other in now.documents:
                if other.path != document and other.sha256 == new.documents[0].sha256:
                    raise InputError(
                        f"{printable(document)}: has the same content as "
                        f"{printable(other.path)} now; delete one of the two"
                    )
            return merge(now, new)

        return self._write(replaced)

    def remove(self, document: str) -> IngestReport:
        """Take the document at that path out of the index; its file is left as it is."""
        self._trusted_corpus()

        def rest(now: StoredCorpus) -> StoredCorpus:
            _document(now, document)
            return without(now, document)

        return self._write(rest)

    def _all_of(self, paths: Sequence[Path]) -> StoredCorpus:
        corpus = self._read(paths)
        if not corpus.documents:
            detail = corpus.skipped[0].reason if corpus.skipped else "there are no files"
            raise InputError(f"nothing to ingest in {', '.join(map(str, paths))}: {detail}")
        return replace(stored_corpus(corpus), sources=_sources(paths))

    def _unchanged(self, before: object, now: object, new: StoredCorpus) -> StoredCorpus:
        """Return *new*, which was read when there was *before*, if that is there *now*."""
        if now != before:
            raise CorpusError(
                f"the index in {self.directory} was changed while this was read: run it again"
            )
        return new

    def _read(self, paths: Sequence[Path], *, only: str = "") -> Corpus:
        read = keeping(self.read, self.directory)
        return read_corpus(paths, limits=self.read.limits, read=read, watch=self.watch, only=only)

    def _trusted_corpus(self) -> StoredCorpus:
        generation = read_generation(self.directory, own_keys(self.key, self.trusted))
        if not generation.signed:
            raise CorpusError(
                f"the index in {self.directory} was not made here, or was changed since: only the "
                "home that made it can change it; run certirag ingest to make one here"
            )
        return generation.corpus

    def _write(self, corpus: StoredCorpus | Callable[[StoredCorpus], StoredCorpus]) -> IngestReport:
        done = write_corpus(
            self.directory,
            corpus,
            self.embedder,
            self.watch.progress,
            read_on=self.now().astimezone(UTC).isoformat(timespec="seconds"),
            key=self.key,
            trusted=own_keys(self.key, self.trusted),
        )
        return IngestReport(
            index=self.directory,
            documents=len(done.corpus.documents),
            chunks=len(done.corpus.chunks),
            embedded=done.embedded,
            written=done.written,
            skipped=tuple(skipped.reason for skipped in done.corpus.skipped),
        )


def _document(corpus: StoredCorpus, path: str) -> DocumentRecord:
    for document in corpus.documents:
        if document.path == path:
            return document
    raise InputError(f"{printable(path)}: there is no such document in this corpus")


def _require_one_meaning(path: str, old: StoredCorpus, sources: Sequence[Path]) -> None:
    """Raise InputError where the file at *path* may be the one of another folder by now.

    Of two folders with files of one name the second's has its folder's name before it, until the
    first's is gone; then it would be read as that.
    """
    same = {d.path for d in old.documents if d.path.endswith(f"/{path}")} if sources[1:] else set()
    if gone := same.difference(file_paths(sources)):
        raise InputError(
            f"{printable(path)}: {printable(min(gone))} is no longer told apart from it: "
            "read all documents again"
        )


def _sources(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return *paths* as an index remembers them; none if one of them could not be written down."""
    # Links and `..` stay as named: without them it is another folder where one follows the other.
    texts = tuple(str(path.absolute()) for path in paths)
    return texts if all(os.fsencode(t).decode("utf-8", "replace") == t for t in texts) else ()
