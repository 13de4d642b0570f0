"""The arguments of the human spot check: eval sample, eval agreement and eval overrides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from certirag.cli.number_arguments import whole

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[Any]  # noqa: SLF001

SAMPLED: Final = 200  # CertiRAG seed §12.1


def add_spot_check(kinds: Commands) -> None:
    """Add ``sample``, ``agreement`` and ``overrides`` to the kinds of ``eval``."""
    sample = kinds.add_parser("sample", help="draw Verified claims for people to judge, blind")
    sample.add_argument("run_folder", nargs="?", type=Path, metavar="RUN", help="a run's folder")
    sample.add_argument(
        "--refused",
        action="store_true",
        help="of the log's answers that a reviewer refused, in place of a run; needs --consent",
    )
    sample.add_argument(
        "--consent",
        action="store_true",
        help="with --refused: you may show what people asked to raters",
    )
    sample.add_argument("--out", required=True, type=Path, metavar="DIR")
    sample.add_argument("--size", type=whole(1), metavar="N", default=SAMPLED)
    sample.add_argument("--seed", type=whole(0), metavar="N", default=0)
    sample.set_defaults(run="spot_commands:eval_sample")
    agreed = kinds.add_parser("agreement", help="what raters of a sample say, and how far alike")
    agreed.add_argument("sample", type=Path, metavar="DIR")
    agreed.add_argument("--csv", type=Path, metavar="FILE", help="write a line for each claim")
    agreed.add_argument("--json", action="store_true", help="print the figures as JSON")
    agreed.set_defaults(run="spot_commands:eval_agreement")
    overrides = kinds.add_parser("overrides", help="what raters hold against the gate, to train on")
    overrides.add_argument("samples", nargs="+", type=Path, metavar="DIR")
    overrides.add_argument("--out", required=True, type=Path, metavar="FILE.jsonl")
    overrides.add_argument(
        "--consent",
        action="store_true",
        help="you may have these texts trained on; ratings without their rater's consent stay out",
    )
    overrides.set_defaults(run="spot_commands:eval_overrides")
