"""The audit log as one append-only SQLite table of signed certificates.

Triggers refuse UPDATE and DELETE, each entry carries the digest of the one before it, and
every append is durable before it returns. Whoever owns the file can still cut off its tail:
signed checkpoints held elsewhere are a later step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from certirag.core.text import sha256_hex
from certirag.errors import AuditError
from certirag.ports import LogEntry

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS log (
  sequence INTEGER PRIMARY KEY,
  trace_id TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  previous TEXT NOT NULL UNIQUE,
  digest TEXT NOT NULL,
  certificate BLOB NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS log_no_update BEFORE UPDATE ON log
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS log_no_delete BEFORE DELETE ON log
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS log_no_replace BEFORE INSERT ON log
  WHEN NEW.sequence <= (SELECT COALESCE(MAX(sequence), 0) FROM log)
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
"""
_GENESIS: Final = "0" * 64


class SqliteAuditLog:
    """AuditLog over one file; safe for several processes on one machine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as connection:
                connection.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise AuditError(f"the audit log {path} cannot be opened: {error}") from error

    def append(self, *, trace_id: str, created_at: str, certificate: bytes) -> int:
        """Write one entry durably and return its number; AuditError when that fails."""
        try:
            with closing(self._connect()) as connection:
                # IMMEDIATE: a deferred transaction that upgrades fails under several writers.
                connection.execute("BEGIN IMMEDIATE")
                head = connection.execute(
                    "SELECT sequence, digest FROM log ORDER BY sequence DESC LIMIT 1"
                ).fetchone()
                sequence, previous = (head[0] + 1, head[1]) if head else (1, _GENESIS)
                digest = _digest(sequence, trace_id, created_at, previous, certificate)
                connection.execute(
                    "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
                    (sequence, trace_id, created_at, previous, digest, certificate),
                )
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise AuditError(
                f"the audit log {self._path} refused the entry ({error}), so no answer is shown"
            ) from error
        return sequence

    def entries(self) -> Iterator[LogEntry]:
        """Yield all entries in order; AuditError at the first that does not chain."""
        previous = _GENESIS
        for number, row in enumerate(self._rows("ORDER BY sequence"), start=1):
            sequence, trace_id, created_at, stated, digest, certificate = row
            expected = _digest(sequence, trace_id, created_at, stated, certificate)
            if sequence != number or stated != previous or digest != expected:
                raise AuditError(f"the audit log {self._path} is broken at entry {number}")
            previous = digest
            yield LogEntry(sequence, trace_id, created_at, certificate)

    def find(self, trace_id: str) -> LogEntry:
        """Return the entry of *trace_id*; AuditError when the log has none."""
        for row in self._rows("WHERE trace_id = ?", trace_id):
            sequence, name, created_at, previous, digest, certificate = row
            if digest == _digest(sequence, name, created_at, previous, certificate):
                return LogEntry(sequence, name, created_at, certificate)
            raise AuditError(f"entry {sequence} of the audit log does not match its digest")
        raise AuditError(f"the audit log has no entry {trace_id!r}")

    def _rows(self, clause: str, *values: str) -> Iterator[tuple[int, str, str, str, str, bytes]]:
        query = f"SELECT sequence, trace_id, created_at, previous, digest, certificate FROM log {clause}"  # noqa: S608  # the clause is one of two constants
        try:
            with closing(self._connect()) as connection:
                yield from connection.execute(query, values)
        except (sqlite3.Error, OSError) as error:
            raise AuditError(f"the audit log {self._path} cannot be read: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30.0, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA recursive_triggers = ON")
        return connection


def _digest(
    sequence: int, trace_id: str, created_at: str, previous: str, certificate: bytes
) -> str:
    head = f"{sequence}\n{trace_id}\n{created_at}\n{previous}\n".encode()
    return sha256_hex(head + certificate)
