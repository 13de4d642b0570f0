"""`certirag eval compare`: what changed between two runs over the same rows, and whether it means anything."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from certirag.errors import InputError
from certirag.eval.label_measures import paired_bootstrap
from certirag.eval.measures import auroc, holm, mcnemar
from certirag.eval.pair_figures import CALLED, json_values, sources_of
from certirag.eval.pair_rows import MeasuredRow, read_measured_rows
from certirag.eval.pairs import ROWS, RUN
from certirag.ports import Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT: Final = 1  # of the comparison
_Both = tuple[MeasuredRow, MeasuredRow]


def _by_verifier(row: MeasuredRow) -> bool:
    return ((row.entailed or 0.0) >= CALLED) == (row.gold == "entailed")


def _by_gate(row: MeasuredRow) -> bool:
    """Say whether the gate did right: all Verified of what is true, and not of what is untrue."""
    every = bool(row.claims) and all(claim.state == "VERIFIED" for claim in row.claims)
    return every == (row.gold == "entailed")


_WAYS: Final[Mapping[str, Callable[[MeasuredRow], bool]]] = {
    "verifier": _by_verifier,
    "gate": _by_gate,
}


def compare_runs(one: Path, other: Path, progress: Progress = lambda *_: None) -> dict[str, Any]:
    """Return for each source how many rows each run alone has right, with McNemar's exact p.

    Under ``auroc`` it returns how well each run's scores rank, and their difference with its interval of
    95 % by bootstrap of the rows. *p* of the sources is adjusted for their number by Holm's method; that
    of all rows is not. Raises InputError for a folder that is no run, or for runs of other rows.
    """
    described = [_described(folder) for folder in (one, other)]
    same = [
        (run["data"]["sha256"], run["data"].get("format"), run["limit"], run["seed"])
        for run in described
    ]
    if same[0] != same[1]:
        raise InputError(f"{one} and {other}: are runs over other rows: compare runs over the same")
    found = [{row.number: row for row in read_measured_rows(f / ROWS)} for f in (one, other)]
    if found[0].keys() != found[1].keys():
        raise InputError(f"{one} and {other}: one of them is not finished: run it again")
    both = [(found[0][number], found[1][number]) for number in sorted(found[0])]
    sources = sources_of(both, lambda rows: rows[0].source)
    ways = {}
    for way, right in _WAYS.items():
        rows = [_differing(name, own, right) for name, own in sources.items()]
        ways[way] = _adjusted(rows)
    ranks = []
    for done, (name, own) in enumerate(sources.items()):
        progress("Comparing rankings", done, len(sources))
        ranks.append(_ranking(name, own))
    progress("Comparing rankings", len(sources), len(sources))
    return {"format": FORMAT, "runs": [str(one), str(other)], **ways, "auroc": _adjusted(ranks)}


def _adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return *rows* with p of the sources, all but the last row, adjusted; one that is None is no test."""
    tested = [row for row in rows[:-1] if row["p"] is not None]
    adjusted = holm([row["p"] for row in tested])
    for row, p in zip(tested, adjusted, strict=True):
        row["p"] = p
    return [{**row, "p": None if row["p"] is None else round(row["p"], 6)} for row in rows]


def _ranking(source: str, rows: Sequence[_Both]) -> dict[str, Any]:
    """Return the AUROC of each run, an error scored 0, and how far the other's is above the one's."""
    positive = np.array([one.gold == "entailed" for one, _ in rows])
    scores = [np.array([row[at].scored.scores[0] for row in rows]) for at in (0, 1)]

    def difference(drawn: NDArray[np.int64]) -> float:
        first, second = (auroc(own[drawn], positive[drawn]) for own in scores)
        return second - first

    (found,) = json_values([paired_bootstrap(difference, len(rows), seed=0)])
    each = [auroc(own, positive) for own in scores]
    return {
        "source": source,
        "rows": len(rows),
        "auroc": [None if math.isnan(own) else own for own in each],
        **found,
    }


def _differing(
    source: str, rows: Sequence[_Both], right: Callable[[MeasuredRow], bool]
) -> dict[str, Any]:
    marks = [(right(one), right(other)) for one, other in rows]
    first, second = marks.count((True, False)), marks.count((False, True))
    return {
        "source": source,
        "rows": len(rows),
        "right": [sum(one for one, _ in marks), sum(other for _, other in marks)],
        "only": [first, second],
        "p": mcnemar(first, second),
    }


def _described(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / RUN).read_text("utf-8"))
        _ = found["data"]["sha256"], found["limit"], found["seed"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder}: is no run of certirag eval pairs: name its folder") from error
    return found


def comparison_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield *report* as lines for a reader."""
    yield f"A: {report['runs'][0]}   B: {report['runs'][1]}"
    for way in _WAYS:
        yield ""
        yield f"{'right by the ' + way:36}{'rows':>7}{'A':>7}{'B':>7}{'only A':>8}{'only B':>8}{'p':>10}"
        for row in report[way]:
            counts = [row["rows"], *row["right"]]
            only = row["only"]
            yield (
                f"{row['source'][:35]:36}"
                + "".join(f"{count:>7}" for count in counts)
                + f"{only[0]:>8}{only[1]:>8}{row['p']:>10.4f}"
            )
    yield ""
    yield f"{'AUROC of the scores':36}{'rows':>7}{'A':>8}{'B':>8}{'B - A':>9}{'95 %':>20}{'p':>10}"
    for row in report["auroc"]:
        if row["p"] is not None:
            first, second = row["auroc"]
            yield (
                f"{row['source'][:35]:36}{row['rows']:>7}{first:>8.3f}{second:>8.3f}"
                f"{row['difference']:>+9.3f}{row['low']:>+10.3f} to {row['high']:+.3f}{row['p']:>10.4f}"
            )
