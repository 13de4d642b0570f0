"""The whole application on PostgreSQL: every command, several machines, roles, erasure, years."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from erasure_cases import Spoken, answered, markers_in
from gate_cases import KEY, TRUSTED
from integration_fixtures import FIXTURES
from postgres import Server
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DatabaseError

from certirag.adapters.log_sql.sql_log import SqlAuditLog, file_url
from certirag.auditing.retain import Retention, retain
from certirag.bootstrap import open_log
from certirag.cli.main import main
from certirag.errors import AuditError
from certirag.ports import NewEntry
from certirag.proof.certificate import parse_statement
from certirag.proof.facets import facets_of
from certirag.proof.keys import signing_key
from certirag.proof.log import parse_leaf, prove
from certirag.proof.retention import Authorisation
from certirag.proof.retention_files import known_policies
from certirag.settings import read_settings

pytestmark = pytest.mark.postgres

PASSWORD = "zqS3cret/w:rd@%ü"  # noqa: S105  # of a server made here
QUESTIONS = (
    "How many days of annual leave do full-time employees receive?",
    "What is the probation period?",
    "Who won the football world cup?",
)
DRAFT = "Full-time employees receive 27 days of annual leave.\n"


@dataclass(frozen=True)
class Machine:
    """One machine: its home, and the URL of the log that it writes to."""

    home: Path
    url: str

    def run(self, *words: object) -> tuple[int, str, str]:
        """Run one command; return exit code, output, errors. The password is in neither."""
        out, err = io.StringIO(), io.StringIO()
        # The corpus was ingested by a machine of its own, whose key the others do not hold.
        here = environment(
            CERTIRAG_HOME=str(self.home), CERTIRAG_AUDIT_URL=self.url, CERTIRAG_FOREIGN_INDEX="on"
        )
        with here, redirect_stdout(out), redirect_stderr(err):
            code = main([str(word) for word in words])
        said = out.getvalue() + err.getvalue()
        assert "zqS3cret" not in said
        assert "Traceback" not in said
        return code, out.getvalue(), err.getvalue()

    def does(self, *words: object) -> str:
        """Run one command that must succeed; return its output."""
        code, out, err = self.run(*words)
        assert code == 0, err
        return out

    def refuses(self, *words: object) -> str:
        """Run one command that must fail in one line; return that line."""
        code, out, err = self.run(*words)
        assert (code, out) == (2, "")
        (line,) = [one for one in err.splitlines() if not one.startswith("[")]
        return line


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set *variables* of this process for a while."""
    before = dict(os.environ)
    os.environ.update({name: value for name, value in variables.items() if value})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy corpus, ingested once."""
    folder = tmp_path_factory.mktemp("corpus")
    Machine(folder / "home", "").does(
        "ingest", FIXTURES / "corpora" / "policy", "--index", folder / "i"
    )
    return folder / "i"


@pytest.fixture(scope="module")
def application(postgres_server: Server) -> str:
    """The name of the application's role; it needs a password, as the server's file says."""
    rules = postgres_server.folder / "cluster" / "pg_hba.conf"
    role = postgres_server.new_role()
    plain = PASSWORD.replace("'", "''").replace(":", "\\:")
    postgres_server.run("postgres", f"ALTER ROLE {role} PASSWORD '{plain}'")
    line = f"host all {role} 127.0.0.1/32 scram-sha-256\n"
    rules.write_text(line + rules.read_text("utf-8"), "utf-8")
    postgres_server.run("postgres", "SELECT pg_reload_conf()")
    return role


def with_password(url: str, password: str = PASSWORD) -> str:
    """Return *url* with a password."""
    return url.replace("@127.0.0.1", f":{quote(password, safe='')}@127.0.0.1")


@pytest.fixture
def owner(postgres_server: Server, tmp_path: Path) -> Machine:
    """The owner of an empty database, at a machine of its own."""
    return Machine(tmp_path / "owner", postgres_server.url(postgres_server.new_database()))


@pytest.fixture
def first(owner: Machine, application: str, tmp_path: Path) -> Machine:
    """A machine that works under the application's role, in a log that the owner made."""
    assert "read and append" in owner.does("audit", "grant", application)
    return Machine(
        tmp_path / "first", with_password(owner.url.replace("certirag_owner", application))
    )


def begun(machine: Machine) -> None:
    """Make the tables and the genesis as whoever owns the database."""
    open_log(read_settings({"CERTIRAG_HOME": str(machine.home), "CERTIRAG_AUDIT_URL": machine.url}))


def deployed(machine: Machine, home: Path) -> Machine:
    """Return another machine: the first one's keys are copied to it, except the root's."""
    shutil.copytree(machine.home / "keys", home / "keys", dirs_exist_ok=True)
    (home / "keys" / "root.key").unlink(missing_ok=True)
    return replace(machine, home=home)


def test_two_machines_do_everything(
    first: Machine, owner: Machine, index: Path, tmp_path: Path
) -> None:
    """Every command, under the role that may only read and append, from one home and another."""
    draft = tmp_path / "draft.txt"
    draft.write_text(DRAFT, "utf-8")
    exports = [tmp_path / f"{number}.json" for number in range(3)]
    first.does("ask", QUESTIONS[0], "--index", index, "--export", exports[0])
    first.does("keys", "list")
    second = deployed(first, tmp_path / "second")
    assert "2 answers" not in second.does("audit", "list")
    second.does("ask", QUESTIONS[1], "--index", index, "--export", exports[1])
    evidence = FIXTURES / "corpora" / "policy"
    checked = first.run("verify", "--draft", draft, "--evidence", evidence, "--export", exports[2])
    assert checked[0] in {0, 3}  # shown or refused: logged either way
    for machine in (first, second):
        assert machine.does("check", *exports).count("VALID") == 3
        assert "INTACT" in machine.does("audit", "verify")
        assert json.loads(machine.does("audit", "query", "--json"))["found"] == 3
        assert machine.does("audit", "stale", "--index", index).startswith("No answer")
        assert "3 answers" in machine.does("replay", "--log", "--profile", "strict-1")
        machine.does("audit", "export", "--out", machine.home / "out.csv", "--format", "csv")
    kept = tmp_path / "kept.txt"
    second.does("audit", "checkpoint", "--out", kept)
    trace = json.loads(exports[0].read_text("utf-8"))["trace_id"]
    held = json.loads(first.does("audit", "hold", "case-1", "--trace", trace, "--json"))
    assert held["entries"] == 2
    by = ("--authoriser", "Dora", "--justification", "asked")
    assert "under the hold" in second.refuses("audit", "erase", trace, *by)
    second.does("audit", "release", "case-1")
    assert "permission denied" in first.refuses("audit", "erase", trace, *by)
    assert first.does("audit", "retain") == "Nothing is due.\n"

    # The owner erases, at a third machine; exports that people hold stay provable.
    third = deployed(replace(first, url=owner.url), tmp_path / "third")
    assert "erased: 2 entries" in third.does("audit", "erase", trace, *by)
    assert "nothing of what was erased" in third.does("audit", "scrub")
    assert json.loads(first.does("audit", "list", "--json"))["answers"][-1]["trace_id"] != trace
    for machine in (first, second, third):
        assert "INTACT" in machine.does("audit", "verify", "--checkpoint", kept)
        assert machine.does("check", *exports).count("VALID") == 3

    # The password went nowhere: not into a home, an export, or the log.
    for path in [*exports, *(p for m in (first, second) for p in m.home.rglob("*") if p.is_file())]:
        assert b"zqS3cret" not in path.read_bytes(), path
    for entry in SqlAuditLog(owner.url, key=KEY).entries():
        assert b"zqS3cret" not in entry.leaf.encode() + (entry.content or b"")


def test_a_new_key_for_all_machines(first: Machine, index: Path, tmp_path: Path) -> None:
    """Rotate at one machine, copy the keys, retire: no machine is left behind meanwhile."""
    first.does("ask", QUESTIONS[0], "--index", index)
    first.does("keys", "list")
    second = deployed(first, tmp_path / "second")
    first.does("keys", "rotate")
    second.does("ask", QUESTIONS[1], "--index", index)  # under the old key still
    first.does("ask", QUESTIONS[1], "--index", index)
    assert "INTACT" in first.does("audit", "verify")
    second = deployed(first, second.home)
    second.does("ask", QUESTIONS[0], "--index", index)
    old = json.loads(first.does("keys", "list", "--json"))["keys"][0]["keyid"]
    first.does("keys", "retire", old[:16])
    second = deployed(first, second.home)
    second.does("ask", QUESTIONS[1], "--index", index)
    for machine in (first, second):
        assert "INTACT" in machine.does("audit", "verify")
        assert json.loads(machine.does("audit", "query", "--json"))["found"] == 5


def test_only_the_machine_with_the_root_key_changes_keys(owner: Machine, tmp_path: Path) -> None:
    """Another one would start a trust file of its own, which nobody who checks believes."""
    begun(owner)
    owner.does("keys", "list")
    second = deployed(owner, tmp_path / "second")
    root = (second.home / "keys" / "root.pub").read_bytes()
    assert "root" in second.refuses("keys", "rotate")
    assert (second.home / "keys" / "root.pub").read_bytes() == root


def test_a_machine_with_a_key_of_its_own_is_refused(
    first: Machine, index: Path, tmp_path: Path
) -> None:
    """A home whose key nobody handed over to would break the log for all: it adds nothing."""
    first.does("ask", QUESTIONS[0], "--index", index)
    stranger = replace(first, home=tmp_path / "stranger")
    assert "never handed over" in stranger.refuses("ask", QUESTIONS[0], "--index", index)
    assert "INTACT" in first.does("audit", "verify")


def test_a_machine_that_missed_a_retirement_breaks_nothing(owner: Machine, tmp_path: Path) -> None:
    """It still holds the retired key: its own entries are refused, and the others go on."""
    home = owner.home
    late = SqlAuditLog(owner.url, key=signing_key(home))
    request = NewEntry("received", "a" * 32, datetime.now(UTC), b"asked", detail={"of": "draft"})
    late.append(request)
    owner.does("keys", "rotate")
    old = json.loads(owner.does("keys", "list", "--json"))["keys"][0]["keyid"]
    owner.does("keys", "retire", old)
    with pytest.raises(AuditError, match="retired"):
        late.append(request)
    SqlAuditLog(owner.url, key=signing_key(home)).append(request)
    assert "INTACT" in owner.does("audit", "verify")


QUERIES: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("list", "--limit", "2"),
    ("query",),
    ("query", "--parts"),
    ("query", "--decision", "ACCEPT", "STRIP"),
    ("query", "--score-below", "0.9"),
    ("query", "--score-from", "0.5"),
    ("query", "--about", "ANNUAL leave"),
    ("query", "--about", "größe"),
    ("query", "--about", "GRÖSSE"),
    ("query", "--about", "100%"),
    ("query", "--document", "leave-policy-2024"),
    ("query", "--policy", "STRICT-1"),
    ("query", "--policy", "strict-1", "--state", "VERIFIED"),
    ("query", "--model", "extractive"),
    ("query", "--trace-id", "\udcff\udc80"),
    ("query", "--corpus", "no such corpus"),
    ("query", "--since", "2020-01-01", "--until", "2100-01-01"),
    ("query", "--by", "topic", "week"),
    ("query", "--by", "day", "policy"),
    ("query", "--by", "month", "reason", "verifier"),
)


@dataclass(frozen=True)
class Pair:
    """The same answers in a log on SQLite and in one on PostgreSQL, of the same name."""

    lite: Machine
    server: Machine


@pytest.fixture(scope="module")
def pair(postgres_server: Server, index: Path, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Ask on SQLite, then write what was logged into PostgreSQL, entry by entry."""
    folder = tmp_path_factory.mktemp("pair")
    lite = Machine(folder / "home", "")
    odd = ("Größe \N{PILE OF POO} 100% 'quoted' \\ %s ?", "what of \udcff this")
    for question in (*QUESTIONS, *odd):
        assert lite.run("ask", question, "--index", index)[0] in {0, 2, 3}
    key = signing_key(lite.home)
    source = SqlAuditLog(file_url(lite.home / "audit.sqlite3"), key=key)
    server = replace(lite, url=postgres_server.url(postgres_server.new_database()))
    begun, *entries = source.entries()
    at = datetime.fromisoformat(parse_leaf(begun.leaf).at)
    copy = SqlAuditLog(server.url, key=key, origin=source.origin, now=lambda: at)
    for entry in entries:
        leaf, content = parse_leaf(entry.leaf), entry.content or b""
        facets = None
        if leaf.kind == "answer":
            request, complete = leaf.detail["request"], leaf.detail["complete"]
            facets = facets_of(parse_statement(content), request=request, complete=complete)
        copy.append(
            NewEntry(
                leaf.kind,
                leaf.trace_id,
                datetime.fromisoformat(leaf.at),
                content,
                entry.signature,
                facets,
                leaf.detail,
            )
        )
    assert copy.size() == source.size() >= 8
    return Pair(lite, server)


@pytest.mark.parametrize("words", QUERIES, ids=" ".join)
def test_queries_say_the_same_as_on_sqlite(pair: Pair, words: tuple[str, ...]) -> None:
    """To the last byte, for a person and as JSON."""
    for form in ((), ("--json",)):
        assert pair.server.run("audit", *words, *form) == pair.lite.run("audit", *words, *form)


def test_exports_are_the_same_as_on_sqlite(pair: Pair, index: Path) -> None:
    """Files of rows, replays, stale answers; verify counts the same entries."""
    said = []
    for machine in (pair.lite, pair.server):
        out = machine.home / "rows"
        parts = []
        for form in ("csv", "jsonl"):
            machine.does("audit", "export", "--out", out, "--format", form)
            parts.append(out.read_bytes())
        parts.append(machine.does("replay", "--log", "--profile", "strict-2", "--json"))
        parts.append(machine.does("audit", "stale", "--index", index, "--json"))
        report = json.loads(machine.does("audit", "verify", "--json"))
        said.append([*parts, report.pop("root") != "", report])
    assert said[0] == said[1]


def test_a_verified_log_is_one_that_was_there(postgres_server: Server, tmp_path: Path) -> None:
    """An empty database is no intact log: nothing is made by asking."""
    name = postgres_server.new_database()
    machine = Machine(tmp_path / "home", postgres_server.url(name))
    signing_key(machine.home)
    assert "there is no log" in machine.refuses("audit", "verify")


EFFECTS = (
    "UPDATE log_entry SET kind = 'x'",
    "DELETE FROM log_entry",
    "DELETE FROM log_content",
    "DELETE FROM answer_facet",
    "UPDATE log_content SET content = salt",
    "TRUNCATE log_content, answer_facet, answer_document",
    "TRUNCATE log_entry CASCADE",
    "DROP TABLE log_entry",
    "DROP SCHEMA public CASCADE",
    "ALTER TABLE log_entry DISABLE TRIGGER ALL",
    "ALTER TABLE log_entry OWNER TO CURRENT_USER",
    "DROP TRIGGER log_entry_no_change ON log_entry",
    "DROP FUNCTION certirag_refuse CASCADE",
    "CREATE TRIGGER mine BEFORE INSERT ON log_entry FOR EACH ROW EXECUTE FUNCTION certirag_refuse()",
    "CREATE RULE mine AS ON INSERT TO log_entry DO INSTEAD NOTHING",
    "CREATE TABLE public.mine (x int)",
    "CREATE FUNCTION public.format(text, name, name) RETURNS text LANGUAGE sql AS 'SELECT 0'",
    "SET session_replication_role = replica",
    "SET ROLE certirag_owner",
    "GRANT certirag_owner TO CURRENT_USER",
    "GRANT DELETE ON log_content TO CURRENT_USER",
    "LOCK TABLE log_entry IN ACCESS EXCLUSIVE MODE",
    "ALTER SYSTEM SET fsync = off",
    "COPY log_entry TO PROGRAM 'cat'",
)


def test_the_application_can_do_no_more_than_append(first: Machine, index: Path) -> None:
    """Each attempt fails under the role that works; the log is the same afterwards."""
    first.does("ask", QUESTIONS[0], "--index", index)
    before = first.does("audit", "list", "--json")
    engine = create_engine(first.url)
    for statement in EFFECTS:
        only_warned = statement.startswith("GRANT DELETE")
        refusal = nullcontext() if only_warned else pytest.raises(DatabaseError)
        with engine.connect() as connection, refusal:
            connection.execute(text(statement))
            connection.commit()
    engine.dispose()
    assert first.does("audit", "list", "--json") == before
    assert "INTACT" in first.does("audit", "verify")


UNBOUND = {
    "makes roles": "ALTER ROLE {role} CREATEROLE",
    "writes everywhere": "GRANT pg_write_all_data TO {role}",
    "writes the server's files": "GRANT pg_write_server_files TO {role}",
    "owns the database": "ALTER DATABASE {database} OWNER TO {role}",
    "everybody makes tables": "GRANT CREATE ON SCHEMA public TO PUBLIC",
    "everybody truncates": "GRANT TRUNCATE ON log_content TO PUBLIC",
    "a column": "GRANT UPDATE (content) ON log_content TO {role}_group",
}


@pytest.mark.parametrize("how", UNBOUND)
def test_a_role_with_other_rights_is_not_granted(
    owner: Machine, postgres_server: Server, how: str
) -> None:
    """What a role has by another way is found, also where it would have to ask for it first."""
    database, role = owner.url.rpartition("/")[2], postgres_server.new_role()
    group = (f"CREATE ROLE {role}_group", f"GRANT {role}_group TO {role}")
    postgres_server.run(database, f"ALTER ROLE {role} NOINHERIT", *group)
    begun(owner)
    postgres_server.run(database, UNBOUND[how].format(role=role, database=database))
    postgres_server.run(database, "GRANT ALL ON SCHEMA public TO certirag_owner")
    for words in ((), ("--retention",)):
        assert repr(role) in owner.refuses("audit", "grant", role, *words)
    with pytest.raises(AuditError, match="permission denied"):
        SqlAuditLog(postgres_server.url(database, role), key=KEY)


def test_only_the_owner_grants_and_scrubs(first: Machine, application: str) -> None:
    """The application cannot help itself; on SQLite there are no roles."""
    assert "owner" in first.refuses("audit", "scrub")
    assert "owner" in first.refuses("audit", "grant", application)
    assert "PostgreSQL" in replace(first, url="").refuses("audit", "grant", "x")


@pytest.mark.parametrize("retention_role", [False, True], ids=["owner", "retention"])
def test_what_is_erased_is_gone_from_the_server(
    owner: Machine, postgres_server: Server, retention_role: bool
) -> None:
    """From rows, indexes, the planner's samples and the files of tables; every proof holds."""
    database = owner.url.rpartition("/")[2]
    key = signing_key(owner.home)
    log = SqlAuditLog(owner.url, key=key)
    now = datetime.now(UTC)
    spoken = [Spoken(f"gone{retention_role}", now, number) for number in range(12)]
    proofs = [one for said in spoken for one in answered(log, said)]
    postgres_server.run(database, "ANALYZE")
    eraser = owner
    if retention_role:
        role = postgres_server.new_role()
        assert "erase contents" in owner.does("audit", "grant", role, "--retention")
        eraser = replace(owner, url=postgres_server.url(database, role))
    for said in spoken[:9]:
        by = ("--authoriser", "Dora", "--justification", "asked")
        assert "erased: 2" in eraser.does("audit", "erase", said.trace_id, *by)
    if retention_role:
        postgres_server.run(database, "CHECKPOINT")
        left = markers_in(postgres_server.folder / "cluster" / "base")
        assert {said.marker for said in spoken[:9]} <= left  # until the owner scrubs
        code, _, err = owner.run("audit", "scrub")
        assert code == 0
        assert "write-ahead log" in err
    postgres_server.run(database, "ANALYZE", "CHECKPOINT")
    found = markers_in(postgres_server.folder / "cluster" / "base")
    assert not found & {said.marker for said in spoken[:9]}
    assert {said.marker for said in spoken[9:]} <= found
    engine = create_engine(owner.url)
    with engine.connect() as connection:
        samples = connection.execute(text("SELECT CAST(s AS text) FROM pg_stats AS s")).scalars()
        assert not [row for row in samples if "zqSecretWords" in row]
    engine.dispose()
    for proof, content in proofs:
        prove(proof, content, {**TRUSTED, parse_leaf(proof.leaf).keyid: key.public_key()})
    shown = [
        row["question"] for row in json.loads(owner.does("audit", "list", "--json"))["answers"]
    ]
    assert [any(said.marker in one for one in shown) for said in spoken] == 9 * [False] + 3 * [True]


def test_ten_years(postgres_server: Server, tmp_path: Path) -> None:
    """An answer each four months under two policies, on two machines that both retain."""
    database = postgres_server.new_database()
    url = postgres_server.url(database)
    begin = datetime(2024, 2, 29, tzinfo=UTC)
    rules = ("internal_faq", "financial_7yr")
    logs = {rule: SqlAuditLog(url, key=KEY, retention=rule, now=lambda: begin) for rule in rules}
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.mkdir()
    spoken: list[Spoken] = []
    proofs = []
    officer = Authorisation("Ada Compliance", "the period is over")
    for term in range(30):
        now = begin + timedelta(days=122 * term)
        for rule, log in logs.items():
            said = Spoken(f"{rule}-pg", now, len(spoken))
            proofs += answered(log, said)
            spoken.append(said)
        for home in homes:
            of = Retention.at(home, logs["internal_faq"], known_policies(home))
            if term % 6 == 5:
                retain(of, now, authorisation=officer, rule="financial_7yr")
            else:
                retain(of, now)
    # A second, naive reckoning by days alone; the last run for the officer was at term 29.
    kept = {"internal_faq": 90, "financial_7yr": 7 * 365 + 2}
    gone = {s.marker for s in spoken if (now - s.at).days >= kept[s.rule[:-3]]}
    assert len({s.rule for s in spoken if s.marker in gone}) == 2
    assert markers_in(tmp_path) & gone == set()
    postgres_server.run(database, "CHECKPOINT")
    found = markers_in(postgres_server.folder / "cluster" / "base")
    assert found & gone == set()
    assert {said.marker for said in spoken} - gone <= found
    for proof, content in proofs:
        prove(proof, content, TRUSTED)


def test_two_machines_retain_at_once(owner: Machine, tmp_path: Path) -> None:
    """Both see the same contents as due; each is erased, and the log says why."""
    key = signing_key(owner.home)
    log = SqlAuditLog(owner.url, key=key, now=lambda: datetime(2025, 1, 1, tzinfo=UTC))
    spoken = [Spoken("twice", datetime(2025, 1, 2, tzinfo=UTC), number) for number in range(20)]
    for said in spoken:
        answered(log, said)
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.mkdir()

    def run(home: Path) -> None:
        of = Retention.at(home, SqlAuditLog(owner.url, key=key), known_policies(home))
        retain(of, datetime(2025, 6, 1, tzinfo=UTC))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, homes))
    for home in homes:  # each cleans its archive of what the other erased
        run(home)
    assert markers_in(tmp_path) == set()
    assert all(log.find(said.trace_id).content is None for said in spoken)
    assert "BROKEN" not in owner.run("audit", "verify", "--entries-only")[1]
