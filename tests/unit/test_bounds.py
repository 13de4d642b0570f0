"""Bounds on a run's figures: held, broken, and broken where there is no figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from certirag.cli.main import main
from certirag.errors import InputError
from certirag.eval.bounds import bounds_lines, check_bounds, read_bounds

FIGURES = {
    "format": 1,
    "systems": [
        {"system": "All", "wrong": {"part": 3, "whole": 6}},
        {"system": "Strict", "wrong": {"part": 1, "whole": 10}, "p": None},
        {"system": "None", "wrong": {"part": 0, "whole": 0}},
    ],
    "gate": [
        {"source": "a/b", "precision": 0.9, "curve": [[0.5, 0.75, 1.0], [0.9, None, 0.0]]},
        {"source": "a", "precision": None, "rows": 4, "b": {"precision": 0.1}},
        {"source": "c", "precision": True, "rows": "4"},
    ],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a run with the figures above."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"what": "builtin", "every": 10}), "utf-8")
    (folder / "figures.json").write_text(json.dumps(FIGURES), "utf-8")
    return folder


def _checked(run: Path, text: str) -> list[tuple[float | None, bool]]:
    path = run / "bounds.toml"
    path.write_text(text, "utf-8")
    return [(one.value, bool(one.broken)) for one in check_bounds(run, read_bounds(path))]


def _one(
    run: Path, named: str, limits: str = "at_least = 0\nat_most = 1"
) -> tuple[float | None, bool]:
    (found,) = _checked(run, f"[[bound]]\n{named}\n{limits}\n")
    return found


def test_a_figure_is_named_by_words_or_by_pointer(run) -> None:
    """A share has its own value, its counts and its exact interval; a name may hold a slash."""
    assert _one(run, 'figure = "systems/Strict/wrong"') == (0.1, False)
    assert _one(run, 'figure = "systems/wrong"\nsource = "Strict"') == (0.1, False)
    assert _one(run, 'figure = "systems/Strict/wrong/whole"', "at_most = 9") == (10.0, True)
    value, broken = _one(run, 'figure = "systems/Strict/wrong/high"', "at_most = 0.44")
    assert (value, broken) == (pytest.approx(0.4450, abs=1e-4), True)  # Clopper and Pearson
    assert _one(run, 'figure = "gate/precision"\nsource = "a/b"') == (0.9, False)
    assert _one(run, 'pointer = "/gate/0/curve/0/1"') == (0.75, False)
    assert _one(run, 'pointer = "/systems/0/wrong"') == (0.5, False)


def test_limits_are_included_and_both_count(run) -> None:
    """0.1 lies in [0.1, 0.1], not above 0.11 and not below 0.09."""
    strict = 'figure = "systems/Strict/wrong"'
    assert _one(run, strict, "at_least = 0.1\nat_most = 0.1") == (0.1, False)
    assert _one(run, strict, "at_least = 0.11") == (0.1, True)
    assert _one(run, strict, "at_most = 0.09") == (0.1, True)


@pytest.mark.parametrize(
    "named",
    [
        'figure = "systems/Nobody/wrong"',
        'figure = "systems/Strict/right"',
        'figure = "systems/Strict/p"',
        'figure = "systems/None/wrong"',  # a share of nothing
        'figure = "systems/Strict/wrong/share/part"',
        'figure = "systems/Strict"',
        'figure = "verifier/all rows/ece"',
        'figure = "format"',
        'figure = "gate/c/precision"',  # true is no number
        'figure = "gate/c/rows"',  # nor is a text
        'figure = "gate/a/precision"',
        'figure = "gate/a/b/precision"',  # of "a/b", or the b of "a"?
        'pointer = "/gate/7/precision"',
        'pointer = "/gate/-1/precision"',
        'pointer = "/gate/00/precision"',
        'pointer = "/gate/0/curve/1/1"',
        'pointer = "/"',
    ],
)
def test_what_is_not_there_breaks_its_bound(run, named) -> None:
    """Nobody passes a gate by losing a figure."""
    assert _one(run, named, "at_least = -1e9\nat_most = 1e9") == (None, True)


def test_another_run_breaks_what_the_bounds_are_for(run) -> None:
    """Bounds for every tenth unit say nothing of a whole run."""
    bound = '[[bound]]\npointer = "/format"\nat_most = 1\n'
    assert _checked(run, f'[run]\nwhat = "builtin"\nevery = 10\n{bound}') == [(1.0, False)]
    assert _checked(run, f"[run]\nevery = 1\n{bound}") == [(None, True), (1.0, False)]
    assert _checked(run, f'[run]\nlimit = "none"\n{bound}') == [(None, True), (1.0, False)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bound = [", "no TOML"),
        ("", "bound"),
        ("bound = []", "nothing would be checked"),
        ('[[bound]]\nfigure = "gate/a/rows"', "bound.1: give at_least or at_most"),
        ('[[bound]]\nfigure = "gate/a/rows"\nat_most = nan', "a finite number"),
        ('[[bound]]\nfigure = "gate/a/rows"\nat_most = true', "bound.1.at_most"),
        ('[[bound]]\nfigure = "gate/a/rows"\nat_most = "1"', "bound.1.at_most"),
        ('[[bound]]\nfigure = "gate/a/rows"\nat_mots = 1', "bound.1.at_mots"),
        ('[[bound]]\nfigure = "gate/a/rows"\nat_least = 2\nat_most = 1', "above"),
        ("[[bound]]\nat_most = 1", "one of figure and pointer"),
        ('[[bound]]\nfigure = "a"\npointer = "/a"\nat_most = 1', "one of figure and pointer"),
        ('[[bound]]\npointer = "a"\nat_most = 1', "begins with /"),
    ],
)
def test_a_file_that_is_none_is_one_line(run, text, said, capsys) -> None:
    """It names the file, the place and what to give; the exit code is that of bad input."""
    path = run / "bounds.toml"
    path.write_text(text, "utf-8")
    assert main(["eval", "bounds", str(run), "--bounds", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert str(path) in line
    assert said in line


def test_a_folder_without_figures_is_one_line(run) -> None:
    """A run that is not finished, and figures that are no JSON or hold NaN."""
    (run / "bounds.toml").write_text('[[bound]]\npointer = "/a"\nat_most = 1\n', "utf-8")
    bounds = read_bounds(run / "bounds.toml")
    for text in ('{"a": NaN}', "[]", "{", '{"a": 1'):
        (run / "figures.json").write_text(text, "utf-8")
        with pytest.raises(InputError, match="a run that is finished"):
            check_bounds(run, bounds)
    (run / "figures.json").unlink()
    with pytest.raises(InputError, match="a run that is finished"):
        check_bounds(run, bounds)


def test_the_command_says_each_bound_and_fails_by_its_exit_code(run, capsys) -> None:
    """0 where all hold, 4 where one does not, with a line for each and one that counts."""
    path = run / "bounds.toml"
    command = ["eval", "bounds", str(run), "--bounds", str(path)]
    held = '[[bound]]\nfigure = "systems/Strict/wrong"\nat_most = 0.2\nwhy = "few"\n'
    path.write_text(held, "utf-8")
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines() == [
        "held   systems/Strict/wrong: 0.1, at most 0.2 (few)",
        "1 of 1 bounds held",
    ]
    path.write_text(f'{held}[[bound]]\nfigure = "gate/precision"\nsource = "a"\nat_least = 0.5\n')
    assert main(command) == 4
    assert capsys.readouterr().out.splitlines() == [
        "held   systems/Strict/wrong: 0.1, at most 0.2 (few)",
        "broken gate/precision of a: no figure, at least 0.5 (there is no figure at 'precision')",
        "1 of 2 bounds broken",
    ]
    assert main([*command, "--json"]) == 4
    first, second = json.loads(capsys.readouterr().out)["bounds"]
    assert (first["value"], first["broken"]) == (0.1, "")
    assert (second["value"], second["at_least"]) == (None, 0.5)
    assert list(bounds_lines([]))[-1] == "0 of 0 bounds held"


def test_the_bounds_that_ship_can_be_read() -> None:
    """Each of them names a part that a run of the built-in benchmark has."""
    path = Path(__file__).resolve().parents[2] / "fixtures" / "bounds" / "builtin.toml"
    bounds = read_bounds(path)
    assert bounds.run["what"] == "builtin"
    assert {one.figure.split("/")[0] for one in bounds.bound} <= {
        *("systems", "gate", "verifier", "questions"),
    }
