"""Audit: the log's state, answers by filter, one opened, replay, changed documents, trends."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from builders import hostile_strings
from gate_cases import KEY, POLICY, TRUSTED, good_case, record, with_result
from page_stage import html_of

import ui.charts
from certirag.adapters.audit_sql import SqlAuditLog
from certirag.core.certificate import AnswerRecord, statement_bytes
from certirag.core.envelope import key_id
from certirag.core.facets import TrendRow, facets_of
from certirag.core.log import parse_leaf
from certirag.ports import NewEntry
from certirag.render import inert_html
from ui import services
from ui.audit_answers import PAGE_SIZE

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def _logged(log: SqlAuditLog, number: int, **changes: object) -> AnswerRecord:
    """Log an answer as a server would; an odd *number* is one without a badge."""
    case = good_case() if number % 2 == 0 else with_result(good_case(), score=0.3)
    at = START + timedelta(days=5 * number)
    of = replace(
        record(case),
        trace_id=f"{number:032x}",
        question=f"Question {number}?",
        created_at=at.isoformat(timespec="seconds"),
        **changes,
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
    fake = SimpleNamespace(
        audit_log=made, trusted=TRUSTED, policy=POLICY, settings=None, models=(), writer=None
    )
    shared = services.Shared(fake)  # type: ignore[arg-type]
    monkeypatch.setattr(services, "shared", lambda: shared)
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
    at.selectbox(key="audit-decision").set_value("REJECT").run()
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
    assert "[stale] Question 2?" in html_of(at)
    at.selectbox(key="audit-opened").set_value(f"{2:032x}").run()
    html = html_of(at)
    assert html.index("Revoked: its documents changed") < html.index("Question 2?</div>")


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
        assert "<dt>Badges</dt><dd>3</dd>" in html
        assert "<dt>Would be gained</dt><dd>0</dd>" in html


def test_changed_documents_are_listed(log, open_page, monkeypatch) -> None:
    """The corpus holds the document with other bytes: the answers that lean on it are stale."""
    at = _view(open_page, "Changed documents")
    assert any("No answer leans" in caption.value for caption in at.caption)
    monkeypatch.setattr("ui.audit_acts.digests_of", lambda index: {"leave": "0" * 64})
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
        "ACCEPT",
        "STRIP",
        "REJECT",
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
        for sink in (*at.markdown, *at.caption, *at.subheader, *at.title, *at.info):
            assert text not in sink.value
    if "\x00" not in text and len(text) < 400:  # a database holds no U+0000, an index no novel
        assert inert_html(text) in html_of(_view(open_page, "Trends"))


def test_the_page_can_be_taken_away(monkeypatch) -> None:
    """A server whose users may not read each other's questions has no such page."""
    assert services.offers_audit()
    monkeypatch.setenv("CERTIRAG_ENABLE_AUDIT_PAGE", "false")
    assert not services.offers_audit()
    monkeypatch.setenv("CERTIRAG_MAX_CLAIMS", "many")
    assert not services.offers_audit()
