"""Shared by all tests: the path to the builders, and what CI may not skip."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

CHROMIUM = Path(os.environ.get("CERTIRAG_CHROMIUM", "/usr/bin/chromium"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip browser tests where there is no browser; CI sets CERTIRAG_REQUIRE_ALL and fails."""
    if CHROMIUM.exists() or os.environ.get("CERTIRAG_REQUIRE_ALL"):
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=f"no browser at {CHROMIUM}"))


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep keys, logs and indexes of the tests away from the user's own."""
    if "CERTIRAG_HOME" not in os.environ or not os.environ.get("CERTIRAG_TEST_HOME"):
        monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path_factory.mktemp("home")))
