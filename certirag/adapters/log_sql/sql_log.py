"""The audit log on SQL: append-only leaves in a Merkle tree, on SQLite or PostgreSQL.

Each append signs a checkpoint in its own transaction and is durable before it returns; one
writer at a time builds on the newest entry, so there are never two newest ones. Triggers refuse
to change what was written. Whoever owns the file or the database can take the triggers away: a
checkpoint that somebody else holds shows what was changed then.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, inspect, select

from certirag.adapters.log_sql import facet_queries
from certirag.adapters.log_sql.engine import AuditDatabase, file_url
from certirag.adapters.log_sql.entry_rows import EntryWriter, require_once, write_key, write_rows
from certirag.adapters.log_sql.erase import (
    delete_contents,
    erasable_spans,
    holds,
    is_scrubbed,
    scrub,
)
from certirag.adapters.log_sql.migrate import migrate, missing_guards, restore_guards
from certirag.adapters.log_sql.read import (
    LogHead,
    TreeNodes,
    cited_documents,
    entries_with_content,
    entry_of,
    head_of,
    key_of,
    leaves_of,
    origin_of,
    require_signed_head,
    size_of,
    sound_leaf,
)
from certirag.adapters.log_sql.schema import LOG_ENTRY
from certirag.errors import AuditError, InputError
from certirag.ports import LogEntry, NewEntry
from certirag.proof.envelope import raw_public_key
from certirag.proof.facets import AnswerPage, AnswerQuery, CitedDocument, Grouping, TrendRow
from certirag.proof.log import ORIGIN, EntryKind, LogProof, checkpoint_text
from certirag.proof.merkle import consistency_path, inclusion_path, root_hash

__all__ = ["SqlAuditLog", "file_url", "is_begun"]

_LEAVES: Final = 5_000
_PAGE: Final = 200  # entries read at a time; a content may be large


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SqlAuditLog:
    """`ports.AuditLog` over ``sqlite:///FILE`` or ``postgresql+pg8000://…``.

    Opening it makes or migrates the tables and writes the genesis of an empty log. *retention*
    names the policy that new entries fall under; *origin* names a new log ("": a random name) and
    must be the name of one that is there. Without a *key* it is only read. *wait* bounds, in seconds, the waiting for others. Safe
    for many threads and processes; SQLite for those of one machine only, not on a network drive.
    """

    def __init__(
        self,
        url: str,
        *,
        key: Ed25519PrivateKey | None,
        retention: str = "internal_faq",
        origin: str = "",
        now: Callable[[], datetime] = _utc_now,
        wait: float = 30.0,
    ) -> None:
        if origin and not ORIGIN.fullmatch(origin):
            raise InputError(f"{origin!r} cannot name a log: give a name as in example.org/answers")
        self._database = AuditDatabase(url, wait)
        self._own = key.public_key() if key else None
        self._key_written = False
        migrate(self._database)
        self._writer = EntryWriter(origin or _new_origin(), key, retention)
        found = self._found_origin()
        if not found:
            with self._database.writing() as connection:
                if size_of(connection) == 0:  # nobody else has begun it meanwhile
                    self._write(connection, [NewEntry("genesis", "", now())], None)
            found = self._found_origin()
        if origin and origin != found:
            raise AuditError(
                f"the audit log {self._database.name} is {found}, not {origin}: "
                "give its own name or another place"
            )
        self._writer = replace(self._writer, origin=found)

    @property
    def origin(self) -> str:
        """The log's name, as in its checkpoints."""
        return self._writer.origin

    @property
    def is_scrubbed(self) -> bool:
        """False when an erasure on SQLite was cut off before its bytes were gone: call `scrub`."""
        return is_scrubbed(self._database)

    def append(self, entry: NewEntry) -> LogProof:
        """Write durably, then return the proof that the entry is in the log."""
        return self.append_all([entry])[0]

    def append_all(self, entries: Sequence[NewEntry]) -> Sequence[LogProof]:
        """Write *entries* in order in one transaction: all of them or none."""
        if any(entry.kind in {"erase", "genesis"} for entry in entries):
            raise AuditError("an erasure is logged by erasing, a genesis by opening a new log")
        if not entries:
            return []
        with self._database.writing() as connection:
            proofs = self._write(connection, entries, head_of(connection))
        self._key_written = True
        return proofs

    def erase(self, act: NewEntry, targets: Sequence[int]) -> LogProof:
        """Append *act*, then delete contents, salts and facets of *targets*, in one transaction.

        The detail of *act* names exactly these targets. AuditError when one of them is under a
        hold, and nothing has happened then; and when the deletion is done, but its bytes could
        not be taken out of the files (see `scrub`).
        """
        with self._database.writing() as connection:
            head = head_of(connection)
            spans = erasable_spans(connection, act, targets, head.size)
            (proof,) = self._write(connection, [act], head)
            delete_contents(connection, spans)
        self._key_written = True
        self.scrub()
        return proof

    def scrub(self) -> None:
        """Take the bytes of what was erased out of the files; see `audit_sql_erase.scrub`."""
        scrub(self._database)

    def held(self) -> Mapping[int, tuple[str, ...]]:
        """Return the entries that may not be erased, with the names of their holds."""
        found: dict[int, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            for name, spans in holds(connection).items():
                for first, last in spans:
                    for index in range(first, last + 1):
                        found[index] = (*found.get(index, ()), name)
        return found

    def size(self) -> int:
        """Return the number of entries."""
        with self._database.reading() as connection:
            return size_of(connection)

    def checkpoint(self) -> str:
        """Return the newest signed checkpoint."""
        with self._database.reading() as connection:
            head = head_of(connection)
            return self._checkpoint(head, key_of(connection, head))

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[LogEntry]:
        """Yield the entries from *start* on, in order, before *stop*; nothing is verified."""
        position = max(start, 0)
        while stop is None or position < stop:
            query = entries_with_content().where(LOG_ENTRY.c.seq >= position)
            if stop is not None:
                query = query.where(LOG_ENTRY.c.seq < stop)
            # A transaction a page: a reader that stops half-way must not keep old pages alive.
            with self._database.reading() as connection:
                rows = connection.execute(query.order_by(LOG_ENTRY.c.seq).limit(_PAGE)).all()
            for row in rows:
                yield entry_of(row)
            if len(rows) < _PAGE:
                return
            position = rows[-1].seq + 1

    def leaves(self, start: int = 0, stop: int | None = None) -> Iterator[str]:
        """Yield the leaves' texts alone, in order, from *start* on and before *stop*."""
        entry = LOG_ENTRY.c
        position = max(start, 0)
        while stop is None or position < stop:
            query = select(entry.seq, entry.leaf).where(entry.seq >= position)
            if stop is not None:
                query = query.where(entry.seq < stop)
            with self._database.reading() as connection:
                rows = connection.execute(query.order_by(entry.seq).limit(_LEAVES)).all()
            for row in rows:
                yield row.leaf
            if len(rows) < _LEAVES:
                return
            position = rows[-1].seq + 1

    def leaves_of(self, kind: EntryKind, trace_id: str = "") -> Sequence[str]:
        """Return the leaves' texts of one *kind*, of one trace where it is named, in order."""
        with self._database.reading() as connection:
            return leaves_of(connection, kind, trace_id)

    def find(self, trace_id: str) -> LogEntry:
        """Return the answer of *trace_id*; AuditError when there is none, or it was changed."""
        answers = (LOG_ENTRY.c.kind == "answer", LOG_ENTRY.c.trace_id == trace_id)
        with self._database.reading() as connection:
            row = connection.execute(entries_with_content().where(*answers)).one_or_none()
        if row is None:
            raise AuditError(f"the audit log has no answer {trace_id[:80]!r}")
        leaf = sound_leaf(row)
        if (leaf.kind, leaf.trace_id) != ("answer", trace_id):
            raise AuditError(f"entry {row.seq} of the audit log does not match its leaf")
        return entry_of(row)

    def proof(self, index: int) -> LogProof:
        """Return the proof of entry *index* in the newest tree; salt "" once it is erased."""
        with self._database.reading() as connection:
            head = head_of(connection)
            if not 0 <= index < head.size:
                raise AuditError(f"the audit log of {head.size} entries has no entry {index}")
            row = connection.execute(
                entries_with_content().where(LOG_ENTRY.c.seq == index)
            ).one_or_none()
            if row is None:
                raise AuditError(f"the audit log is broken: entry {index} is missing")
            nodes = TreeNodes(connection)
            nodes.prepare(lambda node: inclusion_path(index, head.size, node))
            path = inclusion_path(index, head.size, nodes)
            checkpoint = self._checkpoint(head, key_of(connection, head))
        return _proof(row.leaf, row.salt, path, checkpoint)

    def consistency(self, first: int, second: int) -> Sequence[bytes]:
        """Return the proof that the tree of *second* entries extends that of *first*."""
        with self._database.reading() as connection:
            if not 0 < first <= second <= size_of(connection):
                raise AuditError(
                    f"the audit log of {size_of(connection)} entries has no trees of "
                    f"{first} and then {second}"
                )
            nodes = TreeNodes(connection)
            nodes.prepare(lambda node: consistency_path(first, second, node))
            return consistency_path(first, second, nodes)

    def search(
        self, query: AnswerQuery, *, after: int | None = None, limit: int = 50
    ) -> AnswerPage:
        """Return a page of the answers that *query* asks for, newest first."""
        with self._database.reading() as connection:
            return facet_queries.search(connection, query, after=after, limit=limit)

    def count(self, query: AnswerQuery) -> int:
        """Return how many answers *query* asks for."""
        with self._database.reading() as connection:
            return facet_queries.count(connection, query)

    def documents(self) -> Sequence[CitedDocument]:
        """Return every document that an answer leans on, once for each digest; path is ""."""
        with self._database.reading() as connection:
            return cited_documents(connection)

    def trend(self, query: AnswerQuery, by: Sequence[Grouping]) -> Sequence[TrendRow]:
        """Return the answers that *query* asks for in groups, in the groups' order."""
        with self._database.reading() as connection:
            return facet_queries.trend(connection, query, by)

    def missing_guards(self) -> Sequence[str]:
        """Return the triggers that refuse changes and are not there as they were made."""
        return sorted(missing_guards(self._database))

    def restore_guards(self) -> None:
        """Put those back on SQLite."""
        restore_guards(self._database)

    def close(self) -> None:
        """Close the connections that are open; the log may be used on, and opens others."""
        self._database.close()

    def _found_origin(self) -> str:
        """Return the name of the log that is there, "" for an empty one."""
        with self._database.reading() as connection:
            return origin_of(connection)

    def _write(
        self, connection: Connection, entries: Sequence[NewEntry], head: LogHead | None
    ) -> list[LogProof]:
        """Write *entries* behind *head*, and return their proofs in the tree that they make."""
        if self._own is None:
            raise AuditError(
                f"the audit log {self._database.name} is only read here: set CERTIRAG_HOME to the "
                "folder with the key that signs it"
            )
        public = raw_public_key(self._own)
        size = 0 if head is None else head.size
        nodes = TreeNodes(connection)
        nodes.prepare(lambda node: root_hash(size, node))
        if head is not None and root_hash(size, nodes) != head.root:
            raise AuditError(
                f"the audit log {self._database.name} is broken: its newest entry is not the "
                "root of those before it, so no answer is shown"
            )
        if head is not None:
            require_signed_head(connection, head, self.origin, self._own)
        require_once(connection, entries)
        made = self._writer.rows(entries, size, nodes)
        if not self._key_written:
            write_key(connection, public)
        write_rows(connection, made)
        newest = made.head
        checkpoint = self._checkpoint(newest, public)
        return [
            _proof(row["leaf"], salt, inclusion_path(row["seq"], newest.size, nodes), checkpoint)
            for row, salt in zip(made.entries, made.salts, strict=True)
        ]

    def _checkpoint(self, head: LogHead, public: bytes) -> str:
        return checkpoint_text(self.origin, head.size, head.root, public, head.signature)


def is_begun(url: str) -> bool:
    """Say whether the database of *url* has a log's tables already; nothing is made."""
    database = AuditDatabase(url)
    try:
        with database.reading() as connection:
            return inspect(connection).has_table(LOG_ENTRY.name)
    finally:
        database.close()


def _new_origin() -> str:
    return f"certirag.local/{secrets.token_hex(8)}"


def _proof(leaf: str, salt: bytes | None, path: Sequence[bytes], checkpoint: str) -> LogProof:
    steps = tuple(step.hex() for step in path)
    return LogProof(leaf, "" if salt is None else salt.hex(), steps, checkpoint)
