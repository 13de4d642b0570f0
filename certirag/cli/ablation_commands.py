"""The commands that measure parts of the pipeline against others: eval retrieval, ablation, stages, batch and writers."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from certirag.cli.output import note, print_json, say_progress
from certirag.eval.ablation import AblationRun, run_ablation
from certirag.eval.batch import BatchRun, run_batch
from certirag.eval.retrieval import RetrievalRun, run_retrieval
from certirag.eval.stages import StagesRun, run_stages
from certirag.eval.writers import WritersRun, run_writers
from certirag.settings import Settings


def eval_retrieval(options: argparse.Namespace, settings: Settings) -> int:
    """Say at which place each search finds what answers; a run that was interrupted goes on."""
    run = RetrievalRun(options.data, options.out, options.every, options.jobs)
    return _show(run_retrieval(run, settings, say_progress), options.out, as_json=options.json)


def eval_ablation(options: argparse.Namespace, settings: Settings) -> int:
    """Measure the benchmark that ships with one thing changed at a time; a run goes on."""
    more, only = tuple(options.verifier), tuple(options.only)
    run = AblationRun(options.out, options.every, options.jobs, more, only)
    settings = replace(settings, policy=options.profile or settings.policy)
    return _show(run_ablation(run, settings, say_progress), options.out, as_json=options.json)


def eval_stages(options: argparse.Namespace, settings: Settings) -> int:
    """Measure each stage alone; a run that was interrupted goes on."""
    run = StagesRun(options.out, options.every, options.jobs)
    return _show(run_stages(run, settings, say_progress), options.out, as_json=options.json)


def eval_batch(options: argparse.Namespace, settings: Settings) -> int:
    """Answer many questions over one index; a run that was killed goes on."""
    run = BatchRun(
        options.questions, options.index, options.out, options.jobs, options.engine, options.limit
    )
    settings = replace(settings, policy=options.profile or settings.policy)
    return _show(run_batch(run, settings, say_progress), options.out, as_json=options.json)


def eval_writers(options: argparse.Namespace, settings: Settings) -> int:
    """Ask a language model in several ways and set what each shows beside the others; a run goes on."""
    run = WritersRun(
        options.out, options.questions, options.index, options.judge, options.every, options.jobs
    )
    settings = replace(
        settings,
        generator=options.generator or settings.generator,
        strategy=options.strategy or settings.strategy,
        policy=options.profile or settings.policy,
    )
    return _show(run_writers(run, settings, say_progress), options.out, as_json=options.json)


def _show(report: dict[str, Any], out: Path, *, as_json: bool) -> int:
    note(f"rows and tables are in {out}")
    if as_json:
        print_json(report)
    else:
        print((out / "figures.md").read_text("utf-8"))
    return 0
