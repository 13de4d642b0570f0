"""The PDF files of an index as they were read, each under its SHA-256, to show their pages."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from certirag.core.text import Document, EvidenceChunk, sha256_hex
from certirag.ingest.collect import DocumentReader

FOLDER: Final = "originals"
_KEPT: Final = "application/pdf"
_NAME: Final = re.compile(r"[0-9a-f]{64}")
_PART: Final = ".part"


def keeping(read: DocumentReader, directory: Path) -> DocumentReader:
    """Return *read* that also keeps each PDF's bytes beside the index in *directory*.

    What cannot be written is not kept: its pages cannot be shown, and nothing else is lost.
    """

    def read_and_keep(data: bytes, path: str) -> tuple[Document, tuple[EvidenceChunk, ...]]:
        found = read(data, path)
        if found[0].media_type == _KEPT:
            with suppress(OSError):
                _keep(directory / FOLDER, data, found[0].sha256)
        return found

    return read_and_keep


def original(indexes: Iterable[Path], sha256: str) -> bytes | None:
    """Return the file with that digest which one of *indexes* keeps, None where none does.

    What lies under a digest that is not its own counts as missing.
    """
    if not _NAME.fullmatch(sha256):
        return None
    for index in indexes:
        with suppress(OSError):
            data = (index / FOLDER / sha256).read_bytes()
            if sha256_hex(data) == sha256:
                return data
    return None


def sweep(directory: Path, keep: Container[str]) -> None:
    """Remove the originals in *directory* that *keep* does not name, and nothing else.

    An index may come from elsewhere: where its folder is a link, what it points at is not touched.
    """
    folder = directory / FOLDER
    if folder.is_symlink() or not folder.is_dir():
        return
    for file in sorted(folder.iterdir()):
        if file.name not in keep and _NAME.fullmatch(file.name.removesuffix(_PART)):
            with suppress(OSError):
                file.unlink()


def _keep(folder: Path, data: bytes, sha256: str) -> None:
    if folder.is_symlink():
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if original([folder.parent], sha256) is None:  # missing, or damaged since
        part = folder / f"{sha256}{_PART}"
        part.unlink(missing_ok=True)
        part.touch(0o600, exist_ok=False)
        part.write_bytes(data)
        part.replace(folder / sha256)
