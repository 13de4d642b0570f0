"""Each claim's way to its document: in Debug, on the audit page when asked, hostile texts inert."""

from __future__ import annotations

import pickle
from functools import partial

import pytest
from builders import answer_export, hostile_record
from gate_cases import export
from page_stage import STATEMENTS, captions_of, html_of, ours_of
from test_audit import log  # noqa: F401  # a fixture

import ui.times
from ui.ask import ANSWER
from ui.times import NO_TIMES, StageClock, keep_times

HEADING = "From claim to document"


def _asked(open_page, **query):
    at = open_page("ask", **query)
    at.text_input(key="question").set_value("How much leave?")
    at = next(button for button in at.button if button.label == "Ask").click().run()
    assert not at.exception
    return at


def _headings(at) -> list[str]:
    return [heading.value for heading in (*at.header, *at.subheader)]


def _opens(at) -> list[str]:
    return [b.label for b in at.button if b.label.startswith("Evidence of claim")]


@pytest.mark.parametrize("mode", ["strict", "mixed"])
def test_ways_are_drawn_in_debug_alone(open_page, mode) -> None:
    """An answer that is read has none, and no claim's text stands there a second time."""
    at = _asked(open_page, mode=mode)
    assert HEADING not in _headings(at)
    assert "cr-way" not in html_of(at)


def test_each_claim_has_its_way_and_its_stage(open_page) -> None:
    """One passed, one failed at verification, one contradicted; each opens the drawer."""
    at = _asked(open_page, mode="debug")
    html = html_of(at)
    assert HEADING in _headings(at)
    assert html.count('<ol class="cr-way">') == len(STATEMENTS)
    assert "Claim 1</span>" in html
    assert "Claim 2 failed at verification</span>" in html
    assert "Claim 3 failed at verification</span>" in html
    assert html.count("cr-step-here") == 2
    assert _opens(at) == [f"Evidence of claim {n}" for n in (1, 2, 3)]
    at.button(key="way-2-open").click().run()
    assert at.query_params["claim"] in ("c2", ["c2"])
    assert "Nearest evidence for it" in _headings(at)


def test_the_claims_of_one_stage_are_shown_alone(open_page) -> None:
    """The filter keeps what failed there; an empty stage says so."""
    at = _asked(open_page, mode="debug")
    at.segmented_control(key="failed-at").set_value("Verification").run()
    assert _opens(at) == ["Evidence of claim 2", "Evidence of claim 3"]
    at.segmented_control(key="failed-at").set_value("Retrieval").run()
    assert _opens(at) == []
    assert "No claim failed at this stage." in captions_of(at)


def _times(at, last: str = "Share") -> list[list[str]]:
    """Return the cells of the table of times, its *last* column so named, row by row, or []."""
    tables = [e.proto.body for e in at.get("html") if f'scope="col">{last}</th>' in e.proto.body]
    return [
        [cell.split("</span>")[0].split(">")[-1] for cell in row.split("<td ")[1:]]
        for table in tables
        for row in table.split("<tr>")[2:]
    ]


def _tell(stage, monkeypatch, *told: tuple[float, int]) -> None:
    """Let the fake pipeline tell stages, each (seconds since the last, units done)."""
    import ui.run

    now = [0.0]
    monkeypatch.setattr(ui.run, "StageClock", partial(StageClock, lambda: now[0]))
    answer = stage.answer

    def slow(*given, progress, **named):
        now[0] += 60  # waiting for others
        for seconds, done in told[:-1]:
            progress("**a line**", done, 5)
            now[0] += seconds
        signed = answer(*given, progress=lambda *_: progress("x", told[-1][1], 5), **named)
        now[0] += told[-1][0]
        return signed

    monkeypatch.setattr(stage, "answer", slow)
    monkeypatch.setattr(ui.run, "verify_draft", slow)


def test_each_stage_has_its_time_on_the_page_that_asked(open_page, stage, monkeypatch) -> None:
    """Seconds between what was told, with shares; waiting for others is no stage."""
    _tell(stage, monkeypatch, (0.3, 1), (0.62, 2), (1.9, 3), (0.004, 5))
    at = _asked(open_page, mode="debug")
    assert _times(at) == [
        ["Search", "0.3 s", "11 %"],
        ["Choosing sentences", "0.6 s", "22 %"],
        ["Checking claims", "1.9 s", "67 %"],
        ["Decision and record", "under 0.1 s", "under 1 %"],
        ["Together", "2.8 s", "100 %"],
    ]
    assert "search 0.3 s · choosing sentences 0.6 s · checking claims 1.9 s" in html_of(at)
    assert NO_TIMES not in captions_of(at)
    assert pickle.dumps(at.session_state["stage_times"])
    at.run()
    assert len(_times(at)) == 5
    at.segmented_control(key="lang").set_value("de").run()
    assert _times(at, "Anteil")[1:4] == [
        ["Auswahl der Sätze", "0.6 s", "22 %"],
        ["Prüfung der Aussagen", "1.9 s", "67 %"],
        ["Entscheidung und Aufzeichnung", "unter 0.1 s", "unter 1 %"],
    ]


def test_a_checked_draft_has_its_own_stages(open_page, stage, monkeypatch) -> None:
    """What is told of one stage in two steps is one row."""
    _tell(stage, monkeypatch, (0.5, 1), (1.0, 3), (1.0, 4), (0.5, 5))
    at = open_page("draft", mode="debug")
    at.text_area(key="draft").set_value("Leave is 27 days.")
    next(button for button in at.button if button.label == "Check").click().run()
    assert [row[:2] for row in _times(at)] == [
        ["Splitting the draft", "0.5 s"],
        ["Checking claims", "2.0 s"],
        ["Decision and record", "0.5 s"],
        ["Together", "3.0 s"],
    ]


def test_another_answer_has_not_the_times_of_this_one(open_page, stage, monkeypatch) -> None:
    """An answer read back has none, whatever was timed before; the page says why."""
    _tell(stage, monkeypatch, (0.3, 1), (0.3, 5))
    at = _asked(open_page, mode="debug")
    assert _times(at)
    at.session_state[ANSWER] = answer_export(STATEMENTS, trace_id="b" * 32)
    at.run()
    assert _times(at) == []
    assert NO_TIMES in captions_of(at)


def test_a_session_keeps_the_newest_times_only(monkeypatch) -> None:
    """However many answers there are, it holds so many and no more."""
    state = {}
    monkeypatch.setattr(ui.times.st, "session_state", state)
    monkeypatch.setattr(ui.times, "MOST_TIMED", 3)
    for number in (1, 2, 3, 1, 4):
        keep_times(f"{number:032x}", (("search", float(number)),))
    assert [one for one, _ in state["stage_times"]] == [f"{number:032x}" for number in (3, 1, 4)]


def test_times_that_are_no_times_are_none() -> None:
    """A run that told no stage has no table, and no share of nothing is a fault."""
    ticks = iter([0.0, 5.0, 5.0, 6.0, 6.0])
    clock = StageClock(lambda: next(ticks))
    assert clock.taken() == ()
    clock.tell("search")
    assert clock.taken() == (("search", 1.0),)
    assert ui.times._share(0.0, 0.0) == "under 1 %"


def test_hostile_texts_stay_text_on_the_way(open_page, stage) -> None:
    """No tag, and no badge beyond the gate's chips; labels are ours whatever a claim says."""
    of = hostile_record()
    stage.export = export(of)
    at = _asked(open_page, mode="debug")
    ways = [e.proto.body for e in at.get("html") if 'class="cr-way"' in e.proto.body]
    assert len(ways) == len(of.claim_ir.claims)
    for way in ways:
        said, classes = ours_of(way)
        assert said.startswith("ClaimPassageDocument")
        assert "Verified" not in said
        assert classes <= {
            *("cr-way", "cr-stop", "cr-stop-name", "cr-odd"),
            *("cr-inert", "cr-inert--entry", "cr-inert--beside"),
        }
    assert _opens(at) == [f"Evidence of claim {n:d}" for n in range(1, len(ways) + 1)]


def test_the_audit_page_draws_ways_when_asked(log, open_page) -> None:  # noqa: F811  # the fixture
    """In any mode, of the claims that the mode draws; not before a reader asks for it."""
    at = open_page("audit", trace=f"{1:032x}")
    assert HEADING not in _headings(at)
    at.toggle(key="ways").set_value(True).run()
    assert not at.exception
    assert HEADING in _headings(at)
    assert "failed at verification" in html_of(at)
    assert NO_TIMES in captions_of(at)
    assert _times(at) == []


def test_contradicted_claims_stay_out_of_the_audit_page_s_ways(
    log,  # noqa: F811  # the fixture
    open_page,
    monkeypatch,
) -> None:
    """What a mode hides has no way there; Debug draws all of them and needs no toggle."""
    import ui.audit_opened

    monkeypatch.setattr(ui.audit_opened, "export_again", lambda *_: answer_export(STATEMENTS))
    at = open_page("audit", trace=f"{2:032x}")
    at.toggle(key="ways").set_value(True).run()
    assert _opens(at) == ["Evidence of claim 1", "Evidence of claim 2"]
    assert "30 days" not in html_of(at)
    at.segmented_control(key="mode").set_value("debug").run()
    assert len(_opens(at)) == len(STATEMENTS)
    assert "ways" not in [toggle.key for toggle in at.toggle]
