"""Labelled pairs, and what was measured of them: the lines of `certirag eval pairs`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from certirag.eval.gate_counts import LabelledRow
from certirag.eval.labelled_lines import labelled_lines
from certirag.eval.measured_claims import MeasuredClaim
from certirag.eval.pair_figures import ScoredRow
from certirag.eval.resumable import read_lines

Gold = Literal["entailed", "contradicted", "neutral", "not_enough_info", "not_entailed"]


@dataclass(frozen=True, slots=True)
class PairRow:
    """A labelled row of JSON Lines: whether *premise* bears *hypothesis* out.

    *false* is what makes the hypothesis untrue, or "" where that is its whole.
    """

    premise: str
    hypothesis: str
    label: Gold
    source: str = ""
    title: str = ""
    false: str = ""

    def labelled(self, number: int) -> LabelledRow:
        """Return the row as the gate counts it, *number* of its data (counted from 1 for a reader)."""
        entailed, name = self.label == "entailed", f"row {number + 1}"
        return LabelledRow(self.title, self.premise, self.hypothesis, entailed, self.false, name)


def read_pair_rows(path: Path) -> Iterator[PairRow]:
    """Yield the rows of JSON Lines as they are read; InputError for what is none."""
    for _, row in labelled_lines(path, TypeAdapter(PairRow)):
        yield row


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """What was measured of the row *number* of the data, and its badges at each threshold tried.

    *cosine* is the plainest baseline: of the hypothesis and the premise's closest sentence. *claims*
    are those of the hypothesis, decided under the policy in force. *premise* is "" where the row is
    a claim of a draft about a whole corpus, which *title* names.
    """

    number: int
    source: str
    title: str
    premise: str
    hypothesis: str
    false: str
    gold: str
    label: str
    entailed: float | None
    not_enough_info: float | None
    contradicted: float | None
    cosine: float
    premise_words: int
    hypothesis_words: int
    claims: list[MeasuredClaim]
    counts: list[tuple[int, int, int, int]]

    @property
    def scored(self) -> ScoredRow:
        """The row as the figures of a verifier take it."""
        found = (self.entailed, self.not_enough_info, self.contradicted)
        scores = tuple(0.0 if score is None else score for score in found)
        return ScoredRow(
            self.source,
            self.gold,
            self.label,
            (scores[0], scores[1], scores[2]),
            self.premise_words,
            self.hypothesis_words,
        )


MEASURED: Final = TypeAdapter(MeasuredRow)


def read_measured_rows(path: Path) -> list[MeasuredRow]:
    """Return the measured rows of a run's folder; InputError naming a line that is none."""
    return read_lines(path, MEASURED)
