"""Draws each claim's way to its document, each stage's decision and time, and where a claim failed."""

from __future__ import annotations

from typing import Final

import streamlit as st

from certirag.render import Chip, Presentation
from certirag.render.trace import STAGES, Failure, failed_rules, failure_of, stages_of, way_of
from ui import drawer
from ui.claims import numbers_of
from ui.contract_text import PLANTED_RULE, PLANTED_TITLE, RULE_TITLES
from ui.inert import draw_facts, draw_lines, draw_rules, draw_steps, draw_way
from ui.times import draw_times

_ALL: Final = "All claims"
FILTERS: Final = ("All claims", "Retrieval", "Compilation", "Verification", "Policy")
FILTER_HELP: Final = (
    "Where a claim failed follows from the record by one rule: the form of the claim, what was "
    "found for it, what was measured, and the other rules, in that order."
)
_TITLES: Final = {**RULE_TITLES, PLANTED_RULE: PLANTED_TITLE}


def draw_ways(presentation: Presentation) -> None:
    """Draw the way of each claim that this mode draws, those of one stage if asked."""
    chips = (*presentation.shown, *presentation.folded)
    numbered = numbers_of(presentation)
    found = sorted(
        ((chip, failure_of(chip)) for chip in chips), key=lambda pair: numbered[id(pair[0].claim)]
    )
    st.header("From claim to document", anchor=False)
    stages = [failure.stage for _, failure in found if failure is not None]
    draw_facts(
        (
            ("Passed every rule", str(len(chips) - len(stages))),
            *((f"Failed at {stage}", str(stages.count(stage))) for stage in STAGES),
        )
    )
    draw_times(presentation.record.trace_id)
    chosen = st.segmented_control(
        "Failed at", FILTERS, default="All claims", required=True, key="failed-at", help=FILTER_HELP
    )
    dropped = presentation.record.claim_ir.dropped
    if dropped:
        st.caption("Left out when the claims were made:")
        draw_lines(dropped)
    matching = [
        (chip, failure)
        for chip, failure in found
        if chosen == _ALL or (failure is not None and failure.stage.capitalize() == chosen)
    ]
    for chip, failure in matching:
        _draw_one(chip, failure, numbered[id(chip.claim)], presentation)
    if not matching:
        st.caption("No claim failed at this stage.")


def _draw_one(chip: Chip, failure: Failure | None, number: int, presentation: Presentation) -> None:
    with st.container(key=f"way-{number}", gap="small"):
        if failure is None:
            draw_rules(((f"Claim {number}", "Passed every rule."),))
        else:
            draw_rules(((f"Claim {number} failed at {failure.stage}", f"{failure.reason}."),))
        draw_way(
            (stop.place.capitalize(), stop.entries)
            for stop in way_of(chip, presentation.record.citations)
        )
        with st.expander(f"Claim {number:d}: what each stage decided"):
            decided = stages_of(chip, presentation.policy)
            draw_steps(
                (
                    stage.capitalize(),
                    " ".join(decided.get(stage, ()) or _ruled(chip)),
                    failure is not None and failure.stage == stage,
                )
                for stage in STAGES
            )
        st.button(
            f"Evidence of claim {number:d}",
            key=f"way-{number}-open",
            on_click=drawer.ask_to_open,
            args=(chip.claim_id,),
        )


def _ruled(chip: Chip) -> tuple[str, ...]:
    """Return what the policy decided: its failed rules, or that there is none."""
    failed = [f"{_TITLES.get(f.rule, f.rule)}: {f.reason}." for f in failed_rules(chip)]
    return ("Did not pass:", *failed) if failed else ("Every rule passed.",)
