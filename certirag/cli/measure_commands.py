"""The commands that measure: score, bench and eval."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from certirag.cli.files import json_line, read_pairs, write_beside
from certirag.cli.output import note, print_json, say_progress
from certirag.errors import InputError
from certirag.render import visible
from certirag.settings import Settings

AUDIT_ENTRIES: Final = 1_000_000


def add_commands(commands: Any) -> None:
    """Add score, bench and eval to the subparsers *commands*."""
    scoring = commands.add_parser("score", help="score premise and hypothesis pairs")
    scoring.add_argument("--pairs", required=True, type=Path, metavar="IN.jsonl[.gz]")
    scoring.add_argument("--out", required=True, type=Path, metavar="OUT.jsonl")
    scoring.add_argument("--verifier", metavar="NAME")
    scoring.set_defaults(run=score)

    timing = commands.add_parser("bench", help="measure speed and memory of each stage")
    timing.add_argument("--data", nargs="+", type=Path, metavar="PATH", default=[])
    timing.add_argument("--questions", type=Path, metavar="FILE.jsonl")
    timing.add_argument("--verifier", metavar="NAME")
    timing.add_argument("--repeat", type=_at_least_one, metavar="N", default=1)
    timing.add_argument(
        "--limit", type=_at_least_one, metavar="N", help="ask the first N questions"
    )
    timing.add_argument("--out", type=Path, metavar="FILE", help="write the measurements as JSON")
    timing.add_argument("--json", action="store_true", help="print the measurements as JSON")
    timing.add_argument("--audit", action="store_true", help="measure an audit log instead")
    timing.add_argument(
        "--entries",
        type=_at_least_one,
        metavar="N",
        default=AUDIT_ENTRIES,
        help="with --audit: how many (a million take 3 GB of disk)",
    )
    timing.add_argument(
        "--reading", action="store_true", help="measure reading documents of each format instead"
    )
    timing.add_argument(
        "--folder", type=Path, metavar="DIR", help="with --audit: keep the log here"
    )
    timing.set_defaults(run=bench)

    evaluate = commands.add_parser("eval", help="measure how good answers are")
    answers = evaluate.add_subparsers(required=True, metavar="WHAT").add_parser(
        "answers", help="questions with the sentences that people marked as their answer"
    )
    answers.add_argument("--data", required=True, type=Path, metavar="IN.jsonl[.gz]")
    answers.add_argument("--limit", type=_at_least_one, metavar="N", help="N questions, evenly")
    answers.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    answers.add_argument("--json", action="store_true", help="print the figures as JSON")
    answers.set_defaults(run=eval_answers)


def _at_least_one(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number of at least 1")
    return int(text)


def score(options: argparse.Namespace, settings: Settings) -> int:
    """Score pairs of premise and hypothesis."""
    from certirag.bootstrap import make_embedder, make_splitter, make_verifier  # noqa: PLC0415  # starts fast
    from certirag.verification.score import WINDOW_SENTENCES, score_rows  # noqa: PLC0415

    verifier = make_verifier(
        options.verifier or settings.verifier, make_embedder(settings.embedder)
    )
    rows = read_pairs(options.pairs)
    # A model cuts windows that fit it; the lexical verifier has no window of its own.
    own = None if verifier.identity.name != "lexical" else WINDOW_SENTENCES
    split = make_splitter(settings.sentences)
    scored = score_rows(rows, verifier, split, say_progress, window_sentences=own)
    write_beside(options.out, map(json_line, scored))
    note(f"{len(scored)} rows written to {options.out}")
    saved = getattr(verifier, "saved_share", None)
    if saved is not None:  # of a cascade
        note(f"the strong verifier was spared {saved:.1%} of the pairs")
    return 0


def bench(options: argparse.Namespace, settings: Settings) -> int:
    """Measure the speed and memory of each stage, of an audit log, or of reading documents."""
    if options.audit and options.reading:
        raise InputError("--audit and --reading: give one of them")
    if options.audit:
        return _bench_audit(options)
    if options.reading:
        return _bench_reading(options, settings)
    if options.folder or options.entries != AUDIT_ENTRIES:
        raise InputError("--entries and --folder are for --audit")
    from certirag.eval.bench import run_bench  # noqa: PLC0415
    from certirag.eval.bench_report import report_lines  # noqa: PLC0415
    from certirag.eval.workload import demo_workloads, own_workload  # noqa: PLC0415

    if options.questions and not options.data:
        raise InputError("--questions needs documents too: give --data PATH")
    _require_folder(options.out)
    if options.verifier:
        settings = replace(settings, verifier=options.verifier)
    report = run_bench(
        own_workload(options.data, options.questions) if options.data else demo_workloads(),
        settings,
        say_progress,
        repeat=options.repeat,
        limit=options.limit,
    )
    return _show(report, report_lines(report), options)


def eval_answers(options: argparse.Namespace, settings: Settings) -> int:
    """Measure how often an answer begins with a sentence that people marked as the answer."""
    from certirag.eval.answers import (  # noqa: PLC0415
        answers_report_lines,
        read_answer_rows,
        run_answers,
    )

    _require_folder(options.out)
    rows = read_answer_rows(options.data)
    if options.limit and options.limit < len(rows):
        rows = [rows[at * len(rows) // options.limit] for at in range(options.limit)]
    report = run_answers(rows, settings, say_progress)
    return _show(report, tuple(answers_report_lines(report)), options)


def _bench_audit(options: argparse.Namespace) -> int:
    from certirag.eval.bench_audit import audit_report_lines, run_audit_bench  # noqa: PLC0415

    if options.data or options.questions or options.verifier:
        raise InputError("--audit makes its own answers: leave --data, --questions, --verifier out")
    _require_folder(options.out)
    with tempfile.TemporaryDirectory(prefix="certirag-audit-") as made:
        folder = options.folder or Path(made)
        report = run_audit_bench(options.entries, folder, say_progress)
    return _show(report, audit_report_lines(report), options)


def _bench_reading(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.eval.bench_reading import reading_report_lines, run_reading_bench  # noqa: PLC0415

    given = (options.data, options.questions, options.verifier, options.folder, options.limit)
    if any(given) or options.repeat > 1 or options.entries != AUDIT_ENTRIES:
        raise InputError(
            "--reading makes its own documents: give it no option but --out and --json"
        )
    _require_folder(options.out)
    report = run_reading_bench(settings, say_progress)
    return _show(report, reading_report_lines(report), options)


def _require_folder(out: Path | None) -> None:
    if out and not out.absolute().parent.is_dir():
        raise InputError(f"{out}: cannot be written: {out.parent} is no folder")


def _show(report: dict[str, Any], lines: Sequence[str], options: argparse.Namespace) -> int:
    if options.out:
        write_beside(options.out, [json_line(report)])
        note(f"measurements written to {options.out}")
    if options.json:
        print_json(report)
    else:
        print("\n".join(visible(line) for line in lines))
    return 0
