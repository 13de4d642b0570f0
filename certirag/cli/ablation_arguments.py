"""The arguments of the kinds of ``eval`` that set parts of the pipeline beside others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from certirag.cli.number_arguments import whole
from certirag.settings import STRATEGIES

if TYPE_CHECKING:
    import argparse

    Kinds = argparse._SubParsersAction[Any]  # noqa: SLF001


def add_parts(kinds: Kinds) -> list[argparse.ArgumentParser]:
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


def _add_writers(kinds: Kinds) -> argparse.ArgumentParser:
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
