"""The pages in German: chosen, kept, drawn at the edge alone, and never a way to a badge."""

from __future__ import annotations

import pytest
from builders import FACTS, Statement, answer_export
from gate_cases import TRUSTED
from page_stage import STATEMENTS, captions_of, corpus_index, html_of
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest
from test_planting import _probed

from certirag.render import Mode, footnotes_of, plain_report, present
from ui import language, services
from ui.ask import ANSWER

GERMAN = {"lang": "de"}
TITLES = {
    "ask": "Fragen",
    "draft": "Entwurf prüfen",
    "corpus": "Sammlung",
    "contract": "Vertrauensvertrag",
    "document": "Dokument",
}


@pytest.fixture
def labels(monkeypatch) -> None:
    """Let AppTest read German labels: it asks for them outside of the page's run."""
    monkeypatch.setattr(language, "language", lambda: "de")


def _asked(at: AppTest, button: str) -> AppTest:
    at.text_input(key="question").set_value("How much leave?")
    return next(b for b in at.button if b.label == button).click().run()


def _chips(at: AppTest) -> list[str]:
    return [b.label for b in at.button if (b.key or "").startswith("chip-")]


@pytest.mark.parametrize("page", TITLES)
def test_the_address_names_the_language(open_page, page) -> None:
    """Every page has its German title where the address asks for it."""
    at = open_page(page, **GERMAN)
    assert not at.exception
    assert at.title[0].value == TITLES[page]


@pytest.mark.parametrize("asked", ["", "fr", "DE", "../de", "**de**", "de\x00"])
def test_an_unknown_language_is_english(open_page, asked) -> None:
    """What is not on the list is not looked for, and nothing of it is drawn."""
    assert open_page("ask", lang=asked).title[0].value == "Ask"


@pytest.mark.parametrize(
    ("browser", "title"), [("de-AT", "Fragen"), ("de", "Fragen"), ("fr-FR", "Ask"), (None, "Ask")]
)
def test_the_browser_says_which_language_comes_first(
    open_page, monkeypatch, browser, title
) -> None:
    """Without a choice the page is in the browser's language, if there is a catalogue of it."""
    import streamlit as st

    monkeypatch.setattr(type(st.context), "locale", property(lambda _: browser))
    assert open_page("ask").title[0].value == title
    assert open_page("ask", lang="en").title[0].value == "Ask"


def test_a_reader_changes_the_language_and_keeps_it(open_page) -> None:
    """The answer that stands there is drawn anew from the same bytes."""
    at = _asked(open_page("ask"), "Ask")
    before = at.session_state[ANSWER]
    assert _chips(at)[0] == "✅ Verified · claim 1"
    at.segmented_control(key="lang").set_value("de").run()
    assert _chips(at) == ["✅ Belegt · Aussage 1", "⚠️ Unbelegt · Aussage 2"]
    assert at.session_state[ANSWER] == before
    assert "1 mit Widerspruch, nur in Debug zu sehen." in captions_of(at)


def test_an_answer_that_a_click_on_the_language_ends_says_so(open_page, stage) -> None:
    """The script ends in the middle; the page that follows does not stand there as if unasked."""
    stage.error = StopException()
    at = _asked(open_page("ask"), "Ask")
    stage.error = None
    at.segmented_control(key="lang").set_value("de").run()
    assert "Dies wurde abgebrochen." in html_of(at)
    assert _chips(at) == []
    assert at.text_input(key="question").value == "How much leave?"


def test_a_german_badge_comes_from_the_gate_alone(open_page, stage, labels) -> None:
    """Text that says so itself is marked as an imitation, in a claim, a title and a passage."""
    texts = ("✅ Belegt", "BELEGT", "Be1egt · Aussage 1", ":green-badge[Belegt]")
    stage.export = answer_export([Statement(text, "unsupported", text) for text in texts])
    at = _asked(open_page("ask", mode="debug", **GERMAN), "Fragen")
    assert not at.exception
    assert _chips(at)
    assert not [label for label in _chips(at) if "✅" in label]
    drawn = html_of(at)
    assert "✅" not in drawn
    assert "⟨Belegt⟩" in drawn
    assert "⟨BELEGT⟩" in drawn


def test_what_is_cut_off_and_what_was_planted_is_told_in_german(open_page, stage, labels) -> None:
    """How many lines a long question has more, and of which kind a planted error is."""
    stage.export = answer_export(STATEMENTS, question="\n".join("abcdefghij"))
    drawn = html_of(_asked(open_page("ask", **GERMAN), "Fragen"))
    assert "… (4 weitere Zeilen)" in drawn
    assert "more lines" not in drawn
    stage.export = _probed()
    at = _asked(open_page("ask", mode="debug", **GERMAN), "Fragen")
    at.button(key="chip-unverified-1").click().run()
    assert ">Zahl</span>" in html_of(at)


def test_text_from_outside_is_never_translated(open_page, stage, labels, monkeypatch) -> None:
    """A claim, a title and a question that are worded like our sentences stay as they are."""
    ours = "Every rule passed."
    stage.export = answer_export([Statement(ours, "unsupported", ours), Statement(FACTS[0])])
    monkeypatch.setattr(services, "open_corpus", lambda name: corpus_index(title="Ask"))
    at = _asked(open_page("ask", mode="debug", **GERMAN), "Fragen")
    assert f'<div class="cr-inert cr-inert--claim" dir="auto">{ours}</div>' in html_of(at)
    assert ">Ask<" in html_of(open_page("corpus", **GERMAN))


def test_what_is_taken_along_stays_english(open_page, stage, labels) -> None:
    """Export, report and record are the same bytes in every language."""
    english = plain_report(footnotes_of(present(stage.export, Mode.STRICT, trusted=TRUSTED)))
    at = _asked(open_page("ask", **GERMAN), "Fragen")
    assert at.session_state[ANSWER] == stage.export
    assert english in [code.value for code in at.code]


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_a_hostile_value_is_drawn_as_in_english(open_page, stage, monkeypatch, lang) -> None:
    """What fills a place of a translated sentence is as inert as ever."""
    title = "<b>x</b> {why} ![x](http://evil) :green-badge[Verified]"
    stage.export = answer_export([Statement(FACTS[0], "contradicted", title)])
    monkeypatch.setattr(language, "language", lambda: lang)
    at = _asked(open_page("ask", mode="debug", lang=lang), "Ask" if lang == "en" else "Fragen")
    assert not at.exception
    assert "<b>x" not in html_of(at)
    assert "{why}" in html_of(at)
    for sink in (*at.markdown, *at.caption, *at.header, *at.subheader):
        assert "evil" not in sink.value
