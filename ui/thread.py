"""The answers of this session, to go back to, and the one that the page's address names."""

from __future__ import annotations

import re
from typing import Final

import streamlit as st

from certirag.auditing.logged_answers import export_again
from certirag.core.said import Message
from certirag.proof.facets import AnswerQuery
from ui import run, services
from ui.audit_opened import draw_standing, logged
from ui.inert import draw_text
from ui.language import tr

NOT_HERE: Final[Message] = "The answer that this address names is not in the log of this server."
_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
_MOST: Final = 10


def reopen(key: str) -> None:
    """Keep under *key* the answer that the address names, or let the address name the kept one.

    Whoever has the address sees the answer, after a reload too, on a server that offers its log
    at all; above it stands whether it still holds. Raises AuditError or CertificateError for one that is not as it was logged.
    """
    asked, kept = st.query_params.get(run.TRACE, ""), run.kept_trace(key)
    if asked and not _TRACE_ID.fullmatch(asked):
        st.query_params.pop(run.TRACE, None)
        return
    if asked and run.is_part(key, asked):
        asked = kept  # a click that was made before the browser knew of the newest part
    if kept and asked in ("", kept):
        st.query_params[run.TRACE] = kept
    if not asked or (asked == kept and asked in run.own_answers()):
        return
    if asked != kept:  # whatever becomes of it, the last answer is not the one that is named
        run.keep(key, "", b"")
    log = services.shared().services.audit_log
    seen = services.offers_audit() or asked in run.own_answers()
    found = logged(log, asked) if seen else None
    if found is None:
        draw_text(tr(NOT_HERE), "error")
        return
    draw_standing(log, found[0])
    if asked != kept:
        run.keep(key, asked, export_again(log, asked))


def draw_earlier(key: str) -> None:
    """Draw the questions that this session asked before, each with a button that opens its answer."""
    own = run.own_answers()
    earlier = [trace_id for trace_id in own if trace_id != run.kept_trace(key)]
    if not earlier:
        return
    log = services.shared().services.audit_log
    rows = log.search(AnswerQuery(among=tuple(earlier)), limit=_MOST).rows
    asked = [row for row in rows if row.facets.question.strip()]
    if not asked:
        return
    with st.expander(tr("Earlier questions ({n:d})", n=len(asked)), key=f"{key}-earlier"):
        for number, row in enumerate(asked, 1):
            with st.container(
                key=f"sample-earlier-{number}",
                horizontal=True,
                vertical_alignment="center",
                wrap=False,
            ):
                draw_text(row.facets.question, "note", max_lines=2)
                st.button(
                    tr("Show question {number:d} again", number=number),
                    key=f"earlier-{number}",
                    type="tertiary",
                    on_click=_name,
                    args=(row.facets.trace_id,),
                )


def _name(trace_id: str) -> None:
    """Let the address name the answer *trace_id* (a button's callback)."""
    st.query_params.pop("claim", None)
    st.query_params[run.TRACE] = trace_id
