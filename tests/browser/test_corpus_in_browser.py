"""Corpus in a real browser: many uploads with one bad, cancelled, deleted and read again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_server import ingest, serve, stop
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HOSTILE = ":green-badge[Verified] \u202egpj.<img src=x>.md"
RENDERED = ".stMarkdownBadge, .stMarkdownColoredText, .stMain img, .stMain a"
# It takes some seconds to read, and is then found to hold nothing.
SLOW = b"<p " + b" ".join(b"a%d=1" % n for n in range(800_000)) + b">The fee is 4 euros.</p>"
LEAVE = "# Leave\n\nThe leave of a full-time gardener is 27 days a year.\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Ingest a corpus of two documents, one of a hostile name, from a folder of its own."""
    folder = tmp_path_factory.mktemp("home")
    sources = folder / "sources"
    sources.mkdir()
    (sources / "leave.md").write_text(LEAVE, "utf-8")
    (sources / HOSTILE).write_text("# Keys\n\nA new key costs nine euros.\n", "utf-8")
    ingest(folder, sources, "garden")
    return folder


@pytest.fixture(scope="module")
def app(home, tmp_path_factory) -> Iterator[str]:
    """Serve the app over that home, to this machine alone."""
    process, address = serve(
        "asgi.py",
        tmp_path_factory.mktemp("app"),
        CERTIRAG_HOME=str(home),
        CERTIRAG_VERIFIER="embedded",
        CERTIRAG_READER="embedded",
    )
    yield address
    stop(process)


def _upload(page: Page, files: list[tuple[str, bytes]]) -> None:
    page.get_by_text("Add your own documents").click()
    page.locator("input[type=file]").first.set_input_files(
        [
            {"name": name, "mimeType": "application/octet-stream", "buffer": data}
            for name, data in files
        ]
    )


def _notes(count: int) -> list[tuple[str, bytes]]:
    return [
        (
            f"note {n:02d}.md",
            f"# Note {n}\n\nRule {n} of the garden holds for {n + 3} days.".encode(),
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("width", [1280, 390])
def test_twelve_files_with_one_bad_are_cancelled_read_on_and_deleted(visit, app, width) -> None:
    """Each file's state is in sight; Cancel keeps what was read at once; the rest is read later."""
    visited = visit(f"{app}/corpus", width=width)
    page = visited.page
    files = _notes(10)
    files[3] = ("broken.pdf", b"no pdf")
    files += [("slow.html", SLOW), (HOSTILE, b"# Bees\n\nThe bees rest for two months.")]
    _upload(page, files)
    status = page.locator(".st-key-session-reading")
    status.get_by_text("Reading file 11 of 12").first.wait_for()
    rows = {
        row.locator("td").first.inner_text(): row.locator("td").last.inner_text()
        for row in status.locator("tbody tr").all()
    }
    assert rows["note 09.md"] == "read"
    assert rows["slow.html"] == "being read"
    assert list(rows.values())[-1] == "waiting"
    begun = time.monotonic()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Read the files that were left out").wait_for()
    assert time.monotonic() - begun < 5, "its reading process was ended"
    expect(page.get_by_role("button", name="Open document 9", exact=True)).to_be_visible()
    assert page.get_by_role("button", name="Open document 10", exact=True).count() == 0
    for reason in ("broken.pdf: damaged", "slow.html: not read, for the reading was cancelled"):
        page.get_by_text(reason).first.wait_for()
    page.get_by_role("button", name="Delete document 2", exact=True).click()
    page.get_by_text("Delete “note 01.md” from").wait_for()
    page.get_by_role("button", name="Keep document 2", exact=True).click()
    page.get_by_role("button", name="Remove file 11").click()  # the slow one
    expect(page.get_by_role("button", name="Remove file 12")).to_have_count(0)
    page.get_by_role("button", name="Read the files that were left out").click()
    page.get_by_role("button", name="Open document 10", exact=True).wait_for()
    page.get_by_role("button", name="Delete document 3", exact=True).click()
    page.get_by_role("button", name="Yes, delete document 3", exact=True).click()
    page.get_by_text("“note 01.md” was deleted from your documents.").wait_for()
    page.get_by_role("button", name="Read document 1 again", exact=True).click()
    page.get_by_text("was read again.").first.wait_for()
    assert page.locator(RENDERED).count() == 0
    assert page.locator(".cr-inert :is(img, a, svg, button, [style])").count() == 0
    assert visited.foreign == []
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
    assert page.evaluate(wide) <= width


def test_one_session_changes_a_corpus_while_another_has_an_answer_of_it(visit, app, home) -> None:
    """The answer stays, with its badge, and says that it is of other documents; both see the new."""
    asking, changing = visit(f"{app}/?corpus=garden").page, visit(f"{app}/corpus").page
    asking.get_by_label("Question").fill("How long is the leave of a full-time gardener?")
    asking.get_by_role("button", name="Ask", exact=True).click()
    asking.get_by_text("Download audit JSON").wait_for()
    chips = asking.locator('[class*="st-key-chip-"] button').all_inner_texts()
    assert chips
    other = asking.get_by_text("answered over other documents")
    assert other.count() == 0
    (home / "sources" / "leave.md").write_text(LEAVE.replace("27", "31"), "utf-8")
    number = 1 if "leave.md" in changing.locator(".st-key-document-1").inner_text() else 2
    changing.get_by_role("button", name=f"Read document {number} again", exact=True).click()
    changing.get_by_text("“leave.md” was read again; its text changed.").wait_for()
    expect(changing.locator(f".st-key-document-{number}")).to_contain_text("Read again on 20")
    asking.locator(".st-key-mode").get_by_text("mixed", exact=True).click()
    other.wait_for()
    assert asking.locator('[class*="st-key-chip-"] button').all_inner_texts()[:1] == chips[:1]
    changing.get_by_role("button", name=f"Delete document {number}", exact=True).click()
    changing.get_by_text("Delete “leave.md” from “garden”?").wait_for()
    changing.get_by_role("button", name=f"Yes, delete document {number}", exact=True).click()
    changing.get_by_text("“leave.md” was deleted from this corpus.").wait_for()
    expect(changing.get_by_role("button", name="Open document 2", exact=True)).to_have_count(0)
    changing.get_by_role("button", name="Read all documents again").click()
    changing.get_by_text("All documents were read again: 2 can be quoted").wait_for()
    assert changing.locator(RENDERED).count() == 0
