"""Reads grounding pairs and says what each teaches: the rows of training and of measurement."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from certirag.errors import InputError

RowLabel = Literal["entailed", "neutral", "contradicted", "not_entailed"]
LABELS: Final[tuple[RowLabel, ...]] = get_args(RowLabel)


@dataclass(frozen=True, slots=True)
class Row:
    """One premise with one hypothesis, and what people (or a known edit) say of the two.

    *label* ``not_entailed`` leaves open whether the premise is silent or speaks against it: such
    a row teaches the support side alone.
    """

    source: str
    premise: str
    hypothesis: str
    label: RowLabel


def read_rows(path: Path) -> list[Row]:
    """Read JSON lines, gzipped where the name ends in .gz; raise InputError naming a bad line."""
    opener = gzip.open if path.suffix == ".gz" else open
    rows = []
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    rows.append(_row(line, f"{path}, line {number}"))
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot read pairs from {path}: {error}"
        raise InputError(message) from error
    if not rows:
        message = f"{path} holds no pairs"
        raise InputError(message)
    return rows


def _row(line: str, place: str) -> Row:
    try:
        found = json.loads(line)
        row = Row(found["source"], found["premise"], found["hypothesis"], found["label"])
    except (ValueError, KeyError, TypeError) as error:
        message = f"{place} is not a pair with source, premise, hypothesis and label: {error!r}"
        raise InputError(message) from error
    if row.label not in LABELS or not (row.premise and row.hypothesis):
        message = (
            f"{place}: label is {row.label!r} (one of {', '.join(LABELS)}), or a text is empty"
        )
        raise InputError(message)
    return row


# The kinds of text that the verifier is for are the rarest in the data: of these five times the
# share is held out, or the head and its thresholds would be fitted on captions of pictures.
GROUNDING: Final = ("begin", "factcg", "fever_symmetric", "fool_me_twice", "summedits", "wice")


def held_out(rows: Iterable[Row], share: float) -> tuple[list[Row], list[Row]]:
    """Split *rows* into those to train on and a *share* to hold out, by the premise's digest.

    All rows of one premise fall on one side, the same side on every run; of grounding sources
    five times *share* is held out.
    """
    sides: tuple[list[Row], list[Row]] = ([], [])
    for row in rows:
        digest = hashlib.sha256(row.premise.encode()).digest()
        own = 5 * share if row.source.startswith(GROUNDING) else share
        sides[int.from_bytes(digest[:4], "big") < own * 2**32].append(row)
    return sides


def by_source(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group *rows* by source, sources in alphabetical order."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.source, []).append(row)
    return dict(sorted(groups.items()))


def limited(rows: Sequence[Row], limit: int | None) -> Iterator[Row]:
    """Yield about *limit* rows (all when None), evenly spread so that every source keeps its share."""
    if limit is None or limit >= len(rows):
        yield from rows
        return
    for at in range(limit):
        yield rows[at * len(rows) // limit]
