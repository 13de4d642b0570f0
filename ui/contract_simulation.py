"""Other thresholds tried on the session's answer: counts and words, never a badge, kept nowhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.auditing.replay import Replay, replay
from certirag.core.said import Message
from certirag.render import Mode, present
from certirag.verification.measured import measured_for
from ui import run, services
from ui.ask import ANSWER, CHECKED
from ui.contract_text import (
    MEASURED_HERE,
    NO_ANSWER_KEPT,
    NOT_MEASURED_HERE,
    ONE_VARIED,
    SIMULATION,
    SIMULATION_LOOSER,
)
from ui.frame import plain_errors
from ui.inert import draw_facts, draw_lines, draw_table, draw_text
from ui.language import tr
from ui.risk import shipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from certirag.core.policy import Policy
    from certirag.render import Presentation
    from certirag.verification.measured import Measurement

SOURCES: Final[tuple[Message, ...]] = ("Ask", "Check a draft")
_KEYS: Final = {"Ask": ANSWER, "Check a draft": CHECKED}
HIDDEN: Final[Message] = "The documents say otherwise: its words are shown in Debug only."


def draw_simulation(policy: Policy) -> None:
    """Draw what *policy* with other thresholds would do to the answer that this session keeps."""
    st.caption(tr(SIMULATION))
    kept = [name for name in SOURCES if run.kept_export(_KEYS[name])]
    if not kept:
        st.info(tr(NO_ANSWER_KEPT))
        return
    chosen = kept[0]
    if len(kept) > 1:
        chosen = st.segmented_control(
            tr("The answer of"),
            SOURCES,
            default="Ask",
            required=True,
            format_func=tr,
            key="simulated-answer",
        )
    export = run.kept_export(_KEYS[chosen])
    with plain_errors():
        _draw_trial(export, policy)


def _draw_trial(export: bytes, policy: Policy) -> None:
    """Draw the trial; raises CertificateError for an export that does not hold."""
    drawn = present(export, Mode.STRICT, trusted=services.shared().services.trusted, floor=policy)
    own = drawn.policy
    entail, contradict = f"simulated-entail-{policy.name}", f"simulated-contradict-{policy.name}"
    st.session_state.setdefault(entail, own.tau_entail)
    st.session_state.setdefault(contradict, own.tau_contradict)
    tau_entail = round(st.slider(tr("Entailment, at least"), 0.5, 1.0, step=0.01, key=entail), 2)
    measured = st.container(key="measured-here", gap="xsmall")
    tau_contradict = round(
        st.slider(tr("Contradiction, below"), 0.01, 1.0, step=0.01, key=contradict), 2
    )
    trial = replace(own, name="simulation", tau_entail=tau_entail, tau_contradict=tau_contradict)
    with measured:
        _draw_measured(measured_for(shipped(), drawn.record.models, own), trial)
    # Compared with the policy under which the pages draw it, and not with a looser one on record.
    found = replay(replace(drawn.record, policy=own), trial)
    if not found.tightens:
        st.caption(tr(SIMULATION_LOOSER))
    _draw_outcome(found, drawn)


def _draw_measured(measurements: Sequence[Measurement], trial: Policy) -> None:
    """Draw what was measured with the threshold of *trial* in place of the policy's own."""
    known = [one for one in measurements if one.thresholds]
    if not known:
        st.caption(tr(NOT_MEASURED_HERE))
        return
    if any(one.policy.tau_contradict != trial.tau_contradict for one in known):
        st.caption(tr(ONE_VARIED))
        return
    here = [(one, one.at(trial.tau_entail)) for one in known]
    if not any(at for _, at in here):
        grid = sorted({at.tau_entail for one in known for at in one.thresholds})
        below = [tau for tau in grid if tau < trial.tau_entail][-1:]
        above = [tau for tau in grid if tau > trial.tau_entail][:1]
        near = ", ".join(f"{tau:.2f}" for tau in (*below, *above))
        draw_text(
            tr(
                "Not measured at {value:.2f}; measured next to it: {near}.",
                value=trial.tau_entail,
                near=near,
            ),
            "note",
        )
        return
    st.caption(tr(MEASURED_HERE))
    draw_lines(
        one.sentence_at(at) if at else tr("On {name}: not measured.", name=one.set_name)
        for one, at in here
    )


def _draw_outcome(found: Replay, drawn: Presentation) -> None:
    claims = drawn.record.claim_ir.claims
    passes = {chip.claim_id for chip in drawn.shown}
    lost, gained = ({claim.claim_id for claim in some} for some in (found.lost, found.gained))
    would = (passes - lost) | gained
    # What the documents contradict is for Debug alone, here as on every page.
    open_ = {id(chip.claim) for chip in (*drawn.shown, *drawn.folded)}
    draw_text(drawn.question, "note", max_lines=2)
    draw_facts(
        (
            (tr("Claims"), str(len(claims))),
            (tr("Would pass"), str(found.still_verified)),
            (tr("Would fail"), str(len(claims) - found.still_verified)),
            (tr("Pass now, would fail"), str(len(lost))),
            (tr("Fail now, would pass"), str(len(gained))),
        )
    )
    with st.container(key="rows-simulated"):
        draw_table(
            (tr("Claim"), tr("Now"), tr("Simulated"), tr("Text")),
            [
                (
                    str(number),
                    tr("passes") if claim.id in passes else tr("fails"),
                    tr("would pass") if claim.id in would else tr("would fail"),
                    claim.text if id(claim) in open_ else tr(HIDDEN),
                )
                for number, claim in enumerate(claims, 1)
            ],
        )
