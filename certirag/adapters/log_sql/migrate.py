"""Brings the audit log's tables to the newest step of `migrations`, or says why it does not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text

from certirag.adapters.log_sql.engine import AuditDatabase
from certirag.adapters.log_sql.schema import METADATA
from certirag.errors import AuditError

VERSION_TABLE: Final = "audit_schema_version"
# All steps that this program knows, oldest first; a test holds them against the files.
STEPS: Final = ("0001",)
_FOLDER: Final = Path(__file__).parent / "migrations"
_OLD_TABLE: Final = "log"
_SQLITE_TRIGGERS: Final = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
_POSTGRESQL_TRIGGERS: Final = (
    "SELECT t.tgname, p.prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid "
    "JOIN pg_class c ON c.oid = t.tgrelid "
    "WHERE t.tgenabled = 'A' AND c.relnamespace = current_schema()::regnamespace"
)


def migrate(database: AuditDatabase) -> None:
    """Create the tables, or bring them up to date; nothing is done when they are.

    AuditError for a database that a newer program has written, for one of the format before the
    tree, and for one that holds something else.
    """
    with database.reading() as connection:
        if _version(connection, database) == STEPS[-1]:
            return
    with database.migrating() as connection:
        if _version(connection, database) != STEPS[-1]:  # nobody else has done it meanwhile
            _require_every_character(connection, database)
            _upgrade(connection)


def _version(connection: Connection, database: AuditDatabase) -> str:
    """Return the step that the database is at, "" for none."""
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        _require_ours(set(tables), database)
        return ""
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608  # a constant
    found = connection.execute(query).scalars().all()
    if len(found) != 1 or found[0] not in STEPS:
        raise AuditError(
            f"the audit log {database.name} was written by a newer version of CertiRAG "
            "(its tables are not known here): use that version"
        )
    return str(found[0])


def _require_ours(tables: set[str], database: AuditDatabase) -> None:
    if database.is_sqlite and _OLD_TABLE in tables:
        raise AuditError(
            f"{database.name} is an audit log of an older format, which is kept as it is: move it "
            "away, with its -wal and -shm files, and a new log begins in its place"
        )
    if tables & METADATA.tables.keys() or (database.is_sqlite and tables):
        raise AuditError(
            f"{database.name} holds tables of something else: give the audit log its own database"
        )


def _require_every_character(connection: Connection, database: AuditDatabase) -> None:
    """Raise AuditError for a PostgreSQL database that cannot keep all that a question may hold."""
    if database.is_sqlite:
        return
    encoding = connection.execute(text("SHOW server_encoding")).scalar()
    if encoding != "UTF8":
        raise AuditError(
            f"{database.name} keeps its texts as {encoding}, which lacks most characters: "
            "make the database with ENCODING 'UTF8' TEMPLATE template0"
        )


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    # Percent signs would be read as references to other options.
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    command.upgrade(config, "head")


def missing_guards(database: AuditDatabase) -> Mapping[str, str]:
    """Return the triggers that refuse changes and are not there as they were made, by name.

    Their statements on SQLite, the bodies of their functions on PostgreSQL.
    """
    from certirag.adapters.log_sql.migrations.versions import v0001_log

    query, guards = _SQLITE_TRIGGERS, v0001_log.sqlite_guards()
    if not database.is_sqlite:
        query, guards = _POSTGRESQL_TRIGGERS, v0001_log.postgresql_guards()
    with database.reading() as connection:
        found = {(name, _joined(body)) for name, body in connection.execute(text(query))}
    return {name: body for name, body in guards.items() if (name, _joined(body)) not in found}


def restore_guards(database: AuditDatabase) -> None:
    """Put back the triggers that are missing on SQLite; on PostgreSQL that is its owner's."""
    if not database.is_sqlite or not missing_guards(database):
        return
    with database.migrating() as connection:
        for name, statement in missing_guards(database).items():
            connection.execute(text(f"DROP TRIGGER IF EXISTS {name}"))
            connection.exec_driver_sql(statement)


def _joined(statement: str) -> str:
    return " ".join(statement.split())
