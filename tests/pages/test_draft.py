"""Check a draft: pasted, sampled, uploaded."""

from __future__ import annotations

import pytest
from page_stage import chips_of, html_of

from certirag.errors import InputError
from ui.ask import ANSWER, CHECKED
from ui.drafts import Draft, read_draft


def _check(at):
    return next(button for button in at.button if button.label == "Check").click().run()


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
