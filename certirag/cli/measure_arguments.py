"""The arguments of the commands that measure: score, bench and eval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from certirag.cli.eval_arguments import add_evaluating
from certirag.cli.number_arguments import whole

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[Any]  # noqa: SLF001

BENCH_ENTRIES: Final = 1_000_000


def add_measuring(commands: Commands) -> None:
    """Add ``score``, ``bench`` and ``eval``."""
    scoring = commands.add_parser("score", help="score premise and hypothesis pairs")
    scoring.add_argument("--pairs", required=True, type=Path, metavar="IN.jsonl[.gz]")
    scoring.add_argument("--out", required=True, type=Path, metavar="OUT.jsonl")
    scoring.add_argument("--verifier", metavar="NAME")
    scoring.set_defaults(run="measure_commands:score")

    timing = commands.add_parser("bench", help="measure speed and memory of each stage")
    timing.add_argument("--data", nargs="+", type=Path, metavar="PATH", default=[])
    timing.add_argument("--questions", type=Path, metavar="FILE.jsonl")
    timing.add_argument("--verifier", metavar="NAME")
    timing.add_argument("--repeat", type=whole(1), metavar="N", default=1)
    timing.add_argument("--limit", type=whole(1), metavar="N", help="ask the first N questions")
    timing.add_argument("--out", type=Path, metavar="FILE", help="write the measurements as JSON")
    timing.add_argument("--json", action="store_true", help="print the measurements as JSON")
    timing.add_argument("--audit", action="store_true", help="measure an audit log instead")
    timing.add_argument(
        "--entries",
        type=whole(1),
        metavar="N",
        default=BENCH_ENTRIES,
        help="with --audit: how many (a million take 3 GB of disk)",
    )
    timing.add_argument(
        "--reading", action="store_true", help="measure reading documents of each format instead"
    )
    timing.add_argument(
        "--folder", type=Path, metavar="DIR", help="with --audit: keep the log here"
    )
    timing.set_defaults(run="measure_commands:bench")
    add_evaluating(commands)
