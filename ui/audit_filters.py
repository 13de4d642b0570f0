"""What an auditor asks of the answers: the filters, kept while views and pages are changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import streamlit as st

from certirag.auditing.query import read_query
from certirag.core.said import Message
from certirag.proof.facets import DECISIONS, RENDER_STATES, AnswerQuery
from ui.language import tr

# Words of the page → the period of `read_query`.
PERIODS: Final[dict[Message, str]] = {
    "All time": "",
    "Today": "today",
    "Last 7 days": "last-7-days",
    "Last 30 days": "last-30-days",
    "This quarter": "this-quarter",
    "Last quarter": "last-quarter",
    "This year": "this-year",
    "Last year": "last-year",
}
ANY: Final[Message] = "Any"
ANSWERED: Final[Message] = "Not refused"
# The codes stand in exports and on the command line; the page says what they mean.
OUTCOMES: Final[dict[str, Message]] = {
    "ACCEPT": "Nothing left out",
    "STRIP": "Part left out",
    "REJECT": "Refused",
}
DECISION_WORDS: Final = (ANY, ANSWERED, *OUTCOMES.values())
SCORES: Final = ("Any", "0.25", "0.50", "0.67", "0.80", "0.90", "1.00")
STATE_WORDS: Final[tuple[Message, ...]] = ("Any", "with a badge", "without a badge", "contradicted")
ABOUT_HELP: Final[Message] = "Whole words of the question, in any order."
DOCUMENT_HELP: Final[Message] = "Its title, id or SHA-256, as the answer cites it."
MODEL_HELP: Final[Message] = "Its whole name, as the opened answer shows it."
_CHOICES: Final = ("audit-period", "audit-decision", "audit-score", "audit-state")
_TEXTS: Final = (
    "audit-about",
    "audit-document",
    "audit-policy",
    "audit-model",
    "audit-corpus",
    "audit-reason",
    "audit-trace",
)


def ask_answers() -> AnswerQuery:
    """Draw the filters and return what they ask for; InputError for words that cannot be read."""
    now = datetime.now(UTC)
    with st.container(horizontal=True, vertical_alignment="bottom", key="audit-filters"):
        period = st.selectbox(
            tr("Period"),
            tuple(PERIODS),
            format_func=tr,
            key="audit-period",
            width=150,
            persist_state="session",
        )
        decided = st.selectbox(
            tr("Outcome"),
            DECISION_WORDS,
            format_func=tr,
            key="audit-decision",
            width=180,
            persist_state="session",
        )
        below = st.selectbox(
            tr("Score below"),
            SCORES,
            format_func=tr,
            key="audit-score",
            width=110,
            persist_state="session",
        )
        state = st.selectbox(
            tr("A claim"),
            STATE_WORDS,
            format_func=tr,
            key="audit-state",
            width=160,
            persist_state="session",
        )
    with st.expander(tr("More filters"), expanded=_any_text()):
        about = st.text_input(
            tr("Words of the question"),
            key="audit-about",
            help=tr(ABOUT_HELP),
            persist_state="session",
        )
        document = st.text_input(
            tr("Document cited"),
            key="audit-document",
            help=tr(DOCUMENT_HELP),
            persist_state="session",
        )
        policy = st.text_input(tr("Policy"), key="audit-policy", persist_state="session")
        model = st.text_input(
            tr("Verifier or generator"),
            key="audit-model",
            help=tr(MODEL_HELP),
            persist_state="session",
        )
        corpus = st.text_input(
            tr("Corpus fingerprint"), key="audit-corpus", persist_state="session"
        )
        reason = st.text_input(tr("Reason code"), key="audit-reason", persist_state="session")
        trace_id = st.text_input(tr("Trace id"), key="audit-trace", persist_state="session")
    if _any():
        st.button(
            tr("Clear the filters"), key="audit-clear", type="tertiary", on_click=clear_filters
        )
    meant = {ANY: (), ANSWERED: DECISIONS[:2]}
    chosen = meant.get(decided) or tuple(code for code in DECISIONS if OUTCOMES[code] == decided)
    return read_query(
        now,
        when=PERIODS.get(period, ""),
        decisions=chosen,
        score_below="" if below == ANY else below,
        state="" if state == ANY else RENDER_STATES[STATE_WORDS.index(state) - 1],
        about=about,
        document=document,
        policy=policy,
        model=model,
        corpus=corpus,
        reasons=(reason,) if reason.strip() else (),
        trace_id=trace_id,
    )


def clear_filters() -> None:
    """Ask for all answers from the next run on (a button's callback)."""
    st.session_state.update(
        {
            "audit-period": "All time",
            **dict.fromkeys(_CHOICES[1:], ANY),
            **dict.fromkeys(_TEXTS, ""),
        }
    )


def _any() -> bool:
    """Say whether any filter asks for something."""
    first = dict.fromkeys(_CHOICES[1:], ANY) | {"audit-period": "All time"}
    return _any_text() or any(
        st.session_state.get(key, words) != words for key, words in first.items()
    )


def _any_text() -> bool:
    return any(str(st.session_state.get(key, "")).strip() for key in _TEXTS)
