"""An answer beside what another policy would make of it: a replay in words, never a badge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.replay import Replay, ReplayedClaim, replay
from certirag.bootstrap import load_policy, policy_names
from certirag.core.said import Message
from certirag.render import Mode
from certirag.render.why import telling, why
from ui.audit_filters import OUTCOMES
from ui.contract_text import SIMULATION_LOOSER
from ui.frame import plain_errors
from ui.inert import draw_facts, draw_table
from ui.language import tr, trn

if TYPE_CHECKING:
    from certirag.render import Presentation

REPLAYED: Final[Message] = (
    "The measurements on record, decided again under the other policy. Nothing is asked or measured "
    "again, nothing is recorded, and nothing here is a badge: for an answer under a stricter policy, "
    "choose it above and ask again."
)
CHOOSE: Final[Message] = "Choose a policy"
UNSEEN: Final[Message] = "The documents say otherwise: its words are shown in Debug only."
_MOST: Final = 200


def draw_other_policy(presentation: Presentation) -> None:
    """Draw, folded, a choice of another policy and each claim under both."""
    own = presentation.policy
    with st.expander(tr("Compare with another policy")):
        names = [name for name in policy_names() if name != own.name]
        name = st.selectbox(
            tr("The other policy"),
            (CHOOSE, *names),
            format_func=_label,
            key="other-policy",
            width=220,
        )
        st.caption(tr(REPLAYED))
        if name not in names:
            return
        with plain_errors():
            # As the page draws it: the policy in force now may be stricter than the one on record.
            drawn = replace(presentation.record, policy=own)
            _draw_both(replay(drawn, load_policy(name)), presentation)


def _label(name: str) -> str:
    """Return the name of a policy as it is: only the first choice is a sentence of ours."""
    return tr(CHOOSE) if name == CHOOSE else name


def _draw_both(found: Replay, presentation: Presentation) -> None:
    now, other = (tr("Under {policy}", policy=name) for name in (found.policy, found.other))
    if not found.tightens:
        st.caption(tr(SIMULATION_LOOSER))
    draw_facts(
        (
            (
                now,
                trn(
                    "{outcome}: {n} passes",
                    "{outcome}: {n} pass",
                    found.verified,
                    outcome=tr(OUTCOMES[found.decision]),
                ),
            ),
            (
                other,
                trn(
                    "{outcome}: {n} would pass",
                    "{outcome}: {n} would pass",
                    found.still_verified,
                    outcome=tr(OUTCOMES[found.becomes]),
                ),
            ),
        )
    )
    with st.container(key="rows-other-policy"):
        draw_table((tr("Claim"), now, other, tr("Text"), tr("Because")), _rows(found, presentation))
    rest = len(presentation.record.claim_ir.claims) - _MOST
    if rest > 0:
        st.caption(
            trn(
                "{n:d} more is counted and not listed.",
                "{n:d} more are counted and not listed.",
                rest,
            )
        )


def _rows(found: Replay, presentation: Presentation) -> list[tuple[str, ...]]:
    """Return of each claim its number, both outcomes, its words, and why it is withheld by one."""
    open_ = {id(c.claim): c for c in (*presentation.shown, *presentation.folded)}
    changed = {claim.claim_id: claim for claim in (*found.lost, *found.gained)}
    gained = {claim.claim_id for claim in found.gained}
    rows: list[tuple[str, ...]] = []
    for number, claim in enumerate(presentation.record.claim_ir.claims[:_MOST], 1):
        chip, change = open_.get(id(claim)), changed.get(claim.id)
        passes = chip is not None and all(f.passed is True for f in chip.findings)
        would = claim.id in gained if change else passes
        rows.append(
            (
                str(number),
                tr("passes") if passes else tr("fails"),
                tr("would pass") if would else tr("would fail"),
                tr(UNSEEN) if chip is None else claim.text,
                tr("Alike under both.") if change is None else _because(change, presentation),
            )
        )
    return rows


def _because(change: ReplayedClaim, presentation: Presentation) -> str:
    """Return why one of the two policies withholds the badge: the recorded words in Debug alone."""
    if presentation.mode is Mode.DEBUG or not change.failed:
        return change.reason
    first = min(change.failed, key=lambda finding: telling(finding.rule, blocked=False))
    titles = frozenset(chunk.source.title for chunk in presentation.record.retrieval.chunks)
    return why(first.rule, first.reason, titles=titles).sentence
