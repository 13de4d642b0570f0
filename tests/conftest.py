"""Shared by all tests: the path to the builders, and what CI may not skip."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import property_runs  # noqa: F401  # its profile holds for every property
from postgres import Server, running_server, server_programs

# What a fixture makes before any test's own home is there must not be the user's either.
_HOME = TemporaryDirectory(prefix="certirag-")
os.environ["CERTIRAG_HOME"] = _HOME.name
# Programs and pages are tested with the small networks alone, which takes a fraction of the time;
# what is measured (`near_miss_path`, `integration_fixtures`) reads no environment and asks both.
os.environ.setdefault("CERTIRAG_VERIFIER", "embedded")
os.environ.setdefault("CERTIRAG_READER", "embedded")
# Streamlit's AppTest leaves its script in place of this, and a process that is started anew runs it.
_MAIN = sys.modules["__main__"]
CHROMIUM = Path(os.environ.get("CERTIRAG_CHROMIUM", "/usr/bin/chromium"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests whose programs are missing; CI sets CERTIRAG_REQUIRE_ALL and fails."""
    if os.environ.get("CERTIRAG_REQUIRE_ALL"):
        return
    missing = {}
    if not CHROMIUM.exists():
        missing["browser"] = f"no browser at {CHROMIUM}"
    if server_programs() is None:
        missing["postgres"] = "PostgreSQL is not installed"
    for item in items:
        for marker, reason in missing.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL server of this test process's own."""
    with running_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep keys, logs and indexes of the tests away from the user's own, and pages from other tests."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setitem(sys.modules, "__main__", _MAIN)
