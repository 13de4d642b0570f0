"""Writers of the log die at any moment: nothing that was acknowledged is lost, the log verifies."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import log_cases as cases
import pytest
from integration_fixtures import WHOLE
from postgres import Server, running_server
from sqlalchemy.exc import SQLAlchemyError

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.auditing.verify_log import verify_log
from certirag.core.text import sha256_hex
from certirag.ports import LogEntry

RUNS = 200 if WHOLE else 60
RUNS_A_LOG = 20
CRASHES = 6
# Seconds until a writer is killed: shortest, longest.
MOMENTS = {"sqlite": (0.005, 0.12), "postgresql": (0.01, 0.25)}
PROGRAM = Path(__file__).parents[1] / "kill_writers.py"

pytestmark = pytest.mark.slow


class Writers:
    """The program that forks writers and kills them, started once."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=PROGRAM.parents[1],
        )

    def start(self, url: str, seed: int, shortest: float, longest: float) -> None:
        """Begin a run; `finish` waits for its end."""
        assert self._program.stdin is not None
        self._program.stdin.write(f"{url} {seed} {shortest} {longest}\n")
        self._program.stdin.flush()

    def finish(self) -> tuple[dict[int, str], list[str]]:
        """Return what was acknowledged, the leaf's digest by entry, and the errors, of a run."""
        assert self._program.stdout is not None
        acknowledged: dict[int, str] = {}
        errors: list[str] = []
        for line in self._program.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "done":
                return acknowledged, errors
            if word == "error":
                errors.append(rest)
                continue
            index, digest = rest.split()
            assert word == "ack"
            assert int(index) not in acknowledged, "one entry was acknowledged twice"
            acknowledged[int(index)] = digest
        raise AssertionError("the program that kills writers ended")

    def close(self) -> None:
        """End the program."""
        assert self._program.stdin is not None
        self._program.stdin.close()
        self._program.wait(timeout=30)


@dataclass
class Watched:
    """One log over many kills: what was acknowledged, and the checkpoints that were seen."""

    url: str
    acknowledged: dict[int, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)

    def examine(self, acknowledged: dict[int, str]) -> int:
        """Check the log as the kills left it, and return its size."""
        assert not self.acknowledged.keys() & acknowledged.keys()
        self.acknowledged |= acknowledged
        log = SqlAuditLog(self.url, key=cases.OLD, origin=cases.ORIGIN)
        checkpoint = log.checkpoint()
        digests: list[str] = []

        def read() -> Iterator[LogEntry]:
            for entry in log.entries():
                digests.append(sha256_hex(entry.leaf))
                yield entry

        report = verify_log(read(), checkpoint=checkpoint, keys=cases.KEYS, held=self.held)
        assert report.faults == ()
        assert report.held == len(self.held)
        lost = [i for i, leaf in self.acknowledged.items() if digests[i : i + 1] != [leaf]]
        assert lost == []
        assert log.size() == report.size == len(digests)
        log.close()
        self.held.append(checkpoint)
        return report.size


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    """Start the program once for all runs."""
    program = Writers()
    yield program
    program.close()


def kill_over_and_over(
    writers: Writers, urls: Callable[[int], str], shortest: float, longest: float
) -> str:
    """Kill the writers of `RUNS` runs, and return what was counted, for a person."""
    acknowledged, entries, size = 0, 0, 0
    for number in range(RUNS):
        if number % RUNS_A_LOG == 0:
            watched = Watched(urls(number))
            entries += size
        writers.start(watched.url, number, shortest, longest)
        found, errors = writers.finish()
        assert errors == []
        size = watched.examine(found)
        acknowledged += len(found)
    assert acknowledged > 10 * RUNS
    # Beyond the acknowledged: what opens a log, and what was killed between commit and word.
    return f"{acknowledged} entries acknowledged, {entries + size} in the logs, 0 lost"


@pytest.mark.timeout(600)
def test_no_acknowledged_entry_is_lost_on_sqlite(writers: Writers, tmp_path: Path) -> None:
    """Four writers of one file are killed, over and over; each time the log is whole."""
    counted = kill_over_and_over(
        writers, lambda number: f"sqlite:///{tmp_path}/{number}.sqlite3", *MOMENTS["sqlite"]
    )
    print(f"\nSQLite, {RUNS} runs, 4 writers killed in each: {counted}")


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_no_acknowledged_entry_is_lost_on_postgresql(
    writers: Writers, postgres_server: Server
) -> None:
    """Four writers of one database are killed, over and over; each time the log is whole."""
    counted = kill_over_and_over(
        writers,
        lambda number: postgres_server.url(postgres_server.new_database()),
        *MOMENTS["postgresql"],
    )
    print(f"\nPostgreSQL, {RUNS} runs, 4 writers killed in each: {counted}")


@pytest.mark.postgres
@pytest.mark.timeout(300)
def test_no_acknowledged_entry_is_lost_with_the_server(writers: Writers) -> None:
    """The whole PostgreSQL server is killed while four write; after its recovery all is there."""
    chance = random.Random(CRASHES)
    acknowledged = 0
    with running_server() as server:
        begun = server.process
        watched = Watched(server.url(server.new_database()))
        watched.examine({})
        for number in range(CRASHES):
            writers.start(watched.url, RUNS + number, 30.0, 30.0)
            time.sleep(chance.uniform(0.3, 1.0))
            kill_server(server)
            found, errors = writers.finish()
            assert len(errors) == 4, "every writer ends with an error, none with an entry unsaid"
            restart(server)
            size = watched.examine(found)
            acknowledged += len(found)
        assert acknowledged > CRASHES
        if server.process is not begun:
            server.process.send_signal(signal.SIGINT)
            server.process.wait(timeout=60)
    print(
        f"\nPostgreSQL, killed whole {CRASHES} times: {acknowledged} entries acknowledged, "
        f"{size} in the log, 0 lost"
    )


def kill_server(server: Server) -> None:
    """Kill the server and each of its processes, with no warning and no last write."""
    parent = server.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    for pid in (parent, *map(int, children)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    server.process.wait(timeout=30)
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in children) and time.monotonic() < deadline:
        time.sleep(0.02)


def restart(server: Server) -> None:
    """Start the killed server again in its folder, and wait until it has recovered."""
    log = (server.folder / "server.log").open("ab")
    server.process = subprocess.Popen(
        server.process.args,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=server.folder,
        user="postgres" if os.geteuid() == 0 else None,
    )
    log.close()
    deadline = time.monotonic() + 60
    while True:
        try:
            server.run("postgres", "SELECT 1")
        except SQLAlchemyError:
            assert server.process.poll() is None, "the server did not start again"
            assert time.monotonic() < deadline, "the server did not recover"
            time.sleep(0.05)
        else:
            return
