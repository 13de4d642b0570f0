"""An answer in a real browser: hostile text in every field, the drawer, modes, sizes, schemes."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_server import serve, stop
from builders import FACTS, Statement, answer_export, hostile_record
from gate_cases import POLICY, TRUSTED, export
from integration_fixtures import part_of
from playwright.sync_api import Page, expect
from report_reading import read_pdf, read_word, whole_lines

from certirag.auditing.report_files import pdf_report
from certirag.render import (
    Mode,
    footnotes_of,
    inert_html,
    markdown_report,
    plain_report,
    present,
    report_of,
)

pytestmark = pytest.mark.browser
SCRIPT = "tests/browser/drawn_asgi.py"
CHIP = '[class*="st-key-chip-"] button'
# What no text from outside may become.
LIVE = (
    "img, a, svg, iframe, object, form, input, button, script, style, meta, [style], "
    "[data-testid='stIconMaterial']"
)
# What a directive, LaTeX or a diagram would become anywhere on the page.
RENDERED = ".stMarkdownBadge, .stMarkdownColoredText, .katex, .mermaid, .stMain img, .stMain a"
# The word as said by us: the page without what is quoted.
OUR_WORDS = """() => {
  const page = document.querySelector('[data-testid=stMain]').cloneNode(true);
  page.querySelectorAll('.cr-inert, style').forEach(node => node.remove());
  return page.textContent.split('Verified').length - 1;
}"""
PLAIN = (
    Statement(FACTS[0]),
    Statement(FACTS[1], "unsupported", "Travel handbook"),
    Statement("Full-time employees receive 30 days of leave.", "contradicted", "Old policy"),
    Statement(FACTS[2], "supported", "Travel handbook", "Desk"),
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Iterator[str]:
    """Serve an answer of ordinary claims."""
    yield from _served(tmp_path_factory.mktemp("plain"), answer_export(PLAIN))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Iterator[str]:
    """Serve an answer whose every field is an attack string."""
    yield from _served(tmp_path_factory.mktemp("hostile"), export(hostile_record()))


def _served(folder: Path, answer: bytes) -> Iterator[str]:
    drawn = folder / "export.json"
    drawn.write_bytes(answer)
    process, address = serve(SCRIPT, folder, CERTIRAG_DRAWN=str(drawn))
    yield address
    stop(process)


def _settled(page: Page) -> None:
    page.get_by_text("End of page", exact=True).wait_for()
    page.wait_for_timeout(500)


def _colours(page: Page, selector: str) -> tuple[str, str]:
    style = "e => { const s = getComputedStyle(e); return [s.color, s.backgroundColor] }"
    return tuple(page.locator(selector).first.evaluate(style))


@pytest.mark.parametrize("mode", ["strict", "mixed", "debug"])
def test_hostile_text_makes_no_badge_and_no_request(visit, hostile, plain, mode) -> None:
    """Chips equal claims, nothing in a text is live, nothing foreign is asked for."""
    visited = visit(f"{hostile}/?mode={mode}")
    page = visited.page
    _settled(page)
    title = page.title()
    shown = present(export(hostile_record()), Mode(mode), trusted=TRUSTED, floor=POLICY)
    chips = (*shown.shown, *shown.folded)
    _open_all(page)
    labels = [label.partition(" · claim ")[0] for label in page.locator(CHIP).all_inner_texts()]
    assert sorted(labels) == sorted(chip.badge.label for chip in chips)
    assert page.locator(".cr-status").count() == 0
    assert page.locator(f".cr-inert :is({LIVE})").count() == 0
    assert page.locator(RENDERED).count() == 0
    ours = sum("Verified" in label for label in labels)
    assert page.evaluate(OUR_WORDS) == ours + 1, "the chips and the notice say it, nothing else"
    assert visited.foreign == []
    assert page.title() == title
    assert page.url.startswith(hostile)
    assert _colours(page, CHIP) == _baseline(visit, plain, chips[0].badge.kind)


def _open_all(page: Page) -> None:
    for _ in range(3):
        page.locator("details:not([open]) > summary").evaluate_all("all => all.map(s => s.click())")
        page.wait_for_timeout(400)
    assert page.locator("details:not([open])").count() == 0


def _baseline(visit: Callable, plain: str, kind: str) -> tuple[str, str]:
    page = visit(f"{plain}/?mode=debug").page
    _settled(page)
    return _colours(page, f'[class*="st-key-chip-{kind}-"] button')


def test_hostile_text_is_shown_as_it_is(visit, hostile) -> None:
    """What a reader sees of each claim is the visible form of its text, letter by letter."""
    page = visit(f"{hostile}/?mode=debug").page
    _settled(page)
    record = hostile_record()
    drawn = page.locator('[class*="st-key-claim-"] .cr-inert--claim')
    texts = drawn.evaluate_all("nodes => nodes.map(node => node.innerText)")
    expected = [
        html.unescape(inert_html(claim.text, max_lines=40)) for claim in record.claim_ir.claims
    ]
    assert [_lines(text) for text in texts] == [_lines(text) for text in expected]


def _lines(text: str) -> str:
    """Drop what innerText itself drops: a newline at the end."""
    return text.rstrip("\n")


def test_an_answer_is_taken_along_in_each_format(visit, hostile, tmp_path) -> None:
    """Each button gives the file of what is shown, by a name of ours; nothing foreign is asked."""
    visited = visit(f"{hostile}/?mode=mixed")
    page = visited.page
    _settled(page)
    shown = present(export(hostile_record()), Mode.MIXED, trusted=TRUSTED, floor=POLICY)
    page.get_by_role("button", name="Export", exact=True).click()
    for label, suffix in (("Markdown", "md"), ("Word", "docx"), ("PDF", "pdf")):
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()
        assert download.value.suggested_filename == f"certirag-{'a' * 32}.{suffix}"
        download.value.save_as(tmp_path / suffix)
    assert (tmp_path / "md").read_bytes() == markdown_report(report_of(shown))
    assert read_word((tmp_path / "docx").read_bytes()) == (whole_lines(report_of(shown)), set())
    assert read_pdf((tmp_path / "pdf").read_bytes()) == read_pdf(pdf_report(report_of(shown)))
    assert visited.foreign == []


def test_the_text_with_footnotes_is_copied_as_it_is(visit, hostile) -> None:
    """Under the app's own policy for scripts; what is copied is what is seen, and all inert."""
    visited = visit(f"{hostile}/?mode=strict")
    page = visited.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _settled(page)
    page.get_by_role("button", name="Copy with footnotes", exact=True).click()
    code = page.locator("[data-testid=stCode] code")
    shown = present(export(hostile_record()), Mode.STRICT, trusted=TRUSTED, floor=POLICY)
    text = plain_report(footnotes_of(shown))
    expect(code).to_have_text(text, use_inner_text=True)
    assert code.locator("a, img, svg, button, [style*=url]").count() == 0
    page.get_by_label("Copy to clipboard").click()
    page.wait_for_function("navigator.clipboard.readText().then(text => text !== '')")
    assert page.evaluate("navigator.clipboard.readText()") == text
    assert visited.foreign == []


def test_hostile_drawers_are_inert(visit, hostile) -> None:
    """Quotes, titles, sections and reasons in the drawer are text and nothing else."""
    visited = visit(f"{hostile}/?mode=debug")
    page = visited.page
    _settled(page)
    for number in part_of(range(0, page.locator(CHIP).count(), 9), 3):
        page.locator(CHIP).nth(number).click()
        dialog = page.get_by_role("dialog")
        dialog.wait_for()
        dialog.locator(".cr-quote").first.wait_for()
        page.wait_for_timeout(200)
        assert dialog.locator(f".cr-inert :is({LIVE})").count() == 0
        assert dialog.locator(".cr-status").count() == 1
        assert dialog.locator("a, img, .katex, .mermaid, .stMarkdownBadge").count() == 0
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
    assert visited.foreign == []


def test_the_drawer_opens_and_escape_closes_it(visit, plain) -> None:
    """A chip opens its drawer and names it in the URL; ESC closes it and the name goes."""
    page = visit(plain).page
    _settled(page)
    page.locator(CHIP).first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator("mark").wait_for()
    assert dialog.locator("mark").inner_text() == FACTS[0]
    assert "claim=c1" in page.url
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    expect(page).not_to_have_url(re.compile("claim="))


@pytest.mark.parametrize(("asked", "opened"), [("c2", True), ("c3", False), ("zzz", False)])
def test_a_deep_link_opens_the_drawer_of_a_shown_claim(visit, plain, asked, opened) -> None:
    """A link to a claim opens its drawer; to a hidden or unknown one, nothing."""
    page = visit(f"{plain}/?claim={asked}").page
    _settled(page)
    page.wait_for_timeout(500)
    assert page.get_by_role("dialog").count() == int(opened)


def test_switching_the_mode_draws_the_same_record(visit, plain) -> None:
    """Strict, mixed and debug show their claims of one and the same trace."""
    page = visit(plain).page
    _settled(page)
    for mode, contradicted in (("mixed", 0), ("debug", 1), ("strict", 0)):
        page.locator(".st-key-mode").get_by_text(mode, exact=True).click()
        chips = page.locator('[class*="st-key-chip-contradicted-"]')
        expect(chips).to_have_count(contradicted)
        expect(page.get_by_text("Trace " + "a" * 32)).to_have_count(1)


def test_of_two_modes_chosen_at_once_the_last_is_drawn(visit, plain) -> None:
    """The second choice is not lost where it comes while the first is being drawn."""
    page = visit(plain).page
    _settled(page)
    modes = page.locator(".st-key-mode")
    for _ in range(3):
        for mode in ("mixed", "debug"):
            modes.get_by_text(mode, exact=True).click()
        expect(page.locator('[class*="st-key-chip-contradicted-"]')).to_have_count(1)
        modes.get_by_text("strict", exact=True).click()
        expect(page.locator('[class*="st-key-chip-contradicted-"]')).to_have_count(0)


@pytest.mark.parametrize("mode", part_of(["strict", "mixed", "debug"], 2))
@pytest.mark.parametrize("served", ["plain", "hostile"])
def test_a_narrow_page_does_not_scroll_sideways(visit, request, served, mode) -> None:
    """At 390 px nothing is wider than the page, and the drawer fits."""
    page = visit(f"{request.getfixturevalue(served)}/?mode={mode}", width=390, height=844).page
    _settled(page)
    _open_all(page)
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
    assert page.evaluate(f"Math.max(document.documentElement.scrollWidth, {wide})") <= 390
    page.locator(CHIP).first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".cr-quote").first.wait_for()
    page.wait_for_timeout(600)
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 391
    assert dialog.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_states_are_readable_in_both_schemes(visit, plain, scheme) -> None:
    """Every state's word stands out from its ground by 4.5 to 1, on the page and in the drawer."""
    page = visit(f"{plain}/?mode=debug", scheme=scheme).page
    _settled(page)
    for kind in ("verified", "unverified", "contradicted"):
        assert _contrast(*_colours(page, f'[class*="st-key-chip-{kind}-"] button')) >= 4.5
    page.locator(CHIP).first.click()
    page.get_by_role("dialog").locator(".cr-status").wait_for()
    assert _contrast(*_colours(page, ".cr-status")) >= 4.5
    text, _ = _colours(page, ".stDialog .cr-inert--claim")
    assert (_luminance(text) > 0.5) is (scheme == "dark")


def _contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.1 between two computed colours."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_changed_record_shows_one_line(visit, tmp_path) -> None:
    """A record that was changed by one digit shows that it does not hold, and no chip."""
    changed = answer_export(PLAIN).replace(b"27 days", b"28 days", 1)
    for address in _served(tmp_path, changed):
        page = visit(address).page
        _settled(page)
        assert page.locator(".cr-inert--error").count() == 1
        assert page.locator(CHIP).count() == 0
        assert page.get_by_text("28 days").count() == 0
