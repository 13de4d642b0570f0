"""The logged answers under another policy: what would be lost, and never a badge that is gained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.replay import replay_log
from certirag.bootstrap import load_policy, policy_names
from certirag.core.said import Message
from ui import services
from ui.audit_filters import OUTCOMES
from ui.inert import draw_facts, draw_table, draw_text
from ui.language import tr, tr_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from certirag.auditing.replay import Replay, ReplayedClaim
    from certirag.ports import AuditLog
    from certirag.proof.facets import AnswerQuery

MOST: Final = 2_000
SHOWN: Final = 25
_REPLAYED: Final = "audit_replayed"
REPLAY_HELP: Final[Message] = (
    "Nothing is measured again: each badge is derived from the recorded scores under this policy."
)
LOOSER: Final[Message] = "Looser: nothing of this would be shown here"
LOOSER_WHY: Final[Message] = (
    "An answer keeps the strictest policy that it was made under, and a caller can only tighten "
    "it. These claims have no badge; the reason is that of the policy on record."
)


def draw_replay(log: AuditLog, query: AnswerQuery) -> None:
    """Replay the answers that *query* asks for under a policy that the reader chooses."""
    names = policy_names()
    with st.container(horizontal=True, vertical_alignment="bottom", key="replay-acts"):
        name = st.selectbox(
            tr("Under the policy"),
            names,
            key="replay-policy",
            help=tr(REPLAY_HELP),
            width=220,
            persist_state="session",
        )
        begun = st.button(tr("Replay"), type="primary", key="replay")
    if name not in names:
        return
    own = services.shared().services.policy
    if not load_policy(name).refines(own):
        st.caption(
            tr(
                "This policy is looser than the one in force here: it can be replayed, and nothing "
                "that it would add is shown as a badge anywhere."
            )
        )
    if log.count(query) > MOST:
        st.info(
            tr(
                "More than {most:d} answers: choose a shorter period, or run `certirag replay --log` on the server.",
                most=MOST,
            )
        )
        return
    if begun:
        st.session_state[_REPLAYED] = (name, query, _replayed(log, query, name))
    kept = st.session_state.get(_REPLAYED)
    if kept is not None and kept[:2] == (name, query):
        _draw_replayed(kept[2])


def _replayed(log: AuditLog, query: AnswerQuery, name: str) -> tuple[Replay, ...]:
    slot = st.empty()
    with slot.status(tr("Replaying")) as status:

        def progress(_line: str, done: int, total: int) -> None:
            status.update(label=tr("Replaying: {done:d} of {total:d}", done=done, total=total))

        trusted = services.shared().services.trusted
        found = tuple(replay_log(log, query, load_policy(name), trusted, progress))
    slot.empty()
    return found


def _draw_replayed(replays: Sequence[Replay]) -> None:
    lost = [(one, claim) for one in replays for claim in one.lost]
    looser = [(one, claim) for one in replays for claim in one.gained]
    draw_facts(
        (
            (tr("Answers"), str(len(replays))),
            (tr("Badges on record"), str(sum(one.verified for one in replays))),
            (tr("Would be lost"), str(len(lost))),
            (tr("Only if looser"), str(len(looser))),
            (tr("Decided otherwise"), str(sum(one.decision != one.becomes for one in replays))),
        )
    )
    if lost:
        draw_text(tr("Would be lost"), "lead", told=True)
        _draw_claims(lost, "rows-lost")
    if looser:
        draw_text(tr(LOOSER), "lead", told=True)
        st.caption(tr(LOOSER_WHY))
        _draw_claims(looser, "rows-looser")
    if not lost and not looser:
        st.caption(tr("No badge would be lost: both policies decide alike on these answers."))


def _change(one: Replay) -> str:
    return " → ".join(tr_of(OUTCOMES, code) for code in (one.decision, one.becomes))


def _draw_claims(rows: Sequence[tuple[Replay, ReplayedClaim]], key: str) -> None:
    with st.container(key=key):
        draw_table(
            (tr("Trace"), tr("Answer"), tr("Claim"), tr("Because")),
            [
                (one.trace_id[:8], _change(one), claim.text, claim.reason)
                for one, claim in rows[:SHOWN]
            ],
        )
    if len(rows) > SHOWN:
        st.caption(tr("{n:d} more: `certirag replay --log` lists them all.", n=len(rows) - SHOWN))
