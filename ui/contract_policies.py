"""The policies that ship, side by side, and all that was measured under any of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import streamlit as st

from certirag.bootstrap import load_policy, policy_names
from certirag.core.policy import BASE_RULES, LEAST_TAU_ENTAIL, STRICT_RULES
from certirag.verification.measured import measured_for
from ui import services
from ui.contract_text import (
    NOT_ASKED,
    NOT_PER_THRESHOLD,
    NOTHING_MEASURED,
    RULE_ASKS,
    RULE_TITLES,
)
from ui.inert import draw_lines, draw_table
from ui.language import tr
from ui.risk import shipped

if TYPE_CHECKING:
    from certirag.core.policy import Policy


def draw_policies() -> None:
    """Draw what each rule asks in one line, and the limit that each policy sets for it."""
    policies = [load_policy(name) for name in policy_names()]
    with st.container(key="policies"):
        draw_table(
            (tr("Rule"), *(policy.name for policy in policies), tr("What it asks")),
            [
                (
                    tr(RULE_TITLES[rule]),
                    *(_limit(rule, p) for p in policies),
                    tr(RULE_ASKS[rule][0]),
                )
                for rule in (*BASE_RULES, *STRICT_RULES)
            ],
        )


def draw_measured() -> None:
    """Draw every figure that was measured of the verifier in use, at the thresholds it is of."""
    models = services.shared().services.models
    found = [one for one in shipped() if measured_for((one,), models, one.policy)]
    if not found:
        st.caption(tr(NOTHING_MEASURED))
        names = dict.fromkeys(one.policy.name for one in shipped())
        draw_lines(tr("of another verifier, under {name}", name=name) for name in names)
        return
    with st.container(key="measured"):
        draw_table(
            (tr("Policy"), tr("Entailment"), tr("Contradiction"), tr("What was measured")),
            [
                (
                    one.policy.name,
                    f"{one.policy.tau_entail:.2f}",
                    f"{one.policy.tau_contradict:.2f}",
                    one.sentence,
                )
                for one in found
            ],
        )
    st.caption(tr(NOT_PER_THRESHOLD))


def with_thresholds(words: str, policy: Policy) -> str:
    """Return *words* of ours with the thresholds of *policy* in their places."""
    values = {k: v for k, v in asdict(policy).items() if isinstance(v, int | float)}
    return words.format(**values, **policy.class_minimum, least_tau_entail=LEAST_TAU_ENTAIL)


def _limit(rule: str, policy: Policy) -> str:
    asks = tr(RULE_ASKS[rule][1])
    return with_thresholds(asks, policy) if rule in policy.rules else tr(NOT_ASKED)
