"""A server that is wrong, away, silent or dies: one line, exit code 2, no answer, no password."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cut_line import How, answering, line_to
from gate_cases import KEY, TRUSTED, record
from integration_fixtures import FIXTURES
from postgres import Server
from sqlalchemy.exc import DBAPIError

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.adapters.log_sql.url import read_url, shown
from certirag.cli.main import main
from certirag.errors import AuditError, CertiRAGError, InputError
from certirag.ports import NewEntry
from certirag.proof.facets import AnswerQuery, facets_of
from certirag.proof.log import prove

PASSWORD = "zqS3cret"  # noqa: S105  # of a server made here
POLICY = FIXTURES / "corpora" / "policy"
QUESTION = "How many days of annual leave do full-time employees receive?"
AT = datetime(2026, 1, 2, tzinfo=UTC)
FACETS = facets_of(record(), request="f" * 32, complete=True)


def received(number: int, content: bytes = b"asked") -> NewEntry:
    """Return the entry of a request."""
    return NewEntry("received", f"{number:032x}", AT, content, detail={"of": "draft"})


def asked(number: int, question: str) -> NewEntry:
    """Return the entry of an answer to *question*."""
    facets = replace(FACETS, trace_id=f"{number:032x}", question=question)
    detail = {"request": "f" * 32, "complete": True}
    return NewEntry("answer", facets.trace_id, AT, b"x", ("k", b"s" * 64), facets, detail)


def opened(url: str, wait: float = 30.0) -> SqlAuditLog:
    """Return the log at *url*."""
    return SqlAuditLog(url, key=KEY, wait=wait)


def command(home: Path, url: str, *words: object) -> tuple[int, str, str]:
    """Run a command; return exit code, output, errors."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("CERTIRAG_HOME", str(home))
        patch.setenv("CERTIRAG_FOREIGN_INDEX", "on")  # another home ingested the corpus
        patch.delenv("CERTIRAG_TRACEBACK", raising=False)
        if url:
            patch.setenv("CERTIRAG_AUDIT_URL", url)
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


def is_one_line(code: int, out: str, err: str) -> str:
    """Check how a command failed, and return the line that says why."""
    lines = [line for line in err.splitlines() if not line.startswith("[")]
    assert (code, out, len(lines)) == (2, "", 1), err
    assert PASSWORD not in err
    return lines[0]


WRONG = {
    "no url": f"postgres:{PASSWORD}@host",
    "another scheme": f"mysql://u:{PASSWORD}@h/d",
    "old scheme": f"postgres://u:{PASSWORD}@h/d",
    "slash in the password": f"postgresql://u:a/{PASSWORD}@127.0.0.1:1/d",
    "at in the password": f"postgresql://u:a@{PASSWORD}@127.0.0.1:1/d",
    "port in words": f"postgresql://u:{PASSWORD}@h:port/d",
    "half of an address": f"postgresql://u:{PASSWORD}@[::1/d",
    "no user": f"postgresql://:{PASSWORD}@h/d",
    "password as an option": f"postgresql://u@127.0.0.1:1/d?password={PASSWORD}",
    "unknown option": f"postgresql://u@127.0.0.1:1/d?token={PASSWORD}",
    "option twice": f"postgresql://u:{PASSWORD}@127.0.0.1:1/d?sslmode=require&sslmode=disable",
    "unknown mode": f"postgresql://u:{PASSWORD}@127.0.0.1:1/d?sslmode=verify-ca",
    "no such file": f"postgresql://u:{PASSWORD}@127.0.0.1:1/d?sslmode=verify-full&sslrootcert=/x",
    "no server": f"postgresql://u:{PASSWORD}@127.0.0.1:1/d",
    "no such port": f"postgresql://u:{PASSWORD}@127.0.0.1:99999/d",
    "no such host": f"postgresql://u:{PASSWORD}@no.such.host.invalid/d",
    "no name of a host": f"postgresql://u:{PASSWORD}@{'a' * 70}.x/d",
    "no such socket": f"postgresql://u:{PASSWORD}@/d?unix_sock=/no/such/socket",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_url_is_one_line_without_the_password(name: str) -> None:
    """Neither the message nor anything that it came from holds it."""
    with pytest.raises(CertiRAGError) as caught:
        opened(WRONG[name])
    error: BaseException | None = caught.value
    assert caught.value.exit_code == 2
    while error is not None:
        assert PASSWORD not in f"{error} {error!r}"
        assert "\n" not in str(caught.value)
        error = error.__cause__


def test_what_is_shown_of_a_url() -> None:
    """Its options may be secret too."""
    url = read_url(f"postgresql://u:{PASSWORD}@h:5/d?unix_sock=/{PASSWORD}")
    assert shown(url) == "postgresql+pg8000://u:***@h:5/d"


SAID = {
    "nothing": b"",
    "http": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "half of tls": b"S",
    "no tls, then nothing": b"N",
    "asks for the password, in clear, and goes": b"NR\0\0\0\x08\0\0\0\x03",
    "scram, then nothing": b"NR\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0\0",
    "an unknown message": b"N?\0\0\0\x04",
    "an unknown way to log in": b"NR\0\0\0\x08\0\0\0\x63",
    "bad bytes": b"\xff\xfe",
    "an error of many lines": b"NE\0\0\0\x0fMa\nb\nc\nd\0\0",
    "no version": b"NR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I",
}


@pytest.mark.parametrize("said", SAID)
def test_another_server_than_ours(said: str) -> None:
    """Whatever listens there, it is one line; with a password and without one."""
    for user in (f"u:{PASSWORD}", "u"):
        with answering(SAID[said]) as port, pytest.raises(AuditError) as caught:
            opened(f"postgresql://{user}@127.0.0.1:{port}/d")
        assert PASSWORD not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_server_that_says_nothing_is_not_waited_for_for_ever() -> None:
    """It took the connection and never answers."""
    with answering(None) as port, pytest.raises(AuditError, match="timed out"):
        opened(f"postgresql://u:{PASSWORD}@127.0.0.1:{port}/d", wait=0.2)


def test_without_the_driver_the_extra_is_named(tmp_path: Path) -> None:
    """The message is the command that installs it."""
    (tmp_path / "pg8000.py").write_text("raise ModuleNotFoundError('no', name='pg8000')\n")
    url = f"postgresql+pg8000://u:{PASSWORD}@127.0.0.1:1/d"
    environment = {**os.environ, "CERTIRAG_AUDIT_URL": url, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "certirag", "audit", "list"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    line = is_one_line(done.returncode, done.stdout, done.stderr)
    assert "pip install 'certirag[postgres]'" in line


@pytest.fixture
def server(postgres_server: Server) -> Iterator[tuple[Server, str, str]]:
    """The server, a database with a log, and a role that needs its password to use it."""
    database, role = postgres_server.new_database(), postgres_server.new_role()
    rules = postgres_server.folder / "cluster" / "pg_hba.conf"
    before = rules.read_text("utf-8")
    rules.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{before}", "utf-8")
    postgres_server.run(
        "postgres",
        "SELECT pg_reload_conf()",
        f"ALTER ROLE {role} PASSWORD '{PASSWORD}'",
        f"GRANT certirag_owner TO {role}",
    )
    opened(postgres_server.url(database))
    yield postgres_server, database, role
    rules.write_text(before, "utf-8")


@pytest.mark.postgres
@pytest.mark.parametrize("given", ["", f"{PASSWORD}x", f"x{PASSWORD}"])
def test_a_wrong_password(server: tuple[Server, str, str], tmp_path: Path, given: str) -> None:
    """It is refused in one line, which holds neither it nor the right one."""
    postgres, database, role = server
    user = f"{role}:{quote(given)}" if given else role
    url = postgres.url(database, user)
    with pytest.raises(AuditError, match=r"password"):
        opened(url)
    line = is_one_line(*command(tmp_path, url, "audit", "list"))
    assert "password" in line


@pytest.mark.postgres
def test_a_database_that_is_not_there(postgres_server: Server, tmp_path: Path) -> None:
    """It is not made, and named."""
    line = is_one_line(*command(tmp_path, postgres_server.url("nowhere"), "audit", "list"))
    assert "nowhere" in line


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy corpus, ingested once."""
    folder = tmp_path_factory.mktemp("corpus")
    assert command(folder / "home", "", "ingest", POLICY, "--index", folder / "i")[0] == 0
    return folder / "i"


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("word", "times", "how"),
    [
        (b"INSERT INTO log_entry", 1, "cut"),  # the request cannot be logged
        (b"INSERT INTO log_entry", 2, "cut"),  # the server dies while the answer is made
        (b"INSERT INTO log_entry", 2, "unanswered"),
        (b"INSERT INTO answer_facet", 1, "cut"),
        (b"INSERT INTO answer_document", 1, "unanswered"),
    ],
)
def test_a_server_that_dies_in_the_middle_of_an_answer(
    server: tuple[Server, str, str], index: Path, tmp_path: Path, word: bytes, times: int, how: How
) -> None:
    """No answer is shown or written; the log is whole, and the request stands there as begun."""
    postgres, database, role = server
    home, export = tmp_path / "home", tmp_path / "a.json"
    with line_to(postgres.port, word, times, how) as line:
        url = postgres.url(database, f"{role}:{PASSWORD}").replace(
            str(postgres.port), str(line.own_port)
        )
        (home / "keys").mkdir(parents=True)
        key = home / "keys" / "signing.key"
        key.write_bytes(KEY.private_bytes_raw())
        key.chmod(0o600)
        done = command(home, url, "ask", QUESTION, "--index", index, "--export", export, "--json")
        assert line.broken
    assert "no answer is shown" in is_one_line(*done)
    assert not export.exists()
    assert [path for path in home.rglob("*") if PASSWORD.encode() in _bytes(path)] == []
    kinds = [
        entry.leaf.partition('"kind":"')[2][:8]
        for entry in opened(postgres.url(database)).entries()
    ]
    assert kinds == ['genesis"', "received"][: 1 + (times > 1 or b"answer" in word)]
    assert "INTACT" in command(home, postgres.url(database), "audit", "verify")[1]


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("word", "how"),
    [
        (b"pg_advisory_xact_lock", "cut"),
        (b"pg_advisory_xact_lock", "unanswered"),
        (b"INSERT INTO log_content", "cut"),
        (b"INSERT INTO log_content", "unanswered"),
        (b"INSERT INTO log_content", "silent"),
        (b"commit", "cut"),
        (b"commit", "unanswered"),
    ],
)
def test_a_line_that_breaks_anywhere(postgres_server: Server, word: bytes, how: How) -> None:
    """One error; the next append goes through, and what was acknowledged is there."""
    database = postgres_server.new_database()
    straight = opened(postgres_server.url(database))
    with line_to(postgres_server.port) as line:
        url = postgres_server.url(database).replace(str(postgres_server.port), str(line.own_port))
        log = opened(url, wait=2)
        log.append(received(1))
        line.how, line.word = how, word
        with pytest.raises(AuditError, match="no answer"):
            log.append(received(2))
    size = straight.size()
    assert size in ({2, 3} if word == b"commit" else {2})  # whether it was kept is not known
    prove(opened(postgres_server.url(database), wait=5).append(received(3)), b"asked", TRUSTED)
    assert straight.size() == size + 1


@pytest.mark.postgres
def test_a_cut_connection_prints_nothing(postgres_server: Server, tmp_path: Path) -> None:
    """The library that pools connections would print a traceback of its own."""
    database = postgres_server.new_database()
    program = (
        "import sys\nfrom certirag.adapters.log_sql.sql_log import SqlAuditLog\n"
        "from certirag.proof.keys import signing_key\nfrom pathlib import Path\n"
        "log = SqlAuditLog(sys.argv[1], key=signing_key(Path(sys.argv[2])), wait=1)\n"
        "with log._database.reading() as reading:\n"
        "    reading.exec_driver_sql('SELECT pg_terminate_backend(pg_backend_pid())')\n"
    )
    words = [sys.executable, "-c", program, postgres_server.url(database), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "AuditError" in done.stderr.splitlines()[-1]
    assert "Exception terminating connection" not in done.stderr


@pytest.mark.postgres
@pytest.mark.parametrize("isolation", ["serializable", "repeatable read"])
def test_many_writers_whatever_the_servers_default_is(
    postgres_server: Server, isolation: str
) -> None:
    """None is refused because it looked at the log before its turn came."""
    database = postgres_server.new_database()
    opened(postgres_server.url(database))
    postgres_server.run(
        "postgres", f"ALTER DATABASE {database} SET default_transaction_isolation = '{isolation}'"
    )
    errors: list[AuditError] = []

    def write() -> None:
        log = opened(postgres_server.url(database), wait=30)
        for number in range(10):
            try:
                log.append(received(number))
            except AuditError as error:
                errors.append(error)
        log.close()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert errors == []
    assert opened(postgres_server.url(database)).size() == 41


@pytest.mark.postgres
def test_a_writer_that_hangs_does_not_stop_the_others(postgres_server: Server) -> None:
    """A machine that died in the middle of an entry loses that entry, and no one else does."""
    url = postgres_server.url(postgres_server.new_database())
    hanging, other = opened(url, wait=2), opened(url)
    late = hanging._database.writing()
    connection = late.__enter__()
    prove(other.append(received(1)), b"asked", TRUSTED)
    with pytest.raises(DBAPIError) as cut:
        connection.exec_driver_sql("SELECT 1")
    with pytest.raises(AuditError, match="no answer is shown"):
        late.__exit__(type(cut.value), cut.value, None)
    hanging.append(received(3))
    assert other.size() == 3


@pytest.mark.postgres
def test_a_reader_that_hangs_does_not_stop_an_erasure_for_ever(postgres_server: Server) -> None:
    """The contents are erased; that their bytes may be there still is said, with the mend."""
    url = postgres_server.url(postgres_server.new_database())
    log, reader = opened(url, wait=1), opened(url)
    log.append(received(1))
    act = NewEntry("erase", "", AT, detail={"targets": [[1, 1]], "rule": "x"})
    with reader._database.reading() as reading:
        reading.exec_driver_sql("SELECT count(*) FROM log_content")
        with pytest.raises(AuditError, match=r"bytes may still be.*certirag audit scrub"):
            log.erase(act, [1])
        assert next(log.entries(1)).content is None
    log.scrub()


ODD = ("\ud800", "a\x00b", "\x00", "\U0001f4a9" * 5000, "'; DROP TABLE log_entry --", "%s %(x)s :x")


@pytest.mark.postgres
@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_odd_texts_do_not_reach_the_next_question(postgres_server: Server, odd: str) -> None:
    """What cannot be sent is refused, and the connection is not used on half-way through."""
    log = opened(postgres_server.url(postgres_server.new_database()))
    log.append(asked(1, f"what of {odd} here"))
    assert log.count(AnswerQuery(about="here")) == 1
    query = AnswerQuery(
        trace_id=odd, document=odd, corpus=odd, policy=odd, model=odd, reasons=(odd,)
    )
    assert log.count(query) == 0
    for _ in range(3):
        with pytest.raises(AuditError):
            log.find(odd)
        assert log.size() == 2
        assert log.search(AnswerQuery()).rows[0].index == 1
    for entry in (
        replace(received(1), trace_id=odd),
        NewEntry("revoke", "", AT, detail={"target": 1, "reason": odd, "authoriser": ""}),
    ):
        size = log.size()
        try:
            log.append(entry)
        except AuditError:
            assert log.size() == size
        else:
            assert log.size() == size + 1
        assert log.search(AnswerQuery()).rows[0].index == 1


@pytest.mark.postgres
def test_large_contents(postgres_server: Server) -> None:
    """5 MB of every byte come back as they were, and so do many of them."""
    log = opened(postgres_server.url(postgres_server.new_database()), wait=30)
    large = bytes(range(256)) * 20_000
    proofs = log.append_all([received(number, large) for number in range(3)])
    assert [entry.content for entry in log.entries(1)] == [large] * 3
    prove(proofs[1], large, TRUSTED)


@pytest.mark.postgres
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_without_all_characters_is_refused(
    postgres_server: Server, encoding: str
) -> None:
    """At once and with the mend, not at the first question that it cannot keep."""
    name = f"narrow_{encoding.lower()}"
    postgres_server.run(
        "postgres",
        f"CREATE DATABASE {name} OWNER certirag_owner ENCODING '{encoding}' TEMPLATE template0 "
        "LC_COLLATE 'C' LC_CTYPE 'C'",
    )
    with pytest.raises(AuditError, match="ENCODING 'UTF8'"):
        opened(postgres_server.url(name))


def _certificate(folder: Path, name: str, key: ec.EllipticCurvePrivateKey) -> Path:
    """Write a certificate of *name* by itself; return its file."""
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.crt"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def with_tls(postgres_server: Server, tmp_path: Path) -> Iterator[tuple[Server, Path, Path]]:
    """The server with a certificate for ``localhost``; that certificate, and a stranger's."""
    key = ec.generate_private_key(ec.SECP256R1())
    own, strange = (
        _certificate(tmp_path, name, one)
        for name, one in (("localhost", key), ("other", ec.generate_private_key(ec.SECP256R1())))
    )
    cluster = postgres_server.folder / "cluster"
    (cluster / "server.crt").write_bytes(own.read_bytes())
    private = cluster / "server.key"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    private.chmod(0o600)
    for path in (private, cluster / "server.crt"):
        os.chown(path, cluster.stat().st_uid, cluster.stat().st_gid)
    _switch_tls(postgres_server, on=True)
    yield postgres_server, own, strange
    _switch_tls(postgres_server, on=False)


def _switch_tls(server: Server, *, on: bool) -> None:
    server.run("postgres", f"ALTER SYSTEM SET ssl = {on}", "SELECT pg_reload_conf()")
    time.sleep(0.5)  # the server's signal is not answered


@pytest.mark.postgres
def test_tls(with_tls: tuple[Server, Path, Path]) -> None:
    """The certificate is looked at when that is asked for, its name too."""
    server, own, strange = with_tls
    name = server.new_database()
    url = server.url(name).replace("127.0.0.1", "localhost")
    for options in ("", "?sslmode=require", f"?sslmode=verify-full&sslrootcert={own}"):
        log = opened(url + options)
        with log._database.reading() as reading:
            used = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            assert reading.exec_driver_sql(used).scalar()
        log.close()
    for wrong in (
        f"{url}?sslmode=verify-full&sslrootcert={strange}",
        f"{url}?sslmode=verify-full",
        f"{server.url(name)}?sslmode=verify-full&sslrootcert={own}",
    ):
        with pytest.raises(AuditError, match="certificate verify failed"):
            opened(wrong)


@pytest.mark.postgres
def test_tls_that_is_required_is_not_left_out(postgres_server: Server) -> None:
    """A server without it is refused before anything is said to it."""
    url = postgres_server.url(postgres_server.new_database(), f"certirag_owner:{PASSWORD}")
    with pytest.raises(AuditError, match="refuses SSL"):
        opened(f"{url}?sslmode=require")
    opened(f"{url}?sslmode=disable")


def test_a_file_of_authorities_that_is_none(tmp_path: Path) -> None:
    """It is named as the option that it came by."""
    (tmp_path / "x").write_text("nothing")
    with pytest.raises(InputError, match="sslrootcert"):
        opened(f"postgresql://u@127.0.0.1:1/d?sslmode=verify-full&sslrootcert={tmp_path / 'x'}")
