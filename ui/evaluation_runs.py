"""The runs that this server keeps: which one is looked at, what it measured, and what another changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from certirag.core.said import Message
from certirag.errors import InputError
from certirag.eval.begun_runs import units_so_far
from certirag.eval.compare_runs import compare_runs
from certirag.eval.kept_runs import KeptRun, RunFolder, kept_runs, rows_so_far, runs_home
from certirag.eval.opened_rows import OpenedRows, open_rows
from certirag.eval.pairs import ROWS
from certirag.render import visible
from certirag.settings import read_settings
from ui.evaluation_figures import draw_figures
from ui.evaluation_rows import draw_rows
from ui.evaluation_start import draw_start, offer_going_on
from ui.inert import draw_digest, draw_lines, draw_table, draw_text
from ui.language import from_address, to_address, tr, tr_of, trn

if TYPE_CHECKING:
    from certirag.core.policy import Policy
    from certirag.eval.kept_runs import FileIdentity

PARTS: Final[tuple[Message, ...]] = ("Figures", "Rows")
WHAT_WORDS: Final[dict[str, Message]] = {
    "pairs": "labelled pairs",
    "builtin": "the built-in benchmark",
}
NO_RUN: Final[Message] = (
    "No run is kept here yet. On the server, `certirag eval builtin` or `certirag eval pairs` with "
    "--out and a folder below “runs” in its home makes one."
)
TOO_MANY: Final[Message] = (
    "These runs have too many rows to be compared on a page: run `certirag eval compare` on the server."
)
# `compare_runs` holds both runs in memory.
MOST_COMPARED: Final = 60_000_000  # bytes of rows of one run
_WAYS: Final[dict[str, Message]] = {
    "gate": "Right by the gate",
    "verifier": "Right by the verifier alone",
}
WAYS_HELP: Final[Message] = (
    "Right by the gate: every claim has the badge exactly where the row is true. Right by the "
    "verifier: a score of 0.5 or more exactly where the row is true. p is McNemar's exact one, "
    "adjusted by Holm for the sources."
)
_MOST_LINES: Final = 100
_LABEL: Final = 60


def draw_runs() -> None:
    """Draw the choice of a run, and all that is shown of it."""
    under_way = draw_start()
    found = kept_runs(runs_home(read_settings().home))
    kept = {one.name: one for one in found if one.run is not None}
    if kept:
        chosen = _choose(kept)
        if chosen is not None and chosen.run is not None:
            _draw_run(chosen, chosen.run, kept)
    else:
        st.info(tr(NO_RUN))
    _draw_problems([one for one in found if one.run is None and one.name != under_way])


def _choose(kept: dict[str, RunFolder]) -> RunFolder | None:
    labels = {name: _label(one) for name, one in kept.items()}
    name = st.selectbox(
        tr("Run"),
        tuple(labels),
        format_func=labels.__getitem__,
        key="evaluation-run",
        persist_state="session",
    )
    return kept.get(name)


def _label(of: RunFolder) -> str:
    """Return how a picker names a run; a picker shows a text letter by letter."""
    at = datetime.fromtimestamp(of.changed, UTC).strftime("%Y-%m-%d %H:%M")
    what = tr_of(WHAT_WORDS, visible(of.run.what[:_LABEL]) if of.run else "")
    return f"{visible(of.name[:_LABEL])} · {what} · {at}"


def _draw_run(of: RunFolder, run: KeptRun, kept: dict[str, RunFolder]) -> None:
    other = _choose_other(of, run, kept)
    draw_text(_head(run), "note", max_lines=4)
    if other is not None and other.run is not None:
        _draw_comparison(of, other)
    offer_going_on(of, run)
    identity = rows_so_far(of.path)
    if identity is None:
        st.info(tr("No row of this run is measured yet."))
        return
    with st.spinner(tr("Reading the rows")):
        rows = _opened(str(of.path / ROWS), identity, repr(run.policy), run.policy)
    _draw_state(of, run, rows)
    from_address("evaluation-part", PARTS, "Figures")
    part = st.segmented_control(
        tr("Part"),
        PARTS,
        required=True,
        format_func=tr,
        key="evaluation-part",
        label_visibility="collapsed",
    )
    to_address("evaluation-part", part or "Figures", "Figures")
    if part == "Rows":
        draw_rows(rows)
    else:
        draw_figures(of, rows)


@st.cache_resource(show_spinner=False, max_entries=4)
def _opened(path: str, identity: FileIdentity, policy: str, _policy: Policy) -> OpenedRows:  # noqa: ARG001  # part of the cache key
    return open_rows(Path(path), _policy)


def _head(run: KeptRun) -> str:
    """Return what was measured, as one line."""
    what = tr_of(WHAT_WORDS, run.what[:_LABEL])
    return tr(
        "Measured: {what}; verifier {verifier}, version {version}; policy {policy}, entailment from "
        "{tau:.2f}.",
        what=what if run.what == "builtin" else f"{what} ({run.data.name[:_LABEL]})",
        verifier=run.verifier.name[:120],
        version=run.verifier.version[:_LABEL],
        policy=run.policy.name[:_LABEL],
        tau=run.policy.tau_entail,
    )


def _draw_state(of: RunFolder, run: KeptRun, rows: OpenedRows) -> None:
    if not of.finished:
        done, total = units_so_far(of.path)
        st.caption(
            tr("Not finished: {n:d} of {total:d} units are measured.", n=done, total=total)
            if total
            else tr("Not finished: {n:d} units are measured.", n=done)
        )
    if run.every and run.every > 1:
        st.caption(tr("Of each part every {n:d}th unit alone was measured.", n=run.every))
    if rows.left_out:
        st.caption(
            trn(
                "{n:d} line of its rows is no measured row of this run and is left out: line {first:d}.",
                "{n:d} lines of its rows are no measured rows of this run and are left out, the first "
                "of them line {first:d}.",
                rows.left_out,
                first=rows.first_left_out,
            )
        )
    with st.expander(tr("What exactly was measured")):
        # A table, in which each text from the run has a box of its own.
        draw_table(
            (tr("What"), tr("Value")),
            (
                (tr("Rows"), str(len(rows))),
                (tr("At most"), "–" if run.limit is None else str(run.limit)),
                (tr("Seed"), str(run.seed)),
                (tr("Reader"), run.reader[:120] or "–"),
                (tr("Contradiction, below"), f"{run.policy.tau_contradict:.2f}"),
                (tr("Version of CertiRAG"), run.certirag[:_LABEL]),
            ),
        )
        st.caption(tr("SHA-256 of the data, and of the verifier"))
        draw_digest(run.data.sha256[:128])
        draw_digest(run.verifier.sha256[:128])


def _choose_other(of: RunFolder, run: KeptRun, kept: dict[str, RunFolder]) -> RunFolder | None:
    """Draw the choice of a run over the same rows, where there is one."""
    others = {
        name: one
        for name, one in kept.items()
        if name != of.name and one.run is not None and one.run.same_rows == run.same_rows
    }
    if not others:
        return None
    labels = {"": tr("no other run"), **{name: _label(one) for name, one in others.items()}}
    name = st.selectbox(
        tr("Compared with"),
        tuple(labels),
        format_func=labels.__getitem__,
        key="evaluation-other",
        help=tr("Runs over the same rows of the same data."),
    )
    return others.get(name)


def _draw_comparison(one: RunFolder, other: RunFolder) -> None:
    st.header(tr("What changed"), anchor=False)
    draw_lines((f"A: {one.name[:_LABEL]}", f"B: {other.name[:_LABEL]}"))
    identities = [rows_so_far(run.path) for run in (one, other)]
    if None in identities:
        st.info(tr("One of them has no rows yet."))
        return
    if any(identity is not None and identity[2] > MOST_COMPARED for identity in identities):
        st.info(tr(TOO_MANY))
        return
    try:
        with st.spinner(tr("Comparing the runs")):
            report = _compared(str(one.path), str(other.path), tuple(identities))
    except InputError as error:
        draw_text(str(error), "error")
        return
    for way in _WAYS:
        st.subheader(tr(_WAYS[way]), anchor=False)
        with st.container(key=f"rows-numbers-{way}"):
            draw_table(
                (
                    tr("Source"),
                    tr("Rows"),
                    tr("A right"),
                    tr("B right"),
                    tr("Only A"),
                    tr("Only B"),
                    "p",
                ),
                [
                    (
                        row["source"][:200],
                        str(row["rows"]),
                        *map(str, row["right"]),
                        *map(str, row["only"]),
                        f"{row['p']:.4f}",
                    )
                    for row in report[way][-_MOST_LINES:]
                ],
            )
    st.caption(tr(WAYS_HELP))


@st.cache_resource(show_spinner=False, max_entries=8)
def _compared(one: str, other: str, identities: object) -> dict[str, Any]:  # noqa: ARG001  # part of the cache key
    return compare_runs(Path(one), Path(other))


def _draw_problems(problems: list[RunFolder]) -> None:
    if not problems:
        return
    with st.expander(tr("Not read ({n:d})", n=len(problems))):
        draw_lines(f"{one.name[:_LABEL]}: {one.problem[:300]}" for one in problems[:_MOST_LINES])
