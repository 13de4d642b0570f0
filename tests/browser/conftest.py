"""A browser for the tests, and what each page asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent))

PATIENCE = 90_000  # milliseconds, beside other tests on two cores
expect.set_options(timeout=PATIENCE)
CHROMIUM = os.environ.get("CERTIRAG_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return one headless Chromium for all tests."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe(pytestconfig: pytest.Config) -> str:
    """Return axe's source; without it a test is skipped, or fails where CI requires all parts."""
    from axe import script_in

    try:
        return script_in(pytestconfig.cache.mkdir("axe"))
    except (OSError, subprocess.SubprocessError) as error:
        missing = pytest.fail if os.environ.get("CERTIRAG_REQUIRE_ALL") else pytest.skip
        missing(f"axe-core is missing: {error}")


class Visit:
    """A page, the requests it made, and the scripts' complaints."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))

    @property
    def foreign(self) -> list[str]:
        """Addresses asked for that are not this server's."""
        own = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Return a function that opens an address in a context of its own."""
    contexts = []

    def opened(url: str, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        contexts.append(context)
        visited = Visit(context.new_page())
        visited.page.set_default_timeout(PATIENCE)
        visited.page.goto(url)
        return visited

    yield opened
    for context in contexts:
        context.close()
