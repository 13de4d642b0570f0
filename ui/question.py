"""The question box and the draft box; each gives its text on the run that asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

from certirag.answers.pipeline import MAX_DRAFT, MAX_QUESTION
from ui.drafts import DRAFT_TYPES, Draft, read_draft
from ui.language import TYPED, tr

_QUESTION, _DRAFT, _DRAFT_QUESTION, _SECOND = TYPED
_ASKED: Final = "question_asked"
_CHECKED: Final = "draft_checked"


@dataclass(frozen=True, slots=True)
class Asked:
    """A text as typed; *now* says that it was sent on this run."""

    draft: Draft
    now: bool


def question_box() -> Asked:
    """Draw the question box; Enter or the button sends it."""
    row = st.form("ask-form", border=False).container(
        horizontal=True, vertical_alignment="bottom", key="ask-row"
    )
    with row:
        text = st.text_input(
            tr("Question"),
            key=_QUESTION,
            max_chars=MAX_QUESTION,
            placeholder=tr("What do you want to know?"),
            persist_state="session",
        )
        sent = st.form_submit_button(tr("Ask"), type="primary")
    return Asked(Draft(text or ""), sent or bool(st.session_state.pop(_ASKED, False)))


def ask_sample(text: str, _question: str) -> None:
    """Put a sample or suggested question into the box and send it (a button's callback)."""
    st.session_state[_QUESTION] = text[:MAX_QUESTION]
    st.session_state[_ASKED] = True


def draft_box() -> Asked:
    """Draw the draft's box and its upload; the button sends it. InputError for a bad file."""
    with st.form("draft-form", border=False):
        text = st.text_area(
            tr("Answer to check"),
            key=_DRAFT,
            max_chars=MAX_DRAFT,
            height=180,
            placeholder=tr("Paste the answer here, or upload it below"),
            persist_state="session",
        )
        with st.expander(tr("Question it answers, or a file")):
            question = st.text_input(
                tr("Question (optional)"),
                key=_DRAFT_QUESTION,
                max_chars=MAX_QUESTION,
                persist_state="session",
            )
            file = st.file_uploader(
                tr("Draft as .txt, .md or .json"), type=DRAFT_TYPES, key="draft-file"
            )
        sent = st.form_submit_button(tr("Check"), type="primary")
    now = sent or bool(st.session_state.pop(_CHECKED, False))
    if now and file is not None:  # what was uploaded is what is meant
        return Asked(read_draft(file.name, file.getvalue()), now)
    return Asked(Draft(text or "", question or ""), now)


def second_box() -> Asked:
    """Draw the box of a second draft, folded; the button sends it."""
    with st.expander(tr("Compare with another draft")), st.form("second-form", border=False):
        text = st.text_area(
            tr("Draft to compare"),
            key=_SECOND,
            max_chars=MAX_DRAFT,
            height=180,
            placeholder=tr("Paste another answer to the same question"),
            persist_state="session",
        )
        sent = st.form_submit_button(tr("Check and compare"), type="primary")
    return Asked(Draft(text or ""), sent)


def check_sample(text: str, question: str) -> None:
    """Put a sample draft into the box and send it (a button's callback)."""
    st.session_state[_DRAFT] = text
    st.session_state[_DRAFT_QUESTION] = question
    st.session_state[_CHECKED] = True
