"""One sentence with its place in a source, and the claims that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claims.classify import claim_type, hedges, plain_fields, risk_class
from certirag.claims.split import ClaimPiece, split_claims
from certirag.claims.well_formed import problems
from certirag.core.claim import Claim, ClaimIR
from certirag.quantities.find import find_quantities

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
