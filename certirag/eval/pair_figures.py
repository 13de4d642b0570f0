"""How good a verifier's scores of labelled pairs are, source by source.

A row's gold is entailed, contradicted or not_enough_info, or not_entailed where nobody said which. A
row that the verifier labelled ``error`` counts as called not entailed with a score of 0; calibration
is measured on the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from certirag.eval import measures
from certirag.eval.figure_tables import FigureTable
from certirag.eval.label_measures import average_precision, macro_f1

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
CALLED: Final = 0.5
TAU: Final = 0.85
CLASSES: Final = ("entailed", "not_enough_info", "contradicted")
LABELS: Final = (*CLASSES, "error")  # that a verifier gives
_GOLDS: Final = (*CLASSES, "not_entailed")
GOLD: Final = {
    **{name: name for name in _GOLDS},
    "neutral": "not_enough_info",
}
# Sources that are parts of one benchmark are reported apart and together.
_POOLED: Final = ("attributionbench",)
ALL: Final = "all rows"


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One scored row as far as the figures need it; *label* ``error`` has three scores of 0."""

    source: str
    gold: str
    label: str
    scores: tuple[float, float, float]
    premise_words: int
    hypothesis_words: int


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """How the label of one class did against three-way gold; NaN where there is nothing."""

    rows: int
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """All figures of one source; NaN where its rows lack a class that the figure needs.

    *balanced_accuracy*, *called_entailed* and *macro_f1* (of entailed and not) are at a score of 0.5,
    *shipped* at the threshold asked for. *auroc_length_matched* compares *length_matched_pairs* pairs
    of rows of about equal lengths only. *auprc* is the average precision; *three_way_macro_f1* is of
    the labels, and *confusion* counts them: gold, then label, then rows.
    """

    source: str
    rows: int
    errors: int
    entailed: int
    balanced_accuracy: float
    called_entailed: float
    auroc: float
    auroc_length_matched: float
    length_matched_pairs: int
    ece: float
    brier: float
    three_way_accuracy: float
    classes: dict[str, ClassFigures]
    shipped: measures.Threshold
    reliability: tuple[measures.ReliabilityBin, ...]
    auprc: float
    macro_f1: float
    three_way_macro_f1: float
    confusion: dict[str, dict[str, int]]


def figures(rows: Sequence[ScoredRow], tau: float = TAU) -> list[SourceFigures]:
    """Return the figures of each source in alphabetical order, pooled ones and all rows last."""
    return [
        _figures(name, own, tau) for name, own in sources_of(rows, lambda row: row.source).items()
    ]


def sources_of(rows: Sequence[T], source: Callable[[T], str]) -> dict[str, list[T]]:
    """Return *rows* by their source in alphabetical order, pooled ones and all rows last."""
    sources: dict[str, list[T]] = {}
    for row in rows:
        sources.setdefault(source(row), []).append(row)
    groups = dict(sorted(sources.items()))
    for name in _POOLED:
        parts = [own for at, own in groups.items() if at.startswith(f"{name}_")]
        if parts:
            groups[f"{name} (pooled)"] = [row for own in parts for row in own]
    return {**groups, ALL: list(rows)}


def _figures(source: str, rows: Sequence[ScoredRow], tau: float) -> SourceFigures:
    scores = np.array([row.scores[0] for row in rows])
    positive = np.array([row.gold == "entailed" for row in rows])
    sound = np.array([row.label != "error" for row in rows])
    strata = measures.length_strata(
        np.array([row.premise_words for row in rows]),
        np.array([row.hypothesis_words for row in rows]),
    )
    matched, pairs = measures.auroc_within(scores, positive, strata)
    three_way = [row for row in rows if row.gold != "not_entailed"]
    right = [row.label == row.gold for row in three_way]
    # Where nobody told silence from contradiction, only two classes were asked for.
    asked = len(three_way) == len(rows) and not positive.all()
    return SourceFigures(
        source=source,
        rows=len(rows),
        errors=int((~sound).sum()),
        entailed=int(positive.sum()),
        balanced_accuracy=measures.balanced_accuracy(scores >= CALLED, positive),
        called_entailed=float((scores >= CALLED).mean()),
        auroc=measures.auroc(scores, positive),
        auroc_length_matched=matched,
        length_matched_pairs=pairs,
        ece=measures.expected_calibration_error(scores[sound], positive[sound]),
        brier=measures.brier_score(scores[sound], positive[sound]),
        three_way_accuracy=sum(right) / len(right) if asked else math.nan,
        classes={name: _class_figures(name, three_way) for name in CLASSES} if asked else {},
        shipped=measures.at_threshold(scores, positive, tau),
        reliability=measures.reliability(scores[sound], positive[sound]),
        auprc=average_precision(scores, positive),
        macro_f1=macro_f1(_two_way(scores >= CALLED), _two_way(positive)),
        three_way_macro_f1=(
            macro_f1([row.label for row in three_way], [row.gold for row in three_way])
            if asked
            else math.nan
        ),
        confusion=_confusion(rows),
    )


def _two_way(entailed: NDArray[np.bool_]) -> list[str]:
    return ["entailed" if own else "not_entailed" for own in entailed]


def _confusion(rows: Sequence[ScoredRow]) -> dict[str, dict[str, int]]:
    """Return for each gold that stands in *rows* how many of its rows have each label."""
    counts = Counter((row.gold, row.label) for row in rows)
    found = sorted({row.gold for row in rows}, key=_GOLDS.index)
    return {gold: {label: counts[gold, label] for label in LABELS} for gold in found}


def _class_figures(name: str, rows: Sequence[ScoredRow]) -> ClassFigures:
    gold = sum(row.gold == name for row in rows)
    called = sum(row.label == name for row in rows)
    both = sum(row.label == name == row.gold for row in rows)
    return ClassFigures(
        rows=gold,
        precision=both / called if called else math.nan,
        recall=both / gold if gold else math.nan,
    )


def json_values(found: Sequence[Any]) -> list[Any]:
    """Return the dataclasses *found* as JSON values, null for NaN."""
    return [_plain(asdict(own)) for own in found]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def verifier_tables(found: Sequence[SourceFigures]) -> tuple[FigureTable, ...]:
    """Return *found* as tables for a reader: all sources, the classes if any, and what ranks and labels come to."""
    tau = found[0].shipped.tau
    head = (
        "Source",
        "Rows",
        "Errors",
        "Balanced accuracy",
        "AUROC",
        "Length-matched",
        "ECE",
        "Three-way",
        "Called entailed",
        f"Precision at {tau:g}",
        "Coverage",
    )
    rows = [
        (
            own.source,
            str(own.rows),
            str(own.errors),
            _decimal(own.balanced_accuracy),
            _decimal(own.auroc),
            _decimal(own.auroc_length_matched),
            _decimal(own.ece),
            _decimal(own.three_way_accuracy),
            _percent(own.called_entailed),
            _precision(own.shipped),
            _percent(own.shipped.coverage),
        )
        for own in found
    ]
    classes = [
        (own.source, name.replace("_", " "), str(c.rows), _decimal(c.precision), _decimal(c.recall))
        for own in found
        for name, c in own.classes.items()
    ]
    tables = [FigureTable("The verifier alone", head, tuple(rows))]
    if classes:
        class_head = ("Source", "Class", "Rows", "Precision", "Recall")
        tables.append(FigureTable("The verifier alone, class by class", class_head, tuple(classes)))
    return (*tables, _ranks_and_labels(found))


def _ranks_and_labels(found: Sequence[SourceFigures]) -> FigureTable:
    head = ("Source", "Entailed", "AUPRC", "Brier", "Macro-F1", "Three-way macro-F1")
    rows = [
        (
            own.source,
            _percent(own.entailed / own.rows),
            _decimal(own.auprc),
            _decimal(own.brier),
            _decimal(own.macro_f1),
            _decimal(own.three_way_macro_f1),
        )
        for own in found
    ]
    return FigureTable("The verifier alone, ranks and labels", head, tuple(rows))


def _decimal(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1%}"


def _precision(found: measures.Threshold) -> str:
    if not found.called:
        return "–"
    return f"{found.precision:.3f} ({found.low:.3f} to {found.high:.3f})"
