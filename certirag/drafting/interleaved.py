"""Reference first: the best unused sentence is chosen, then one claim is written from it alone.

After ReClaim (fifth seed, stage 2): a claim that is written from its evidence has a citation
before it has words. The check at once is an opinion that saves useless claims; it grants nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from certirag.claims.compile import is_uncheckable
from certirag.core.claim import Claim
from certirag.core.generation import PromptText
from certirag.core.text import sha256_hex
from certirag.drafting.draft_steps import (
    MAX_ITEM_CHARACTERS,
    DraftStep,
    OpenDraft,
    plain_line,
    reference,
    usable,
)
from certirag.drafting.extractive import QuotableSentence
from certirag.drafting.model_answer import delimited, unmarked, whole_answer
from certirag.errors import LanguageModelError, ModelOutcome
from certirag.ports import LanguageModel, Prompt, SentenceSplitter

# The model's word for "this sentence does not answer the question".
NOTHING: Final = "nothing"
# Sentences are ranked: after so many in a row that answer nothing, the rest will not either. One
# is not enough, for a sentence in a document may ask the model to say so.
MAX_NOTHINGS: Final = 3
# A model whose first answers are all unusable will not do better on the next sentences.
MAX_FAILURES: Final = 5
_MAX_TOKENS: Final = 200
_MAX_HEADINGS: Final = 300
# An answer that is unusable costs one try; a server that does not answer ends the whole.
_OF_THIS_ANSWER: Final[frozenset[ModelOutcome]] = frozenset(
    {"refused", "truncated", "malformed", "wrong_schema", "empty"}
)


def interleaved(
    question: str,
    ranked: Sequence[QuotableSentence],
    model: LanguageModel,
    prompt: PromptText,
    nonce: str,
    supports: Callable[[str, QuotableSentence], bool],
    split: SentenceSplitter,
    *,
    max_claims: int,
    max_tries: int,
) -> Iterator[DraftStep]:
    """Yield a step for each sentence of *ranked*, best first, that the model wrote a claim from.

    A claim's ``evidence_candidates`` is that one sentence. It is left out, and named, unless
    *supports* of its text and the sentence is True. At most *max_claims* claims and *max_tries*
    requests; *nonce* is secret and random, and each request's code is made from it.

    Raises LanguageModelError when the model cannot be reached, or when no request had a usable
    answer; steps yielded before stand. What *supports* raises comes out as it is.
    """
    candidates, unshown = usable(ranked, distinct=True)
    if unshown:
        yield DraftStep(dropped=unshown)
    draft = OpenDraft(split, max_claims=max_claims)
    nothings, written, answers, failures = 0, 0, 0, 0
    failure: LanguageModelError | None = None
    for tries, candidate in enumerate(candidates):
        if draft.is_full or nothings == MAX_NOTHINGS:
            break
        if tries == max_tries:
            rest = len(candidates) - tries
            yield DraftStep(dropped=(f"{rest} sentences left out by the cap of {tries} tries",))
            break
        try:
            answer = _asked(question, candidate, model, prompt, sha256_hex(f"{nonce} {tries}"))
        except LanguageModelError as error:
            if error.outcome not in _OF_THIS_ANSWER:
                raise
            failure = error
            place = f"{candidate.chunk.chunk_id} {candidate.span.span_id}"
            yield DraftStep(dropped=(f"{place}: no claim, the answer was {error.outcome}",))
            failures += 1
            if failures == MAX_FAILURES and not answers:
                break
            continue
        answers += 1
        if is_nothing(answer):
            nothings += 1
            continue
        nothings = 0
        step = draft.add(
            answer,
            evidence=(reference(candidate),),
            refuse=_unsupported_by(candidate, supports),
        )
        written += len(step.claims)
        yield step
    if failure is not None and not answers:
        raise failure
    if not written:
        yield DraftStep(abstained=True)


def _asked(
    question: str,
    candidate: QuotableSentence,
    model: LanguageModel,
    prompt: PromptText,
    digest: str,
) -> str:
    """Return the model's answer on one sentence; nothing else of the evidence is in the prompt."""
    code = digest[:24]
    blocks = [delimited("sentence", plain_line(candidate.span.sentence), code)]
    if headings := plain_line(candidate.chunk.context)[:_MAX_HEADINGS]:
        blocks.append(delimited("headings", headings, code))
    blocks += [delimited("question", plain_line(question), code), "Your one sentence:"]
    request = Prompt(prompt.instructions(code), "\n\n".join(blocks), max_tokens=_MAX_TOKENS)
    return whole_answer(unmarked(model.stream(request), code), limit=MAX_ITEM_CHARACTERS)


def is_nothing(answer: str) -> bool:
    """Say whether *answer* is the word for no answer and nothing else."""
    return plain_line(answer).strip(" .!\"'“”*`()[]").casefold() == NOTHING


def _unsupported_by(
    candidate: QuotableSentence, supports: Callable[[str, QuotableSentence], bool]
) -> Callable[[Claim], str]:
    def refusal(claim: Claim) -> str:
        if is_uncheckable(claim):
            return "it states nothing"
        # anything but True, such as a score or None, is no support
        if supports(claim.text, candidate) is not True:
            return "its sentence does not bear it out"
        return ""

    return refusal
