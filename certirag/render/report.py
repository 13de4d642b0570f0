"""A presentation → a report to take away: headed blocks of lines, and sources with stable numbers.

Nothing here knows a file format. A line says of each of its pieces whether it is our own words, a
status of the gate, or text from outside; that text is visible and on one line already, and each
writer has to keep it inert in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from certirag.core.said import said, together
from certirag.render.draft_text import end_line, headline_of, is_broken_off
from certirag.render.inert import visible
from certirag.render.judgement_text import (
    DISAGREEMENT,
    LEFT_OUT,
    NEAREST,
    confidence_sentence,
    is_disagreement,
    lacks,
    nearest_passages,
)
from certirag.render.present import Chip, Presentation
from certirag.render.static import NOTICE

PieceKind = Literal["own", "code", "status", "outside"]
TITLE: Final = "CertiRAG report"
SOURCES: Final = "Sources"
NO_SOURCES: Final = "No claim here stands on a source."
_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
_ORDER: Final = {"verified": 0, "unverified": 1, "contradicted": 2}


@dataclass(frozen=True, slots=True)
class ReportPiece:
    """Words of one kind: *own* and *code* (what is typed) are ours, *status* is the gate's."""

    kind: PieceKind
    text: str


Line = tuple[ReportPiece, ...]


@dataclass(frozen=True, slots=True)
class ReportBlock:
    """Paragraphs under a heading of ours."""

    heading: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence that a claim with the badge stands on; *number* counts from 1.

    *quote* is the sentence as the record has it; *page* is None and *section* "" where there is none.
    """

    number: int
    title: str
    section: str
    page: int | None
    quote: str


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """An answer to be written in any format; *made* is the date that the record gives."""

    title: str
    blocks: tuple[ReportBlock, ...]
    made: str


def sources_of(presentation: Presentation) -> tuple[Source, ...]:
    """Return what the claims with the badge stand on, each sentence once, in the claims' order.

    The same in every mode: what has no badge stands on nothing.
    """
    found: dict[tuple[str, ...], Source] = {}
    for chip in sorted(presentation.shown, key=lambda chip: _ORDER[chip.badge.kind]):
        for key, source in _stands_on(chip):
            found.setdefault(
                key, Source(len(found) + 1, source.title, source.section, source.page, source.quote)
            )
    return tuple(found.values())


def cited_by(chip: Chip, sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return those of *sources* that *chip* stands on, as they are read; () without the badge."""
    known = {_identity(source): source for source in sources}
    keys = dict.fromkeys(key for key, _ in _stands_on(chip))
    return tuple(known[key] for key in keys if key in known)


def place_of_source(source: Source) -> str:
    """Return page and section in words, "" when there is neither: the section is from outside."""
    page = "" if source.page is None else said("page {page}", page=source.page)
    return together(*(part for part in (page, source.section) if part), between=", ")


def file_name(presentation: Presentation, suffix: str) -> str:
    """Return the name of a file made of an answer: constants and the id, if it is one of ours."""
    trace_id = presentation.record.trace_id
    return f"certirag-{trace_id if _TRACE_ID.fullmatch(trace_id) else 'answer'}.{suffix}"


def report_of(presentation: Presentation) -> AnswerReport:
    """Return all that a reader of this mode sees of the answer, and how to check it."""
    blocks = (
        _question(presentation),
        _decision(presentation),
        _claims(presentation),
        _folded(presentation),
        _disagreement(presentation),
        _missing(presentation),
        _nearest(presentation),
        _dropped(presentation),
        _sources(presentation),
        _about(presentation),
        _check(presentation),
    )
    return AnswerReport(TITLE, _kept(blocks), presentation.record.created_at)


def footnotes_of(presentation: Presentation) -> AnswerReport:
    """Return the answer alone: what has the badge, what is missing, the sources."""
    sources = sources_of(presentation)
    supported = [chip for chip in presentation.shown if chip.badge.kind == "verified"]
    said = tuple(_said(chip, sources) for chip in supported)
    blocks = (
        ReportBlock("", ((_own(headline_of(presentation)),), *said)),
        _disagreement(presentation),
        _missing(presentation),
        _sources(presentation),
        ReportBlock("", (_made(presentation), _policy(presentation), _certificate(presentation))),
    )
    return AnswerReport(TITLE, _kept(blocks), presentation.record.created_at)


def _kept(blocks: Iterable[ReportBlock]) -> tuple[ReportBlock, ...]:
    return tuple(block for block in blocks if block.lines)


def _own(text: str) -> ReportPiece:
    return ReportPiece("own", text)


def _outside(text: str) -> ReportPiece:
    """Return text from outside on one line, what cannot be seen or imitates a status marked.

    On one line first: the end of a line may part what reads as a status then.
    """
    line = visible(text.replace("\n", " ").replace("\t", " "))
    return ReportPiece("outside", " ".join(line.split()) or "(empty)")


def _stands_on(chip: Chip) -> list[tuple[tuple[str, ...], Source]]:
    if chip.badge.kind != "verified":
        return []
    found = []
    for view in chip.evidence:
        if view.attached:
            of = view.chunk.source
            title = of.title or view.chunk.doc_id
            source = Source(0, title, of.section, of.page, view.span.sentence)
            found.append((_identity(source), source))
    return found


def _identity(source: Source) -> tuple[str, ...]:
    """Return what makes a source one: all that a reader is told of it."""
    return (source.title, source.section, str(source.page), source.quote)


def _question(presentation: Presentation) -> ReportBlock:
    asked = presentation.question
    return ReportBlock("Question", ((_outside(asked),),) if asked.strip() else ())


def _decision(presentation: Presentation) -> ReportBlock:
    summary = presentation.summary
    lines: list[Line] = [(_own(headline_of(presentation)),)]
    # Without a claim nothing was measured, so nothing is said of the evidence.
    unmeasured = is_broken_off(presentation) and not presentation.record.claim_ir.claims
    if summary.reason and not unmeasured and not is_disagreement(presentation):
        lines.append((_own(summary.reason),))
    ended = end_line(presentation)
    if ended:
        lines.append((_outside(ended),))
    confidence = f"Confidence: {summary.confidence.replace('_', ' ')}."
    lines.append((_own(f"{confidence} {confidence_sentence(summary.basis)}".strip()),))
    if presentation.probe is not None:
        lines.append((_own("Planted errors: "), _outside(presentation.probe.sentence)))
    return ReportBlock("What came of it", tuple(lines))


def _claims(presentation: Presentation) -> ReportBlock:
    return ReportBlock("Claims", tuple(_claim_lines(presentation.shown, presentation)))


def _folded(presentation: Presentation) -> ReportBlock:
    lines: list[Line] = []
    if presentation.folded:
        lines.append((_own("Too little evidence: each may be right or wrong."),))
        lines += _claim_lines(presentation.folded, presentation)
    if presentation.hidden:
        more = f"{presentation.hidden:d} contradicted by the documents, shown in Debug mode only."
        lines.append((_own(more),))
    return ReportBlock("What we could not verify", tuple(lines))


def _claim_lines(chips: Sequence[Chip], presentation: Presentation) -> Iterable[Line]:
    sources = sources_of(presentation)
    numbers = {id(claim): n for n, claim in enumerate(presentation.record.claim_ir.claims, 1)}
    for chip in chips:
        yield (_own(f"Claim {numbers[id(chip.claim)]:d}: "), ReportPiece("status", chip.badge.word))
        yield _said(chip, sources)
        if chip.badge.kind != "verified":
            yield (_own("Why: "), _outside(chip.why.sentence))


def _said(chip: Chip, sources: Sequence[Source]) -> Line:
    marks = "".join(f" [{source.number:d}]" for source in cited_by(chip, sources))
    return (_outside(chip.text), *((_own(marks),) if marks else ()))


def _disagreement(presentation: Presentation) -> ReportBlock:
    lines = []
    for conflict in presentation.conflicts:
        for at, side in enumerate(conflict.sides):
            newer = (_own(" (newer, by its title)"),) if at == conflict.newest else ()
            lines.append((*_quoted(side.quote, side.title, side.page, side.section), *newer))
    return ReportBlock(DISAGREEMENT, tuple(lines))


def _missing(presentation: Presentation) -> ReportBlock:
    lines = () if is_disagreement(presentation) else presentation.missing
    return ReportBlock(LEFT_OUT, tuple((_outside(line),) for line in lines))


def _nearest(presentation: Presentation) -> ReportBlock:
    lines: list[Line] = []
    for one in nearest_passages(presentation):
        lines.append(_quoted(one.quote, one.title, one.page, one.section))
        lines.append((_own("Not enough: "), _outside(lacks(one))))
    return ReportBlock(NEAREST, tuple(lines))


def _dropped(presentation: Presentation) -> ReportBlock:
    lines = presentation.record.claim_ir.dropped
    return ReportBlock("Left out of the draft", tuple((_outside(line),) for line in lines))


def _sources(presentation: Presentation) -> ReportBlock:
    lines = tuple(
        (_own(f"[{s.number:d}] "), *_quoted(s.quote, s.title, s.page, s.section))
        for s in sources_of(presentation)
    )
    return ReportBlock(SOURCES, lines or ((_own(NO_SOURCES),),))


def _about(presentation: Presentation) -> ReportBlock:
    lines = (
        _made(presentation),
        _policy(presentation),
        (_own(f"Display: {presentation.mode.value.capitalize()}"),),
        _certificate(presentation),
        (_own(NOTICE),),
    )
    return ReportBlock("About this answer", lines)


def _made(presentation: Presentation) -> Line:
    made = presentation.record.created_at.replace("T", " ").replace("+00:00", " UTC")
    return (_own("Date: "), _outside(made))


def _policy(presentation: Presentation) -> Line:
    return (_own("Policy: "), _outside(presentation.policy.name))


def _certificate(presentation: Presentation) -> Line:
    return (_own("Certificate: "), _outside(presentation.record.trace_id))


def _check(presentation: Presentation) -> ReportBlock:
    audit = file_name(presentation, "json")
    lines: tuple[Line, ...] = (
        (_own("This is a copy for reading and proves nothing by itself. The certificate does."),),
        (
            _own("Take the audit JSON that stands beside the answer, "),
            ReportPiece("code", audit),
            _own(", and the public key of whoever runs CertiRAG, "),
            ReportPiece("code", "signing.pub"),
            _own(". Without a network, this derives every status again:"),
        ),
        (ReportPiece("code", f"python certirag/checker.py {audit} --public-key signing.pub"),),
        (
            _own("The page "),
            ReportPiece("code", "assets/checker.html"),
            _own(" does the same in a browser."),
        ),
    )
    return ReportBlock("How to check it", lines)


def _quoted(quote: str, title: str, page: int | None, section: str) -> Line:
    where = "" if page is None else f", page {page:d}"
    under = (_own(f"{where}, "), _outside(section)) if section else (_own(where),)
    return (_own("“"), _outside(quote), _own("” — "), _outside(title), *under)
