"""What the workers of one gateway know together: tokens left to each key, and who was given what.

SQLite, because it stays whole when a worker is killed at any moment. The file is the gateway's for
as long as it runs, and holds names of keys and trace ids.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_REMEMBERED: Final = 10_000  # answers whose certificate a caller may fetch
_WAIT: Final = 5.0  # seconds for another worker, which needs microseconds
_TABLES: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS tokens (caller TEXT PRIMARY KEY, left_over REAL, at REAL) STRICT;
CREATE TABLE IF NOT EXISTS given (
  number INTEGER PRIMARY KEY, trace_id TEXT UNIQUE, caller TEXT) STRICT;
"""


class Together:
    """The state in the file *path*, or, without one, of this process alone.

    Safe for threads and processes. The file is opened when it is first asked for: a connection
    must not be carried over a fork.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._opened: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def take(self, caller: str, per_minute: int, now: float) -> float:
        """Take a token of *caller*; 0, or, where there is none, the seconds until there is one.

        *now* is in seconds by a clock that all workers share and that does not go back.
        """
        rate = per_minute / 60
        with self._writing() as connection:
            row = connection.execute("SELECT left_over, at FROM tokens WHERE caller = ?", (caller,))
            left, at = row.fetchone() or (float(per_minute), now)
            left = min(per_minute, left + max(0.0, now - at) * rate)
            if left < 1:
                return float((1 - left) / rate)
            new = (caller, left - 1, now)
            connection.execute("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)", new)
        return 0.0

    def give(self, trace_id: str, caller: str) -> None:
        """Remember that *caller* was given the answer *trace_id*; the oldest are forgotten."""
        with self._writing() as connection:
            new = connection.execute(
                "INSERT OR REPLACE INTO given (trace_id, caller) VALUES (?, ?)", (trace_id, caller)
            )
            last = int(new.lastrowid or 0)
            connection.execute("DELETE FROM given WHERE number <= ?", (last - _REMEMBERED,))

    def was_given(self, trace_id: str, caller: str) -> bool:
        """Say whether *caller* was given the answer *trace_id*."""
        with self._writing() as connection:
            asked = (trace_id, caller)
            found = connection.execute(
                "SELECT 1 FROM given WHERE trace_id = ? AND caller = ?", asked
            )
            return found.fetchone() is not None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._opened is None:
                self._opened = sqlite3.connect(
                    self._path or ":memory:",
                    timeout=_WAIT,
                    isolation_level=None,
                    check_same_thread=False,
                )
                self._opened.executescript(_TABLES)
            self._opened.execute("BEGIN IMMEDIATE")
            with self._opened:  # commits, or rolls back
                yield self._opened
