"""The two controls of a display: the mode, kept in the URL, and a policy that only tightens."""

from __future__ import annotations

from typing import Final

import streamlit as st

from certirag.core.policy import Policy
from certirag.core.said import Message
from certirag.render import Mode
from ui import services
from ui.language import from_address, to_address, tr

MODES: Final[tuple[Message, ...]] = ("strict", "mixed", "debug")
MODE_HELP: Final[Message] = (
    "Strict shows what every rule allows. Mixed adds, folded, what has too little evidence. "
    "Debug shows everything, with scores. Changing it re-draws the same signed record."
)
POLICY_HELP: Final[Message] = (
    "A stricter policy takes badges away and never adds one. An answer keeps the strictest "
    "policy that it was made under."
)


def choose_mode(*, disabled: bool = False) -> Mode:
    """Draw the mode control and return its value; an unknown one in the URL is dropped."""
    from_address("mode", MODES, "strict")
    chosen = st.segmented_control(
        tr("Show"),
        MODES,
        required=True,
        format_func=tr,
        key="mode",
        help=tr(MODE_HELP),
        disabled=disabled,
    )
    mode = Mode(chosen) if chosen in MODES else Mode.STRICT
    to_address("mode", mode.value, "strict")
    return mode


def choose_policy(*, disabled: bool = False) -> Policy:
    """Draw the policy control and return the policy in force; never looser than the server's."""
    offered = services.policies_on_offer()
    chosen = st.selectbox(
        tr("Policy"),
        offered,
        key="policy",
        help=tr(POLICY_HELP),
        persist_state="session",
        width=200,
        disabled=disabled,
    )
    return services.policy_called(chosen if chosen in offered else offered[0])
