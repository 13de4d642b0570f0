"""The trust contract page: prose from constants, and the rules in force with their thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from certirag.render import NOTICE
from ui import services
from ui.contract_check import draw_checkers
from ui.contract_policies import draw_measured, draw_policies, with_thresholds
from ui.contract_simulation import draw_simulation
from ui.contract_text import (
    DOES_NOT_MEAN,
    FAILS_CLOSED,
    MEANS,
    RECORD,
    RULE_TITLES,
    RULE_WORDS,
    STATES,
)
from ui.controls import choose_policy
from ui.inert import draw_facts, draw_rules
from ui.language import tr

if TYPE_CHECKING:
    from certirag.core.policy import Policy


def contract_page() -> None:
    """Draw the whole of Trust contract below its heading."""
    with st.container(key="banner"):
        st.markdown(tr(NOTICE))
    st.header(tr("What it means"), anchor=False)
    st.markdown(tr(MEANS))
    st.header(tr("What it does not mean"), anchor=False)
    st.markdown(tr(DOES_NOT_MEAN))
    st.header(tr("The three states"), anchor=False)
    st.markdown(tr(STATES))
    st.header(tr("The rules in force"), anchor=False)
    policy = choose_policy()
    draw_rules((tr(RULE_TITLES[rule]), rule_words(rule, policy)) for rule in policy.rules)
    st.header(tr("The policies side by side"), anchor=False)
    draw_policies()
    st.header(tr("What other thresholds would do"), anchor=False)
    draw_simulation(policy)
    st.header(tr("What was measured"), anchor=False)
    draw_measured(policy)
    st.header(tr("What verifies"), anchor=False)
    draw_facts((m.role, f"{m.name} {m.version}") for m in services.shared().services.models)
    st.header(tr("When something fails"), anchor=False)
    st.markdown(tr(FAILS_CLOSED))
    st.header(tr("Checking us"), anchor=False)
    st.markdown(tr(RECORD))
    draw_checkers()


def rule_words(rule: str, policy: Policy) -> str:
    """Return what *rule* asks under *policy*, thresholds included, in plain words."""
    return with_thresholds(tr(RULE_WORDS[rule]), policy)
