"""Strict quotes: every sentence with its exact quote and source, or no answer (second seed)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from certirag.claims.compile import claims_from_draft
from certirag.core.citation import Citation
from certirag.core.generation import PromptText
from certirag.drafting.draft_steps import (
    DraftStep,
    plain_line,
    unseen_characters,
    usable,
)
from certirag.drafting.extractive import QuotableSentence
from certirag.drafting.grounded import (
    MAX_ANSWER_CHARACTERS,
    QuotedSentence,
    passages,
    read_grounded,
    without_quotation_marks,
)
from certirag.drafting.model_answer import delimited, unmarked, whole_answer
from certirag.ports import LanguageModel, Prompt, SentenceSplitter

_MAX_TOKENS: Final = 2_048
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,55}")


def quoted(
    question: str,
    ranked: Sequence[QuotableSentence],
    model: LanguageModel,
    prompt: PromptText,
    nonce: str,
    split: SentenceSplitter,
    *,
    max_claims: int,
) -> Iterator[DraftStep]:
    """Yield a step per sentence of an answer that quotes its sources exactly throughout.

    Nothing is yielded before the whole answer was read. Each claim's ``evidence_candidates`` is
    what its sentence quotes. "Insufficient information" yields one step that abstained.

    Raises GroundingError, with the first offender, when any sentence breaks the rules: nothing
    of the answer is then to be shown; and LanguageModelError when there is no usable answer.
    """
    candidates, unshown = usable(ranked, distinct=False)
    if unshown:
        yield DraftStep(dropped=unshown)
    if not candidates:
        yield DraftStep(abstained=True)
        return
    named = named_sources(candidates)
    request = Prompt(
        prompt.instructions(nonce), _content(question, named, nonce), max_tokens=_MAX_TOKENS
    )
    answer = whole_answer(unmarked(model.stream(request), nonce), limit=MAX_ANSWER_CHARACTERS)
    sources = {name: passages(shown) for name, shown in named.items()}
    sentences = read_grounded(answer, sources, split)
    if not sentences:
        yield DraftStep(abstained=True)
        return
    documents = {name: shown[0].chunk.doc_id for name, shown in named.items()}
    yield from _steps(sentences, documents, split, max_claims=max_claims)


def named_sources(candidates: Sequence[QuotableSentence]) -> dict[str, list[QuotableSentence]]:
    """Return the candidates of each document in document order, under the name to cite.

    The name is the document's identifier, or doc_1, doc_2, … where one could be misread.
    """
    grouped: dict[str, list[QuotableSentence]] = {}
    for candidate in candidates:
        grouped.setdefault(candidate.chunk.doc_id, []).append(candidate)
    plain = all(_NAME.fullmatch(doc_id) for doc_id in grouped)
    return {
        doc_id if plain else f"doc_{number}": sorted(
            group, key=lambda c: (c.chunk.source.start, c.chunk.chunk_id, c.span.start)
        )
        for number, (doc_id, group) in enumerate(grouped.items(), 1)
    }


def _content(question: str, named: Mapping[str, Sequence[QuotableSentence]], nonce: str) -> str:
    blocks = []
    for name, shown in named.items():
        text = "\n".join(plain_line(candidate.span.sentence) for candidate in shown)
        blocks.append(delimited(f"source {name}", text, nonce))
    blocks += [delimited("question", plain_line(question), nonce), "Your answer:"]
    return "\n\n".join(blocks)


def _steps(
    sentences: Sequence[QuotedSentence],
    documents: Mapping[str, str],
    split: SentenceSplitter,
    *,
    max_claims: int,
) -> Iterator[DraftStep]:
    """Yield each sentence with its claims; pronouns are resolved as in any draft."""
    texts, starts, length = [], [], 0
    for number, sentence in enumerate(sentences):
        gap = "" if not number else "\n\n" if sentence.new_line else " "
        text = gap + plain_line(sentence.text)
        starts.append(length + len(gap))
        texts.append(text)
        length += len(text)
    read = claims_from_draft("", "".join(texts), split, max_claims=max_claims)
    dropped = list(read.dropped)
    if unseen := sum(unseen_characters(sentence.text) for sentence in sentences):
        dropped.append(f"{unseen} characters that cannot be seen were left out of the answer")
    if dropped:
        yield DraftStep(dropped=tuple(dropped))
    claims = [(bisect_right(starts, claim.draft_start) - 1, claim) for claim in read.claims]
    for number, sentence in enumerate(sentences):
        evidence = tuple(dict.fromkeys(ref for q in sentence.quotations for ref in q.evidence))
        own = tuple(
            replace(claim, evidence_candidates=evidence) for at, claim in claims if at == number
        )
        citations = tuple(
            Citation(
                claim.id,
                documents[q.source],
                raw=f"[[{q.source}]]",
                quote=without_quotation_marks(q.quote),
                spans=q.evidence,
            )
            for claim in own
            for q in sentence.quotations
        )
        yield DraftStep(texts[number], own, citations)
