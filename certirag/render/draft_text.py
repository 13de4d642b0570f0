"""How the draft came to be and what became of its citations, as lines and as HTML.

All of it is read off the record and none of it carries a badge: a citation verdict is an opinion,
and how a language model ended says nothing about what it wrote before. Model names, notes, marks
and titles are words from outside: the lines have their control characters made visible, and are
still to be drawn inert.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from certirag.core.said import Message, ended, said, said_n, together
from certirag.errors import GroundingFault
from certirag.render.inert import inert_html, shortened, visible
from certirag.render.present import Presentation

DRAFT: Final[Message] = "Draft and citations"
BEING_WRITTEN: Final[Message] = "The answer is being written."
NOT_FINISHED: Final[Message] = "This answer was not finished."
_MOST: Final = 40  # lines of one kind; a record may hold far more than anybody reads
_DIGEST: Final = 12
_FAULTS: Final = frozenset(get_args(GroundingFault))
QUOTED: Final[Message] = (
    "The documents answer this better than what the language model wrote: sentences of them are "
    "quoted."
)
_WHAT_HOLDS: Final[Message] = "What was certified before stands."
_VERDICTS: Final[Mapping[CitationVerdict, Message]] = {
    "VALID": "valid",
    "WEAK": "weak",
    "INVALID": "invalid",
    "HALLUCINATED": "hallucinated",
}
_BECAME: Final[Mapping[CorrectionKind, Message]] = {
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
        return said(NOT_FINISHED)
    return presentation.headline


def end_line(presentation: Presentation) -> str:
    """Say how the draft ended where that was not with a whole answer; "" otherwise."""
    generation = presentation.record.generation
    if generation is None or (generation.end == "complete" and not generation.quoted):
        return ""
    stands = (
        said(_WHAT_HOLDS)
        if presentation.summary.verified
        else said("Nothing was certified before.")
    )
    note = _line(generation.note).rstrip(".")
    if generation.quoted:
        return together(ended(_capital(note)), said(QUOTED)) if note else said(QUOTED)
    if generation.end == "abstained":
        return said("The language model found no answer in the evidence that it was given.")
    if generation.end == "under_way":
        return together(
            said(
                "This answer was not finished: it ends with its part {part}, and the language "
                "model may not have been done.",
                part=generation.part,
            ),
            stands,
        )
    if generation.end in _FAULTS:
        return said(
            "What the language model wrote is refused as a whole: {note}.",
            note=note or generation.end,
        )
    stopped = ended(_capital(note)) if note else said("The language model stopped.")
    return together(stopped, stands)


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
    lines: list[str] = [
        said_n(
            "Written by {writer}, strategy {strategy}, in {n} recorded part.",
            "Written by {writer}, strategy {strategy}, in {n} recorded parts.",
            generation.part,
            writer=writer,
            strategy=strategy,
        )
    ]
    lines += [
        said(
            "Prompt “{name}”, version {version}, SHA-256 {digest}…",
            name=_line(prompt.name),
            version=_line(prompt.version),
            digest=_line(prompt.sha256[:_DIGEST]),
        )
        for prompt in generation.prompts[:_MOST]
    ]
    return [
        *lines,
        *_cut([said("Left out of the draft: {line}", line=_line(one)) for one in claim_ir.dropped]),
    ]


def _citing(presentation: Presentation, cited: CitationsRecord) -> list[str]:
    lines: list[str] = [
        said(
            "The draft has {citations}{verdicts}.",
            citations=_citations(len(cited.citations)),
            verdicts=_verdicts(cited),
        )
    ]
    quality = _quality(presentation, cited)
    if quality.precision is not None:
        lines.append(
            said(
                "Precision {share:.2f}: {valid} of {citations} valid.",
                share=quality.precision,
                valid=quality.valid,
                citations=_citations(quality.citations),
            )
        )
    if quality.recall is not None and cited.judgements:
        lines.append(
            said_n(
                "Recall {share:.2f}: {supported} of {n} claim with a valid one.",
                "Recall {share:.2f}: {supported} of {n} claims with a valid one.",
                quality.claims,
                share=quality.recall,
                supported=quality.supported,
            )
        )
    became = Counter(correction.kind for correction in cited.corrections)
    if became:
        lines.append(
            said(
                "What became of them: {counts}.",
                counts=_counted((said(word), became[k]) for k, word in _BECAME.items()),
            )
        )
    titles = {c.doc_id: c.source.title for c in presentation.record.retrieval.chunks}
    changed = [one for one in cited.corrections if one.kind != "KEEP"]
    named = _names(presentation)
    lines += _cut([_correction(one, titles, named) for one in changed], correction=True)
    return [*lines, *_cut([said("Not read: {line}", line=_line(one)) for one in cited.dropped])]


def _verdicts(cited: CitationsRecord) -> str:
    if not cited.judgements:
        return said(", none of them judged") if cited.citations else ""
    found = Counter(judgement.verdict for judgement in cited.judgements)
    names = get_args(CitationVerdict)
    counts = _counted((said(_VERDICTS[name]), found[name]) for name in names)
    return together("", counts, between=": ")


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
        return {
            claim.id: said("Claim {number}", number=number)
            for number, claim in enumerate(claims, 1)
        }
    pairs = zip(claims, presentation.draft.statements, strict=True)
    return {
        claim.id: f"“{_line(shortened(of.words))}”"
        if of.words
        else said("Statement {number}", number=of.number)
        for claim, of in pairs
    }


def _correction(of: Correction, titles: Mapping[str, str], named: Mapping[str, str]) -> str:
    claim = named.get(of.claim_id, said("A claim"))
    reason = _line(of.reason)
    old, new = _named(of.old, titles), _named(of.new, titles)
    if of.kind == "REPLACE":
        return said(
            "{claim}: {old} replaced by {new}, because {reason}.",
            claim=claim,
            old=old,
            new=new,
            reason=reason,
        )
    if of.kind == "REMOVE":
        return said(
            "{claim}: {old} removed, because {reason}.", claim=claim, old=old, reason=reason
        )
    return said("{claim}: {new} added, because {reason}.", claim=claim, new=new, reason=reason)


def _named(citation: Citation | None, titles: Mapping[str, str]) -> str:
    """Return the mark as the draft wrote it, with the document where there is one."""
    if citation is None:
        return said("nothing")
    title = _line(titles.get(citation.doc_id, citation.doc_id))
    mark = _line(citation.raw)
    return " ".join(part for part in (mark, f"“{title}”" if title else "") if part) or said(
        "a citation"
    )


def _cut(lines: Sequence[str], *, correction: bool = False) -> list[str]:
    rest = len(lines) - _MOST
    if rest <= 0:
        return list(lines)
    more = (
        said_n("{n} more correction", "{n} more corrections", rest)
        if correction
        else said_n("{n} more line", "{n} more lines", rest)
    )
    return [*lines[:_MOST], more]


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    counted = [together(str(count), word) for word, count in pairs if count]
    return together(*counted, between=", ")


def _citations(number: int) -> str:
    return said_n("{n} citation", "{n} citations", number)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _line(text: str) -> str:
    return " ".join(visible(text).split())
