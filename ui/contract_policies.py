"""The policies that ship, side by side, and all that was measured under any of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import streamlit as st

from certirag.bootstrap import load_policy, policy_names
from certirag.core.policy import BASE_RULES, LEAST_TAU_ENTAIL, STRICT_RULES
from certirag.verification.measured import measured_for
from ui import services
from ui.charts import draw_thresholds
from ui.contract_text import (
    NOT_ASKED,
    NOT_PER_THRESHOLD,
    NOTHING_MEASURED,
    PER_THRESHOLD,
    RULE_ASKS,
    RULE_TITLES,
)
from ui.inert import draw_lines, draw_table, draw_text
from ui.language import tr
from ui.risk import shipped

if TYPE_CHECKING:
    from certirag.core.policy import Policy
    from certirag.verification.measured import Measurement


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


def draw_measured(policy: Policy) -> None:
    """Draw every figure that was measured of the verifier in use, at the thresholds it is of.

    Of *policy* follows what was measured with other thresholds of entailment.
    """
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
                for one in sorted(found, key=lambda one: (one.policy.name, -one.interval()[1]))
            ],
        )
    st.subheader(tr("At other thresholds of entailment"), anchor=False)
    several = [one for one in measured_for(shipped(), models, policy) if one.thresholds]
    st.caption(tr(PER_THRESHOLD if several else NOT_PER_THRESHOLD))
    for number, one in enumerate(several, 1):
        _draw_by_threshold(one, number)


def _draw_by_threshold(one: Measurement, number: int) -> None:
    with st.container(key=f"by-threshold-{number}", gap="small"):
        draw_text(f"{one.set_name[:1].upper()}{one.set_name[1:]}", "lead")
        draw_text(one.description, "note", max_lines=4)
        draw_thresholds(one.thresholds, one.true_rows, one.policy.tau_entail, number=number)
        with st.expander(tr("Chart {number:d} as a table", number=number)):
            draw_table(
                (
                    tr("Entailment"),
                    tr("Badges"),
                    tr("Wrong"),
                    tr("Wrong at most"),
                    tr("True statements with a badge"),
                ),
                [
                    (
                        f"{at.tau_entail:.2f}"
                        + (
                            f" ({tr('this policy')})"
                            if at.tau_entail == one.policy.tau_entail
                            else ""
                        ),
                        str(at.badges),
                        str(at.wrong),
                        at.at_most,
                        tr("{part:d} of {whole:d}", part=at.covered, whole=one.true_rows),
                    )
                    for at in one.thresholds
                ],
            )


def with_thresholds(words: str, policy: Policy) -> str:
    """Return *words* of ours with the thresholds of *policy* in their places."""
    values = {k: v for k, v in asdict(policy).items() if isinstance(v, int | float)}
    return words.format(**values, **policy.class_minimum, least_tau_entail=LEAST_TAU_ENTAIL)


def _limit(rule: str, policy: Policy) -> str:
    asks = tr(RULE_ASKS[rule][1])
    return with_thresholds(asks, policy) if rule in policy.rules else tr(NOT_ASKED)
