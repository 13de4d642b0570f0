"""Recomputes the model card's table from scored rows: how good the verifier is, source by source.

    certirag score --pairs dev.jsonl.gz --out scores.jsonl
    python -m training.report --scores scores.jsonl --markdown

A scored row holds ``source``, ``gold`` (entailed, contradicted, neutral or not_enough_info, or
not_entailed where nobody said which), the verifier's ``label`` and three probabilities. A row
that the verifier labelled ``error`` counts as called not entailed with a score of 0; calibration
is measured on the others.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from certirag.core.verdict import is_score
from certirag.errors import CertiRAGError, InputError
from training import measures

CALLED: Final = 0.5
TAU: Final = 0.85
CLASSES: Final = ("entailed", "not_enough_info", "contradicted")
_GOLD: Final = {
    **{name: name for name in (*CLASSES, "not_entailed")},
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

    *balanced_accuracy* and *called_entailed* are at a score of 0.5, *shipped* at the threshold
    asked for. *auroc_length_matched* compares *length_matched_pairs* pairs of rows of about equal
    lengths only.
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


def figures(rows: Sequence[ScoredRow], tau: float = TAU) -> list[SourceFigures]:
    """Return the figures of each source in alphabetical order, pooled ones and all rows last."""
    sources: dict[str, list[ScoredRow]] = {}
    for row in rows:
        sources.setdefault(row.source, []).append(row)
    groups = dict(sorted(sources.items()))
    for name in _POOLED:
        parts = [own for source, own in groups.items() if source.startswith(f"{name}_")]
        if parts:
            groups[f"{name} (pooled)"] = [row for own in parts for row in own]
    return [_figures(name, own, tau) for name, own in {**groups, ALL: list(rows)}.items()]


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
    )


def _class_figures(name: str, rows: Sequence[ScoredRow]) -> ClassFigures:
    gold = sum(row.gold == name for row in rows)
    called = sum(row.label == name for row in rows)
    both = sum(row.label == name == row.gold for row in rows)
    return ClassFigures(
        rows=gold,
        precision=both / called if called else math.nan,
        recall=both / gold if gold else math.nan,
    )


def read_scored(path: Path) -> list[ScoredRow]:
    """Read what ``certirag score`` wrote, gzipped where the name ends in .gz.

    Raises InputError, naming the line, for a row that is not as this file's first lines say.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    rows = []
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    rows.append(_scored_row(line, f"{path}, line {number}"))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        message = f"{path}: cannot be read ({error}): give the output of certirag score"
        raise InputError(message) from error
    if not rows:
        message = f"{path} holds no scored row: give the output of certirag score"
        raise InputError(message)
    return rows


def _scored_row(line: str, place: str) -> ScoredRow:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        message = f"{place}: not JSON: {error}"
        raise InputError(message) from error
    texts = ("source", "gold", "label", "premise", "hypothesis")
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in texts):
        message = (
            f"{place}: a scored row has strings {', '.join(texts)}; "
            "score pairs that have a source and a label"
        )
        raise InputError(message)
    gold, label = _GOLD.get(row["gold"]), row["label"]
    found = [row.get(name) for name in CLASSES]
    if gold is None or label not in {*CLASSES, "error"}:
        message = f"{place}: gold {row['gold']!r} or label {label!r} is none that is known"
        raise InputError(message)
    if label == "error":
        found = [0.0, 0.0, 0.0]
    if not all(map(is_score, found)):
        message = f"{place}: {', '.join(CLASSES)} must be numbers from 0 to 1"
        raise InputError(message)
    entailed, neutral, contradicted = (float(score) for score in found if score is not None)
    return ScoredRow(
        source=row["source"],
        gold=gold,
        label=label,
        scores=(entailed, neutral, contradicted),
        premise_words=len(row["premise"].split()),
        hypothesis_words=len(row["hypothesis"].split()),
    )


def json_values(found: Sequence[SourceFigures]) -> list[object]:
    """Return *found* as JSON values, null for NaN."""
    return [_plain(asdict(own)) for own in found]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def markdown(found: Sequence[SourceFigures]) -> str:
    """Return the model card's two tables of *found*: all sources, then the three classes."""
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
    table = [
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
    lines = _table(head, table)
    if classes:
        lines += ["", *_table(("Source", "Class", "Rows", "Precision", "Recall"), classes)]
    return "\n".join(lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---" if column == 0 else "---:" for column in range(len(head))]
    return [f"| {' | '.join(_cell(own) for own in row)} |" for row in (head, rule, *rows)]


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _decimal(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1%}"


def _precision(found: measures.Threshold) -> str:
    if not found.called:
        return "–"
    return f"{found.precision:.3f} ({found.low:.3f} to {found.high:.3f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.report", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--scores", type=Path, required=True, help="output of certirag score")
    parser.add_argument("--tau", type=float, default=TAU, help="the threshold of a badge")
    parser.add_argument("--markdown", action="store_true", help="tables instead of JSON")
    options = parser.parse_args(arguments)
    try:
        if not 0.0 <= options.tau <= 1.0:
            message = f"--tau {options.tau}: give a number from 0 to 1"
            raise InputError(message)
        found = figures(read_scored(options.scores), options.tau)
    except CertiRAGError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    if options.markdown:
        print(markdown(found))
    else:
        print(json.dumps(json_values(found), ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
