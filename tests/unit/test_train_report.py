"""The model card's table is recomputed from scored rows, errors counted against the verifier."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

from training.report import ALL, figures, main, read_scored

WORDS = "one two three four five"


def _row(source: str, gold: str, label: str, entailed: float, contradicted: float = 0.0) -> dict:
    row = {"source": source, "premise": WORDS, "hypothesis": WORDS, "gold": gold, "label": label}
    if label == "error":
        return {**row, "entailed": None, "not_enough_info": None, "contradicted": None}
    neutral = round(1 - entailed - contradicted, 6)
    return row | {
        "entailed": entailed,
        "not_enough_info": neutral,
        "contradicted": contradicted,
    }


ROWS = [
    _row("three", "entailed", "entailed", 0.95),
    _row("three", "entailed", "not_enough_info", 0.3),
    _row("three", "neutral", "not_enough_info", 0.2),
    _row("three", "neutral", "entailed", 0.9),
    _row("three", "contradicted", "contradicted", 0.1, 0.8),
    _row("three", "contradicted", "error", 0.0),
    _row("attributionbench_A", "entailed", "entailed", 0.8),
    _row("attributionbench_A", "not_entailed", "not_enough_info", 0.1),
    _row("attributionbench_B", "entailed", "error", 0.0),
    _row("attributionbench_B", "not_entailed", "contradicted", 0.1, 0.7),
    _row("silent", "neutral", "entailed", 0.6),
    _row("silent", "neutral", "not_enough_info", 0.1),
]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Return the rows as ``certirag score`` writes them."""
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return path


def test_figures_by_hand(scores: Path) -> None:
    """Each figure of a source is what a person counts."""
    found = {own.source: own for own in figures(read_scored(scores), 0.85)}
    three = found["three"]
    assert (three.rows, three.errors, three.entailed) == (6, 1, 2)
    assert three.balanced_accuracy == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert three.auroc == pytest.approx(7 / 8)
    assert three.auroc_length_matched == three.auroc
    assert three.three_way_accuracy == pytest.approx(3 / 6)
    assert (three.shipped.called, three.shipped.right) == (2, 1)
    assert three.shipped.coverage == 0.5
    assert three.classes["contradicted"].recall == 0.5
    assert three.classes["contradicted"].precision == 1.0
    assert three.classes["not_enough_info"].precision == 0.5
    assert sum(own.rows for own in three.reliability) == 5
    assert three.ece == pytest.approx((0.05 + 0.7 + 0.2 + 0.9 + 0.1) / 5)


def test_sources_are_pooled_and_missing_classes_have_no_figure(scores: Path) -> None:
    """Parts of a benchmark stand apart and together; a share of nothing is none."""
    found = {own.source: own for own in figures(read_scored(scores))}
    assert list(found) == [
        "attributionbench_A",
        "attributionbench_B",
        "silent",
        "three",
        "attributionbench (pooled)",
        ALL,
    ]
    pooled = found["attributionbench (pooled)"]
    assert pooled.rows == 4
    assert pooled.balanced_accuracy == 0.75
    assert math.isnan(pooled.three_way_accuracy)
    assert pooled.classes == {}
    assert found["silent"].called_entailed == 0.5
    assert math.isnan(found["silent"].auroc)
    assert found[ALL].rows == len(ROWS)


def test_an_error_is_never_a_point_won(scores: Path) -> None:
    """A verifier that only fails scores no better than one half, and covers nothing."""
    rows = [_row("s", gold, "error", 0.0) for gold in ("entailed", "neutral") * 5]
    scores.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    own = figures(read_scored(scores))[0]
    assert (own.balanced_accuracy, own.auroc, own.three_way_accuracy) == (0.5, 0.5, 0.0)
    assert own.shipped.coverage == 0.0
    assert math.isnan(own.ece)


def test_the_command_prints_json_or_markdown(scores: Path, capsys) -> None:
    """One document of strict JSON; or a table with a line for each source."""
    assert main(["--scores", str(scores), "--tau", "0.7"]) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    by_source = {own["source"]: own for own in printed}
    assert by_source["silent"]["auroc"] is None
    assert by_source["three"]["shipped"]["tau"] == 0.7
    assert by_source["three"]["reliability"]
    assert main(["--scores", str(scores), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Precision at 0.85" in lines[0]
    three = next(line for line in lines if line.startswith("| three |"))
    assert "0.875" in three
    assert "0.500 (0.013 to 0.987)" in three
    assert len({line.count("|") for line in lines[:8]}) == 1


def test_a_gzipped_file_gives_the_same(scores: Path) -> None:
    """What is packed is read as it was."""
    packed = scores.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(scores.read_bytes()))
    assert read_scored(packed) == read_scored(scores)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "holds no scored row"),
        ("{", "line 1: not JSON"),
        ("[]", "line 1: a scored row has strings"),
        (json.dumps({**ROWS[0], "gold": "maybe"}), "'maybe'"),
        (json.dumps({**ROWS[0], "label": "Verified"}), "'Verified'"),
        (json.dumps({**ROWS[0], "entailed": None}), "numbers from 0 to 1"),
        (json.dumps({**ROWS[0], "entailed": math.nan}), "numbers from 0 to 1"),
        (json.dumps({**ROWS[0], "contradicted": True}), "numbers from 0 to 1"),
        (json.dumps({k: v for k, v in ROWS[0].items() if k != "gold"}), "a source and a label"),
    ],
)
def test_malformed_rows_are_one_line_and_two(scores: Path, capsys, line: str, said: str) -> None:
    """Nothing is skipped: the first bad row ends the report."""
    scores.write_text(line + "\n", "utf-8")
    assert main(["--scores", str(scores)]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
