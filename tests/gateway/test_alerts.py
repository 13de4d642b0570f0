"""The alert rules that ship: each fires when it should and else not, by Prometheus' own tool."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("alerts.yaml")
DOCS = CASES.parents[2] / "docs"


@pytest.fixture
def promtool() -> str:
    """Return Prometheus' tool; without it CI fails, and others skip."""
    found = shutil.which("promtool")
    if found is None and os.environ.get("CERTIRAG_REQUIRE_ALL"):
        pytest.fail("promtool is not installed: on Debian, apt-get install prometheus")
    if found is None:
        pytest.skip("promtool is not installed")
    return found


def test_each_alert_fires_when_it_should_and_else_not(promtool: str) -> None:
    """Over the series of ``alerts.yaml`` beside this file."""
    done = subprocess.run(
        [promtool, "test", "rules", CASES], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_alert_is_without_a_case_and_a_line_in_the_runbook() -> None:
    """One that is added has to be seen firing, and is explained."""
    rules, cases = (path.read_text("utf-8") for path in (DOCS / "alerts.yaml", CASES))
    alerts = set(re.findall(r"- alert: (\w+)", rules))
    assert alerts
    assert set(re.findall(r"alertname: (\w+)\n +exp_alerts: \[\{", cases)) == alerts
    runbook = (DOCS / "runbook.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([A-Z]\w+)` \|", runbook, re.MULTILINE)) == alerts
