"""What systems that show answers in other ways would make of the same measured rows (CertiRAG seed §11).

Each takes the same statements and the same measurements, so that they differ in what they show and
in what they mark as supported, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from certirag.core.policy import Policy
from certirag.eval.figure_tables import FigureTable
from certirag.eval.gate_counts import trials_of
from certirag.eval.measures import holm, mcnemar
from certirag.verification.clopper_pearson import exact_interval

if TYPE_CHECKING:
    from certirag.eval.pair_rows import MeasuredRow

STRICT: Final = "CertiRAG Strict"
_Says = Callable[["MeasuredRow"], bool]


@dataclass(frozen=True, slots=True)
class Share:
    """*part* of *whole*, with its exact 95 % interval (Clopper and Pearson 1934)."""

    part: int
    whole: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval; all of [0, 1] where the whole is 0."""
        return exact_interval(self.part, self.whole) if self.whole else (0.0, 1.0)

    def __str__(self) -> str:
        if not self.whole:
            return "–"
        low, high = self.interval
        share = self.part / self.whole
        return f"{self.part} of {self.whole}: {share:.1%} ({low:.1%} to {high:.1%})"


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """What one system shows and marks (CertiRAG seed §12.1).

    *exposed* are the untrue statements among those shown (Unsupported Exposure Rate), *wrong* those
    among the ones marked as supported (1 - Verified-Claim Precision), *coverage* the true ones that
    are marked (Verified Coverage), and *caught* the untrue ones that are not. *p* is McNemar's,
    of marking right against Strict, adjusted by Holm for the systems; None for Strict itself.
    """

    system: str
    exposed: Share
    wrong: Share
    coverage: Share
    caught: Share
    p: float | None


def systems_of(rows: Sequence[MeasuredRow], policy: Policy) -> list[SystemFigures]:
    """Return the figures of each system over *rows*, measured under *policy*.

    A true row counts as shown or marked where all of it is, an untrue one where what makes it untrue
    is. The cosine marks as many rows as Strict does: the closest ones.
    """
    tau = policy.tau_entail
    own = [trial.tau_entail for trial in trials_of(policy)].index(tau)

    def strict(row: MeasuredRow) -> bool:
        _, wrong, _, whole = row.counts[own]
        return bool(whole if row.gold == "entailed" else wrong)

    def verifier(row: MeasuredRow) -> bool:
        return (row.entailed or 0.0) >= tau

    def mixed(row: MeasuredRow) -> bool:
        open_ones = [claim.state != "BLOCKED" for claim in row.claims]
        return all(open_ones) if row.gold == "entailed" else any(open_ones)

    badges = sum(map(strict, rows))
    closest = sorted((row.cosine for row in rows), reverse=True)
    least = closest[badges - 1] if badges else 2.0  # no cosine is 2
    systems: list[tuple[str, _Says, _Says]] = [
        ("Retrieval with citations: everything is shown and cited", _always, _always),
        ("The same, cited where a text says it word for word", _always, _verbatim),
        ("The same, cited where the cosine is high", _always, lambda row: row.cosine >= least),
        ("A checker beside the answer: everything is shown, its warnings too", _always, verifier),
        ("The verifier alone: shown above the threshold", verifier, verifier),
        ("CertiRAG Mixed", mixed, strict),
        (STRICT, strict, strict),
    ]
    right = [strict(row) == (row.gold == "entailed") for row in rows]
    p = holm([_p(rows, right, marks) for _, _, marks in systems[:-2]])
    return [
        _figures(name, rows, shows, marks, p[at] if at < len(p) else None)
        for at, (name, shows, marks) in enumerate(systems)
    ]


def _always(_row: MeasuredRow) -> bool:
    return True


def _verbatim(row: MeasuredRow) -> bool:
    """Say whether the statement stands in its text, or in a sentence read for it, letter for letter."""
    own = _letters(row.hypothesis)
    read = (sentence for claim in row.claims for sentence in claim.evidence)
    return bool(own) and any(own in _letters(text) for text in (row.premise, *read))


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _p(rows: Sequence[MeasuredRow], right: Sequence[bool], marks: _Says) -> float:
    other = [marks(row) == (row.gold == "entailed") for row in rows]
    both = list(zip(right, other, strict=True))
    return mcnemar(both.count((True, False)), both.count((False, True)))


def _figures(
    name: str, rows: Sequence[MeasuredRow], shows: _Says, marks: _Says, p: float | None
) -> SystemFigures:
    true = [row for row in rows if row.gold == "entailed"]
    untrue = [row for row in rows if row.gold != "entailed"]
    exposed, wrong = sum(map(shows, untrue)), sum(map(marks, untrue))
    covered = sum(map(marks, true))
    return SystemFigures(
        system=name,
        exposed=Share(exposed, exposed + sum(map(shows, true))),
        wrong=Share(wrong, wrong + covered),
        coverage=Share(covered, len(true)),
        caught=Share(len(untrue) - wrong, len(untrue)),
        p=p,
    )


def systems_table(found: Sequence[SystemFigures]) -> FigureTable:
    """Return *found* as a table for a reader."""
    head = (
        "System",
        "Untrue of what is shown",
        "Untrue of what is marked as supported",
        "True ones marked",
        "Untrue ones not marked",
        "p against Strict",
    )
    rows = [
        (
            own.system,
            str(own.exposed),
            str(own.wrong),
            str(own.coverage),
            str(own.caught),
            None if own.p is None else f"{own.p:.2g}",
        )
        for own in found
    ]
    return FigureTable("Systems over the same rows", head, tuple(rows))
