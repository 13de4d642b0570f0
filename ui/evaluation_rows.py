"""The rows of one run: asked for by filters, listed, and opened down to each claim and its evidence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message
from certirag.eval.opened_rows import GOLDS, LABELS, RULES, OpenedRows, RowFilter
from certirag.proof.facets import RENDER_STATES
from certirag.render.trace import STAGES
from ui.contract_text import RULE_TITLES
from ui.evaluation_figures import OPEN_ROW, ROW_FILTERS, choose_source, kept_tau
from ui.evaluation_row import draw_row, row_facts
from ui.evaluation_words import LABEL_WORDS, RUN_STATES
from ui.inert import draw_text
from ui.language import tr, tr_of, trn
from ui.ways import STAGE_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from certirag.eval.kept_runs import FileIdentity

PAGE_SIZE: Final = 50
WORDS_HELP: Final[Message] = "In the statement, its text, a claim or a sentence read for it."
WRONG_HELP: Final[Message] = (
    "Rows with a badge on something untrue, at the threshold chosen under Figures."
)
LOST_HELP: Final[Message] = (
    "True rows of which not every claim has a badge, at the threshold chosen under Figures."
)
ANY: Final[Message] = "Any"
_STATEMENT: Final = 240  # letters of it in the list


def draw_rows(rows: OpenedRows) -> None:
    """Draw the filters and the rows they ask for, or the row that is open."""
    opened = _opened(rows)
    asked = _ask(rows) if opened is None else opened[1]
    with st.spinner(tr("Looking through the rows")):
        places = _found(str(rows.path), rows.identity, asked, rows)
    if opened is None:
        _draw_list(rows, places, asked)
    else:
        _draw_opened(rows, opened[0], places, asked)


def _ask(rows: OpenedRows) -> RowFilter:
    """Draw the filters and return what they ask for."""
    source = choose_source(rows)
    with st.container(horizontal=True, vertical_alignment="bottom", key="evaluation-filters"):
        state = st.selectbox(
            tr("A claim"),
            ("", *RENDER_STATES),
            format_func=_words_of(RUN_STATES).__getitem__,
            key="evaluation-state",
            width=165,
            persist_state="session",
        )
        stage = st.selectbox(
            tr("Failed at"),
            ("", *STAGES),
            format_func=_words_of(STAGE_WORDS).__getitem__,
            key="evaluation-stage",
            width=150,
            persist_state="session",
        )
        gold = st.selectbox(
            tr("The row is"),
            ("", *GOLDS),
            format_func=_words_of(LABEL_WORDS).__getitem__,
            key="evaluation-gold",
            width=185,
            persist_state="session",
        )
        label = st.selectbox(
            tr("Labelled"),
            ("", *LABELS),
            format_func=_words_of(LABEL_WORDS).__getitem__,
            key="evaluation-label",
            width=190,
            persist_state="session",
        )
        rule = st.selectbox(
            tr("Rule that failed"),
            ("", *RULES),
            format_func=_words_of(RULE_TITLES).__getitem__,
            key="evaluation-rule",
            width=270,
            persist_state="session",
        )
    words = st.text_input(
        tr("Words"),
        key="evaluation-words",
        help=tr(WORDS_HELP),
        max_chars=200,
        persist_state="session",
    )
    with st.container(horizontal=True, vertical_alignment="center", key="evaluation-only"):
        wrong = st.toggle(
            tr("Wrong badges only"),
            key="evaluation-wrong",
            help=tr(WRONG_HELP),
            persist_state="session",
        )
        lost = st.toggle(
            tr("Lost true ones only"),
            key="evaluation-lost",
            help=tr(LOST_HELP),
            persist_state="session",
        )
        if any(st.session_state.get(f"evaluation-{name}") for name in ("source", *ROW_FILTERS)):
            st.button(
                tr("Clear the filters"),
                key="evaluation-clear",
                type="tertiary",
                on_click=clear_row_filters,
            )
    return RowFilter(
        source, gold, label, state, stage, rule, wrong, lost, words or "", kept_tau(rows)
    )


def _words_of(words: Mapping[str, Message]) -> dict[str, str]:
    """Return what each code is called in the language of the page, and "" for any."""
    return {"": tr(ANY), **{code: tr_of(words, code) for code in words}}


def clear_row_filters() -> None:
    """Let every filter of the rows ask for nothing."""
    for name in ("source", *ROW_FILTERS):
        st.session_state.pop(f"evaluation-{name}", None)


@st.cache_resource(show_spinner=False, max_entries=16)
def _found(path: str, identity: FileIdentity, asked: RowFilter, _rows: OpenedRows) -> list[int]:  # noqa: ARG001  # part of the cache key
    return [int(place) for place in _rows.select(asked)]


def _draw_list(rows: OpenedRows, places: Sequence[int], asked: RowFilter) -> None:
    st.caption(
        trn(
            "{n:d} row of {rows:d}, each as it was decided under the run's own policy.",
            "{n:d} rows of {rows:d}, each as they were decided under the run's own policy.",
            len(places),
            rows=len(rows),
        )
    )
    if (asked.wrong or asked.lost) and asked.tau != rows.own:
        st.caption(
            tr(
                "Wrong and lost are counted at {tau:.2f}, the threshold chosen under Figures.",
                tau=rows.taus[asked.tau or 0],
            )
        )
    if not places:
        st.info(tr("No row is asked for. Take a filter away."))
        return
    pages = -(-len(places) // PAGE_SIZE)
    page = 1 if pages == 1 else st.pagination(pages, key="evaluation-page")
    first = (min(page, pages) - 1) * PAGE_SIZE
    shown = places[first : first + PAGE_SIZE]
    with st.container(key="evaluation-list", gap=None):
        for place, row in zip(shown, rows.rows(shown), strict=True):
            with st.container(
                key=f"evaluation-row-{place}", horizontal=True, vertical_alignment="center"
            ):
                with st.container(gap="xxsmall"):
                    short = " ".join(row.hypothesis[:_STATEMENT].split())
                    cut = "…" if len(row.hypothesis) > _STATEMENT else ""
                    draw_text(short + cut, "question", max_lines=3)
                    draw_text(row_facts(row), "note", max_lines=2)
                st.button(
                    tr("Open row {number:d}", number=row.number + 1),
                    key=f"evaluation-open-{place}",
                    type="tertiary",
                    on_click=_open,
                    args=(str(rows.path), place, asked),
                )


def _opened(rows: OpenedRows) -> tuple[int, RowFilter] | None:
    """Return the place of the row that is open, and what had been asked for; None when none is."""
    path, place, asked = st.session_state.get(OPEN_ROW) or ("", 0, RowFilter())
    return (place, asked) if path == str(rows.path) and place < len(rows) else None


def _draw_opened(rows: OpenedRows, place: int, places: Sequence[int], asked: RowFilter) -> None:
    """Draw the open row, and the ways to the one before, the next one and all."""
    at = bisect_left(places, place)
    after = bisect_right(places, place)
    with st.container(horizontal=True, vertical_alignment="center", key="evaluation-turn"):
        st.button(tr("‹ All rows"), key="evaluation-close", on_click=_close)
        for name, to in (("before", at - 1), ("after", after)):
            there = 0 <= to < len(places)
            st.button(
                tr("Row before") if name == "before" else tr("Next row"),
                key=f"evaluation-{name}",
                disabled=not there,
                on_click=_open,
                args=(str(rows.path), places[to] if there else place, asked),
            )
    draw_row(rows.rows([place])[0], own=rows.taus[rows.own])


def _open(path: str, place: int, asked: RowFilter) -> None:
    st.session_state[OPEN_ROW] = (path, place, asked)


def _close() -> None:
    st.session_state.pop(OPEN_ROW, None)
