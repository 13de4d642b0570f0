"""The command line of what measures answers and verifiers: ``certirag eval``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from certirag.cli.number_arguments import whole
from certirag.settings import STRATEGIES

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Any]  # noqa: SLF001

SAMPLED: Final = 200  # claims of a spot check, CertiRAG seed §12.1


def add_evaluating(commands: Commands) -> None:
    """Add ``eval``."""
    evaluate = commands.add_parser("eval", help="measure how good answers are")
    kinds = evaluate.add_subparsers(required=True, metavar="WHAT")
    _add_answers(kinds)
    for kind in (_add_pairs(kinds), _add_builtin(kinds), _add_alce(kinds), *_add_parts(kinds)):
        kind.add_argument("--jobs", type=whole(1), metavar="N", default=1, help="N processes")
    _add_risk(kinds)
    _add_compare(kinds)
    _add_bounds(kinds)
    _add_spot_check(kinds)


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
    bounds.set_defaults(run="measure_commands:eval_bounds")


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


def _add_parts(kinds: Commands) -> list[argparse.ArgumentParser]:
    """Add the kinds of ``eval`` that set parts of the pipeline beside others, and return those that take --jobs."""
    retrieval = kinds.add_parser(
        "retrieval", help="where each search finds the passage and the sentence that answer"
    )
    retrieval.add_argument(
        "--data",
        type=Path,
        metavar="IN.jsonl[.gz]",
        help="questions as of `eval answers`; without it those of the fixtures",
    )
    retrieval.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="a run goes on there"
    )
    retrieval.add_argument(
        "--every", type=whole(1), metavar="N", default=1, help="every N-th question alone"
    )
    retrieval.add_argument("--json", action="store_true", help="print the figures as JSON")
    retrieval.set_defaults(run="ablation_commands:eval_retrieval")
    ablation = kinds.add_parser(
        "ablation", help="the benchmark that ships with one thing changed at a time"
    )
    ablation.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="DIR",
        help="a folder a variant; they go on there",
    )
    ablation.add_argument(
        "--every", type=whole(1), metavar="N", default=1, help="every N-th unit of each part alone"
    )
    ablation.add_argument(
        "--verifier",
        action="append",
        metavar="NAME",
        default=[],
        help="one more beside those that ship; may be given again",
    )
    ablation.add_argument(
        "--only",
        action="append",
        metavar="VARIANT",
        default=[],
        help="this variant and the default alone; may be given again",
    )
    ablation.add_argument("--profile", metavar="NAME", help="the policy of the default")
    ablation.add_argument("--json", action="store_true", help="print the figures as JSON")
    ablation.set_defaults(run="ablation_commands:eval_ablation")
    stages = kinds.add_parser("stages", help="each stage alone, on labelled data of its own")
    stages.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="a run goes on there"
    )
    stages.add_argument(
        "--every", type=whole(1), metavar="N", default=1, help="every N-th unit of the larger parts"
    )
    stages.add_argument("--json", action="store_true", help="print the figures as JSON")
    stages.set_defaults(run="ablation_commands:eval_stages")
    batch = kinds.add_parser("batch", help="many questions over an index, with throughput and p95")
    batch.add_argument("--questions", required=True, type=Path, metavar="FILE.jsonl")
    batch.add_argument("--index", required=True, type=Path, metavar="DIR")
    batch.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="exports and figures; a run goes on"
    )
    batch.add_argument("--limit", type=whole(1), metavar="N", help="the first N questions")
    batch.add_argument(
        "--engine",
        choices=("processes", "ray"),
        default="processes",
        help="what --jobs counts: processes here, or actors of a Ray cluster",
    )
    batch.add_argument("--profile", metavar="NAME", help="the policy that decides")
    batch.add_argument("--json", action="store_true", help="print the figures as JSON")
    batch.set_defaults(run="ablation_commands:eval_batch")
    return [retrieval, ablation, stages, batch, _add_writers(kinds)]


def _add_writers(kinds: Commands) -> argparse.ArgumentParser:
    writers: argparse.ArgumentParser = kinds.add_parser(
        "writers", help="your language model beside itself: plain, more searches, cited, certified"
    )
    writers.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="a run goes on there"
    )
    writers.add_argument(
        "--generator",
        metavar="NAME",
        help="openai:MODEL at CERTIRAG_LLM_URL, or llamacpp:FILE.gguf",
    )
    writers.add_argument("--strategy", metavar="NAME", help=f"CertiRAG's: {', '.join(STRATEGIES)}")
    writers.add_argument(
        "--questions",
        type=Path,
        metavar="FILE.jsonl",
        help="over --index; without both, those of the fixtures",
    )
    writers.add_argument("--index", type=Path, metavar="DIR")
    writers.add_argument(
        "--judge", metavar="NAME", help="the verifier that judges what citations bear out"
    )
    writers.add_argument(
        "--every", type=whole(1), metavar="N", default=1, help="every N-th question alone"
    )
    writers.add_argument("--profile", metavar="NAME", help="the policy that decides")
    writers.add_argument("--json", action="store_true", help="print the figures as JSON")
    writers.set_defaults(run="ablation_commands:eval_writers")
    return writers


def _add_spot_check(kinds: Commands) -> None:
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
