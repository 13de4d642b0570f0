"""Audit, Reviews: what waits is read as the gate shows it, and decided on from this machine."""

from __future__ import annotations

import pytest
from builders import hostile_strings
from gate_cases import TRUSTED
from page_stage import html_of
from test_audit import START, _logged, log  # noqa: F401  # the fixture

from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.auditing.review_queue import Terms, escalate, review_of, waiting
from certirag.render import inert_html
from ui import services

TERMS = Terms("financial", (("leave.md", "0" * 64),), 10, 0.67)


@pytest.fixture
def here(monkeypatch, tmp_path) -> None:
    """Let the browser be on this machine, and the home be a folder of its own."""
    monkeypatch.setattr(services, "allows_reviews", lambda: True)
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))


def _open(open_page):
    at = open_page("audit")
    return at.segmented_control(key="audit-view").set_value("Reviews").run()


def _wait(log: SqlAuditLog, number: int, caller: str = "desk") -> str:  # noqa: F811
    trace_id = f"{number:032x}"
    escalate(log, trace_id, TERMS, caller=caller, key="", now=START)
    return trace_id


def _button(at, label: str):
    (found,) = [button for button in at.button if button.label == label]
    return found


def test_nothing_waits(log, open_page) -> None:  # noqa: F811
    """It is said."""
    at = _open(open_page)
    assert [info.value for info in at.info] == ["No answer waits for a decision."]


@pytest.mark.parametrize(
    ("label", "decision"),
    [("Let the supported statements leave", "release"), ("Refuse the answer", "refuse")],
)
def test_a_reviewer_decides_under_a_name(log, open_page, here, label, decision) -> None:  # noqa: F811
    """Once, countersigned; the next one that waits follows, and the opened answer tells it."""
    first, second = _wait(log, 0), _wait(log, 2)
    at = _open(open_page)
    assert "Question 0?" in html_of(at)
    assert "desk" in html_of(at)
    at.text_input[0].set_value("anna.weber")
    at.text_input[1].set_value("Read against the policy.")
    _button(at, label).click().run()
    assert not at.exception
    assert "signed as anna.weber" in html_of(at)
    assert waiting(log) == [second]
    review = review_of(log, first, TRUSTED)
    assert review is not None
    assert (review.decision, review.reviewer) == (decision, "anna.weber")
    assert "Question 2?" in html_of(at)


def test_what_has_no_badge_cannot_be_let_leave(log, open_page, here) -> None:  # noqa: F811
    """The button is there for supported statements alone; the chips are those of the gate."""
    _wait(log, 1)
    at = _open(open_page)
    assert _button(at, "Let the supported statements leave").disabled
    assert not [b for b in at.button if (b.key or "").startswith("chip-verified-")]


@pytest.mark.parametrize(("name", "reason"), [("Anna Weber", "Read."), ("anna", ""), ("", "Read.")])
def test_without_name_or_reason_nothing_is_decided(log, open_page, here, name, reason) -> None:  # noqa: F811
    """It is said what is missing, and the answer waits on."""
    trace_id = _wait(log, 0)
    at = _open(open_page)
    at.text_input[0].set_value(name)
    at.text_input[1].set_value(reason)
    _button(at, "Refuse the answer").click().run()
    assert "Nothing was decided" in html_of(at)
    assert waiting(log) == [trace_id]


def test_elsewhere_it_is_read_and_not_decided(log, open_page) -> None:  # noqa: F811
    """A browser that is not on this machine has no form."""
    _wait(log, 0)
    at = _open(open_page)
    assert "Question 0?" in html_of(at)
    assert not at.text_input
    assert not [b for b in at.button if b.label == "Refuse the answer"]


def test_who_sees_their_own_answers_alone_sees_no_queue(log, open_page, monkeypatch) -> None:  # noqa: F811
    """What waits is somebody else's."""
    _wait(log, 0)
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "false")
    at = open_page("audit")
    assert "Reviews" not in at.segmented_control(key="audit-view").options


def test_one_is_turned_to_after_the_other(log, open_page, here) -> None:  # noqa: F811
    """The one that waits longest stands first."""
    _wait(log, 2)
    _wait(log, 0)
    at = _open(open_page)
    assert "Question 2?" in html_of(at)
    at.button(key="review-after").click().run()
    assert "Question 0?" in html_of(at)
    assert at.button(key="review-after").disabled


@pytest.mark.parametrize(("_name", "text"), hostile_strings()[::9])
def test_a_hostile_question_is_text(log, open_page, here, _name, text) -> None:  # noqa: F811
    """Neither the question nor the caller's name becomes anything else."""
    made = _logged(log, 40, question=text)
    escalate(log, made.trace_id, TERMS, caller=text[:50], key="", now=START)
    at = _open(open_page)
    assert not at.exception
    assert inert_html(text[:50]) in html_of(at)
