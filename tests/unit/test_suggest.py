"""Suggestions: drawn from the documents, answered by them, bounded, and inert."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from builders import hostile_strings
from fakes import WordReader, chunk_of
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.core.judgement import Suggestions
from certirag.retrieve.suggest import (
    MAX_FILTERS,
    MAX_QUERY,
    MAX_REFINEMENTS,
    suggest,
)
from certirag.text.question import asked_words, divided

RELEVANCE = WordReader().relevance

LEAVE = chunk_of(
    "An employee takes 27 days of annual leave in a year. Unused leave expires on 31 March.",
    name="leave",
    title="Leave handbook",
    section="1. Entitlement",
)
REGIONS = chunk_of(
    "Revenue from Norway was 40 million euros in 2023. Revenue from Chile was 9 million euros.",
    name="report",
    title="Annual report",
    section="Regions",
)
CAR = chunk_of(
    "A private car is reimbursed at 0.38 euros per kilometre.",
    name="travel",
    title="Travel handbook",
    section="Money › How is a private car paid?",
)
CORPUS = (LEAVE, REGIONS, CAR)


def _queries(found: Suggestions, kind: str = "") -> list[str]:
    return [s.query for s in found.refinements if not kind or s.kind == kind]


def test_a_section_that_holds_part_of_the_question_becomes_a_question() -> None:
    """Its title and the words that it holds are in the question; a missing word is not."""
    found = suggest("How much revenue came from Brazil?", [REGIONS, LEAVE], RELEVANCE, CORPUS)
    assert _queries(found) == ["What does “Annual report” say about “Regions”?"]
    assert found.refinements[0].because == "“Regions” in “Annual report” mentions “revenue”"
    assert [(f.field, f.value, f.passages) for f in found.filters] == [
        ("document", "Annual report", 1),
        ("section", "Regions", 1),
        ("period", "2023", 1),
    ]


def test_a_heading_that_asks_is_suggested_as_it_is() -> None:
    """A question among the headings is asked in its own words."""
    found = suggest("How many kilometres may a car be driven?", [CAR], RELEVANCE, CORPUS)
    assert _queries(found, "question") == ["How is a private car paid?"]


def test_a_period_of_which_the_documents_speak_replaces_another() -> None:
    """Of a year that no passage speaks of, the year in the documents is suggested."""
    found = suggest("What was revenue from Norway in 2031?", [REGIONS], RELEVANCE, CORPUS)
    assert found.refinements[0].query == "What was revenue from Norway in 2023?"
    assert found.refinements[0].because == "“Annual report” speaks of “2023”"
    same = suggest("What was revenue from Norway in 2023?", [REGIONS], RELEVANCE, CORPUS)
    assert not _queries(same, "period")


def test_a_misspelt_name_is_put_as_the_documents_spell_it() -> None:
    """A word that nobody holds gives way to one that is spelled almost the same."""
    found = suggest("What was revenue from Norwey in 2023?", [REGIONS], RELEVANCE, CORPUS)
    assert found.refinements[0].query == "What was revenue from Norway in 2023?"
    assert found.refinements[0].because == "no document holds “Norwey”; they hold “Norway”"
    assert not _queries(suggest("Revenue from Brazil?", [REGIONS], RELEVANCE, CORPUS), "spelling")


def test_a_section_that_the_search_passed_over_is_found_by_its_heading() -> None:
    """Of the corpus the headings are read, so a document outside the nearest is suggested too."""
    found = suggest("Is there a leave handbook for Norway?", [REGIONS], RELEVANCE, CORPUS)
    assert any("Leave handbook" in query for query in _queries(found))


@pytest.mark.parametrize("question", ["", "   ", "?!", "What is it?", "\x00\u202e"])
def test_a_question_about_nothing_gets_nothing(question) -> None:
    """Nothing canned stands in for what the documents do not give."""
    assert suggest(question, CORPUS, RELEVANCE, CORPUS) == Suggestions()


def test_no_document_and_a_foreign_topic_get_no_question() -> None:
    """Without a passage, or without a word of the question in any, there is no suggestion."""
    assert suggest("How much leave is there?", (), RELEVANCE, CORPUS) == Suggestions()
    assert suggest("Who won the football cup?", CORPUS, RELEVANCE, CORPUS).refinements == ()


def test_what_a_reader_cannot_see_suggests_nothing() -> None:
    """Hidden text is neither quoted nor made into a question."""
    hidden = chunk_of(
        "Revenue from Brazil was 7 million euros in 2023.",
        name="report",
        title="Annual report",
        section="Regions",
        hidden=["Brazil"],
    )
    assert (
        suggest("How much revenue came from Brazil?", [hidden], RELEVANCE, [hidden])
        == Suggestions()
    )


def test_the_same_input_gives_the_same_suggestions() -> None:
    """Nothing depends on the order of a set or on a run before."""
    asked = "How much revenue came from Brazil in 2031?"
    assert suggest(asked, CORPUS, RELEVANCE, CORPUS) == suggest(asked, CORPUS, RELEVANCE, CORPUS)


@pytest.mark.parametrize("attack", [text for _, text in hostile_strings()])
def test_a_hostile_heading_is_never_put_into_a_question(attack) -> None:
    """Marks, controls and unseen characters in a title or heading leave it out of the queries."""
    source = replace(REGIONS.source, title=f"Revenue {attack}", section=f"Revenue {attack}")
    hostile = replace(REGIONS, source=source)
    found = suggest(
        f"How much revenue came from Brazil {attack}?", [hostile], RELEVANCE, [hostile, LEAVE]
    )
    for suggestion in found.refinements:
        assert len(suggestion.query) <= MAX_QUERY
        assert "\n" not in suggestion.query
    for text in [f.value for f in found.filters]:
        assert not {unicodedata.category(c) for c in text} & {"Cc", "Cf", "Co", "Cn", "So"}


@examples(40)
@given(st.text(max_size=120), st.text(max_size=60), st.text(max_size=120))
def test_any_text_is_welcome_and_the_answer_is_bounded(question, title, text) -> None:
    """No question, title or text raises, and there are never more than a few suggestions."""
    odd = chunk_of(text or "x", name="odd", title=title, section=title)
    found = suggest(question, [odd, LEAVE], RELEVANCE, [odd, *CORPUS])
    assert len(found.refinements) <= MAX_REFINEMENTS
    assert len(found.filters) <= MAX_FILTERS


def test_the_words_of_a_question_are_found_in_other_forms() -> None:
    """Held and missing words are told apart by stem, and keep their spelling."""
    words = asked_words("How many employees took sabbaticals in Oslo?")
    held, missing = divided(words, ["An employee takes leave."])
    assert [word.text for word in held] == ["employees", "took"]
    assert [(word.text, word.telling) for word in missing] == [
        ("sabbaticals", False),
        ("Oslo", True),
    ]


def test_a_number_with_a_comma_is_one_word() -> None:
    """What an answer leaves open is named as it was asked: "3,000", never "000"."""
    words = asked_words("Who approves a purchase over 3,000 euros in Berlin,Oslo?")
    held, missing = divided(words, ["A purchase of 3,000 euros is approved by the head."])
    assert [word.text for word in held] == ["approves", "purchase", "3,000", "euros"]
    assert [word.text for word in missing] == ["Berlin", "Oslo"]


def test_nobody_is_told_to_ask_about_a_verb() -> None:
    """A plain form of a verb is no topic: "What does it say about bring?"."""
    rules = chunk_of("Members may bring one guest.", name="rules", title="House rules", section="")
    found = suggest("Can I bring a goat?", [rules], lambda _, seen: [0.9] * len(seen), [rules])
    assert _queries(found) == []
    guests = suggest("Can I bring a guest?", [rules], lambda _, seen: [0.9] * len(seen), [rules])
    assert _queries(guests) == ["What does “House rules” say about guest?"]
