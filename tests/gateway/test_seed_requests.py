"""The gateway document's own requests (§3.4, §3.7.4, §3.7.5), by curl to ``certirag serve`` as it is run."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
CERTIRAG = (sys.executable, "-m", "certirag")
CURL = shutil.which("curl")
MAY_LACK = CURL is None and not os.environ.get("CERTIRAG_REQUIRE_ALL")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(MAY_LACK, reason="curl is not installed")]


@dataclass(frozen=True)
class Running:
    """A gateway in a process of its own, over the corpus ``mileage``, and what it writes there."""

    url: str
    lines: Path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Ingest the corpus, serve it on a free port, and end the process afterwards."""
    home = tmp_path_factory.mktemp("home")
    env = {**os.environ, "CERTIRAG_HOME": str(home), "PYTHONPATH": str(ROOT)}
    corpus = ROOT / "fixtures" / "corpora" / "mileage"
    index = home / "indexes" / "mileage"
    subprocess.run([*CERTIRAG, "ingest", corpus, "--index", index], env=env, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = home / "lines.jsonl"
    with lines.open("wb") as out:
        command = [*CERTIRAG, "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=env, stdout=out)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 120
        while True:
            assert process.poll() is None
            assert time.monotonic() < deadline
            try:
                httpx.get(f"{url}/readyz", timeout=5).raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.2)
        yield Running(url, lines)
    finally:
        process.terminate()
        process.wait(30)


def _asked(running: Running, question: str) -> dict:
    """Return what the document's request, word for word but for the question, is answered with."""
    body = f"""{{
"question": "{question}",
"sources": ["irs_2025_notice.pdf"],
"max_citations": 3
}}"""
    assert CURL is not None
    command = [CURL, "-s", f"{running.url}/v1/answer", "-H", "content-type: application/json"]
    done = subprocess.run([*command, "-d", body], capture_output=True, timeout=120, check=True)
    return json.loads(done.stdout)


def test_the_mileage_rates_are_answered_from_the_notice(running: Running) -> None:
    """§3.4 and §3.7.4: every field of the document's response, under its name and with its kind."""
    given = _asked(running, "What are the 2025 IRS mileage rates?")
    for rate in ("70 cents", "21 cents", "14 cents"):
        assert rate in given["answer"]
    assert 1 <= len(given["citations"]) <= 3
    for cited in given["citations"]:
        assert (cited["source"], cited["section"]) == ("irs_2025_notice.pdf", "p.2")
        assert cited["quote_span"] in given["answer"]
    assert 0.94 <= given["grounding_score"] <= 1.0
    again = _asked(running, "What are the 2025 IRS mileage rates?")
    assert again["trace_id"] != given["trace_id"]
    same = ("answer", "citations", "grounding_score")
    assert [again[name] for name in same] == [given[name] for name in same]


def test_an_election_is_no_matter_of_the_notice(running: Running) -> None:
    """§3.7.5: the error's code and message are the document's, in its shape."""
    error = _asked(running, "Who will win the 2028 election?")["error"]
    assert set(error) == {"code", "message", "trace_id", "project"}
    assert error["code"] == "UNGROUNDED_CLAIM"
    assert error["message"] == "No supporting evidence found in provided sources."
    assert error["trace_id"]


def test_the_process_writes_a_line_for_each_request(running: Running) -> None:
    """Nothing else is on standard output, and nothing of the question."""
    error = _asked(running, "Who will win the 2028 election?")["error"]
    deadline = time.monotonic() + 20  # a line is written when its answer has been sent
    while error["trace_id"] not in running.lines.read_text("utf-8"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    lines = [json.loads(line) for line in running.lines.read_text("utf-8").splitlines()]
    assert lines[0]["route"] == "/readyz"
    last = lines[-1]
    assert (last["trace_id"], last["code"]) == (error["trace_id"], "UNGROUNDED_CLAIM")
    assert (last["route"], last["status"]) == ("/v1/answer", 422)
    assert "election" not in running.lines.read_text("utf-8")
