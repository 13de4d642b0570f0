"""The story of the demo comes true in a real browser, from the question to the offline check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browser_server import ROOT, serve, stop

sys.path.insert(0, str(ROOT / "scripts"))

from demo_video import SIZE, Story

_INGEST = (sys.executable, "-m", "certirag", "ingest")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_story_of_the_demo_is_true(visit, tmp_path: Path) -> None:
    """Every step waits for what it tells; nothing is asked of another host."""
    home = tmp_path / "home"
    subprocess.run(
        [*_INGEST, "fixtures/corpora/policy", "--index", str(home / "indexes" / "policy")],
        cwd=ROOT,
        env={**os.environ, "CERTIRAG_HOME": str(home)},
        check=True,
        capture_output=True,
    )
    process, address = serve("asgi.py", tmp_path)
    told: list[str] = []
    try:
        seen = visit(address, width=SIZE[0], height=SIZE[1])
        seen.page.set_default_timeout(120_000)
        Story(seen.page, address, tmp_path, lambda text, _seconds: told.append(text)).tell()
    finally:
        stop(process)
    assert len(told) >= 9
    assert not [url for url in seen.foreign if not url.startswith("file:")]
