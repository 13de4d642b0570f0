"""Draws an answer from its signed export: banner, claims with their chips, what is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.policy import Policy
from certirag.errors import CertificateError
from certirag.render import NOTICE, Chip, Mode, Presentation, present
from ui import debug, drawer, run
from ui.contract_text import PLANT_HELP, REASON_OTHER, REASONS
from ui.inert import draw_facts, draw_lines, draw_place, draw_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
_BROKEN: Final = "This record does not hold, so nothing of it is shown: "
TOP_DOCUMENTS: Final = 3


def show_answer(
    export: bytes,
    mode: Mode,
    *,
    trusted: Mapping[str, Ed25519PublicKey],
    floor: Policy,
    of_draft: bool = False,
    key: str = "",
) -> None:
    """Draw what *mode* shows of *export*; every badge is derived again on each call.

    A record that does not hold shows one plain line and nothing else. *key* is where the session
    keeps the export; with it the footer offers to plant errors in the answer.
    """
    try:
        presentation = present(export, mode, trusted=trusted, floor=floor)
    except CertificateError as error:
        draw_text(f"{_BROKEN}{error}", "error")
        return
    with st.container(key="answer"):
        _draw_banner(presentation)
        _draw_claims(presentation, of_draft=of_draft)
        if mode is Mode.DEBUG:
            debug.draw_debug(presentation)
        _draw_footer(presentation, export, key)
    drawer.open_if_asked(presentation)


def _draw_banner(presentation: Presentation) -> None:
    summary = presentation.summary
    if summary.decision == "REJECT":
        _draw_refusal(presentation)
        return
    with st.container(key="banner"):
        if presentation.question:
            draw_text(presentation.question, "question", max_lines=6)
        draw_text(presentation.headline, "lead")
        draw_facts(
            (
                ("Confidence", summary.confidence.replace("_", " ")),
                ("Policy", presentation.policy.name),
                ("Answered", presentation.record.created_at.replace("T", " ")[:16]),
            )
        )


def _draw_refusal(presentation: Presentation) -> None:
    summary = presentation.summary
    with st.container(key="refusal"):
        st.subheader("No answer: the evidence does not support one", anchor=False)
        if presentation.question:
            draw_text(presentation.question, "question", max_lines=6)
        draw_text(REASONS.get(summary.reason_code, REASON_OTHER), "claim")
        titles = _top_documents(presentation)
        if titles:
            st.caption("Closest documents")
            for title, section in titles:
                draw_place(title, *([section] if section else []))
        if summary.query_refinements:
            st.caption("What may help")
            draw_lines(summary.query_refinements)


def _top_documents(presentation: Presentation) -> list[tuple[str, str]]:
    ranked = sorted(
        presentation.record.retrieval.chunks,
        key=lambda chunk: (chunk.retrieval.rank or 10_000, chunk.chunk_id),
    )
    first = {chunk.doc_id: (chunk.source.title, chunk.source.section) for chunk in reversed(ranked)}
    order = dict.fromkeys(chunk.doc_id for chunk in ranked)
    return [first[doc_id] for doc_id in order][:TOP_DOCUMENTS]


def _draw_claims(presentation: Presentation, *, of_draft: bool) -> None:
    # By identity: a hostile record may give two claims one id, and keys must stay apart.
    numbered = {id(claim): n for n, claim in enumerate(presentation.record.claim_ir.claims, 1)}
    for chip in presentation.shown:
        _draw_claim(chip, numbered[id(chip.claim)])
    folded = presentation.folded
    if folded and presentation.mode is Mode.STRICT:
        with st.expander(f"What we could not verify ({len(folded):d})"):
            for chip in folded:
                _draw_claim(chip, numbered[id(chip.claim)])
    elif folded:
        st.caption(
            "Too little evidence: each may be right or wrong. Open one only with that in mind."
        )
        for chip in folded:
            _draw_folded(chip, numbered[id(chip.claim)])
    if presentation.hidden:
        st.caption(f"{presentation.hidden:d} contradicted, in Debug only.")
    if of_draft and presentation.record.claim_ir.dropped:
        draw_lines(presentation.record.claim_ir.dropped)


def _draw_claim(chip: Chip, number: int) -> None:
    with st.container(key=f"claim-{chip.badge.kind}-{number}", gap="xsmall"):
        _draw_chip(chip, number)
        draw_text(chip.text, "claim")
        _draw_below(chip)


def _draw_folded(chip: Chip, number: int) -> None:
    with st.container(key=f"claim-{chip.badge.kind}-{number}", gap="xsmall"):
        _draw_chip(chip, number)
        with st.expander(f"Claim {number:d}: show it without enough evidence"):
            draw_text(chip.text, "claim")
            _draw_below(chip)


def _draw_chip(chip: Chip, number: int) -> None:
    st.button(
        chip.badge.label,
        key=f"chip-{chip.badge.kind}-{number}",
        on_click=drawer.ask_to_open,
        args=(chip.claim_id,),
    )


def _draw_below(chip: Chip) -> None:
    """Draw where a claim's evidence stands, or why it got no badge."""
    if not all(finding.passed is True for finding in chip.findings):
        draw_text(_why(chip), "reason", max_lines=4)
        return
    attached = [view for view in chip.evidence if view.attached]
    for title, fact in dict.fromkeys(_place(view.chunk.source) for view in attached):
        draw_place(title, *([fact] if fact else []))


def _why(chip: Chip) -> str:
    """Return the failure that says most: what contradicts a claim, else the first one."""
    against = [f for f in chip.findings if f.rule == "not_contradicted" and not f.passed]
    return f"{against[0].reason}." if against else chip.why


def _place(source: drawer.SourceLike) -> tuple[str, str]:
    return source.title, drawer.place_in(source)


def _draw_footer(presentation: Presentation, export: bytes, key: str) -> None:
    trace_id = presentation.record.trace_id
    name = trace_id if _TRACE_ID.fullmatch(trace_id) else "answer"
    st.caption(NOTICE)
    if presentation.probe is not None:
        draw_text(f"Planted errors: {presentation.probe.sentence}", "note")
    with st.container(horizontal=True, vertical_alignment="center", key="footer"):
        st.download_button(
            "Download audit JSON",
            data=export,
            file_name=f"certirag-{name}.json",
            mime="application/json",
            on_click="ignore",
        )
        if key and presentation.probe is None and presentation.summary.verified:
            st.button(
                "Plant errors in this answer",
                key="plant",
                help=PLANT_HELP,
                on_click=run.ask_to_plant,
                args=(key,),
            )
        draw_text(f"Trace {trace_id}", "note", max_lines=1)
