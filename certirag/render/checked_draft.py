"""A draft as it was checked: which of its words each claim stands for, and the count of it all.

Every state is the gate's own badge. A place is exact or there is none: a mark over words that
nobody read would say of them what was found of others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from certirag.claims.compile import is_remark
from certirag.core.claim import Claim
from certirag.core.policy import Policy
from certirag.core.said import ended, said, said_n, together
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.core.verdict import VerificationResult, is_score
from certirag.proof.certificate import AnswerRecord
from certirag.quantities.against import figure_against
from certirag.quantities.compare import describe
from certirag.render.abstain import (
    MAX_LINES,
    Grounds,
    disagreements,
    gaps,
    is_uncheckable,
)
from certirag.render.badge import Badge, badge_of
from certirag.render.closest import whole_span
from certirag.render.gate import Decision
from certirag.render.inert import shortened
from certirag.text.word_classes import ANAPHORS, CONJUNCTIONS, DETERMINERS, PERSONAL

PASTED: Final = "draft"  # the generator that a record of somebody else's answer names
_LEAST_FIRST: Final = ("contradicted", "unverified", "verified")
_WORD: Final = re.compile(r"\w+")
_GAP: Final = re.compile(r" (?=[.,;:!?])")  # what a citation left behind
_EMPHASIS: Final = str.maketrans("", "", "*_`~")
# Words that only join clauses or point at what a claim names: a claim is read without them.
_LINKING: Final = ANAPHORS | CONJUNCTIONS | DETERMINERS | PERSONAL | {"which", "who", "also"}


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """One claim of a draft: its *number* from 1, its *badge*, and ``draft[start:end]``, its *words*.

    *literal*: the words are the claim itself; else it was read from them. A claim without an exact
    place has none: *words* are "". *counted*: it states something that can be checked. *instead*
    is the one figure that the documents have against one of the claim's, *against* what they say.
    """

    number: int
    badge: Badge
    words: str
    start: int
    end: int
    literal: bool
    counted: bool
    instead: str
    against: str

    @property
    def remark(self) -> str:
        """What stands beside its words: what the document says, that it states nothing, or ""."""
        if not self.counted:
            return said("not a statement")
        return said("the document says {figure}", figure=self.instead) if self.instead else ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """``draft[start:end]``, drawn alike: *badge* is the least of the claims that stand there.

    None where nothing was checked. *literal*: it is each of these claims word for word; *ending*
    are the claims whose words end here.
    """

    start: int
    end: int
    badge: Badge | None
    literal: bool
    ending: tuple[DraftStatement, ...]


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """The draft's *text*, its claims in order, and what it lacks, one line each.

    *verified* of *total* statements: *total* counts those too that a cap left *unread*. *cited* are
    the places of its citations, which no claim says.
    """

    text: str
    statements: tuple[DraftStatement, ...]
    cited: tuple[tuple[int, int], ...]
    verified: int
    total: int
    unread: int
    lacks: tuple[str, ...]

    @property
    def headline(self) -> str:
        """Say the one count that a page shows of a draft."""
        if not self.total:
            return said("No statement was found that could be checked.")
        if self.total == 1:
            counted = said(
                "{verified} of 1 statement is verified against the documents.",
                verified=self.verified,
            )
        else:
            counted = said_n(
                "{n} of {total} statements is verified against the documents.",
                "{n} of {total} statements are verified against the documents.",
                self.verified,
                total=self.total,
            )
        if not self.unread:
            return counted
        return together(
            counted, said_n("{n} was not checked.", "{n} were not checked.", self.unread)
        )

    def stretches(self) -> Iterator[Stretch]:
        """Yield the whole text in order, cut wherever a claim begins or ends.

        Linear in the number of claims, whatever overlaps what.
        """
        begins, ends = defaultdict[int, list[DraftStatement]](list), defaultdict(list)
        for one in self.statements:
            if one.words:
                begins[one.start].append(one)
                ends[one.end].append(one)
        opens, shuts = (Counter(place[side] for place in self.cited) for side in (0, 1))
        there: Counter[tuple[Badge, bool]] = Counter()
        depth = 0
        for start, end in pairwise(sorted({0, len(self.text), *begins, *ends, *opens, *shuts})):
            there.subtract((one.badge, one.literal) for one in ends[start])
            there.update((one.badge, one.literal) for one in begins[start])
            depth += opens[start] - shuts[start]
            live = [seen for seen, count in there.items() if count > 0 and not depth]
            badges = sorted((badge for badge, _ in live), key=_least_first)
            literal = all(literal for _, literal in live)
            yield Stretch(start, end, badges[0] if badges else None, literal, tuple(ends[end]))


def checked_draft(
    record: AnswerRecord, decisions: Sequence[Decision], policy: Policy
) -> CheckedDraft | None:
    """Return the draft of *record*, one of *decisions* per claim; None where nobody pasted one."""
    claim_ir = record.claim_ir
    if claim_ir.generator != PASTED:
        return None
    claims, draft = claim_ir.claims, claim_ir.draft
    badges = [badge_of(decision) for decision in decisions]
    answered = [c for c, badge in zip(claims, badges, strict=True) if badge.kind == "verified"]
    unread = sum(not is_remark(line) for line in claim_ir.dropped)
    rest = len(claim_ir.dropped) - MAX_LINES
    grounds = Grounds.of(record, policy)
    cited = _cited(record)
    return CheckedDraft(
        text=draft,
        statements=tuple(_statements(claims, badges, draft, cited, grounds)),
        cited=cited,
        verified=len(answered),
        total=sum(not is_uncheckable(claim) for claim in claims) + unread,
        unread=unread,
        lacks=(
            *(ended(line) for line in disagreements(claims, grounds)),
            *gaps(answered, grounds),
            *(f"{line}." for line in claim_ir.dropped[:MAX_LINES]),
            *([said("And {rest} more like these.", rest=rest)] if rest > 0 else []),
        ),
    )


def _statements(
    claims: Sequence[Claim],
    badges: Sequence[Badge],
    draft: str,
    cited: Sequence[tuple[int, int]],
    grounds: Grounds,
) -> Iterator[DraftStatement]:
    """Yield what is said of each claim, with its place in *draft*."""
    places = _places(claims, draft, cited)
    results = {result.claim_id: result for result in grounds.results}
    chunks = {chunk.chunk_id: chunk for chunk in grounds.chunks}
    for number, (claim, badge, place) in enumerate(zip(claims, badges, places, strict=True), 1):
        start, end, literal = place
        result = None if badge.kind == "verified" else results.get(claim.id)
        against = [] if result is None else _opposing(result, chunks, grounds.policy)
        yield DraftStatement(
            number=number,
            badge=badge,
            words=draft[start:end],
            start=start,
            end=end,
            literal=literal,
            counted=not is_uncheckable(claim),
            instead=_figure_instead(claim, against),
            against=_quoted(*against[0]) if against else "",
        )


def _cited(record: AnswerRecord) -> tuple[tuple[int, int], ...]:
    """Return the places of the citations in the draft, each once."""
    citations = () if record.citations is None else record.citations.citations
    draft = record.claim_ir.draft
    return tuple(
        sorted({(c.start, c.end) for c in citations if c.raw and draft[c.start : c.end] == c.raw})
    )


def _places(
    claims: Sequence[Claim], draft: str, cited: Sequence[tuple[int, int]]
) -> list[tuple[int, int, bool]]:
    """Return (start, end, literal) of each claim, an empty place where it is not sure."""
    letters = list(draft)
    for start, end in cited:
        letters[start:end] = " " * (end - start)
    read = "".join(letters)
    found = []
    for claim, beside in zip(claims, _read_together(claims), strict=True):
        start, end = claim.draft_start, claim.draft_end
        # What is far longer than its claim holds other things, and would be long to compare.
        near = 0 <= start < end <= len(draft) and end - start <= 4 * len(claim.text) + 200
        words = read[start:end] if near else ""
        literal = near and plain_words(words) == plain_words(claim.text)
        sure = literal or (near and _is_read_from(claim, words, beside))
        found.append((start, end, literal) if sure else (0, 0, False))
    return found


def _read_together(claims: Sequence[Claim]) -> list[frozenset[str]]:
    """Return for each claim the words of all claims whose places run into one another with its."""
    order = sorted(range(len(claims)), key=lambda at: claims[at].draft_start)
    found: list[frozenset[str]] = [frozenset()] * len(claims)
    group: list[int] = []
    reach = 0
    for at in (*order, None):
        if group and (at is None or claims[at].draft_start >= reach):
            words = frozenset(word for one in group for word in _words(claims[one].text))
            for one in group:
                found[one] = words
            group, reach = [], 0
        if at is not None:
            group.append(at)
            reach = max(reach, claims[at].draft_end)
    return found


def _is_read_from(claim: Claim, words: str, read: frozenset[str]) -> bool:
    """Say whether *claim* is made of *words*, and nothing in them was left unread.

    A word that was supplied needs no place here; it is named in the record.
    """
    there = frozenset(_words(words))
    supplied = {word for text in claim.supplied for word in _words(text)}
    return there <= read | _LINKING and set(_words(claim.text)) <= there | supplied


def plain_words(text: str) -> str:
    """Return *text* as far as it says something: no emphasis, no first capital, no full stop."""
    said = _GAP.sub("", " ".join(text.translate(_EMPHASIS).split())).rstrip(".!")
    return said[:1].lower() + said[1:]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.translate(_EMPHASIS).casefold())


def _opposing(
    result: VerificationResult, chunks: Mapping[str, EvidenceChunk], policy: Policy
) -> list[tuple[EvidenceChunk, SentenceSpan]]:
    """Return what contradicts the claim of *result* under *policy*, the surest first.

    What does not resolve, or what a reader of the document cannot see, says nothing.
    """
    found = []
    for score in sorted(result.all_scores, key=lambda score: -(score.contradicted or 0.0)):
        chunk = chunks.get(score.chunk_id)
        span = None if chunk is None else whole_span(chunk, score.span_id)
        sure = is_score(score.contradicted) and (score.contradicted or 0.0) >= policy.tau_contradict
        if chunk is not None and span is not None and sure:
            found.append((chunk, span))
    return found


def _quoted(chunk: EvidenceChunk, span: SentenceSpan) -> str:
    title = chunk.source.title or chunk.doc_id
    return said(
        "“{title}” says: “{sentence}”", title=shortened(title), sentence=shortened(span.sentence)
    )


def _figure_instead(claim: Claim, against: Sequence[tuple[EvidenceChunk, SentenceSpan]]) -> str:
    """Return the figure that stands in place of the claim's, "" unless there is just one."""
    pairs = (figure_against(claim.text, span.sentence) for _, span in against)
    figures = {describe(pair[1]) for pair in pairs if pair is not None}
    return figures.pop() if len(figures) == 1 else ""


def _least_first(badge: Badge) -> int:
    return _LEAST_FIRST.index(badge.kind)
