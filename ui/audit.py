"""The audit page: the log's state, its answers by question, trends, replay, changed documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message
from certirag.proof.facets import AnswerQuery
from ui import services
from ui.audit_answers import draw_answers, draw_open_one, follow_link, open_trace
from ui.audit_changed import draw_changed
from ui.audit_filters import ask_answers
from ui.audit_log import draw_log
from ui.audit_replay import draw_replay
from ui.audit_reviews import draw_reviews
from ui.audit_trends import draw_trends
from ui.language import from_address, to_address, tr
from ui.run import own_answers

if TYPE_CHECKING:
    from certirag.ports import AuditLog

LOG, ANSWERS, TRENDS, REPLAY, CHANGED = "Log", "Answers", "Trends", "Replay", "Changed documents"
REVIEWS = "Reviews"
VIEWS: Final[tuple[Message, ...]] = (
    "Log",
    "Answers",
    "Reviews",
    "Trends",
    "Replay",
    "Changed documents",
)
OWN_VIEWS: Final[tuple[Message, ...]] = (
    "Log",
    "Answers",
    "Trends",
    "Replay",
)  # what leans on documents is everybody's
VIEW_HELP: Final[Message] = (
    "Answers, Trends and Replay speak of the answers that the filters ask for, the others of all."
)
OWN_ONLY: Final[Message] = (
    "Here are the answers of this session. Whoever operates this server can let everybody see all."
)
# Whether this session began at the address of one answer.
_LINKED: Final = "audit_linked"


def audit_page() -> None:
    """Draw the whole of Audit below its heading, unless this server offers no such page."""
    if not services.offers_audit():  # an address may lead here past the navigation
        st.info(tr("This server has no audit page."))
        return
    log = services.shared().services.audit_log
    if follow_link():
        st.session_state[_LINKED] = True
    everyone = services.shows_everyone()
    views = VIEWS if everyone else OWN_VIEWS
    first = ANSWERS if st.session_state.get(_LINKED) else LOG
    from_address("audit-view", views, first)
    view = st.segmented_control(
        tr("View"),
        VIEWS if everyone else OWN_VIEWS,
        required=True,
        format_func=tr,
        key="audit-view",
        help=tr(VIEW_HELP),
        label_visibility="collapsed",
    )
    to_address("audit-view", view or first, first)
    if view == CHANGED and everyone:
        draw_changed(log)
    elif view == REVIEWS and everyone:
        draw_reviews(log)
    elif view not in OWN_VIEWS or view == LOG:
        draw_log(log)
    elif view == ANSWERS and open_trace():
        draw_open_one(log)
    else:
        among = None if everyone else own_answers()
        if not everyone:
            st.caption(tr(OWN_ONLY))
        _draw_asked(log, view, replace(ask_answers(), among=among))


def _draw_asked(log: AuditLog, view: str, query: AnswerQuery) -> None:
    found = log.count(query)
    if not found:
        _draw_none(log, AnswerQuery(among=query.among))
    elif view == ANSWERS:
        draw_answers(log, query, found)
    else:
        st.caption(tr("{found:d} answers", found=found))
        draw_trends(log, query) if view == TRENDS else draw_replay(log, query)


def _draw_none(log: AuditLog, every: AnswerQuery) -> None:
    if log.count(every):
        st.info(tr("No answer in the log is asked for. Widen the period, or take a filter away."))
    elif every.among is not None:
        st.info(
            tr("This session has no answer yet. Ask a question, or check a draft, and come back.")
        )
    else:
        st.info(tr("The log holds no answer yet. Ask a question, or check a draft, and come back."))
