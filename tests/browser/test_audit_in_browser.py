"""The audit page in a real browser: every view, hostile texts, a tampered row, changed documents."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from browser_server import ROOT, serve, stop
from builders import Statement, answer_record, hostile_strings
from gate_cases import POLICY
from playwright.sync_api import Page, expect
from test_app_in_browser import LIVE, RENDERED
from test_spot_check_keys import AT_REST

from certirag.answers.pipeline import answer_question
from certirag.answers.services import Services
from certirag.auditing.logged_answers import export_again
from certirag.bootstrap import build_services, ingest_paths, open_index
from certirag.ports import NewEntry
from certirag.proof.certificate import open_export, statement_bytes
from certirag.proof.envelope import sign, strict_base64
from certirag.proof.facets import facets_of
from certirag.render import Mode, present
from certirag.settings import read_settings

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LEAVE = "# Leave policy\n\nFull-time employees receive {days} days of annual leave per year.\n"
TRAVEL = "# Travel policy\n\nThe travel desk answers requests within two working days.\n"
LEAVE_QUESTION = "How many days of annual leave do full-time employees receive per year?"
TRAVEL_QUESTION = "Within how many working days does the travel desk answer requests?"
VERIFIED = '[class*="st-key-chip-verified-"] button'
VIEWS = {
    "Log": "Compare with checkpoints that you kept",
    "Answers": "Open an answer",
    "Reviews": "No answer waits",
    "Trends": "By week and",
    "Replay": "Under the policy",
    "Changed documents": "Corpus as it is today",
}
HOSTILE = [text for _, text in hostile_strings() if "\x00" not in text]


@dataclass(frozen=True)
class Home:
    """A home with a log: *leave* and *travel* are the traces of its two real answers."""

    folder: Path
    services: Services
    leave: str
    travel: str
    hostile: tuple[str, ...]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Home:
    """Ask two questions, log hostile answers, then change both documents and ingest again."""
    folder = tmp_path_factory.mktemp("home")
    services = build_services(read_settings({**os.environ, "CERTIRAG_HOME": str(folder)}))
    documents, index = folder / "documents", folder / "indexes" / "rules"
    documents.mkdir()
    (documents / "leave.md").write_text(LEAVE.format(days=27), "utf-8")
    (documents / "travel.md").write_text(TRAVEL, "utf-8")
    ingest_paths([documents], index, services, lambda *_: None)
    opened = open_index(index, services)
    leave, travel = (
        answer_question(question, opened, services).trace_id
        for question in (LEAVE_QUESTION, TRAVEL_QUESTION)
    )
    hostile = tuple(_log_hostile(services, number) for number in range(0, len(HOSTILE), 7))
    (documents / "leave.md").write_text(LEAVE.format(days=19), "utf-8")
    (documents / "travel.md").write_text(f"{TRAVEL}\nTickets are booked online.\n", "utf-8")
    ingest_paths([documents], index, services, lambda *_: None)
    return Home(folder, services, leave, travel, hostile)


def _log_hostile(services: Services, number: int) -> str:
    """Log an answer whose question, title, claim and policy's name are attack strings."""
    texts = [HOSTILE[(number + step) % len(HOSTILE)] for step in range(4)]
    trace_id = hashlib.sha256(str(number).encode()).hexdigest()[:32]
    made = answer_record(
        [Statement(texts[0], title=texts[1])],
        question=texts[2],
        policy=replace(POLICY, name=texts[3]),
        trace_id=trace_id,
    )
    at = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=number)
    made = replace(made, created_at=at.isoformat(timespec="seconds"))
    payload = statement_bytes(made)
    (signature,) = sign(payload, services.key).signatures
    request = trace_id[::-1]
    entries = (
        NewEntry("received", request, at, b"{}", detail={"of": "question"}),
        NewEntry(
            "answer",
            trace_id,
            at,
            payload,
            (signature.keyid, strict_base64(signature.sig)),
            facets_of(made, request=request, complete=True),
            {"request": request, "complete": True},
        ),
    )
    services.audit_log.append_all(entries)
    return trace_id


@pytest.fixture(scope="module")
def app(home, tmp_path_factory) -> Iterator[str]:
    """Serve the app over that home; its first visitor may come to any page."""
    folder = tmp_path_factory.mktemp("app")
    process, address = serve(
        "asgi.py", folder, CERTIRAG_HOME=str(home.folder), CERTIRAG_AUDIT_EVERYONE="true"
    )
    yield f"{address}/audit"
    stop(process)


def _view(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).click()
    page.get_by_text(VIEWS[name]).first.wait_for()


def _assert_inert(visited) -> None:
    page = visited.page
    assert page.locator(f".cr-inert :is({LIVE})").count() == 0
    assert page.locator(RENDERED).count() == 0
    assert page.locator("[data-testid='stException']").count() == 0
    assert visited.foreign == []
    assert page.title() == "Audit"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_each_view_stands_and_asks_nothing_foreign(visit, app, width, scheme) -> None:
    """Every view is there at its width, its hostile rows are text, and nothing is asked abroad."""
    visited = visit(app, width=width, scheme=scheme)
    page = visited.page
    page.get_by_text(VIEWS["Log"]).first.wait_for()
    for name in VIEWS:
        _view(page, name)
        if name == "Trends":
            page.locator(".js-plotly-plot .main-svg").first.wait_for()
            picker = page.get_by_role("combobox", name="By week and")
            picker.scroll_into_view_if_needed()
            page.wait_for_timeout(600)  # a picker that is scrolled closes
            picker.click()
            page.get_by_role("option", name="Policy").click()
            expect(page.locator(".st-key-rows-trends th").first).to_have_text("Policy")
        if name == "Replay":
            page.get_by_role("button", name="Replay", exact=True).click()
            page.get_by_text("Decided otherwise").wait_for()
        page.wait_for_timeout(400)
        _assert_inert(visited)
        wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
        assert page.evaluate(wide) <= width


def test_an_opened_answer_has_the_badges_that_are_derived(visit, app, home) -> None:
    """As many as `present` finds in the signed export, opened by its address."""
    export = export_again(home.services.audit_log, home.travel)
    trusted, policy = home.services.trusted, home.services.policy
    shown = present(export, Mode.STRICT, trusted=trusted, floor=policy).shown
    expected = sum(chip.badge.kind == "verified" for chip in shown)
    page = visit(f"{app}?trace={home.travel}").page
    page.get_by_role("button", name="Download audit JSON").wait_for()
    assert page.locator(VERIFIED).count() == expected > 0
    with page.expect_download() as download:
        page.get_by_role("button", name="Download audit JSON").click()
    record = open_export(Path(download.value.path()).read_bytes(), trusted)
    assert record.trace_id == home.travel


@pytest.mark.parametrize("number", range(3))
def test_a_hostile_answer_is_opened_as_text(visit, app, home, number) -> None:
    """Its claims, titles and policy's name are drawn and do nothing."""
    trace_id = home.hostile[number * 2]
    visited = visit(f"{app}?trace={trace_id}&mode=debug")
    page = visited.page
    page.get_by_role("button", name="Download audit JSON").wait_for()
    page.get_by_text("Configuration").first.wait_for()
    _assert_inert(visited)


@pytest.mark.parametrize("asked", ["<img src=x>", "0" * 31, "Z" * 32, "f" * 32])
def test_an_address_that_names_no_answer_is_not_drawn(visit, app, asked) -> None:
    """What is no trace id is dropped; one that is not there is said not to be, without its text."""
    visited = visit(f"{app}?trace={asked}")
    page = visited.page
    said = "The log has no answer of that trace id" if asked == "f" * 32 else VIEWS["Log"]
    page.get_by_text(said).first.wait_for()
    assert asked not in page.locator(".stMain").inner_text()
    assert page.locator(VERIFIED).count() == 0
    _assert_inert(visited)


def test_a_tampered_answer_shows_one_line_and_no_badge(visit, app, home) -> None:
    """A content that was changed behind the triggers is not shown, and the log does not hold."""
    page = visit(app).page
    page.get_by_text(VIEWS["Log"]).first.wait_for()
    with _tampered(home, home.travel):
        page.goto(f"{app}?trace={home.travel}")
        page.get_by_text("the content of entry 4 of the audit log was changed").wait_for()
        assert page.locator('[class*="st-key-chip-"] button').count() == 0
        assert page.get_by_role("button", name="Download audit JSON").count() == 0
        page.goto(app)
        page.get_by_role("button", name="Verify the whole log").click()
        page.get_by_text("The log does not hold.").wait_for()
    page.get_by_role("button", name="Verify the whole log").click()
    page.get_by_text("The log holds").wait_for()


@contextmanager
def _tampered(home: Home, trace_id: str) -> Iterator[None]:
    """Change one byte of the content of *trace_id* in the database, and put it back."""
    database = sqlite3.connect(home.folder / "audit.sqlite3")
    triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    kept = triggers.fetchall()
    (index,) = database.execute(
        "SELECT seq FROM log_entry WHERE kind = 'answer' AND trace_id = ?", (trace_id,)
    ).fetchone()
    (content,) = database.execute(
        "SELECT content FROM log_content WHERE seq = ?", (index,)
    ).fetchone()
    changed = content.replace(b"two working days", b"ten working days")
    assert changed != content
    write = "UPDATE log_content SET content = ? WHERE seq = ?"
    try:
        for name, _ in kept:
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute(write, (changed, index))
        database.commit()
        yield
    finally:
        database.execute(write, (content, index))
        for _, sql in kept:
            database.execute(sql)
        database.commit()
        database.close()


def test_a_kept_checkpoint_is_compared(visit, app, home) -> None:
    """One of this log fits, as text or in an export; one that is changed does not."""
    log = home.services.audit_log
    page = visit(app).page
    page.get_by_text("Compare with checkpoints that you kept").click()
    export = export_again(log, home.leave)
    for name, content, said in (
        ("kept.txt", log.checkpoint().encode(), "extends every checkpoint"),
        ("answer.json", export, "extends every checkpoint"),
        ("bad.txt", log.checkpoint().replace("\n", "\n9", 1).encode(), "is not what you kept"),
    ):
        files = [{"name": name, "mimeType": "text/plain", "buffer": content}]
        page.locator("input[type=file]").first.set_input_files(files)
        page.get_by_text(name, exact=True).first.wait_for()
        page.locator(AT_REST).wait_for()  # a file that is given before may be lost
        page.get_by_text(said).first.wait_for()


def test_the_checker_page_can_be_taken_away(visit, app) -> None:
    """The bytes are those of assets/checker.html, and the digest beside them is theirs."""
    page = visit(app.replace("/audit", "/contract")).page
    page.get_by_role("button", name="Download the checker page").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the checker page").click()
    taken = Path(download.value.path()).read_bytes()
    assert taken == (ROOT / "assets" / "checker.html").read_bytes()
    expect(page.get_by_text(hashlib.sha256(taken).hexdigest())).to_be_visible()


def test_changed_documents_are_checked_again(visit, app, home) -> None:
    """Both answers are stale; one fails on today's text and is revoked, one is renewed."""
    page = visit(f"{app}?audit-view=Changed documents").page
    page.get_by_text("2 answers lean on documents that have changed").wait_for()
    page.get_by_role("button", name="Check them again").click()
    page.get_by_text("Checked again").wait_for()
    outcomes = page.locator(".st-key-rows-checked tr")
    expect(outcomes.filter(has_text=home.leave[:8])).to_contain_text("revoked")
    expect(outcomes.filter(has_text=home.travel[:8])).to_contain_text("renewed")
    expect(page.get_by_text("No answer leans on a document")).to_be_visible()
    _view(page, "Answers")
    expect(page.locator(".st-key-rows-answers")).to_contain_text(f"[revoked] {LEAVE_QUESTION}")
    page.goto(f"{app}?trace={home.leave}")
    page.get_by_text("Revoked: its documents changed").wait_for()
    expect(page.get_by_text("Newer answers of the log to the same question")).to_be_visible()
    expect(page.get_by_text(re.compile(r"entry \d+, \w+, trace [0-9a-f]{32}"))).to_be_visible()
