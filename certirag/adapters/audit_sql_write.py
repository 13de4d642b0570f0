"""Writes the rows of new entries inside the writer's transaction."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, insert, select

from certirag.adapters.audit_schema import (
    ANSWER_DOCUMENT,
    ANSWER_FACET,
    ANSWER_REVOKED,
    LOG_CONTENT,
    LOG_ENTRY,
    LOG_KEY,
)
from certirag.adapters.audit_sql_rows import NewRows
from certirag.errors import AuditError


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
