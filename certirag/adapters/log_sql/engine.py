"""Opens the audit log's database and runs its transactions, on SQLite and on PostgreSQL.

Reading is one transaction, writing is one transaction that no other writer runs beside: SQLite
by BEGIN IMMEDIATE, PostgreSQL by an advisory lock taken first. Every failure is an AuditError
of one line that holds no value of the statement.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from certirag.adapters.log_sql.schema import KEPT
from certirag.adapters.log_sql.url import file_url, read_url, server_arguments, shown
from certirag.errors import AuditError, CertiRAGError, MissingExtra

__all__ = ["AuditDatabase", "connect_file", "file_url", "reason_of"]

# One number for all writers of a database: SHA-256 of "certirag audit log", its first 8 bytes.
_LOCK: Final = -0x0C942D758C5688FF
_WRITES: Final = "certirag_writes"
_KEPT: Final = frozenset(table.name for table in KEPT)
_REFUSED: Final = frozenset(
    {
        sqlite3.SQLITE_ALTER_TABLE,
        sqlite3.SQLITE_DROP_INDEX,
        sqlite3.SQLITE_DROP_TABLE,
        sqlite3.SQLITE_DROP_TRIGGER,
        sqlite3.SQLITE_DROP_VIEW,
        sqlite3.SQLITE_CREATE_TRIGGER,
        sqlite3.SQLITE_CREATE_TEMP_TRIGGER,
    }
)
_FAILURES: Final = (SQLAlchemyError, sqlite3.Error, OSError, OverflowError, UnicodeError)
# The pool logs a traceback for each connection that was cut; what is raised says it in one line.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())


class AuditDatabase:
    """The database of one log. *wait* bounds, in seconds, the waiting for other users of it."""

    def __init__(self, url: str, wait: float = 30.0) -> None:
        self._url = read_url(url)
        self._wait = wait
        self.name = shown(self._url)
        if self.is_sqlite:
            _make_folder(Path(self.name))
        self._engine = self._new_engine(guarded=True)
        _ENGINES.add(self._engine)

    @property
    def is_sqlite(self) -> bool:
        """Say whether this is a SQLite file; otherwise it is PostgreSQL."""
        return self._url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return Path(self._url.database or "")

    @property
    def wait(self) -> float:
        """How long to wait for others, in seconds."""
        return self._wait

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection inside one transaction that only reads; AuditError when it fails."""
        try:
            with self._connected(self._engine) as connection:
                yield connection
        except _FAILURES as error:
            raise AuditError(
                f"the audit log {self.name} cannot be read: {reason_of(error)}"
            ) from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield the one connection that writes now; durable once this block is left.

        AuditError when it fails: all of it is undone, or whether it was kept is unknown.
        """
        with self._writing(self._engine) as connection:
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Yield the one connection that writes now, and that may change the schema."""
        engine = self._new_engine(guarded=False)
        try:
            with self._writing(engine) as connection:
                yield connection
        finally:
            engine.dispose()

    @contextmanager
    def outside_transactions(self) -> Iterator[Connection]:
        """Yield a PostgreSQL connection that commits each statement by itself, as VACUUM needs."""
        engine = self._server("AUTOCOMMIT", poolclass=NullPool)
        try:
            with self._opened(engine) as connection:
                yield connection
        except _FAILURES as error:
            raise AuditError(f"the audit log {self.name}: {reason_of(error)}") from error

    def close(self) -> None:
        """Close all connections; the log may still be used and opens new ones."""
        self._engine.dispose()

    @contextmanager
    def _writing(self, engine: Engine) -> Iterator[Connection]:
        try:
            with self._connected(engine, **{_WRITES: True}) as connection:
                if not self.is_sqlite:
                    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                yield connection
        except _FAILURES as error:
            raise AuditError(
                f"the audit log {self.name} refused the entry ({reason_of(error)}), "
                "so no answer is shown"
            ) from error

    @contextmanager
    def _connected(self, engine: Engine, **options: bool) -> Iterator[Connection]:
        """Yield a connection inside a transaction, and keep none that was broken off half-way."""
        with (
            self._opened(engine).execution_options(**options) as connection,
            connection.begin(),
        ):
            try:
                yield connection
            except (SQLAlchemyError, CertiRAGError):
                raise
            except BaseException:
                # What the server still has to say would be taken for its next answer.
                connection.invalidate()
                raise

    def _opened(self, engine: Engine) -> Connection:
        try:
            return engine.connect()
        except (*_FAILURES, CertiRAGError):
            raise
        except Exception as error:  # the driver's, of a server that says what it does not know
            raise AuditError(
                f"the audit log {self.name} cannot be opened ({type(error).__name__}): "
                "check user, password and server"
            ) from error

    def _new_engine(self, *, guarded: bool) -> Engine:
        try:
            if self.is_sqlite:
                return _sqlite(self._url, self._wait, guarded)
            # A server that fell silent must not hold an answer back for ever; a step may take long.
            return self._server("READ COMMITTED", timeout=2 * self._wait if guarded else None)
        except ModuleNotFoundError as error:
            raise MissingExtra(
                "an audit log on PostgreSQL needs pg8000: pip install 'certirag[postgres]'"
            ) from error

    def _server(
        self, isolation: Any, *, timeout: float | None = None, **pool: type[NullPool]
    ) -> Engine:
        # READ COMMITTED, whatever the database's default is: what is read behind the lock must be
        # newer than the wait for it.
        engine = create_engine(
            self._url.set(query={}),
            connect_args={**server_arguments(self._url), "timeout": timeout},
            isolation_level=isolation,
            hide_parameters=True,
            **pool,
        )
        # Rows are sent many at a time; the driver's own executemany sends them one by one.
        engine.dialect.use_insertmanyvalues_wo_returning = True
        wait = int(self._wait * 1000)

        @event.listens_for(engine, "connect")
        def _prepare(connection: Any, _record: object) -> None:
            cursor = connection.cursor()
            # Whatever the server's or the role's default is: durable before it returns.
            cursor.execute("SET synchronous_commit = on")
            cursor.execute(f"SET lock_timeout = {wait}")
            if timeout is not None:
                # A machine that is gone must not keep the others from writing.
                cursor.execute(f"SET idle_in_transaction_session_timeout = {wait // 2}")
            connection.commit()

        @event.listens_for(engine, "checkout")
        def _require_alive(connection: Any, _record: object, _proxy: object) -> None:
            # pool_pre_ping does not know the driver's plain OSError for a connection that was cut.
            try:
                connection.cursor().execute("SELECT 1")
                connection.rollback()
            except Exception as error:
                raise DisconnectionError("the server cut the connection") from error

        return engine


def connect_file(path: Path, wait: float) -> sqlite3.Connection:
    """Return a connection to the SQLite file with the settings that every one of ours has.

    A file or folder that may not be written, as on an auditor's read-only disk, is only read.
    """
    only_read = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    connection = sqlite3.connect(
        _read_only(path) if only_read else path,
        timeout=wait,
        isolation_level=None,
        check_same_thread=False,
        uri=only_read,
    )
    try:
        if not only_read:
            _durable(connection, wait)
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        # What is sorted or undone stays out of files that nobody would erase.
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def reason_of(error: BaseException) -> str:
    """Return in one line what the database said; no statement and no value is in it."""
    said: object = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(said, BaseException) and said.args and isinstance(said.args[0], dict):
        said = said.args[0].get("M", "it failed")  # pg8000 hands on the server's fields
    elif not isinstance(error, DBAPIError) and isinstance(error, SQLAlchemyError):
        said = type(error).__name__
    return " ".join(str(said).split())[:300] or type(said).__name__


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"the audit log {path} cannot be opened: {error}") from error


def _sqlite(url: URL, wait: float, guarded: bool) -> Engine:
    pool: dict[str, Any] = {} if guarded else {"poolclass": NullPool}
    path = Path(url.database or "")

    def connect() -> sqlite3.Connection:
        connection = connect_file(path, wait)
        if guarded:
            connection.set_authorizer(_allows)
        return connection

    engine = create_engine(url, creator=connect, hide_parameters=True, **pool)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # IMMEDIATE: a deferred transaction that upgrades fails under several writers.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _read_only(path: Path) -> str:
    # Nobody has a file open that stands without its write-ahead log, so nobody changes it either;
    # SQLite may then read it without the shared memory that it cannot make beside it.
    alone = not path.with_name(f"{path.name}-wal").exists()
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"


def _durable(connection: sqlite3.Connection, wait: float) -> None:
    deadline = time.monotonic() + wait
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        # Turning it on fails at once, without waiting, while another process does the same.
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")


def _allows(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    """Deny what would change the log or its triggers, whoever asks on our own connections."""
    del second, database, trigger
    changes = action in {sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE} and first in _KEPT
    pragma = action == sqlite3.SQLITE_PRAGMA and first in {"writable_schema", "recursive_triggers"}
    denied = changes or pragma or action in _REFUSED
    return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK


# A connection must not be used, nor closed, in a process that was forked while it was open.
_ENGINES: Final[weakref.WeakSet[Engine]] = weakref.WeakSet()
_ABANDONED: Final[list[object]] = []


def _abandon() -> None:
    for engine in list(_ENGINES):
        _ABANDONED.append(engine.pool)
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_abandon)
