"""What an auditor can do with the log: replay it under another policy, find what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.bootstrap import load_policy, policy_names
from certirag.expiry import digests_of, recheck_answers, stale_answers
from certirag.replaying import replay_log
from ui import services
from ui.corpora import SESSION, choose_corpus
from ui.inert import draw_facts, draw_lines, draw_table, draw_text

if TYPE_CHECKING:
    from certirag.core.facets import AnswerQuery
    from certirag.expiry import Rechecked, StaleAnswer
    from certirag.ports import AuditLog
    from certirag.replaying import Replay

MOST: Final = 2_000
_SHOWN: Final = 100
_REPLAYED: Final = "audit_replayed"
_CHECKED: Final = "audit_checked"
REPLAY_HELP: Final = (
    "Nothing is measured again: each badge is derived from the recorded scores under this policy."
)


def draw_replay(log: AuditLog, query: AnswerQuery) -> None:
    """Replay the answers that *query* asks for under a policy that the reader chooses."""
    names = policy_names()
    with st.container(horizontal=True, vertical_alignment="bottom", key="replay-acts"):
        name = st.selectbox(
            "Under the policy", names, key="replay-policy", help=REPLAY_HELP, width=220
        )
        begun = st.button("Replay", type="primary", key="replay")
    if log.count(query) > MOST:
        st.info(
            f"More than {MOST:d} answers: choose a shorter period, or run "
            "`certirag replay --log` on the server."
        )
        return
    if begun:
        st.session_state[_REPLAYED] = (name, query, _replayed(log, query, name))
    kept = st.session_state.get(_REPLAYED)
    if kept is not None and kept[:2] == (name, query):
        _draw_replayed(kept[2])


def _replayed(log: AuditLog, query: AnswerQuery, name: str) -> tuple[Replay, ...]:
    slot = st.empty()
    with slot.status("Replaying") as status:

        def progress(_line: str, done: int, total: int) -> None:
            status.update(label=f"Replaying: {done:d} of {total:d}")

        trusted = services.shared().services.trusted
        found = tuple(replay_log(log, query, load_policy(name), trusted, progress))
    slot.empty()
    return found


def _draw_replayed(replays: tuple[Replay, ...]) -> None:
    lost = [(one, claim) for one in replays for claim in one.lost]
    gained = [(one, claim) for one in replays for claim in one.gained]
    draw_facts(
        (
            ("Answers", str(len(replays))),
            ("Badges", str(sum(one.verified for one in replays))),
            ("Would be lost", str(len(lost))),
            ("Would be gained", str(len(gained))),
            ("Decided otherwise", str(sum(one.decision != one.becomes for one in replays))),
        )
    )
    for words, rows in (("Would be lost", lost), ("Would be gained", gained)):
        if not rows:
            continue
        draw_text(words, "lead")
        draw_table(
            ("Trace", "Answer", "Claim", "Because"),
            [
                (one.trace_id[:8], f"{one.decision} → {one.becomes}", claim.text, claim.reason)
                for one, claim in rows[:_SHOWN]
            ],
        )
        if len(rows) > _SHOWN:
            st.caption(f"{len(rows) - _SHOWN:d} more")
    if not lost and not gained:
        st.caption("No badge would be lost and none gained.")


def draw_changed(log: AuditLog) -> None:
    """List the answers that lean on documents of a corpus that have changed, and check them again."""
    corpus = choose_corpus(key="audit-corpus-of")
    if corpus is None:
        return
    if corpus.name == SESSION:
        st.info("Your own documents are in this session only: choose a corpus of the server.")
        return
    stale = list(stale_answers(log, digests_of(corpus.index)))
    if not stale:
        st.caption("No answer leans on a document of this corpus that has changed.")
    else:
        _draw_stale(stale)
        if st.button("Check them again", type="primary", key="recheck"):
            st.session_state[_CHECKED] = _rechecked(stale, corpus.index)
            st.rerun()
    for one in st.session_state.get(_CHECKED, ()):
        draw_lines([_line(one)])


def _draw_stale(stale: list[StaleAnswer]) -> None:
    st.caption(
        f"{len(stale):d} answers lean on documents that have changed. Checking them again measures "
        "their claims on today's text, logs each as a new answer, and revokes the old one."
    )
    draw_table(
        ("Entry", "Question", "Changed"),
        [
            (
                str(one.row.index),
                one.row.facets.question[:120],
                ", ".join(document.title for document in (*one.changed, *one.gone)),
            )
            for one in stale[:_SHOWN]
        ],
    )


def _rechecked(stale: list[StaleAnswer], index: object) -> tuple[Rechecked, ...]:
    slot = st.empty()
    with slot.status("Checking again") as status:

        def progress(_line: str, done: int, total: int) -> None:
            status.update(label=f"Checking again: {done:d} of {total:d}")

        shared = services.shared()
        with shared.lock:
            found = tuple(recheck_answers(stale, index, shared.services, progress))  # type: ignore[arg-type]
    slot.empty()
    return found


def _line(one: Rechecked) -> str:
    if one.lost:
        lost = ", ".join(one.lost)
        return (
            f"{one.trace_id[:8]}: revoked, for {lost} lost the badge; checked as {one.renewed[:8]}"
        )
    return f"{one.trace_id[:8]}: holds on today's text; checked as {one.renewed[:8]}"
