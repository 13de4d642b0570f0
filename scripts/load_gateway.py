"""Ask a gateway of its own with many clients at once, stop it while they ask, and count.

    python scripts/load_gateway.py [--clients 64] [--seconds 180] [--workers 1] [--corpus policy]

Serves the corpora of CERTIRAG_HOME on a free port, sends the questions of fixtures/questions, and
SIGTERM at the end, with requests under way. Prints one JSON document; exit code 1 unless every
request got its answer or a documented refusal and the log has every answer and is intact.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import httpx

from certirag.bootstrap import existing_log
from certirag.proof.log import parse_leaf
from certirag.settings import read_settings

ROOT: Final = Path(__file__).resolve().parent.parent
PATIENCE: Final = 600.0  # seconds until an answer, and until the gateway has stopped
LOOKS: Final = 6  # at the memory while it is asked
# What came of a request that got no response, once the gateway was told to stop.
CLOSED: Final = (httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError, httpx.WriteError)


@dataclass
class Tally:
    """What came of the requests so far; *seconds* of those that were answered."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    trace_ids: list[str] = field(default_factory=list)
    stopping: bool = False

    def response(self, response: httpx.Response, seconds: float) -> float:
        """Count *response*, and return how long to wait before the next request."""
        status = response.status_code
        if status in {200, 422}:  # an answer, or what the sources do not support: both are logged
            said = response.json()
            self.trace_ids.append(said["trace_id"] if status == 200 else said["error"]["trace_id"])
            self.seconds.append(seconds)
        known = {200: "answers", 422: "unsupported", 429: "429", 503: "503"}
        self.outcomes[known.get(status, "other")] += 1
        return float(response.headers.get("retry-after", 0))


def main() -> int:
    """Serve, ask, stop, count; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--workers", default="1")
    parser.add_argument("--corpus", default="policy", help="its questions are the fixture's")
    chosen = parser.parse_args()
    lines = (ROOT / "fixtures" / "questions" / f"{chosen.corpus}.jsonl").read_text("utf-8")
    questions = [json.loads(line)["question"] for line in lines.splitlines()]
    port = _free_port()
    command = [sys.executable, "-m", "certirag", "serve", "--port", str(port)]
    gateway = subprocess.Popen(
        [*command, "--workers", chosen.workers], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    try:
        found = asyncio.run(_load(f"http://127.0.0.1:{port}", gateway, chosen, questions))
    finally:
        gateway.kill()
    found |= {"clients": chosen.clients, "workers": int(chosen.workers)}
    print(json.dumps(found, indent=1))
    whole = found["log_intact"] and not found["missing_in_log"] and not found["unfinished_in_log"]
    return 0 if whole and not found["other"] and found["exit_code"] == 0 else 1


async def _load(
    url: str, gateway: subprocess.Popen[bytes], chosen: argparse.Namespace, questions: list[str]
) -> dict[str, Any]:
    tally, ask = Tally(), cycle(questions)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as once:
        while True:
            try:
                ready = await once.get("/readyz")
                if ready.status_code == 200:
                    break
                if ready.status_code == 404:
                    raise SystemExit("CERTIRAG_HOME has no corpus: run `make demo` first")
                await asyncio.sleep(0.2)
            except httpx.ConnectError:
                await asyncio.sleep(0.2)
            if gateway.poll() is not None:
                raise SystemExit("the gateway did not start")
        first = {"question": questions[0], "corpus": chosen.corpus}
        tally.response(await once.post("/v1/answer", json=first), 0.0)
    tally.seconds.clear()
    memory, began = [_memory(gateway.pid)], time.monotonic()
    clients = [
        asyncio.create_task(_client(url, tally, chosen.corpus, ask)) for _ in range(chosen.clients)
    ]
    for _ in range(LOOKS):
        await asyncio.sleep(chosen.seconds / LOOKS)
        memory.append(_memory(gateway.pid))
    lasted = time.monotonic() - began
    told = len(tally.seconds)
    tally.stopping = True
    gateway.send_signal(signal.SIGTERM)
    await asyncio.gather(*clients)
    code = await asyncio.to_thread(gateway.wait, PATIENCE)
    cuts = quantiles(tally.seconds, n=100) if len(tally.seconds) > 1 else [0.0] * 99
    return {
        "requests": tally.outcomes.total(),
        **{name: tally.outcomes[name] for name in _OUTCOMES},
        "answered_a_second": round(told / lasted, 2),
        "seconds_p50": round(cuts[49], 2),
        "seconds_p95": round(cuts[94], 2),
        "seconds_p99": round(cuts[98], 2),
        "answered_after_sigterm": len(tally.seconds) - told,
        "exit_code": code,
        "mib": memory,
        **_log(tally.trace_ids),
    }


_OUTCOMES: Final = ("answers", "unsupported", "429", "503", "closed_after_sigterm", "other")


async def _client(url: str, tally: Tally, corpus: str, ask: cycle[str]) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
        while not tally.stopping:
            began = time.monotonic()
            try:
                asked = {"question": next(ask), "corpus": corpus}
                response = await client.post("/v1/answer", json=asked)
            except CLOSED:
                tally.outcomes["closed_after_sigterm" if tally.stopping else "other"] += 1
            except httpx.HTTPError:
                tally.outcomes["other"] += 1
            else:
                await asyncio.sleep(tally.response(response, time.monotonic() - began))


def _log(trace_ids: list[str]) -> dict[str, Any]:
    """Return what the log says once the gateway is gone."""
    verify = [sys.executable, "-m", "certirag", "audit", "verify", "--json", "--grace", "0"]
    report = json.loads(subprocess.run(verify, cwd=ROOT, capture_output=True, check=False).stdout)
    leaves = map(parse_leaf, existing_log(read_settings()).leaves())
    logged = {leaf.trace_id for leaf in leaves if leaf.kind == "answer"}
    return {
        "log_intact": report["intact"],
        "missing_in_log": len(set(trace_ids) - logged),
        "unfinished_in_log": len(report["vanished"]) + len(report["under_way"]),
    }


def _memory(pid: int) -> dict[str, int]:
    """Return the MiB of *pid* and its workers: as each counts them, and shared ones once."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    found: Counter[str] = Counter()
    for process in (str(pid), *children):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text("utf-8").splitlines()[1:]:
            name, number, *_ = line.split()
            found[name] += int(number)
    return {"rss": found["Rss:"] // 1024, "pss": found["Pss:"] // 1024}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    sys.exit(main())
