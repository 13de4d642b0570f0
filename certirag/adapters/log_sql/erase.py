"""Takes contents out of the audit log, and their bytes out of its files."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Final

from sqlalchemy import Connection, delete, select, text

from certirag.adapters.log_sql.engine import AuditDatabase, connect_file, reason_of
from certirag.adapters.log_sql.schema import ERASABLE, LOG_ENTRY
from certirag.errors import AuditError, CertificateError
from certirag.ports import NewEntry
from certirag.proof.log import parse_leaf
from certirag.proof.retention import Acts, Span, spans_of

_PAUSE: Final = 0.05
_OWNED: Final = text(
    "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(:name)"
)


def holds(connection: Connection) -> Mapping[str, tuple[Span, ...]]:
    """Return the holds in force with the entries under them; AuditError for an unreadable one."""
    query = (
        select(LOG_ENTRY.c.leaf)
        .where(LOG_ENTRY.c.kind.in_(("hold", "release")))
        .order_by(LOG_ENTRY.c.seq)
    )
    acts = Acts()
    for leaf in connection.execute(query).scalars():
        try:
            acts.add(parse_leaf(leaf))
        except CertificateError as error:
            raise AuditError(f"the audit log is broken: {error}") from error
    return {name: acts.held(name) for name in acts.hold_names}


def erasable_spans(
    connection: Connection, act: NewEntry, targets: Sequence[int], size: int
) -> tuple[Span, ...]:
    """Return *targets* as spans, once *act* says the same and no hold forbids it."""
    wanted = sorted(set(targets))
    if not wanted or wanted[0] < 0 or wanted[-1] >= size:
        raise AuditError(f"what is to be erased is not in the audit log of {size} entries")
    spans = spans_of(wanted)
    if act.kind != "erase" or _said(act) != spans:
        raise AuditError("the act of an erasure must name exactly the entries that it erases")
    for name, held in holds(connection).items():
        for first, last in held:
            for low, high in spans:
                if first <= high and low <= last:
                    raise AuditError(
                        f"entry {max(first, low)} is under the hold {name!r}: nothing was erased"
                    )
    return spans


def _said(act: NewEntry) -> tuple[Span, ...]:
    try:
        named = {i for first, last in act.detail["targets"] for i in range(first, last + 1)}
    except (KeyError, TypeError, ValueError) as error:
        raise AuditError("the act of an erasure names no ranges of entries") from error
    return spans_of(sorted(named))


def delete_contents(connection: Connection, spans: Iterable[Span]) -> None:
    """Delete contents, salts and facets of *spans*; their leaves stay."""
    for first, last in spans:
        for table in ERASABLE:
            connection.execute(delete(table).where(table.c.seq.between(first, last)))
    if connection.dialect.name == "sqlite":
        # Kept in the file's header until `scrub` is done: a crash before that can be mended.
        connection.exec_driver_sql("PRAGMA user_version = 1")


def is_scrubbed(database: AuditDatabase) -> bool:
    """Say whether no erasure waits for `scrub`; on PostgreSQL nothing tells."""
    if not database.is_sqlite:
        return True
    with database.reading() as connection:
        return connection.exec_driver_sql("PRAGMA user_version").scalar() == 0


def scrub(database: AuditDatabase) -> None:
    """Take what was erased out of the database's files.

    SQLite: secure_delete overwrites what is deleted, but not the copies that stay behind when a
    page is split, so the file is written anew (VACUUM, which needs as much free space as the log
    takes), and the write-ahead log is cut to nothing. AuditError, after waiting, when somebody
    reads or writes all the while: what was erased stays erased, and its bytes may still be there.

    PostgreSQL: VACUUM FULL of the tables that hold contents, if the role owns them; otherwise
    their owner has to run it. It waits for whoever reads them, no longer than for others. The server's own write-ahead log, archives of it, replicas and
    backups hold old bytes until they expire, which is for the server's owner to see to.
    """
    if database.is_sqlite:
        _scrub_file(database)
    else:
        _scrub_server(database)


def _scrub_file(database: AuditDatabase) -> None:
    log = database.path.with_name(f"{database.path.name}-wal")
    deadline = time.monotonic() + database.wait
    try:
        with closing(connect_file(database.path, database.wait)) as connection:
            connection.execute("PRAGMA temp_store = FILE")  # what is copied is not erased
            connection.execute("VACUUM")
            while True:
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not busy and (not log.exists() or log.stat().st_size == 0):
                    connection.execute("PRAGMA user_version = 0")
                    return
                if time.monotonic() > deadline:
                    raise sqlite3.OperationalError("others are reading it all the while")
                time.sleep(_PAUSE)
    except (sqlite3.Error, OSError) as error:
        raise AuditError(
            f"the contents are erased, but their bytes may still be in {database.name} or its "
            f"-wal file ({reason_of(error)}): stop what uses the log, see to free disk space, "
            "then scrub it"
        ) from error


def owns_contents(database: AuditDatabase) -> bool:
    """Say whether the role owns the tables that hold contents; a SQLite file has no roles."""
    if database.is_sqlite:
        return True
    with database.reading() as connection:
        owned = [connection.execute(_OWNED, {"name": table.name}).scalar() for table in ERASABLE]
    return all(owned)


def _scrub_server(database: AuditDatabase) -> None:
    try:
        with database.outside_transactions() as connection:
            for table in ERASABLE:  # a role that does not own them would be warned, not refused
                if connection.execute(_OWNED, {"name": table.name}).scalar():
                    connection.execute(text(f"VACUUM FULL {table.name}"))
    except AuditError as error:
        raise AuditError(
            f"the contents are erased, but their bytes may still be in the files of the tables "
            f"({error}): run 'certirag audit scrub' as their owner"
        ) from error
