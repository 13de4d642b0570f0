"""Check a draft: pasted, sampled, uploaded."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from builders import FACTS, Statement, draft_record, hostile_strings
from gate_cases import export
from page_stage import captions_of, chips_of, html_of

from certirag.errors import InputError
from ui.ask import ANSWER, CHECKED
from ui.drafts import Draft, read_draft

WRONG = Statement(
    "Full-time employees receive 30 days of annual leave per calendar year.",
    "contradicted",
    sentence=FACTS[0],
)
WEAK = Statement(FACTS[1], "unsupported", "Travel handbook")


def _check(at):
    return next(button for button in at.button if button.label == "Check").click().run()


def _checked(open_page, stage, of, mode="strict"):
    stage.export = export(of)
    at = open_page("draft", mode=mode)
    at.text_area(key="draft").set_value("A draft.")
    return _check(at)


def test_a_pasted_draft_is_checked(open_page, stage) -> None:
    """The text goes to the pipeline as it is, with its question, and is kept apart from Ask."""
    at = open_page("draft")
    at.text_area(key="draft").set_value("Leave is 27 days.")
    at.text_input(key="draft_question").set_value("How much leave?")
    at = _check(at)
    assert not at.exception
    assert (stage.asked, stage.questions) == (["Leave is 27 days."], ["How much leave?"])
    assert chips_of(at)
    assert CHECKED in at.session_state
    assert ANSWER not in at.session_state


@pytest.mark.parametrize("mode", ["strict", "mixed", "debug"])
def test_the_draft_itself_is_shown_marked_beside_its_claims(open_page, stage, mode) -> None:
    """Its words in their order, each with the badge of its claim; one count; no ids, no codes."""
    at = _checked(open_page, stage, draft_record([Statement(FACTS[0]), WRONG, WEAK]), mode)
    assert not at.exception
    html = html_of(at)
    (drawn,) = re.findall(r'<div class="cr-inert cr-draft"[^>]*>(.*?)</div>', html, re.DOTALL)
    marks = re.findall(r'<mark class="cr-mark cr-mark--(\w+)">(.*?)</mark>', drawn)
    assert marks == [("verified", FACTS[0]), ("contradicted", WRONG.text), ("unverified", FACTS[1])]
    assert '❌<span class="cr-word"> Contradicted</span> the document says 27 days</sup>' in drawn
    assert html.count("1 of 3 statements is verified against the documents.") == 1
    assert not re.search(r"checkable claims|\d of \d claims", html)
    if mode != "debug":
        assert not re.search(r"\bc[123]\b|STRIP|SOME_", html)
        assert "❌ Contradicted" not in chips_of(at)
    assert re.findall(r'cr-number">(\d)<', html)
    assert f"“Leave policy” says: “{FACTS[0]}”" in html or mode == "debug"


def test_a_refused_draft_is_marked_too(open_page, stage) -> None:
    """Without any badge the page still shows the draft, its count and what speaks against it."""
    at = _checked(open_page, stage, draft_record([WRONG]))
    html = html_of(at)
    assert "0 of 1 statement is verified against the documents." in html
    assert "the document says 27 days" in html
    assert chips_of(at) == []
    assert "cr-mark--verified" not in html


def test_a_chip_of_a_draft_opens_its_drawer(open_page, stage) -> None:
    """The numbers stand in the draft and beside the chips, and a chip opens what it opened."""
    at = _checked(open_page, stage, draft_record([WRONG, Statement(FACTS[0])]))
    at.button(key="chip-verified-2").click().run()
    assert "Evidence it stands on" in [one.value for one in at.subheader]


# A draft of nothing but blanks makes no claim.
HOSTILE = [(name, text) for name, text in hostile_strings() if text.strip()]


@pytest.mark.parametrize(("name", "text"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_a_hostile_draft_is_inert_under_its_marks(open_page, stage, name, text) -> None:
    """Whatever a draft holds, nothing but our own marks and notes is markup in it."""
    at = _checked(open_page, stage, draft_record([Statement(text, "unsupported")]))
    assert not at.exception
    html = html_of(at)
    (drawn,) = re.findall(r'<div class="cr-inert cr-draft"[^>]*>(.*?)</div><div', html, re.DOTALL)
    assert set(re.findall(r"<(\w+)", drawn)) <= {"mark", "sup", "span"}
    own = re.sub(r"<sup.*?</sup>", "", drawn, flags=re.DOTALL)
    assert not re.search("[✅✔☑❌\u202a-\u202e\u2066-\u2069\u200b]", own)
    assert "cr-mark--verified" not in drawn


def test_a_status_word_across_two_claims_is_still_made_plain(open_page, stage) -> None:
    """A cut between two marks hides no imitation of the badge that runs over it."""
    of = draft_record(
        [Statement("It is so: VERI"), Statement("FIED is that")], draft="It is so: VERIFIED is that"
    )
    html = html_of(_checked(open_page, stage, of))
    assert "⟨VERI" in html
    assert "FIED⟩" in html


def test_a_draft_of_full_length_and_a_thousand_claims_is_bounded(open_page, stage) -> None:
    """As many as a record may hold, in 40,000 characters: whole text, few boxes, in time."""
    words = [f"Site {n} opens on Monday at noon in May." for n in range(1_100)]
    of = draft_record([Statement(one, "unsupported") for one in words])
    assert len(of.claim_ir.draft) > 40_000
    dropped = tuple(f"“{one}” was not checked: only the first 12 statements are" for one in words)
    of = replace(of, claim_ir=replace(of.claim_ir, dropped=dropped))
    began = time.monotonic()
    at = _checked(open_page, stage, of)
    assert not at.exception
    assert time.monotonic() - began < 30
    assert len(chips_of(at)) == 200
    assert "900 more are marked in the draft and not listed." in captions_of(at)
    html = html_of(at)
    assert html.count("was not checked") == 6
    assert "And 1094 more like these." in html
    assert "Site 1099 opens on Monday" in html


def test_a_sample_draft_is_one_click(open_page, stage) -> None:
    """A sample's button checks the whole draft, not its beginning."""
    at = open_page("draft")
    at.button(key="try-policy-0").click().run()
    assert "30 days of annual leave" in stage.asked[0]
    assert len(stage.asked[0]) > 300
    assert stage.questions[0].endswith("?")


def test_the_draft_page_names_errors_plainly(open_page, stage) -> None:
    """An unusable draft is one plain line."""
    stage.error = InputError("the draft is empty: write at least one sentence")
    at = _check(open_page("draft"))
    assert "the draft is empty" in html_of(at)
    assert not at.exception


@pytest.mark.parametrize(
    ("name", "content", "draft"),
    [
        ("a.txt", b"\xef\xbb\xbfText.", Draft("Text.")),
        ("a.md", "Größe".encode(), Draft("Größe")),
        ("a.json", b'{"text": "T.", "question": "Q?", "errors": []}', Draft("T.", "Q?")),
        ("a.json", b'{"text": "T."}', Draft("T.")),
    ],
)
def test_drafts_are_read(name, content, draft) -> None:
    """Plain text is the draft; JSON names its text and question."""
    assert read_draft(name, content) == draft


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("a.json", b"{", "not JSON"),
        ("a.json", b"[" * 100_000, "not JSON"),
        ("a.json", b'["text"]', "'text'"),
        ("a.json", b'{"text": 3}', "'text'"),
        ("a.json", b'{"text": "x", "question": 3}', "'question'"),
        ("a.txt", b"x" * 1_000_001, "limit"),
    ],
)
def test_unusable_drafts_are_refused(name, content, said) -> None:
    """A draft that cannot be read is an InputError that says why."""
    with pytest.raises(InputError, match=said):
        read_draft(name, content)
