"""Long measurements as lines of JSON: written as they are made, gone on with after a stop, by one process or several.

Each unit (a labelled row, a draft, a question) is measured by itself, so neither a stop nor the number
of processes changes a figure; the lines stand in the order of the units.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from certirag.errors import InputError


class Numbered(Protocol):
    """Something measured of the unit *number*."""

    @property
    def number(self) -> int:
        """The place of the unit among all of them."""
        ...


Unit = TypeVar("Unit")
Line = TypeVar("Line", bound=Numbered)
Measure = Callable[[Sequence[tuple[int, Unit]]], list[Line]]


def measured_lines(
    path: Path,
    adapter: TypeAdapter[Line],
    units: Sequence[tuple[int, Unit]],
    measure: Measure[Unit, Line],
    progress: Callable[[int, int], None],
    *,
    batch: int = 1,
    jobs: int = 1,
    mapping: AbstractContextManager[Any] | None = None,
) -> list[Line]:
    """Return the lines of numbered *units*: those that *path* holds, and the others measured and added.

    *measure* takes *batch* of them at once, and with *jobs* above 1 it is pickled into as many
    processes. *mapping* gives another `map` to measure by, which yields in order, in place of those.
    Raises InputError for a file that holds something else.
    """
    held = {line.number: line for line in _held(path, adapter)}
    left = [(number, unit) for number, unit in units if number not in held]
    parts = [left[start : start + batch] for start in range(0, len(left), batch)]
    progress(len(held), len(units))
    with path.open("ab") as file, mapping or processes(jobs) as each:
        for found in each(measure, parts):
            file.write(b"".join(adapter.dump_json(line) + b"\n" for line in found))
            file.flush()
            held |= {line.number: line for line in found}
            progress(len(held), len(units))
    return [held[number] for number, _ in units]


def read_lines(path: Path, adapter: TypeAdapter[Line]) -> list[Line]:
    """Return the measured lines of *path*; InputError naming a line that is none."""
    found = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}): name a run's folder"
        ) from error
    for number, line in enumerate(lines, 1):
        try:
            found.append(adapter.validate_json(line))
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: is no measured row") from error
    return found


def _held(path: Path, adapter: TypeAdapter[Line]) -> list[Line]:
    """Return the lines of a run that was interrupted; a torn last line is cut off."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        path.write_bytes(whole)
    return read_lines(path, adapter)


@contextmanager
def processes(
    jobs: int,
) -> Iterator[Callable[[Measure[Unit, Line], list[list[tuple[int, Unit]]]], Iterator[list[Line]]]]:
    """Give a `map` of this process, or one of *jobs* processes that end with the block."""
    if jobs == 1:
        yield map
        return
    with own_processes(jobs) as each:
        yield each


@contextmanager
def own_processes(
    jobs: int,
) -> Iterator[Callable[[Measure[Unit, Line], list[list[tuple[int, Unit]]]], Iterator[list[Line]]]]:
    """Give a `map` of *jobs* processes that end with the block, in which nothing was measured before."""
    # Spawned: a fork of a process whose networks have run may wait for a lock that nobody holds.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _ignore_interrupts)
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that gives out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
