"""The one place that draws charts: plotly figures of numbers, under labels of our own.

Plotly reads labels as a kind of HTML. So no text from outside comes near a figure: what is drawn
are counts, shares, means and weeks that look like weeks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import streamlit as st

from ui.audit_filters import OUTCOMES
from ui.language import tr

_WEEK: Final = re.compile(r"[0-9]{4}-W[0-9]{2}")
# Neutral hues, none of them a badge's: a tall bar is no praise.
_COLOURS: Final = {"ACCEPT": "#4878a8", "STRIP": "#b8944f", "REJECT": "#8d969c"}
_SCORE_COLOUR: Final = "#8f73c9"
_WRONG_COLOUR: Final = "#b8944f"
_COVERED_COLOUR: Final = "#4878a8"


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


class AtTauLike(Protocol):
    """Precision and coverage at one threshold; None where there was nothing to have a share of."""

    @property
    def tau(self) -> float: ...

    @property
    def precision(self) -> float | None: ...

    @property
    def interval(self) -> tuple[float, float]: ...

    @property
    def coverage(self) -> float | None: ...


class BinLike(Protocol):
    """Rows of about one score: their mean score and the share that is entailed."""

    @property
    def rows(self) -> int: ...

    @property
    def mean_score(self) -> float: ...

    @property
    def share_entailed(self) -> float: ...


class AtThresholdLike(Protocol):
    """What was measured at one threshold; a share is None where there was no badge."""

    @property
    def tau_entail(self) -> float: ...

    @property
    def share(self) -> float | None: ...

    @property
    def upper(self) -> float | None: ...

    @property
    def covered(self) -> int: ...


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


def draw_thresholds(
    measured: Sequence[AtThresholdLike], true_rows: int, own: float, *, number: int
) -> None:
    """Draw wrong badges and their upper limit above, coverage below, by threshold of entailment.

    *true_rows* is what coverage is a share of, *own* the policy's threshold, marked in both, and
    *number* tells the charts of one page apart. A share of no badge is left out.
    """
    from plotly.graph_objects import Scatter  # noqa: PLC0415  # only this page needs it
    from plotly.subplots import make_subplots  # noqa: PLC0415

    def traced(shares: Iterable[float | None], name: str, colour: str, dash: str = "solid") -> Any:
        return Scatter(
            x=[float(one.tau_entail) for one in measured],
            y=[None if share is None else float(share) for share in shares],
            name=name,
            mode="lines+markers",
            line={"color": colour, "dash": dash},
            cliponaxis=False,
            hovertemplate=tr("%{y:.1%} at %{x:.2f}"),
        )

    figure = make_subplots(
        rows=2,
        shared_xaxes=True,
        vertical_spacing=0.22,
        subplot_titles=(tr("Wrong badges (dotted: at most)"), tr("True statements with a badge")),
    )
    at_most = traced((one.upper for one in measured), tr("At most"), _WRONG_COLOUR, "dot")
    wrong = traced((one.share for one in measured), tr("Wrong badges"), _WRONG_COLOUR)
    covered = (int(one.covered) / true_rows if true_rows else None for one in measured)
    figure.add_traces([at_most, wrong], rows=1, cols=1)
    figure.add_trace(traced(covered, tr("True statements"), _COVERED_COLOUR), row=2, col=1)
    figure.add_vline(x=own, line_dash="dash", line_width=1, line_color="#8d969c", row="all")
    figure.update_annotations(x=0, xanchor="left", font_size=14)
    figure.update_yaxes(tickformat=".0%", rangemode="tozero", automargin=True, nticks=5)
    figure.update_xaxes(tickformat=".1f", range=[0.49, 1.01], dtick=0.1)
    figure.update_xaxes(
        title=tr("Entailment needed; dashed: this policy ({own:.2f})", own=own),
        row=2,
        automargin=True,
    )
    figure.update_layout(
        height=400, margin={"l": 8, "r": 8, "t": 32, "b": 8}, showlegend=False, hovermode="x"
    )
    st.plotly_chart(figure, key=f"thresholds-{number:d}", config={"displayModeBar": False})


def draw_precision_coverage(measured: Sequence[AtTauLike], chosen: int) -> None:
    """Draw precision against coverage over the threshold, and mark the *chosen* one with its interval.

    A threshold without a badge, or without an entailed row, is left out.
    """
    from plotly.graph_objects import Figure, Scatter  # noqa: PLC0415  # only here needed

    def traced(points: Sequence[AtTauLike], **how: Any) -> Any:
        return Scatter(
            x=[float(one.coverage or 0.0) for one in points],
            y=[float(one.precision or 0.0) for one in points],
            customdata=[float(one.tau) for one in points],
            hovertemplate=tr("%{y:.1%} right, %{x:.1%} covered at %{customdata:.2f}")
            + "<extra></extra>",
            cliponaxis=False,
            **how,
        )

    drawn = [one for one in measured if one.precision is not None and one.coverage is not None]
    here = [one for one in drawn if one is measured[chosen]]
    bars = {
        "array": [float(one.interval[1] - (one.precision or 0.0)) for one in here],
        "arrayminus": [float((one.precision or 0.0) - one.interval[0]) for one in here],
        "color": _WRONG_COLOUR,
        "symmetric": False,
    }
    figure = Figure(
        [
            traced(drawn, mode="lines+markers", line={"color": _COVERED_COLOUR}),
            traced(here, mode="markers", marker={"color": _WRONG_COLOUR, "size": 13}, error_y=bars),
        ]
    )
    axis = {"tickformat": ".0%", "automargin": True, "nticks": 6}
    figure.update_layout(
        height=340,
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        showlegend=False,
        xaxis={"title": tr("Coverage: true rows with a badge"), "rangemode": "tozero", **axis},
        yaxis={"title": tr("Precision: right badges"), **axis},
    )
    st.plotly_chart(figure, key="precision-coverage", config={"displayModeBar": False})


def draw_reliability(bins: Sequence[BinLike]) -> None:
    """Draw the share that is entailed against the mean score, beside the line of a calibrated score."""
    from plotly.graph_objects import Figure, Scatter  # noqa: PLC0415  # only here needed

    figure = Figure(
        [
            Scatter(
                x=[0, 1],
                y=[0, 1],
                mode="lines",
                line={"color": _COLOURS["REJECT"], "dash": "dash"},
                hoverinfo="skip",
            ),
            Scatter(
                x=[float(one.mean_score) for one in bins],
                y=[float(one.share_entailed) for one in bins],
                customdata=[int(one.rows) for one in bins],
                mode="lines+markers",
                line={"color": _COVERED_COLOUR},
                hovertemplate=tr("%{y:.1%} of %{customdata} rows at %{x:.2f}") + "<extra></extra>",
                cliponaxis=False,
            ),
        ]
    )
    figure.update_layout(
        height=340,
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        showlegend=False,
        xaxis={"title": tr("Mean score"), "range": [0, 1], "automargin": True},
        yaxis={
            "title": tr("Share that is entailed"),
            "range": [0, 1.02],
            "tickformat": ".0%",
            "automargin": True,
        },
    )
    st.plotly_chart(figure, key="reliability", config={"displayModeBar": False})
