"""Runs the pipeline once, naming each stage; what is kept are signed bytes and an error's line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Literal

import streamlit as st

from certirag.answers.follow_ups import probe_answer
from certirag.answers.pipeline import stream_answer, verify_draft
from certirag.answers.services import SignedAnswer
from certirag.core.policy import Policy
from certirag.core.said import Message, said
from certirag.errors import AuditError, CertiRAGError
from certirag.ports import Progress
from certirag.render import Mode
from ui import services
from ui.growing import GrowingAnswer
from ui.inert import tell
from ui.language import tr
from ui.times import StageClock, keep_times

if TYPE_CHECKING:
    from certirag.answers.services import Services
    from certirag.ports import Index

Way = Literal["ask", "write", "draft", "plant"]
# The names of the stages are ours: a label is a markdown sink, so no line from elsewhere goes in.
STAGES: Final[dict[Way, tuple[Message, ...]]] = {
    "ask": (
        "1 of 5 · Searching the documents",
        "2 of 5 · Choosing the sentences that answer",
        "3 of 5 · Looking for evidence on each claim",
        "4 of 5 · Verifying claims against evidence",
        "5 of 5 · Signing and recording",
    ),
    "write": (
        "1 of 5 · Searching the documents",
        "2 of 5 · Choosing the sentences to write from",
        "3 of 5 · The language model is writing",
        "4 of 5 · Checking the first claim",
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
# What the time of each of these stages is told as; what cannot be told apart has one name.
_CHECKED: Final = "checking claims"
_DECIDED: Final = "decision and record"
TIMED: Final[dict[Way, tuple[Message, ...]]] = {
    "ask": ("search", "choosing sentences", _CHECKED, _CHECKED, _DECIDED),
    "write": (
        "search",
        "choosing sentences",
        "writing up to the first claim",
        "writing and checking the rest",
        _DECIDED,
    ),
    "draft": ("splitting the draft", "search", _CHECKED, _CHECKED, _DECIDED),
    "plant": ("planting errors", "checking the planted errors", _DECIDED),
}
TRACE: Final = "trace"  # in the address: the answer that is shown
_PLANT: Final = "plant_asked"
_OWN: Final = "own_answers"
MOST_OWN: Final = 500
CANCELLED: Final[Message] = (
    "This was broken off. What was recorded before that stays in the audit log."
)
_NO_ANSWER: Final[Message] = "The audit log could not be written, so no answer is shown. {error}"
_NO_MORE: Final[Message] = (
    "The audit log could not be written, so the answer goes no further than what was "
    "recorded. {error}"
)
_NO_RECORD: Final[dict[Way, Message]] = {
    "ask": _NO_ANSWER,
    "write": _NO_ANSWER,
    "draft": _NO_ANSWER,
    "plant": "The audit log could not be written, so no errors were planted. {error}",
}


def ask(question: str, index: Index, mode: Mode, policy: Policy, *, of: Services, key: str) -> None:
    """Answer *question* with the services *of*, draw it as it grows, keep its export under *key*.

    Each part is kept as soon as it is recorded: on an error, or when a reader goes elsewhere,
    what was certified before stays.
    """
    growing = GrowingAnswer(mode, trusted=of.trusted, floor=policy)
    with growing.banner:
        status = st.status(tr("Waiting for the models"))
        spoken = st.empty()
        _offer_cancel(key)
    way: Way = "ask" if of.writer is None else "write"
    clock = StageClock()

    def progress(line: str, done: int, _total: int) -> None:
        if way == "write" and line.startswith("Claim "):
            clock.tell(TIMED[way][3])
            status.update(
                label=tr(
                    "4 of 5 · Claim {done:d} is checked · The language model is writing", done=done
                )
            )
        else:
            clock.tell(TIMED[way][_stage(way, done)])
            status.update(label=tr(STAGES[way][_stage(way, done)]))
            with spoken:  # a status is silent
                tell(tr(STAGES[way][_stage(way, done)]))

    def parts() -> Iterator[SignedAnswer]:
        for part in stream_answer(question, index, of, asked_policy=policy, progress=progress):
            yield part
            if not part.complete:
                growing.grow(part.export)

    _keep(key, way, parts, clock)


def check_draft(
    draft: str,
    index: Index,
    policy: Policy,
    *,
    of: Services,
    question: str,
    key: str,
    addressed: bool = True,
) -> None:
    """Check *draft* and keep the signed export under *key*; on an error keep nothing.

    Unless it is *addressed* the page's address goes on naming what it named.
    """
    _run(
        key,
        "draft",
        lambda progress: verify_draft(
            draft, index, of, question=question, asked_policy=policy, progress=progress
        ),
        addressed=addressed,
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


def kept_export(key: str) -> bytes:
    """Return the export kept under *key*, b"" when there is none."""
    kept = st.session_state.get(key, b"")
    return kept if isinstance(kept, bytes) else b""


def own_answers() -> tuple[str, ...]:
    """Return the trace ids of the answers that this session got, oldest first."""
    kept = st.session_state.get(_OWN, ())
    return kept if isinstance(kept, tuple) else ()


def keep(key: str, trace_id: str, export: bytes) -> None:
    """Keep the *export* of the logged answer *trace_id* under *key*, in place of the last one."""
    st.session_state[key], st.session_state[_trace_key(key)] = export, trace_id
    st.session_state[_error_key(key)] = ""
    st.session_state[_parts_key(key)] = ()


def kept_trace(key: str) -> str:
    """Return the trace id of the answer that was last kept under *key*, "" when none was."""
    kept = st.session_state.get(_trace_key(key), "")
    return kept if isinstance(kept, str) else ""


def is_part(key: str, trace_id: str) -> bool:
    """Return whether *trace_id* names a part of the answer that was last kept under *key*."""
    return trace_id in st.session_state.get(_parts_key(key), ())


def kept_error(key: str) -> str:
    """Return what the last run under *key* failed with, "" when it did not: text from outside."""
    kept = st.session_state.get(_error_key(key), "")
    return kept if isinstance(kept, str) else ""


def _trace_key(key: str) -> str:
    return f"{key}_trace"


def _error_key(key: str) -> str:
    return f"{key}_error"


def _parts_key(key: str) -> str:
    return f"{key}_parts"


def _own(trace_id: str) -> None:
    """Remember that this session got the answer *trace_id*; the oldest of many are forgotten."""
    others = (one for one in own_answers() if one != trace_id)
    st.session_state[_OWN] = (*others, trace_id)[-MOST_OWN:]


def _stage(way: Way, done: int) -> int:
    return min(max(done, 1), len(STAGES[way])) - 1


def forget(key: str) -> None:
    """Show no longer what is kept under *key*: the log keeps it (a button's callback)."""
    keep(key, "", b"")


def _run(
    key: str, way: Way, work: Callable[[Progress], SignedAnswer], *, addressed: bool = True
) -> None:
    slot = st.empty()
    with slot.status(tr("Waiting for the models"), expanded=True) as status:
        spoken = st.empty()
        _offer_cancel(key)
        clock = StageClock()

        def progress(line: str, done: int, total: int) -> None:
            counts = line.startswith("Verifying claims from ")  # claims, not stages
            stage = 3 if counts else _stage(way, done)
            clock.tell(TIMED[way][stage])
            if counts:
                status.update(
                    label=tr(
                        "4 of 5 · Verifying claims against evidence: {done:d} of {total:d} done",
                        done=done,
                        total=total,
                    )
                )
            else:
                status.update(label=tr(STAGES[way][stage]))
            with spoken:  # a status is silent
                tell(tr(STAGES[way][stage]))

        _keep(key, way, lambda: iter([work(progress)]), clock, addressed=addressed)
    slot.empty()


def _offer_cancel(key: str) -> None:
    """Draw the button that breaks off what runs: a click on it begins the page anew."""
    st.button(tr("Cancel"), key=f"{key}-cancel")


def _keep(
    key: str,
    way: Way,
    parts: Callable[[], Iterator[SignedAnswer]],
    clock: StageClock,
    *,
    addressed: bool = True,
) -> None:
    """Keep each part under *key* as it comes, with its times, and the line of what went wrong."""
    if way != "plant":  # the answer stays as it is until it is another one
        st.session_state[key] = b""
    # A click on Cancel, another page or another language ends the script below, and what it would
    # write by then is lost: this line is there before, and taken back at the end.
    st.session_state[_error_key(key)] = said(CANCELLED)
    failed = ""
    st.session_state[_parts_key(key)] = ()
    st.query_params.pop("claim", None)
    if addressed:
        st.query_params.pop(TRACE, None)
    try:
        with services.shared().lock:
            for part in parts():
                st.session_state[key] = part.export
                st.session_state[_parts_key(key)] += (part.trace_id,)
                _own(part.trace_id)
                keep_times(part.trace_id, clock.taken())
                st.session_state[_trace_key(key)] = part.trace_id
                if addressed:
                    st.query_params[TRACE] = part.trace_id
    except AuditError as error:
        begun = _NO_MORE if way != "plant" and kept_export(key) else _NO_RECORD[way]
        failed = said(begun, error=str(error))
    except CertiRAGError as error:
        failed = str(error)
    st.session_state[_error_key(key)] = failed
