"""An audit log in memory: real leaves, tree, checkpoints and proofs, and nothing of a database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certirag.ports import LogEntry, NewEntry
from certirag.proof.envelope import key_id, raw_public_key
from certirag.proof.log import (
    Leaf,
    LogProof,
    checkpoint_signature,
    checkpoint_text,
    commitment,
    leaf_text,
)
from certirag.proof.merkle import (
    completed_nodes,
    consistency_path,
    inclusion_path,
    leaf_hash,
    root_hash,
)

ORIGIN = "certirag.test/memory"


class MemoryLog:
    """The writing half of `ports.AuditLog`; salts are digests of the index, so runs repeat."""

    def __init__(self, key: Ed25519PrivateKey, origin: str = ORIGIN) -> None:
        self._key, self.origin = key, origin
        self._entries: list[LogEntry] = []
        self._nodes: dict[tuple[int, int], bytes] = {}
        self.append(NewEntry("genesis", "", datetime(2026, 1, 1, tzinfo=UTC)))

    def append(self, entry: NewEntry) -> LogProof:
        index = len(self._entries)
        salt = hashlib.sha256(f"salt {index}".encode()).digest() if entry.content else None
        leaf = Leaf(
            1,
            self.origin,
            index,
            entry.kind,
            entry.at.astimezone(UTC).isoformat(timespec="milliseconds"),
            entry.trace_id,
            "internal_faq",
            key_id(self._key.public_key()),
            commitment(salt, entry.content) if salt else "",
            dict(entry.detail),
        )
        text = leaf_text(leaf)
        digest = leaf_hash(text.encode("ascii"))
        for level, node in enumerate(completed_nodes(index, digest, self._node)):
            self._nodes[level, index >> level] = node
        self._entries.append(LogEntry(text, salt, entry.content or None, entry.signature))
        return self.proof(index)

    def append_all(self, entries: Sequence[NewEntry]) -> Sequence[LogProof]:
        return [self.append(entry) for entry in entries]

    def size(self) -> int:
        return len(self._entries)

    def checkpoint(self) -> str:
        root = root_hash(self.size(), self._node)
        signature = checkpoint_signature(self.origin, self.size(), root, self._key)
        public = raw_public_key(self._key.public_key())
        return checkpoint_text(self.origin, self.size(), root, public, signature)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[LogEntry]:
        yield from self._entries[start:stop]

    def leaves(self, start: int = 0, stop: int | None = None) -> Iterator[str]:
        yield from (entry.leaf for entry in self._entries[start:stop])

    def proof(self, index: int) -> LogProof:
        entry = self._entries[index]
        path = inclusion_path(index, self.size(), self._node)
        salt = "" if entry.salt is None else entry.salt.hex()
        return LogProof(entry.leaf, salt, tuple(p.hex() for p in path), self.checkpoint())

    def consistency(self, first: int, second: int) -> Sequence[bytes]:
        return consistency_path(first, second, self._node)

    def _node(self, level: int, number: int) -> bytes:
        return self._nodes[level, number]
