"""Gives roles of a PostgreSQL server no more of the audit log than they need.

The owner of the tables makes and migrates them; the application runs under a role that can read
and append, and erasures under a second one. Neither can change an entry, truncate a table or put
a trigger out of action. The owner, and any superuser, can: keep checkpoints elsewhere.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, text

from certirag.adapters.audit_schema import ERASABLE, KEPT
from certirag.adapters.audit_sql_engine import AuditDatabase
from certirag.adapters.audit_sql_migrate import VERSION_TABLE, migrate
from certirag.errors import AuditError, InputError

_UNBOUND: Final = text(
    "SELECT rolsuper OR rolreplication OR rolbypassrls OR EXISTS ("
    "  SELECT 1 FROM pg_class WHERE oid = to_regclass('log_entry')"
    "  AND pg_has_role(pg_roles.oid, relowner, 'MEMBER')"
    ") FROM pg_roles WHERE rolname = :role"
)


def grant_application_role(url: str, role: str) -> None:
    """Let *role* read and append, and nothing else; *url* connects as the tables' owner.

    Makes the tables if they are missing. AuditError when there is no such role, and when it is
    a superuser or the owner, whom no grant can bind.
    """
    _grant(url, role, erases=False)


def grant_retention_role(url: str, role: str) -> None:
    """Let *role* do what the application may, and delete contents; see `grant_application_role`.

    Only the owner can rewrite the files afterwards: as the owner, run `SqlAuditLog.scrub`.
    """
    _grant(url, role, erases=True)


def _grant(url: str, role: str, *, erases: bool) -> None:
    database = AuditDatabase(url)
    if database.is_sqlite:
        raise InputError("roles are PostgreSQL's: give postgresql+pg8000://OWNER@HOST/DATABASE")
    migrate(database)
    with database.migrating() as connection:
        unbound = connection.execute(_UNBOUND, {"role": role}).scalar()
        if unbound is None:
            raise AuditError(f"{database.name} has no role {role!r}: make it with CREATE ROLE")
        if unbound:
            raise AuditError(
                f"the role {role!r} is a superuser's or the owner's, whom nothing binds: "
                "give the application a role of its own"
            )
        _write_grants(connection, role, erases=erases)
    database.close()


def _write_grants(connection: Connection, role: str, *, erases: bool) -> None:
    to = connection.dialect.identifier_preparer.quote(role)
    schema = connection.execute(text("SELECT quote_ident(current_schema())")).scalar()
    kept = ", ".join(table.name for table in KEPT)
    erasable = ", ".join(table.name for table in ERASABLE)
    rights = "SELECT, INSERT, DELETE" if erases else "SELECT, INSERT"
    for statement in (
        f"REVOKE ALL ON {kept}, {erasable}, {VERSION_TABLE} FROM {to}",
        f"REVOKE CREATE ON SCHEMA {schema} FROM {to}",
        f"GRANT USAGE ON SCHEMA {schema} TO {to}",
        f"GRANT SELECT ON {VERSION_TABLE} TO {to}",
        f"GRANT SELECT, INSERT ON {kept} TO {to}",
        f"GRANT {rights} ON {erasable} TO {to}",
    ):
        connection.execute(text(statement))
