"""How answers went over time: a chart by week, and a table by topic, policy or reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import streamlit as st

from certirag.core.said import Message
from ui.audit_filters import OUTCOMES
from ui.charts import draw_weeks
from ui.inert import draw_table
from ui.language import tr

if TYPE_CHECKING:
    from certirag.ports import AuditLog
    from certirag.proof.facets import AnswerQuery, Grouping

MOST: Final = 100
# Words of the page → the group of a trend.
GROUPS: Final[dict[Message, str]] = {
    "Topic": "topic",
    "Policy": "policy",
    "Reason code": "reason",
    "Verifier": "verifier",
}
GROUP_HELP: Final[Message] = (
    "The topic is the document that most of an answer's evidence stands in."
)


def draw_trends(log: AuditLog, query: AnswerQuery) -> None:
    """Draw the answers that *query* asks for by week, and their mean score by group and week."""
    st.header(tr("By week"), anchor=False)
    draw_weeks(log.trend(query, ("week",)))
    st.caption(
        tr(
            "Grounding score: the share of an answer's checkable claims that got the badge. The line "
            "is its mean, the bars are answers by outcome."
        )
    )
    chosen = st.selectbox(
        tr("By week and"),
        tuple(GROUPS),
        format_func=tr,
        key="audit-group",
        help=tr(GROUP_HELP),
        width=220,
        persist_state="session",
    )
    words = chosen if chosen in GROUPS else "Topic"
    groups = log.trend(query, (cast("Grouping", GROUPS[words]), "week"))
    with st.container(key="rows-trends"):
        draw_table(
            (tr(words), tr("Week"), tr("Answers"), tr("Mean score"), *map(tr, OUTCOMES.values())),
            [
                (
                    (row.group[0] or tr("none"))[:200],
                    row.group[1],
                    str(row.answers),
                    f"{row.grounding:.2f}",
                    *(str(row.decisions.get(name, 0)) for name in OUTCOMES),
                )
                for row in groups[:MOST]
            ],
        )
    if len(groups) > MOST:
        st.caption(
            tr("{n:d} more rows: see `certirag audit query --by topic week`.", n=len(groups) - MOST)
        )
