"""Generate, then cite: all claims in one request, each with the numbers of its evidence.

The pattern that interleaved generation is measured against (fifth seed, appendix B), and the
Claim IR of the CertiRAG seed §5.2 C. The model is not asked for a claim's type: the type decides
how much support is needed, so it is read off the claim's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

from certirag.claims.compile import MAX_UNCHECKABLE
from certirag.core.citation import Citation
from certirag.core.generation import PromptText
from certirag.drafting.draft_steps import (
    DraftStep,
    OpenDraft,
    plain_line,
    reference,
    usable,
)
from certirag.drafting.extractive import QuotableSentence
from certirag.drafting.model_answer import delimited, items_schema, streamed_items, unmarked
from certirag.ports import LanguageModel, Prompt, SentenceSplitter

_MAX_TOKENS: Final = 2_048
_MAX_NUMBER: Final = 40  # characters of a number that was not given, as it is kept
_KEY: Final = "claims"
_ITEM: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text", "citations"],
    "properties": {
        "text": {"type": "string"},
        "citations": {"type": "array", "items": {"type": "integer"}},
    },
}


def generate_then_cite(
    question: str,
    ranked: Sequence[QuotableSentence],
    model: LanguageModel,
    prompt: PromptText,
    nonce: str,
    split: SentenceSplitter,
    *,
    max_claims: int,
) -> Iterator[DraftStep]:
    """Yield a step for each item of the model's answer as soon as it is written.

    The sentences of *ranked* are numbered from 1. A claim's ``evidence_candidates`` is what it
    cites of them; a number that was not given stays in the step's citations, with no document.
    An item that makes several statements is split, and each of them keeps all its citations.

    Raises LanguageModelError when there is no usable answer; steps yielded before stand.
    """
    candidates, unshown = usable(ranked, distinct=True)
    if unshown:
        yield DraftStep(dropped=unshown)
    if not candidates:
        yield DraftStep(abstained=True)
        return
    given = dict(enumerate(candidates, 1))
    most = max_claims + MAX_UNCHECKABLE
    draft = OpenDraft(split, max_claims=max_claims)
    request = Prompt(
        prompt.instructions(nonce),
        _content(question, candidates, nonce),
        schema_name="claims",
        schema=items_schema(_KEY, _ITEM, most=most),
        max_tokens=_MAX_TOKENS,
    )
    number = 0
    with closing(
        streamed_items(unmarked(model.stream(request), nonce), _KEY, _ITEM, most=most)
    ) as items:
        for number, item in enumerate(items, 1):
            if draft.is_full:  # nobody reads on, so nobody counts what else there was
                line = f"item {number} and whatever follows it left out by the cap of {max_claims}"
                yield DraftStep(dropped=(line,))
                return
            cited = _cited(item["citations"], given)
            spans = tuple(dict.fromkeys(span for citation in cited for span in citation.spans))
            yield draft.add(item["text"], cited=cited, evidence=spans)
    if not number:
        yield DraftStep(abstained=True)


def _content(question: str, candidates: Sequence[QuotableSentence], nonce: str) -> str:
    blocks = []
    for number, candidate in enumerate(candidates, 1):
        headings = plain_line(candidate.chunk.context)
        text = plain_line(candidate.span.sentence)
        blocks.append(
            delimited(f"evidence {number}", f"{headings}\n{text}" if headings else text, nonce)
        )
    blocks += [delimited("question", plain_line(question), nonce), "Your JSON:"]
    return "\n\n".join(blocks)


def _cited(numbers: Sequence[int], given: Mapping[int, QuotableSentence]) -> list[Citation]:
    """Return each cited number once, with its document and span, or with neither."""
    found: dict[str, Citation] = {}
    for number in numbers:
        raw = f"[{_written(number)}]"
        # True is a whole number to Python, and names no evidence
        candidate = given.get(number) if type(number) is int else None
        found[raw] = (
            Citation("", candidate.chunk.doc_id, raw=raw, spans=(reference(candidate),))
            if candidate
            else Citation("", "", raw=raw)
        )
    return list(found.values())


def _written(number: object) -> str:
    # a number of more digits than Python prints would raise
    if isinstance(number, int) and number.bit_length() > 4 * _MAX_NUMBER:
        return "a number beyond all counting"
    return plain_line(str(number))[:_MAX_NUMBER]
