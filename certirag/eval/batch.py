"""`certirag eval batch`: many questions over one index in one run, with each answer's certificate (T-P2).

The answers are those of `certirag ask`, signed with the home's key and recorded in its log first. A
run that was killed goes on; what an answer says is the same however many workers answer, and a digest
over everything but time, names and signatures shows it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from pydantic import Field, TypeAdapter

from certirag import __version__
from certirag.answers.pipeline import answer_question
from certirag.answers.services import Services
from certirag.bootstrap import build_services, open_index
from certirag.core.text import sha256_hex
from certirag.errors import InputError
from certirag.eval.batch_engines import Map, spread_over
from certirag.eval.figure_tables import FigureTable
from certirag.eval.pairs import begin_run
from certirag.eval.resumable import measured_lines
from certirag.eval.workload import read_questions
from certirag.ports import Index, Progress
from certirag.settings import Settings

FORMAT: Final = 2  # of a run and its figures
LINES, ANSWERS = "answers.jsonl", "answers"
# What two answers to the same question differ in: when they were given, what they are called, who signed.
_OF_THE_MOMENT: Final = frozenset({"created_at", "trace_id", "certificate", "log"})


@dataclass(frozen=True, slots=True)
class BatchRun:
    """A run of the *questions* of a file over the index in a folder, into the folder *out*."""

    questions: Path
    index: Path
    out: Path
    jobs: int = 1
    engine: str = "processes"
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class BatchedAnswer:
    """The answer to the question *number*; *failed* says why there is none.

    *seconds* is wall time without loading models. *said* is the SHA-256 of what the export says,
    without what is of its moment; *export* is kept in a file of its own, whose SHA-256 is *sha256*.
    """

    number: int
    question: str
    seconds: float
    failed: str = ""
    trace_id: str = ""
    decision: str = ""
    claims: int = 0
    verified: int = 0
    said: str = ""
    sha256: str = ""
    export_bytes: int = 0
    export: Annotated[bytes, Field(exclude=True)] = b""


def run_batch(run: BatchRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Answer every question that *run*'s folder has no answer to yet, and return the figures of all.

    Raises InputError for a bad file, a folder of another run, and an answer of it that was changed;
    CorpusError as `open_index` does, and AuditError where the log refuses an answer.
    """
    questions = list(enumerate(read_questions(run.questions)))[: run.limit]
    # Here and first: the key and the log are made by one process.
    services = build_services(settings)
    index = open_index(run.index, services)
    begin_run(run.out, _described(questions, index, services))
    (run.out / ANSWERS).mkdir(exist_ok=True)
    before = _count(run.out / LINES)
    started = time.perf_counter()
    lines = measured_lines(
        run.out / LINES,
        TypeAdapter(BatchedAnswer),
        questions,
        partial(_answered, folder=run.index.absolute(), settings=settings),
        partial(progress, "Answering"),
        mapping=_keeping(spread_over(run.engine, run.jobs), run.out / ANSWERS),
    )
    seconds = time.perf_counter() - started
    _check(lines, run.out / ANSWERS)
    return _report(lines, run, len(lines) - before, seconds)


def _described(
    questions: Sequence[tuple[int, str]], index: Index, services: Services
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "what": "batch",
        "data": {
            "name": f"{len(questions)} questions",
            "sha256": hashlib.sha256(repr(questions).encode()).hexdigest(),
        },
        "limit": None,
        "seed": 0,
        "corpus": index.fingerprint,
        "models": [asdict(model) for model in services.models],
        "policy": asdict(services.policy),
        "settings": services.settings.caps(),
        "certirag": __version__,
    }


def _count(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@cache
def _parts(folder: Path, settings: Settings) -> tuple[Services, Index]:
    """Return what answers, made once in each process."""
    services = build_services(settings)
    return services, open_index(folder, services)


def _answered(
    units: Sequence[tuple[int, str]], folder: Path, settings: Settings
) -> list[BatchedAnswer]:
    services, index = _parts(folder, settings)
    return [_answer(number, question, index, services) for number, question in units]


def _answer(number: int, question: str, index: Index, services: Services) -> BatchedAnswer:
    started = time.perf_counter()
    try:
        answer = answer_question(question, index, services)
    except InputError as error:  # this question's alone; whatever else fails ends the run
        return BatchedAnswer(number, question, _since(started), failed=str(error))
    seconds = _since(started)
    export = json.loads(answer.export)
    return BatchedAnswer(
        number=number,
        question=question,
        seconds=seconds,
        trace_id=answer.trace_id,
        decision=export["answer"]["decision"],
        claims=len(export["decisions"]),
        verified=export["answer"]["verified"],
        said=said_by(export),
        sha256=sha256_hex(answer.export),
        export_bytes=len(answer.export),
        export=answer.export,
    )


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 3)


def said_by(export: dict[str, Any]) -> str:
    """Return the SHA-256 in hex of what *export* says, without what is of its moment."""
    kept = {name: value for name, value in export.items() if name not in _OF_THE_MOMENT}
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@contextmanager
def _keeping(mapping: AbstractContextManager[Map], folder: Path) -> Iterator[Map]:
    """Give the `map` of *mapping*, which writes each export before its line is written."""
    with mapping as each:

        def kept(measure: Any, parts: Any) -> Iterator[list[BatchedAnswer]]:
            for found in each(measure, parts):
                for answer in found:
                    if not answer.failed:
                        _write(folder / _name(answer), answer.export)
                yield found

        yield kept


def _name(answer: BatchedAnswer) -> str:
    return f"{answer.number + 1:05d}.json"


def _write(path: Path, export: bytes) -> None:
    """Write an export whole or not at all, for its owner alone: what people asked is in it."""
    try:
        new = path.with_suffix(".new")
        new.touch(0o600)
        new.write_bytes(export)
        new.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}): make room") from error


def _check(lines: Sequence[BatchedAnswer], folder: Path) -> None:
    """Raise InputError where the export of one of *lines* is not there or is another, signature included."""
    for answer in lines:
        path = folder / _name(answer)
        if answer.failed:
            continue
        try:
            same = sha256_hex(path.read_bytes()) == answer.sha256
        except OSError:
            same = False
        if not same:
            message = f"{path}: is not there or was changed since: take line"
            raise InputError(f"{message} {answer.number} out of {LINES} and run again")


def _report(
    lines: Sequence[BatchedAnswer], run: BatchRun, new: int, seconds: float
) -> dict[str, Any]:
    answered = [line for line in lines if not line.failed]
    times = np.array([line.seconds for line in answered] or [0.0])
    half, most = (float(np.percentile(times, q, method="inverted_cdf")) for q in (50, 95))
    report = {
        "format": FORMAT,
        "questions": len(lines),
        "failed": {str(line.number + 1): line.failed for line in lines if line.failed},
        "decisions": dict(sorted(Counter(line.decision for line in answered).items())),
        "claims": sum(line.claims for line in answered),
        "verified": sum(line.verified for line in answered),
        "p50_seconds": half,
        "p95_seconds": most,
        "export_bytes_mean": round(float(np.mean([line.export_bytes for line in answered] or [0]))),
        "this_time": {
            "engine": run.engine,
            "jobs": run.jobs,
            "answered": new,
            "seconds": round(seconds, 1),
            "answers_per_minute": round(60 * new / seconds, 2),
        },
        # One number for the whole run: equal for equal answers, however they were spread.
        "said": hashlib.sha256("".join(line.said for line in lines).encode()).hexdigest(),
    }
    (run.out / "figures.md").write_text(_markdown(report), "utf-8")
    (run.out / "figures.json").write_text(
        json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8"
    )
    return report


def _markdown(report: dict[str, Any]) -> str:
    now = report["this_time"]
    decisions = ", ".join(f"{count} {name}" for name, count in report["decisions"].items())
    rows = [
        ("Questions", str(report["questions"])),
        ("Decisions", decisions or "–"),
        ("Questions that could not be asked", str(len(report["failed"]))),
        ("Claims, and Verified ones", f"{report['claims']}, {report['verified']}"),
        ("Seconds an answer, median", f"{report['p50_seconds']:.2f}"),
        ("Seconds an answer, 95th percentile", f"{report['p95_seconds']:.2f}"),
        ("Bytes of an export, mean", str(report["export_bytes_mean"])),
        (
            f"Answers a minute this time ({now['jobs']} workers, {now['engine']})",
            (
                f"{now['answers_per_minute']:.1f} ({now['answered']} in {now['seconds']:.0f} s, "
                "loading included)"
            ),
        ),
        ("SHA-256 of all that was said", report["said"]),
    ]
    return FigureTable("Batch", ("Batch", "Result"), tuple(rows)).markdown() + "\n"
