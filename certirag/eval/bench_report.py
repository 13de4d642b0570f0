"""Measured questions → the numbers of the report, and the report as a table for a person."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any, Final

REST: Final = "other"  # what a question takes outside of every stage
_PACKAGES: Final = ("numpy", "onnxruntime", "tokenizers", "faiss-cpu", "rank-bm25")
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BenchedQuestion:
    """One question as measured: seconds per stage, pairs asked of the verifier, in calls."""

    seconds: Mapping[str, float]
    pairs: int
    calls: int


def report_lines(report: Report) -> tuple[str, ...]:
    """Return *report* as a short table for a person."""
    whole, verifier, machine = report["question_ms"], report["verifier"], report["machine"]
    documents = sum(corpus["documents"] for corpus in report["corpora"])
    named = {model["role"]: model["name"] for model in report["models"]}
    lines = [
        (
            f"{report['questions']['asked']} questions over {documents} documents, "
            f"{machine['cores']} cores, verifier {named['verifier']}"
        ),
        f"{'stage':<12}{'median ms':>12}{'p95 ms':>12}{'share':>9}",
    ]
    for name, stage in report["stages"].items():
        lines.append(
            f"{name:<12}{stage['median_ms']:>12.1f}{stage['p95_ms']:>12.1f}{stage['share']:>9.1%}"
        )
    memory = report["peak_memory_mb"]
    lines += [
        f"{'question':<12}{whole['median']:>12.1f}{whole['p95']:>12.1f}{1:>9.1%}",
        f"cold start {report['cold_start_ms']:.0f} ms, peak memory "
        + ("unknown" if memory is None else f"{memory:.0f} MB"),
        (
            f"{report['pairs']['judged']} pairs judged for the questions; "
            f"{verifier['pairs']} sentence pairs in {verifier['median_ms']:.0f} ms "
            f"({verifier['pairs_per_second']:.0f} a second)"
        ),
    ]
    return tuple(lines)


def stage_shares(asked: Sequence[BenchedQuestion]) -> Report:
    """Return median, p95 and share of each stage, in the order in which they first ended."""
    names = dict.fromkeys(name for a in asked for name in a.seconds)
    whole = sum(sum(a.seconds.values()) for a in asked)
    stages: Report = {}
    for name in sorted(names, key=lambda name: name == REST):  # stable: the rest comes last
        values = [a.seconds.get(name, 0.0) for a in asked]
        over = spread(values)
        stages[name] = {
            "median_ms": over["median"],
            "p95_ms": over["p95"],
            "share": round(sum(values) / whole, 6) if whole else 0.0,
        }
    return stages


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return median, p95 (nearest rank) and most, in milliseconds."""
    ordered = sorted(seconds)
    rank = math.ceil(0.95 * len(ordered))
    return {
        "median": milliseconds(median(ordered)),
        "p95": milliseconds(ordered[rank - 1]),
        "most": milliseconds(ordered[-1]),
    }


def machine_facts() -> Report:
    """Return what a time depends on: processor, cores, threads, versions."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "system": platform.platform(terse=True),
        "processor": platform.machine(),
        "cores": usable,
        "threads": {name: os.environ.get(name) for name in _THREADS},
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def peak_memory_mb() -> float | None:
    """Return the largest resident size of this process so far in MB; None where unknown."""
    try:
        import resource  # noqa: PLC0415  # Windows has none
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)


def milliseconds(seconds: float) -> float:
    """Return *seconds* in milliseconds, of three places."""
    return round(seconds * 1000, 3)
