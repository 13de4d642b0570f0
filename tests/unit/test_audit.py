"""The log refuses changes and says so; the signing key is made once and kept private."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

from certirag.adapters.audit_sqlite import SqliteAuditLog
from certirag.audit.keys import read_public_key, signing_key, trusted_keys
from certirag.core.certificate import key_id
from certirag.errors import AuditError, InputError


def _append(log: SqliteAuditLog, name: str) -> int:
    return log.append(trace_id=name, created_at="2026-01-01T00:00:00+00:00", certificate=b"{}")


def test_entries_come_back_in_order(tmp_path: Path) -> None:
    """What was appended is read back, byte for byte, and found by trace id."""
    log = SqliteAuditLog(tmp_path / "log.sqlite3")
    assert [_append(log, name) for name in ("a", "b", "c")] == [1, 2, 3]
    assert [entry.trace_id for entry in log.entries()] == ["a", "b", "c"]
    assert log.find("b").certificate == b"{}"
    with pytest.raises(AuditError):
        log.find("z")


def test_a_trace_id_is_recorded_once(tmp_path: Path) -> None:
    """A second answer under one trace id is refused."""
    log = SqliteAuditLog(tmp_path / "log.sqlite3")
    _append(log, "a")
    with pytest.raises(AuditError, match="no answer is shown"):
        _append(log, "a")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log SET certificate = x'00' WHERE sequence = 1",
        "DELETE FROM log WHERE sequence = 1",
        "INSERT OR REPLACE INTO log SELECT 1, 'a', created_at, previous, digest, x'00' FROM log",
    ],
)
def test_the_table_refuses_changes(tmp_path: Path, statement: str) -> None:
    """UPDATE, DELETE and REPLACE are stopped by triggers."""
    path = tmp_path / "log.sqlite3"
    _append(SqliteAuditLog(path), "a")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA recursive_triggers = ON")
        with pytest.raises(sqlite3.DatabaseError):
            connection.execute(statement)


def test_a_change_past_the_triggers_is_seen(tmp_path: Path) -> None:
    """Whoever drops the triggers still breaks the chain of digests."""
    path = tmp_path / "log.sqlite3"
    log = SqliteAuditLog(path)
    for name in ("a", "b", "c"):
        _append(log, name)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER log_no_update")
        connection.execute("UPDATE log SET certificate = x'00' WHERE sequence = 2")
    with pytest.raises(AuditError, match="entry 2"):
        list(log.entries())
    with pytest.raises(AuditError):
        log.find("b")


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    """Concurrent appends all land, in one unbroken chain."""
    log = SqliteAuditLog(tmp_path / "log.sqlite3")
    with ThreadPool(8) as pool:
        pool.map(lambda n: _append(log, f"t{n}"), range(64))
    assert len(list(log.entries())) == 64


def test_a_log_that_cannot_be_written_raises(tmp_path: Path) -> None:
    """A folder in place of the file is an AuditError, not an empty log."""
    (tmp_path / "log.sqlite3").mkdir()
    with pytest.raises(AuditError):
        SqliteAuditLog(tmp_path / "log.sqlite3")


def test_the_key_is_made_once_and_private(tmp_path: Path) -> None:
    """The second call gives the same key; the file is 0600; its public half is trusted."""
    key = signing_key(tmp_path)
    again = signing_key(tmp_path)
    path = tmp_path / "keys" / "signing.key"
    assert key.private_bytes_raw() == again.private_bytes_raw()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert set(trusted_keys(tmp_path)) == {key_id(key.public_key())}


def test_processes_that_start_together_share_one_key(tmp_path: Path) -> None:
    """The first to finish wins, and the others use its key."""
    program = (
        "import sys; from pathlib import Path; from certirag.audit.keys import signing_key; "
        "print(signing_key(Path(sys.argv[1])).public_key().public_bytes_raw().hex())"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(6)]
    assert len({process.communicate()[0] for process in started}) == 1


def test_an_exposed_or_damaged_key_is_refused(tmp_path: Path) -> None:
    """A key that others can read, or that is not a key, signs nothing."""
    signing_key(tmp_path)
    path = tmp_path / "keys" / "signing.key"
    path.chmod(0o644)
    with pytest.raises(AuditError, match="chmod 600"):
        signing_key(tmp_path)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(AuditError):
        signing_key(tmp_path)


@pytest.mark.parametrize("content", [b"", b"zz", b"00" * 31, b"01" + b"00" * 31, b"\xff"])
def test_what_is_no_public_key_is_bad_input(tmp_path: Path, content: bytes) -> None:
    """Wrong length, not hex, small order: one line that names the file."""
    path = tmp_path / "key.pub"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"key\.pub"):
        read_public_key(path)
