"""What is peculiar to each database of the audit log: files and their bytes, roles, schemas."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from gate_cases import KEY, TRUSTED, record
from postgres import Server
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.schema import CreateTable

from certirag.adapters.log_sql import migrate
from certirag.adapters.log_sql.engine import AuditDatabase
from certirag.adapters.log_sql.migrate import STEPS, VERSION_TABLE
from certirag.adapters.log_sql.read import TreeNodes, origin_of
from certirag.adapters.log_sql.roles_of_database import grant_application_role, grant_retention_role
from certirag.adapters.log_sql.schema import METADATA, indexed_text
from certirag.adapters.log_sql.sql_log import SqlAuditLog, file_url
from certirag.errors import AuditError, InputError
from certirag.ports import NewEntry
from certirag.proof.facets import AnswerQuery, CitedDocument, facets_of
from certirag.proof.log import prove
from certirag.proof.merkle import inclusion_path

AT = datetime(2026, 1, 2, tzinfo=UTC)
FACETS = facets_of(record(), request="f" * 32, complete=True)


def received(number: int, content: bytes = b"asked") -> NewEntry:
    """Return the entry of a request."""
    return NewEntry("received", f"{number:032x}", AT, content, detail={"of": "draft"})


def erasure(first: int, last: int) -> NewEntry:
    """Return the act that erases one range."""
    return NewEntry("erase", "", AT, detail={"targets": [[first, last]], "rule": "x"})


def marked(number: int, rng: random.Random) -> NewEntry:
    """Return an answer each of whose texts carries a mark of its own, in many lengths."""
    mark = f"MARK{number:06d}."
    document = CitedDocument(
        f"{rng.random()}{mark}d", f"{rng.random()}{mark}t", mark, f"{rng.random()}{mark}"
    )
    facets = replace(
        FACETS,
        trace_id=f"{rng.getrandbits(128):032x}",
        question=mark * rng.randint(1, 60),
        topic=f"{rng.random()}{mark}",
        corpus=f"{rng.random()}{mark}",
        documents=(document,),
    )
    content = mark.encode() * rng.randint(1, 900)
    return NewEntry("answer", facets.trace_id, AT, content, ("k", b"s" * 64), facets)


def marks_in(*folders: Path) -> set[int]:
    """Return the numbers of the marks in any byte of any file in *folders*."""
    found: set[int] = set()
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                found.update(int(n) for n in re.findall(rb"MARK(\d{6})", path.read_bytes()))
    return found


def test_what_is_erased_is_in_no_byte_of_the_files(tmp_path: Path) -> None:
    """Pages are split while answers come and go; database, -wal and -shm hold nothing of them.

    Overwriting what is deleted is not enough: it leaves copies where a page was split.
    """
    rng = random.Random(7)
    log = SqlAuditLog(file_url(tmp_path / "log.sqlite3"), key=KEY)
    for start in range(0, 700, 7):
        log.append_all([marked(number, rng) for number in range(start, start + 7)])
    assert marks_in(tmp_path) == set(range(700))
    for first, last in ((3, 3), (40, 300), (302, 302), (500, 640)):
        log.erase(erasure(first, last), range(first, last + 1))
    log.append(marked(700, rng))
    gone = {2, *range(39, 300), 301, *range(499, 640)}
    assert marks_in(tmp_path) == set(range(701)) - gone
    assert log.count(AnswerQuery()) == 701 - len(gone)


def test_a_reader_that_stays_keeps_the_bytes_and_is_named(tmp_path: Path) -> None:
    """The erasure stands, and says that its bytes may be there still, until they are scrubbed."""
    path = tmp_path / "log.sqlite3"
    log = SqlAuditLog(file_url(path), key=KEY, wait=0.2)
    log.append(received(1, b"MARK000001"))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM log_content").fetchall()
        with pytest.raises(AuditError, match="bytes may still be"):
            log.erase(erasure(1, 1), [1])
    assert next(log.entries(1)).content is None
    assert not log.is_scrubbed
    assert marks_in(tmp_path) == {1}
    log.scrub()
    assert log.is_scrubbed
    assert marks_in(tmp_path) == set()
    assert log.size() == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log_entry SET kind = kind",
        "DELETE FROM log_entry",
        "DROP TABLE log_entry",
        "DROP TRIGGER log_entry_no_delete",
        "DROP INDEX log_entry_answer",
        "ALTER TABLE log_entry RENAME TO gone",
        "ALTER TABLE log_entry ADD COLUMN more TEXT",
        "DELETE FROM answer_revoked",
        "UPDATE log_key SET public_key = x'00'",
        "PRAGMA writable_schema = ON",
        "PRAGMA recursive_triggers = OFF",
        "CREATE TEMP TRIGGER t BEFORE INSERT ON log_entry BEGIN SELECT RAISE(IGNORE); END",
        "INSERT OR REPLACE INTO log_entry SELECT * FROM log_entry",
    ],
)
def test_our_own_connections_cannot_take_the_guards_away(tmp_path: Path, statement: str) -> None:
    """What somebody slips into a statement of ours is refused before it runs."""
    url = file_url(tmp_path / "log.sqlite3")
    SqlAuditLog(url, key=KEY).append(received(1))
    with pytest.raises(AuditError), AuditDatabase(url).writing() as connection:
        connection.execute(text(statement))


def test_a_row_is_not_replaced_without_recursive_triggers(tmp_path: Path) -> None:
    """REPLACE over the unique trace id is refused on a connection with default settings."""
    path = tmp_path / "log.sqlite3"
    log = SqlAuditLog(file_url(path), key=KEY)
    log.append(marked(1, random.Random(1)))
    with closing(sqlite3.connect(path)) as connection:
        for seq in (1, 2):
            with pytest.raises(sqlite3.DatabaseError, match=r"append-only|already"):
                connection.execute(
                    "INSERT OR REPLACE INTO log_entry SELECT ?, kind, trace_id, at_ms, leaf, "
                    "nodes, root, keyid, x'00' FROM log_entry WHERE seq = 1",
                    (seq,),
                )
    assert log.size() == 2


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run as a user whom file modes bind; root is bound by none."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_file_that_cannot_be_written_shows_no_answer() -> None:
    """Reading goes on, writing is an AuditError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.sqlite3"
        log = SqlAuditLog(file_url(path), key=KEY)
        log.append(received(1))
        log.close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        with unprivileged(), pytest.raises(AuditError, match="no answer is shown"):
            log.append(received(2))
        path.parent.chmod(0o755)
        assert log.size() == 2
        log.close()


def test_a_full_disk_shows_no_answer_and_breaks_nothing(tmp_path: Path) -> None:
    """The entry that does not fit is refused whole; a smaller one still gets in."""
    path = tmp_path / "log.sqlite3"
    url = file_url(path)
    log = SqlAuditLog(url, key=KEY)
    database = log._database
    with database.writing() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        assert pages
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(AuditError, match=r"full.*no answer is shown"):
        log.append(received(1, bytes(100_000)))
    assert log.size() == 1
    prove(log.append(received(2)), b"asked", TRUSTED)
    with pytest.raises(AuditError):
        [log.append(received(number, bytes(1000))) for number in range(3, 1000)]
    size = log.size()
    assert len(list(log.entries())) == size
    assert SqlAuditLog(url, key=KEY).size() == size


@pytest.mark.parametrize("kind", ["folder", "text", "old", "other"])
def test_what_is_no_log_is_refused_and_kept(tmp_path: Path, kind: str) -> None:
    """A folder, a text, a log of the format before the tree, somebody else's database."""
    path = tmp_path / "audit.sqlite3"
    message = "audit"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("not a database " * 500)
    else:
        table = "log" if kind == "old" else "orders"
        message = "move it away" if kind == "old" else "something else"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE TABLE {table} (sequence INTEGER PRIMARY KEY)")
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(AuditError, match=message) as error:
        SqlAuditLog(file_url(path), key=KEY, wait=0.2)
    assert "\n" not in str(error.value)
    if kind in {"old", "other"}:
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
            assert tables == [(table,)]
    else:
        assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "mysql://x/y", "what", "sqlite:///x?mode=ro", ""]
)
def test_only_what_lasts_is_a_place_for_a_log(url: str) -> None:
    """Memory, other databases and what is no URL are bad input."""
    with pytest.raises(InputError):
        SqlAuditLog(url, key=KEY)


def test_a_path_is_a_url_whatever_is_in_it(tmp_path: Path) -> None:
    """Signs that mean something in URLs are part of the file's name."""
    path = tmp_path / "a folder? #1 100%" / "log é.sqlite3"
    SqlAuditLog(file_url(path), key=KEY).append(received(1))
    assert path.is_file()


def test_a_forked_process_opens_connections_of_its_own(tmp_path: Path) -> None:
    """Parent and child write to one log after a fork."""
    log = SqlAuditLog(file_url(tmp_path / "log.sqlite3"), key=KEY)
    log.append(received(1))
    pool = log._database._engine.pool
    child = os.fork()
    if child == 0:
        inherited = log._database._engine.pool is pool
        try:
            log.append(received(2))
        finally:
            os._exit(inherited)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    log.append(received(3))
    assert log.size() == 4


def test_a_proof_reads_few_rows(tmp_path: Path) -> None:
    """The rows of the tree that a proof needs grow with the logarithm of the log."""
    url = file_url(tmp_path / "log.sqlite3")
    log = SqlAuditLog(url, key=KEY)
    log.append_all([received(number) for number in range(2999)])
    with AuditDatabase(url).reading() as connection:
        for index in (0, 1, 1023, 1500, 2047, 2048, 2999):
            nodes = TreeNodes(connection)
            nodes.prepare(lambda node, index=index: inclusion_path(index, 3000, node))  # type: ignore[misc]
            prepared = len(nodes._rows)
            inclusion_path(index, 3000, nodes)
            assert prepared == len(nodes._rows) <= 2 * 12


def test_indexed_texts_stay_apart() -> None:
    """Texts that begin alike are kept apart, and each is kept in the same way every time."""
    texts = ["", "a" * 128, "a" * 129, "a" * 130, "\U0001f4c4" * 5000, "\x00", "\ud800"]
    kept = [indexed_text(text) for text in texts]
    assert len(set(kept)) == len(kept)
    assert all(len(text.encode()) <= 4 * 128 and "\x00" not in text for text in kept)
    assert kept[:2] == texts[:2]


def test_the_steps_are_those_of_the_files() -> None:
    """The program knows each step that it carries, in their order."""
    folder = Path(migrate.__file__).parent / "migrations"
    config = Config()
    config.set_main_option("script_location", str(folder))
    steps = [step.revision for step in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(steps)) == STEPS


def test_the_steps_make_the_schema(tmp_path: Path) -> None:
    """Column by column, what the steps create is what `audit_schema` says."""
    path = tmp_path / "log.sqlite3"
    SqlAuditLog(file_url(path), key=KEY)
    engine = create_engine(file_url(path))
    with engine.connect() as connection:
        assert _differences(connection) == []
        rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        made = {name: " ".join(sql.split()) for name, sql in rows}
    said = {
        name: " ".join(str(CreateTable(table).compile(engine)).split())
        for name, table in METADATA.tables.items()
    }
    assert {name: made[name].replace('"', "") for name in said} == said
    engine.dispose()


@pytest.mark.postgres
def test_the_steps_make_the_schema_on_a_server(postgres_server: Server) -> None:
    """The same on PostgreSQL."""
    url = postgres_server.url(postgres_server.new_database())
    SqlAuditLog(url, key=KEY)
    engine = create_engine(url)
    with engine.connect() as connection:
        assert _differences(connection) == []
    engine.dispose()


def _differences(connection: object) -> list[object]:
    options = {"version_table": VERSION_TABLE, "compare_type": True}
    context = MigrationContext.configure(connection, opts=options)  # type: ignore[arg-type]
    return list(compare_metadata(context, METADATA))


@pytest.fixture
def owned(postgres_server: Server) -> tuple[Server, str]:
    """A server, and the name of a database with a log of one answer in it."""
    name = postgres_server.new_database()
    log = SqlAuditLog(postgres_server.url(name), key=KEY)
    log.append(marked(1, random.Random(1)))
    log.append(NewEntry("revoke", "", AT, detail={"target": 1, "reason": "stale"}))
    return postgres_server, name


@pytest.mark.postgres
def test_the_application_works_under_its_role(owned: tuple[Server, str]) -> None:
    """Without any right to change tables it appends, reads and proves; it cannot erase."""
    server, name = owned
    role = server.new_role()
    grant_application_role(server.url(name), role)
    log = SqlAuditLog(server.url(name, role), key=KEY)
    prove(log.append(received(2)), b"asked", TRUSTED)
    assert log.search(AnswerQuery()).rows[0].revoked == "stale"
    with pytest.raises(AuditError, match="permission denied"):
        log.erase(erasure(1, 1), [1])
    assert log.size() == 4


@pytest.mark.postgres
def test_a_role_opens_an_empty_log(postgres_server: Server) -> None:
    """Tables are the owner's to make; the first entry is the application's."""
    url = postgres_server.new_database()
    role = postgres_server.new_role()
    with pytest.raises(AuditError, match="permission denied"):
        SqlAuditLog(postgres_server.url(url, role), key=KEY)
    grant_application_role(postgres_server.url(url), role)
    assert SqlAuditLog(postgres_server.url(url, role), key=KEY).size() == 1


@pytest.mark.postgres
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log_entry SET kind = 'x'",
        "DELETE FROM log_entry",
        "TRUNCATE log_entry",
        "DROP TABLE log_entry",
        "ALTER TABLE log_entry DISABLE TRIGGER ALL",
        "DROP TRIGGER log_entry_no_change ON log_entry",
        "DROP FUNCTION certirag_refuse CASCADE",
        "CREATE OR REPLACE FUNCTION certirag_refuse() RETURNS trigger AS '' LANGUAGE plpgsql",
        "SET session_replication_role = replica",
        "DELETE FROM log_content",
        "UPDATE log_content SET content = salt",
        "TRUNCATE log_content",
        "DELETE FROM answer_revoked",
        "DELETE FROM log_key",
        "UPDATE audit_schema_version SET version_num = '0'",
        "INSERT INTO log_entry SELECT 9, 'x', 'x', 0, '', nodes, root, '', root FROM log_entry",
    ],
)
def test_the_application_role_changes_nothing(owned: tuple[Server, str], statement: str) -> None:
    """It cannot delete, truncate or disable what refuses that."""
    server, name = owned
    role = server.new_role()
    grant_application_role(server.url(name), role)
    engine = create_engine(server.url(name, role))
    with pytest.raises(DatabaseError), engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


@pytest.mark.postgres
@pytest.mark.parametrize("statement", ["DELETE FROM log_entry", "TRUNCATE log_entry"])
def test_replicas_are_refused_too(owned: tuple[Server, str], statement: str) -> None:
    """The triggers stand in a session that calls itself a replica, the superuser's too."""
    server, name = owned
    with pytest.raises(DatabaseError, match="append-only"):
        server.run(name, "SET session_replication_role = replica", statement)


@pytest.mark.postgres
def test_the_retention_role_erases(owned: tuple[Server, str]) -> None:
    """It deletes contents and no entry; the owner then rewrites the files."""
    server, name = owned
    role = server.new_role()
    grant_retention_role(server.url(name), role)
    log = SqlAuditLog(server.url(name, role), key=KEY)
    log.erase(erasure(1, 1), [1])
    assert next(log.entries(1)).content is None
    with pytest.raises(AuditError, match="permission denied"), log._database.writing() as writing:
        writing.execute(text("DELETE FROM log_entry"))


@pytest.mark.postgres
def test_what_is_erased_is_in_no_table_file_of_the_server(postgres_server: Server) -> None:
    """The tables' files hold nothing of it; the server's own write-ahead log is its owner's."""
    rng = random.Random(7)
    url = postgres_server.url(postgres_server.new_database())
    log = SqlAuditLog(url, key=KEY)
    log.append_all([marked(900_000 + number, rng) for number in range(200)])
    log.erase(erasure(2, 150), range(2, 151))
    postgres_server.run("postgres", "CHECKPOINT")
    there = marks_in(postgres_server.folder / "cluster" / "base")
    assert there & set(range(900_000, 900_200)) == {900_000, *range(900_150, 900_200)}


@pytest.mark.postgres
@pytest.mark.parametrize("role", ["postgres", "certirag_owner", "nobody-of-that-name"])
def test_whom_nothing_binds_gets_no_application_role(owned: tuple[Server, str], role: str) -> None:
    """The owner, a superuser, and a role that is not there are refused in one line."""
    server, name = owned
    with pytest.raises(AuditError, match=r"role"):
        grant_application_role(server.url(name), role)
    with pytest.raises(InputError, match="PostgreSQL"):
        grant_application_role("sqlite:///x.sqlite3", role)


@pytest.mark.postgres
def test_a_server_that_went_away_comes_back(postgres_server: Server) -> None:
    """A cut connection is replaced; a server that is not there is one line without a password."""
    name = postgres_server.new_database()
    log = SqlAuditLog(postgres_server.url(name), key=KEY)
    postgres_server.cut_off(name)
    prove(log.append(received(1)), b"asked", TRUSTED)
    with pytest.raises(AuditError) as error:
        SqlAuditLog("postgresql://someone:secret@127.0.0.1:1/none", key=KEY)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_log_that_another_writer_begins_meanwhile_is_read_again(tmp_path: Path) -> None:
    """Between two questions of one transaction the genesis may come in: that is no broken log."""
    log = SqlAuditLog(file_url(tmp_path / "log.sqlite3"), key=KEY, origin="certirag.test/race")
    (genesis,) = log.entries()
    answers = iter([None, 0, genesis.leaf])  # no first leaf, yet an entry 0, then its leaf

    class Racing:
        def execute(self, _query: object) -> SimpleNamespace:
            return SimpleNamespace(scalar=lambda: next(answers))

    assert origin_of(Racing()) == "certirag.test/race"  # type: ignore[arg-type]
