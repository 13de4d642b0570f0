"""Answers that lean on documents that have changed since: listed, checked again, revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.staleness import digests_of, recheck_answers, stale_answers
from ui import services
from ui.corpora import corpus_label
from ui.inert import draw_table, draw_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from certirag.auditing.staleness import Rechecked, StaleAnswer
    from certirag.ports import AuditLog, Index

SHOWN: Final = 100
_CHECKED: Final = "audit_checked"


def draw_changed(log: AuditLog) -> None:
    """List the answers that lean on documents of a corpus that have changed, and check them again."""
    names = services.corpus_names()
    if not names:
        st.info(
            "No corpus is ingested on this server, so there is nothing to compare the answers with."
        )
        return
    name = st.selectbox(
        "Corpus as it is today",
        names,
        format_func=corpus_label,
        key="audit-corpus-of",
        persist_state="session",
    )
    if name not in names:
        return
    index = services.open_corpus(name)
    stale = list(stale_answers(log, digests_of(index)))
    if not stale:
        st.caption("No answer leans on a document of this corpus that has changed.")
    else:
        _draw_stale(stale)
        if st.button("Check them again", type="primary", key="recheck"):
            st.session_state[_CHECKED] = (name, _rechecked(stale, index))
            st.rerun()
    checked_of, checked = st.session_state.get(_CHECKED, ("", ()))
    if checked and checked_of == name:
        _draw_checked(checked)


def _draw_stale(stale: Sequence[StaleAnswer]) -> None:
    st.caption(
        f"{len(stale):d} answers lean on documents that have changed. Checking them again measures "
        "their claims on today's text, logs each as a new answer, and revokes the old one."
    )
    with st.container(key="rows-stale"):
        draw_table(
            ("Entry", "Time (UTC)", "Changed", "Question"),
            [
                (
                    str(one.row.index),
                    one.row.facets.at[:16].replace("T", " "),
                    ", ".join(document.title for document in (*one.changed, *one.gone))[:200],
                    one.row.facets.question[:120] or "a draft",
                )
                for one in stale[:SHOWN]
            ],
        )
    if len(stale) > SHOWN:
        st.caption(f"{len(stale) - SHOWN:d} more")


def _rechecked(stale: Sequence[StaleAnswer], index: Index) -> tuple[Rechecked, ...]:
    slot = st.empty()
    with slot.status("Checking again") as status:

        def progress(_line: str, done: int, total: int) -> None:
            status.update(label=f"Checking again: {done:d} of {total:d}")

        shared = services.shared()
        with shared.lock:
            found = tuple(recheck_answers(stale, index, shared.services, progress))
    slot.empty()
    return found


def _draw_checked(checked: Sequence[Rechecked]) -> None:
    draw_text("Checked again", "lead", told=True)
    with st.container(key="rows-checked"):
        draw_table(
            ("Answer", "New entry", "Badges", "Outcome"),
            [
                (
                    one.trace_id[:8],
                    one.renewed[:8],
                    f"{one.verified} → {one.still_verified}",
                    _outcome(one),
                )
                for one in checked[:SHOWN]
            ],
        )
    st.caption("Open either under Answers: the old entry is marked, the new one stands.")


def _outcome(one: Rechecked) -> str:
    if one.lost:
        return f"revoked: the badge of {', '.join(one.lost)} is lost on today's text"
    return "renewed: it holds on today's text"
