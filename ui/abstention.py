"""Draws what an answer lacks and, where there is none, why and what may help: nothing has a badge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from certirag.core.judgement import Reference, Suggestion
from certirag.core.said import Message
from certirag.render import Mode, Presentation, oddities
from certirag.render.abstain import REASON_WORDS, REASONS
from certirag.render.differences import contrast
from certirag.render.draft_text import end_line, is_broken_off
from certirag.render.judgement_text import (
    CONFIDENCES,
    DISAGREEMENT,
    FILTERS,
    LEFT_OUT,
    NEAREST,
    QUESTIONS,
    because,
    confidence_sentence,
    filter_line,
    is_disagreement,
    lacks,
    nearest_passages,
    suggestions_of,
)
from ui.inert import draw_facts, draw_lines, draw_quote, draw_text
from ui.language import tr, tr_of
from ui.question import ask_sample

_NO_ANSWER: Final[Message] = "No answer: the evidence does not support one"


def draw_abstention(presentation: Presentation, *, of_draft: bool) -> None:
    """Draw the panel of an answer that was refused: the question, why, and what came near."""
    # Without a claim nothing was measured, so nothing is said of the evidence.
    if is_broken_off(presentation) and not presentation.record.claim_ir.claims:
        _draw_broken_off(presentation)
        return
    summary = presentation.summary
    with st.container(key="refusal"):
        disagree = is_disagreement(presentation)
        st.header(tr(DISAGREEMENT) if disagree else tr(_NO_ANSWER), anchor=False)
        if presentation.question:
            draw_text(presentation.question, "question", max_lines=6)
        draw_conflicts(presentation)
        if not disagree:
            draw_text(
                tr_of(REASONS, summary.reason_code)
                if summary.reason
                else tr("The rules in force did not allow an answer."),
                "claim",
                told=True,
            )
        draw_end(presentation)
        code = (tr("Reason"), tr_of(REASON_WORDS, summary.reason_code))
        draw_facts(
            (
                *([code] if presentation.mode is Mode.DEBUG else []),
                (tr("Confidence"), tr_of(CONFIDENCES, summary.confidence)),
                (tr("Policy"), presentation.policy.name),
            )
        )
        if not disagree:
            draw_missing(presentation)
    passages = nearest_passages(presentation)
    if passages:
        with st.container(key="nearest"):
            st.caption(tr(NEAREST))
            for number, passage in enumerate(passages, 1):
                with st.container(key=f"nearest-{number}", gap="xsmall"):
                    _draw_passage(passage, debug=presentation.mode is Mode.DEBUG)
    draw_suggestions(presentation, of_draft=of_draft)


def draw_conflicts(presentation: Presentation) -> None:
    """Draw what documents say against each other: both sides beside each other, neither with a badge."""
    for number, conflict in enumerate(presentation.conflicts, 1):
        with st.container(key=f"conflict-{number}", gap="xsmall"):
            if presentation.summary.decision != "REJECT":
                st.caption(tr(DISAGREEMENT))
            one, other = conflict.halves
            newest = conflict.newest
            columns = st.columns(2, gap="small")
            with columns[0], st.container(gap="xsmall"):
                _draw_sides(one, other[0], newest)
            with columns[1], st.container(gap="xsmall"):
                _draw_sides(other, one[0], newest - len(one))


def _draw_sides(sides: Sequence[Reference], against: Reference, newest: int) -> None:
    """Draw what says one thing, marked where *against* has it otherwise."""
    for at, side in enumerate(sides):
        newer = [tr("Newer, by its title")] if at == newest else []
        page = [] if side.page is None else [tr("Page {page}", page=side.page)]
        facts = [*newer, *page, *([side.section] if side.section else [])]
        differing, _ = contrast(side.quote, against.quote)
        draw_quote(side.quote, (), title=side.title, facts=facts, differing=differing)


def _draw_broken_off(presentation: Presentation) -> None:
    with st.container(key="refusal"):
        st.header(tr("No answer: the language model gave none"), anchor=False)
        if presentation.question:
            draw_text(presentation.question, "question", max_lines=6)
        draw_end(presentation)


def draw_end(presentation: Presentation) -> None:
    """Draw how the draft ended where that was not with a whole answer."""
    ended = end_line(presentation)
    if ended:
        draw_text(ended, "error", max_lines=6)


def draw_missing(presentation: Presentation) -> None:
    """Draw what is left out of the answer and why, and what its confidence comes from."""
    summary = presentation.summary
    if presentation.missing:
        st.caption(tr(LEFT_OUT))
        draw_lines(presentation.missing)
    if summary.confidence != "high" or presentation.missing:
        sentence = confidence_sentence(summary.basis)
        if sentence:
            draw_text(sentence, "note", max_lines=4)


def draw_suggestions(presentation: Presentation, *, of_draft: bool) -> None:
    """Draw the suggestions that the record carries; on Ask a click asks one."""
    carried = suggestions_of(presentation)
    if carried.refinements:
        with st.container(key="suggestions"):
            st.caption(tr(QUESTIONS))
            for number, suggestion in enumerate(carried.refinements, 1):
                _draw_suggestion(suggestion, number, of_draft=of_draft)
    if carried.filters:
        st.caption(tr(FILTERS))
        draw_lines([filter_line(one) for one in carried.filters])


def _draw_suggestion(suggestion: Suggestion, number: int, *, of_draft: bool) -> None:
    # A text with something odd in it stays text: a box for typing shows characters as they are.
    plain = not oddities(suggestion.query)
    with st.container(key=f"sample-suggestion-{number}", gap="xsmall"):
        draw_text(suggestion.query, "question", max_lines=4)
        draw_text(because(suggestion), "note", max_lines=4)
        if plain and not of_draft:
            st.button(
                tr("Ask suggestion {number:d}", number=number),
                key=f"use-{number}",
                type="tertiary",
                on_click=ask_sample,
                args=(suggestion.query, ""),
            )


def _draw_passage(passage: Reference, *, debug: bool) -> None:
    place = [passage.section] if passage.section else []
    page = [] if passage.page is None else [tr("Page {page}", page=passage.page)]
    found = [tr("Chunk {chunk}", chunk=passage.chunk_id)] if debug else []
    draw_quote(passage.quote, (), title=passage.title, facts=[*page, *place, *found])
    draw_text(tr("Not enough: {lacks}.", lacks=lacks(passage)), "reason", max_lines=4)
