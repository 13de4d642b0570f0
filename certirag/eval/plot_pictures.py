"""A plot as a picture with matplotlib: the same plot as on its page, for a document.

Nothing in a name is a formula, and no setting of the user's matplotlib changes a picture: text goes
through no TeX, in the font that comes with matplotlib.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font

from certirag.eval.pair_plots import COLOURS, CountGrid, FigurePlot, PlotSeries

_FONT: Final = "DejaVu Sans"
_STYLE: Final = {
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": [_FONT],
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e2e2e2",
    "axes.axisbelow": True,
}
_DPI: Final = 150
_HEIGHT: Final = 4.6  # inches
_MOST: Final = 8  # series in one picture; a page has all
_MARKERS: Final = ("o", "s", "D", "^", "X", "P", "*", "h")
# Written from right to left, or numbers that take part in it (Unicode bidirectional classes).
_TURNED: Final = frozenset({"R", "AL", "AN"})


def write_picture(plot: FigurePlot | CountGrid, path: Path) -> None:
    """Write *plot* as a PNG of 150 dots an inch; of series not shown at first, none is drawn."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = Figure(figsize=(8.0, _height(plot)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        figure.suptitle(as_drawn(plot.title), fontsize=10, x=0.01, ha="left")
        axes.set_xlabel(as_drawn(plot.x_title))
        axes.set_ylabel(as_drawn(plot.y_title))
        if isinstance(plot, CountGrid):
            _draw_grid(axes, plot)
        else:
            _draw_series(axes, plot)
        # The version of matplotlib would make two machines' pictures of one run differ.
        figure.savefig(path, dpi=_DPI, metadata={"Software": None})


def as_drawn(text: str) -> str:
    """Return *text* with each character by its number that the font lacks or that runs right to left."""
    return "".join(
        character
        if ord(character) in _known() and unicodedata.bidirectional(character) not in _TURNED
        else f"⟨U+{ord(character):04X}⟩"
        for character in text
    )


@cache
def _known() -> frozenset[int]:
    return frozenset(get_font(findfont(_FONT)).get_charmap())


def _height(plot: FigurePlot | CountGrid) -> float:
    """Return the inches that *plot* needs: a line for each of its places and of a legend under it."""
    if isinstance(plot, CountGrid):
        return _HEIGHT
    shown = _shown(plot)
    under = 0.17 * len(shown) if _legend_under(shown) else 0.0
    return max(_HEIGHT, 0.36 * len(plot.places) + 1.4) + under


def _shown(plot: FigurePlot) -> list[PlotSeries]:
    return [series for series in plot.series if series.first][:_MOST]


def _legend_under(shown: Sequence[PlotSeries]) -> bool:
    """Say whether names are too long to stand inside the plot."""
    return max((len(series.name) for series in shown), default=0) > 40


def _draw_series(axes: Any, plot: FigurePlot) -> None:
    shown = _shown(plot)
    for at, series in enumerate(shown):
        _draw(axes, series, at, horizontal=bool(plot.places))
    if plot.x_range:
        axes.set_xlim(*plot.x_range)
    if plot.y_range:
        axes.set_ylim(*plot.y_range)
    if plot.places:
        axes.set_yticks(range(len(plot.places)), list(map(as_drawn, plot.places)))
        axes.set_ylim(-0.6, len(plot.places) - 0.4)
    elif len(shown) > 1:
        axes.legend(**_legend(shown))


def _legend(shown: Sequence[PlotSeries]) -> dict[str, Any]:
    base = {"frameon": False, "fontsize": 8}
    if _legend_under(shown):
        return {**base, "loc": "upper left", "bbox_to_anchor": (0.0, -0.14)}
    return {**base, "loc": "best"}


def _draw(axes: Any, series: PlotSeries, at: int, *, horizontal: bool) -> None:
    colour, name = COLOURS[at % len(COLOURS)], as_drawn(series.name)
    name = f" {name}" if name.startswith("_") else name  # matplotlib hides a name that begins so
    if series.kind == "bars":
        width = series.x[1] - series.x[0]
        axes.bar(series.x, series.y, width=width, color=colour, alpha=0.5, label=name)
        return
    if series.low and horizontal:
        error = (
            [x - end for x, end in zip(series.x, series.low, strict=True)],
            [end - x for x, end in zip(series.x, series.high, strict=True)],
        )
        axes.errorbar(series.x, series.y, xerr=error, fmt="none", ecolor=colour, capsize=3)
    elif series.low:
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(
        series.x,
        series.y,
        color=colour,
        marker=_MARKERS[at % len(_MARKERS)],
        markersize=6 if series.kind == "points" else 4,
        linestyle="-" if series.kind == "line" else "none",
        label=name,
    )


def _draw_grid(axes: Any, plot: CountGrid) -> None:
    most = max((count for row in plot.counts for count in row), default=0) or 1
    axes.grid(visible=False)
    axes.imshow(plot.counts, cmap="Blues", vmin=0, vmax=most, aspect="auto")
    axes.set_xticks(range(len(plot.columns)), list(map(as_drawn, plot.columns)))
    axes.set_yticks(range(len(plot.rows)), list(map(as_drawn, plot.rows)))
    for row, counts in enumerate(plot.counts):
        for column, count in enumerate(counts):
            dark = count > 0.6 * most
            axes.text(column, row, str(count), ha="center", va="center", color="w" if dark else "k")
