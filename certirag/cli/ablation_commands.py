"""The commands that measure parts of the pipeline against others: eval retrieval and eval ablation."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from certirag.cli.output import note, print_json, say_progress
from certirag.eval.retrieval import RetrievalRun, run_retrieval
from certirag.settings import Settings


def eval_retrieval(options: argparse.Namespace, settings: Settings) -> int:
    """Say at which place each search finds what answers; a run that was interrupted goes on."""
    run = RetrievalRun(options.data, options.out, options.every, options.jobs)
    return _show(run_retrieval(run, settings, say_progress), options.out, as_json=options.json)


def _show(report: dict[str, Any], out: Path, *, as_json: bool) -> int:
    note(f"rows and tables are in {out}")
    if as_json:
        print_json(report)
    else:
        print((out / "figures.md").read_text("utf-8"))
    return 0
