"""One measured row, opened: the statement, its text, and each claim with what was read and why it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message
from ui.contract_text import RULE_TITLES
from ui.evaluation_words import LABEL_WORDS, RUN_STATES, VERDICT_WORDS, score_words
from ui.inert import draw_facts, draw_steps, draw_text
from ui.language import tr, tr_of, trn
from ui.ways import FAILED_AT, STAGE_WORDS

if TYPE_CHECKING:
    from certirag.eval.measured_claims import MeasuredClaim
    from certirag.eval.pair_rows import MeasuredRow

NO_CLAIM: Final[Message] = "No claim was made of this statement."
_LETTERS: Final = 12_000  # of one text; the browser need not hold more
_CLAIMS: Final = 20
_SENTENCES: Final = 12
_SOURCE: Final = 90


def row_facts(row: MeasuredRow) -> str:
    """Return in one line where *row* comes from, what it is, and what became of its claims."""
    states = [tr(words) for code, words in RUN_STATES.items() if code in _states(row)]
    stages = dict.fromkeys(tr(FAILED_AT[claim.stage]) for claim in row.claims if claim.stage)
    facts = (
        row.source[:_SOURCE],
        tr("is {gold}", gold=tr(LABEL_WORDS[row.gold])),
        tr("labelled {label}", label=tr(LABEL_WORDS[row.label])),
        tr("claims: {states}", states=" + ".join(states)) if states else tr("no claim"),
        *stages,
    )
    return " · ".join(fact for fact in facts if fact)


def draw_row(row: MeasuredRow, *, own: float) -> None:
    """Draw all that a run keeps of *row*; its states are those of the threshold *own*."""
    st.header(tr("Row {number:d}", number=row.number + 1), anchor=False)
    draw_text(_cut(row.hypothesis), "claim")
    draw_text(row_facts(row), "note", max_lines=2)
    draw_facts(
        (
            (tr("The row is"), tr(LABEL_WORDS[row.gold])),
            (tr("Labelled"), tr(LABEL_WORDS[row.label])),
            (tr("Entailment"), score_words(row.entailed)),
            (tr("Contradiction"), score_words(row.contradicted)),
            (tr("Not enough information"), score_words(row.not_enough_info)),
            (tr("Cosine"), score_words(row.cosine)),
        )
    )
    if row.false:
        _draw_named(tr("What makes it untrue"), row.false)
    if row.premise:
        _draw_named(tr("The text it is measured against"), row.premise, row.title)
    else:
        st.caption(tr("It was measured against a whole corpus, not against a text of its own."))
    st.caption(
        trn(
            "{n:d} claim, as it was decided from an entailment of {own:.2f}.",
            "{n:d} claims, as they were decided from an entailment of {own:.2f}.",
            len(row.claims),
            own=own,
        )
        if row.claims
        else tr(NO_CLAIM)
    )
    for number, claim in enumerate(row.claims[:_CLAIMS], 1):
        with st.container(key=f"evaluation-claim-{number}", border=True):
            _draw_claim(claim, number)
    if len(row.claims) > _CLAIMS:
        st.caption(tr("{n:d} claims more are in its rows.jsonl.", n=len(row.claims) - _CLAIMS))


def _draw_claim(claim: MeasuredClaim, number: int) -> None:
    st.subheader(tr("Claim {number:d}", number=number), anchor=False)
    draw_text(_cut(claim.text), "question")
    draw_facts(
        (
            (tr("State"), tr_of(RUN_STATES, claim.state)),
            (tr("Verdict"), tr_of(VERDICT_WORDS, claim.verdict)),
            (tr("Entailment"), score_words(claim.entailed)),
            (tr("Contradiction, at most"), score_words(claim.contradicted)),
            *(((tr("Failed at"), tr(STAGE_WORDS[claim.stage])),) if claim.stage else ()),
        )
    )
    for sentence in claim.evidence[:_SENTENCES]:
        _draw_named(tr("Sentence read for it"), sentence)
    if len(claim.evidence) > _SENTENCES:
        st.caption(tr("{n:d} sentences more were read.", n=len(claim.evidence) - _SENTENCES))
    if not claim.evidence:
        st.caption(tr("No sentence was read for it."))
    if claim.against:
        _draw_named(tr("Sentence that speaks most against it"), claim.against)
    if claim.failed:
        st.caption(tr("Rules that failed, with the recorded reason"))
        draw_steps((tr_of(RULE_TITLES, rule), _cut(why), False) for rule, why in claim.failed)


def _draw_named(name: str, text: str, title: str = "") -> None:
    """Draw a *text* from outside in a box of its own, under what it is."""
    draw_text(f"{name}: {title[:_SOURCE]}" if title else name, "note", max_lines=2)
    draw_text(_cut(text), "passage")


def _states(row: MeasuredRow) -> set[str]:
    return {claim.state for claim in row.claims}


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else text[:_LETTERS] + "…"
