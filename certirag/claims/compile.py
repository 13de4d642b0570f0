"""From an answer somebody wrote to the claims it makes (CertiRAG seed §5.2 C and D)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Final

from certirag.claims.lists import lead_stem, list_item
from certirag.claims.self_contained import resolve
from certirag.claims.statement import (
    MAX_CLAIM_TOKENS,
    Statement,
    capped,
    moved,
    statement_claims,
)
from certirag.claims.well_formed import problems
from certirag.core.claim import Claim, ClaimIR
from certirag.ports import SentenceSplitter
from certirag.text.layout import Line, read_lines
from certirag.text.tokens import clause_verb, tokenize

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
