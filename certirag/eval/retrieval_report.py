"""The figures of searches over the same questions: recall, precision, NDCG and MRR, with a paired test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from certirag.eval.figure_tables import FigureTable, flat_table
from certirag.eval.measures import bootstrap_interval, holm
from certirag.eval.pair_figures import json_values, sources_of
from certirag.eval.published_files import plain_name
from certirag.eval.ranking import (
    ndcg_at,
    paired_randomization,
    precision_at,
    recall_at,
    reciprocal_rank,
)

FORMAT: Final = 1  # of the figures
BM25, DENSE = "BM25 alone", "dense alone"
DENSE_RERANKED = "dense, reranked"
HYBRID, RERANKED = "hybrid", "hybrid, reranked"
COSINE = "cosine of sentences"
SYSTEMS: Final = (BM25, DENSE, DENSE_RERANKED, HYBRID, RERANKED, COSINE)
Level = Literal["passages", "sentences"]
_LEVELS: Final[tuple[Level, ...]] = ("passages", "sentences")
# marks of a ranking, how much is relevant → a figure in [0, 1]
_MEASURES: Final[dict[str, Callable[[Sequence[bool], int], float]]] = {
    "Recall@1": partial(recall_at, k=1),
    "Recall@5": partial(recall_at, k=5),
    "Recall@10": partial(recall_at, k=10),
    "Precision@5": partial(precision_at, k=5),
    "NDCG@10": partial(ndcg_at, k=10),
    "MRR": reciprocal_rank,
}
_TESTED: Final = ("NDCG@10", "MRR")


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """The 1-based places, in one ranking each, of the relevant passages and sentences."""

    passages: tuple[int, ...]
    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """Where each search found what the question *number* asks for.

    *passages* and *sentences* count what is relevant in its corpus; 0 where the readers of documents
    have no sentence of it, and then the question measures nothing. *found* is by the search's name.
    """

    number: int
    part: str
    corpus: str
    question: str
    passages: int
    sentences: int
    found: dict[str, FoundPlaces]


@dataclass(frozen=True, slots=True)
class SearchFigure:
    """The mean of *measure* over the questions of one *part*, with its 95 % interval by bootstrap.

    *p* is of the paired difference from hybrid (`ranking.paired_randomization`), adjusted by Holm for
    the searches compared; None for hybrid itself.
    """

    part: str
    level: Level
    system: str
    questions: int
    measure: str
    mean: float
    low: float
    high: float
    p: float | None


def write_retrieval_report(
    rows: Sequence[RankedQuestion], out: Path, *, head: str, without_answer: int
) -> dict[str, Any]:
    """Write the tables of *rows* into the folder *out*, and return their figures.

    *without_answer* questions of the data were not searched: there is nothing to find.
    """
    placed = [row for row in rows if row.sentences]
    parts = sources_of(placed, lambda row: row.part) if placed else {}
    found = [
        figure
        for part, own in parts.items()
        for level in _LEVELS
        for figure in _figures(part, level, own)
    ]
    foot = f"{len(placed)} questions; {without_answer} of the data have no answer and were not searched."
    if len(placed) < len(rows):
        foot += f" {len(rows) - len(placed)} more have none in the corpus as it is read."
    foot += (
        " Every sentence that answers counts as relevant, so that Recall@1 reaches 1 only where there"
        " is one. p: paired randomization against hybrid, adjusted by Holm for the other searches."
    )
    tables = "\n".join(
        f"## {plain_name(part)}: {level}\n\n{_markdown(found, part, level)}\n"
        for part in parts
        for level in _LEVELS
    )
    (out / "figures.md").write_text(f"{head}\n\n{tables}\n{foot}\n", "utf-8")
    report = {
        "format": FORMAT,
        "questions": len(placed),
        "without_answer": without_answer,
        "unplaced": [row.question for row in rows if not row.sentences],
        "figures": json_values(found),
    }
    plain = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    (out / "figures.json").write_text(plain + "\n", "utf-8")
    (out / "figures.csv").write_text(flat_table("Retrieval", found).csv(), "utf-8", newline="")
    return report


def _figures(part: str, level: Level, rows: Sequence[RankedQuestion]) -> list[SearchFigure]:
    found = []
    for measure, of in _MEASURES.items():
        values = {name: [_value(row, level, name, of) for row in rows] for name in SYSTEMS}
        others = [name for name in SYSTEMS if name != HYBRID]
        tested = [paired_randomization(values[name], values[HYBRID], seed=0) for name in others]
        p = dict(zip(others, holm(tested), strict=True))
        for name, own in values.items():
            low, high = bootstrap_interval(partial(_mean, np.array(own)), len(own), seed=0)
            mean = sum(own) / len(own)
            figure = SearchFigure(
                part, level, name, len(own), measure, mean, low, high, p.get(name)
            )
            found.append(figure)
    return found


def _mean(values: Any, drawn: Any) -> float:
    return float(values[drawn].mean())


def _value(
    row: RankedQuestion, level: Level, system: str, of: Callable[[Sequence[bool], int], float]
) -> float:
    places = set(getattr(row.found[system], level))
    marks = [place in places for place in range(1, max(places, default=0) + 1)]
    return of(marks, getattr(row, level))


def _markdown(found: Sequence[SearchFigure], part: str, level: Level) -> str:
    own = {
        (figure.system, figure.measure): figure
        for figure in found
        if (figure.part, figure.level) == (part, level)
    }
    tests = [f"p, {name}" for name in _TESTED]
    rows = [
        (
            system,
            *(_with_interval(own[system, measure]) for measure in _MEASURES),
            *(_p(own[system, measure].p) for measure in _TESTED),
        )
        for system in SYSTEMS
    ]
    return FigureTable("Retrieval", ("Search", *_MEASURES, *tests), tuple(rows)).markdown()


def _with_interval(figure: SearchFigure) -> str:
    return f"{figure.mean:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}"
