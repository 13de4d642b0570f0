"""`certirag bench`: the time and memory of each stage, measured on questions over documents.

Nothing here judges an answer, and nothing of it enters a certificate. The user's own audit log, keys
and indexes are left alone: everything is written to a folder that is removed at the end.
"""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final

from certirag import __version__
from certirag.answers.pipeline import answer_question
from certirag.answers.services import Services
from certirag.bootstrap import (
    build_services,
    ingest_paths,
    make_verifier,
    open_index,
)
from certirag.errors import CertiRAGError, InputError
from certirag.eval.workload import (
    CountingVerifier,
    Stopwatch,
    TimedEmbedder,
    TimedReranker,
    Workload,
    in_turn,
)
from certirag.ports import Index, Pair, Progress
from certirag.render import Mode, present
from certirag.settings import Settings
from certirag.verification.judge import judge_pairs

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


FORMAT: Final = 1  # of the report
BATCH_PAIRS: Final = 240  # sentence pairs of the verifier's own measurement
BATCH_RUNS: Final = 3
_WARM_UP: Final = 16
_COLD_LIMIT: Final = 300  # seconds after which a cold start is given up


@dataclass(frozen=True, slots=True)
class _Corpus:
    """One workload's documents as ingested; *facts* go into the report."""

    name: str
    directory: Path
    index: Index
    facts: Report


def run_bench(
    workloads: Sequence[Workload],
    settings: Settings,
    progress: Progress,
    *,
    repeat: int = 1,
    limit: int | None = None,
) -> Report:
    """Return the measurements as one JSON object; times are milliseconds unless named otherwise.

    Every question is asked *repeat* times, each round with services built anew, so that no cache
    answers what a user would have waited for. The first question of a round is counted like the
    others. With *limit*, the first so many questions are asked, taken from the corpora in turn.
    """
    with tempfile.TemporaryDirectory(prefix="certirag-bench-") as folder:
        own = replace(settings, home=Path(folder) / "home")
        services = build_services(own)
        corpora = []
        for number, workload in enumerate(workloads):
            progress(f"Ingesting {workload.name}", number, len(workloads))
            directory = Path(folder) / f"index-{number}"
            corpora.append(_ingested(workload, directory, services))
        progress("Ingesting", len(workloads), len(workloads))
        indexes = {corpus.name: corpus.index for corpus in corpora}
        progress("Judging sentence pairs", 0, 0)
        batch = _batch_speed(list(indexes.values()), own)
        turns = in_turn(workloads, limit)
        asked = _ask_all(turns, indexes, own, progress, repeat)
        progress("Starting cold", 0, 0)
        name, question = turns[0]
        directory = next(corpus.directory for corpus in corpora if corpus.name == name)
        cold = _cold_start_seconds(question, directory, own)
    return {
        "format": FORMAT,
        "certirag": __version__,
        "machine": machine_facts(),
        "models": [asdict(model) for model in services.models],
        "corpora": [corpus.facts for corpus in corpora],
        "questions": {"distinct": len(turns), "repeat": repeat, "asked": len(asked)},
        "question_ms": spread([sum(a.seconds.values()) for a in asked]),
        "stages": stage_shares(asked),
        "pairs": {
            "judged": sum(a.pairs for a in asked),
            "median_per_question": median(a.pairs for a in asked),
            "most_per_question": max(a.pairs for a in asked),
            "most_calls_per_question": max(a.calls for a in asked),
        },
        "verifier": batch,
        "cold_start_ms": milliseconds(cold),
        "peak_memory_mb": peak_memory_mb(),
    }


def _ingested(workload: Workload, directory: Path, services: Services) -> _Corpus:
    started = time.perf_counter()
    found = ingest_paths(workload.paths, directory, services, lambda *_: None)
    spent = time.perf_counter() - started
    facts: Report = {
        "name": workload.name,
        "documents": found.documents,
        "chunks": found.chunks,
        "skipped": len(found.skipped),
        "questions": len(workload.questions),
        "ingest_ms": milliseconds(spent),
    }
    return _Corpus(workload.name, directory, open_index(directory, services), facts)


def _ask_all(
    turns: Sequence[tuple[str, str]],
    indexes: Mapping[str, Index],
    settings: Settings,
    progress: Progress,
    repeat: int,
) -> list[BenchedQuestion]:
    """Ask every question as a page would: answer, sign, log, and present the signed export."""
    watch = Stopwatch()
    asked = []
    for turn in range(repeat):
        services = build_services(settings)
        verifier = CountingVerifier(services.verifier)
        timed = replace(
            services,
            embedder=TimedEmbedder(services.embedder, watch.stage),
            reranker=TimedReranker(services.reranker, watch.stage),
            verifier=verifier,
            stage=watch.stage,
        )
        for number, (name, question) in enumerate(turns):
            progress("Asking questions", turn * len(turns) + number, repeat * len(turns))
            pairs, calls = verifier.pairs, verifier.calls
            with watch.stage(REST):
                answer = answer_question(question, indexes[name], timed)
                with watch.stage("present"):
                    present(answer.export, Mode.STRICT, trusted=services.trusted)
            asked.append(
                BenchedQuestion(watch.taken(), verifier.pairs - pairs, verifier.calls - calls)
            )
    progress("Asking questions", len(asked), len(asked))
    return asked


def _batch_speed(indexes: Sequence[Index], settings: Settings) -> Report:
    """Time the verifier alone on batches of sentence pairs that it has never seen.

    Claim and evidence are different sentences of the corpora, each pair asked once, so that a
    cache of pairs saves nothing.
    """
    verifier = make_verifier(settings.verifier)
    sentences = list(
        dict.fromkeys(
            span.sentence
            for index in indexes
            for chunk in index.chunks()
            for span in chunk.spans
            if span.visible
        )
    )
    count = len(sentences)
    pairs = (
        Pair(sentences[at], sentences[(at + shift) % count])
        for shift in range(1, count)
        for at in range(count)
    )
    judge_pairs(verifier, list(islice(pairs, min(_WARM_UP, count))))
    seconds: list[float] = []
    sizes: list[int] = []
    failed = 0
    while len(seconds) < BATCH_RUNS and (batch := list(islice(pairs, BATCH_PAIRS))):
        started = time.perf_counter()
        judgements = judge_pairs(verifier, batch)
        seconds.append(time.perf_counter() - started)
        sizes.append(len(batch))
        failed += sum(judgement.label == "error" for judgement in judgements)
    if not seconds:
        raise InputError(
            f"the documents hold {count} sentences, too few to time a verifier: give more with --data"
        )
    return {
        "pairs": max(sizes),
        "runs": len(seconds),
        "median_ms": milliseconds(median(seconds)),
        "pairs_per_second": round(sum(sizes) / sum(seconds), 1),
        "failed": failed,
    }


def _cold_start_seconds(question: str, index: Path, settings: Settings) -> float:
    """Time one question in a process of its own: start, imports, models, index, answer, exit."""
    package = str(Path(__file__).resolve().parents[2])
    search = [package, os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        **{f"CERTIRAG_{name.upper()}": str(value) for name, value in settings.caps().items()},
        "CERTIRAG_HOME": str(settings.home),
        "PYTHONPATH": os.pathsep.join(part for part in search if part),
    }
    command = [sys.executable, "-m", "certirag", "ask", "--index", str(index), "--", question]
    started = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603  # this interpreter on this package
            command, capture_output=True, env=environment, check=False, timeout=_COLD_LIMIT
        )
    except subprocess.TimeoutExpired as error:
        raise CertiRAGError(
            f"a cold start took more than {_COLD_LIMIT} s: run it on a machine with less to do"
        ) from error
    spent = time.perf_counter() - started
    if done.returncode not in {0, 3}:  # an answer, or a refusal to give one
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise CertiRAGError(f"a cold start failed with exit code {done.returncode}: {lines[-1]}")
    return spent
