"""Evaluation: which runs are kept, their figures at each threshold, and their rows down to each claim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import hostile_strings
from measured_runs import (
    BROKEN,
    CLAIMS_OF_A_HOSTILE_ROW,
    four_rows,
    hostile_rows,
    measured_row,
    write_run,
)
from page_stage import captions_of, html_of, ours_of
from streamlit.testing.v1 import AppTest

from certirag.errors import InputError
from certirag.eval.systems import systems_of
from certirag.render import inert_html
from certirag.render.badge import _WORDS
from ui import evaluation_rows
from ui.contract_text import RULE_TITLES
from ui.evaluation import CLOSED, VIEWS
from ui.evaluation_runs import NO_RUN, TOO_MANY
from ui.evaluation_words import SYSTEM_WORDS

OpenPage = Callable[..., AppTest]


@pytest.fixture
def runs(stage, tmp_path, monkeypatch) -> Path:
    """Return the folder of the runs of a server that shows them to everybody."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path))
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "true")
    return tmp_path / "runs"


def _rows(at: AppTest) -> AppTest:
    return at.segmented_control(key="evaluation-part").set_value("Rows").run()


def _statements(at: AppTest) -> list[int]:
    """Return the numbers of the rows that the list shows."""
    labels = [b.label for b in at.button if (b.key or "").startswith("evaluation-open-")]
    return [int(label.removeprefix("Open row ")) - 1 for label in labels]


def _facts(at: AppTest) -> str:
    return html_of(at).replace("<dt>", "").replace("</dt><dd>", "=")


def test_it_is_closed_unless_everybody_may_see(runs, open_page, monkeypatch) -> None:
    """Runs hold texts: no word of one is drawn, and a sentence says how to open the page."""
    write_run(runs / "one")
    for variable, value in (("CERTIRAG_AUDIT_EVERYONE", "false"), ("CERTIRAG_AUDIT_PAGE", "false")):
        monkeypatch.setenv(variable, value)
        at = open_page("evaluation")
        assert not at.exception
        assert not at.selectbox
        assert "notice" not in html_of(at)
        assert len(at.info) == 1
        assert (at.info[0].value == CLOSED) == (variable == "CERTIRAG_AUDIT_EVERYONE")
        monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "true")
    monkeypatch.setenv("CERTIRAG_AUDIT_EVERYONE", "perhaps")
    assert not open_page("evaluation").selectbox


def test_without_a_run_it_says_how_to_make_one(runs, open_page) -> None:
    """Also where there is not even the folder."""
    for _ in range(2):
        at = open_page("evaluation")
        assert [info.value for info in at.info] == [NO_RUN]
        assert not at.exception
        runs.mkdir(exist_ok=True)


def test_a_run_says_what_was_measured(runs, open_page) -> None:
    """Verifier, policy and data at the head, the systems below, the figures at its own threshold."""
    write_run(runs / "one")
    at = open_page("evaluation")
    assert not at.exception
    html = _facts(at)
    assert "labelled pairs (notice.jsonl); verifier by-hand, version 7; policy" in html
    assert "CertiRAG Strict" in html
    assert "1 of 2: 50.0% (1.3% to 98.7%)" in html
    assert "Badges=2" in html
    assert "Wrong badges=1" in html
    assert "Lost true rows=1" in html
    assert [chart.proto.id for chart in at.get("plotly_chart")]


def test_the_threshold_is_moved(runs, open_page) -> None:
    """Above 0.90 the wrong badge is gone; between two that were tried, the next one is named."""
    write_run(runs / "one")
    at = open_page("evaluation")
    at.slider(key="evaluation-tau").set_value(0.95).run()
    assert "Badges=1" in _facts(at)
    assert "1 of 1: 100.0%" in _facts(at)
    assert "The run's own policy asks for 0.85 instead." in captions_of(at)
    at.slider(key="evaluation-tau").set_value(0.92).run()
    assert "Badges=2" in _facts(at)
    assert any("Not measured at 0.92: these are the figures of 0.90" in c for c in captions_of(at))
    at.slider(key="evaluation-tau").set_value(1.0).run()
    assert not at.exception


def test_figures_are_of_one_source_where_it_is_chosen(runs, open_page) -> None:
    """The wrong badge is in the handbooks."""
    write_run(runs / "one")
    at = open_page("evaluation")
    at.selectbox(key="evaluation-source").set_value("contracts").run()
    assert "Wrong badges=0" in _facts(at)
    assert _statements(_rows(at)) == [0, 2]


def test_rows_are_filtered(runs, open_page) -> None:
    """By each filter, by words, and all of them taken away again."""
    write_run(runs / "one")
    at = _rows(open_page("evaluation"))
    assert _statements(at) == [0, 1, 2, 3]
    for key, value, found in (
        ("state", "UNVERIFIED", [2, 3]),
        ("stage", "verification", [2, 3]),
        ("gold", "entailed", [0, 2]),
        ("label", "entailed", [0, 1]),
        ("rule", "entailed", [2, 3]),
    ):
        at.selectbox(key=f"evaluation-{key}").set_value(value).run()
        assert _statements(at) == found, key
        at.button(key="evaluation-clear").click().run()
        assert _statements(at) == [0, 1, 2, 3]
    at.text_input(key="evaluation-words").set_value("STATEMENT 2").run()
    assert _statements(at) == [2]
    at.text_input(key="evaluation-words").set_value("nothing like it").run()
    assert _statements(at) == []
    assert any("No row is asked for" in info.value for info in at.info)
    assert not at.exception


def test_a_figure_leads_down_to_its_rows(runs, open_page) -> None:
    """The wrong badge, and the true row that was lost, at the threshold that was chosen."""
    write_run(runs / "one")
    at = open_page("evaluation")
    at.button(key="evaluation-to-wrong").click().run()
    assert _statements(at) == [1]
    at.button(key="evaluation-clear").click().run()
    at.segmented_control(key="evaluation-part").set_value("Figures").run()
    at.button(key="evaluation-to-lost").click().run()
    assert _statements(at) == [2]
    at.segmented_control(key="evaluation-part").set_value("Figures").run()
    at.slider(key="evaluation-tau").set_value(0.95).run()
    assert "evaluation-to-wrong" not in {button.key for button in at.button}
    _rows(at).toggle(key="evaluation-lost").set_value(False).run()
    at.toggle(key="evaluation-wrong").set_value(True).run()
    assert _statements(at) == []
    assert any("counted at 0.95" in caption for caption in captions_of(at))


def test_a_row_is_opened(runs, open_page) -> None:
    """Its claim, scores, evidence, what speaks against it and why it failed; and the next of those asked for."""
    write_run(runs / "one")
    at = _rows(open_page("evaluation"))
    at.toggle(key="evaluation-lost").set_value(True).run()
    at.toggle(key="evaluation-lost").set_value(False).run()
    at.selectbox(key="evaluation-state").set_value("UNVERIFIED").run()
    at.button(key="evaluation-open-2").click().run()
    assert not at.exception
    html = _facts(at)
    assert at.header[0].value == "Row 3"
    for text in (
        "Notice is given three months ahead.",
        "Notice is given at any time.",
        "supported with 0.30; 0.85 is needed",
        RULE_TITLES["entailed"],
        "State=without a badge",
        "Failed at=Verification",
        "Verdict=not supported",
    ):
        assert text in html, text
    assert at.button(key="evaluation-before").disabled
    at.button(key="evaluation-after").click().run()
    assert at.header[0].value == "Row 4"
    assert at.button(key="evaluation-after").disabled
    at.button(key="evaluation-close").click().run()
    assert _statements(at) == [2, 3]


def test_pages_of_rows_are_turned(runs, open_page, monkeypatch) -> None:
    """A page holds so many of them, and the last one the rest."""
    monkeypatch.setattr(evaluation_rows, "PAGE_SIZE", 3)
    write_run(runs / "one")
    at = _rows(open_page("evaluation"))
    assert _statements(at) == [0, 1, 2]
    at.session_state["evaluation-page"] = 2
    assert _statements(at.run()) == [3]
    assert not at.exception


def test_two_runs_are_compared(runs, open_page) -> None:
    """Over the same rows: how many each has right, what only one has, and whether that is chance."""
    write_run(runs / "one")
    better = [measured_row(n, true=n % 2 == 0, badge=n % 2 == 0) for n in range(4)]
    write_run(runs / "two", better)
    write_run(runs / "of-others", data={"name": "x", "sha256": "00" * 32})
    at = open_page("evaluation")
    at.selectbox(key="evaluation-run").set_value("one").run()
    assert "What changed" not in [header.value for header in at.header]
    offered = at.selectbox(key="evaluation-other").options
    assert len(offered) == 2
    assert not any("of-others" in label for label in offered)
    at.selectbox(key="evaluation-other").set_value("two").run()
    assert not at.exception
    assert "What changed" in [header.value for header in at.header]
    html = _facts(at)
    assert "A: one" in html
    assert "B: two" in html


def test_runs_that_are_too_large_are_not_compared_here(runs, open_page, monkeypatch) -> None:
    """`compare_runs` holds all rows of both."""
    monkeypatch.setattr("ui.evaluation_runs.MOST_COMPARED", 10)
    for name in ("one", "two"):
        write_run(runs / name)
    at = open_page("evaluation")
    chosen = at.selectbox(key="evaluation-run").value
    at.selectbox(key="evaluation-other").set_value("two" if chosen == "one" else "one").run()
    assert TOO_MANY in [info.value for info in at.info]


def test_a_comparison_that_fails_is_one_line(runs, open_page, monkeypatch) -> None:
    """And the figures of the run stand below it."""
    for name in ("one", "two"):
        write_run(runs / name)
    (runs / "two" / "rows.jsonl").write_bytes((runs / "two" / "rows.jsonl").read_bytes()[:-9])
    at = open_page("evaluation")
    at.selectbox(key="evaluation-run").set_value("one").run()
    at.selectbox(key="evaluation-other").set_value("two").run()
    assert not at.exception
    assert "is no measured row" in html_of(at)
    assert "Badges=2" in _facts(at)


def test_a_broken_folder_costs_one_line(runs, open_page) -> None:
    """The other runs are there, and nothing ends in a traceback; each of the broken ones says why."""
    write_run(runs / "good")
    for number, (spoil, _) in enumerate(BROKEN.values()):
        spoil(write_run(runs / f"bad-{number}"))
    at = open_page("evaluation")
    assert not at.exception
    assert len(at.selectbox(key="evaluation-run").options) == 1
    assert f"Not read ({len(BROKEN)})" in [expander.label for expander in at.expander]
    shown = html_of(at)
    assert [said for _, said in BROKEN.values() if said not in shown] == []


def test_a_run_that_is_under_way_is_shown_as_far_as_it_is(runs, open_page) -> None:
    """Torn last line, no figures yet; without any row it says so."""
    folder = write_run(runs / "one", finished=False)
    path = folder / "rows.jsonl"
    path.write_bytes(path.read_bytes()[:-50])
    at = open_page("evaluation")
    assert not at.exception
    assert "Not finished: 3 of 4 units are measured." in captions_of(at)
    assert any("is left out: line 4" in caption for caption in captions_of(at))
    assert "Systems over the same rows" not in [header.value for header in at.header]
    path.unlink()
    assert "No row of this run is measured yet." in [i.value for i in open_page("evaluation").info]


def test_rows_that_cannot_be_read_cost_one_line(runs, open_page) -> None:
    """No row in it, a folder in its place, or figures that are none."""
    folder = write_run(runs / "one")
    (folder / "figures.json").write_text('{"systems": 3}')
    at = open_page("evaluation")
    assert not at.exception
    assert "are no figures of this version" in html_of(at)
    assert "Badges=2" in _facts(at)
    (folder / "rows.jsonl").write_text("{}\n")
    at = open_page("evaluation")
    assert not at.exception
    assert "holds no row of this run" in html_of(at)
    (folder / "rows.jsonl").unlink()
    (folder / "rows.jsonl").mkdir()
    at = open_page("evaluation")
    assert not at.exception
    assert "is no ordinary file" in html_of(at)


def test_a_run_that_goes_while_it_is_looked_at_costs_one_line(runs, open_page, monkeypatch) -> None:
    """Its rows were changed by a run that goes on there."""
    folder = write_run(runs / "one")
    at = _rows(open_page("evaluation"))

    def changed(*_: object) -> None:
        raise InputError("rows.jsonl: changed while it was read: open it again")

    monkeypatch.setattr("certirag.eval.opened_rows.OpenedRows.rows", changed)
    at.run()
    assert not at.exception
    assert "changed while it was read" in html_of(at)
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()
    at.run()
    assert not at.exception
    assert NO_RUN in [info.value for info in at.info]


STRINGS = [text for _, text in hostile_strings()]


def test_no_text_of_a_run_draws_a_badge(runs, open_page) -> None:
    """In every field, in the list and opened: each is inert, and our own words are ours alone."""
    rows = [*hostile_rows(STRINGS), *four_rows()]
    write_run(runs / "evil", rows, reader=STRINGS[0], certirag=STRINGS[1])
    path = str(runs / "evil" / "rows.jsonl")
    at = _rows(open_page("evaluation"))
    seen = ""
    for place in range(0, len(STRINGS), CLAIMS_OF_A_HOSTILE_ROW):
        at.session_state["evaluation_open"] = (path, place, evaluation_rows.RowFilter())
        at.run()
        assert not at.exception
        assert at.header[0].value == f"Row {place + 1}"
        _assert_inert(at)
        seen += html_of(at)
    assert sum(inert_html(text, max_lines=40) in seen for text in STRINGS) == len(STRINGS)
    at.button(key="evaluation-close").click().run()
    _assert_inert(at)
    at.segmented_control(key="evaluation-part").set_value("Figures").run()
    _assert_inert(at)


def test_no_name_of_a_run_draws_a_badge(runs, open_page) -> None:
    """What stands in run.json, in the figures and in a broken folder's own name and reason."""
    for number, text in enumerate(STRINGS[::11]):
        folder = write_run(
            runs / f"run-{number}",
            data={"name": text, "sha256": text},
            what=text,
            verifier={"role": text, "name": text, "version": text, "sha256": text},
            reader=text,
            certirag=text,
        )
        figures = folder / "figures.json"
        figures.write_text(
            figures.read_text("utf-8").replace("CertiRAG Mixed", "\\u2705 Verified"), "utf-8"
        )
    bad = write_run(runs / "✅ Verified <b>x</b>")
    (bad / "run.json").write_text('{"✅ Verified": 1, "format": "✅ Verified"}', "utf-8")
    at = open_page("evaluation")
    for name in [f"run-{number}" for number in range(len(STRINGS[::11]))]:
        at.selectbox(key="evaluation-run").set_value(name).run()
        assert not at.exception
        _assert_inert(at)


def _assert_inert(at: AppTest) -> None:
    """Nothing of a run leaves its box, and nothing on the page looks like the gate's mark."""
    text, classes = ours_of(html_of(at))
    assert not any(mark in text for mark in ("Verified", "✅", "✓", "✔"))
    assert not {name for name in classes if "status" in name or "badge" in name}
    assert not [b for b in at.button if (b.key or "").startswith("chip-")]
    marks = {word["verified"] for word in _WORDS.values()} | {"✅", "✓", "✔"}
    drawn = [*at.caption, *at.info, *at.header, *at.subheader, *at.markdown]
    for element in drawn:
        assert not any(mark in element.value for mark in marks), element.value
    for select in at.selectbox:
        assert not any("<" in label and "✅" in label for label in select.options)


def test_every_system_has_words_in_each_language() -> None:
    """A system that is added to the figures is told in the language of the page, or is a name."""
    names = {own.system for own in systems_of(four_rows(), _policy())}
    assert {name for name in names if not name.startswith("CertiRAG")} == set(SYSTEM_WORDS)


def _policy() -> object:
    from gate_cases import POLICY

    return POLICY


def test_the_spot_check_is_the_other_view(runs, open_page, monkeypatch) -> None:
    """Runs come first; the address names what is chosen."""
    write_run(runs / "one")
    drawn: list[str] = []
    monkeypatch.setitem(VIEWS, "Spot check", lambda: drawn.append("spot check"))
    at = open_page("evaluation")
    assert drawn == []
    at.segmented_control(key="evaluation-view").set_value("Spot check").run()
    assert drawn == ["spot check"]
    assert at.query_params["evaluation-view"] == "Spot check"
    assert not at.exception


def test_it_speaks_german(runs, open_page) -> None:
    """Every sentence of ours, and no text of the run."""
    write_run(runs / "one")
    at = open_page("evaluation", lang="de")
    assert not at.exception
    assert at.title[0].value == "Auswertung"
    html = html_of(at)
    assert "Unwahr vom Gezeigten" in html
    assert "contracts" in html
    assert "Das Prüfmodell allein" in html
