"""Runs the pipeline once, naming each stage; what is kept of it is the signed export's bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

import streamlit as st

from certirag.core.policy import Policy
from certirag.errors import AuditError, CertiRAGError
from certirag.pipeline import SignedAnswer, answer_question, probe_answer, verify_draft
from certirag.ports import Progress
from ui import services
from ui.inert import draw_text

if TYPE_CHECKING:
    from certirag.ports import Index

Way = Literal["ask", "draft", "plant"]
# The names of the stages are ours: a label is a markdown sink, so no line from elsewhere goes in.
STAGES: Final[dict[Way, tuple[str, ...]]] = {
    "ask": (
        "1 of 5 · Searching the documents",
        "2 of 5 · Choosing the sentences that answer",
        "3 of 5 · Looking for evidence on each claim",
        "4 of 5 · Verifying claims against evidence",
        "5 of 5 · Signing and recording",
    ),
    "draft": (
        "1 of 5 · Splitting the draft into claims",
        "2 of 5 · Searching the documents",
        "3 of 5 · Looking for evidence on each claim",
        "4 of 5 · Verifying claims against evidence",
        "5 of 5 · Signing and recording",
    ),
    "plant": (
        "1 of 3 · Planting errors in the answer",
        "2 of 3 · Verifying the planted errors",
        "3 of 3 · Signing and recording",
    ),
}
_PLANT: Final = "plant_asked"
_NO_RECORD: Final[dict[Way, str]] = {
    "ask": "The audit log could not be written, so no answer is shown. ",
    "draft": "The audit log could not be written, so no answer is shown. ",
    "plant": "The audit log could not be written, so no errors were planted. ",
}
_FAILED: Final[dict[Way, str]] = {
    "ask": "No answer",
    "draft": "No answer",
    "plant": "No errors were planted",
}


def ask(question: str, index: Index, policy: Policy, *, key: str) -> None:
    """Answer *question* and keep the signed export under *key*; on an error keep nothing."""
    common = services.shared().services
    _run(
        key,
        "ask",
        lambda progress: answer_question(
            question, index, common, asked_policy=policy, progress=progress
        ),
    )


def check_draft(draft: str, index: Index, policy: Policy, *, question: str, key: str) -> None:
    """Check *draft* and keep the signed export under *key*; on an error keep nothing."""
    common = services.shared().services
    _run(
        key,
        "draft",
        lambda progress: verify_draft(
            draft, index, common, question=question, asked_policy=policy, progress=progress
        ),
    )


def ask_to_plant(key: str) -> None:
    """Ask for errors to be planted on this run in the answer kept under *key* (a callback)."""
    st.session_state[_PLANT] = key


def plant_if_asked(key: str) -> None:
    """Plant errors in the answer kept under *key* if asked; on an error keep the answer as it is."""
    export = kept_export(key)
    if st.session_state.get(_PLANT) != key:
        return
    st.session_state.pop(_PLANT)
    if not export:
        return
    common = services.shared().services
    _run(key, "plant", lambda progress: probe_answer(export, common, progress=progress))
    if not kept_export(key):
        st.session_state[key] = export


def kept_export(key: str) -> bytes:
    """Return the export kept under *key*, b"" when there is none."""
    kept = st.session_state.get(key, b"")
    return kept if isinstance(kept, bytes) else b""


def _run(key: str, way: Way, work: Callable[[Progress], SignedAnswer]) -> None:
    st.session_state[key] = b""
    st.query_params.pop("claim", None)
    slot = st.empty()
    with slot.status("Waiting for the models", expanded=True) as status:

        def progress(_line: str, done: int, _total: int) -> None:
            stage = min(max(done, 1), len(STAGES[way])) - 1
            status.update(label=STAGES[way][stage])

        try:
            with services.shared().lock:
                st.session_state[key] = work(progress).export
        except AuditError as error:
            status.update(label=_FAILED[way], state="error")
            draw_text(_NO_RECORD[way] + str(error), "error")
        except CertiRAGError as error:
            status.update(label=_FAILED[way], state="error")
            draw_text(str(error), "error")
    if kept_export(key):
        slot.empty()
