"""The answers of the log by what an auditor asks: filters, a page of rows, one answer opened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.audit.answers import export_again
from certirag.audit.export_rows import csv_header, csv_line, json_line
from certirag.audit.query import read_query
from certirag.core.facets import DECISIONS, RENDER_STATES, AnswerQuery
from ui import services
from ui.answer import show_answer
from ui.controls import choose_mode
from ui.inert import draw_table, draw_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from certirag.core.facets import AnswerRow
    from certirag.ports import AuditLog

PAGE_SIZE: Final = 20
MAX_DOWNLOAD: Final = 10_000
# Words of the page → the period of `read_query`.
PERIODS: Final = {
    "All time": "",
    "Today": "today",
    "Last 7 days": "last-7-days",
    "Last 30 days": "last-30-days",
    "This quarter": "this-quarter",
    "Last quarter": "last-quarter",
    "This year": "this-year",
    "Last year": "last-year",
}
ANY: Final = "Any"
ANSWERED: Final = "Answered (ACCEPT or STRIP)"
DECISION_WORDS: Final = ("Any", "Answered (ACCEPT or STRIP)", "ACCEPT", "STRIP", "REJECT")
SCORES: Final = ("Any", "0.25", "0.50", "0.67", "0.80", "0.90", "1.00")
STATE_WORDS: Final = ("Any", "with a badge", "without a badge", "contradicted")
ABOUT_HELP: Final = "Whole words of the question, in any order."
DOCUMENT_HELP: Final = "Its title, id or SHA-256, as the answer cites it."


def ask_answers() -> AnswerQuery:
    """Draw the filters and return what they ask for; InputError for words that cannot be read."""
    now = datetime.now(UTC)
    with st.container(horizontal=True, vertical_alignment="bottom", key="audit-filters"):
        period = st.selectbox("Period", tuple(PERIODS), key="audit-period", width=170)
        decided = st.selectbox("Decision", DECISION_WORDS, key="audit-decision", width=190)
        below = st.selectbox("Score below", SCORES, key="audit-score", width=130)
        state = st.selectbox("A claim", STATE_WORDS, key="audit-state", width=170)
    with st.expander("More filters"):
        about = st.text_input("Words of the question", key="audit-about", help=ABOUT_HELP)
        document = st.text_input("Document cited", key="audit-document", help=DOCUMENT_HELP)
        policy = st.text_input("Policy", key="audit-policy")
        model = st.text_input("Verifier or generator", key="audit-model")
        corpus = st.text_input("Corpus fingerprint", key="audit-corpus")
        reason = st.text_input("Reason code", key="audit-reason")
        trace_id = st.text_input("Trace id", key="audit-trace")
    chosen = DECISIONS[:2] if decided == ANSWERED else () if decided == ANY else (decided,)
    return read_query(
        now,
        when=PERIODS.get(period, ""),
        decisions=chosen,
        score_below="" if below == ANY else below,
        state="" if state == ANY else RENDER_STATES[STATE_WORDS.index(state) - 1],
        about=about,
        document=document,
        policy=policy,
        model=model,
        corpus=corpus,
        reasons=(reason,) if reason.strip() else (),
        trace_id=trace_id,
    )


def draw_answers(log: AuditLog, query: AnswerQuery, found: int) -> None:
    """Draw a page of the answers that *query* asks for, and the one that is opened."""
    starts: list[int | None] = st.session_state.setdefault("audit_pages", [None])
    if st.session_state.get("audit_query") != query:
        st.session_state["audit_query"] = query
        starts = st.session_state["audit_pages"] = [None]
    page = log.search(query, after=starts[-1], limit=PAGE_SIZE)
    draw_table(
        ("Entry", "Time (UTC)", "Decision", "Score", "Question"),
        [_cells(row) for row in page.rows],
    )
    with st.container(horizontal=True, vertical_alignment="center", key="audit-turn"):
        if st.button("Newer", key="audit-newer", disabled=len(starts) == 1):
            starts.pop()
            st.rerun()
        if st.button("Older", key="audit-older", disabled=page.after is None):
            starts.append(page.after)
            st.rerun()
        _draw_downloads(log, query, found)
    _draw_opened(log, page.rows)


def _cells(row: AnswerRow) -> tuple[str, ...]:
    of = row.facets
    marks = f"[{row.revoked}] " if row.revoked else ""
    decided = f"{of.decision} ({of.reason.replace('_', ' ').lower()})"
    at = of.at[:16].replace("T", " ")
    question = of.question if len(of.question) <= 120 else of.question[:119] + "…"
    return str(row.index), at, decided, f"{of.grounding:.2f}", marks + question


def _draw_downloads(log: AuditLog, query: AnswerQuery, found: int) -> None:
    if found > MAX_DOWNLOAD:
        st.caption(f"More than {MAX_DOWNLOAD:d} rows: run `certirag audit export` on the server.")
        return
    st.download_button(
        "CSV",
        data=lambda: csv_header() + b"".join(map(csv_line, _rows(log, query))),
        file_name="certirag-answers.csv",
        mime="text/csv",
        on_click="ignore",
    )
    st.download_button(
        "JSON Lines",
        data=lambda: b"".join(map(json_line, _rows(log, query))),
        file_name="certirag-answers.jsonl",
        mime="application/jsonl",
        on_click="ignore",
    )


def _rows(log: AuditLog, query: AnswerQuery) -> Iterator[AnswerRow]:
    after: int | None = None
    while True:
        page = log.search(query, after=after, limit=500)
        yield from page.rows
        if page.after is None:
            return
        after = page.after


def _draw_opened(log: AuditLog, rows: tuple[AnswerRow, ...]) -> None:
    """Draw one answer of the page; its badges are derived again from the logged bytes."""
    by_trace = {row.facets.trace_id: row for row in rows}
    labels = {trace: f"Entry {row.index}, trace {trace}" for trace, row in by_trace.items()}
    chosen = st.selectbox(
        "Open an answer",
        tuple(labels),
        format_func=labels.__getitem__,
        index=None,
        key="audit-opened",
    )
    if chosen not in by_trace:
        return
    row = by_trace[chosen]
    if row.revoked == "stale":
        draw_text(
            "Revoked: its documents changed, and it failed when it was checked again.", "lead"
        )
    elif row.revoked == "renewed":
        draw_text("Its documents changed; it was checked again, and a newer entry stands.", "lead")
    elif row.revoked:
        draw_text(f"Revoked: {row.revoked}", "lead")
    shared = services.shared().services
    mode = choose_mode()
    show_answer(export_again(log, chosen), mode, trusted=shared.trusted, floor=shared.policy)
