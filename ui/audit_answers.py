"""The answers of the log that were asked for: a page of rows, downloads, and which one to open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.logged_answers import csv_header, csv_line, json_line, rows
from certirag.core.said import Message
from certirag.render import visible
from certirag.render.abstain import REASON_WORDS
from ui.audit_filters import OUTCOMES
from ui.audit_opened import draw_opened
from ui.inert import draw_table
from ui.language import tr, tr_of

if TYPE_CHECKING:
    from certirag.ports import AuditLog
    from certirag.proof.facets import AnswerQuery, AnswerRow

PAGE_SIZE: Final = 20
MAX_DOWNLOAD: Final = 10_000
OPEN_HELP: Final[Message] = "The address of this page then names it: ?trace= and its trace id."
_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
_PARAM: Final = "trace"
_OPEN: Final = "audit_open"
_FOLLOWED: Final = "audit_followed"
_CLOSED: Final = ""


def follow_link() -> bool:
    """Take the trace id that the address names, once; say whether one was taken.

    Anything but 32 hex digits is dropped. A trace id is looked up, never drawn from the address.
    """
    asked = st.query_params.get(_PARAM, "")
    if not asked or asked == st.session_state.get(_FOLLOWED):
        return False
    st.session_state[_FOLLOWED] = asked
    if not _TRACE_ID.fullmatch(asked):
        st.query_params.pop(_PARAM, None)
        return False
    st.session_state[_OPEN] = asked
    return True


def draw_answers(log: AuditLog, query: AnswerQuery, found: int) -> None:
    """Draw a page of the answers that *query* asks for, and a picker that opens one."""
    starts: list[int | None] = st.session_state.setdefault("audit_pages", [None])
    if st.session_state.get("audit_query", query) != query:
        starts = st.session_state["audit_pages"] = [None]
    st.session_state["audit_query"] = query
    page = log.search(query, after=starts[-1], limit=PAGE_SIZE)
    with st.container(key="rows-answers"):
        draw_table(
            (tr("Entry"), tr("Time (UTC)"), tr("Outcome"), tr("Score"), tr("Question")),
            [_cells(row) for row in page.rows],
        )
    with st.container(horizontal=True, vertical_alignment="center", key="audit-turn"):
        if st.button(tr("Newer"), key="audit-newer", disabled=len(starts) == 1):
            starts.pop()
            st.rerun()
        if st.button(tr("Older"), key="audit-older", disabled=page.after is None):
            starts.append(page.after)
            st.rerun()
        first = (len(starts) - 1) * PAGE_SIZE + 1
        st.caption(
            tr(
                "{first:d} to {n:d} of {found:d}",
                first=first,
                n=first - 1 + len(page.rows),
                found=found,
            )
        )
        _draw_downloads(log, query, found)
    _choose_one(page.rows)


def open_trace() -> str:
    """Return the trace id of the answer that is open in this session, "" when none is."""
    trace_id = st.session_state.get(_OPEN, _CLOSED)
    return trace_id if isinstance(trace_id, str) and _TRACE_ID.fullmatch(trace_id) else _CLOSED


def draw_open_one(log: AuditLog) -> None:
    """Draw the answer that is open, and the way back to the others."""
    st.button(tr("‹ All answers"), key="audit-close", on_click=_open, args=(_CLOSED,))
    draw_opened(log, open_trace())


def _choose_one(rows: tuple[AnswerRow, ...]) -> None:
    labels = {row.facets.trace_id: _label(row) for row in rows}
    st.selectbox(
        tr("Open an answer"),
        tuple(labels),
        format_func=labels.__getitem__,
        index=None,
        placeholder=tr("Choose one"),
        key="audit-opened",
        help=tr(OPEN_HELP),
        on_change=_open_chosen,
    )


def _open_chosen() -> None:
    _open(st.session_state.get("audit-opened") or _CLOSED)


def _open(trace_id: str) -> None:
    """Let *trace_id* be the open answer, in this session and in the address."""
    st.session_state[_OPEN] = st.session_state[_FOLLOWED] = trace_id
    st.query_params.pop("claim", None)
    if trace_id:
        st.query_params[_PARAM] = trace_id
    else:
        st.query_params.pop(_PARAM, None)


def _label(row: AnswerRow) -> str:
    """Return how a picker names *row*; a picker shows a text letter by letter."""
    question = " ".join(visible(row.facets.question[:90]).split())
    return f"{row.index} · {question or tr('a draft')} · {visible(row.facets.trace_id[:8])}"


def _cells(row: AnswerRow) -> tuple[str, ...]:
    of = row.facets
    marks = f"[{revoked_word(row.revoked)}] " if row.revoked else ""
    reason = tr_of(REASON_WORDS, of.reason)
    decided = f"{tr_of(OUTCOMES, of.decision)} ({reason})"
    at = of.at[:16].replace("T", " ")
    question = of.question if len(of.question) <= 120 else of.question[:119] + "…"
    return str(row.index), at, decided, f"{of.grounding:.2f}", marks + (question or tr("a draft"))


def revoked_word(reason: str) -> str:
    """Return one word or a few on why an entry is no longer stood by."""
    known = {"stale": tr("revoked"), "renewed": tr("renewed")}
    return known.get(reason) or tr("revoked: {reason}", reason=reason)


def _draw_downloads(log: AuditLog, query: AnswerQuery, found: int) -> None:
    if found > MAX_DOWNLOAD:
        st.caption(
            tr(
                "More than {max_download:d} rows: run `certirag audit export` on the server.",
                max_download=MAX_DOWNLOAD,
            )
        )
        return
    st.download_button(
        "CSV",
        data=lambda: csv_header() + b"".join(map(csv_line, rows(log, query))),
        file_name="certirag-answers.csv",
        mime="text/csv",
        on_click="ignore",
    )
    st.download_button(
        "JSON Lines",
        data=lambda: b"".join(map(json_line, rows(log, query))),
        file_name="certirag-answers.jsonl",
        mime="application/jsonl",
        on_click="ignore",
    )
