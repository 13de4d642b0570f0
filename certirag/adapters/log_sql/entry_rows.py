"""Turns new entries into rows, and writes them inside the writer's transaction."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, insert, select

from certirag.adapters.log_sql.read import LogHead, TreeNodes, leaves_of
from certirag.adapters.log_sql.schema import (
    ANSWER_DOCUMENT,
    ANSWER_FACET,
    ANSWER_REVOKED,
    LOG_CONTENT,
    LOG_ENTRY,
    LOG_KEY,
    indexed_text,
    kept_text,
)
from certirag.errors import AuditError, CertificateError
from certirag.ports import NewEntry
from certirag.proof.envelope import key_id
from certirag.proof.facets import AnswerFacets, question_words
from certirag.proof.log import (
    SALT_BYTES,
    EntryKind,
    Leaf,
    checkpoint_signature,
    commitment,
    leaf_text,
    parse_leaf,
)
from certirag.proof.merkle import completed_nodes, leaf_hash, root_hash
from certirag.proof.retention import Acts

Row = dict[str, Any]
_ACTS: Final = frozenset({"archive", "erase", "hold", "release"})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class NewRows:
    """Rows of entries that follow each other; *revoked* are (target, entry, reason)."""

    entries: list[Row] = field(default_factory=list)
    contents: list[Row] = field(default_factory=list)
    facets: list[Row] = field(default_factory=list)
    documents: list[Row] = field(default_factory=list)
    revoked: list[tuple[int, int, str]] = field(default_factory=list)
    salts: list[bytes | None] = field(default_factory=list)

    @property
    def head(self) -> LogHead:
        """The newest of these entries."""
        newest = self.entries[-1]
        return LogHead(newest["seq"] + 1, newest["root"], newest["keyid"], newest["signature"])


@dataclass(frozen=True, slots=True)
class EntryWriter:
    """Who writes: the log's name, its key, and the retention policy that entries fall under."""

    origin: str
    key: Ed25519PrivateKey | None  # None: of a log that is only read
    retention: str

    def rows(self, entries: Sequence[NewEntry], size: int, nodes: TreeNodes) -> NewRows:
        """Return the rows of *entries* behind *size* others; *nodes* learns theirs.

        AuditError for an entry that cannot be kept as it is.
        """
        if self.key is None:
            raise AuditError("no key signs this log here")
        keyid = key_id(self.key.public_key())
        made = NewRows()
        for seq, entry in enumerate(entries, start=size):
            salt = secrets.token_bytes(SALT_BYTES) if entry.content else None
            text = self._leaf(entry, seq, salt, keyid)
            completed = completed_nodes(seq, leaf_hash(text.encode("ascii")), nodes)
            nodes.add(seq, b"".join(completed))
            root = root_hash(seq + 1, nodes)
            made.salts.append(salt)
            made.entries.append(
                {
                    "seq": seq,
                    "kind": entry.kind,
                    "trace_id": entry.trace_id,
                    "at_ms": milliseconds(entry.at),
                    "leaf": text,
                    "nodes": b"".join(completed),
                    "root": root,
                    "keyid": keyid,
                    "signature": checkpoint_signature(self.origin, seq + 1, root, self.key),
                }
            )
            _add_content(made, seq, entry, salt)
        return made

    def _leaf(self, entry: NewEntry, seq: int, salt: bytes | None, keyid: str) -> str:
        if entry.at.tzinfo is None:
            raise AuditError("an entry of the audit log needs a time with its zone")
        leaf = Leaf(
            v=1,
            origin=self.origin,
            index=seq,
            kind=entry.kind,
            at=entry.at.astimezone(UTC).isoformat(timespec="milliseconds"),
            trace_id=entry.trace_id,
            retention=self.retention,
            keyid=keyid,
            commit=commitment(salt, entry.content) if salt else "",
            detail=dict(entry.detail),
        )
        try:
            text = leaf_text(leaf)
            kept = parse_leaf(text)
            if entry.kind in _ACTS:
                Acts().add(kept)  # what cannot be read later must not be written
        except (CertificateError, ValueError, TypeError, RecursionError) as error:
            raise AuditError(
                f"an entry of kind {entry.kind!r} cannot be kept ({error}), so no answer is shown"
            ) from error
        return text


# Of one answer there is one of each, and the second follows the first.
_ONCE: Final[dict[EntryKind, EntryKind]] = {"escalate": "answer", "review": "escalate"}


def require_once(connection: Connection, entries: Sequence[NewEntry]) -> None:
    """Raise AuditError for an entry that was to be written once and is there, or comes too soon."""
    for entry in entries:
        before = _ONCE.get(entry.kind)
        if before is None:
            continue
        if not leaves_of(connection, before, entry.trace_id):
            raise AuditError(f"an entry of kind {entry.kind!r} follows one of kind {before!r}")
        if leaves_of(connection, entry.kind, entry.trace_id):
            raise AuditError(f"the answer has an entry of kind {entry.kind!r} already")


def milliseconds(at: datetime) -> int:
    """Return *at* in whole milliseconds since 1970, rounded down."""
    return (at - _EPOCH) // timedelta(milliseconds=1)


def _add_content(made: NewRows, seq: int, entry: NewEntry, salt: bytes | None) -> None:
    if salt is not None:
        keyid, signature = entry.signature or (None, None)
        made.contents.append(
            {
                "seq": seq,
                "salt": salt,
                "content": entry.content,
                "keyid": keyid,
                "signature": signature,
            }
        )
    elif entry.signature is not None:
        raise AuditError("an entry of the audit log has a signature and nothing that was signed")
    if entry.facets is not None:
        if entry.kind != "answer" or entry.facets.trace_id != entry.trace_id:
            raise AuditError("the facets of an entry of the audit log are not its own")
        made.facets.append(_facet(seq, entry.facets))
        made.documents += _documents(seq, entry.facets)
    if entry.kind == "revoke":
        target, reason = entry.detail.get("target"), entry.detail.get("reason")
        if type(target) is not int or not isinstance(reason, str):
            raise AuditError("a revocation names the answer's entry as target, and a reason")
        made.revoked.append((target, seq, reason))


def _facet(seq: int, of: AnswerFacets) -> Row:
    try:
        at = datetime.fromisoformat(of.at)
    except ValueError as error:
        raise AuditError("the time of an answer cannot be read") from error
    if at.tzinfo is None or not math.isfinite(of.grounding):
        raise AuditError("an answer for the audit log lacks its zone or its grounding score")
    documents = [[d.doc_id, d.title, d.path, d.sha256] for d in of.documents]
    return {
        "seq": seq,
        "trace_id": indexed_text(of.trace_id),
        "request": indexed_text(of.request),
        "at": kept_text(of.at),
        "at_ms": milliseconds(at),
        "question": kept_text(of.question),
        "corpus": indexed_text(of.corpus),
        "policy": indexed_text(of.policy),
        "decision": indexed_text(of.decision),
        "reason": indexed_text(of.reason),
        "confidence": kept_text(of.confidence),
        "grounding": of.grounding,
        "claims": of.claims,
        "verified": of.states.get("VERIFIED", 0),
        "unverified": of.states.get("UNVERIFIED", 0),
        "blocked": of.states.get("BLOCKED", 0),
        "verifier": indexed_text(of.verifier),
        "generator": indexed_text(of.generator),
        "topic": indexed_text(of.topic),
        "complete": of.complete,
        "documents": json.dumps(documents, ensure_ascii=True),
        # A blank on both sides of each, so that a search for a word finds whole words.
        "words": kept_text(f" {' '.join(question_words(of.question))} "),
    }


def _documents(seq: int, of: AnswerFacets) -> list[Row]:
    """Return one row a document."""
    found = {indexed_text(document.doc_id): document for document in of.documents}
    return [
        {
            "seq": seq,
            "doc_id": name,
            "title": indexed_text(document.title),
            "sha256": indexed_text(document.sha256),
        }
        for name, document in found.items()
    ]


def write_rows(connection: Connection, made: NewRows) -> None:
    """Write *made*; AuditError for a revocation of what is no answer."""
    for table, rows in (
        (LOG_ENTRY, made.entries),
        (LOG_CONTENT, made.contents),
        (ANSWER_FACET, made.facets),
        (ANSWER_DOCUMENT, made.documents),
    ):
        if rows:
            connection.execute(insert(table), rows)
    for target, by, reason in made.revoked:
        _revoke(connection, target, by, reason)


def write_key(connection: Connection, public: bytes) -> None:
    """Keep the public key under its digest, so that whoever reads can write the signed note."""
    keyid = hashlib.sha256(public).hexdigest()
    known = select(LOG_KEY.c.keyid).where(LOG_KEY.c.keyid == keyid)
    if connection.execute(known).first() is None:
        connection.execute(insert(LOG_KEY), {"keyid": keyid, "public_key": public})


def _revoke(connection: Connection, target: int, by: int, reason: str) -> None:
    """Mark an answer as revoked; the first revocation stays."""
    entry = LOG_ENTRY.c
    answer = select(entry.seq).where(entry.seq == target, entry.kind == "answer")
    if target >= by or connection.execute(answer).first() is None:
        raise AuditError(f"entry {target} of the audit log is no answer that can be revoked")
    marked = select(ANSWER_REVOKED.c.seq).where(ANSWER_REVOKED.c.seq == target)
    if connection.execute(marked).first() is None:
        row = {"seq": target, "by_seq": by, "reason": reason}
        connection.execute(insert(ANSWER_REVOKED), row)
