"""Labelled pairs through verifier and gate: a run's folder, going on after a stop, and comparing two runs."""

from __future__ import annotations

import csv
import gzip
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from certirag.cli.main import main
from certirag.eval.measures import bootstrap_interval, holm, mcnemar
from certirag.eval.pairs import ROWS, RUN

PREMISE = (
    "The old mill of Corrant was sold in 1987. Its wheel is made of oak and turns in the spring. "
    "A guide shows the mill on Sundays at three."
)
TRUE = ("The old mill of Corrant was sold in 1987.", "A guide shows the mill on Sundays at three.")
UNTRUE = ("The old mill of Corrant was sold in 1988.", "Its wheel is made of steel.")


def _data(path: Path) -> Path:
    rows = [
        {"source": source, "premise": PREMISE, "hypothesis": hypothesis, "label": label}
        for source in ("mill", "attributionbench_mill")
        for hypothesis, label in (
            *((text, "entailed") for text in TRUE),
            (UNTRUE[0], "contradicted"),
            (UNTRUE[1], "neutral" if source == "mill" else "not_entailed"),
        )
    ]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return eight labelled rows over two sources; the small network judges."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CERTIRAG_VERIFIER", "embedded")
    return _data(tmp_path / "rows.jsonl.gz")


def _run(data: Path, out: Path, *more: str) -> int:
    return main(["eval", "pairs", "--data", str(data), "--out", str(out), *more])


def test_a_run_is_a_folder_of_rows_tables_and_plots(data, tmp_path, capsys) -> None:
    """Each row stands there with what the gate decided; the figures are those that a person counts."""
    out = tmp_path / "run"
    assert _run(data, out, "--json") == 0
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    by_source = {own["source"]: own for own in printed["gate"]}
    every = by_source["all rows"]
    assert list(by_source) == [
        "attributionbench_mill",
        "mill",
        "attributionbench (pooled)",
        "all rows",
    ]
    assert (every["rows"], every["badges"], every["wrong"], every["coverage"]) == (8, 4, 0, 1.0)
    assert (every["precision"], every["exposure"]) == (1.0, 0.5)
    assert every["low"] == pytest.approx(0.3976, abs=1e-4)  # Clopper and Pearson: four of four
    rows = [json.loads(line) for line in (out / ROWS).read_text("utf-8").splitlines()]
    states = [[claim["state"] for claim in row["claims"]] for row in rows[:3]]
    assert states == [["VERIFIED"], ["VERIFIED"], ["BLOCKED"]]
    assert [row["hypothesis"] for row in rows[:2]] == [*TRUE]
    (refused,) = rows[2]["claims"]
    assert refused["against"] == TRUE[0]
    assert refused["stage"] == "verification"
    assert [rule for rule, _ in refused["failed"]] >= ["entailed"]
    with (out / "figures.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [line["source"] for line in table] == list(by_source)
    assert "| all rows | 8 | 0 of 4 | 1.000 (0.398 to 1.000) | 100.0% | 50.0% |" in (
        out / "figures.md"
    ).read_text("utf-8")
    assert r"all rows & 8 & 0 of 4 & 1.000 (0.398 to 1.000) & 100.0\% & 50.0\%" in (
        out / "figures.tex"
    ).read_text("utf-8")
    with (out / "systems.csv").open(encoding="utf-8", newline="") as file:
        strict = list(csv.DictReader(file))[-1]
    assert (strict["system"], strict["coverage.part"], strict["coverage.whole"]) == (
        *("CertiRAG Strict", "4", "4"),
    )
    assert by_source["mill"]["band"][0] == pytest.approx([0.1581, 1.0], abs=1e-4)  # two of two
    assert "plotly.min.js" in (out / "risk.html").read_text("utf-8")
    assert {path.stem for path in out.glob("*.html")} == {
        *("risk", "exposure", "reliability", "confusion", "sources", "scores"),
    }
    if find_spec("matplotlib"):
        assert {path.stem for path in out.glob("*.png")} == {p.stem for p in out.glob("*.html")}
    else:
        assert "no pictures (PNG) of the plots: matplotlib is not installed" in captured.err


def test_a_run_that_was_stopped_goes_on_to_the_same_figures(data, tmp_path, capsys) -> None:
    """A torn last line is measured again, a whole one is not."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert _run(data, whole) == 0
    lines = (whole / ROWS).read_bytes().splitlines(keepends=True)
    stopped.mkdir()
    (stopped / RUN).write_bytes((whole / RUN).read_bytes())
    kept = json.loads(lines[0]) | {"cosine": 0.123456}  # would be gone if it were measured again
    (stopped / ROWS).write_bytes(json.dumps(kept).encode() + b"\n" + lines[1] + lines[2][:40])
    assert _run(data, stopped) == 0
    again = [json.loads(line) for line in (stopped / ROWS).read_bytes().splitlines()]
    assert again == [kept, *map(json.loads, lines[1:])]
    (stopped / ROWS).write_bytes(b"".join(lines[:2]))
    assert _run(data, stopped) == 0
    for name in ("figures.json", "figures.csv", "figures.md"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()


def test_a_folder_of_another_run_is_left_alone(data, tmp_path, capsys) -> None:
    """Other data, limit, seed or policy: one line, and nothing is written over."""
    out = tmp_path / "run"
    assert _run(data, out) == 0
    held = (out / ROWS).read_bytes()
    for more in (["--limit", "3"], ["--seed", "1"], ["--profile", "strict-2"]):
        assert _run(data, out, *more) == 2
        assert "name another folder" in capsys.readouterr().err
    assert (out / ROWS).read_bytes() == held


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "holds no rows"),
        (" ", "holds no rows"),
        ("{", "line 1: the line: Invalid JSON"),
        ('{"premise": "a", "hypothesis": "b", "label": "true"}', "line 1: label: Input should be"),
        ('{"premise": "a", "hypothesis": 3, "label": "entailed"}', "line 1: hypothesis: "),
        ('{"premise": "a", "label": "entailed"}', "line 1: hypothesis: "),
    ],
)
def test_a_bad_row_is_one_line_that_names_it(data, tmp_path, capsys, line, said) -> None:
    """File, line and field; no run's folder is begun."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text(line + "\n" if line else "", "utf-8")
    assert _run(bad, tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert f"{bad}" in error
    assert said in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("cut", [-9, 30])
def test_a_packed_file_that_is_cut_or_broken_is_one_line(data, tmp_path, capsys, cut) -> None:
    """Cut off at its end, or with a byte in the middle changed: no traceback."""
    packed = bytearray(data.read_bytes())
    if cut < 0:
        del packed[cut:]
    else:
        packed[cut] ^= 0xFF
    data.write_bytes(packed)
    assert _run(data, tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert "cannot be read" in error
    assert error.count("\n") == 1


def test_two_runs_are_compared_row_by_row(data, tmp_path, capsys) -> None:
    """A policy that nothing passes is wrong on every true row, and McNemar's test says by how much."""
    one, other = tmp_path / "one", tmp_path / "other"
    assert _run(data, one) == 0
    assert _run(data, other) == 0
    rows = [json.loads(line) for line in (other / ROWS).read_text("utf-8").splitlines()]
    refused = [
        {**row, "claims": [{**claim, "state": "UNVERIFIED"} for claim in row["claims"]]}
        for row in rows
    ]
    (other / ROWS).write_text("".join(json.dumps(row) + "\n" for row in refused), "utf-8")
    capsys.readouterr()
    assert main(["eval", "compare", str(one), str(other), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    every = report["gate"][-1]
    assert (every["right"], every["only"], every["p"]) == ([8, 4], [4, 0], 0.125)
    assert {row["p"] for row in report["verifier"]} == {1.0}
    ranked = report["auroc"][-1]
    assert ranked["auroc"] == [1.0, 1.0]
    assert [ranked[name] for name in ("difference", "low", "high", "p")] == [0.0, 0.0, 0.0, 1.0]
    assert main(["eval", "compare", str(one), str(other)]) == 0
    assert "right by the gate" in capsys.readouterr().out
    (other / ROWS).write_bytes(b"")
    assert main(["eval", "compare", str(one), str(other)]) == 2
    assert main(["eval", "compare", str(one), str(tmp_path)]) == 2


def test_intervals_and_tests_by_hand() -> None:
    """A constant has no width; ten against none is 2/1024; Holm multiplies by what is left."""
    assert bootstrap_interval(lambda rows: 0.5, 7, seed=1) == (0.5, 0.5)
    low, high = bootstrap_interval(lambda rows: float((rows < 50).mean()), 100, seed=1)
    assert 0.38 < low < 0.44
    assert 0.56 < high < 0.62
    assert mcnemar(10, 0) == pytest.approx(2 / 1024)
    assert mcnemar(3, 3) == 1.0
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_the_benchmark_that_ships_runs_whole_and_goes_on(tmp_path, monkeypatch, capsys) -> None:
    """A piece of every part: statements, a draft over its corpus, and questions; run again, the same."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    out = tmp_path / "run"
    command = ["eval", "builtin", "--out", str(out), "--every", "150"]
    assert main([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    strict = printed["systems"][-1]
    rows = [json.loads(line) for line in (out / ROWS).read_text("utf-8").splitlines()]
    untrue = [row for row in rows if row["gold"] != "entailed"]
    assert strict["caught"]["whole"] == len(untrue) > 0
    assert printed["systems"][0]["exposed"] == {"part": len(untrue), "whole": len(rows)}
    drafts = [row for row in rows if row["source"].startswith("drafts")]
    assert len(drafts) > 3
    assert {row["source"] for row in rows} == {
        own["source"] for own in printed["gate"] if own["source"] != "all rows"
    }
    assert sum(own["answered"]["whole"] for own in printed["questions"]) > 0
    held = {name: (out / name).read_bytes() for name in (ROWS, "figures.json", "questions.jsonl")}
    lines = (out / "drafts.jsonl").read_bytes()
    (out / "questions.jsonl").unlink()
    assert main(command) == 0
    assert {name: (out / name).read_bytes() for name in held} == held
    assert (out / "drafts.jsonl").read_bytes() == lines
    printed = capsys.readouterr().out
    assert "| CertiRAG Strict |" in printed
    assert "Of each part every 150th alone." in printed
