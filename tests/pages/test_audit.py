"""Audit: the log's state, answers by filter, one opened, replay, changed documents, trends."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from builders import hostile_strings
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_cases import KEY, POLICY, TRUSTED, good_case, record, with_result
from page_stage import FakeServices, html_of

import ui.charts
from certirag.adapters.log_sql.sql_log import SqlAuditLog
from certirag.auditing.logged_answers import export_again
from certirag.errors import AuditError
from certirag.ports import NewEntry
from certirag.proof.certificate import AnswerRecord, statement_bytes
from certirag.proof.envelope import key_id
from certirag.proof.facets import TrendRow, facets_of
from certirag.proof.log import open_checkpoint, parse_leaf
from certirag.render import inert_html
from ui import services
from ui.audit import OWN_VIEWS, VIEWS
from ui.audit_answers import PAGE_SIZE
from ui.audit_held import compare, held_notes
from ui.audit_opened import STALE
from ui.thread import NOT_HERE

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def _logged(log: SqlAuditLog, number: int, **changes: object) -> AnswerRecord:
    """Log an answer as a server would; an odd *number* is one without a badge."""
    case = good_case() if number % 2 == 0 else with_result(good_case(), score=0.3)
    at = START + timedelta(days=5 * number)
    of = replace(
        record(case),
        trace_id=f"{number:032x}",
        created_at=at.isoformat(timespec="seconds"),
        **{"question": f"Question {number}?", **changes},
    )
    payload = statement_bytes(of)
    request = f"{number:032x}"[::-1]
    facets = facets_of(of, request=request, complete=True)
    signature = (key_id(KEY.public_key()), KEY.sign(_pae(payload)))
    detail = {"request": request, "complete": True}
    log.append(NewEntry("received", request, at, b"{}", detail={"of": "question"}))
    log.append(NewEntry("answer", of.trace_id, at, payload, signature, facets, detail))
    return of


def _pae(payload: bytes) -> bytes:
    return b"DSSEv1 28 application/vnd.in-toto+json %d %s" % (len(payload), payload)


@pytest.fixture
def log(stage, tmp_path, monkeypatch) -> SqlAuditLog:
    """Put a real log of six answers behind the page."""
    made = SqlAuditLog(f"sqlite:///{tmp_path}/audit.sqlite3", key=KEY)
    for number in range(6):
        _logged(made, number)
    shared = services.Shared(FakeServices(made))  # type: ignore[arg-type]
    monkeypatch.setattr(services, "shared", lambda: shared)
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "true")
    return made


def _view(open_page, name: str):
    at = open_page("audit")
    return at.segmented_control(key="audit-view").set_value(name).run()


def test_the_log_is_shown_and_verified_on_request(log, open_page) -> None:
    """Name, size and root at once; the whole of it when a reader asks."""
    at = open_page("audit")
    assert log.origin in html_of(at)
    assert str(log.size()) in html_of(at)
    assert "The log holds" not in html_of(at)
    at.button(key="verify-log").click().run()
    assert not at.exception
    assert "The log holds" in html_of(at)
    assert any("No checkpoint was compared" in caption.value for caption in at.caption)


def test_a_broken_log_is_said_to_be_broken(log, open_page, monkeypatch) -> None:
    """An entry that is not what its leaf commits to is named, and nothing holds."""
    whole = log.entries

    def changed(start: int = 0, stop: int | None = None):
        for entry in whole(start, stop):
            index = parse_leaf(entry.leaf).index
            yield replace(entry, content=b"another") if index == 4 else entry

    monkeypatch.setattr(log, "entries", changed)
    at = open_page("audit")
    at.button(key="verify-log").click().run()
    assert "The log does not hold" in html_of(at)
    assert "entry 4" in html_of(at)


def test_answers_are_asked_for(log, open_page) -> None:
    """By decision, score and words; a filter that asks for nothing says so."""
    at = _view(open_page, "Answers")
    assert all(f"Question {number}?" in html_of(at) for number in range(6))
    at.selectbox(key="audit-decision").set_value("Refused").run()
    assert "Question 1?" in html_of(at)
    assert "Question 2?" not in html_of(at)
    at.selectbox(key="audit-decision").set_value("Any").run()
    at.selectbox(key="audit-score").set_value("0.80").run()
    assert "Question 3?" in html_of(at)
    assert "Question 4?" not in html_of(at)
    at.selectbox(key="audit-score").set_value("Any").run()
    at.text_input(key="audit-about").set_value("nothing like it").run()
    assert "Question" not in html_of(at)
    assert any("No answer in the log" in info.value for info in at.info)
    assert not at.exception


def test_a_filter_that_cannot_be_read_is_one_line(log, open_page) -> None:
    """A malformed trace id is said to be one, and no answer is drawn."""
    at = _view(open_page, "Answers")
    at.text_input(key="audit-trace").set_value("zz").run()
    assert "is no trace id" in html_of(at)
    assert "Question 1?" not in html_of(at)
    assert not at.exception


def test_an_answer_is_opened_from_the_log(log, open_page) -> None:
    """Its badge is derived from the logged bytes; the mode is the reader's."""
    at = _view(open_page, "Answers")
    at.selectbox(key="audit-opened").set_value(f"{2:032x}").run()
    assert not at.exception
    assert [b.key for b in at.button if (b.key or "").startswith("chip-verified")]
    assert f"Trace {2:032x}" in html_of(at)


def test_a_revoked_answer_says_so(log, open_page) -> None:
    """Before anything of it is read."""
    target = parse_leaf(log.find(f"{2:032x}").leaf).index
    detail = {"target": target, "reason": "stale", "authoriser": ""}
    log.append(NewEntry("revoke", f"{2:032x}", START, detail=detail))
    at = _view(open_page, "Answers")
    assert "[revoked] Question 2?" in html_of(at)
    _logged(log, 7, question="Question 2?")
    at.selectbox(key="audit-opened").set_value(f"{2:032x}").run()
    html = html_of(at)
    assert html.index("Revoked: its documents changed") < html.index("Question 2?</div>")
    newest = parse_leaf(log.find(f"{7:032x}").leaf).index
    assert f"entry {newest}, Refused, trace {7:032x}" in html


def test_pages_are_turned(log, open_page) -> None:
    """Older ones come page by page, and back."""
    for number in range(6, 6 + PAGE_SIZE):
        _logged(log, number)
    at = _view(open_page, "Answers")
    assert "Question 0?" not in html_of(at)
    at.button(key="audit-older").click().run()
    assert "Question 0?" in html_of(at)
    assert at.button(key="audit-older").disabled
    at.button(key="audit-newer").click().run()
    assert "Question 0?" not in html_of(at)


def test_a_replay_says_what_would_be_lost(log, open_page) -> None:
    """Under strict-2 the lone sentence's score stays; under the same rules nothing is gained."""
    at = _view(open_page, "Replay")
    for name in at.selectbox(key="replay-policy").options:
        at.selectbox(key="replay-policy").set_value(name).run()
        at.button(key="replay").click().run()
        assert not at.exception
        html = html_of(at)
        assert "<dt>Answers</dt><dd>6</dd>" in html
        assert "<dt>Badges on record</dt><dd>3</dd>" in html
        assert "<dt>Only if looser</dt><dd>0</dd>" in html
        assert "gained" not in html


def test_a_looser_policy_is_said_to_grant_nothing(log, open_page) -> None:
    """What it would add is listed as what would not be shown here, beside no badge."""
    strict = replace(POLICY, name="tight", tau_entail=1.0)
    case = replace(good_case(), policy=strict)
    made = replace(record(case), trace_id="e" * 32)
    _logged(log, 50, policy=strict, decisions=made.decisions, answer=made.answer)
    at = _view(open_page, "Replay")
    at.selectbox(key="replay-policy").set_value("base-1").run()
    assert any("looser than the one in force" in caption.value for caption in at.caption)
    at.button(key="replay").click().run()
    assert not at.exception
    html = html_of(at)
    assert "<dt>Only if looser</dt><dd>1</dd>" in html
    assert "Looser: nothing of this would be shown here" in html
    assert not [b for b in at.button if (b.key or "").startswith("chip-")]


def test_an_address_opens_one_answer(log, open_page) -> None:
    """Whatever the view was, once; closing it takes it from the address."""
    at = open_page("audit", trace=f"{2:032x}")
    assert at.segmented_control(key="audit-view").value == "Answers"
    assert f"Trace {2:032x}" in html_of(at)
    at.button(key="audit-close").click().run()
    assert f"Trace {2:032x}" not in html_of(at)
    assert "trace" not in at.query_params
    at.selectbox(key="audit-opened").set_value(f"{4:032x}").run()
    assert at.query_params["trace"] == f"{4:032x}"
    assert f"Trace {4:032x}" in html_of(at)
    at.segmented_control(key="audit-view").set_value("Trends").run()
    assert f"Trace {4:032x}" not in html_of(at)


@pytest.mark.parametrize("asked", ["<b>x</b>", "f" * 31, "F" * 32, "f" * 33])
def test_an_address_of_another_form_is_dropped(log, open_page, asked) -> None:
    """Nothing is looked up for it, and nothing of it is drawn."""
    at = open_page("audit", trace=asked)
    assert not at.exception
    assert at.segmented_control(key="audit-view").value == "Log"
    assert "trace" not in at.query_params
    assert asked not in html_of(at)


def test_an_answer_that_is_not_there_is_said_not_to_be(log, open_page) -> None:
    """In words of ours: the address is not repeated."""
    at = open_page("audit", trace="f" * 32)
    assert "The log has no answer of that trace id" in html_of(at)
    assert "f" * 32 not in html_of(at)


def test_an_answer_whose_row_says_otherwise_is_not_shown(log, open_page, monkeypatch) -> None:
    """Queries read a table that nobody signed: the opened record decides."""
    found = log.search

    def changed(query, **named):
        page = found(query, **named)
        rows = tuple(replace(r, facets=replace(r.facets, decision="REJECT")) for r in page.rows)
        return replace(page, rows=rows)

    monkeypatch.setattr(log, "search", changed)
    at = open_page("audit", trace=f"{2:032x}")
    assert "differs from its signed record" in html_of(at)
    assert not [b for b in at.button if (b.key or "").startswith("chip-")]


def test_filters_are_kept_while_views_change_and_can_be_cleared(log, open_page) -> None:
    """An auditor asks once, and looks at answers, trends and a replay of the same ones."""
    at = _view(open_page, "Answers")
    at.selectbox(key="audit-decision").set_value("Refused").run()
    at.text_input(key="audit-about").set_value("question").run()
    at.segmented_control(key="audit-view").set_value("Log").run()
    at.segmented_control(key="audit-view").set_value("Trends").run()
    assert at.selectbox(key="audit-decision").value == "Refused"
    assert at.text_input(key="audit-about").value == "question"
    assert any(caption.value == "3 answers" for caption in at.caption)
    at.button(key="audit-clear").click().run()
    assert any(caption.value == "6 answers" for caption in at.caption)


def test_a_log_without_answers_says_so(log, open_page, tmp_path, monkeypatch) -> None:
    """A fresh log holds, has one entry, and nothing to list."""
    fresh = SqlAuditLog(f"sqlite:///{tmp_path}/fresh.sqlite3", key=KEY)
    shared = services.shared()
    fake = replace(shared.services, audit_log=fresh)
    monkeypatch.setattr(services, "shared", lambda: services.Shared(fake))
    at = open_page("audit")
    assert any("has just begun" in caption.value for caption in at.caption)
    at.button(key="verify-log").click().run()
    assert "The log holds" in html_of(at)
    for view in ("Answers", "Trends", "Replay"):
        at.segmented_control(key="audit-view").set_value(view).run()
        assert any("holds no answer yet" in info.value for info in at.info)
        assert not at.exception


def test_a_checkpoint_of_a_stranger_is_said_not_to_hold(log, open_page, monkeypatch) -> None:
    """Nothing of it is drawn as the log's state, and the log can still be verified."""
    stranger = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
    shared = services.shared()
    trusted = {key_id(stranger.public_key()): stranger.public_key()}
    fake = replace(shared.services, trusted=trusted)
    monkeypatch.setattr(services, "shared", lambda: services.Shared(fake))
    at = open_page("audit")
    html = html_of(at)
    assert "The newest checkpoint does not hold" in html
    assert "<dt>Root</dt>" not in html
    at.button(key="verify-log").click().run()
    assert "The log does not hold" in html_of(at)
    at = open_page("audit", trace=f"{2:032x}")
    assert not [b for b in at.button if (b.key or "").startswith("chip-")]


@pytest.mark.parametrize("view", VIEWS)
def test_a_database_that_is_gone_is_one_line(log, open_page, monkeypatch, view) -> None:
    """Every view says it plainly and draws nothing that it no longer knows."""
    at = _view(open_page, view)

    def gone(*_given, **_named):
        raise AuditError("the audit log cannot be read: the file is gone")

    reads = ("checkpoint", "size", "count", "search", "find", "documents", "trend", "entries")
    for name in (*reads, "leaves_of"):
        monkeypatch.setattr(log, name, gone)
    at.run()
    assert not at.exception
    assert "the file is gone" in html_of(at)
    assert "Question" not in html_of(at)


def test_kept_checkpoints_are_read_out_of_files(log) -> None:
    """One, several in a file, the one of an export; anything else is one that does not fit."""
    first = log.checkpoint()
    _logged(log, 8)
    second = log.checkpoint()
    export = export_again(log, f"{2:032x}")
    newest = open_checkpoint(second, TRUSTED.values())
    assert held_notes(f"{first}\n{second}".encode()) == (first, second)
    assert held_notes(first.replace("\n", "\r\n").encode()) == (first,)
    assert held_notes(export) == (second,)
    assert all(compare(log, newest, note, TRUSTED).fits for note in (first, second))
    for content in (b"", b"{}", b"{", b"x", b"\xff\xfe", b'{"log": 1}', first[:-5].encode()):
        found = [compare(log, newest, note, TRUSTED) for note in held_notes(content)]
        assert found
        assert not any(one.fits for one in found)


def test_a_kept_checkpoint_that_does_not_fit_is_said_why(log, tmp_path) -> None:
    """Of another log, of more entries than there are, of another history."""
    newest = open_checkpoint(log.checkpoint(), TRUSTED.values())
    other = SqlAuditLog(f"sqlite:///{tmp_path}/other.sqlite3", key=KEY)
    fork = SqlAuditLog(f"sqlite:///{tmp_path}/fork.sqlite3", key=KEY, origin=log.origin)
    for number in (1, 2):
        _logged(fork, number)
    before = compare(log, newest, fork.checkpoint(), TRUSTED)
    for number in range(3, 9):
        _logged(fork, number)
    after = compare(log, newest, fork.checkpoint(), TRUSTED)
    stranger = compare(log, newest, other.checkpoint(), TRUSTED)
    assert [one.fits for one in (before, after, stranger)] == [False] * 3
    assert "another root" in before.line
    assert "cut off" in after.line
    assert "another log" in stranger.line


def test_changed_documents_are_listed(log, open_page, monkeypatch) -> None:
    """The corpus holds the document with other bytes: the answers that lean on it are stale."""
    at = _view(open_page, "Changed documents")
    assert any("No answer leans" in caption.value for caption in at.caption)
    monkeypatch.setattr("ui.audit_changed.digests_of", lambda index: {"leave": "0" * 64})
    at.run()
    assert "Leave policy" in html_of(at)
    assert "Question 2?" in html_of(at)
    assert at.button(key="recheck")
    assert not at.exception


def test_trends_are_drawn(log, open_page) -> None:
    """A chart of weeks, and a table by topic."""
    at = _view(open_page, "Trends")
    assert not at.exception
    (chart,) = at.get("plotly_chart")
    figure = json.loads(chart.proto.spec)
    assert [trace["name"] for trace in figure["data"]] == [
        "Nothing left out",
        "Part left out",
        "Refused",
        "Mean score",
    ]
    assert figure["data"][0]["x"][0] == "2026-W10"
    assert "Leave policy" in html_of(at)


def test_a_chart_takes_weeks_only(monkeypatch) -> None:
    """What does not look like a week is not drawn, whatever a database says."""
    drawn = []
    monkeypatch.setattr(ui.charts.st, "plotly_chart", lambda figure, **_: drawn.append(figure))
    rows = [
        TrendRow((name,), 1, 0.5, {"ACCEPT": 1})
        for name in ("2026-W09", "<b>2026-W10</b>", "2026-W1", "x")
    ]
    ui.charts.draw_weeks(rows)
    assert [list(trace.x) for trace in drawn[0].data] == [["2026-W09"]] * 4


@pytest.mark.parametrize(("_name", "text"), hostile_strings()[::9])
def test_hostile_text_stays_inert(log, open_page, _name, text) -> None:
    """A question and a title from outside are drawn through the one inert path, in every view."""
    case = good_case()
    chunks = tuple(
        replace(c, source=replace(c.source, title=text)) for c in record(case).retrieval.chunks
    )
    retrieval = replace(record(case).retrieval, chunks=chunks)
    _logged(log, 40, retrieval=retrieval)
    for view in ("Answers", "Trends", "Replay"):
        at = _view(open_page, view)
        assert not at.exception
        for sink in (*at.markdown, *at.caption, *at.header, *at.subheader, *at.title, *at.info):
            assert text not in sink.value
    if "\x00" not in text and len(text) < 400:  # a database holds no U+0000, an index no novel
        assert inert_html(text) in html_of(_view(open_page, "Trends"))


def _as_session(open_page, *own: int):
    """Open the page as a session that got the answers *own*."""
    at = open_page("audit")
    at.session_state["own_answers"] = tuple(f"{number:032x}" for number in own)
    return at.run()


def test_a_session_sees_its_own_answers_alone(log, open_page, monkeypatch) -> None:
    """What others asked is in no view, filter or download, unless the operator has opened it."""
    monkeypatch.delenv("CERTIRAG_AUDIT_EVERYONE")
    at = _as_session(open_page, 2, 5)
    assert at.segmented_control(key="audit-view").options == list(OWN_VIEWS)
    for view in OWN_VIEWS[1:]:
        shown = at.segmented_control(key="audit-view").set_value(view).run()
        assert not shown.exception
        html = html_of(shown)
        assert not any(f"Question {number}?" in html for number in (0, 1, 3, 4))
    shown = at.segmented_control(key="audit-view").set_value("Answers").run()
    assert all(f"Question {number}?" in html_of(shown) for number in (2, 5))
    assert len(shown.selectbox(key="audit-opened").options) == 2
    shown.text_input(key="audit-trace").set_value(f"{3:032x}").run()
    assert "Question 3?" not in html_of(shown)
    assert any("No answer in the log is asked for" in info.value for info in shown.info)


def test_a_new_session_has_no_answers(log, open_page, monkeypatch) -> None:
    """It is told that it has none, and not that the log has none."""
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "false")
    at = _view(open_page, "Answers")
    assert any("This session has no answer yet" in info.value for info in at.info)
    assert "Question" not in html_of(at)


def test_the_page_can_be_taken_away(log, open_page, monkeypatch) -> None:
    """A server whose users may not read each other's questions has no such page, by no address."""
    assert services.offers_audit()
    monkeypatch.setenv("CERTIRAG_AUDIT_PAGE", "false")
    assert not services.offers_audit()
    at = open_page("audit", trace=f"{2:032x}")
    assert [info.value for info in at.info] == ["This server has no audit page."]
    assert "Question" not in html_of(at)
    assert "audit-view" not in [control.key for control in at.segmented_control]
    monkeypatch.setenv("CERTIRAG_MAX_CLAIMS", "many")
    assert not services.offers_audit()


def _at_address(open_page, trace_id: str, page: str = "ask"):
    at = open_page(page, trace=trace_id)
    assert not at.exception
    return at


@pytest.mark.parametrize("page", ["ask", "draft"])
def test_the_address_of_an_answer_shows_it_again(log, open_page, page: str) -> None:
    """In a session that never asked it, its badge derived again; the drawer opens by it too."""
    at = _at_address(open_page, f"{2:032x}", page)
    assert "cr-status--verified" in html_of(at) or any("Verified" in b.label for b in at.button)
    assert at.query_params["trace"] == f"{2:032x}"
    opened = open_page(page, trace=f"{2:032x}", claim="c1")
    assert "Evidence it stands on" in [heading.value for heading in opened.subheader]


@pytest.mark.parametrize("trace_id", ["f" * 32, "no trace", "A" * 32, "../../x"])
def test_an_address_that_names_no_answer_shows_none(log, open_page, trace_id: str) -> None:
    """Nothing of the address is drawn."""
    at = _at_address(open_page, trace_id)
    assert not any("Verified" in button.label for button in at.button)
    assert trace_id not in html_of(at)


def test_a_revoked_answer_says_so_at_its_address(log, open_page, monkeypatch) -> None:
    """Its standing of today is above it, whatever its record says."""
    search = log.search

    def revoked(query, **named):
        page = search(query, **named)
        return replace(page, rows=tuple(replace(row, revoked="stale") for row in page.rows))

    monkeypatch.setattr(log, "search", revoked)
    assert STALE in html_of(_at_address(open_page, f"{2:032x}"))


def test_no_address_opens_a_log_that_is_not_offered(log, open_page, monkeypatch) -> None:
    """Save for what this session got itself."""
    monkeypatch.setenv("CERTIRAG_AUDIT_PAGE", "false")
    at = _at_address(open_page, f"{2:032x}")
    assert NOT_HERE in html_of(at)
    at.session_state["own_answers"] = (f"{2:032x}",)
    at.query_params["trace"] = f"{2:032x}"
    assert any("Verified" in button.label for button in at.run().button)


def test_what_this_session_asked_before_is_opened_again(log, open_page) -> None:
    """Its own questions alone, the newest first."""
    at = open_page("ask")
    at.session_state["own_answers"] = tuple(f"{number:032x}" for number in (0, 2, 4))
    at.query_params["trace"] = f"{4:032x}"
    at.run()
    html = html_of(at)
    assert html.index("Question 2?") < html.index("Question 0?")
    assert "Question 3?" not in html
    at.button(key="earlier-2").click().run()
    assert at.query_params["trace"] == f"{0:032x}"
    assert "Question 4?" in html_of(at)


def test_an_entry_that_does_not_hold_leaves_no_other_answer(log, open_page, monkeypatch) -> None:
    """One line in place of what stood there: the address names another answer now."""
    at = _at_address(open_page, f"{2:032x}")

    def broken(trace_id: str) -> None:
        raise AuditError("the answer was erased")

    monkeypatch.setattr(log, "find", broken)
    at.query_params["trace"] = f"{4:032x}"
    at.run()
    assert not at.exception
    assert "the answer was erased" in html_of(at)
    assert not any("Verified" in button.label for button in at.button)
