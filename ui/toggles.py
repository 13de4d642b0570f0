"""Draws by which steps an answer was made: the toggles with their fallbacks, as recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from certirag.core.said import Message
from ui.inert import draw_facts, draw_table
from ui.language import tr

# Toggle → what it switches, and what is done instead (fifth seed, Appendix B).
TOGGLES: Final[dict[str, tuple[Message, Message]]] = {
    "enable_evidence_preselection": (
        "Evidence is chosen before anything is written",
        "Every sentence of the passages found may be written from",
    ),
    "enable_interleaved_generation": (
        "One sentence of evidence first, then one claim from it",
        "All claims in one request, each with its citations",
    ),
    "enable_confidence_classification": (
        "How closely a claim is checked follows from its wording",
        "Every claim is checked as closely as can be",
    ),
    "enable_citation_correction": (
        "Wrong citations are replaced or removed",
        "Citations stay as they are, and a claim leans on what it cites alone",
    ),
    "enable_numeric_qa_verification": (
        "Questions about a claim are put to the evidence",
        "A claim is checked without questions",
    ),
    "enable_abstention": (
        "No evidence is told apart from too little, and suggestions are made",
        "The answer says that there is too little, and no more",
    ),
    "enable_nei_verdict": (
        "No evidence on the topic has a verdict of its own",
        "It counts as not supported",
    ),
    "enable_verification_retrieval": (
        "What is not supported is searched for again",
        "What was found at first has to do",
    ),
}
_CHOICES: Final[dict[str, Message]] = {
    "generator": "Generator",
    "strategy": "Strategy",
    "preselection": "Preselection",
    "correction": "Correction",
}


def draw_toggles(config: Mapping[str, object]) -> None:
    """Draw the choices and the eight toggles of *config*; one that it lacks says so."""
    draw_facts(
        [(tr(title), str(config.get(name, tr("not recorded")))) for name, title in _CHOICES.items()]
    )
    st.caption(tr("What is off falls back on less. None of these switches can add a badge."))
    with st.container(key="toggles"):
        draw_table(
            (tr("Toggle"), tr("Value"), tr("When on"), tr("When off")),
            [
                (name, _value(config.get(name)), tr(on), tr(off))
                for name, (on, off) in TOGGLES.items()
            ],
        )


def _value(value: object) -> str:
    if value is None:
        return tr("not recorded")
    return {True: tr("on"), False: tr("off")}[value] if isinstance(value, bool) else str(value)
