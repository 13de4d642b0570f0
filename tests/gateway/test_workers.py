"""The gateway as a process, with several workers: stopped while it is asked, killed, bounded."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from integration_fixtures import part_of

from certirag.gateway.access import KeyRecord, add_key
from certirag.gateway.together import Together
from certirag.gateway.workers import MOST_ENDED
from certirag.proof.envelope import strict_json

ROOT = Path(__file__).resolve().parents[2]
ASKED = {"question": "How many days of annual leave do full-time employees receive?"}


def _run(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CERTIRAG_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpus ``policy``."""
    home = tmp_path_factory.mktemp("workers")
    index = str(home / "indexes" / "policy")
    made = _run("-m", "certirag", "ingest", "fixtures/corpora/policy", "--index", index, home=home)
    assert made.returncode == 0, made.stderr
    return home


@dataclass
class Running:
    """A gateway of its own process, with what it says."""

    url: str
    process: subprocess.Popen[str]
    said: Path

    def workers(self) -> set[int]:
        pid = self.process.pid
        return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))

    def until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not reached():
            assert time.monotonic() < deadline, self.said.read_text()
            time.sleep(0.05)


@contextmanager
def _served(home: Path, *arguments: str) -> Iterator[Running]:
    said = home / "said.txt"
    environment = {**os.environ, "CERTIRAG_HOME": str(home), "PYTHONPATH": str(ROOT)}
    with said.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "certirag", "serve", "--port", "0", *arguments],
            env=environment,
            cwd=ROOT,
            stderr=file,
            text=True,
        )
    running = Running("", process, said)
    try:
        running.until(lambda: "http://" in said.read_text() or process.poll() is not None)
        running.url = re.findall(r"http://[\d.:]+", said.read_text())[0]
        yield running
    finally:
        process.kill()
        process.wait(30)


@pytest.mark.slow
@pytest.mark.parametrize("workers", part_of(["2", "1"], 2))
def test_a_gateway_that_is_stopped_finishes_what_it_began(home: Path, workers: str) -> None:
    """SIGTERM while 16 clients ask: each gets its answer or is refused, and the log has all."""
    arguments = ("--clients", "16", "--seconds", "10", "--workers", workers)
    done = _run("scripts/load_gateway.py", *arguments, home=home)
    found = json.loads(done.stdout)
    assert done.returncode == 0, done
    assert found["answers"] > 5, found
    assert found["answered_after_sigterm"] > 0, "nothing was under way when it was stopped"
    assert (found["other"], found["missing_in_log"], found["unfinished_in_log"]) == (0, 0, 0)
    assert found["log_intact"]


@pytest.mark.slow
def test_workers_are_replaced_and_share_what_they_must(home: Path) -> None:
    """One that is killed has a successor; certificates and counts are those of all of them."""
    with _served(home, "--workers", "2") as gateway:
        given = httpx.post(f"{gateway.url}/v1/answer", json=ASKED, timeout=120).json()
        first = gateway.workers()
        os.kill(min(first), signal.SIGKILL)
        gateway.until(lambda: len(gateway.workers() - first) == 1)
        assert f"worker {min(first)} ended by itself (signal 9)" in gateway.said.read_text()
        os.kill(max(first), signal.SIGKILL)  # none is left that gave the answer
        gateway.until(lambda: not gateway.workers() & first and len(gateway.workers()) == 2)
        kept = httpx.get(gateway.url + given["certificate"], timeout=120)
        assert strict_json(kept.content)["trace_id"] == given["trace_id"]
        again = httpx.post(f"{gateway.url}/v1/answer", json=ASKED, timeout=120).json()
        assert again["answer"] == given["answer"]
        counted = 'certirag_requests_total{code="",path="/v1/answer",status="200"} 2.0'
        assert counted in httpx.get(f"{gateway.url}/metrics").text
        # Whoever kills the first process kills the gateway: no worker serves on without it.
        left = gateway.workers()
        gateway.process.kill()
        gateway.process.wait(30)
        gateway.until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in left))


@pytest.mark.slow
def test_a_gateway_whose_workers_keep_ending_stops(home: Path) -> None:
    """It says so in one line, and does not fork for ever."""
    with _served(home, "--workers", "2") as gateway:
        ended: set[int] = set()
        for _ in range(MOST_ENDED):
            gateway.until(lambda: bool(gateway.workers() - ended))
            one = min(gateway.workers() - ended)
            ended.add(one)
            os.kill(one, signal.SIGKILL)
        assert gateway.process.wait(60) == 2
        last = gateway.said.read_text().splitlines()[-1]
        assert last.startswith(f"certirag: {MOST_ENDED} workers ended by themselves within")


@pytest.mark.slow
def test_a_key_is_bounded_over_all_workers(home: Path) -> None:
    """Thirty requests a minute are thirty, whichever worker reads them."""
    bounded = home / "bounded"
    bounded.mkdir()
    key = add_key(bounded, KeyRecord("desk", "", "casual", per_minute=30))
    with _served(bounded, "--workers", "3") as gateway:
        headers = {"authorization": f"Bearer {key}"}
        began = time.monotonic()

        def ask(_number: int) -> int:  # each on a connection of its own
            return httpx.get(f"{gateway.url}/v1/models", headers=headers).status_code

        with ThreadPoolExecutor(16) as clients:
            statuses = list(clients.map(ask, range(120)))
        more = 1 + 30 / 60 * (time.monotonic() - began)
        assert 30 <= statuses.count(200) <= 30 + more
        assert set(statuses) == {200, 429}


def test_a_port_that_is_taken_is_said_in_one_line(home: Path) -> None:
    """With what to do."""
    with _served(home) as gateway:
        port = gateway.url.rpartition(":")[2]
        other = _run("-m", "certirag", "serve", "--port", port, home=home)
        assert other.returncode == 2
        assert other.stderr.count("\n") == 1
        assert f"127.0.0.1, port {port}: Address already in use" in other.stderr


def test_what_one_worker_knows_the_others_know(tmp_path: Path) -> None:
    """Two of them on one file: tokens are taken once, and answers are given once and for all."""
    one, other = Together(tmp_path / "x"), Together(tmp_path / "x")
    assert [way.take("desk", 3, 0.0) for way in (one, other, one)] == [0, 0, 0]
    assert other.take("desk", 3, 0.0) == pytest.approx(20)
    assert other.take("desk", 3, 20.0) == 0
    assert one.take("desk", 3, 10.0) > 0, "a clock that goes back gives nothing"
    assert one.take("another", 3, 0.0) == 0
    one.give("a" * 32, "desk")
    assert other.was_given("a" * 32, "desk")
    assert not other.was_given("a" * 32, "another")


def test_the_oldest_answers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many are kept as are promised, the newest."""
    monkeypatch.setattr("certirag.gateway.together._REMEMBERED", 2)
    kept = Together()
    for trace_id in ("one", "two", "three"):
        kept.give(trace_id, "desk")
    known = [trace_id for trace_id in ("one", "two", "three") if kept.was_given(trace_id, "desk")]
    assert known == ["two", "three"]
