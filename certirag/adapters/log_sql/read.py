"""Reads entries of the audit log, its newest checkpoint, its name and its tree's nodes from their rows.

A newest entry is built on only if a key of this log signed for it. Without this, whoever can write to
the database but has no key could change what is past, with its whole tree, and let the next append
sign it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import Connection, Select, func, select, text

from certirag.adapters.log_sql.schema import LOG_CONTENT, LOG_ENTRY, LOG_KEY
from certirag.errors import AuditError, CertificateError
from certirag.ports import LogEntry
from certirag.proof.envelope import key_id, load_public_key
from certirag.proof.facets import CitedDocument
from certirag.proof.log import (
    ORIGIN,
    EntryKind,
    Leaf,
    checkpoint_text,
    commitment,
    open_checkpoint,
    parse_leaf,
    rotation_message,
)
from certirag.proof.merkle import NodeReader, leaf_hash

_BROKEN: Final = (
    "the audit log is broken: no key of this log signed its newest entry, so nothing is added"
)


def require_signed_head(
    connection: Connection, head: LogHead, origin: str, own: Ed25519PublicKey
) -> None:
    """Raise AuditError unless *own*, or a key that *own* is linked to, signed *head*.

    Two keys are linked by an entry in which one hands over to the other and that both signed. A
    key that a ``retire`` entry ended before the newest entry signs for nothing.
    """
    signers = {key_id(own): own}
    if head.keyid not in signers:
        signers = _linked(connection, origin, own)
    signer = signers.get(head.keyid)
    if signer is None:
        raise AuditError(
            f"the audit log was last signed by the key {head.keyid[:16]}, which never handed over "
            "to the one here: put that key back, or begin a log of your own"
        )
    try:
        raw = signer.public_bytes_raw()
        text = checkpoint_text(origin, head.size, head.root, raw, head.signature)
        open_checkpoint(text, [signer])
    except CertificateError as error:
        raise AuditError(_BROKEN) from error
    if head.keyid == key_id(own):
        return
    if head.size > _end_of(connection, head.keyid, head.size):
        raise AuditError(f"{_BROKEN}: the key {head.keyid[:16]} was retired before it")
    # A program that runs on with a key that was retired would end the log for all others.
    if head.size >= _end_of(connection, key_id(own), head.size + 1):
        raise AuditError(
            f"the key in use, {key_id(own)[:16]}, was retired: restart with the key that took over"
        )


def _linked(
    connection: Connection, origin: str, own: Ed25519PublicKey
) -> dict[str, Ed25519PublicKey]:
    """Return the keys that *own* is linked to, over any number of rotations, and itself."""
    known = {key_id(own): own, **_keys(connection)}
    edges = [
        (leaf.detail["old"], leaf.detail["new"])
        for leaf in _leaves(connection, "rotate")
        if _both_signed(leaf, origin, known)
    ]
    found = {key_id(own)}
    while more := {name for edge in edges if found & set(edge) for name in edge} - found:
        found |= more
    return {keyid: known[keyid] for keyid in found}


def _keys(connection: Connection) -> dict[str, Ed25519PublicKey]:
    """Return the public keys that stand in the log, each under the digest that it really has."""
    found = {}
    for (raw,) in connection.execute(select(LOG_KEY.c.public_key)):
        try:
            key = load_public_key(bytes(raw))
        except (CertificateError, TypeError, ValueError):
            continue
        found[key_id(key)] = key
    return found


def _both_signed(leaf: Leaf, origin: str, known: dict[str, Ed25519PublicKey]) -> bool:
    try:
        old, new = leaf.detail["old"], leaf.detail["new"]
        message = rotation_message(origin, old, new)
        known[old].verify(bytes.fromhex(leaf.detail["old_signature"]), message)
        known[new].verify(bytes.fromhex(leaf.detail["new_signature"]), message)
    except (KeyError, TypeError, ValueError, InvalidSignature):
        return False
    return True


def _end_of(connection: Connection, keyid: str, size: int) -> int:
    """Return how many entries *keyid* may have signed for, by the log's own word."""
    ends = [
        leaf.detail.get("until_index")
        for leaf in _leaves(connection, "retire")
        if leaf.detail.get("key") == keyid
    ]
    return min((end for end in ends if type(end) is int), default=size)


def _leaves(connection: Connection, kind: EntryKind) -> list[Leaf]:
    try:
        leaves = [parse_leaf(text) for text in leaves_of(connection, kind)]
    except CertificateError as error:
        raise AuditError(f"the audit log is broken in a {kind} entry: {error}") from error
    return [leaf for leaf in leaves if leaf.kind == kind]


def leaves_of(connection: Connection, kind: EntryKind, trace_id: str = "") -> list[str]:
    """Return the leaves' texts of one *kind*, of one trace where it is named, in order."""
    entry = LOG_ENTRY.c
    query = select(entry.leaf).where(entry.kind == kind).order_by(entry.seq)
    if trace_id:
        query = query.where(entry.trace_id == trace_id)
    return list(connection.execute(query).scalars())


_HASH: Final = 32
# Walks from each digest to the next one in their index: reads a row a digest, not a row an answer.
_CITED: Final = text("""
WITH RECURSIVE cited (sha256) AS (
  SELECT MIN(sha256) FROM answer_document
  UNION ALL
  SELECT (SELECT MIN(d.sha256) FROM answer_document d WHERE d.sha256 > cited.sha256)
  FROM cited WHERE cited.sha256 IS NOT NULL
)
SELECT cited.sha256, (
  SELECT f.documents FROM answer_facet f WHERE f.seq = (
    SELECT MAX(d.seq) FROM answer_document d WHERE d.sha256 = cited.sha256
  )
) AS documents
FROM cited WHERE cited.sha256 IS NOT NULL
""")


@dataclass(frozen=True, slots=True)
class LogHead:
    """The newest tree: its number of leaves, its root, and who signed for it."""

    size: int
    root: bytes
    keyid: str
    signature: bytes


def size_of(connection: Connection) -> int:
    """Return the number of entries."""
    newest = connection.execute(select(func.max(LOG_ENTRY.c.seq))).scalar()
    return 0 if newest is None else int(newest) + 1


def head_of(connection: Connection) -> LogHead:
    """Return the newest tree; AuditError for a log without its genesis."""
    entry = LOG_ENTRY.c
    query = select(entry.seq, entry.root, entry.keyid, entry.signature)
    row = connection.execute(query.order_by(entry.seq.desc()).limit(1)).one_or_none()
    if row is None:
        raise AuditError("the audit log is empty, though it was begun: its file was changed")
    return LogHead(row.seq + 1, row.root, row.keyid, row.signature)


def key_of(connection: Connection, head: LogHead) -> bytes:
    """Return the raw public key that signed *head*, to name it with; nothing is verified."""
    query = select(LOG_KEY.c.public_key).where(LOG_KEY.c.keyid == head.keyid)
    public = connection.execute(query).scalar()
    if not isinstance(public, bytes):
        raise AuditError("the audit log is broken: the key of its newest checkpoint is missing")
    return public


def origin_of(connection: Connection) -> str:
    """Return the name that the genesis gives, "" for an empty log."""
    first = select(LOG_ENTRY.c.leaf).where(LOG_ENTRY.c.seq == 0)
    leaf = connection.execute(first).scalar()
    if leaf is None:
        if size_of(connection) == 0:
            return ""
        leaf = connection.execute(first).scalar()  # somebody has begun the log in between
    try:
        genesis = parse_leaf(leaf or "")
    except CertificateError as error:
        raise AuditError(f"the audit log is broken at its first entry: {error}") from error
    if (genesis.kind, genesis.index) != ("genesis", 0) or not ORIGIN.fullmatch(genesis.origin):
        raise AuditError("the audit log does not begin with its name")
    return genesis.origin


def entries_with_content() -> Select[Any]:
    """Return the query for entries, each with its content if that is there."""
    content = LOG_CONTENT.c
    return select(
        LOG_ENTRY.c.seq,
        LOG_ENTRY.c.leaf,
        LOG_ENTRY.c.nodes,
        content.salt,
        content.content,
        content.keyid,
        content.signature,
    ).select_from(LOG_ENTRY.outerjoin(LOG_CONTENT, content.seq == LOG_ENTRY.c.seq))


def entry_of(row: Any) -> LogEntry:
    """Return a row of `entries_with_content` as it is."""
    signature = None if row.signature is None else (row.keyid or "", row.signature)
    return LogEntry(row.leaf, row.salt, row.content, signature)


def sound_leaf(row: Any) -> Leaf:
    """Return the leaf of *row* once it is the tree's, and its content is the leaf's."""
    try:
        leaf = parse_leaf(row.leaf)
    except CertificateError as error:
        raise AuditError(f"entry {row.seq} of the audit log is broken: {error}") from error
    if leaf.index != row.seq or leaf_hash(row.leaf.encode("ascii")) != row.nodes[:_HASH]:
        raise AuditError(f"entry {row.seq} of the audit log is not the one that was written")
    if row.content is not None and leaf.commit != commitment(row.salt, row.content):
        raise AuditError(f"the content of entry {row.seq} of the audit log was changed")
    return leaf


def cited_documents(connection: Connection) -> tuple[CitedDocument, ...]:
    """Return every document that an answer leans on, once for each digest; path is ""."""
    found: dict[str, CitedDocument] = {}
    for digest, documents in connection.execute(_CITED):
        try:
            for doc_id, title, _, sha256 in json.loads(documents or "[]"):
                if sha256 == digest:
                    found.setdefault(digest, CitedDocument(doc_id, title, "", digest))
        except (ValueError, TypeError) as error:
            raise AuditError("the documents of an answer in the audit log are broken") from error
    return tuple(found.values())


# Reads the nodes of the log's Merkle tree from the rows that hold them.

_NODE_BYTES: Final = 32


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
        node = self._rows.get(seq, b"")[_NODE_BYTES * level : _NODE_BYTES * (level + 1)]
        if len(node) != _NODE_BYTES:
            raise AuditError(f"the audit log is broken: entry {seq} lacks a part of the tree")
        return node

    def prepare(self, read: Callable[[NodeReader], object]) -> None:
        """Fetch in one query all rows that *read* will ask for."""
        wanted: set[int] = set()

        def note(level: int, number: int) -> bytes:
            wanted.add(_row_of(level, number))
            return bytes(_NODE_BYTES)

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
