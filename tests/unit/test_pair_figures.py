"""The model card's table is computed from scored rows, errors counted against the verifier."""

from __future__ import annotations

import json
import math

import pytest

from certirag.eval.pair_figures import ALL, GOLD, ScoredRow, figures, json_values, verifier_tables

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


def _rows(rows: list[dict]) -> list[ScoredRow]:
    return [
        ScoredRow(
            row["source"],
            GOLD[row["gold"]],
            row["label"],
            (row["entailed"] or 0.0, row["not_enough_info"] or 0.0, row["contradicted"] or 0.0),
            len(row["premise"].split()),
            len(row["hypothesis"].split()),
        )
        for row in rows
    ]


def test_figures_by_hand() -> None:
    """Each figure of a source is what a person counts."""
    found = {own.source: own for own in figures(_rows(ROWS), 0.85)}
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
    # Entailed at ranks 1 and 3 of the scores 0.95, 0.9, 0.3, 0.2, 0.1, 0.
    assert three.auprc == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    # At 0.5: entailed has 1 right, 1 missed, 1 called wrongly; the others 3, 1 and 1.
    assert three.macro_f1 == pytest.approx((2 / 4 + 6 / 8) / 2)
    # By label: entailed 1, 1, 1; not enough info 1, 1, 1; contradicted 1, 1 missed as an error, 0.
    assert three.three_way_macro_f1 == pytest.approx((1 / 2 + 1 / 2 + 2 / 3) / 3)
    assert three.confusion == {
        "entailed": {"entailed": 1, "not_enough_info": 1, "contradicted": 0, "error": 0},
        "not_enough_info": {"entailed": 1, "not_enough_info": 1, "contradicted": 0, "error": 0},
        "contradicted": {"entailed": 0, "not_enough_info": 0, "contradicted": 1, "error": 1},
    }
    assert three.ece == pytest.approx((0.05 + 0.7 + 0.2 + 0.9 + 0.1) / 5)


def test_sources_are_pooled_and_missing_classes_have_no_figure() -> None:
    """Parts of a benchmark stand apart and together; a share of nothing is none."""
    found = {own.source: own for own in figures(_rows(ROWS))}
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


def test_an_error_is_never_a_point_won() -> None:
    """A verifier that only fails scores no better than one half, and covers nothing."""
    rows = [_row("s", gold, "error", 0.0) for gold in ("entailed", "neutral") * 5]
    own = figures(_rows(rows))[0]
    assert (own.balanced_accuracy, own.auroc, own.three_way_accuracy) == (0.5, 0.5, 0.0)
    assert own.shipped.coverage == 0.0
    assert math.isnan(own.ece)


def test_the_figures_as_json_and_as_a_table() -> None:
    """Strict JSON with null for what there is not; a table with a line for each source."""
    found = figures(_rows(ROWS), 0.7)
    printed = json.loads(json.dumps(json_values(found)), parse_constant=pytest.fail)
    by_source = {own["source"]: own for own in printed}
    assert by_source["silent"]["auroc"] is None
    assert by_source["three"]["shipped"]["tau"] == 0.7
    assert by_source["three"]["reliability"]
    alone, classes, ranks = verifier_tables(figures(_rows(ROWS)))
    lines = alone.markdown().splitlines()
    assert "Precision at 0.85" in lines[0]
    three = next(line for line in lines if line.startswith("| three |"))
    assert "0.875" in three
    assert "0.500 (0.013 to 0.987)" in three
    assert len({line.count("|") for line in lines}) == 1
    assert "| three | not enough info | 2 | 0.500 | 0.500 |" in classes.markdown().splitlines()
    assert "| three | 33.3% | 0.833 | 0.271 | 0.625 | 0.556 |" in ranks.markdown().splitlines()
    assert verifier_tables(figures(_rows(ROWS[6:10])))[1].name == ranks.name  # nobody has classes
