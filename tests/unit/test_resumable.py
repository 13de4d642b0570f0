"""Measured lines: the same by one process or two, after a stop, and whatever the batches were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from certirag.errors import InputError
from certirag.eval.resumable import measured_lines


@dataclass(frozen=True)
class Squared:
    """The square of the unit *number*'s value."""

    number: int
    square: int


ADAPTER = TypeAdapter(Squared)
UNITS = [(number, number + 10) for number in range(0, 14, 2)]


def square(units: Sequence[tuple[int, int]]) -> list[Squared]:
    """Measure *units*."""
    return [Squared(number, value * value) for number, value in units]


def stop_at_sixteen(units: Sequence[tuple[int, int]]) -> list[Squared]:
    """Measure *units* until the value 16, as a run that is interrupted there."""
    if any(value == 16 for _, value in units):
        raise KeyboardInterrupt
    return square(units)


def _none(_done: int, _total: int) -> None:
    """Report nothing."""


@pytest.mark.parametrize(("batch", "jobs"), [(1, 1), (3, 1), (100, 1), (2, 2)])
def test_neither_batches_nor_processes_change_a_line(tmp_path, batch, jobs) -> None:
    """The lines stand in the order of their units."""
    path, told = tmp_path / "lines.jsonl", list[tuple[int, int]]()
    found = measured_lines(
        path, ADAPTER, UNITS, square, lambda *n: told.append(n), batch=batch, jobs=jobs
    )
    assert found == [Squared(number, value * value) for number, value in UNITS]
    assert [ADAPTER.validate_json(line) for line in path.read_bytes().splitlines()] == found
    assert (told[0], told[-1]) == ((0, 7), (7, 7))


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """What was measured is not measured again, a torn last line is, and the file ends the same."""
    path, whole = tmp_path / "lines.jsonl", tmp_path / "whole.jsonl"
    measured_lines(whole, ADAPTER, UNITS, square, _none)
    with pytest.raises(KeyboardInterrupt):
        measured_lines(path, ADAPTER, UNITS, stop_at_sixteen, _none)
    assert path.read_bytes() == b"".join(whole.read_bytes().splitlines(keepends=True)[:3])
    path.write_bytes(path.read_bytes() + b'{"number":6,"squ')
    again = list[int]()

    def counting(units: Sequence[tuple[int, int]]) -> list[Squared]:
        again.extend(number for number, _ in units)
        return square(units)

    measured_lines(path, ADAPTER, UNITS, counting, _none)
    assert (again, path.read_bytes()) == ([6, 8, 10, 12], whole.read_bytes())


def test_a_file_of_something_else_is_one_line(tmp_path: Path) -> None:
    """It is named, and nothing is added to it."""
    path = tmp_path / "lines.jsonl"
    path.write_text('{"number": 0, "square": "much"}\n', "utf-8")
    with pytest.raises(InputError, match=r"lines\.jsonl, line 1: is no measured row"):
        measured_lines(path, ADAPTER, UNITS, square, _none)
    assert path.read_text("utf-8") == '{"number": 0, "square": "much"}\n'
