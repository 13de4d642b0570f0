"""The folder of archived contents: JSON Lines, each file named by its digest.

A line is the export of an answer, as `certirag check` reads it, or a request with the log's proof
of it. A file is written whole or not at all and never changed: to take erased contents out of it,
another file is written without them and this one is deleted.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from certirag.errors import AuditError, CertificateError
from certirag.ports import LogEntry
from certirag.proof.certificate import export_bytes
from certirag.proof.countersignature import REVIEW_TYPE, Countersigned, countersigned_json
from certirag.proof.envelope import envelope_of
from certirag.proof.log import Leaf, LogProof, parse_leaf, proof_json

_FILE: Final = re.compile(r"([0-9a-f]{64})\.jsonl")
_LOCK: Final = ".lock"


@dataclass(frozen=True, slots=True)
class Written:
    """A file of the archive: its SHA-256, which is its name too, and the entries in it."""

    sha256: str
    indexes: tuple[int, ...]


class ArchiveFolder:
    """The archive of one home; AuditError from every method when a file cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let one program at a time act; the system lets go when it ends, killed or not."""
        import fcntl  # noqa: PLC0415  # this file is read on systems without it too

        with self._failing("cannot be locked"):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            lock = os.open(self._folder / _LOCK, flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise AuditError(
                f"another retention run uses {self._folder}: wait until it ends, then run it again"
            ) from error
        try:
            yield
        finally:
            os.close(lock)

    def names(self) -> tuple[str, ...]:
        """Return the digests that the files of the archive are named by, in order."""
        with self._failing("cannot be listed"):
            found = [_FILE.fullmatch(path.name) for path in sorted(self._folder.iterdir())]
        return tuple(match[1] for match in found if match)

    def sweep(self) -> None:
        """Remove what a run that was cut off left half written."""
        with self._failing("cannot be swept"):
            for path in self._folder.glob(".*.tmp"):
                path.unlink()

    def write(self, lines: Iterable[tuple[int, bytes]]) -> Written | None:
        """Write the lines of entries into a new file, durably; None when there are none."""
        indexes: list[int] = []
        digest = hashlib.sha256()
        temporary = self._folder / f".{os.getpid()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with self._failing("cannot be written"):
            try:
                with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                    for index, line in lines:
                        file.write(line)
                        digest.update(line)
                        indexes.append(index)
                    file.flush()
                    os.fsync(file.fileno())
                if not indexes:
                    return None
                temporary.replace(self._path(digest.hexdigest()))
                self._settle()
            finally:
                with suppress(FileNotFoundError):
                    temporary.unlink()
        return Written(digest.hexdigest(), tuple(indexes))

    def leaves(self, sha256: str) -> Iterator[Leaf]:
        """Yield the leaf of each line; AuditError for a line that is none of ours."""
        for leaf, _line in self._lines(sha256):
            yield leaf

    def write_without(self, sha256: str, gone: Callable[[int], bool]) -> Written | None:
        """Write the file *sha256* again without the entries that are *gone*; None if none is left."""
        return self.write(
            (leaf.index, line) for leaf, line in self._lines(sha256) if not gone(leaf.index)
        )

    def remove(self, sha256: str) -> None:
        """Delete a file, durably."""
        with self._failing("cannot be deleted"):
            self._path(sha256).unlink(missing_ok=True)
            self._settle()

    def _lines(self, sha256: str) -> Iterator[tuple[Leaf, bytes]]:
        path = self._path(sha256)
        with self._failing("cannot be read"), path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    leaf = parse_leaf(json.loads(line)["log"]["leaf"])
                except (ValueError, KeyError, TypeError, AttributeError, CertificateError) as error:
                    raise AuditError(
                        f"{path}, line {number}, is no archived entry: "
                        "move the file out of the archive, or delete it"
                    ) from error
                yield leaf, line

    def _path(self, sha256: str) -> Path:
        return self._folder / f"{sha256}.jsonl"

    def _settle(self) -> None:
        """Make the folder's own entries durable."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _failing(self, how: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise AuditError(f"the archive {self._folder} {how}: {error}") from error


def archived_line(entry: LogEntry, proof: LogProof) -> bytes:
    """Return *entry*, which has its content, as a line of the archive."""
    content = entry.content or b""
    if entry.signature is not None and parse_leaf(entry.leaf).kind == "review":
        envelope = envelope_of(content, *entry.signature, REVIEW_TYPE)
        return json.dumps(countersigned_json(Countersigned(envelope, proof))).encode() + b"\n"
    if entry.signature is not None:
        # JSON strings hold no raw line end, so those of the layout can go.
        export = export_bytes(envelope_of(content, *entry.signature), proof)
        return export.replace(b"\n", b"") + b"\n"
    request = {"request": base64.b64encode(content).decode("ascii"), "log": proof_json(proof)}
    return json.dumps(request).encode("ascii") + b"\n"
