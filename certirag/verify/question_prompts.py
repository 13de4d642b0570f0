"""Questions about a claim written and answered by a language model, beside those of the rules.

Two kinds of request, each with the least that it needs: the questions are written from the claim
alone, and each is answered from the evidence alone (factored verification, Dhuliawala et al. 2023,
§3.3). What the model writes is compared by rules, and can only take support back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from certirag.claim_ir.delimited import delimited
from certirag.claim_ir.quantities import find_quantities
from certirag.claim_ir.quantity_compare import same_value
from certirag.core.prompts import PromptText
from certirag.core.verdict import Outcome, QuestionRecord
from certirag.errors import LanguageModelError
from certirag.ports import Prompt
from certirag.verify.candidates import content_words
from certirag.verify.question_answers import question_records

# Returns the whole answer to a prompt; LanguageModelError where there is none.
Writer = Callable[[Prompt], str]
MOST_WRITTEN: Final = 5
AGREEING: Final = 0.5  # of the words of the claim's answer, in an answer without figures
_LONGEST: Final = 300
_QUESTIONS: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["questions"],
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["question", "answer"],
                "properties": {"question": {"type": "string"}, "answer": {"type": "string"}},
            },
        }
    },
}
_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["found", "answer"],
    "properties": {"found": {"type": "boolean"}, "answer": {"type": "string"}},
}


@dataclass(frozen=True, slots=True)
class QuestionPrompts:
    """The instructions of the two requests, as they are kept in ``assets/prompts``."""

    questions: PromptText
    answers: PromptText


def question_prompt(claim: str, prompts: QuestionPrompts, nonce: str) -> Prompt:
    """Return the request for questions about *claim*: it holds the claim and nothing else."""
    return Prompt(
        instructions=prompts.questions.instructions(nonce),
        content=delimited("claim", claim, nonce),
        schema_name="questions",
        schema=_QUESTIONS,
    )


def answer_prompt(
    question: str, evidence: str, context: str, prompts: QuestionPrompts, nonce: str
) -> Prompt:
    """Return the request to answer *question*: the evidence with its headings, and no claim."""
    blocks = [("headings", context), ("evidence", evidence), ("question", question)]
    return Prompt(
        instructions=prompts.answers.instructions(nonce),
        content="\n".join(delimited(name, text, nonce) for name, text in blocks if text),
        schema_name="answer",
        schema=_ANSWER,
        max_tokens=256,
    )


def written_questions(
    write: Writer, prompts: QuestionPrompts, draw: Callable[[], str]
) -> Callable[[str, str, str], tuple[QuestionRecord, ...]]:
    """Return an asker for `depth.verify_at_depths`: the rules' questions, then the model's.

    *draw* gives the delimiters' word, a new one for each request. The asker raises
    LanguageModelError where the model gives no usable answer, which takes the support back.
    """

    def ask(claim: str, evidence: str, context: str) -> tuple[QuestionRecord, ...]:
        reply = _object(write(question_prompt(claim, prompts, draw())), "questions")
        records = []
        for row in _rows(reply.get("questions")):
            text, said = row
            answer = _object(
                write(answer_prompt(text, evidence, context, prompts, draw())), "answer"
            )
            records.append(_record(text, said, answer))
        return (*question_records(claim, evidence, context), *records)

    return ask


def _rows(value: object) -> list[tuple[str, str]]:
    """Return the questions with the claim's answers; one that gives its answer away is none."""
    if not isinstance(value, list) or not value:
        raise LanguageModelError(
            "empty", "the language model wrote no questions: ask another model"
        )
    found = []
    for row in value[:MOST_WRITTEN]:
        question = row.get("question") if isinstance(row, dict) else None
        answer = row.get("answer") if isinstance(row, dict) else None
        if not isinstance(question, str) or not isinstance(answer, str) or not question.strip():
            raise LanguageModelError(
                "wrong_schema", "a question of the language model has another form than asked"
            )
        if answer.strip() and answer.strip().casefold() not in question.casefold():
            found.append((question.strip()[:_LONGEST], answer.strip()[:_LONGEST]))
    return found


def _record(question: str, said: str, reply: dict[str, Any]) -> QuestionRecord:
    found, answer = reply.get("found"), reply.get("answer")
    if not isinstance(found, bool) or not isinstance(answer, str):
        raise LanguageModelError(
            "wrong_schema", "an answer of the language model has another form than asked"
        )
    shown = answer.strip()[:_LONGEST] if found else ""
    outcome = written_outcome(said, shown) if shown else "not_found"
    return QuestionRecord("written", question, said, shown, outcome)


def written_outcome(said: str, answer: str) -> Outcome:
    """Compare two answers in free words: every figure, yes or no, and else half of the words."""
    ours, theirs = find_quantities(said), find_quantities(answer)
    if ours:
        return "agree" if all(any(same_value(a, b) for b in theirs) for a in ours) else "differ"
    plain = [text.casefold().split()[0].strip(",.;!") for text in (said, answer) if text.split()]
    if len(plain) == 2 and set(plain) <= {"yes", "no"}:
        return "agree" if plain[0] == plain[1] else "differ"
    wanted = content_words(said)
    shared = len(wanted & content_words(answer)) / max(1, len(wanted))
    return "agree" if shared >= AGREEING else "differ"


def _object(reply: str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError) as error:
        raise LanguageModelError(
            "malformed", f"the language model's {what} are not JSON"
        ) from error
    if not isinstance(value, dict):
        raise LanguageModelError("wrong_schema", f"the language model's {what} are no JSON object")
    return value
