"""The commands that measure: score, bench and eval."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from certirag.bootstrap import make_splitter, make_verifier
from certirag.cli.files import json_line, read_pairs, write_beside
from certirag.cli.measure_arguments import BENCH_ENTRIES
from certirag.cli.output import note, print_json, say_progress
from certirag.errors import InputError
from certirag.eval.alce import AlceRun, run_alce
from certirag.eval.answers import (
    answers_report_lines,
    run_answers,
)
from certirag.eval.bench import report_lines, run_bench
from certirag.eval.bench_audit import audit_report_lines, run_audit_bench
from certirag.eval.bench_reading import reading_report_lines, run_reading_bench
from certirag.eval.bounds import bounds_lines, check_bounds, read_bounds
from certirag.eval.builtin import BuiltinRun, run_builtin
from certirag.eval.compare_runs import compare_runs, comparison_lines
from certirag.eval.hub_data import local_data
from certirag.eval.pairs import PairsRun, run_pairs
from certirag.eval.plot_files import plots_left_out
from certirag.eval.published_answers import read_published_answers
from certirag.eval.published_files import told
from certirag.eval.risk import RiskRun, risk_table, run_risk
from certirag.eval.workload import demo_workloads, own_workload
from certirag.ports import Progress
from certirag.render import visible
from certirag.settings import Settings
from certirag.verification.judge import score_rows
from certirag.verification.measured import measurements_bytes

BOUNDS_FORMAT: Final = 1  # of what became of the bounds, as JSON
CHECK_FAILED: Final = 4


def score(options: argparse.Namespace, settings: Settings) -> int:
    """Score pairs of premise and hypothesis."""
    verifier = make_verifier(options.verifier or settings.verifier)
    rows = read_pairs(options.pairs)
    scored = score_rows(rows, verifier, make_splitter(settings.sentences), say_progress)
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
    if options.folder or options.entries != BENCH_ENTRIES:
        raise InputError("--entries and --folder are for --audit")
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
    _require_folder(options.out)
    rows, left_out = read_published_answers(options.format, local_data(options.data))
    if left_out:
        note(f"questions left out: {told(left_out)}")
    if options.limit and options.limit < len(rows):
        rows = [rows[at * len(rows) // options.limit] for at in range(options.limit)]
    report = run_answers(rows, settings, say_progress)
    report["data"] = {"name": options.data.name, "format": options.format}
    return _show(report, tuple(answers_report_lines(report)), options)


def eval_pairs(options: argparse.Namespace, settings: Settings) -> int:
    """Measure labelled pairs through the verifier and the gate; a run that was interrupted goes on."""
    data = local_data(options.data)
    run = PairsRun(data, options.out, options.limit, options.seed, options.jobs, options.format)
    return _run_into_folder(partial(run_pairs, run), options, settings)


def eval_alce(options: argparse.Namespace, settings: Settings) -> int:
    """Measure the citations of answers in ALCE's result files; a run that was interrupted goes on."""
    data = local_data(options.data)
    run = AlceRun(data, options.out, options.limit, options.seed, options.jobs, options.listed)
    return _run_into_folder(partial(run_alce, run), options, settings)


def eval_builtin(options: argparse.Namespace, settings: Settings) -> int:
    """Measure the benchmark that ships; a run that was interrupted goes on."""
    run = BuiltinRun(options.out, options.every, options.jobs)
    return _run_into_folder(partial(run_builtin, run), options, settings)


def eval_risk(options: argparse.Namespace, settings: Settings) -> int:
    """Count wrong badges on labelled sets; a set that is measured stands in the file at once."""
    _require_folder(options.out)
    data = local_data(options.data) if options.data else None
    run = RiskRun(options.sets, options.policy or (), data, options.limit, options.out)
    settings = replace(settings, verifier=options.verifier or settings.verifier)
    found = run_risk(run, settings, say_progress)
    if options.out:
        note(f"measurements written to {options.out}")
    if options.json:
        print_json(json.loads(measurements_bytes(found)))
    else:
        print(risk_table(found).markdown())
    return 0


def _run_into_folder(
    measure: Callable[[Settings, Progress], dict[str, Any]],
    options: argparse.Namespace,
    settings: Settings,
) -> int:
    settings = replace(
        settings,
        verifier=options.verifier or settings.verifier,
        policy=options.profile or settings.policy,
    )
    report = measure(settings, say_progress)
    note(f"rows, tables and plots are in {options.out}")
    left_out = plots_left_out()
    if left_out:
        note(left_out)
    if options.json:
        print_json(report)
    else:
        print((options.out / "figures.md").read_text("utf-8"))
    return 0


def eval_compare(options: argparse.Namespace, _settings: Settings) -> int:
    """Say where two runs over the same rows differ, and whether that is more than chance."""
    one, other = options.runs
    report = compare_runs(one, other, say_progress)
    if options.json:
        print_json(report)
    else:
        print("\n".join(map(visible, comparison_lines(report))))
    return 0


def eval_bounds(options: argparse.Namespace, _settings: Settings) -> int:
    """Say of each bound whether it holds; the exit code is 4 where one does not."""
    checked = check_bounds(options.folder, read_bounds(options.bounds))
    if options.json:
        print_json({"format": BOUNDS_FORMAT, "bounds": list(map(asdict, checked))})
    else:
        print("\n".join(map(visible, bounds_lines(checked))))
    return CHECK_FAILED if any(one.broken for one in checked) else 0


def _bench_audit(options: argparse.Namespace) -> int:
    if options.data or options.questions or options.verifier:
        raise InputError("--audit makes its own answers: leave --data, --questions, --verifier out")
    _require_folder(options.out)
    with tempfile.TemporaryDirectory(prefix="certirag-audit-") as made:
        folder = options.folder or Path(made)
        report = run_audit_bench(options.entries, folder, say_progress)
    return _show(report, audit_report_lines(report), options)


def _bench_reading(options: argparse.Namespace, settings: Settings) -> int:
    given = (options.data, options.questions, options.verifier, options.folder, options.limit)
    if any(given) or options.repeat > 1 or options.entries != BENCH_ENTRIES:
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
