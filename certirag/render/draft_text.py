"""How the draft came to be and what became of its citations, as lines and as HTML.

All of it is read off the record and none of it carries a badge: a citation verdict is an opinion,
and how a language model ended says nothing about what it wrote before. Model names, notes, marks
and titles are words from outside: the lines have their control characters made visible, and are
still to be drawn inert.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, get_args

from certirag.claims.compile import is_uncheckable
from certirag.core.citation import (
    Citation,
    CitationQuality,
    CitationsRecord,
    CitationVerdict,
    Correction,
    CorrectionKind,
)
from certirag.core.generation import GenerationRecord
from certirag.errors import GroundingFault
from certirag.render.inert import inert_html, shortened, visible
from certirag.render.present import Presentation

DRAFT: Final = "Draft and citations"
BEING_WRITTEN: Final = "The answer is being written."
NOT_FINISHED: Final = "This answer was not finished."
_MOST: Final = 40  # lines of one kind; a record may hold far more than anybody reads
_DIGEST: Final = 12
_FAULTS: Final = frozenset(get_args(GroundingFault))
QUOTED: Final = (
    "The documents answer this better than what the language model wrote: sentences of them are "
    "quoted."
)
_WHAT_HOLDS: Final = "What was certified before stands."
_BECAME: Final[Mapping[CorrectionKind, str]] = {
    "KEEP": "kept",
    "REPLACE": "replaced",
    "REMOVE": "removed",
    "ADD_ALTERNATE": "added",
}


def is_under_way(presentation: Presentation) -> bool:
    """Say whether the record is a part of an answer that a language model had not ended."""
    generation = presentation.record.generation
    return generation is not None and generation.end == "under_way"


def is_broken_off(presentation: Presentation) -> bool:
    """Say whether the draft ended otherwise than with an answer, or with saying there is none."""
    generation = presentation.record.generation
    return generation is not None and generation.end not in {"complete", "abstained"}


def headline_of(presentation: Presentation) -> str:
    """Return the headline; a part without a badge is not finished, which is no refusal."""
    if is_under_way(presentation) and not presentation.summary.verified:
        return NOT_FINISHED
    return presentation.headline


def end_line(presentation: Presentation) -> str:
    """Say how the draft ended where that was not with a whole answer; "" otherwise."""
    generation = presentation.record.generation
    if generation is None or (generation.end == "complete" and not generation.quoted):
        return ""
    stands = _WHAT_HOLDS if presentation.summary.verified else "Nothing was certified before."
    note = _line(generation.note).rstrip(".")
    if generation.quoted:
        return f"{_capital(note) + '. ' if note else ''}{QUOTED}"
    if generation.end == "abstained":
        return "The language model found no answer in the evidence that it was given."
    if generation.end == "under_way":
        return (
            f"{NOT_FINISHED[:-1]}: it ends with its part {generation.part}, and the language "
            f"model may not have been done. {stands}"
        )
    if generation.end in _FAULTS:
        return f"What the language model wrote is refused as a whole: {note or generation.end}."
    return f"{_capital(note or 'the language model stopped')}. {stands}"


def draft_lines(presentation: Presentation, *, with_end: bool = True) -> list[str]:
    """Return how the draft was written, how it ended and what became of its citations.

    Nothing for an answer without a language model and without citations. Without *with_end*,
    `end_line` is left to whoever says it in a better place.
    """
    record = presentation.record
    lines = [] if record.generation is None else _writing(presentation, record.generation)
    ended = end_line(presentation) if with_end else ""
    lines += [ended] if ended else []
    return lines if record.citations is None else [*lines, *_citing(presentation, record.citations)]


def draft_html(presentation: Presentation) -> str:
    """Return the same but for its end as inert HTML, folded; "" where there is nothing to tell."""
    lines = draft_lines(presentation, with_end=False)
    if not lines:
        return ""
    items = "".join(f"<li>{inert_html(line)}</li>" for line in lines)
    return f"<details><summary>{inert_html(DRAFT)}</summary><ul>{items}</ul></details>"


def _writing(presentation: Presentation, generation: GenerationRecord) -> list[str]:
    claim_ir = presentation.record.claim_ir
    writer, strategy = _line(claim_ir.generator), _line(generation.strategy)
    parts = _count(generation.part, "recorded part")
    lines = [f"Written by {writer}, strategy {strategy}, in {parts}."]
    lines += [
        f"Prompt “{_line(prompt.name)}”, version {_line(prompt.version)}, "
        f"SHA-256 {_line(prompt.sha256[:_DIGEST])}…"
        for prompt in generation.prompts[:_MOST]
    ]
    return [*lines, *_some("Left out of the draft", claim_ir.dropped)]


def _citing(presentation: Presentation, cited: CitationsRecord) -> list[str]:
    lines = [f"The draft has {_count(len(cited.citations), 'citation')}{_verdicts(cited)}."]
    quality = _quality(presentation, cited)
    if quality.precision is not None:
        lines.append(
            f"Precision {quality.precision:.2f}: {quality.valid} of "
            f"{_count(quality.citations, 'citation')} valid."
        )
    if quality.recall is not None and cited.judgements:
        lines.append(
            f"Recall {quality.recall:.2f}: {quality.supported} of "
            f"{_count(quality.claims, 'claim')} with a valid one."
        )
    became = Counter(correction.kind for correction in cited.corrections)
    if became:
        lines.append(
            f"What became of them: {_counted((word, became[k]) for k, word in _BECAME.items())}."
        )
    titles = {c.doc_id: c.source.title for c in presentation.record.retrieval.chunks}
    changed = [one for one in cited.corrections if one.kind != "KEEP"]
    named = _names(presentation)
    lines += _cut([_correction(one, titles, named) for one in changed], "correction")
    return [*lines, *_some("Not read", cited.dropped)]


def _verdicts(cited: CitationsRecord) -> str:
    if not cited.judgements:
        return ", none of them judged" if cited.citations else ""
    found = Counter(judgement.verdict for judgement in cited.judgements)
    names = get_args(CitationVerdict)
    return f": {_counted((name.lower(), found[name]) for name in names)}"


def _quality(presentation: Presentation, cited: CitationsRecord) -> CitationQuality:
    """Count as `certirag.verification.citation_check` does, over the claims that can be checked."""
    claims = presentation.record.claim_ir.claims
    wanted = {claim.id for claim in claims if not is_uncheckable(claim)}
    judged = [j for j in cited.judgements if j.citation.claim_id in wanted]
    valid = [j for j in judged if j.verdict == "VALID"]
    supported = {j.citation.claim_id for j in valid}
    return CitationQuality(len(judged), len(valid), len(wanted), len(supported))


def _names(presentation: Presentation) -> dict[str, str]:
    """Return what the claims are called: the draft's own words, where they have a place there."""
    claims = presentation.record.claim_ir.claims
    if presentation.draft is None:
        return {claim.id: f"Claim {number}" for number, claim in enumerate(claims, 1)}
    pairs = zip(claims, presentation.draft.statements, strict=True)
    return {
        claim.id: f"“{_line(shortened(of.words))}”" if of.words else f"Statement {of.number}"
        for claim, of in pairs
    }


def _correction(of: Correction, titles: Mapping[str, str], named: Mapping[str, str]) -> str:
    claim = named.get(of.claim_id, "A claim")
    reason = _line(of.reason)
    old, new = _named(of.old, titles), _named(of.new, titles)
    if of.kind == "REPLACE":
        return f"{claim}: {old} replaced by {new}, because {reason}."
    if of.kind == "REMOVE":
        return f"{claim}: {old} removed, because {reason}."
    return f"{claim}: {new} added, because {reason}."


def _named(citation: Citation | None, titles: Mapping[str, str]) -> str:
    """Return the mark as the draft wrote it, with the document where there is one."""
    if citation is None:
        return "nothing"
    title = _line(titles.get(citation.doc_id, citation.doc_id))
    mark = _line(citation.raw)
    return " ".join(part for part in (mark, f"“{title}”" if title else "") if part) or "a citation"


def _some(what: str, lines: Iterable[str]) -> list[str]:
    return _cut([f"{what}: {_line(line)}" for line in lines], "line")


def _cut(lines: list[str], noun: str) -> list[str]:
    rest = len(lines) - _MOST
    return lines if rest <= 0 else [*lines[:_MOST], f"{_count(rest, f'more {noun}')}"]


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {word}" for word, count in pairs if count)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _line(text: str) -> str:
    return " ".join(visible(text).split())
