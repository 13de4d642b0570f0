"""Two drafts beside each other: each with its own record's badges, and a failed second is no loss."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from builders import FACTS, Statement, draft_record, hostile_strings
from gate_cases import export
from page_stage import captions_of, html_of
from streamlit.runtime.scriptrunner import StopException

from certirag.errors import AuditError, InputError
from certirag.proof.certificate import AnswerRecord
from ui.ask import CHECKED, NO_SECOND, SECOND
from ui.compared import NOTHING, OTHERWISE
from ui.run import CANCELLED

THIRTY = FACTS[0].replace("27", "30")
FIRST = (Statement(FACTS[0]), Statement(FACTS[1]), Statement(FACTS[2], "unsupported"))
WRONG = Statement(THIRTY, "contradicted", sentence=FACTS[0])
ANOTHER = (WRONG, Statement(FACTS[1]), Statement("The pool opens in May.", "unsupported"))


def _press(at, label: str):
    return next(button for button in at.button if button.label == label).click().run()


def _second(of: AnswerRecord) -> AnswerRecord:
    return replace(of, trace_id="b" * 32)


def _compared(open_page, stage, one: AnswerRecord, two: AnswerRecord, mode: str = "strict"):
    """Return the page after both drafts were checked, as the pipeline would record them."""
    stage.export = export(one)
    at = open_page("draft", mode=mode)
    at.text_area(key="draft").set_value("One.")
    at = _press(at, "Check")
    stage.export, stage.trace = export(two), "b" * 32
    at.text_area(key="second_draft").set_value("Two.")
    at = _press(at, "Check and compare")
    assert not at.exception
    return at


def _rows(at, first: str = "Difference") -> list[list[str]]:
    """Return the table of what differs, by the name of its *first* column: each cell's markup."""
    (table,) = (e.proto.body for e in at.get("html") if f">{first}</th>" in e.proto.body)
    return [re.findall(r"<td.*?</td>", row, re.DOTALL) for row in table.split("<tr>")[2:]]


@pytest.mark.parametrize("mode", ["strict", "mixed", "debug"])
def test_two_drafts_stand_beside_each_other(open_page, stage, mode) -> None:
    """Both texts marked, each with the one count, the badges of its own record, its own JSON."""
    one, two = draft_record(FIRST), _second(draft_record(ANOTHER))
    at = _compared(open_page, stage, one, two, mode)
    html = html_of(at)
    drawn = re.findall(r'<div class="cr-inert cr-draft"[^>]*>(.*?)</div><div', html, re.DOTALL)
    marks = [re.findall(r'cr-mark--(\w+)">', text) for text in drawn]
    assert marks == [
        ["verified", "verified", "unverified"],
        ["contradicted", "verified", "unverified"],
    ]
    assert html.count("2 of 3 statements are verified against the documents.") == 1
    assert html.count("1 of 3 statements is verified against the documents.") == 1
    assert stage.asked == ["One.", "Two."]
    texts = [part.proto.label for part in at.get("download_button")]
    assert texts.count("Download audit JSON") == 2
    assert [at.session_state[key] for key in (CHECKED, SECOND)] == [export(one), export(two)]
    assert at.query_params["trace"] in ("a" * 32, ["a" * 32])
    if mode != "debug":
        assert not re.search(r"\bc[123]\b|STRIP|SOME_", html)


def test_what_differs_is_told_with_each_sides_own_badge(open_page, stage) -> None:
    """A figure and with it the badge, a sentence of each alone; what is alike is counted."""
    at = _compared(open_page, stage, draft_record(FIRST), _second(draft_record(ANOTHER)))
    figure, only_first, only_second = _rows(at)
    assert "Another figure or name · Another badge" in figure[0]
    assert '1 ✅<span class="cr-word"> Verified</span></sup>' in figure[1]
    assert '<strong class="cr-differs">27 days</strong>' in figure[1]
    assert '❌<span class="cr-word"> Contradicted</span> the document says 27 days' in figure[2]
    assert '<strong class="cr-differs">30 days</strong>' in figure[2]
    assert "Only in the first draft" in only_first[0]
    assert FACTS[2] in only_first[1]
    assert ">–<" in only_first[2]
    assert "Only in the second draft" in only_second[0]
    assert ">–<" in only_second[1]
    assert "The same in both, with the same badge: 1." in captions_of(at)


def test_what_differs_is_told_in_the_language_of_the_page(open_page, stage) -> None:
    """Our words are German, also those that name a cell on a narrow screen; the drafts' are not."""
    at = _compared(open_page, stage, draft_record(FIRST), _second(draft_record(ANOTHER)))
    at.segmented_control(key="lang").set_value("de").run()
    assert not at.exception
    figure, only_first, only_second = _rows(at, "Unterschied")
    assert "Andere Zahl oder anderer Name · Anderes Kennzeichen" in figure[0]
    assert '1 ✅<span class="cr-word"> Belegt</span></sup>' in figure[1]
    names = [re.findall(r'^<td data-name="(.*?)">', cell) for cell in figure]
    assert names == [["Unterschied"], ["Erster Entwurf"], ["Zweiter Entwurf"]]
    assert "Nur im ersten Entwurf" in only_first[0]
    assert FACTS[2] in only_first[1]
    assert "Nur im zweiten Entwurf" in only_second[0]
    assert "In beiden gleich, mit gleichem Kennzeichen: 1." in captions_of(at)


def test_the_same_words_may_have_another_badge(open_page, stage) -> None:
    """Each by its own record: nothing is carried from one draft to the other."""
    one = draft_record([Statement(FACTS[0])])
    two = _second(draft_record([Statement(FACTS[0], "unsupported")]))
    ((what, ours, theirs),) = _rows(_compared(open_page, stage, one, two))
    assert ">Another badge<" in what
    assert ("✅" in ours, "✅" in theirs) == (True, False)
    assert "⚠️" in theirs


def test_two_drafts_that_say_the_same_differ_in_nothing(open_page, stage) -> None:
    """A line says so, and there is no table."""
    of = draft_record(FIRST)
    at = _compared(open_page, stage, of, _second(of))
    assert NOTHING in captions_of(at)
    assert "Difference</th>" not in html_of(at)


def test_the_second_is_checked_as_the_first_was(open_page, stage) -> None:
    """Its question and the policy on its record, whatever is chosen by then."""
    one = replace(draft_record(FIRST), question="How much leave?")
    _compared(open_page, stage, one, _second(one))
    assert stage.questions[1] == "How much leave?"
    assert stage.policies == ["test-1", "test-1"]


@pytest.mark.parametrize("changed", ["corpus", "policy", "config", "models", "question"])
def test_drafts_that_were_checked_otherwise_are_not_compared(open_page, stage, changed) -> None:
    """The first is shown alone, and a line says why."""
    of = draft_record(FIRST)
    retrieval = replace(of.retrieval, settings={"corpus": "0" * 64})
    stricter = replace(of.policy, tau_entail=0.9)  # of the same name
    otherwise = {
        "corpus": {"retrieval": retrieval},
        "policy": {"policy": stricter},
        "config": {"config_hash": "0" * 64},
        "models": {"models": ()},
        "question": {"question": "Another?"},
    }
    at = _compared(open_page, stage, of, _second(replace(of, **otherwise[changed])))
    html = html_of(at)
    assert OTHERWISE in html
    assert html.count("statements are verified against") == 1
    assert "Difference</th>" not in html


def test_a_stricter_policy_takes_badges_from_both(open_page, stage, monkeypatch) -> None:
    """Both are drawn under the policy in force now, each derived again."""
    from ui import services

    of = draft_record([Statement(FACTS[0])])
    at = _compared(open_page, stage, of, _second(of))
    strict = replace(of.policy, name="test-1", tau_entail=0.99)
    monkeypatch.setattr(services, "policy_called", lambda _: strict)
    html = html_of(at.run())
    assert html.count("0 of 1 statement is verified against the documents.") == 2
    assert "cr-mark--verified" not in html


def test_a_forged_second_shows_nothing_of_itself(open_page, stage) -> None:
    """One line, and the first as it was."""
    of = draft_record(FIRST)
    at = _compared(open_page, stage, of, _second(draft_record(ANOTHER)))
    forged = json.loads(at.session_state[SECOND])
    forged["question"] = "Forged"
    at.session_state[SECOND] = json.dumps(forged).encode()
    html = html_of(at.run())
    assert "does not hold" in html
    assert "2 of 3 statements are verified" in html
    assert THIRTY not in html


@pytest.mark.parametrize(
    "error", [InputError("the draft is empty: write a sentence"), AuditError("the disk is full")]
)
def test_a_failed_second_leaves_the_first(open_page, stage, error) -> None:
    """The first is drawn as before, with a line that names what went wrong; so at the next run."""
    of = draft_record(FIRST)
    stage.export = export(of)
    at = open_page("draft")
    at = _press(at, "Check")
    before = html_of(at)
    stage.error = error
    for _ in range(2):
        at = _press(at, "Check and compare")
        html = html_of(at)
        assert NO_SECOND.partition("{error}")[0] in html
        assert str(error) in html
        assert at.session_state[CHECKED] == export(of)
        assert at.session_state[SECOND] == b""
        assert html_of(at).endswith(before[before.index("2 of 3 statements") :])
    stage.error = None
    at = _press(at, "Check")
    assert NO_SECOND.partition("{error}")[0] not in html_of(at)


def test_a_second_that_is_broken_off_leaves_the_first(open_page, stage) -> None:
    """By Cancel, another page or another language: the first is there, and a line says so."""
    of = draft_record(FIRST)
    stage.export = export(of)
    at = _press(open_page("draft"), "Check")
    stage.error = StopException()
    html = html_of(_press(at, "Check and compare").run())
    assert NO_SECOND.format(error=CANCELLED) in html
    assert "2 of 3 statements are verified" in html


def test_each_sides_chip_opens_its_own_drawer(open_page, stage) -> None:
    """Both have a claim 1."""
    at = _compared(open_page, stage, draft_record(FIRST), _second(draft_record(ANOTHER)), "debug")
    at.button(key="chip-verified-1").click().run()
    assert f'cr-inert--claim" dir="auto">{FACTS[0]}' in html_of(at)
    claim = at.query_params["claim"]
    at.button(key="chip-contradicted-1second-").click().run()
    assert at.query_params["claim"] != claim
    assert "Evidence against it" in [one.value for one in at.subheader]
    assert not at.exception


def test_the_comparison_is_closed(open_page, stage) -> None:
    """The first alone, as it was; the second's record stays in the log."""
    at = _compared(open_page, stage, draft_record(FIRST), _second(draft_record(ANOTHER)))
    at = _press(at, "Close the comparison")
    html = html_of(at)
    assert html.count("statements are verified against") == 1
    assert "Difference</th>" not in html
    assert at.session_state[CHECKED] == export(draft_record(FIRST))


HOSTILE = [(name, text) for name, text in hostile_strings() if text.strip()]


@pytest.mark.parametrize(("name", "text"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_hostile_drafts_stay_inert_in_the_table(open_page, stage, name, text) -> None:
    """In both drafts: no markup but ours in a cell, no mark that imitates the gate's."""
    one = draft_record([Statement(text, "unsupported"), Statement(FACTS[0])])
    other = f"{text} and 30 days of it"
    two = _second(draft_record([Statement(other, "unsupported"), Statement(FACTS[0])]))
    at = _compared(open_page, stage, one, two)
    html = html_of(at)
    assert html.count("cr-mark--verified") == 4, "a mark and a key in each, none in the table"
    for cell in (cell for row in _rows(at) for cell in row):
        own = re.sub(r"<sup.*?</sup>", "", cell, flags=re.DOTALL)
        assert set(re.findall(r"<(\w+)", own)) <= {"td", "span", "strong"}, name
        assert not re.search("[✅✔☑❌\u202a-\u202e\u2066-\u2069\u200b]", own)
        assert "cr-note--verified" not in cell
