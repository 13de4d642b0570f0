"""Gives roles of a PostgreSQL server no more of the audit log than they need.

The owner of the tables makes and migrates them; the application runs under a role that can read
and append, and erasures under a second one. Neither can change an entry, truncate a table or put
a trigger out of action. The owner, and any superuser, can: keep checkpoints elsewhere.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, text

from certirag.adapters.log_sql.engine import AuditDatabase
from certirag.adapters.log_sql.erase import owns_contents
from certirag.adapters.log_sql.migrate import VERSION_TABLE, migrate
from certirag.adapters.log_sql.schema import ERASABLE, KEPT
from certirag.errors import AuditError, InputError

# Whoever may make roles can take the owner's (before PostgreSQL 16), whoever owns the schema or
# the database can drop what is in it, and the last two reach the server's files.
_UNBOUND: Final = text("""
SELECT rolsuper OR rolreplication OR rolbypassrls OR rolcreaterole OR EXISTS (
  SELECT 1 FROM pg_class WHERE oid = to_regclass('log_entry')
  AND pg_has_role(pg_roles.oid, relowner, 'MEMBER')
) OR EXISTS (
  SELECT 1 FROM pg_namespace WHERE nspname = current_schema()
  AND pg_has_role(pg_roles.oid, nspowner, 'MEMBER')
) OR EXISTS (
  SELECT 1 FROM pg_database WHERE datname = current_database()
  AND pg_has_role(pg_roles.oid, datdba, 'MEMBER')
) OR EXISTS (
  SELECT 1 FROM pg_roles AS other
  WHERE other.rolname IN ('pg_execute_server_program', 'pg_write_server_files')
  AND pg_has_role(pg_roles.oid, other.oid, 'MEMBER')
) FROM pg_roles WHERE rolname = :role
""")
# What the role may do by PUBLIC's rights or by those of a role that it is a member of.
_KEEPS: Final = """
SELECT DISTINCT other.rolname FROM pg_roles AS own, pg_roles AS other
WHERE own.rolname = :role AND pg_has_role(own.oid, other.oid, 'MEMBER') AND (
  has_schema_privilege(other.oid, current_schema(), 'CREATE') OR {tables}
)
"""
_CHANGES: Final = "UPDATE, TRUNCATE, TRIGGER, REFERENCES"


def grant_application_role(url: str, role: str) -> None:
    """Let *role* read and append, and nothing else; *url* connects as the tables' owner.

    Makes the tables if they are missing. AuditError when there is no such role, and when it is
    a superuser or the owner, whom no grant can bind.
    """
    _grant(url, role, erases=False)


def grant_retention_role(url: str, role: str) -> None:
    """Let *role* do what the application may, and delete contents; see `grant_application_role`.

    Only the owner can rewrite the files afterwards: as the owner, run `certirag audit scrub`.
    """
    _grant(url, role, erases=True)


def _grant(url: str, role: str, *, erases: bool) -> None:
    database = AuditDatabase(url)
    if database.is_sqlite:
        raise InputError("roles are PostgreSQL's: give postgresql+pg8000://OWNER@HOST/DATABASE")
    migrate(database)
    if not owns_contents(database):  # the server would only warn
        raise InputError(f"{database.name}: only the owner of the tables can grant: connect as it")
    with database.migrating() as connection:
        unbound = connection.execute(_UNBOUND, {"role": role}).scalar()
        if unbound is None:
            raise AuditError(f"{database.name} has no role {role!r}: make it with CREATE ROLE")
        if unbound:
            raise AuditError(
                f"the role {role!r} is a superuser's or the owner's, or may become it, and nothing "
                "binds those: give the application a role of its own"
            )
        _write_grants(connection, role, erases=erases)
        _require_no_more(connection, role, erases=erases)
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


def _require_no_more(connection: Connection, role: str, *, erases: bool) -> None:
    """Raise AuditError, which undoes the grants, when *role* may do more by another way."""
    rights = {table.name: f"{_CHANGES}, DELETE" for table in (*KEPT, *ERASABLE)}
    if erases:
        rights |= {table.name: _CHANGES for table in ERASABLE}
    rights[VERSION_TABLE] = f"{_CHANGES}, DELETE, INSERT"
    tables = " OR ".join(
        f"has_table_privilege(other.oid, '{name}', '{more}')"
        f" OR has_any_column_privilege(other.oid, '{name}', 'UPDATE')"
        for name, more in rights.items()
    )
    found = connection.execute(text(_KEEPS.format(tables=tables)), {"role": role}).scalars().all()
    if found:
        raise AuditError(
            f"the role {role!r} may do more than it should by the rights of PUBLIC or of "
            f"{', '.join(sorted(found))}: revoke those on the log's tables, and CREATE on their schema"
        )
