"""Servers that are started for the browser tests and stopped by their own process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT = 60.0


def serve(script: str, folder: Path, **environment: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start `streamlit run script` on a free port and return the process and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (folder / "server.log").open("wb")
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, *options],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "CERTIRAG_HOME": str(folder / "home"),
            **environment,
        },
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    address = f"http://127.0.0.1:{port}"
    limit = time.monotonic() + START_LIMIT
    while time.monotonic() < limit:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):  # noqa: S310
                return process, address
        except OSError:
            time.sleep(0.2)
    stop(process)
    raise AssertionError((folder / "server.log").read_text("utf-8", "replace"))


def ingest(home: Path, source: Path | str, name: str) -> None:
    """Make the corpus *name* of the app at *home* from *source*."""
    subprocess.run(
        [sys.executable, "-m", "certirag", "ingest", source, "--index", home / "indexes" / name],
        cwd=ROOT,
        env={**os.environ, "CERTIRAG_HOME": str(home)},
        check=True,
        capture_output=True,
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the server that `serve` started."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)
