"""The command line of what measures answers and verifiers: ``certirag eval``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certirag.cli.ablation_arguments import add_parts
from certirag.cli.number_arguments import whole
from certirag.cli.spot_arguments import add_spot_check

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Any]  # noqa: SLF001


def add_evaluating(commands: Commands) -> None:
    """Add ``eval``."""
    evaluate = commands.add_parser("eval", help="measure how good answers are")
    kinds = evaluate.add_subparsers(required=True, metavar="WHAT")
    _add_answers(kinds)
    for kind in (_add_pairs(kinds), _add_builtin(kinds), _add_alce(kinds), *add_parts(kinds)):
        kind.add_argument("--jobs", type=whole(1), metavar="N", default=1, help="N processes")
    _add_risk(kinds)
    _add_compare(kinds)
    _add_bounds(kinds)
    add_spot_check(kinds)


def _add_answers(kinds: Commands) -> None:
    answers = kinds.add_parser(
        "answers", help="questions with the sentences that people marked as their answer"
    )
    answers.add_argument("--data", required=True, type=Path, metavar="PATH|hub:OWNER/NAME[/FILE]")
    answers.add_argument(
        "--format",
        metavar="NAME",
        default="plain",
        help="clapnq, selqa or plain: docs/evaluation.md",
    )
    answers.add_argument("--limit", type=whole(1), metavar="N", help="N questions, evenly")
    answers.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    answers.add_argument("--json", action="store_true", help="print the figures as JSON")
    answers.set_defaults(run="measure_commands:eval_answers")


def _add_pairs(kinds: Commands) -> argparse.ArgumentParser:
    pairs: argparse.ArgumentParser = kinds.add_parser(
        "pairs", help="statements and texts, labelled: verifier and gate"
    )
    pairs.add_argument("--data", required=True, type=Path, metavar="PATH|hub:OWNER/NAME[/FILE]")
    pairs.add_argument(
        "--format",
        metavar="NAME",
        default="plain",
        help="of a published benchmark, such as wice or ragtruth: docs/evaluation.md",
    )
    pairs.add_argument("--out", required=True, type=Path, metavar="DIR", help="a run goes on there")
    pairs.add_argument("--limit", type=whole(1), metavar="N", help="N rows, drawn by --seed")
    pairs.add_argument("--seed", type=whole(0), metavar="N", default=0)
    pairs.add_argument("--verifier", metavar="NAME")
    pairs.add_argument("--profile", metavar="NAME", help="the policy that decides")
    pairs.add_argument("--json", action="store_true", help="print the figures as JSON")
    pairs.set_defaults(run="measure_commands:eval_pairs")
    return pairs


def _add_builtin(kinds: Commands) -> argparse.ArgumentParser:
    builtin: argparse.ArgumentParser = kinds.add_parser(
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
    return builtin


def _add_risk(kinds: Commands) -> None:
    risk = kinds.add_parser(
        "risk", help="how often badges are wrong on labelled sets, with exact intervals"
    )
    risk.add_argument(
        "--sets",
        nargs="+",
        choices=("documents", "drafts", "public"),
        default=(),
        help="what to measure; without it documents and drafts, and with --data public too",
    )
    risk.add_argument(
        "--data",
        type=Path,
        metavar="PATH|hub:OWNER/NAME/FILE",
        help="the pairs of the set public, which do not ship",
    )
    risk.add_argument(
        "--policy",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="one or more; without it strict-1 and strict-2",
    )
    risk.add_argument(
        "--limit", type=whole(1), metavar="N", help="about N rows or drafts of each set, evenly"
    )
    risk.add_argument("--verifier", metavar="NAME")
    risk.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the measurements into this file, in place of those it has of the same sets",
    )
    risk.add_argument("--json", action="store_true", help="print the figures as JSON")
    risk.set_defaults(run="measure_commands:eval_risk")


def _add_compare(kinds: Commands) -> None:
    compared = kinds.add_parser("compare", help="two runs over the same rows, with tests")
    compared.add_argument("runs", nargs=2, type=Path, metavar="DIR")
    compared.add_argument("--json", action="store_true", help="print the figures as JSON")
    compared.set_defaults(run="measure_commands:eval_compare")


def _add_bounds(kinds: Commands) -> None:
    bounds = kinds.add_parser("bounds", help="whether a run's figures stay within named bounds")
    bounds.add_argument("folder", type=Path, metavar="DIR", help="of a finished run")
    bounds.add_argument("--bounds", required=True, type=Path, metavar="FILE.toml")
    bounds.add_argument("--json", action="store_true", help="print what became of each as JSON")
    bounds.set_defaults(run="bounds_commands:eval_bounds")


def _add_alce(kinds: Commands) -> argparse.ArgumentParser:
    alce: argparse.ArgumentParser = kinds.add_parser(
        "alce", help="citation recall and precision of ALCE's result files"
    )
    alce.add_argument("--data", required=True, type=Path, metavar="FILE.json")
    alce.add_argument("--out", required=True, type=Path, metavar="DIR", help="a run goes on there")
    alce.add_argument("--limit", type=whole(1), metavar="N", help="N answers, drawn by --seed")
    alce.add_argument("--seed", type=whole(0), metavar="N", default=0)
    alce.add_argument("--verifier", metavar="NAME")
    alce.add_argument(
        "--listed", action="store_true", help="answers are lists with commas, as QAMPARI's"
    )
    alce.add_argument("--json", action="store_true", help="print the figures as JSON")
    alce.set_defaults(run="measure_commands:eval_alce", profile=None)
    return alce
