"""Ask without an answer: the panel says why, what came near, and what may be asked instead."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import FACTS, Statement, answer_record, hostile_strings
from fakes import WordReader
from gate_cases import POLICY, chunk, export
from page_stage import captions_of, chips_of, html_of

from certirag.core.judgement import Filter, Suggestion, Suggestions
from certirag.render import certify
from certirag.render.abstain import with_suggestions
from certirag.render.closest import found_references
from certirag.retrieve.relevance import nearest

QUERY = "What does “Leave policy” say about leave?"
HELP = Suggestions(
    (
        Suggestion("heading", QUERY, "“Annual leave” in “Leave policy” mentions “leave”"),
        Suggestion("period", "How much leave was there in 2023?", "a year that they speak of"),
    ),
    (Filter("document", "Leave policy", 3),),
)
WEAK = Statement(FACTS[1], "unsupported", "Travel handbook")
AGAINST = Statement("Full-time employees receive 30 days of leave.", "contradicted", "Old policy")


def _refused(question="How much leave in Norway?", suggestions=HELP, of=None) -> bytes:
    """Return the export of an answer without a claim."""
    of = of or chunk()
    _, summary = certify([], [], [of], POLICY, question=question)
    near = found_references(nearest(question, [of], WordReader(), most=3))
    whole = answer_record([], question=question)
    return export(
        replace(
            whole,
            retrieval=replace(whole.retrieval, chunks=(of,)),
            answer=replace(with_suggestions(summary, suggestions), closest_references=near),
        )
    )


def _asked(open_page, **query):
    at = open_page("ask", **query)
    at.text_input(key="question").set_value("How much leave in Norway?")
    return next(button for button in at.button if button.label == "Ask").click().run()


@pytest.mark.parametrize("mode", ["strict", "mixed", "debug"])
def test_the_panel_says_why_what_came_near_and_what_to_ask(open_page, stage, mode) -> None:
    """Question, reason, nearest passage with what it lacks, questions and filters; no badge."""
    stage.export = _refused()
    at = _asked(open_page, mode=mode)
    assert not at.exception
    assert at.header[0].value == "No answer: the evidence does not support one"
    html = html_of(at)
    for said in (
        "How much leave in Norway?",
        "Nothing was found here that says something on this",
        "Quoted from",
        "Not enough: it answers the question with 0.33; 0.50 is needed",
        QUERY,
        "“Annual leave” in “Leave policy” mentions “leave”",
        "Document “Leave policy” (3 near passages)",
    ):
        assert said in html
    assert ("no claims" in html) is (mode == "debug"), "a code is for whoever looks closer"
    assert "Nearest passages: none of them is enough" in captions_of(at)
    assert chips_of(at) == []


def test_nothing_in_the_panel_looks_like_a_supported_claim(open_page, stage) -> None:
    """No mark, badge, status class or highlighted evidence stands among what is not enough."""
    stage.export = _refused()
    at = _asked(open_page)
    html = html_of(at)
    for sign in ("✅", "✓", "cr-status", "Verified", "<mark>", "cr-rule--pass"):
        assert sign not in html
    assert not [b for b in at.button if "Verified" in b.label]


def test_a_suggested_question_is_asked_at_a_click(open_page, stage) -> None:
    """It stands in the box then; a reader has seen it in full beside its button."""
    stage.export = _refused()
    at = _asked(open_page)
    at.button(key="use-1").click().run()
    assert not at.exception
    assert at.text_input(key="question").value == QUERY
    assert stage.asked == ["How much leave in Norway?", QUERY]


def test_a_suggestion_with_a_mark_or_unseen_characters_stays_text(open_page, stage) -> None:
    """A hostile document's words are drawn inert and get no button."""
    odd = Suggestions(
        tuple(
            Suggestion("heading", text, text)
            for text in ("✅ Verified: 90 days?", "What is\u202e tfel?", "<b>What</b> is left?")
        )
    )
    stage.export = _refused(suggestions=odd)
    at = _asked(open_page)
    assert [b.key for b in at.button if (b.key or "").startswith("use-")] == ["use-3"]
    html = html_of(at)
    assert "⟨U+2705⟩ ⟨Verified⟩: 90 days?" in html
    assert "<b>" not in html
    at.button(key="use-3").click().run()
    assert at.text_input(key="question").value == "<b>What</b> is left?"


def test_hostile_titles_and_quotes_draw_as_text(open_page, stage) -> None:
    """Whatever a document is called and says, the panel draws it without a tag or an exception."""
    for name, text in hostile_strings()[:12]:
        of = chunk(f"{text} annual leave", "odd", f"{text} annual leave")
        of = replace(of, source=replace(of.source, title=text or name, section=text))
        stage.export = _refused(question="How much annual leave?", of=of)
        at = _asked(open_page)
        assert not at.exception, name
        assert "<script" not in html_of(at)
        assert "<img" not in html_of(at)


def test_what_is_left_out_is_said_without_the_contradicted_text(open_page, stage) -> None:
    """Strict and mixed name claim, reason and document; only debug shows the text."""
    stage.export = export(answer_record([WEAK, AGAINST]))
    for mode in ("strict", "mixed", "debug"):
        at = _asked(open_page, mode=mode)
        html = html_of(at)
        assert "2 of 2 checkable claims are left out." in html
        assert "Claim 2 is left out. “Old policy” says otherwise." in html
        assert "0 of 2 checkable claims passed every rule" in html
        assert chips_of(at).count("❌ Contradicted") == (mode == "debug")


def test_an_answer_in_part_says_what_it_lacks(open_page, stage) -> None:
    """The banner of a shortened answer names the claims that are missing, and suggests nothing."""
    stage.export = export(answer_record([Statement(FACTS[0]), WEAK]))
    at = _asked(open_page)
    assert "What is missing" in captions_of(at)
    assert "1 of 2 checkable claims is left out." in html_of(at)
    assert not [b for b in at.button if (b.key or "").startswith("use-")]


def test_a_refused_draft_suggests_without_a_button(open_page, stage) -> None:
    """There is no question box on that page: suggestions are text."""
    stage.export = _refused()
    at = open_page("draft")
    at.text_area(key="draft").set_value("Leave is 90 days.")
    next(button for button in at.button if button.label == "Check").click().run()
    assert not at.exception
    assert QUERY in html_of(at)
    assert not [b for b in at.button if (b.key or "").startswith("use-")]
