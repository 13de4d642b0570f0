"""The one place that draws charts: plotly figures of numbers, under labels of our own.

Plotly reads labels as a kind of HTML. So no text from outside comes near a figure: what is drawn
are counts, means and weeks that look like weeks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import streamlit as st

from ui.audit_filters import OUTCOMES
from ui.language import tr

_WEEK: Final = re.compile(r"[0-9]{4}-W[0-9]{2}")
# Neutral hues, none of them a badge's: a tall bar is no praise.
_COLOURS: Final = {"ACCEPT": "#4878a8", "STRIP": "#b8944f", "REJECT": "#8d969c"}
_SCORE_COLOUR: Final = "#8f73c9"


class WeekLike(Protocol):
    """One week of a trend."""

    @property
    def group(self) -> tuple[str, ...]: ...

    @property
    def answers(self) -> int: ...

    @property
    def grounding(self) -> float: ...

    @property
    def decisions(self) -> Mapping[str, int]: ...


def draw_weeks(rows: Sequence[WeekLike]) -> None:
    """Draw answers by decision as stacked bars and their mean score as a line, week by week.

    A row whose week is not written as 2026-W47 is left out.
    """
    from plotly.graph_objects import Bar, Figure, Scatter  # noqa: PLC0415  # only this page needs it

    weeks = [row for row in rows if _WEEK.fullmatch(row.group[0])]
    names = [row.group[0] for row in weeks]
    figure = Figure(
        [
            *(
                Bar(
                    x=names,
                    y=[int(row.decisions.get(name, 0)) for row in weeks],
                    name=tr(OUTCOMES[name]),
                    marker_color=_COLOURS[name],
                    width=min(0.65, 0.1 + 0.1 * len(weeks)),  # a lone week is no wall
                )
                for name in OUTCOMES
            ),
            Scatter(
                x=names,
                y=[float(row.grounding) for row in weeks],
                name=tr("Mean score"),
                mode="lines+markers",
                line_color=_SCORE_COLOUR,
                yaxis="y2",
            ),
        ]
    )
    figure.update_layout(
        barmode="stack",
        bargap=0.35,
        height=360,
        # Room above the bars for the legend, which takes two lines on a narrow screen.
        margin={"l": 8, "r": 8, "t": 64, "b": 8},
        legend={"orientation": "h", "y": 1.04, "yanchor": "bottom", "traceorder": "normal"},
        xaxis={"type": "category"},
        yaxis={"title": tr("Answers"), "rangemode": "tozero", "automargin": True},
        yaxis2={
            "title": tr("Mean score"),
            "overlaying": "y",
            "side": "right",
            "range": [0, 1.05],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "tickformat": ".2f",
            "automargin": True,
            "showgrid": False,
        },
    )
    st.plotly_chart(figure, key="weeks", config={"displayModeBar": False})
