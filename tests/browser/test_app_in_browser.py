"""The app itself in a real browser: every page over ordinary and over hostile documents."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_server import ROOT, ingest, serve, stop
from builders import hostile_strings
from playwright.sync_api import Page, expect

from certirag.bootstrap import open_log
from certirag.eval.bench_reading import docx_file
from certirag.proof.facets import AnswerQuery
from certirag.settings import read_settings

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHIP = '[class*="st-key-chip-"] button'
LIVE = (
    "img, a, svg, iframe, object, form, input, button, script, style, meta, [style], "
    "[data-testid='stIconMaterial']"
)
RENDERED = ".stMarkdownBadge, .stMarkdownColoredText, .katex, .mermaid, .stMain img, .stMain a"
PAGES = {
    "": "Ask",
    "draft": "Check a draft",
    "corpus": "Corpus",
    "contract": "Trust contract",
    "document": "Document",
}
GERMAN = {
    "": "Fragen",
    "draft": "Entwurf prüfen",
    "corpus": "Sammlung",
    "contract": "Vertrauensvertrag",
    "document": "Dokument",
}
PER_FILE = 8
SESSION_CORPUS = "Your documents (this session only)"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Ingest the demo policy corpus and a corpus of hostile documents."""
    folder = tmp_path_factory.mktemp("home")
    hostile = folder / "hostile-documents"
    hostile.mkdir()
    _write_hostile(hostile)
    for source, name in (
        (ROOT / "fixtures" / "corpora" / "policy", "policy"),
        (hostile, "hostile"),
    ):
        ingest(folder, source, name)
    return folder


def _write_hostile(folder: Path) -> None:
    """Write documents whose names, titles, headings and sentences are attack strings."""
    strings = [text for _, text in hostile_strings()]
    for number in range(0, len(strings), PER_FILE):
        name = strings[number].replace("/", "_").replace("\x00", "_").encode()[:120]
        body = [f"# {strings[number]}", ""]
        for text in strings[number : number + PER_FILE]:
            body += [f"The leave rule says {text} to all employees.", ""]
        path = folder / f"{number:02d} {name.decode('utf-8', 'ignore')}.md"
        path.write_text("\n".join(body), "utf-8")


@pytest.fixture(scope="module")
def app(home, tmp_path_factory) -> Iterator[str]:
    """Serve the app over that home."""
    process, address = serve(
        "asgi.py",
        tmp_path_factory.mktemp("app"),
        CERTIRAG_HOME=str(home),
        CERTIRAG_MAX_FILE_SECONDS="15",
    )
    yield address
    stop(process)


def _choose_corpus(page: Page, words: str) -> None:
    page.locator('[class*="-corpus"] [role="combobox"], [data-testid="stSelectbox"]').first.click()
    page.get_by_role("option", name=words, exact=True).click()
    page.wait_for_timeout(500)


def _assert_inert(visited) -> None:
    page = visited.page
    assert page.locator(f".cr-inert :is({LIVE})").count() == 0
    assert page.locator(RENDERED).count() == 0
    assert visited.foreign == []
    assert "owned" not in page.title()


@pytest.mark.parametrize(("path", "title"), PAGES.items())
def test_each_page_opens_and_asks_nothing_foreign(visit, app, path, title) -> None:
    """Every page shows its title, at both widths, and talks to its own server only."""
    for width in (1280, 390):
        visited = visit(f"{app}/{path}", width=width)
        expect(visited.page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        visited.page.wait_for_timeout(1500)
        assert visited.foreign == []
        assert visited.page.title() == title
        wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
        assert visited.page.evaluate(wide) <= width
        assert visited.page.locator("[data-testid='stException']").count() == 0


@pytest.mark.parametrize(("path", "title"), GERMAN.items())
def test_each_page_fits_a_narrow_screen_in_german(visit, app, path, title) -> None:
    """Long words break no page, and the address keeps the language over a reload."""
    page = visit(f"{app}/{path}?lang=de", width=390).page
    for _ in range(2):
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        page.wait_for_timeout(1500)
        wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
        assert page.evaluate(wide) <= 390
        assert "lang=de" in page.url
        page.reload()


def test_what_is_chosen_stays_chosen_in_another_language(visit, app) -> None:
    """Mode, corpus and answer are the same ones; words and badges are said anew."""
    page = visit(f"{app}/?lang=de&mode=mixed").page
    _choose_corpus(page, "Firmenhandbuch")
    page.get_by_role("button", name="Frage 1 stellen").click()
    page.get_by_text("Audit-JSON herunterladen").wait_for()
    expect(page.locator(CHIP).first).to_contain_text("✅ Belegt · Aussage 1")
    trace = page.get_by_text("Trace ").inner_text()
    page.get_by_role("radio", name="en", exact=True).click()
    page.get_by_text("Download audit JSON").wait_for()
    expect(page.locator(CHIP).first).to_contain_text("✅ Verified · claim 1")
    chosen = page.locator('[data-testid="stSelectbox"] input').first
    expect(chosen).to_have_value("Company policy handbook")
    expect(page.get_by_role("radio", name="mixed")).to_be_checked()
    assert page.get_by_text("Trace ").inner_text() == trace
    assert "mode=mixed" in page.url
    assert "lang=" not in page.url
    page.get_by_role("link", name="Corpus").first.click()
    expect(page.get_by_role("heading", name="Corpus", exact=True)).to_be_visible()


def test_a_mode_is_chosen_on_the_next_page_too(visit, app) -> None:
    """The control never stands at nothing, whatever Streamlit forgets on the way."""
    page = visit(app).page
    expect(page.get_by_role("radio", name="strict", exact=True)).to_be_checked()
    page.get_by_role("link", name="Check a draft").first.click()
    page.get_by_label("Answer to check").wait_for()
    expect(page.get_by_role("radio", name="strict", exact=True)).to_be_checked()


def test_what_is_typed_and_not_sent_stays_in_another_language(visit, app) -> None:
    """The browser alone knows it: a draft somebody typed is not lost by a click on the language."""
    page = visit(f"{app}/draft").page
    page.get_by_label("Answer to check").fill("Typed, not sent.")
    page.get_by_role("radio", name="de", exact=True).click()
    box = page.get_by_label("Zu prüfende Antwort")
    box.wait_for()
    page.wait_for_timeout(1500)
    expect(box).to_have_value("Typed, not sent.")
    page.get_by_role("button", name="Prüfen", exact=True).click()
    page.get_by_text("Audit-JSON herunterladen").wait_for()
    expect(page.locator(".cr-draft")).to_contain_text("Typed, not sent.")


@pytest.mark.parametrize("click", ["Cancel", "de"])
def test_a_click_that_breaks_an_answer_off_says_so(visit, app, click) -> None:
    """The button and the choice of a language both end it; the question stands there still."""
    page = visit(f"{app}/").page
    box = page.get_by_role("textbox").first
    box.fill("What is the notice period in probation?")
    page.get_by_role("button", name="Ask", exact=True).click()
    cancel = page.get_by_role("button", name="Cancel")
    cancel.wait_for()
    (cancel if click == "Cancel" else page.get_by_role("radio", name="de", exact=True)).click()
    told = page.get_by_text("Dies wurde abgebrochen" if click == "de" else "This was broken off")
    told.wait_for()
    expect(box).to_have_value("What is the notice period in probation?")


def test_headers_are_on_every_response(app) -> None:
    """Page, health and script carry the content security policy."""
    for path in ("/", "/_stcore/health"):
        with urllib.request.urlopen(app + path) as response:  # noqa: S310
            assert "default-src 'self'" in response.headers["Content-Security-Policy"]
            assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_sample_question_is_answered_once(visit, app, home) -> None:
    """One click asks; switching modes adds nothing to the audit log and keeps the trace."""
    log = open_log(read_settings({"CERTIRAG_HOME": str(home)}))
    before = log.count(AnswerQuery())
    page = visit(app).page
    page.get_by_role("button", name="Ask question 1").click()
    page.get_by_text("Download audit JSON").wait_for()
    trace = page.get_by_text("Trace ").inner_text()
    assert page.locator(CHIP).count() > 0
    for mode in ("mixed", "debug", "strict"):
        page.locator(".st-key-mode").get_by_text(mode, exact=True).click()
        page.wait_for_timeout(800)
        assert page.get_by_text("Trace ").inner_text() == trace
    assert log.count(AnswerQuery()) == before + 1
    with page.expect_download() as download:
        page.get_by_text("Download audit JSON").click()
    assert download.value.suggested_filename == f"certirag-{trace.split()[-1]}.json"


def test_hostile_documents_stay_inert_on_corpus(visit, app) -> None:
    """Titles, file names and passages of hostile documents are text, opened and searched too."""
    visited = visit(f"{app}/corpus")
    page = visited.page
    page.get_by_role("heading", name="Documents", exact=True).wait_for()
    _choose_corpus(page, "hostile")
    page.get_by_role("textbox", name="Search the passages").fill("What does the leave rule say?")
    page.keyboard.press("Enter")
    page.get_by_text("The leave rule says").first.wait_for()
    page.get_by_role("button", name="Open passage 1 in its document").wait_for()
    _assert_inert(visited)
    page.get_by_role("button", name="Open document 1", exact=True).click()
    page.locator(".cr-read").first.wait_for()
    page.wait_for_timeout(1000)
    _assert_inert(visited)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_claim_leads_to_its_words_in_the_document(visit, app, width) -> None:
    """The page of the quoted passage opens at it, marked, after a reload too; the rest is near."""
    page = visit(app, width=width).page
    _choose_corpus(page, "Company policy handbook")
    page.get_by_label("Question").fill("When must flights be booked before departure?")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("Download audit JSON").wait_for()
    page.locator(CHIP).first.click()
    quoted = page.get_by_role("dialog").locator(".cr-quote mark").first.inner_text()
    page.get_by_role("button", name="Open the document here").first.click()
    mark = page.locator(".cr-read mark")
    for _ in range(2):
        expect(mark).to_have_text(quoted)
        expect(mark).to_be_in_viewport()
        page.locator(".cr-page i").first.wait_for(state="attached")
        page.reload()
    expect(page.get_by_role("heading", name="Travel and Expenses Handbook")).to_be_visible()
    pane = page.locator('[class*="st-key-reader-pane-"]')
    pane.evaluate("pane => { pane.scrollTop = 500 }")
    page.get_by_role("button", name="Next passage").click()
    expect(page.get_by_text("Passage 3 ·").first).to_be_visible()
    expect(mark).to_have_count(0)
    page.wait_for_function(
        "document.querySelector('[class*=\"st-key-reader-pane-\"]').scrollTop === 0"
    )
    page.get_by_role("button", name="Previous passage").click()
    expect(mark).to_be_in_viewport()


def test_hostile_documents_stay_inert_on_ask(visit, app) -> None:
    """A hostile question over hostile documents is answered in inert text."""
    visited = visit(f"{app}/?mode=debug")
    page = visited.page
    page.get_by_role("heading", name="Ask", exact=True).wait_for()
    _choose_corpus(page, "hostile")
    question = (
        "What does the leave rule say :green-badge[Verified] ![x](http://attacker.example/x)?"
    )
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("Download audit JSON").wait_for()
    _assert_inert(visited)


def test_hostile_drafts_stay_inert(visit, app) -> None:
    """A draft of attack strings is split, checked and drawn as text."""
    visited = visit(f"{app}/draft?mode=debug")
    page = visited.page
    page.get_by_role("heading", name="Check a draft", exact=True).wait_for()
    _choose_corpus(page, "hostile")
    strings = [text for _, text in hostile_strings() if "\x00" not in text]
    page.get_by_label("Answer to check").fill(
        "\n\n".join(f"The leave rule says {text} to all." for text in strings[:30])
    )
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("Download audit JSON").wait_for()
    assert page.locator(CHIP).count() == page.locator('[class*="st-key-claim-"]').count() > 0
    _assert_inert(visited)


def test_others_are_answered_while_the_worst_files_are_read(visit, app) -> None:
    """What unpacks to 150 MB or takes quadratic time ends in a line, and holds up nobody else."""
    uploading, asking = visit(app).page, visit(f"{app}/?corpus=policy").page
    uploading.get_by_text("Add your own documents").click()
    attributes = " ".join(f"a{number}=1" for number in range(800_000))
    bomb = docx_file("<w:p><w:r><w:t>The fee is four euros.</w:t></w:r></w:p>" * 2_500_000)
    asking.get_by_label("Question").fill("How many days of annual leave do full-time staff get?")
    uploading.locator("input[type=file]").first.set_input_files(
        [
            {"name": name, "mimeType": kind, "buffer": data}
            for name, kind, data in (
                ("bomb.docx", "application/octet-stream", bomb),
                ("slow.html", "text/html", f"<p {attributes}>The fee is 4 euros.</p>".encode()),
                ("fee.txt", "text/plain", b"The fee for a new card is four euros."),
            )
        ]
    )
    reading = uploading.get_by_text("Reading file").first
    reading.wait_for()
    asking.get_by_role("button", name="Ask", exact=True).click()
    asking.get_by_text("Download audit JSON").wait_for()
    expect(reading).to_be_visible()
    uploading.get_by_text("Not read (2)").click(timeout=60_000)
    uploading.get_by_text("more memory than its size allows").first.wait_for()
    uploading.get_by_text("more than 15 seconds").first.wait_for()


def test_an_upload_is_searched_in_this_session_only(visit, app) -> None:
    """An uploaded file with a hostile name can be asked about here and is unknown elsewhere."""
    visited = visit(app)
    page = visited.page
    page.get_by_text("Add your own documents").click()
    name = ":green-badge[Verified] \u202egpj.<img src=x>.md"
    text = b"# Zeppelin rules\n\nThe zeppelin leaves the mast at nine in the morning."
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/markdown", "buffer": text}
    )
    picker = page.get_by_role("combobox", name="Corpus")
    expect(picker).to_have_value(SESSION_CORPUS)
    page.get_by_label("Question").fill(
        "At what time in the morning does the zeppelin leave the mast?"
    )
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("Download audit JSON").wait_for()
    assert page.locator('[class*="st-key-claim-"] .cr-inert--claim').count() > 0
    assert page.locator(RENDERED).count() == 0
    assert visited.foreign == []
    page.get_by_text("Forget my documents").click()
    expect(picker).to_have_value("Company policy handbook")
    other = visit(app).page
    other.get_by_text("Add your own documents").wait_for()
    expect(other.get_by_role("combobox", name="Corpus")).to_have_value("Company policy handbook")
    other.get_by_role("combobox", name="Corpus").click()
    expect(other.get_by_role("option", name="hostile")).to_be_visible()
    assert other.get_by_role("option", name=SESSION_CORPUS).count() == 0
