"""Prose on request: a paragraph from certified claims alone, to be split and checked again.

CertiRAG seed §5.1.5. The paragraph is a draft like any other: whoever asked for it splits it,
has each claim verified and certified anew, and shows `surviving_prose`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.claims.self_contained import pointing_words
from certirag.core.claim import ClaimIR
from certirag.core.generation import PromptText
from certirag.drafting.draft_steps import MAX_ITEM_CHARACTERS, plain_line, plain_text
from certirag.drafting.model_answer import delimited, unmarked, whole_answer
from certirag.ports import LanguageModel, Prompt, SentenceSplitter
from certirag.text.layout import read_lines

MAX_PROSE_CHARACTERS: Final = 8_000
_MAX_TOKENS: Final = 1_024


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """One sentence of a paragraph as it may be shown, and its place in the paragraph."""

    text: str
    start: int
    end: int


def prose(claims: Sequence[str], model: LanguageModel, prompt: PromptText, nonce: str) -> str:
    """Return a paragraph that *model* wrote from the texts *claims*, and from nothing else.

    The prompt holds neither question nor evidence. No claims make no request and an empty text.
    Raises LanguageModelError when there is no usable answer, or one that is too long to be one.
    """
    lines = [plain_line(claim) for claim in claims if len(claim) <= MAX_ITEM_CHARACTERS]
    lines = [line for line in lines if line]
    if not lines:
        return ""
    content = delimited("statements", "\n".join(f"- {line}" for line in lines), nonce)
    request = Prompt(prompt.instructions(nonce), content, max_tokens=_MAX_TOKENS)
    return plain_text(
        whole_answer(unmarked(model.stream(request), nonce), limit=MAX_PROSE_CHARACTERS)
    ).strip()


def prose_sentences(draft: str, split: SentenceSplitter) -> tuple[ProseSentence, ...]:
    """Return the sentences of *draft* in order, read as the claims are read off them.

    Marks that the split into claims passes over, such as "(source: …)", are no part of a
    sentence: what is not checked is not shown either.
    """
    found: list[ProseSentence] = []
    for line in read_lines(draft):
        if line.text:
            for start, end in split(line.text):
                found.append(ProseSentence(line.text[start:end], *line.span(start, end)))
    return tuple(found)


def sentence_flags(
    sentences: Sequence[ProseSentence], claim_ir: ClaimIR, certified: Collection[str]
) -> tuple[bool, ...]:
    """Say of each sentence whether it makes claims and all their ids are among *certified*.

    *claim_ir* is the paragraph's own (`claims_from_draft` of it, verified and certified anew). A
    sentence without a claim has not been checked, nor has any where a cap dropped a claim.
    """
    flags: list[bool] = []
    for sentence in sentences:
        own = [
            claim
            for claim in claim_ir.claims
            if claim.draft_start < sentence.end and sentence.start < claim.draft_end
        ]
        checked = bool(own) and not claim_ir.dropped
        flags.append(checked and all(claim.id in certified for claim in own))
    return tuple(flags)


def surviving_prose(sentences: Sequence[ProseSentence], flags: Sequence[bool]) -> str:
    """Return the sentences whose flag is True, without those that lost their footing.

    A sentence that points back ("It also …") goes with the one before it: alone it would speak
    of something else. Lists of different lengths keep nothing.
    """
    if len(sentences) != len(flags):
        return ""
    kept: list[str] = []
    stands = False  # the sentence before is there
    for sentence, flag in zip(sentences, flags, strict=True):
        stands = flag is True and (stands or not pointing_words(sentence.text))
        if stands:
            kept.append(sentence.text)
    return " ".join(kept)
