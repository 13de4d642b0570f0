"""A plot as a page with plotly: points that can be pointed at, series that can be switched on and off."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any, Final

from plotly.graph_objects import Bar, Figure, Heatmap, Scatter

from certirag.eval.pair_plots import COLOURS, CountGrid, FigurePlot, PlotSeries

_SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon")


def plot_page(plot: FigurePlot | CountGrid) -> Figure:
    """Return *plot* as a figure of plotly, in which every name is text: plotly reads tags in it."""
    if isinstance(plot, CountGrid):
        return _grid(plot)
    layout: dict[str, Any] = {
        "title": plot.title,
        "xaxis": {"title": plot.x_title, "range": plot.x_range},
        "yaxis": {"title": plot.y_title, "range": plot.y_range},
        "barmode": "overlay",
        "showlegend": len(plot.series) > 1,
        "template": "plotly_white",
    }
    if plot.places:
        layout["yaxis"] |= {
            "tickvals": list(range(len(plot.places))),
            "ticktext": list(map(_text, plot.places)),
            "automargin": True,
        }
    figure = Figure(layout=layout)
    for at, series in enumerate(plot.series):
        for trace in _traces(series, at, named=not plot.places):
            figure.add_trace(trace)
    return figure


def _text(text: str) -> str:
    return html.escape(text, quote=False)


def _traces(series: PlotSeries, at: int, *, named: bool) -> Iterator[Any]:
    colour = COLOURS[at % len(COLOURS)]
    shared = {
        "x": series.x,
        "y": series.y,
        "name": _text(series.name),
        "hovertext": list(map(_text, series.notes)) or None,
        "visible": True if series.first else "legendonly",
        "legendgroup": str(at),
    }
    if series.kind == "bars":
        yield Bar(**shared, marker_color=colour, opacity=0.55)
        return
    error = None
    if series.low and not named:
        error = {
            "array": [h - x for h, x in zip(series.high, series.x, strict=True)],
            "arrayminus": [x - w for w, x in zip(series.low, series.x, strict=True)],
        }
    elif series.low:
        yield Scatter(
            x=[*series.x, *reversed(series.x)],
            y=[*series.high, *reversed(series.low)],
            fill="toself",
            opacity=0.15,
            line={"width": 0, "color": colour},
            fillcolor=colour,
            hoverinfo="skip",
            showlegend=False,
            legendgroup=str(at),
            visible=shared["visible"],
        )
    yield Scatter(
        **shared,
        mode="lines+markers" if series.kind == "line" else "markers",
        line={"color": colour},
        marker={"color": colour, "size": 8, "symbol": _SYMBOLS[at % len(_SYMBOLS)]},
        error_x=error,
    )


def _grid(plot: CountGrid) -> Figure:
    heat = Heatmap(
        x=list(map(_text, plot.columns)),
        y=list(map(_text, plot.rows)),
        z=plot.counts,
        text=plot.counts,
        texttemplate="%{text}",
        colorscale="Blues",
        showscale=False,
    )
    return Figure(
        data=[heat],
        layout={
            "title": plot.title,
            "xaxis": {"title": plot.x_title},
            "yaxis": {"title": plot.y_title, "autorange": "reversed"},
            "template": "plotly_white",
        },
    )
