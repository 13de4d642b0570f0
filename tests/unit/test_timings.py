"""How long a run took: lines of its batches, summed up, whoever measured them and however it was stopped."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

from certirag.eval.timings import timed, timing, write_timings


def _twice(units):
    return [2 * unit for unit in units]


def _lines(path: Path, *batches: tuple[str, int, float, bool]) -> None:
    rows = [dict(zip(("what", "units", "ms", "first"), own, strict=True)) for own in batches]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_what_is_measured_is_the_same_and_a_line_says_how_long(tmp_path) -> None:
    """A batch is a line; another process gets the same function."""
    measure = pickle.loads(pickle.dumps(timed(_twice, tmp_path, "rows")))  # noqa: S301  # our own
    assert measure([1, 2]) == [2, 4]
    assert measure([3]) == [6]
    lines = [json.loads(line) for line in (tmp_path / "timings.jsonl").read_text().splitlines()]
    assert [(line["what"], line["units"], line["first"]) for line in lines] == [
        *(("rows", 2, True), ("rows", 1, False)),
    ]
    assert all(line["ms"] >= 0 for line in lines)


def test_percentiles_are_of_units_and_leave_out_the_first_batch(tmp_path) -> None:
    """Nine units of 10 ms and one of 100; two processes begin with a batch that loads models."""
    batches = [("rows", 1, 5_000.0, True), ("rows", 1, 6_000.0, True), ("rows", 9, 90.0, False)]
    _lines(
        tmp_path / "timings.jsonl", *batches, ("rows", 1, 100.0, False), ("drafts", 1, 70.0, True)
    )
    with (tmp_path / "timings.jsonl").open("a") as file:
        file.write('{"what": "rows", "uni')  # stopped here
    found = write_timings(tmp_path)["timings"]
    assert found["rows"] == {
        "units": 10,
        "batches": 2,
        "first_batches_left_out": True,
        "ms_per_unit_p50": 10.0,
        "ms_per_unit_p95": 59.5,  # of ten values, 0.55 of the way from the ninth to the tenth
    }
    assert (found["drafts"]["ms_per_unit_p50"], found["drafts"]["first_batches_left_out"]) == (
        *(70.0, False),
    )
    assert json.loads((tmp_path / "timings.json").read_text())["timings"] == found


def test_a_run_that_measured_nothing_has_no_timings(tmp_path) -> None:
    """All rows were there already."""
    assert write_timings(tmp_path)["timings"] == {}


def test_pairs_are_a_mean_of_all_batches_or_nothing(tmp_path) -> None:
    """Twelve pairs for three units; a kind of which one batch was not counted has none."""
    for units, pairs in ((1, 10), (2, 2)):
        with timing(tmp_path, "rows", units) as spent:
            spent.pairs = pairs
    with timing(tmp_path, "drafts", 1) as spent:
        spent.pairs = 5
    with timing(tmp_path, "drafts", 1):
        pass
    found = write_timings(tmp_path)["timings"]
    assert found["rows"]["pairs_per_unit"] == 4.0
    assert "pairs_per_unit" not in found["drafts"]
