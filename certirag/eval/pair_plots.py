"""What the figures of a run look like: each plot as values, which `plot_pages` and `plot_pictures` draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from certirag.eval.pair_figures import ALL, LABELS, SourceFigures
from certirag.render import visible
from certirag.render.inert import shortened
from certirag.verification.clopper_pearson import exact_interval

if TYPE_CHECKING:
    from certirag.eval.pair_report import GateFigures
    from certirag.eval.pair_rows import MeasuredRow
    from certirag.eval.systems import SystemFigures

# Okabe and Ito 2008, "Color Universal Design": told apart by colour-blind readers too.
COLOURS: Final = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#8c8c8c",
)
_NAME: Final = 48  # characters of a name in a legend
_BINS: Final = 20  # of the scores


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """Points of one *name*: *x* and *y* of equal length, drawn as *kind* says.

    *low* and *high* are ends of an interval of each point: of y for a line, of x for a point. *notes* say
    of each point what the axes do not. A series that is not *first* is shown on a page when it is asked for.
    *name* is inert already; it may still hold what a drawing program reads as markup.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: Literal["line", "points", "bars"] = "line"
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    first: bool = True


@dataclass(frozen=True, slots=True)
class FigurePlot:
    """A plot for the files *name*.html and *name*.png. *places* are names of 0, 1, 2 … on the y axis."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[PlotSeries, ...]
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CountGrid:
    """A confusion matrix for the files *name*.html and *name*.png: *counts* by row, then by column."""

    name: str
    title: str
    x_title: str
    y_title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def plots_of(
    rows: Sequence[MeasuredRow],
    tau: float,
    gate: Sequence[GateFigures],
    verifier: Sequence[SourceFigures],
    systems: Sequence[SystemFigures],
) -> list[FigurePlot | CountGrid]:
    """Return the plots of a run whose policy asks for an entailment of *tau*."""
    alone = next(own for own in verifier if own.source == ALL)
    return [
        _risk(gate, tau),
        _exposure(systems),
        _reliability(alone),
        _confusion(alone),
        _precision_by_source(gate),
        _scores(rows, tau),
    ]


def legend_name(name: str, rows: int | None = None) -> str:
    """Return *name*, which may be anybody's, for a legend, with the number of its *rows*."""
    text = shortened(" ".join(visible(name).split()), _NAME) or "no name"
    return text if rows is None else f"{text} ({rows})"


def _risk(gate: Sequence[GateFigures], tau: float) -> FigurePlot:
    """Precision against coverage while the threshold rises: the risk-coverage curve (El-Yaniv and Wiener 2010)."""
    own = next(own for own in gate if own.source == ALL)
    at = [(c, p) for threshold, p, c in own.curve if threshold == tau and p is not None]
    policy = PlotSeries(
        f"threshold of the policy, {tau:g}",
        tuple(c for c, _ in at if c is not None),
        tuple(p for c, p in at if c is not None),
        "points",
    )
    others = (_curve(one) for one in gate if one.source != ALL)
    return FigurePlot(
        "risk",
        "Precision and coverage of badges over the threshold of entailment, with exact 95 % intervals",
        "Verified Coverage",
        "Verified-Claim Precision",
        (_curve(own), policy, *(one for one in others if one.x)),
    )


def _curve(own: GateFigures) -> PlotSeries:
    found = [
        (threshold, precision, coverage, ends)
        for (threshold, precision, coverage), ends in zip(own.curve, own.band, strict=True)
        if precision is not None and coverage is not None
    ]
    return PlotSeries(
        legend_name(own.source, own.rows),
        tuple(coverage for _, _, coverage, _ in found),
        tuple(precision for _, precision, _, _ in found),
        "line",
        tuple(ends[0] for *_, ends in found),
        tuple(ends[1] for *_, ends in found),
        tuple(f"threshold {threshold:.2f}" for threshold, *_ in found),
        first=own.source == ALL,
    )


def _exposure(systems: Sequence[SystemFigures]) -> FigurePlot:
    found = [own for own in systems if own.coverage.whole and own.exposed.whole]
    return FigurePlot(
        "exposure",
        "What each system shows that is untrue, and which true statements it marks as supported",
        "Verified Coverage: true ones that are marked",
        "Unsupported Exposure Rate: untrue of what is shown",
        tuple(
            PlotSeries(
                own.system,
                (own.coverage.part / own.coverage.whole,),
                (own.exposed.part / own.exposed.whole,),
                "points",
                notes=(f"exposed {own.exposed}",),
            )
            for own in found
        ),
        x_range=(-0.02, 1.02),
        y_range=(-0.02, max(own.exposed.part / own.exposed.whole for own in found) * 1.08 + 0.02)
        if found
        else None,
    )


def _reliability(alone: SourceFigures) -> FigurePlot:
    bins = alone.reliability
    ends = [exact_interval(round(one.share_entailed * one.rows), one.rows) for one in bins]
    return FigurePlot(
        "reliability",
        "Reliability of the verifier's scores, with exact 95 % intervals of each bin",
        "Mean score",
        "Share that is entailed",
        (
            PlotSeries("calibrated", (0.0, 1.0), (0.0, 1.0)),
            PlotSeries(
                "measured",
                tuple(one.mean_score for one in bins),
                tuple(one.share_entailed for one in bins),
                low=tuple(low for low, _ in ends),
                high=tuple(high for _, high in ends),
                notes=tuple(f"{one.rows} rows" for one in bins),
            ),
        ),
        (-0.02, 1.02),
        (-0.02, 1.02),
    )


def _confusion(alone: SourceFigures) -> CountGrid:
    return CountGrid(
        "confusion",
        "Labels of the verifier against gold, in rows",
        "Label",
        "Gold",
        tuple(label.replace("_", " ") for label in LABELS),
        tuple(gold.replace("_", " ") for gold in alone.confusion),
        tuple(tuple(own.values()) for own in alone.confusion.values()),
    )


def _precision_by_source(gate: Sequence[GateFigures]) -> FigurePlot:
    found = [own for own in reversed(gate) if own.precision is not None]
    return FigurePlot(
        "sources",
        "Verified-Claim Precision, source by source, with exact 95 % intervals",
        "Verified-Claim Precision",
        "",
        (
            PlotSeries(
                "precision",
                tuple(own.precision or 0.0 for own in found),
                tuple(map(float, range(len(found)))),
                "points",
                tuple(own.low for own in found),
                tuple(own.high for own in found),
                tuple(f"{own.wrong} wrong of {own.badges}" for own in found),
            ),
        ),
        x_range=(0.0, 1.02),
        places=tuple(legend_name(own.source, own.badges) for own in found),
    )


def _scores(rows: Sequence[MeasuredRow], tau: float) -> FigurePlot:
    return FigurePlot(
        "scores",
        f"Scores of the verifier by gold; the policy asks for {tau:g}",
        "Entailed score",
        "Share of the rows of that gold",
        tuple(_histograms(rows)),
        (0.0, 1.0),
    )


def _histograms(rows: Sequence[MeasuredRow]) -> Iterator[PlotSeries]:
    """Yield for each gold how its rows' scores lie; a row that the verifier could not score is left out."""
    middles = tuple((place + 0.5) / _BINS for place in range(_BINS))
    for gold in sorted({row.gold for row in rows}):
        found = [row.entailed for row in rows if row.gold == gold and row.entailed is not None]
        if found:
            counts, _ = np.histogram(found, bins=_BINS, range=(0.0, 1.0))
            yield PlotSeries(
                f"{gold.replace('_', ' ')} ({len(found)})",
                middles,
                tuple(float(count) / len(found) for count in counts),
                "bars",
                notes=tuple(f"{count} rows" for count in counts),
            )
