"""From an answer somebody wrote to the claims it makes (CertiRAG seed §5.2 C and D).

A statement is one sentence with its place in a source, and the claims that it makes.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claims.classify import claim_type, hedges, plain_fields, risk_class
from certirag.claims.lists_and_rows import lead_stem, list_item
from certirag.claims.self_contained import resolve
from certirag.claims.split import ClaimPiece, split_claims
from certirag.claims.well_formed import problems
from certirag.core.claim import Claim, ClaimIR
from certirag.ports import SentenceSplitter
from certirag.quantities.find import find_quantities
from certirag.text.layout import Line, read_lines
from certirag.text.tokens import clause_verb, tokenize

MAX_CLAIM_TOKENS: Final = 60
# Sentences that state nothing are kept so that a reader sees what became of them, up to this.
MAX_UNCHECKABLE: Final = 40
_REMARK: Final = "was left out: it states nothing that can be checked"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence to be split, at ``source[start:end]``.

    *places* holds for each character of *text* where it stands in the source, -1 for one that
    was supplied; *given* lists the words supplied.
    """

    text: str
    start: int
    end: int
    places: tuple[int, ...]
    given: tuple[str, ...] = ()


def moved(old: str, new: str, places: Sequence[int]) -> tuple[int, ...]:
    """Return the places of *new*, which is *old* with one stretch replaced.

    What was supplied has no place (-1), but its first character has that of the word it
    stands for.
    """
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    gap = [-1] * (len(new) - head - tail)
    if gap and head < len(places):
        gap[0] = places[head]
    return (*places[:head], *gap, *places[len(old) - tail :])


def statement_claims(statement: Statement, *, quoted: bool = False) -> tuple[Claim, ...]:
    """Return the claims of one sentence in order, without ids; one alone if it is *quoted*."""
    if quoted:
        text = statement.text.strip()
        return (make_claim(text, statement.start, statement.end, statement.given, quoted=True),)
    return tuple(_piece_claim(piece, statement) for piece in split_claims(statement.text))


def _piece_claim(piece: ClaimPiece, statement: Statement) -> Claim:
    places = [place for place in statement.places[piece.start : piece.end] if place >= 0]
    # a piece of supplied words alone has the whole sentence as its place
    start = min(places) if places else statement.start
    end = max(places) + 1 if places else statement.end
    given = tuple(word for word in statement.given if word in piece.text)
    return make_claim(piece.text, start, end, (*given, *piece.supplied))


def make_claim(
    text: str, start: int, end: int, supplied: Sequence[str], *, quoted: bool = False
) -> Claim:
    """Return *text* as a claim without an id, with everything that can be read off it.

    *quoted*: it stands so in a document, and may state several facts.
    """
    quantities = find_quantities(text)
    kind = claim_type(text, quantities)
    return Claim(
        id="",
        text=text,
        type=kind,
        risk_class=risk_class(text, kind),
        fields=plain_fields(text, quantities),
        draft_start=start,
        draft_end=end,
        hedges=hedges(text),
        supplied=tuple(word for word in supplied if word),
        quantities=quantities,
        problems=problems(text, max_tokens=MAX_CLAIM_TOKENS, quoted=quoted),
    )


def capped(
    question: str, claims: Sequence[Claim], *, generator: str, draft: str, max_claims: int
) -> ClaimIR:
    """Number *claims* and apply the caps, saying what each of them left out."""
    kept: list[Claim] = []
    dropped: list[str] = []
    checkable = 0
    for claim in claims:
        unfit = is_uncheckable(claim)
        limit = MAX_UNCHECKABLE if unfit else max_claims
        count = len(kept) - checkable if unfit else checkable
        if count >= limit:
            text = claim.text if len(claim.text) <= 60 else claim.text[:60] + "…"
            checked = "statement is" if limit == 1 else f"{limit} statements are"
            what = _REMARK if unfit else f"was not checked: only the first {checked}"
            dropped.append(f"“{text}” {what}")
            continue
        checkable += not unfit
        kept.append(replace(claim, id=f"c{len(kept) + 1}"))
    return ClaimIR(question, tuple(kept), generator=generator, draft=draft, dropped=tuple(dropped))


def is_remark(dropped: str) -> bool:
    """Say whether the *dropped* line of `capped` is of what states nothing."""
    return dropped.endswith(_REMARK)


def is_uncheckable(claim: Claim) -> bool:
    """Say whether *claim* states nothing that could be checked."""
    return any(problem.startswith("not_checkable:") for problem in claim.problems)


_OPENERS: Final = re.compile(
    r"(?:yes|no|sure|so|also|additionally|furthermore|moreover|however|therefore|in addition|"
    r"in short|in summary|overall|note that|please note that|finally|first of all|to summarise|"
    r"to summarize|importantly)(?:,|(?<=that))\s+(?=\S)",
    re.IGNORECASE,
)


def claims_from_draft(
    question: str,
    draft: str,
    split: SentenceSplitter,
    *,
    max_claims: int,
    sentences: Container[str] = (),
) -> ClaimIR:
    """Return the claims of *draft* in order, c1, c2, …; an empty draft has none.

    *split* cuts one paragraph into sentences. At most *max_claims* checkable claims are kept;
    ``dropped`` names each one that the cap left out. ``draft[draft_start:draft_end]`` is the
    clause a claim comes from. What is word for word one of the documents' *sentences* is one
    claim, whatever it states: a quotation (docs/adr/0019-quotations-are-kept-whole.md).
    """
    claims: list[Claim] = []
    for statement in _statements(draft, split):
        claims.extend(statement_claims(statement, quoted=statement.text.strip() in sentences))
    return capped(question, claims, generator="draft", draft=draft, max_claims=max_claims)


def _statements(draft: str, split: SentenceSplitter) -> Iterator[Statement]:
    """Yield the sentences of *draft*, pronouns resolved and list items joined to their lead."""
    lead = ""
    before = ""
    for line in read_lines(draft):
        if line.kind == "blank":
            before = ""
            continue
        if line.kind == "bullet":
            for statement in _bullet(line, lead, before, split):
                before = statement.text
                yield statement
            continue
        lead = before = ""
        for statement in _sentences(line, split, before):
            before = statement.text
            lead = statement.text if statement.text.rstrip().endswith(":") else ""
            if not _is_joined_lead(lead):
                yield statement


def _is_joined_lead(lead: str) -> bool:
    """Say whether *lead* is the first half of its list items and no statement of its own."""
    stem = lead_stem(lead)
    return bool(stem) and problems(lead, max_tokens=MAX_CLAIM_TOKENS)[:1] == (
        "not_checkable: it introduces what follows",
    )


def _bullet(line: Line, lead: str, before: str, split: SentenceSplitter) -> Iterator[Statement]:
    """Yield a list item: joined with its lead-in where it is no sentence by itself."""
    stem = lead_stem(lead)
    alone = line.text[:1].isupper() and clause_verb(tokenize(line.text)) > 0
    if not stem or alone:
        yield from _sentences(line, split, before)
        return
    item = list_item(line.text)
    start, end = line.span(0, len(line.text))
    places = (*(-1 for _ in range(len(stem) + 1)), *line.places[: len(item)], -1)
    yield Statement(f"{stem} {item}.", start, end, places=places, given=(stem,))


def _sentences(line: Line, split: SentenceSplitter, before: str) -> Iterator[Statement]:
    for start, end in split(line.text):
        text = line.text[start:end]
        if not text.strip():
            continue
        first, last = line.span(start, end)
        places = line.places[start:end]
        opener = _OPENERS.match(text)
        if opener and opener.end() < len(text) - 8:
            places = places[opener.end() :]
            text = text[opener.end() :]
            if text[:1].islower() and text.split()[0].islower():
                text = text[:1].upper() + text[1:]
        resolved = resolve(text, before)
        if resolved.words:
            statement = Statement(
                resolved.text, first, last, moved(text, resolved.text, places), (resolved.words,)
            )
        else:
            statement = Statement(text, first, last, places)
        before = statement.text
        yield statement
