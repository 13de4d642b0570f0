"""Draws how closely a claim was looked at: depth, questions and answers, what is left unsaid."""

from __future__ import annotations

from typing import Final

import streamlit as st

from certirag.core.said import Message
from certirag.core.verdict import VerificationResult
from certirag.render import Chip
from certirag.render.trace import CHECKED_AS
from ui.inert import draw_lines, draw_table, draw_text
from ui.language import tr

DEPTHS: Final[dict[str, Message]] = {
    "HIGH": "Its wording left little room, so the sentences that the rules need and the best of "
    "the others were judged, each alone.",
    "MEDIUM": "Every sentence was judged, then the smallest set that carries the claim and the "
    "sentences beside it.",
    "LOW": "As closely as can be: every sentence, the smallest set and its neighbours, and "
    "questions about the claim that the evidence alone had to answer.",
}
_OUTCOMES: Final[dict[str, Message]] = {
    "agree": "Same",
    "differ": "Differs",
    "not_found": "No answer",
}
# Questions that are asked of the whole sentence; the record repeats its words in each of them.
_OF_THE_WHOLE: Final[dict[str, Message]] = {
    "polarity": "So, or not so?",
    "modality": "Must it be, may it be, or is it?",
}
_RECOMPUTED: Final = "; recomputed: "


def draw_recomputed(chip: Chip) -> None:
    """Draw the ledger of each figure that follows from the evidence and does not stand in it."""
    ledgers = [
        ledger
        for finding in chip.findings
        if finding.rule == "numbers" and finding.passed is True and _RECOMPUTED in finding.reason
        for ledger in finding.reason.partition(_RECOMPUTED)[2].split("; ")
    ]
    if ledgers:
        st.subheader(tr("Recomputed figures"), anchor=False)
        draw_lines(ledgers)


def draw_look(result: VerificationResult | None) -> None:
    """Draw the depth of the check and what came of its questions; nothing where none is recorded."""
    if result is None or not (result.depth or result.questions or result.missing_part):
        return
    st.subheader(tr("How closely it was checked"), anchor=False)
    if result.depth:
        draw_text(tr(DEPTHS[result.depth]), "reason", max_lines=4)
        draw_text(tr(CHECKED_AS[result.depth]), "note")
    if result.missing_part:
        draw_text(
            tr("Left unsaid by the evidence: “{missing_part}”", missing_part=result.missing_part),
            "reason",
            max_lines=4,
        )
    if result.questions:
        draw_table(
            (tr("Question"), tr("The claim says"), tr("The evidence says"), tr("Outcome")),
            [
                (
                    tr(_OF_THE_WHOLE[q.kind]) if q.kind in _OF_THE_WHOLE else q.question,
                    q.said,
                    q.answer,
                    tr(_OUTCOMES[q.outcome]),
                )
                for q in result.questions
            ],
        )
