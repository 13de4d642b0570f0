"""Beginning a run from the page, how far it is, cancelling it, and going on with one that was broken off."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message
from certirag.errors import CertiRAGError
from certirag.eval.begun_runs import BegunRun, RunProcess, command_of_run
from certirag.settings import read_settings
from ui import services
from ui.inert import draw_text
from ui.language import tr

if TYPE_CHECKING:
    from pathlib import Path

    from certirag.eval.kept_runs import KeptRun, RunFolder

PAIRS: Final = "A file of labelled pairs"
KINDS: Final[tuple[Message, ...]] = ("The built-in benchmark", "A file of labelled pairs")
# How much of the benchmark → every which unit of it.
SHARES: Final[dict[Message, int]] = {
    "Every 60th unit of each part: a minute or two": 60,
    "Every 10th unit of each part": 10,
    "All of it: half an hour or more": 1,
}
PAIRS_HELP: Final[Message] = (
    "JSON Lines: each line has a premise, a hypothesis and a label, which is entailed, contradicted, "
    "neutral, not_enough_info or not_entailed, and may have a source, a title and what is false in it. "
    "The file is kept with the run, where everybody who opens this page reads it."
)
ELSEWHERE: Final[Message] = "A run is under way that was not begun from here."
_SAID: Final = "evaluation_said"  # an error of the last click: text from outside
_SEEN: Final = "evaluation_seen"  # the run whose end this session was told of
_GENERATION: Final = "evaluation_generation"  # counted up when a file was taken
_EVERY: Final = 3.0  # seconds between looks


def draw_start() -> str:
    """Draw what begins a run, or how far the one is that is under way, whose name is returned.

    Nothing is drawn where it is not allowed.
    """
    if not services.allows_runs():
        return ""
    said = st.session_state.pop(_SAID, "")
    if said:
        draw_text(said, "error")
    process = _process(read_settings().home)
    begun = process.look()
    if begun is not None and begun.ended is None:
        _watch()
        return begun.name
    if begun is not None and begun.ended == 0 and st.session_state.get(_SEEN) != begun.name:
        st.session_state[_SEEN] = st.session_state["evaluation-run"] = begun.name
        draw_text(tr("The run “{name}” is done.", name=begun.name), "note", told=True)
    if begun is not None and begun.ended:
        draw_text(tr("The run “{name}” ended before it was done.", name=begun.name), "error")
        draw_text(begun.complaint[:400], "reason", max_lines=4)
    if process.is_under_way():
        st.info(tr(ELSEWHERE))
        return ""
    with st.expander(tr("Begin a run")):
        _draw_choice()
    return ""


def offer_going_on(of: RunFolder, run: KeptRun) -> None:
    """Draw the button that goes on with a run that is not finished, where it is allowed and can be done."""
    if of.finished or not services.allows_runs() or command_of_run(of.path, run) is None:
        return
    if not _process(read_settings().home).is_under_way():
        st.button(tr("Go on"), key="evaluation-go-on", on_click=_go_on, args=(of.path,))


@st.cache_resource(show_spinner=False, max_entries=4)
def _process(home: Path) -> RunProcess:
    """Return the one of this server, for all of its sessions."""
    return RunProcess(home)


def _draw_choice() -> None:
    kind = st.segmented_control(
        tr("What is measured"),
        KINDS,
        default="The built-in benchmark",
        required=True,
        format_func=tr,
        key="evaluation-kind",
    )
    if kind == PAIRS:
        st.file_uploader(
            tr("Labelled pairs"),
            type=["jsonl"],
            key=f"evaluation-file-{st.session_state.get(_GENERATION, 0)}",
            help=tr(PAIRS_HELP),
        )
    else:
        st.selectbox(
            tr("How much of it"), tuple(SHARES), format_func=tr, key="evaluation-share", width=420
        )
    st.button(tr("Begin"), key="evaluation-begin", type="primary", on_click=_begin)


@st.fragment(run_every=_EVERY)
def _watch() -> None:
    """Draw how far the run is, again and again; when it has ended, the whole page is drawn anew."""
    begun = _process(read_settings().home).look()
    if begun is None or begun.ended is not None:
        st.rerun()
        return
    with st.container(
        key="evaluation-progress", horizontal=True, vertical_alignment="center", border=True
    ):
        draw_text(_how_far(begun), "note", max_lines=2)
        st.button(tr("Cancel"), key="evaluation-cancel", on_click=_cancel)


def _how_far(begun: BegunRun) -> str:
    if begun.total is None:
        return tr("The run “{name}” is beginning.", name=begun.name)
    return tr(
        "The run “{name}”: {done} of {total} units are measured.",
        name=begun.name,
        done=begun.done,
        total=begun.total,
    )


def _begin() -> None:
    """Begin what was chosen (a button's callback); what goes wrong is said on this run of the page."""
    if not services.allows_runs():
        return
    process, now = _process(read_settings().home), datetime.now(UTC)
    try:
        if st.session_state.get("evaluation-kind") != PAIRS:
            process.begin_builtin(
                SHARES.get(str(st.session_state.get("evaluation-share")), 60), now
            )
            return
        generation = st.session_state.get(_GENERATION, 0)
        file = st.session_state.get(f"evaluation-file-{generation}")
        if file is None:
            st.session_state[_SAID] = tr("Choose a file of labelled pairs first.")
            return
        process.begin_pairs(file.getvalue(), now)
        st.session_state[_GENERATION] = generation + 1
    except CertiRAGError as error:
        st.session_state[_SAID] = str(error)


def _go_on(folder: Path) -> None:
    if not services.allows_runs():
        return
    try:
        _process(read_settings().home).go_on(folder)
    except CertiRAGError as error:
        st.session_state[_SAID] = str(error)


def _cancel() -> None:
    if services.allows_runs():
        _process(read_settings().home).cancel()
