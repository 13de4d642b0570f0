"""Draws an answer from its signed export: its claims first, then how far they go, what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.policy import Policy
from certirag.core.said import Message
from certirag.errors import CertificateError
from certirag.render import NOTICE, Mode, Presentation, present, sources_of
from certirag.render.draft_text import DRAFT, draft_lines, headline_of, is_under_way
from certirag.render.judgement_text import CONFIDENCES
from ui import debug, drawer, run, taking
from ui.abstention import (
    draw_abstention,
    draw_conflicts,
    draw_end,
    draw_missing,
    draw_suggestions,
)
from ui.checked import draw_checked
from ui.claims import draw_claim, draw_folded, numbers_of
from ui.compared_policies import draw_other_policy
from ui.contract_text import PLANT_HELP
from ui.inert import draw_facts, draw_lines, draw_text
from ui.language import tr, tr_of
from ui.located import CorpusLike
from ui.ways import draw_ways

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_SAID_FIRST: Final = frozenset({"RELATED_ONLY", "PARTLY_ANSWERED"})
BROKEN: Final[Message] = "This record does not hold, so nothing of it is shown: {error}"


def show_answer(
    export: bytes,
    mode: Mode,
    *,
    trusted: Mapping[str, Ed25519PublicKey],
    floor: Policy,
    of_draft: bool = False,
    key: str = "",
    corpus: CorpusLike | None = None,
    ways: bool = False,
) -> None:
    """Draw what *mode* shows of *export*; every badge is derived again on each call.

    A record that does not hold shows one plain line and nothing else. *key* is where the session
    keeps the export; with it the page offers to plant errors in the answer, and another policy. *corpus* is the index
    that is open beside it: the drawer looks there for what it quotes. *ways* draws how each claim
    was decided, as Debug does.
    """
    try:
        presentation = present(export, mode, trusted=trusted, floor=floor)
    except CertificateError as error:
        draw_text(tr(BROKEN).format(error=error), "error")
        return
    with st.container(key="answer"):
        draw_otherwise(presentation, floor, corpus)
        if of_draft and presentation.draft is not None:
            draw_checked(presentation, presentation.draft)
        # What was broken off before its first badge says nothing about the evidence.
        elif presentation.summary.decision == "REJECT" and not is_under_way(presentation):
            draw_abstention(presentation, of_draft=of_draft)
            _draw_shown(presentation)
            _draw_others(presentation)
        else:
            _draw_answer(presentation)
            _draw_others(presentation)
            draw_suggestions(presentation, of_draft=of_draft)
        if mode is Mode.DEBUG:
            debug.draw_debug(presentation)
        elif ways:
            draw_ways(presentation)
        if key and not of_draft:
            draw_other_policy(presentation)
        _draw_footer(presentation, export, key)
    drawer.open_if_asked(presentation, corpus)


def draw_otherwise(presentation: Presentation, chosen: Policy, corpus: CorpusLike | None) -> None:
    """Say where an answer was made otherwise than what is chosen above it now."""
    of = presentation.record
    if corpus is not None and of.retrieval.settings.get("corpus") != corpus.fingerprint:
        st.caption(
            tr("This was answered over other documents than those chosen above. Ask it again.")
        )
    if presentation.policy.name != chosen.name:
        draw_text(
            tr(
                "This was answered under {policy}; ask again for {chosen}.",
                policy=of.policy.name,
                chosen=chosen.name,
            ),
            "note",
        )


def _draw_answer(presentation: Presentation) -> None:
    """Draw the question and the claims that answer it; the count of them is told below.

    What a reader has to know before reading stands above: that they may not answer, that they answer
    a part, that the answer was not finished or that documents disagree.
    """
    summary = presentation.summary
    headline = headline_of(presentation)
    first = summary.reason_code in _SAID_FIRST or is_under_way(presentation)
    with st.container(key="asked", gap="xsmall"):
        if presentation.question:
            draw_text(presentation.question, "question" if first else "lead", max_lines=6)
        if first:
            draw_text(headline, "lead", told=True)
        draw_end(presentation)
        draw_conflicts(presentation)
    _draw_shown(presentation)
    with st.container(key="banner"):
        if not first:
            draw_text(headline, "note", told=True)
        draw_facts(
            (
                (tr("Confidence"), tr_of(CONFIDENCES, summary.confidence)),
                (tr("Policy"), presentation.policy.name),
                (tr("Answered"), presentation.record.created_at.replace("T", " ")[:16]),
            )
        )
        draw_missing(presentation)


def _draw_shown(presentation: Presentation) -> None:
    numbered, sources = numbers_of(presentation), sources_of(presentation)
    for chip in presentation.shown:
        draw_claim(chip, numbered[id(chip.claim)], sources)


def _draw_others(presentation: Presentation) -> None:
    """Draw what got no badge, folded."""
    numbered, sources = numbers_of(presentation), sources_of(presentation)
    folded = presentation.folded
    if folded and presentation.mode is Mode.STRICT:
        with st.expander(tr("What we could not verify ({n:d})", n=len(folded))):
            for chip in folded:
                draw_claim(chip, numbered[id(chip.claim)], sources)
    elif folded:
        st.caption(
            tr("Too little evidence: each may be right or wrong. Open one only with that in mind.")
        )
        for chip in folded:
            draw_folded(chip, numbered[id(chip.claim)], sources)
    if presentation.hidden:
        st.caption(tr("{hidden:d} contradicted, in Debug only.", hidden=presentation.hidden))


def _draw_footer(presentation: Presentation, export: bytes, key: str) -> None:
    drafted = draft_lines(presentation)
    if drafted:
        with st.expander(tr(DRAFT)):
            draw_lines(drafted)
    st.caption(tr(NOTICE))
    if presentation.probe is not None:
        draw_text(tr("Planted errors: {sentence}", sentence=presentation.probe.sentence), "note")
    with st.container(horizontal=True, vertical_alignment="center", key="footer"):
        taking.draw_taking(presentation, export)
        if key and presentation.probe is None and presentation.summary.verified:
            st.button(
                tr("Plant errors in this answer"),
                key="plant",
                help=tr(PLANT_HELP),
                on_click=run.ask_to_plant,
                args=(key,),
            )
        draw_text(
            tr("Trace {trace_id}", trace_id=presentation.record.trace_id), "note", max_lines=1
        )
