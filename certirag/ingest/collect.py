"""Collect files, folders and uploads, and read them into a corpus; a bad file never stops it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from certirag.core.text import Document, EvidenceChunk, sha256_hex
from certirag.errors import IngestError
from certirag.ingest.extract import Limits, printable
from certirag.ingest.load import superseded_notice
from certirag.ports import Progress

_OFFICE_LOCK: Final = "~$"
# Reads one source: its bytes and relative path in, the document and its chunks out; IngestError
# for what cannot be read (`certirag.ingest.apart.ReadingProcess`).
DocumentReader = Callable[[bytes, str], tuple[Document, tuple[EvidenceChunk, ...]]]


def _unwatched(*_: object) -> None:
    """Look on, and do nothing."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on while files are read; what it raises breaks the reading off.

    *progress* is told of each file before it is read, and *outcome* after it, in the same order:
    why it was not read, "" once it was. *waiting* is called time and again while one is read.
    """

    progress: Progress = _unwatched
    outcome: Callable[[str], None] = _unwatched
    waiting: Callable[[], None] = _unwatched


@dataclass(frozen=True, slots=True)
class CollectedFile:
    """A source: its *path* is relative to the folder that was given, with forward slashes."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that was not read, and why, in one line that is safe to show."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents in the order they were found, all their chunks, and what was skipped."""

    documents: tuple[Document, ...]
    chunks: tuple[EvidenceChunk, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: str
    file: Path
    root: Path  # the folder that was given, or holds the file that was: the way there is as named


def collect(paths: Sequence[Path], *, limits: Limits) -> Iterator[CollectedFile | Skipped]:
    """Yield the files of *paths*, folders with all below them, sorted by relative path.

    Hidden files, links, and what is no regular file are skipped with a reason; nothing that a
    link points to outside of a folder is ever read.
    """
    for candidate in _candidates(paths):
        yield candidate if isinstance(candidate, Skipped) else _read(candidate, limits)


def read_corpus(
    paths: Sequence[Path],
    *,
    limits: Limits,
    read: DocumentReader,
    watch: Watch = Watch(),
    only: str = "",
) -> Corpus:
    """Return the corpus that the files and folders in *paths* make, or the file at *only* of them.

    Duplicates by content and files that cannot be read are in ``skipped``; none of them raises.
    """
    candidates = [c for c in _candidates(paths) if only in {"", c.path}]
    sources = (c if isinstance(c, Skipped) else _read(c, limits) for c in candidates)
    return _corpus(sources, len(candidates), read, watch)


def file_paths(paths: Sequence[Path]) -> set[str]:
    """Return the relative path of every file that `read_corpus` would read of *paths*."""
    return {found.path for found in _candidates(paths) if isinstance(found, _Candidate)}


def read_uploads(
    uploads: Sequence[tuple[str, bytes]],
    *,
    read: DocumentReader,
    watch: Watch = Watch(),
) -> Corpus:
    """Return the corpus that uploaded files, as (name, bytes), make; names are made distinct."""
    sources: list[CollectedFile] = []
    taken: set[str] = set()
    for given, data in uploads:
        # Browsers send a bare name; whatever else comes must not look like a path.
        name = given.replace("\\", "/").rstrip("/").rpartition("/")[2].strip() or "upload"
        path, number = name, 2
        while path in taken:
            path, number = f"{number}/{name}", number + 1
        taken.add(path)
        sources.append(CollectedFile(path, data))
    return _corpus(sources, len(sources), read, watch)


def _corpus(
    sources: Iterable[CollectedFile | Skipped],
    total: int,
    read: DocumentReader,
    watch: Watch,
) -> Corpus:
    documents: list[Document] = []
    chunks: list[EvidenceChunk] = []
    skipped: list[Skipped] = []
    contents: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    for done, source in enumerate(sources):
        watch.progress(f"Reading {printable(source.path)}", done, total)
        refused = source if isinstance(source, Skipped) else None
        if not isinstance(source, Skipped):
            try:
                _require_new(source, contents)
                document, pieces = read(source.data, source.path)
                _require_usable(document, pieces, identifiers)
            except IngestError as error:
                refused = Skipped(source.path, str(error))
            else:
                contents[document.sha256] = identifiers[document.doc_id] = document.path
                documents.append(document)
                chunks.extend(pieces)
        if refused is not None:
            skipped.append(refused)
        watch.outcome("" if refused is None else refused.reason)
    watch.progress(f"Read {len(documents)} documents, skipped {len(skipped)}", total, total)
    return Corpus(tuple(documents), tuple(chunks), tuple(skipped))


def _require_new(source: CollectedFile, contents: dict[str, str]) -> None:
    first = contents.get(sha256_hex(source.data))
    if first is not None:
        shown = printable(first)
        raise IngestError(
            f"{printable(source.path)}: has the same content as {shown}, which is kept"
        )


def _require_usable(
    document: Document, chunks: Sequence[EvidenceChunk], identifiers: dict[str, str]
) -> None:
    name = printable(document.path)
    notice = superseded_notice(document)
    if notice:
        raise IngestError(
            f"{name}: kept out of evidence, for it calls itself superseded: “{printable(notice)}”"
        )
    if document.doc_id in identifiers:
        other = printable(identifiers[document.doc_id])
        raise IngestError(f"{name}: its name gives the same identifier as {other}; rename it")
    if not chunks:
        hidden = sum(not block.visible for block in document.blocks)
        reason = f"only text that a reader cannot see ({hidden} passages)" if hidden else "headings"
        raise IngestError(f"{name}: holds {reason} and nothing that can be evidence; add text")


def _candidates(paths: Sequence[Path]) -> Iterator[_Candidate | Skipped]:
    taken: set[str] = set()
    for given in paths:
        for found in _below(given):
            path = found.path
            if path in taken:  # two folders were given that hold files of one name
                path = f"{_text(given.resolve().parent.name or given.name)}/{path}"
                if given.is_dir():
                    path = f"{_text(given.resolve().name)}/{found.path}"
            if isinstance(found, Skipped):
                yield found
            elif path in taken:
                yield Skipped(path, f"{printable(path)}: given more than once; it is read once")
            else:
                taken.add(path)
                yield _Candidate(path, found.file, found.root)


def _below(given: Path) -> Iterator[_Candidate | Skipped]:
    name = _text(given.name or str(given))
    try:
        folder = stat.S_ISDIR(given.stat().st_mode)
    except OSError as error:
        yield Skipped(name, f"{printable(name)}: {_problem(error)}; check the path")
        return
    if folder:
        yield from _in_folder(given, given)
    else:
        file = given.resolve()
        yield _Candidate(name, file, file.parent)


def _in_folder(folder: Path, root: Path) -> Iterator[_Candidate | Skipped]:
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: (entry.is_dir(), entry.name))
    except OSError as error:
        path = _text(folder.relative_to(root).as_posix())
        yield Skipped(path, f"{printable(path)}: {_problem(error)}; allow reading it")
        return
    for entry in entries:
        path = _text(entry.relative_to(root).as_posix())
        if entry.name.startswith((".", _OFFICE_LOCK)):
            yield Skipped(path, f"{printable(path)}: hidden; rename it to have it read")
        elif entry.is_symlink():
            inside = entry.resolve().is_relative_to(root.resolve())
            where = "its target is read by itself" if inside else "it leads out of the folder"
            yield Skipped(path, f"{printable(path)}: a link, not followed; {where}")
        elif entry.is_dir():
            yield from _in_folder(entry, root)
        else:
            yield _Candidate(path, entry, root)


def _read(candidate: _Candidate, limits: Limits) -> CollectedFile | Skipped:
    """Read one file; it is opened once, so that it cannot become a link or pipe in between."""
    path, shown = candidate.path, printable(candidate.path)
    try:
        with os.fdopen(_opened(candidate), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return Skipped(path, f"{shown}: no regular file; give a document")
            if status.st_size > limits.max_bytes:
                return Skipped(
                    path,
                    f"{shown}: {status.st_size:,} bytes, more than the limit of "
                    f"{limits.max_bytes:,}; split it or raise CERTIRAG_MAX_FILE_BYTES",
                )
            return CollectedFile(path, file.read(limits.max_bytes + 1))
    except OSError as error:
        return Skipped(path, f"{shown}: {_problem(error)}; allow reading it")


def _opened(candidate: _Candidate) -> int:
    """Open the file, where no folder below its root has become a link since it was listed."""
    no_link = getattr(os, "O_NOFOLLOW", 0)
    flags = os.O_RDONLY | no_link | getattr(os, "O_NONBLOCK", 0)
    if os.open not in os.supports_dir_fd:  # Windows
        return os.open(candidate.file, flags)
    pass_through = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
    *folders, name = candidate.file.relative_to(candidate.root).parts
    at = os.open(candidate.root, pass_through)
    try:
        for folder in folders:
            above, at = at, os.open(folder, pass_through | no_link, dir_fd=at)
            os.close(above)
        return os.open(name, flags, dir_fd=at)
    finally:
        os.close(at)


def _problem(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _text(name: str) -> str:
    """Return a file's *name* in characters that can be written out, whatever its bytes are."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
