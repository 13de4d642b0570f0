"""Kept runs and their rows: read without trust, counted, asked for and opened."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gate_cases import POLICY
from measured_runs import (
    BROKEN,
    CAUGHT,
    LOST,
    TRUE,
    WRONG,
    four_rows,
    lines_of,
    measured_claim,
    measured_row,
    write_run,
)

from certirag.errors import InputError
from certirag.eval import opened_rows
from certirag.eval.gate_counts import trials_of
from certirag.eval.kept_runs import kept_runs, read_figures, read_run
from certirag.eval.opened_rows import GOLDS, LABELS, OpenedRows, RowFilter, open_rows
from certirag.eval.pair_report import write_report

TAUS = [trial.tau_entail for trial in trials_of(POLICY)]


@pytest.fixture
def rows(tmp_path) -> OpenedRows:
    """Return the four rows as they are opened."""
    return open_rows(write_run(tmp_path / "run") / "rows.jsonl", POLICY)


def _numbers(rows: OpenedRows, **asked: object) -> list[int]:
    places = rows.select(RowFilter(**asked))  # type: ignore[arg-type]
    return [row.number for row in rows.rows([int(place) for place in places])]


def test_badges_are_counted_at_each_threshold(rows) -> None:
    """At 0.90 one of two badges is wrong and one of two true rows is reached; above, none is wrong."""
    at = {one.tau: one for one in rows.at(rows.of_source(""))}
    assert list(at) == TAUS
    assert (at[0.9].badges, at[0.9].wrong, at[0.9].asked, at[0.9].whole) == (2, 1, 2, 1)
    assert at[0.9].precision == at[0.9].coverage == 0.5
    assert (at[0.95].badges, at[0.95].wrong, at[0.95].precision) == (1, 0, 1.0)
    assert at[0.9].interval == pytest.approx((0.0126, 0.9874), abs=1e-4)
    none = rows.at(np.array([LOST]))[0]
    assert (none.precision, none.coverage, none.interval) == (None, 0.0, (0.0, 1.0))


def test_counts_agree_with_the_report_of_the_run(tmp_path) -> None:
    """The page and the tables of the command say the same of every source and threshold."""
    made = [*four_rows(), measured_row(4, true=True, badge=True, up_to=0.7)]
    folder = write_run(tmp_path / "run", made)
    report = write_report(made, POLICY, folder, seed=0, head="")
    opened = open_rows(folder / "rows.jsonl", POLICY)
    for gate in report["gate"]:
        source = "" if gate["source"] == "all rows" else gate["source"]
        at = opened.at(opened.of_source(source))
        assert [[t, p, c] for t, p, c in gate["curve"]] == [
            [one.tau, one.precision, one.coverage] for one in at
        ]
    own = {one.source or "all rows": one for one in opened.by_source(opened.own)}
    for gate, alone in zip(report["gate"], report["verifier"], strict=True):
        found = own[gate["source"]]
        assert (found.rows, found.at.badges, found.at.wrong) == (
            gate["rows"],
            gate["badges"],
            gate["wrong"],
        )
        assert found.auroc == pytest.approx(alone["auroc"] or math.nan, nan_ok=True)
        bins = opened.reliability(opened.of_source(found.source))
        assert [one.rows for one in bins] == [one["rows"] for one in alone["reliability"]]


def test_rows_are_asked_for(rows) -> None:
    """Each filter by itself, and two together."""
    assert _numbers(rows) == [TRUE, WRONG, LOST, CAUGHT]
    assert _numbers(rows, source="contracts") == [TRUE, LOST]
    assert _numbers(rows, gold="entailed") == [TRUE, LOST]
    assert _numbers(rows, label="entailed") == [TRUE, WRONG]
    assert _numbers(rows, state="UNVERIFIED") == [LOST, CAUGHT]
    assert _numbers(rows, stage="verification") == [LOST, CAUGHT]
    assert _numbers(rows, rule="entailed") == [LOST, CAUGHT]
    assert _numbers(rows, wrong=True) == [WRONG]
    assert _numbers(rows, lost=True) == [LOST]
    assert _numbers(rows, wrong=True, tau=len(TAUS) - 1) == []
    assert _numbers(rows, lost=True, source="handbooks") == []
    assert _numbers(rows, words="statement 3 IS") == [CAUGHT]
    assert _numbers(rows, words="at any time", gold="entailed") == [TRUE, LOST]


@pytest.mark.parametrize("name", ["source", "gold", "label", "state", "stage", "rule", "words"])
def test_what_no_row_has_finds_none(rows, name) -> None:
    """A word from an old address or session asks for nothing that is there."""
    assert _numbers(rows, **{name: "no such thing"}) == []


@pytest.mark.parametrize(
    "text", ['a "quoted" \\ word', "Straße", "line\nbreak", "\u202eabc", "ﬀ", "\x00"]
)
def test_words_are_found_however_the_file_writes_them(tmp_path, text) -> None:
    """With escapes or without, the text of the row counts, and nothing of its keys."""
    folder = write_run(tmp_path / "run", [measured_row(0, true=True, badge=True, false=text)])
    path = folder / "rows.jsonl"
    for content in (
        path.read_bytes(),
        json.dumps(json.loads(path.read_bytes()), ensure_ascii=True).encode() + b"\n",
    ):
        path.write_bytes(content)
        opened = open_rows(path, POLICY)
        assert _numbers(opened, words=text) == [0] * bool(text.strip())
        assert _numbers(opened, words="premise_words") == []


def test_confusion_counts_every_row_once(rows) -> None:
    """Two of the true rows are labelled apart, and so are two of the untrue ones."""
    found = rows.confusion(rows.of_source(""))
    assert sum(map(sum, found)) == 4
    entailed, not_entailed = GOLDS.index("entailed"), GOLDS.index("not_entailed")
    assert found[entailed][LABELS.index("entailed")] == 1
    assert found[not_entailed][LABELS.index("not_enough_info")] == 1


UNSOUND = {
    "no JSON": b"{",
    "nothing of ours": b'{"a": 1}',
    "a state of its own": lines_of(
        [measured_row(9, true=True, badge=True, claims=[measured_claim("CERTIFIED")])]
    ),
    "a verdict of its own": lines_of(
        [measured_row(9, true=True, badge=True, claims=[measured_claim(verdict="Verified")])]
    ),
    "a rule of its own": lines_of(
        [
            measured_row(
                9,
                true=True,
                badge=True,
                claims=[measured_claim("UNVERIFIED", failed=(("luck", "none"),))],
            )
        ]
    ),
    "a stage of its own": lines_of(
        [measured_row(9, true=True, badge=True, claims=[measured_claim("BLOCKED", stage="x")])]
    ),
    "a gold of its own": lines_of([measured_row(9, true=True, badge=True, gold="perhaps")]),
    "a label of its own": lines_of([measured_row(9, true=True, badge=True, label="sure")]),
    "a score above 1": lines_of([measured_row(9, true=True, badge=True, entailed=1.5)]),
    "a score of no number": lines_of([measured_row(9, true=True, badge=True)]).replace(
        b'"entailed":0.9', b'"entailed":NaN', 1
    ),
    "more wrong than badges": lines_of(
        [measured_row(9, true=True, badge=True, counts=[(1, 2, 0, 0)] * len(TAUS))]
    ),
    "a count below 0": lines_of(
        [measured_row(9, true=True, badge=True, counts=[(-1, -1, 0, 0)] * len(TAUS))]
    ),
    "a count too large": lines_of(
        [measured_row(9, true=True, badge=True, counts=[(10**18, 0, 0, 0)] * len(TAUS))]
    ),
    "another number of thresholds": lines_of(
        [measured_row(9, true=True, badge=True, counts=[(1, 0, 1, 1)])]
    ),
    "torn": lines_of([measured_row(9, true=True, badge=True)])[:-30],
}


@pytest.mark.parametrize("line", UNSOUND.values(), ids=UNSOUND.keys())
def test_a_line_that_is_no_row_of_the_run_is_left_out_and_named(tmp_path, line) -> None:
    """The others are counted as if it were not there."""
    folder = write_run(tmp_path / "run")
    path = folder / "rows.jsonl"
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(first + b"\n" + line.rstrip(b"\n") + b"\n" + rest)
    opened = open_rows(path, POLICY)
    assert _numbers(opened) == [TRUE, WRONG, LOST, CAUGHT]
    assert (opened.left_out, opened.first_left_out) == (1, 2)


def test_a_torn_last_line_is_left_out(tmp_path) -> None:
    """A run that is being written can be looked at."""
    path = write_run(tmp_path / "run") / "rows.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    opened = open_rows(path, POLICY)
    assert _numbers(opened) == [TRUE, WRONG, LOST]
    assert opened.first_left_out == 4


def test_limits_are_held_and_said(tmp_path, monkeypatch) -> None:
    """Too large a file, too many rows, too long a line."""
    path = write_run(tmp_path / "run") / "rows.jsonl"
    monkeypatch.setattr(opened_rows, "MOST_ROWS", 3)
    assert open_rows(path, POLICY).left_out == 1
    monkeypatch.setattr(opened_rows, "_MOST_OF_A_LINE", 10)
    with pytest.raises(InputError, match=r"rows\.jsonl: holds no row"):
        open_rows(path, POLICY)
    monkeypatch.setattr(opened_rows, "MOST_BYTES", 10)
    with pytest.raises(InputError, match=r"rows\.jsonl: has .* MB"):
        open_rows(path, POLICY)


def test_rows_of_a_file_that_changed_are_not_read(rows) -> None:
    """Where a line began, something else may stand by now."""
    rows.path.write_bytes(b"x" * 9_000)
    for ask in (lambda: rows.rows([0]), lambda: _numbers(rows, words="notice")):
        with pytest.raises(InputError, match="changed while it was read"):
            ask()
    rows.path.unlink()
    with pytest.raises(InputError, match="changed while it was read"):
        rows.rows([0])


def test_a_pipe_is_not_waited_for(tmp_path) -> None:
    """Opening one would hold the page up for ever."""
    folder = write_run(tmp_path / "runs" / "run")
    for name in ("rows.jsonl", "run.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
    with pytest.raises(InputError, match="no ordinary file"):
        open_rows(folder / "rows.jsonl", POLICY)
    assert "no ordinary file" in kept_runs(tmp_path / "runs")[0].problem


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_folder_is_one_line_and_the_others_are_read(tmp_path, name) -> None:
    """Whatever is wrong with it."""
    write_run(tmp_path / "good")
    spoil, said = BROKEN[name]
    spoil(write_run(tmp_path / "bad"))
    found = {one.name: one for one in kept_runs(tmp_path)}
    assert found["good"].run == read_run(tmp_path / "good")
    assert found["bad"].run is None
    assert said in found["bad"].problem
    assert "\n" not in found["bad"].problem


def test_only_own_folders_are_runs(tmp_path) -> None:
    """No file, no link, nothing hidden; and none where there is no such folder."""
    elsewhere = write_run(tmp_path / "elsewhere")
    home = tmp_path / "runs"
    assert kept_runs(home) == []
    write_run(home / "one")
    write_run(home / ".hidden")
    (home / "file").write_text("")
    (home / "link").symlink_to(elsewhere)
    assert [one.name for one in kept_runs(home)] == ["one"]
    assert kept_runs(home / "file") == []


def test_the_newest_run_is_first(tmp_path) -> None:
    """By when it was begun, not by its name."""
    for at, name in enumerate(("b", "c", "a")):
        folder = write_run(tmp_path / name, finished=name == "a")
        os.utime(folder / "run.json", (at, at))
    found = kept_runs(tmp_path)
    assert [one.name for one in found] == ["a", "c", "b"]
    assert [one.finished for one in found] == [True, False, False]


def test_a_run_that_changed_is_read_anew(tmp_path) -> None:
    """What is kept of a reading is of that state of the file alone."""
    folder = write_run(tmp_path / "run")
    assert read_run(folder).seed == 0
    write_run(folder, seed=12345)
    assert read_run(folder).seed == 12345


def _changed_figures(folder: Path, before: str, after: str) -> None:
    path = folder / "figures.json"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"part": 2', '"part": -2', "not possible"),
        ('"whole": 4', '"whole": 1', "not possible"),
        ('"whole": 4', '"whole": 1000000000000', "not possible"),
        ('"p": ', '"p": 7e9, "q": ', "between 0 and 1"),
        ('"systems"', '"others"', "systems"),
        ("{", "", "are no figures"),
    ],
)
def test_figures_that_cannot_be_are_one_line(tmp_path, before, after, said) -> None:
    """Nothing is computed from them."""
    folder = write_run(tmp_path / "run")
    assert [own.system for own in read_figures(folder).systems][-1] == "CertiRAG Strict"
    _changed_figures(folder, before, after)
    with pytest.raises(InputError, match=said):
        read_figures(folder)


def test_a_run_under_another_policy_has_its_own_threshold(tmp_path) -> None:
    """The thresholds of a run are those of its policy."""
    policy = replace(POLICY, tau_entail=0.88)
    taus = [trial.tau_entail for trial in trials_of(policy)]
    rows = [measured_row(0, true=True, badge=True, counts=[(1, 0, 1, 1)] * len(taus))]
    path = write_run(tmp_path / "run", rows, finished=False, policy=policy) / "rows.jsonl"
    opened = open_rows(path, policy)
    assert opened.taus[opened.own] == 0.88
    assert opened.nearest(0.87) == opened.own
    with pytest.raises(InputError, match="holds no row"):
        open_rows(path, POLICY)
