"""The two ways to an answer, put together: corpus, text, display, answer or samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.policy import Policy
from certirag.core.said import Message
from certirag.render import Mode, present
from ui import run, services
from ui.answer import show_answer
from ui.compared import show_compared
from ui.controls import choose_mode, choose_policy
from ui.corpora import Corpus, choose_corpus, draw_skipped
from ui.frame import plain_errors
from ui.inert import draw_text
from ui.language import tr
from ui.question import ask_sample, check_sample, draft_box, question_box, second_box
from ui.samples import draw_samples
from ui.steps import choose_steps
from ui.thread import draw_earlier, reopen

if TYPE_CHECKING:
    from certirag.answers.services import Services

ANSWER: Final = "answer_export"
CHECKED: Final = "checked_export"
SECOND: Final = "second_export"
NO_SECOND: Final[Message] = "The second draft was not checked; the first stands as it was. {error}"


def ask_page() -> None:
    """Draw the whole of Ask below its heading."""
    corpus = choose_corpus(key="ask-corpus")
    asked = question_box()
    begins = asked.now and corpus is not None
    mode, policy, of = _display(busy=begins)
    if corpus is None:
        return
    draw_skipped(corpus.skipped)
    if begins:
        run.ask(asked.draft.text, corpus.index, mode, policy, of=of, key=ANSWER)
        st.rerun()  # the controls wake up, and the claims get their chips
    if not _show_kept(ANSWER, mode, policy, corpus, of_draft=False):
        draw_samples(corpus.name, ask_sample)
    draw_earlier(ANSWER)


def draft_page() -> None:
    """Draw the whole of Check a draft below its heading."""
    corpus = choose_corpus(key="draft-corpus")
    with plain_errors():
        asked = draft_box()
        first = run.kept_export(CHECKED)
        other = second_box() if first and corpus is not None else None
        begins = asked.now and corpus is not None
        compares = other is not None and other.now
        mode, policy, of = _display(busy=begins or compares)
        if corpus is None:
            return
        draw_skipped(corpus.skipped)
        if begins:
            if run.kept_error(SECOND):  # it was of a draft that is no longer the first
                run.forget(SECOND)
            run.check_draft(
                asked.draft.text,
                corpus.index,
                policy,
                of=of,
                question=asked.draft.question,
                key=CHECKED,
            )
            st.rerun()
        if other is not None and other.now:
            _check_second(other.draft.text, first, corpus, policy, of)
        if run.kept_error(SECOND):
            draw_text(tr(NO_SECOND, error=run.kept_error(SECOND)), "error")
        if not _show_kept(CHECKED, mode, policy, corpus, of_draft=True):
            draw_samples(corpus.name, check_sample, drafts=True)


def _check_second(text: str, first: bytes, corpus: Corpus, policy: Policy, of: Services) -> None:
    """Check a second draft as the one of *first* was checked: its question, its policy."""
    trusted = services.shared().services.trusted
    like = present(first, Mode.STRICT, trusted=trusted, floor=policy)
    run.check_draft(
        text,
        corpus.index,
        like.policy,
        of=of,
        question=like.question,
        key=SECOND,
        addressed=False,
    )
    st.rerun()


def _display(*, busy: bool) -> tuple[Mode, Policy, Services]:
    """Draw the controls, which sleep while an answer is made: a click on one would break it off."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="display"):
        return choose_mode(disabled=busy), choose_policy(disabled=busy), choose_steps(disabled=busy)


def _show_kept(key: str, mode: Mode, policy: Policy, corpus: Corpus, *, of_draft: bool) -> bool:
    """Draw the answer that this session keeps under *key*; say whether there is one."""
    with plain_errors():
        reopen(key)
    run.plant_if_asked(key)
    stopped = run.kept_error(key)
    if stopped:
        draw_text(stopped, "error")
    export = run.kept_export(key)
    if not export:
        return False
    trusted = services.shared().services.trusted
    second = run.kept_export(SECOND) if of_draft else b""
    if second:
        kept = (export, second)
        if show_compared(
            kept, mode, trusted=trusted, floor=policy, corpus=corpus.index, key=SECOND
        ):
            return True
    show_answer(
        export,
        mode,
        trusted=trusted,
        floor=policy,
        of_draft=of_draft,
        key=key,
        corpus=corpus.index,
    )
    return True
