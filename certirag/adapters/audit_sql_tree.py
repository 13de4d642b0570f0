"""Reads the nodes of the log's Merkle tree from the rows that hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, select

from certirag.adapters.audit_schema import LOG_ENTRY
from certirag.core.merkle import NodeReader
from certirag.errors import AuditError

_HASH: Final = 32


class TreeNodes:
    """A `merkle.NodeReader` over the rows of one transaction; each row is read once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: dict[int, bytes] = {}

    def __call__(self, level: int, number: int) -> bytes:
        """Return the hash of one complete subtree; AuditError when its row is cut short."""
        seq = _row_of(level, number)
        if seq not in self._rows:
            self._fetch({seq})
        node = self._rows.get(seq, b"")[_HASH * level : _HASH * (level + 1)]
        if len(node) != _HASH:
            raise AuditError(f"the audit log is broken: entry {seq} lacks a part of the tree")
        return node

    def prepare(self, read: Callable[[NodeReader], object]) -> None:
        """Fetch in one query all rows that *read* will ask for."""
        wanted: set[int] = set()

        def note(level: int, number: int) -> bytes:
            wanted.add(_row_of(level, number))
            return bytes(_HASH)

        read(note)
        self._fetch(wanted - self._rows.keys())

    def add(self, seq: int, nodes: bytes) -> None:
        """Take in the nodes of a row that is about to be written."""
        self._rows[seq] = nodes

    def _fetch(self, wanted: set[int]) -> None:
        if wanted:
            query = select(LOG_ENTRY.c.seq, LOG_ENTRY.c.nodes).where(LOG_ENTRY.c.seq.in_(wanted))
            for seq, nodes in self._connection.execute(query):
                self._rows[seq] = nodes


def _row_of(level: int, number: int) -> int:
    return ((number + 1) << level) - 1
