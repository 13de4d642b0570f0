"""How answers went over time: a chart by week, and a table by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from certirag.core.facets import DECISIONS
from ui.charts import draw_weeks
from ui.inert import draw_table

if TYPE_CHECKING:
    from certirag.core.facets import AnswerQuery
    from certirag.ports import AuditLog

_MOST = 100


def draw_trends(log: AuditLog, query: AnswerQuery) -> None:
    """Draw the answers that *query* asks for by week, and their mean score by topic and week."""
    weeks = log.trend(query, ("week",))
    st.subheader("By week", anchor=False)
    draw_weeks(weeks)
    st.caption(
        "Grounding score: the share of an answer's checkable claims that got the badge. The line "
        "is its mean, the bars are answers by decision."
    )
    st.subheader("By topic and week", anchor=False)
    st.caption("The topic is the document that most of an answer's evidence stands in.")
    groups = log.trend(query, ("topic", "week"))
    draw_table(
        ("Topic", "Week", "Answers", "Mean score", *DECISIONS),
        [
            (
                row.group[0] or "none",
                row.group[1],
                str(row.answers),
                f"{row.grounding:.2f}",
                *(str(row.decisions.get(name, 0)) for name in DECISIONS),
            )
            for row in groups[:_MOST]
        ],
    )
    if len(groups) > _MOST:
        st.caption(
            f"{len(groups) - _MOST:d} more rows: see `certirag audit query --by topic week`."
        )
