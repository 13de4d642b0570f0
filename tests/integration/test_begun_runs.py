"""Runs begun by a server: as processes of the real command line, one at a time, cancelled and gone on with."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from measured_runs import described, write_run

from certirag.errors import InputError
from certirag.eval.begun_runs import BUSY, DATA, BegunRun, RunProcess, command_of_run, units_so_far
from certirag.eval.kept_runs import kept_runs, read_run
from certirag.eval.opened_rows import open_rows

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
ROWS = 250  # some batches, so that there is a middle to stop in


def _pairs(rows: int) -> bytes:
    lines = [
        {
            "premise": f"The hall seats {n} people. Doors open at noon.",
            "hypothesis": f"The hall seats {n + n % 2} people.",
            "label": "not_entailed" if n % 2 else "entailed",
        }
        for n in range(20, 20 + rows)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _waited(process: RunProcess, enough: Callable[[BegunRun], bool]) -> BegunRun:
    until = time.monotonic() + 240
    while time.monotonic() < until:
        begun = process.look()
        assert begun is not None
        if enough(begun) or begun.ended is not None:
            return begun
        time.sleep(0.1)
    raise AssertionError(f"nothing came of it: {begun}")


@pytest.mark.slow
def test_a_run_is_begun_cancelled_and_gone_on_with(tmp_path) -> None:
    """Nobody else begins one meanwhile; what was measured before is kept, and the end is whole."""
    process, other = RunProcess(tmp_path), RunProcess(tmp_path)
    process.begin_pairs(_pairs(ROWS), NOW)
    assert process.is_under_way()
    assert other.is_under_way()
    for one in (process, other):
        with pytest.raises(InputError, match=BUSY):
            one.begin_builtin(60, NOW)
    assert other.look() is None
    begun = _waited(process, lambda one: one.done > 0)
    assert (begun.total, begun.ended) == (ROWS, None)
    other.cancel()  # not its own
    assert process.is_under_way()
    process.cancel()
    assert process.look() is None
    assert not process.is_under_way()
    (folder,) = (tmp_path / "runs").glob("pairs-*")
    before = (folder / "rows.jsonl").read_bytes()
    assert 0 < before.count(b"\n") < ROWS
    assert not kept_runs(tmp_path / "runs")[0].finished
    other.go_on(folder)
    ended = _waited(other, lambda one: False)
    assert (ended.done, ended.total, ended.ended, ended.complaint) == (ROWS, ROWS, 0, "")
    assert not process.is_under_way()
    assert kept_runs(tmp_path / "runs")[0].finished
    whole = before[: before.rfind(b"\n") + 1]
    assert (folder / "rows.jsonl").read_bytes().startswith(whole)
    opened = open_rows(folder / "rows.jsonl", read_run(folder).policy)
    assert (len(opened), opened.left_out) == (ROWS, 0)


@pytest.mark.slow
def test_a_run_that_cannot_go_on_says_why(tmp_path, monkeypatch) -> None:
    """The folder is of another policy by now: the last line of the command is told."""
    folder = write_run(tmp_path / "runs" / "one", what="builtin", every=60, finished=False)
    process = RunProcess(tmp_path)
    process.go_on(folder)
    ended = _waited(process, lambda one: False)
    assert ended.ended == 2
    assert "holds a run of other data, verifier or policy" in ended.complaint
    process.go_on(folder)
    process.cancel()
    assert process.look() is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file holds no rows"),
        (b'{"premise": "x"}\n', "the file, line 1: hypothesis"),
        (_pairs(2) + b"\xff\n", "the file: cannot be read"),
        (_pairs(1) + b'{"premise": "x", "hypothesis": "y", "label": "yes"}', "line 2: label"),
        (b" " * 100_000_001, "more than 100 MB"),
    ],
)
def test_a_bad_file_is_one_line_and_leaves_no_folder(tmp_path, content, said) -> None:
    """Nothing is begun."""
    process = RunProcess(tmp_path)
    with pytest.raises(InputError, match=said) as told:
        process.begin_pairs(content, NOW)
    assert str(tmp_path) not in str(told.value)
    assert kept_runs(tmp_path / "runs") == []
    assert not process.is_under_way()


def test_where_no_lock_can_be_had_nothing_is_begun(tmp_path) -> None:
    """A home that cannot be written is as one in which a run is under way."""
    home = tmp_path / "home"
    home.write_text("a file")
    process = RunProcess(home)
    assert process.is_under_way()
    with pytest.raises(InputError, match="no run can be begun here"):
        process.begin_builtin(60, NOW)


def test_only_a_run_whose_data_is_in_its_folder_goes_on(tmp_path) -> None:
    """The command is made of numbers and of the folder itself, never of a path that a file names."""
    folder = write_run(tmp_path / "run")
    assert command_of_run(folder, read_run(folder)) is None
    with pytest.raises(InputError, match="its data is not here"):
        RunProcess(tmp_path).go_on(folder)
    write_run(folder, data={"name": DATA, "sha256": "00"}, limit=7, seed=3)
    assert command_of_run(folder, read_run(folder)) is None
    (tmp_path / "elsewhere").write_bytes(_pairs(1))
    (folder / DATA).symlink_to(tmp_path / "elsewhere")
    assert command_of_run(folder, read_run(folder)) is None
    (folder / DATA).unlink()
    (folder / DATA).write_bytes(_pairs(1))
    at = str(folder)
    pairs = ["pairs", "--data", f"{at}/{DATA}", "--out", at, "--seed", "3", "--limit", "7"]
    assert command_of_run(folder, read_run(folder)) == pairs
    write_run(folder, what="builtin", every=10)
    assert command_of_run(folder, read_run(folder)) == ["builtin", "--out", at, "--every", "10"]
    write_run(folder, what="builtin", every=0)
    assert command_of_run(folder, read_run(folder)) is None


def test_units_are_counted_over_all_files_of_a_run(tmp_path: Path) -> None:
    """Rows, drafts and questions, and never more than there are."""
    folder = write_run(tmp_path / "run", what="builtin", rows=None, units=9)
    assert units_so_far(folder) == (4, 9)
    (folder / "drafts.jsonl").write_text("{}\n{}\n{")
    (folder / "questions.jsonl").write_text("{}\n")
    assert units_so_far(folder) == (7, 9)
    (folder / "run.json").write_text(json.dumps(described(rows=2)))
    assert units_so_far(folder) == (2, 2)
    (folder / "run.json").unlink()
    assert units_so_far(folder) == (0, None)
