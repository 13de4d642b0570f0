"""The figures of one run: systems, precision against coverage, reliability, labels, sources, questions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message
from certirag.errors import InputError
from certirag.eval.kept_runs import KeptFigures, RunFolder, read_figures
from certirag.eval.opened_rows import GOLDS, LABELS, AtTau, OpenedRows
from certirag.render import visible
from ui.charts import draw_precision_coverage, draw_reliability
from ui.evaluation_words import LABEL_WORDS, QUESTION_WORDS, SYSTEM_WORDS, share_words
from ui.inert import draw_facts, draw_table, draw_text
from ui.language import tr, tr_of

if TYPE_CHECKING:
    from collections.abc import Sequence

TAU: Final = "evaluation-tau"  # kept for the rows too
OPEN_ROW: Final = "evaluation_open"  # (file, place, what was asked for) of the row that is open
ROW_FILTERS: Final = ("gold", "label", "state", "stage", "rule", "words", "wrong", "lost")
SYSTEMS_HELP: Final[Message] = (
    "Each takes the same statements and the same measurements. They differ in what they show and in "
    "what they mark as supported. p is McNemar's exact one, adjusted by Holm."
)
CURVE_HELP: Final[Message] = (
    "A badge is wrong where its row is not true. Nothing is measured anew: each badge was counted at "
    "each of these thresholds when the run was made."
)
RELIABILITY_HELP: Final[Message] = (
    "Of the rows with about this score, how many are true? On the dashed line a score means what it "
    "says. It is the verifier's own score, before the rules."
)
ALL_SOURCES: Final[Message] = "All sources"
_MOST: Final = 100
_SOURCE: Final = 90  # letters of its name


def draw_figures(of: RunFolder, rows: OpenedRows) -> None:
    """Draw all figures of the run; the systems and the questions once it is finished."""
    figures = _figures(of)
    if figures is not None and figures.systems:
        _draw_systems(figures)
    st.header(tr("Precision against coverage"), anchor=False)
    source = choose_source(rows)
    places = rows.of_source(source)
    at = rows.at(places)
    chosen = choose_tau(rows)
    _draw_at(at[chosen])
    _draw_ways_down(at[chosen])
    if any(one.precision is not None and one.coverage is not None for one in at):
        draw_precision_coverage(at, chosen)
    else:
        st.caption(tr("There is no curve: no true row, or no badge at any threshold."))
    _draw_thresholds(at)
    st.header(tr("Reliability of the verifier's score"), anchor=False)
    _draw_bins(rows, source)
    st.header(tr("Label and truth"), anchor=False)
    _draw_confusion(rows.confusion(places))
    st.header(tr("By source"), anchor=False)
    _draw_sources(rows, chosen)
    if figures is not None and figures.questions:
        _draw_questions(figures)


def choose_source(rows: OpenedRows) -> str:
    """Draw the choice of a source and return it, "" for all."""
    if len(rows.sources) == 1:
        return ""
    labels = {"": tr(ALL_SOURCES)}
    labels |= {name: visible(name[:_SOURCE]) for name in sorted(rows.sources) if name}
    chosen = st.selectbox(
        tr("Source"),
        tuple(labels),
        format_func=labels.__getitem__,
        key="evaluation-source",
        persist_state="session",
    )
    return chosen if chosen in rows.sources else ""


def choose_tau(rows: OpenedRows) -> int:
    """Draw the slider of the threshold and return the number of the one that was tried next to it."""
    st.session_state.setdefault(TAU, rows.taus[rows.own])
    value = st.slider(
        tr("Entailment, at least"), 0.5, 1.0, step=0.01, key=TAU, persist_state="session"
    )
    chosen = rows.nearest(value)
    if abs(rows.taus[chosen] - value) > 0.004:
        st.caption(
            tr(
                "Not measured at {value:.2f}: these are the figures of {tau:.2f}, next to it.",
                value=value,
                tau=rows.taus[chosen],
            )
        )
    elif chosen == rows.own:
        st.caption(tr("{tau:.2f} is the threshold of the run's own policy.", tau=rows.taus[chosen]))
    else:
        st.caption(tr("The run's own policy asks for {own:.2f} instead.", own=rows.taus[rows.own]))
    return chosen


def kept_tau(rows: OpenedRows) -> int:
    """Return the number of the threshold that the slider was left at, the run's own before."""
    value = st.session_state.get(TAU, rows.taus[rows.own])
    return rows.nearest(value) if isinstance(value, float) else rows.own


def _figures(of: RunFolder) -> KeptFigures | None:
    if not of.finished:
        return None
    try:
        return read_figures(of.path)
    except InputError as error:
        draw_text(str(error), "error")
        return None


def _draw_systems(figures: KeptFigures) -> None:
    st.header(tr("Systems over the same rows"), anchor=False)
    with st.container(key="rows-shares-systems"):
        draw_table(
            (
                tr("System"),
                tr("Untrue of what is shown"),
                tr("Untrue of what is marked"),
                tr("True ones marked"),
                tr("Untrue ones not marked"),
                tr("p against Strict"),
            ),
            [
                (
                    tr_of(SYSTEM_WORDS, own.system[:200]),
                    *(
                        share_words(share.part, share.whole)
                        for share in (own.exposed, own.wrong, own.coverage, own.caught)
                    ),
                    "–" if own.p is None else f"{own.p:.2g}",
                )
                for own in figures.systems[:_MOST]
            ],
        )
    st.caption(tr(SYSTEMS_HELP))


def _draw_at(at: AtTau) -> None:
    draw_facts(
        (
            (tr("Precision (95 % interval)"), share_words(at.badges - at.wrong, at.badges)),
            (tr("Coverage (95 % interval)"), share_words(at.whole, at.asked)),
            (tr("Badges"), str(at.badges)),
            (tr("Wrong badges"), str(at.wrong)),
            (tr("Lost true rows"), str(at.asked - at.whole)),
        )
    )


def _draw_ways_down(at: AtTau) -> None:
    """Draw buttons that lead to the rows behind the figures at the chosen threshold."""
    with st.container(horizontal=True, key="evaluation-ways-down"):
        if at.wrong:
            st.button(
                tr("Show the rows with a wrong badge"),
                key="evaluation-to-wrong",
                on_click=_show_rows,
                args=("evaluation-wrong",),
            )
        if at.asked > at.whole:
            st.button(
                tr("Show the lost true rows"),
                key="evaluation-to-lost",
                on_click=_show_rows,
                args=("evaluation-lost",),
            )


def _show_rows(only: str) -> None:
    """Let the page show the rows, those of one toggle *only*; the source stays as it is."""
    for name in ROW_FILTERS:
        st.session_state.pop(f"evaluation-{name}", None)
    st.session_state[only] = True
    st.session_state["evaluation-part"] = "Rows"
    st.session_state.pop(OPEN_ROW, None)


def _draw_thresholds(at: Sequence[AtTau]) -> None:
    with st.expander(tr("The curve as a table")), st.container(key="rows-numbers-curve"):
        draw_table(
            (
                tr("Entailment, at least"),
                tr("Badges"),
                tr("Wrong badges"),
                tr("Precision (95 % interval)"),
                tr("Coverage (95 % interval)"),
            ),
            [
                (
                    f"{one.tau:.2f}",
                    str(one.badges),
                    str(one.wrong),
                    share_words(one.badges - one.wrong, one.badges),
                    share_words(one.whole, one.asked),
                )
                for one in at
            ],
        )
    st.caption(tr(CURVE_HELP))


def _draw_bins(rows: OpenedRows, source: str) -> None:
    bins = rows.reliability(rows.of_source(source))
    if not bins:
        st.caption(tr("No row of these has a score."))
        return
    draw_reliability(bins)
    with st.expander(tr("Reliability as a table")), st.container(key="rows-numbers-bins"):
        draw_table(
            (tr("Score"), tr("Rows"), tr("Mean score"), tr("Share that is entailed")),
            [
                (
                    f"{one.low:.2f} – {one.high:.2f}",
                    str(one.rows),
                    f"{one.mean_score:.2f}",
                    f"{one.share_entailed:.1%}",
                )
                for one in bins
            ],
        )
    st.caption(tr(RELIABILITY_HELP))


def _draw_confusion(found: Sequence[Sequence[int]]) -> None:
    with st.container(key="rows-numbers-confusion"):
        draw_table(
            (
                tr("The row is"),
                *(tr("Labelled: {label}", label=tr(LABEL_WORDS[name])) for name in LABELS),
            ),
            [
                (tr(LABEL_WORDS[gold]), *map(str, line))
                for gold, line in zip(GOLDS, found, strict=True)
                if any(line)
            ],
        )


def _draw_sources(rows: OpenedRows, chosen: int) -> None:
    found = rows.by_source(chosen)
    with st.container(key="rows-shares-sources"):
        draw_table(
            (
                tr("Source"),
                tr("Rows"),
                tr("Untrue"),
                tr("Wrong badges"),
                tr("Precision (95 % interval)"),
                tr("Coverage"),
                tr("Balanced accuracy"),
                tr("AUROC"),
            ),
            [
                (
                    own.source[:200] or tr(ALL_SOURCES),
                    str(own.rows),
                    str(own.untrue),
                    tr("{wrong} of {badges}", wrong=own.at.wrong, badges=own.at.badges),
                    share_words(own.at.badges - own.at.wrong, own.at.badges),
                    "–" if own.at.coverage is None else f"{own.at.coverage:.1%}",
                    _decimal(own.balanced_accuracy),
                    _decimal(own.auroc),
                )
                for own in found[-_MOST:]
            ],
        )
    if len(found) > _MOST:
        st.caption(tr("{n:d} sources more are in its figures.csv.", n=len(found) - _MOST))
    st.caption(
        tr(
            "At the threshold chosen above. The last two columns are of the verifier's score alone: the "
            "first at a score of 0.5."
        )
    )


def _draw_questions(figures: KeptFigures) -> None:
    st.header(tr("Questions"), anchor=False)
    with st.container(key="rows-shares-questions"):
        draw_table(
            (tr("Questions"), tr("What became of them"), tr("Share")),
            [
                (own.part[:200], tr(words), share_words(share.part, share.whole))
                for own in figures.questions[:_MOST]
                for name, words in QUESTION_WORDS.items()
                if (share := getattr(own, name)).whole
            ],
        )


def _decimal(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
