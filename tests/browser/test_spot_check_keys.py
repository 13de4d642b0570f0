"""The spot check in a real browser: rated by keys alone, and what is typed as a reason is no key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_server import serve, stop
from playwright.sync_api import Page, expect
from spot_cases import sample_folder

pytestmark = pytest.mark.browser
SCRIPT = "tests/browser/spot_check_alone.py"
# Two presses of one key with no time between them, however slow the machine is.
TWICE = """key => [1, 2].forEach(() => document.activeElement.dispatchEvent(new KeyboardEvent(
  'keydown', {key, code: 'Key' + key.toUpperCase(), bubbles: true, cancelable: true})))"""
AT_REST = '[data-testid="stApp"][data-test-script-state="notRunning"]'
SETTLED = 800  # milliseconds after that; a key that comes sooner may be lost


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Serve a sample of four claims; return the address and the sample's folder."""
    folder = sample_folder(tmp_path / "home" / "spot-checks" / "first")
    process, address = serve(SCRIPT, tmp_path, CERTIRAG_AUDIT_EVERYONE="true")
    yield address, folder
    stop(process)


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        _settle(page)
        page.keyboard.press(key)


def _settle(page: Page) -> None:
    page.wait_for_timeout(SETTLED)
    page.locator(AT_REST).wait_for()
    page.wait_for_timeout(SETTLED)


def _at(page: Page, number: int) -> None:
    expect(page.get_by_role("heading", name=f"Claim {number} of 4")).to_be_visible()


def test_a_sample_is_rated_by_keys(served, visit: Callable) -> None:
    """Verdicts, a kind, a reason with the letters of keys in it, and the last one taken back."""
    address, folder = served
    page = visit(address).page
    page.get_by_role("textbox", name="Your name").fill("anna")
    _press(page, "Tab")
    _at(page, 1)
    _press(page, "s")
    _at(page, 2)
    _settle(page)
    page.get_by_role("textbox", name="Reason").focus()
    page.keyboard.type("snt 123 u")
    _press(page, "Tab", "n")
    expect(page.get_by_text("Why is it not supported?")).to_be_visible()
    _press(page, "6", "n")
    _at(page, 3)
    _press(page, "t")
    _at(page, 4)
    _press(page, "u")
    _at(page, 3)
    _settle(page)
    page.evaluate(TWICE, "s")  # at once: of this claim, and not of the next
    _at(page, 4)
    _settle(page)
    _at(page, 4)
    lines = (folder / "ratings" / "anna.jsonl").read_text("utf-8").splitlines()
    said = [json.loads(line) for line in lines]
    assert [(one["item"], one["verdict"], one["withdrawn"]) for one in said] == [
        ("001", "supported", False),
        ("002", "not_supported", False),
        ("003", "cannot_tell", False),
        ("003", "cannot_tell", True),
        ("003", "supported", False),
    ]
    assert (said[1]["kind"], said[1]["reason"]) == ("context_loss", "snt 123 u")
