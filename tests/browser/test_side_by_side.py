"""What stands beside each other, in a real browser: two sides of a claim, two drafts, hostile too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser_server import serve, stop
from builders import FACTS, Statement, disputed_record, draft_record, hostile_strings
from gate_cases import POLICY, TRUSTED, export
from integration_fixtures import part_of
from playwright.sync_api import Locator, Page, expect
from test_drawn_answer import CHIP, LIVE, RENDERED, SCRIPT

from certirag.proof.certificate import AnswerRecord
from certirag.render import Mode, present

pytestmark = pytest.mark.browser
# The word as said by us, whether seen or read out: the page without what is quoted.
OUR_WORDS = """() => {
  const page = document.querySelector('[data-testid=stMain]').cloneNode(true);
  page.querySelectorAll('.cr-draft > :not(sup)').forEach(node => node.remove());
  page.querySelectorAll('.cr-draft').forEach(node => node.replaceWith(
    ...[...node.children].filter(child => child.tagName === 'SUP')));
  page.querySelectorAll('.cr-inert, style').forEach(node => node.remove());
  return page.textContent.split('Verified').length - 1;
}"""
HOSTILE = [text for _, text in hostile_strings() if text.strip()]


def _hostile_draft(ending: str) -> AnswerRecord:
    """Return a draft of every attack string, each with *ending*, and one plain fact."""
    attacks = [Statement(text + ending, "unsupported", text, text) for text in HOSTILE]
    return draft_record([Statement(FACTS[0]), *attacks])


def _second(of: AnswerRecord) -> AnswerRecord:
    return replace(of, trace_id="b" * 32)


def _served(folder: Path, *records: AnswerRecord) -> Iterator[str]:
    named = {}
    for name, of in zip(("CERTIRAG_DRAWN", "CERTIRAG_DRAWN_SECOND"), records, strict=False):
        path = folder / f"{name}.json"
        path.write_bytes(export(of))
        named[name] = str(path)
    process, address = serve(SCRIPT, folder, **named)
    yield address
    stop(process)


@pytest.fixture(scope="module")
def disputed(tmp_path_factory) -> Iterator[str]:
    """Serve an answer over which two documents disagree."""
    yield from _served(tmp_path_factory.mktemp("disputed"), disputed_record())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Iterator[str]:
    """Serve two drafts of attack strings beside each other."""
    both = _hostile_draft(""), _second(_hostile_draft(" in 30 days"))
    yield from _served(tmp_path_factory.mktemp("hostile"), *both)


def _settled(page: Page) -> None:
    page.get_by_text("End of page", exact=True).wait_for()
    page.wait_for_timeout(500)


def _boxes(of: Locator) -> list[dict[str, float]]:
    boxes = [one.bounding_box() for one in of.all()]
    assert all(boxes)
    return [box for box in boxes if box]


def _assert_beside(boxes: list[dict[str, float]], width: int) -> None:
    """Two boxes lie next to each other on a wide page, and one below the other on a narrow one."""
    one, two = boxes
    if width > 640:
        assert one["x"] + one["width"] <= two["x"]
        assert abs(one["y"] - two["y"]) < 60
    else:
        assert one["x"] == two["x"]
        assert one["y"] + one["height"] <= two["y"]


@pytest.mark.parametrize(("width", "height"), [(1440, 1000), (390, 844)])
def test_the_drawer_sets_both_sides_beside_each_other(visit, disputed, width, height) -> None:
    """What speaks for it, what speaks against it, what differs marked in both, all in sight."""
    page = visit(f"{disputed}/?mode=debug&claim=c1", width=width, height=height).page
    _settled(page)
    dialog = page.get_by_role("dialog")
    quotes = dialog.locator(".cr-quote")
    expect(quotes).to_have_count(2)
    page.wait_for_timeout(600)
    _assert_beside(_boxes(quotes), width)
    assert dialog.locator(".cr-quote .cr-differs").all_inner_texts() == ["4 hours", "24 hours"]
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width + 1
    assert dialog.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


@pytest.mark.parametrize(("width", "height"), [(1440, 1000), (390, 844)])
@pytest.mark.parametrize("mode", part_of(["debug", "strict"], 2))
def test_hostile_drafts_beside_each_other_are_inert(visit, hostile, width, height, mode) -> None:
    """Nothing in them is live or asks for anything; every badge is one of their own records'."""
    visited = visit(f"{hostile}/?mode={mode}", width=width, height=height)
    page = visited.page
    _settled(page)
    drafts = page.locator(".cr-draft")
    expect(drafts).to_have_count(2)
    _assert_beside(_boxes(drafts), width)
    assert page.locator(f".cr-inert :is({LIVE})").count() == 0
    assert page.locator(RENDERED).count() == 0
    assert visited.foreign == []
    assert page.locator(".cr-mark--verified").count() == 4, "a mark and its key in each draft"
    assert page.locator(".st-key-rows-compared .cr-note--verified").count() == 0
    assert page.locator(".st-key-rows-compared tbody tr").count() > len(HOSTILE) // 2
    labels = page.locator(CHIP).all_inner_texts()
    both = (_hostile_draft(""), _second(_hostile_draft(" in 30 days")))
    shown = [present(export(of), Mode(mode), trusted=TRUSTED, floor=POLICY) for of in both]
    granted = [c for of in shown for c in (*of.shown, *of.folded) if c.badge.kind == "verified"]
    assert sum("Verified" in label for label in labels) == len(granted) == 2
    # In each draft a note and a key, then its chip; and the notice once.
    assert page.evaluate(OUR_WORDS) == 2 * 3 + 1
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
    assert page.evaluate(f"Math.max(document.documentElement.scrollWidth, {wide})") <= width


def test_the_chip_of_each_draft_opens_its_own_drawer(visit, hostile) -> None:
    """By the keyboard or a click; there is one drawer at a time, and ESC closes it."""
    page = visit(hostile).page
    _settled(page)
    for number in (0, 1):
        page.locator('[class*="st-key-chip-verified-1"] button').nth(number).click()
        dialog = page.get_by_role("dialog")
        dialog.locator("mark").wait_for()
        assert dialog.locator(".cr-inert--claim").inner_text() == FACTS[0]
        assert ("claim=second-c1" in page.url) is (number == 1)
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
