"""What a run's measurements cost: beside its figures and never in them, for two runs are never equally fast.

Each batch adds a line to ``timings.jsonl`` where it is measured, in whichever process; ``timings.json`` sums
them up. A run that was stopped and gone on with has the lines of both parts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

FORMAT: Final = 1  # of the summary
_LINES, _SUMMARY = "timings.jsonl", "timings.json"

Unit = TypeVar("Unit")
Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """*units* of the kind *what*, measured at once in *ms* milliseconds; *first* of its process and run.

    *pairs* of claim and evidence were judged for them, or nobody counted those.
    """

    what: str
    units: int
    ms: float
    first: bool
    pairs: int | None = None


@dataclass(slots=True)
class Spent:
    """What whoever measures a batch counts while it is timed."""

    pairs: int | None = None


_BATCH: Final = TypeAdapter(TimedBatch)
_BEGUN: Final[set[tuple[Path, str]]] = set()  # files and kinds that this process has measured for


def timed(
    measure: Callable[[Sequence[Unit]], list[Line]], out: Path, what: str
) -> Callable[[Sequence[Unit]], list[Line]]:
    """Return *measure*, which also adds a line about its time to the folder *out*; it can be pickled if that can."""
    return partial(_timed, measure=measure, out=out, what=what)


def _timed(
    units: Sequence[Unit],
    measure: Callable[[Sequence[Unit]], list[Line]],
    out: Path,
    what: str,
) -> list[Line]:
    with timing(out, what, len(units)):
        return measure(units)


@contextmanager
def timing(out: Path, what: str, units: int) -> Iterator[Spent]:
    """Add a line to the folder *out* about the time of the block, which measures so many *units*."""
    path = out / _LINES
    spent, start = Spent(), time.perf_counter()
    yield spent
    took = round((time.perf_counter() - start) * 1_000, 3)
    first = (path, what) not in _BEGUN
    _BEGUN.add((path, what))
    line = _BATCH.dump_json(TimedBatch(what, units, took, first, spent.pairs)) + b"\n"
    # One write at the end of the file: other processes add lines to it too.
    with path.open("ab", buffering=0) as file:
        file.write(line)


def write_timings(out: Path) -> dict[str, Any]:
    """Sum up the timings of the run in the folder *out*, write ``timings.json`` and return it.

    Of each kind: how many units were timed, and the 50th and 95th percentile of milliseconds a unit, by
    which each unit of a batch took the batch's mean. The first batch of a process also makes its models
    ready and is left out, unless there is no other. Pairs a unit are the mean of all, where they were counted.
    """
    kinds: dict[str, list[TimedBatch]] = {}
    for batch in _batches(out / _LINES):
        kinds.setdefault(batch.what, []).append(batch)
    found = {"format": FORMAT, "timings": {what: _summed(own) for what, own in kinds.items()}}
    (out / _SUMMARY).write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return found


def _batches(path: Path) -> list[TimedBatch]:
    """Return the lines of *path*; one that was torn by a stop is none."""
    found = []
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            found.append(_BATCH.validate_json(line))
        except ValidationError:
            continue
    return found


def _summed(batches: Sequence[TimedBatch]) -> dict[str, Any]:
    later = [batch for batch in batches if not batch.first]
    counted = later or batches
    each = np.repeat([own.ms / own.units for own in counted], [own.units for own in counted])
    p50, p95 = np.percentile(each, [50, 95])
    pairs = [batch.pairs for batch in batches if batch.pairs is not None]
    asked = {"pairs_per_unit": round(sum(pairs) / sum(own.units for own in batches), 3)}
    return {
        "units": len(each),
        "batches": len(counted),
        "first_batches_left_out": bool(later),
        "ms_per_unit_p50": round(float(p50), 3),
        "ms_per_unit_p95": round(float(p95), 3),
        **(asked if len(pairs) == len(batches) else {}),
    }
