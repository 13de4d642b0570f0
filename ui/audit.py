"""The audit page: the log's state, its answers by question, trends, replay, changed documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from ui import services
from ui.audit_acts import draw_changed, draw_replay
from ui.audit_answers import ask_answers, draw_answers
from ui.audit_log import draw_log
from ui.audit_trends import draw_trends

if TYPE_CHECKING:
    from certirag.core.facets import AnswerQuery
    from certirag.ports import AuditLog

LOG, ANSWERS, TRENDS, REPLAY, CHANGED = "Log", "Answers", "Trends", "Replay", "Changed documents"
VIEWS: Final = ("Log", "Answers", "Trends", "Replay", "Changed documents")
VIEW_HELP: Final = (
    "Answers, Trends and Replay speak of the answers that the filters ask for; "
    "Log and Changed documents of all."
)


def audit_page() -> None:
    """Draw the whole of Audit below its heading."""
    log = services.shared().services.audit_log
    view = st.segmented_control(
        "View",
        VIEWS,
        default="Log",
        required=True,
        key="audit-view",
        help=VIEW_HELP,
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == LOG or view not in VIEWS:
        draw_log(log)
    elif view == CHANGED:
        draw_changed(log)
    else:
        _draw_asked(log, view, ask_answers())


def _draw_asked(log: AuditLog, view: str, query: AnswerQuery) -> None:
    found = log.count(query)
    st.caption(f"{found:d} answers")
    if not found:
        st.info("No answer in the log is asked for. Widen the period, or take a filter away.")
    elif view == ANSWERS:
        draw_answers(log, query, found)
    elif view == TRENDS:
        draw_trends(log, query)
    elif view == REPLAY:
        draw_replay(log, query)
