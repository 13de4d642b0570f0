"""An answer that a language model writes, in a real browser: it grows, and nothing is taken back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser_server import ingest, serve, stop
from playwright.sync_api import Page, expect
from slow_model import RECORDED

from certirag.bootstrap import open_log
from certirag.proof.facets import AnswerQuery
from certirag.settings import read_settings
from ui.run import CANCELLED

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ANSWER = json.loads(RECORDED.read_text("utf-8"))
# The evidence says four weeks and five days.
WRONG = {c["text"] for c in ANSWER["claims"] if re.search("four months|eight extra", c["text"])}
PAUSE = "0.3"
GROWING = ".st-key-answer-growing .cr-status--verified"
CHIP = '[class*="st-key-chip-verified-"] button'
BEING_WRITTEN = "The answer is being written."
# Keeps, in the page, the claims with a badge every tenth of a second.
WATCH = """() => {
  window.badged = [];
  setInterval(() => {
    const badges = document.querySelectorAll(
      '.stMain .cr-status--verified, .stMain [class*="st-key-chip-verified-"] button');
    const texts = [...badges].map(badge => badge.closest('[class*="st-key-claim-"]')
      .querySelector('.cr-inert--claim').innerText.trim());
    window.badged.push(JSON.stringify([...new Set(texts)].sort()));
  }, 100);
}"""
# While chips take the place of the growing answer, the browser may draw a claim anew: a claim that
# is gone for longer than this was taken back.
A_SECOND = 10


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Ingest the demo policy corpus into a home of its own."""
    home = tmp_path_factory.mktemp("home")
    name = ANSWER["corpus"]
    ingest(home, f"fixtures/corpora/{name}", name)
    return home


@contextmanager
def _model(held: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the slow endpoint; give its process, to be killed or not, and its address.

    After the claim *held* it stays silent.
    """
    script = Path(__file__).with_name("slow_model.py")
    with subprocess.Popen(
        [sys.executable, str(script), PAUSE, str(held)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def _app(corpus: Path, folder: Path, url: str) -> Iterator[str]:
    """Serve the app with the language model at *url*."""
    process, address = serve(
        "asgi.py",
        folder,
        CERTIRAG_HOME=str(corpus),
        CERTIRAG_GENERATOR="openai:test",
        CERTIRAG_LLM_URL=url,
        CERTIRAG_STRATEGY="generate-then-cite",
        CERTIRAG_MAX_CLAIMS="24",
        CERTIRAG_MAX_PAIRS="480",
    )
    try:
        yield address
    finally:
        stop(process)


def _ask(page: Page) -> None:
    page.get_by_label("Question").wait_for()
    page.evaluate(WATCH)
    page.get_by_label("Question").fill(ANSWER["question"])
    page.get_by_role("button", name="Ask", exact=True).click()


def _badged(page: Page) -> list[set[str]]:
    """Return the claims with a badge, every tenth of a second."""
    return [set(json.loads(seen)) for seen in page.evaluate("window.badged")]


def _assert_nothing_taken_back(seen: list[set[str]]) -> None:
    for moment in range(len(seen) - A_SECOND):
        after = seen[moment + 1 : moment + 1 + A_SECOND]
        assert seen[moment] <= set().union(*after)


def test_a_recorded_answer_of_twenty_claims_grows(visit, corpus, tmp_path) -> None:
    """Claims come one by one with their progress, none is taken back, and chips come at the end."""
    with _model() as (_, url), _app(corpus, tmp_path, url) as address:
        log = open_log(read_settings({"CERTIRAG_HOME": str(corpus)}))
        before = log.count(AnswerQuery(parts=True))
        visited = visit(address)
        page = visited.page
        _ask(page)
        page.get_by_text(BEING_WRITTEN).wait_for()
        page.locator(GROWING).nth(2).wait_for()
        told = page.locator(".st-key-banner-growing [data-testid='stExpander'] summary")
        assert "Claim " in told.inner_text()
        assert page.get_by_text("No answer").count() == 0
        expect(page.locator(".st-key-mode [role=radio]").first).to_be_disabled()
        page.get_by_text("Download audit JSON").wait_for(timeout=120_000)
        expect(page.get_by_text(BEING_WRITTEN)).to_have_count(0)
        expect(page.locator(".st-key-mode [role=radio]").first).to_be_enabled()
        page.wait_for_timeout(1500)
        seen = _badged(page)
        _assert_nothing_taken_back(seen)
        assert len({len(claims) for claims in seen}) >= 12
        assert page.locator(CHIP).count() == len(seen[-1]) >= 15
        assert len(WRONG) == 2
        assert not set().union(*seen) & WRONG
        assert visited.foreign == []
        # One entry for each part and one for the whole: what was shown was recorded before.
        assert log.count(AnswerQuery(parts=True)) - before == len(ANSWER["claims"]) + 1
        page.get_by_text("Draft and citations").click()
        expect(page.get_by_text("strategy generate-then-cite")).to_be_visible()
        page.locator(CHIP).first.click()
        page.get_by_role("dialog").locator(".cr-quote").first.wait_for()


def test_a_server_that_dies_leaves_what_was_certified(visit, corpus, tmp_path) -> None:
    """Kill the endpoint half-way: the claims with a badge stay, and a line says what happened."""
    with _model(held=8) as (model, url), _app(corpus, tmp_path, url) as address:
        page = visit(address).page
        _ask(page)
        page.locator(GROWING).nth(4).wait_for()
        model.kill()
        page.get_by_text("Download audit JSON").wait_for()
        page.wait_for_timeout(1500)
        ended = page.get_by_text("The language model stopped:").first
        expect(ended).to_contain_text("What was certified before stands.")
        seen = _badged(page)
        _assert_nothing_taken_back(seen)
        assert 5 <= page.locator(CHIP).count() == len(seen[-1]) < 15
        page.locator(".st-key-mode").get_by_text("mixed", exact=True).click()
        page.wait_for_timeout(800)
        expect(ended).to_be_visible()
        assert page.locator(CHIP).count() == len(seen[-1])


def test_a_reader_who_goes_elsewhere_finds_what_was_certified(visit, corpus, tmp_path) -> None:
    """Another page breaks the writing off; back on Ask, the part stands and says that it is one."""
    with _model() as (_, url), _app(corpus, tmp_path, url) as address:
        page = visit(address).page
        _ask(page)
        page.locator(GROWING).nth(3).wait_for()
        page.get_by_role("link", name="Trust contract").click()
        page.get_by_role("heading", name="Trust contract", exact=True).wait_for()
        page.get_by_role("link", name="Ask", exact=False).first.click()
        page.get_by_text("Download audit JSON").wait_for()
        expect(page.get_by_text("This answer was not finished").first).to_be_visible()
        page.locator(CHIP).nth(3).wait_for()  # chips are drawn one by one
        assert page.locator(CHIP).count() < 15
        assert page.get_by_text(BEING_WRITTEN).count() == 0


def test_a_reader_cancels_and_keeps_what_was_certified(visit, corpus, tmp_path) -> None:
    """The button breaks the writing off where it is; the controls wake up and the part stands."""
    with _model() as (_, url), _app(corpus, tmp_path, url) as address:
        page = visit(address).page
        _ask(page)
        page.locator(GROWING).nth(3).wait_for()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text(CANCELLED)).to_be_visible()
        expect(page.get_by_text("This answer was not finished").first).to_be_visible()
        page.locator(CHIP).nth(3).wait_for()
        assert page.locator(CHIP).count() < 15
        assert page.get_by_role("button", name="Ask", exact=True).is_enabled()


def test_no_server_is_one_plain_line(visit, corpus, tmp_path) -> None:
    """Nobody listens at the address: no claim, no badge, and a line that names the mend."""
    with _app(corpus, tmp_path, "http://127.0.0.1:9/v1") as address:
        page = visit(address).page
        _ask(page)
        page.get_by_role("heading", name="No answer: the language model gave none").wait_for()
        expect(page.get_by_text("check CERTIRAG_LLM_URL").first).to_be_visible()
        assert page.locator(CHIP).count() == 0
