"""A question and its evidence → a draft, step by step: extractive, or by a language model.

Preselection chooses what may be written from; nothing chosen or left out here touches what is
later verified, for every claim searches the whole corpus again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Final, cast

from certirag.answers.services import AnswerWriter, Instruments
from certirag.core.claim import ClaimIR
from certirag.core.generation import PromptIdentity, Strategy
from certirag.drafting.cited import generate_then_cite
from certirag.drafting.draft_steps import DraftStep
from certirag.drafting.extractive import RELATED, QuotableSentence, claims_from_evidence
from certirag.drafting.interleaved import interleaved
from certirag.drafting.quoted import quoted
from certirag.ports import Reader
from certirag.retrieve.hybrid import RetrievalOutcome
from certirag.retrieve.preselect import Preselection, PreselectionRules, every_span, preselect
from certirag.retrieve.preselect import Strategy as Relevance
from certirag.retrieve.relevance import answers_in
from certirag.text.question import part_of
from certirag.verification.candidates import Candidate as Scored
from certirag.verification.judge import judge_pairs
from certirag.verification.sufficient import pair_with

PROMPT_OF: Final[dict[Strategy, str]] = {
    "interleaved": "interleaved",
    "generate-then-cite": "cited",
    "strict-quote": "quoted",
    "prose": "prose",
}
# A model is shown so many sentences: the best, and at least a few where none is on the topic.
_MOST_READ: Final = 24
_FEWEST: Final = 3
# Requests that reference-first writing may make for each claim that it is to bring.
TRIES_PER_CLAIM: Final = 3


def preselected(question: str, found: RetrievalOutcome, instruments: Instruments) -> Preselection:
    """Return the spans that an answer may be written from, best first (fifth seed, Stage 1)."""
    settings = instruments.settings
    if not settings.enable_evidence_preselection:
        return every_span(found.chunks)
    rules = PreselectionRules(
        strategy=cast("Relevance", settings.preselection),  # refused there, if it is none
        max_spans_per_source=settings.max_spans_per_source,
    )
    return preselect(
        question,
        found.chunks,
        embedder=instruments.embedder,
        reranker=instruments.reranker,
        rules=rules,
    )


def extracted(question: str, spans: Preselection, instruments: Instruments) -> ClaimIR:
    """Return the claims of the sentences that answer; no language model takes part."""
    most = instruments.settings.max_claims
    return claims_from_evidence(question, spans.candidates, instruments.reader, max_claims=most)


def readable(
    question: str, candidates: Sequence[QuotableSentence], reader: Reader
) -> tuple[QuotableSentence, ...]:
    """Return those of *candidates* that say something on *question*, best first, a few at least.

    What instructs a model comes last, and is shown to one only where there is nothing else.
    """
    parts = reader.parts(question)
    asked = [part_of(question, part) for part in parts] if len(parts) > 1 else [question]
    statements = [(c.chunk.context, c.span.sentence) for c in candidates]
    each = [answers_in(reader, one, statements) for one in asked]
    rated = [max(own) for own in zip(*each, strict=True)]
    best = sorted(zip(rated, candidates, strict=True), key=lambda one: -one[0])
    kept = enumerate(best[:_MOST_READ])
    return tuple(c for at, (how, c) in kept if how >= RELATED or at < _FEWEST)


def strategy_of(writer: AnswerWriter, instruments: Instruments) -> Strategy:
    """Return the strategy in force: reference first can be switched off (fifth seed, B)."""
    if writer.strategy == "interleaved" and not instruments.settings.enable_interleaved_generation:
        return "generate-then-cite"
    return writer.strategy


def prompts_of(writer: AnswerWriter, strategy: Strategy) -> tuple[PromptIdentity, ...]:
    """Return the prompt of *strategy* as certificates name it."""
    prompt = writer.prompts[PROMPT_OF[strategy]]
    return (PromptIdentity(prompt.name, prompt.version, prompt.sha256),)


def written(
    question: str, spans: Preselection, writer: AnswerWriter, instruments: Instruments
) -> Iterator[DraftStep]:
    """Yield what the language model writes, a step as soon as there is one.

    LanguageModelError and GroundingError come after the steps that stand.
    """
    strategy = strategy_of(writer, instruments)
    prompt = writer.prompts[PROMPT_OF[strategy]]
    most = instruments.settings.max_claims
    candidates = spans.candidates
    if instruments.settings.enable_evidence_preselection:
        candidates = readable(question, candidates, instruments.reader)
    given = (question, candidates, writer.model, prompt, secrets.token_hex(16))
    if strategy == "strict-quote":
        return quoted(*given, instruments.split, max_claims=most)
    if strategy == "generate-then-cite":
        return generate_then_cite(*given, instruments.split, max_claims=most)

    def supports(text: str, candidate: QuotableSentence) -> bool:
        (judgement,) = judge_pairs(
            instruments.verifier, [pair_with(text, (Scored(candidate.chunk, candidate.span, 0.0),))]
        )
        return judgement.label == "entailed"

    return interleaved(
        *given, supports, instruments.split, max_claims=most, max_tries=TRIES_PER_CLAIM * most
    )
