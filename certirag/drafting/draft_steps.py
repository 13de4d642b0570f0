"""What a language model wrote, step by step: text of the draft, its claims, what was left out.

A generator yields a `DraftStep` as soon as there is one, so that its claims can be checked and
recorded while the model writes on. Whatever a model writes, nothing but a draft comes of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.claims.compile import MAX_UNCHECKABLE, claims_from_draft, is_uncheckable
from certirag.claims.split import MAX_PIECES
from certirag.core.citation import Citation
from certirag.core.claim import Claim, ClaimIR
from certirag.core.text import SpanRef
from certirag.drafting.extractive import QuotableSentence
from certirag.ports import SentenceSplitter

# An item longer than this is no claim: it is left out and named, and never split.
MAX_ITEM_CHARACTERS: Final = 4_000
# Evidence longer than this is no sentence; nothing of it is sent to a model.
MAX_EVIDENCE_CHARACTERS: Final = 4_000
# No request holds more sentences of evidence than this.
MAX_EVIDENCE: Final = 120
# Items parted by a blank line stay apart when the draft is split again as a whole.
SEPARATOR: Final = "\n\n"
_EXCERPT: Final = 60
_MAX_CITATIONS: Final = 20  # of one item; a claim that leans on more leans on nothing
_BREAKS: Final = frozenset({"Cc", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class DraftStep:
    """What one step adds: *text* to the end of the draft, and the *claims* that stand in it.

    A claim's ``draft_start`` and ``draft_end`` count from the beginning of the whole draft.
    *citations* are what the model cited, before anybody looked whether it bears the claims out:
    no ``doc_id`` where it names a source that it was not given, which is a HALLUCINATED one. The
    marks are no part of the draft, so they have no place in it (``start == end``).
    *dropped* says, one line each, what was left out. *abstained* says that the model found no
    answer in the evidence.
    """

    text: str = ""
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    dropped: tuple[str, ...] = ()
    abstained: bool = False


def claim_ir_of(question: str, steps: Iterable[DraftStep], *, generator: str) -> ClaimIR:
    """Return the claims of *steps*, all that came or all that came before an error."""
    taken = tuple(steps)
    return ClaimIR(
        question,
        tuple(claim for step in taken for claim in step.claims),
        generator=generator,
        draft="".join(step.text for step in taken),
        dropped=tuple(line for step in taken for line in step.dropped),
    )


class OpenDraft:
    """A draft that grows: where its next item goes, and how many claims may still come."""

    def __init__(self, split: SentenceSplitter, *, max_claims: int) -> None:
        self._split, self._max_claims = split, max_claims
        self._length = self._claims = self._checkable = self._items = 0
        self._said: set[str] = set()

    @property
    def is_full(self) -> bool:
        """True when no checkable claim can be added."""
        return self._checkable >= self._max_claims

    def add(
        self,
        written: str,
        *,
        cited: Sequence[Citation] = (),
        evidence: tuple[SpanRef, ...] = (),
        refuse: Callable[[Claim], str] = lambda _claim: "",
    ) -> DraftStep:
        """Return the step that the item *written* makes: split and normalised like any draft.

        Each of its claims points at *evidence*, and repeats the citations *cited*, whose
        ``claim_id`` is set. *refuse* says why a claim is left out, or "".
        """
        self._items += 1
        name = f"item {self._items}"
        if len(written) > MAX_ITEM_CHARACTERS:
            size = f"{len(written)} characters, the limit is {MAX_ITEM_CHARACTERS}"
            return DraftStep(dropped=(f"{name} dropped: {size}",))
        line = plain_line(written)
        if not line:
            return DraftStep(dropped=(f"{name} dropped: it holds no text",))
        offset = self._length + (len(SEPARATOR) if self._length else 0)
        read = claims_from_draft("", line, self._split, max_claims=MAX_PIECES)
        claims, dropped = [], list(read.dropped)
        for claim in read.claims:
            reason = self._refusal(claim) or refuse(claim)
            if reason:
                dropped.append(f"{name} dropped: {reason}: '{excerpt(claim.text)}'")
                continue
            claims.append(self._taken(claim, offset, evidence))
        if unseen := unseen_characters(written):
            dropped.append(f"{name}: {unseen} characters that cannot be seen were left out")
        if not claims:
            return DraftStep(dropped=tuple(dropped))
        text = (SEPARATOR if self._length else "") + line
        self._length += len(text)
        citations = tuple(
            replace(citation, claim_id=claim.id)
            for claim in claims
            for citation in cited[:_MAX_CITATIONS]
        )
        if len(cited) > _MAX_CITATIONS:
            dropped.append(f"{name}: citations after the first {_MAX_CITATIONS} were left out")
        return DraftStep(text, tuple(claims), citations, tuple(dropped))

    def _refusal(self, claim: Claim) -> str:
        if claim.text.casefold() in self._said:
            return "it was said before"
        unfit = is_uncheckable(claim)
        count = self._claims - self._checkable if unfit else self._checkable
        limit = MAX_UNCHECKABLE if unfit else self._max_claims
        return f"the cap of {limit}" if count >= limit else ""

    def _taken(self, claim: Claim, offset: int, evidence: tuple[SpanRef, ...]) -> Claim:
        self._said.add(claim.text.casefold())
        self._claims += 1
        self._checkable += not is_uncheckable(claim)
        return replace(
            claim,
            id=f"c{self._claims}",
            draft_start=claim.draft_start + offset,
            draft_end=claim.draft_end + offset,
            evidence_candidates=evidence,
        )


def usable(
    candidates: Sequence[QuotableSentence], *, distinct: bool
) -> tuple[tuple[QuotableSentence, ...], tuple[str, ...]]:
    """Return the candidates that a model may be shown, in order, and why others are not.

    What a reader of the document cannot see, a span that is not the text at its place and, where
    *distinct*, a sentence seen before are passed over in silence. At most MAX_EVIDENCE are kept.
    """
    kept: list[QuotableSentence] = []
    dropped: list[str] = []
    seen: set[str] = set()
    for candidate in candidates:
        chunk, span = candidate.chunk, candidate.span
        line = plain_line(span.sentence)
        exact = chunk.text[span.start : span.end] == span.sentence
        if not span.visible or not exact or not line or (distinct and line in seen):
            continue
        seen.add(line)
        if len(span.sentence) > MAX_EVIDENCE_CHARACTERS:
            size = f"{len(span.sentence)} characters, the limit is {MAX_EVIDENCE_CHARACTERS}"
            dropped.append(f"{chunk.chunk_id} {span.span_id} not shown to the model: {size}")
            continue
        kept.append(candidate)
    if len(kept) > MAX_EVIDENCE:
        rest = len(kept) - MAX_EVIDENCE
        dropped.append(f"{rest} sentences not shown to the model: the cap of {MAX_EVIDENCE}")
    return tuple(kept[:MAX_EVIDENCE]), tuple(dropped)


def reference(candidate: QuotableSentence) -> SpanRef:
    """Return the pointer to the candidate's span."""
    return SpanRef(candidate.chunk.chunk_id, candidate.span.span_id)


def plain_text(text: str) -> str:
    """Return *text* without characters that cannot be seen or that reorder it; lines are kept.

    Controls become blanks, format characters (bidi, zero width, tags) go, half a surrogate pair
    becomes U+FFFD: what is checked, recorded and shown is then one and the same.
    """
    return "\n".join(_plain(line) for line in text.split("\n"))


def plain_line(text: str) -> str:
    """Return `plain_text` of *text* on one line, its blanks single."""
    return " ".join(_plain(text).split())


def unseen_characters(text: str) -> int:
    """Count the characters of *text* that `plain_text` takes away or replaces."""
    blanks = "\n\t\r\v\f\x1c\x1d\x1e\x1f\x85"
    kinds = {*_BREAKS, "Cf", "Cs"}
    return sum(unicodedata.category(c) in kinds for c in text if c not in blanks)


def excerpt(text: str) -> str:
    """Return the beginning of *text* on one line, for a message."""
    line = plain_line(text[: 4 * _EXCERPT])
    return line if len(line) <= _EXCERPT else line[:_EXCERPT] + "…"


def _plain(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_plain_character, text))


def _plain_character(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in _BREAKS:
        return " "
    if kind == "Cs":
        return "\ufffd"
    return "" if kind == "Cf" else character
