"""The judgement on an answer as lines and as HTML: why, what is left out, what may help.

Nothing here carries a badge. Nearest passages are quoted as passages that were not enough, and
suggestions, which the record carries from the search, are words of the documents: both inert.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from certirag.core.judgement import (
    ANSWERS,
    ConfidenceBasis,
    Filter,
    Reference,
    Suggestion,
    Suggestions,
)
from certirag.core.said import Message, said, said_n, together
from certirag.core.verdict import two_places
from certirag.render.abstain import Grounds, lacks_answer
from certirag.render.closest import carried_references, closest_references
from certirag.render.inert import inert_html, visible
from certirag.render.present import Presentation
from certirag.render.recorded import restated
from certirag.render.why import why

_CAVEATS: Final[Mapping[str, Message]] = {
    "high_risk_unresolved": "a comparison or a statement of scope is open",
    "contested": "another document opposes a claim",
    "related_only": "none of the statements surely answers the question",
    "part_open": "one part of the question is not answered",
    "thin_retrieval": "the searches ranked the evidence low",
    "thin_specificity": "the attached sentences hold few of the claims' words",
    "thin_relevance": "the best statement may not be quite what was asked",
    "contradicted": "the documents contradict a claim",
    "high_contradiction": "the documents contradict many of the claims",
    "no_checkable_claim": "there is no claim to check",
}
_BECAUSE: Final[tuple[Message, ...]] = (
    "“{heading}” in “{title}” mentions {words}",
    "“{title}” mentions {words}",
    "no document holds “{word}”; they hold “{near}”",
    "“{title}” speaks of “{period}”",
    "another period",
)
DISAGREEMENT: Final[Message] = "Your documents disagree"
LEFT_OUT: Final[Message] = "What is missing"
NEAREST: Final[Message] = "Nearest passages: none of them is enough"
QUESTIONS: Final[Message] = "Questions that these documents may answer"
FILTERS: Final[Message] = "Where to look"
CONFIDENCES: Final[Mapping[str, Message]] = {
    "high": "high",
    "medium": "medium",
    "low": "low",
    "insufficient_evidence": "insufficient evidence",
}
_FIELDS: Final[Mapping[str, Message]] = {
    "document": "Document",
    "section": "Section",
    "period": "Period",
}


def nearest_passages(presentation: Presentation) -> tuple[Reference, ...]:
    """Return the passages that came nearest, derived again; none beside an answer or a conflict."""
    if presentation.summary.decision != "REJECT" or presentation.conflicts:
        return ()
    record, policy = presentation.record, presentation.policy
    grounds = Grounds.of(record, policy)
    scored = closest_references(record.claim_ir.claims, grounds)
    carried = record.answer.closest_references
    return scored or carried_references(carried, record.retrieval.chunks)


def lacks(passage: Reference) -> str:
    """Return what a nearest passage lacks, in plain words and without a full stop."""
    return why("nearest", passage.why).sentence


def is_disagreement(presentation: Presentation) -> bool:
    """Say whether there is no answer because documents disagree: both sides say what is missing."""
    return presentation.summary.decision == "REJECT" and bool(presentation.conflicts)


def suggestions_of(presentation: Presentation) -> Suggestions:
    """Return what the signed record suggests, where there is no answer or too little of one."""
    carried = presentation.record.answer.suggestions
    helps = carried is not None and lacks_answer(presentation.summary)
    return carried if carried is not None and helps else Suggestions()


def confidence_sentence(basis: ConfidenceBasis | None) -> str:
    """Say what the confidence was computed from, "" when that was not recorded."""
    if basis is None:
        return ""
    if basis.checkable < 1:
        return said("There is no claim to check.")
    parts: list[str] = []
    if basis.relevance is not None:
        parts.append(
            said(
                "The best claim answers with {score}; {needed:.2f} is needed.",
                score=two_places(basis.relevance, ANSWERS),
                needed=ANSWERS,
            )
        )
    parts.append(
        said(
            "{verified} of {checkable} checkable claims passed every rule.",
            verified=basis.verified,
            checkable=basis.checkable,
        )
    )
    return together(*parts, *filter(None, [lowered_because(basis)]))


def lowered_because(basis: ConfidenceBasis | None) -> str:
    """Say what lowers the confidence, "" where nothing does or nothing was recorded."""
    if basis is None or not basis.caveats:
        return ""
    known = (said(_CAVEATS[name]) if name in _CAVEATS else name for name in basis.caveats)
    return said("Lowered because {reasons}.", reasons=together(*known, between="; "))


def because(suggestion: Suggestion) -> str:
    """Return why a suggestion is made, as it is recorded."""
    return restated(suggestion.because, _BECAUSE)


def filter_line(of: Filter) -> str:
    """Return one filter in words."""
    return said(
        "{field} “{value}” ({count})",
        field=said(_FIELDS[of.field]),
        value=of.value,
        count=said_n("{n} near passage", "{n} near passages", of.passages),
    )


def judgement_lines(presentation: Presentation) -> list[str]:
    """Return the judgement as lines for a terminal; control characters are made visible."""
    summary, help_ = presentation.summary, suggestions_of(presentation)
    lines = []
    for conflict in presentation.conflicts:
        lines += [f"{DISAGREEMENT}:", *(f"  {_line(side)}" for side in conflict.lines), ""]
    if summary.decision == "REJECT" and summary.reason and not presentation.conflicts:
        lines += [f"Why: {summary.reason}"]
    if presentation.missing and not is_disagreement(presentation):
        lines += ["", f"{LEFT_OUT}:", *(f"  - {_line(text)}" for text in presentation.missing)]
    passages = nearest_passages(presentation)
    if passages:
        lines += ["", f"{NEAREST}:"]
        for one in passages:
            lines += [f"  “{_line(one.quote)}” — {_line(_place(one))}", f"    {_line(lacks(one))}"]
    if help_.refinements:
        lines += ["", f"{QUESTIONS}:"]
        for other in help_.refinements:
            lines += [f"  {_line(other.query)}", f"    {_line(other.because)}"]
    if help_.filters:
        lines += ["", f"{FILTERS}:", *(f"  - {_line(filter_line(f))}" for f in help_.filters)]
    sentence = confidence_sentence(summary.basis)
    return [*lines, "", f"Confidence: {sentence}"] if sentence else lines


def judgement_html(presentation: Presentation) -> str:
    """Return the same as inert HTML: no link, button, badge or style from any text."""
    summary, help_ = presentation.summary, suggestions_of(presentation)
    parts = [_list_html(DISAGREEMENT, c.lines) for c in presentation.conflicts]
    if summary.decision == "REJECT" and summary.reason and not presentation.conflicts:
        parts.append(f"<p>{inert_html(summary.reason)}</p>")
    missing = () if is_disagreement(presentation) else presentation.missing
    parts.append(_list_html(LEFT_OUT, missing))
    quotes = [f"“{p.quote}” — {_place(p)}: {lacks(p)}" for p in nearest_passages(presentation)]
    parts.append(_list_html(NEAREST, quotes))
    parts.append(_list_html(QUESTIONS, [f"{r.query} ({r.because})" for r in help_.refinements]))
    parts.append(_list_html(FILTERS, [filter_line(f) for f in help_.filters]))
    sentence = confidence_sentence(summary.basis)
    parts.append(f"<p>Confidence: {inert_html(sentence)}</p>" if sentence else "")
    return "".join(parts)


def _list_html(title: str, lines: tuple[str, ...] | list[str]) -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{inert_html(line)}</li>" for line in lines)
    return f"<p>{inert_html(title)}</p><ul>{items}</ul>"


def _place(of: Reference) -> str:
    page = "" if of.page is None else f"page {of.page}"
    return ", ".join(part for part in (of.title, page, of.section) if part)


def _line(text: str) -> str:
    return " ".join(visible(text).split())
