"""Draws a draft that was checked: its own text, marked, and beside it its claims one by one."""

from __future__ import annotations

from typing import Final

import streamlit as st

from certirag.render import CheckedDraft, Chip, Mode, Presentation, sources_of
from certirag.render.judgement_text import CONFIDENCES, lowered_because
from ui.abstention import draw_conflicts, draw_suggestions
from ui.claims import draw_claim, draw_folded, numbers_of
from ui.inert import draw_draft, draw_facts, draw_lines, draw_number, draw_text
from ui.language import tr, tr_of

# A draft has sixty statements by default; of thousands no more than this get boxes of their own.
MOST: Final = 200


def draw_checked(presentation: Presentation, draft: CheckedDraft) -> None:
    """Draw the count, then the draft beside its claims: the same numbers in both."""
    with st.container(key="checked"):
        with st.container(key="banner"):
            if presentation.question:
                draw_text(presentation.question, "question", max_lines=6)
            draw_text(draft.headline, "lead")
            draw_facts(
                (
                    (tr("Confidence"), tr_of(CONFIDENCES, presentation.summary.confidence)),
                    (tr("Policy"), presentation.policy.name),
                    (tr("Checked"), presentation.record.created_at.replace("T", " ")[:16]),
                )
            )
            lowered = lowered_because(presentation.summary.basis)
            if lowered:
                draw_text(lowered, "note", max_lines=4)
        text, claims = st.columns([11, 10], gap="medium")
        with text, st.container(key="marked", gap="xsmall"):
            draw_marked(draft)
        with claims, st.container(key="statements"):
            draw_statements(presentation, draft)
        draw_conflicts(presentation)
        draw_lacks(draft)
        draw_suggestions(presentation, of_draft=True)


def draw_marked(draft: CheckedDraft) -> None:
    """Draw the draft's own text with its marks, and the key to them."""
    st.caption(tr("The draft, with a mark where it is sure which words a statement has"))
    badges = {one.badge.kind: one.badge for one in draft.statements if one.counted}
    draw_draft(draft.text, draft.stretches(), badges.values())
    if any(one.words and not one.literal for one in draft.statements):
        st.caption(tr("Dotted line: the statement was read from these words; see its wording."))


def draw_lacks(draft: CheckedDraft) -> None:
    """Draw what else there is to know of the draft, if anything is."""
    if draft.lacks:
        st.caption(tr("What else to know"))
        draw_lines(draft.lacks)


def draw_statements(presentation: Presentation, draft: CheckedDraft, place: str = "") -> None:
    """Draw what the mode shows, folds and hides; of the last the draft's own words, no chip.

    *place* tells apart the drafts of one page.
    """
    numbered, sources = numbers_of(presentation), sources_of(presentation)

    def number(chip: Chip) -> int:
        return numbered[id(chip.claim)]

    shown, folded = presentation.shown[:MOST], presentation.folded[:MOST]
    drawn = {number(chip) for chip in (*presentation.shown, *presentation.folded)}
    hidden = [one for one in draft.statements if one.number not in drawn]
    st.caption(tr("Its statements, one by one"))
    for one in hidden[:MOST]:
        with st.container(key=f"claim-hidden-{one.number}{place}", gap="xsmall"):
            draw_number(one.number)
            draw_text(one.words or tr("This statement has no words of its own."), "claim")
            draw_text(one.against or tr("The documents contradict it."), "reason", max_lines=4)
    if hidden:
        st.caption(tr("The documents contradict these. Debug shows the evidence."))
    for chip in shown:
        draw_claim(chip, number(chip), sources, numbered=True, place=place)
    if folded and presentation.mode is Mode.STRICT:
        with st.expander(tr("What we could not verify ({n:d})", n=len(presentation.folded))):
            for chip in folded:
                draw_claim(chip, number(chip), sources, numbered=True, place=place)
    else:
        for chip in folded:
            draw_folded(chip, number(chip), sources, place)
    rest = len(draft.statements) - len(shown) - len(folded) - len(hidden[:MOST])
    if rest:
        st.caption(tr("{rest:d} more are marked in the draft and not listed.", rest=rest))
