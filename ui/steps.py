"""How this session's answers are made: the steps that the server allows, fewer where one likes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import streamlit as st

from certirag.core.said import Message
from certirag.settings import STRATEGIES
from ui import services
from ui.language import tr, tr_of
from ui.toggles import TOGGLES

if TYPE_CHECKING:
    from certirag.answers.services import AnswerWriter, Services
    from certirag.core.generation import Strategy

HELP: Final[Message] = (
    "They hold for this session, from the next answer on, and stand in its record. None of them "
    "can add a badge by itself: what is left out falls back on less."
)
# What a session may switch on where the server has not: the same documents are searched once more.
FREE: Final = "enable_verification_retrieval"
WRITERS: Final[tuple[Message, ...]] = ("A language model", "Sentences of the documents")
STRATEGY_WORDS: Final[dict[str, Message]] = {
    "interleaved": "Evidence first, then one claim from it",
    "generate-then-cite": "All at once, each claim with its citation",
    "strict-quote": "Quotations alone",
}


def choose_steps(*, disabled: bool = False) -> Services:
    """Draw the settings of this session, folded; return the services with what it chose.

    What the server has switched off stays off; a session can only leave out more, or search twice.
    """
    common = services.shared().services
    with st.popover(tr("Settings"), disabled=disabled):
        st.caption(tr(HELP))
        writer = None if common.writer is None else _choose_writer(common.writer)
        allowed = {name: bool(getattr(common.settings, name)) for name in TOGGLES}
        for name, is_on in allowed.items():
            st.session_state.setdefault(f"step-{name}", is_on)
        chosen = {
            name: st.toggle(
                tr(TOGGLES[name][0]),
                key=f"step-{name}",
                disabled=not (is_on or name == FREE),
                persist_state="session",
            )
            and (is_on or name == FREE)
            for name, is_on in allowed.items()
        }
    named = {"generator": "extractive"} if writer is None else {"strategy": writer.strategy}
    settings: Any = {**named, **chosen}
    return replace(common, settings=replace(common.settings, **settings), writer=writer)


def _strategy_label(name: str) -> str:
    return tr_of(STRATEGY_WORDS, name)


def _choose_writer(own: AnswerWriter) -> AnswerWriter | None:
    by = st.selectbox(
        tr("Answers are written by"), WRITERS, format_func=tr, key="writer", persist_state="session"
    )
    st.session_state.setdefault("strategy", own.strategy)
    strategy = st.selectbox(
        tr("In which way"),
        STRATEGIES,
        format_func=_strategy_label,
        key="strategy",
        disabled=by == WRITERS[1],
        persist_state="session",
    )
    return None if by == WRITERS[1] else replace(own, strategy=cast("Strategy", strategy))
