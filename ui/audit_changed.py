"""Answers that lean on documents that have changed since: listed, checked again, revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.staleness import digests_of, recheck_answers, stale_answers
from ui import services
from ui.corpora import corpus_label
from ui.inert import draw_table, draw_text
from ui.language import tr

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
            tr(
                "No corpus is ingested on this server, so there is nothing to compare the answers with."
            )
        )
        return
    name = st.selectbox(
        tr("Corpus as it is today"),
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
        st.caption(tr("No answer leans on a document of this corpus that has changed."))
    else:
        _draw_stale(stale)
        if st.button(tr("Check them again"), type="primary", key="recheck"):
            st.session_state[_CHECKED] = (name, _rechecked(stale, index))
            st.rerun()
    checked_of, checked = st.session_state.get(_CHECKED, ("", ()))
    if checked and checked_of == name:
        _draw_checked(checked)


def _draw_stale(stale: Sequence[StaleAnswer]) -> None:
    st.caption(
        tr(
            "{n:d} answers lean on documents that have changed. Checking them again measures their claims on today's text, logs each as a new answer, and revokes the old one.",
            n=len(stale),
        )
    )
    with st.container(key="rows-stale"):
        draw_table(
            (tr("Entry"), tr("Time (UTC)"), tr("Changed"), tr("Question")),
            [
                (
                    str(one.row.index),
                    one.row.facets.at[:16].replace("T", " "),
                    ", ".join(document.title for document in (*one.changed, *one.gone))[:200],
                    one.row.facets.question[:120] or tr("a draft"),
                )
                for one in stale[:SHOWN]
            ],
        )
    if len(stale) > SHOWN:
        st.caption(tr("{n:d} more", n=len(stale) - SHOWN))


def _rechecked(stale: Sequence[StaleAnswer], index: Index) -> tuple[Rechecked, ...]:
    slot = st.empty()
    with slot.status(tr("Checking again")) as status:

        def progress(_line: str, done: int, total: int) -> None:
            status.update(label=tr("Checking again: {done:d} of {total:d}", done=done, total=total))

        shared = services.shared()
        with shared.lock:
            found = tuple(recheck_answers(stale, index, shared.services, progress))
    slot.empty()
    return found


def _draw_checked(checked: Sequence[Rechecked]) -> None:
    draw_text(tr("Checked again"), "lead", told=True)
    with st.container(key="rows-checked"):
        draw_table(
            (tr("Answer"), tr("New entry"), tr("Badges"), tr("Outcome")),
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
    st.caption(tr("Open either under Answers: the old entry is marked, the new one stands."))


def _outcome(one: Rechecked) -> str:
    if one.lost:
        return tr(
            "revoked: the badge of {claims} is lost on today's text", claims=", ".join(one.lost)
        )
    return tr("renewed: it holds on today's text")
