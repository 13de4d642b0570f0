"""The arguments of the commands that measure: score, bench and eval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from certirag.cli.ablation_arguments import add_parts
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

    evaluate = commands.add_parser("eval", help="measure how good answers are")
    kinds = evaluate.add_subparsers(required=True, metavar="WHAT")
    answers = kinds.add_parser(
        "answers", help="questions with the sentences that people marked as their answer"
    )
    answers.add_argument("--data", required=True, type=Path, metavar="IN.jsonl[.gz]")
    answers.add_argument("--limit", type=whole(1), metavar="N", help="N questions, evenly")
    answers.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    answers.add_argument("--json", action="store_true", help="print the figures as JSON")
    answers.set_defaults(run="measure_commands:eval_answers")
    pairs = kinds.add_parser("pairs", help="statements and texts, labelled: verifier and gate")
    pairs.add_argument("--data", required=True, type=Path, metavar="IN.jsonl[.gz]")
    pairs.add_argument("--out", required=True, type=Path, metavar="DIR", help="a run goes on there")
    pairs.add_argument("--limit", type=whole(1), metavar="N", help="N rows, drawn by --seed")
    pairs.add_argument("--seed", type=whole(0), metavar="N", default=0)
    pairs.add_argument("--verifier", metavar="NAME")
    pairs.add_argument("--profile", metavar="NAME", help="the policy that decides")
    pairs.add_argument("--json", action="store_true", help="print the figures as JSON")
    pairs.set_defaults(run="measure_commands:eval_pairs")
    builtin = kinds.add_parser(
        "builtin", help="the benchmark that ships, through the whole product"
    )
    builtin.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="a run goes on there"
    )
    builtin.add_argument(
        "--every", type=whole(1), metavar="N", default=1, help="every N-th unit of each part alone"
    )
    builtin.add_argument("--verifier", metavar="NAME")
    builtin.add_argument("--profile", metavar="NAME", help="the policy that decides")
    builtin.add_argument("--json", action="store_true", help="print the figures as JSON")
    builtin.set_defaults(run="measure_commands:eval_builtin")
    for kind in (pairs, builtin, *add_parts(kinds)):
        kind.add_argument("--jobs", type=whole(1), metavar="N", default=1, help="N processes")
    compared = kinds.add_parser("compare", help="two runs over the same rows, with tests")
    compared.add_argument("runs", nargs=2, type=Path, metavar="DIR")
    compared.add_argument("--json", action="store_true", help="print the figures as JSON")
    compared.set_defaults(run="measure_commands:eval_compare")
