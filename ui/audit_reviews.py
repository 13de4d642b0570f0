"""Answers that wait for a person: read as the gate shows them, and let leave or refused under a name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.logged_answers import export_again
from certirag.auditing.review_queue import decide_review, escalated, waiting
from certirag.core.said import Message, said
from certirag.errors import CertiRAGError
from certirag.gateway.profiles import load_profile
from certirag.render import Mode, present
from certirag.settings import read_settings
from ui import services
from ui.answer import show_answer
from ui.inert import draw_facts, draw_text
from ui.language import tr

if TYPE_CHECKING:
    from certirag.auditing.review_queue import Escalated
    from certirag.core.policy import Policy
    from certirag.ports import AuditLog
    from certirag.proof.countersignature import Review, ReviewDecision

_AT: Final = "review_at"  # the trace id of the answer that is read
_SAID: Final = "review_said"  # what came of the last decision, and its role
NONE_WAITS: Final[Message] = "No answer waits for a decision."
WHAT_FOR: Final[Message] = (
    "The gateway holds these back: too few of their statements are supported to leave by themselves. "
    "You decide whether the supported ones leave. No decision gives a statement its mark."
)
ELSEWHERE: Final[Message] = (
    "Decisions are made from a browser on the server itself, or through the gateway with a reviewer's "
    "key."
)
NAME_HELP: Final[Message] = (
    "Small letters, digits and . _ - as in anna.weber. It stands in the log for good, and this "
    "server signs with the key of that name."
)
REASON_HELP: Final[Message] = "One line. Whoever gets the signed record can read it."
_RELEASED: Final[Message] = "The supported statements may leave. Logged and signed as {reviewer}."
_LET_LEAVE: Final[Message] = "Let leave by the reviewer {reviewer}, {at} UTC: {reason}"
_HELD_BACK: Final[Message] = "Refused by the reviewer {reviewer}, {at} UTC: {reason}"
_REFUSED: Final[Message] = "Nothing of it leaves. Logged and signed as {reviewer}."


def draw_reviews(log: AuditLog) -> None:
    """Draw the answer that waits longest, or the one turned to, and what a reviewer can do."""
    if _SAID in st.session_state:
        text, role = st.session_state.pop(_SAID)
        draw_text(text, "error" if role == "error" else "note", told=True)
    every = waiting(log)
    if not every:
        st.info(tr(NONE_WAITS))
        return
    st.caption(tr(WHAT_FOR))
    asked = st.session_state.get(_AT)
    place = every.index(asked) if asked in every else 0
    with st.container(horizontal=True, vertical_alignment="center", key="review-turn"):
        last = len(every) - 1
        before, after = every[max(place - 1, 0)], every[min(place + 1, last)]
        st.button(
            tr("Earlier one"),
            key="review-before",
            disabled=place == 0,
            on_click=_read,
            args=(before,),
        )
        st.button(
            tr("Later one"),
            key="review-after",
            disabled=place == last,
            on_click=_read,
            args=(after,),
        )
        st.caption(tr("Answer {place:d} of {n:d}", place=place + 1, n=len(every)))
    _draw_one(log, every[place])


def sentence_of(review: Review) -> str:
    """Return in words what a reviewer decided; the name and the reason are the reviewer's own."""
    words = _LET_LEAVE if review.decision == "release" else _HELD_BACK
    at = review.at[:16].replace("T", " ")
    return tr(words, reviewer=review.reviewer, at=at, reason=review.reason)


def _read(trace_id: str) -> None:
    st.session_state[_AT] = trace_id
    st.query_params.pop("claim", None)  # of the answer before


def _draw_one(log: AuditLog, trace_id: str) -> None:
    shared = services.shared().services
    try:
        one = escalated(log, trace_id, shared.trusted)
        if one is None:
            return
        floor = _floor(one, shared.policy)
        export = export_again(log, trace_id)
        leaves = bool(present(export, Mode.STRICT, trusted=shared.trusted, floor=floor).shown)
    except CertiRAGError as error:
        draw_text(tr("This one cannot be decided on: {error}", error=error), "error")
        return
    draw_facts(
        (
            (tr("Waiting since (UTC)"), one.at[:16].replace("T", " ")),
            (tr("Asked by"), one.caller),
            (tr("Profile"), one.terms.profile),
            (tr("Supported"), f"{one.terms.score:.0%}"),
        )
    )
    show_answer(export, Mode.STRICT, trusted=shared.trusted, floor=floor)
    if not services.allows_reviews():
        st.caption(tr(ELSEWHERE))
        return
    with st.form(f"review-{trace_id}"):
        reviewer = st.text_input(tr("Your name"), max_chars=64, help=tr(NAME_HELP))
        reason = st.text_input(tr("Reason"), max_chars=500, help=tr(REASON_HELP))
        with st.container(horizontal=True):
            release = st.form_submit_button(
                tr("Let the supported statements leave"), type="primary", disabled=not leaves
            )
            refuse = st.form_submit_button(tr("Refuse the answer"))
    if release or refuse:
        _decide(log, trace_id, "release" if release else "refuse", reviewer.strip(), reason.strip())


def _floor(one: Escalated, own: Policy) -> Policy:
    """Return what the answer is judged under: what was asked for, and no less than the server's."""
    floor = own
    for name in one.terms.profile.split("+"):
        floor = floor.meet(load_profile(name).policy)
    return floor


def _decide(
    log: AuditLog, trace_id: str, decision: ReviewDecision, reviewer: str, reason: str
) -> None:
    if not services.allows_reviews():  # the browser may have changed since the form was drawn
        return
    try:
        decide_review(
            log,
            read_settings().home,
            trace_id,
            decision,
            reviewer=reviewer,
            reason=reason,
            trusted=services.shared().services.trusted,
            now=datetime.now(UTC),
        )
    except CertiRAGError as error:
        draw_text(tr("Nothing was decided: {error}", error=error), "error")
        return
    told = said(_RELEASED if decision == "release" else _REFUSED, reviewer=reviewer)
    st.session_state[_SAID] = (told, "note")
    st.rerun()
