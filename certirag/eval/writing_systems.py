"""Ways to let a language model answer from documents, for `certirag eval writers` (CertiRAG seed §11).

What each says goes out as it was said, with the passages that it cites; only the last one is the product.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from certirag.answers.draft import TRIES_PER_CLAIM, preselected, readable
from certirag.answers.pipeline import answer_question
from certirag.answers.services import AnswerWriter, Services
from certirag.bootstrap import read_prompt
from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk
from certirag.drafting.draft_steps import plain_line
from certirag.drafting.interleaved import interleaved, is_nothing
from certirag.drafting.model_answer import delimited, items_schema, json_answer, unmarked
from certirag.errors import LanguageModelError, ModelOutcome
from certirag.eval.alce import AlceDocument
from certirag.ports import Index, LanguageModel, Prompt
from certirag.render import Mode, present
from certirag.retrieve.hybrid import RetrievalOutcome, retrieve, search_text, visible_text

_MAX_TOKENS: Final = 400  # of a paragraph
_QUERIES: Final = 3
_MAX_QUERY: Final = 200  # characters
_RRF: Final = 60  # Cormack, Clarke, Büttcher 2009
# What the next answer would meet too.
_OF_THE_SERVER: Final = frozenset({"unreachable", "rate_limited", "server_error"})
_MARK: Final = re.compile(r"\[(\d{1,9})\]")


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What *system* shows for a question: *output* with marks [n] of *docs*, "" where it refuses.

    *requests* to the language model, *characters* of them and of what it wrote, *seconds* of wall time
    for all. *answers*: it is called an answer, and not only related. *quoted* is how many of its
    statements are sentences of the documents and not the model's. *failed* says what went wrong, if anything did.
    """

    system: str
    output: str = ""
    docs: tuple[AlceDocument, ...] = ()
    answers: bool = False
    quoted: int = 0
    requests: int = 0
    characters: int = 0
    seconds: float = 0.0
    failed: str = ""


class _Counted:
    """A language model (LanguageModel port) that counts what passes."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.requests = self.characters = 0

    @property
    def identity(self) -> ModelIdentity:
        return self._model.identity

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.requests += 1
        self.characters += len(prompt.instructions) + len(prompt.content)
        for piece in self._model.stream(prompt):
            self.characters += len(piece)
            yield piece


def written_answers(question: str, index: Index, services: Services) -> list[WrittenAnswer]:
    """Return the answer of each of `SYSTEMS` by the writer of *services*, which must have one.

    A language model that fails at an answer leaves it empty and says why; LanguageModelError where nobody can
    be asked, so that a run ends there and goes on later.
    """
    if services.writer is None:
        raise ValueError("these systems need a language model")
    found = []
    for name, answer in SYSTEMS.items():
        model = _Counted(services.writer.model)
        writer = replace(services.writer, model=model)
        started = time.perf_counter()
        try:
            said = answer(question, index, replace(services, writer=writer), writer)
        except LanguageModelError as error:
            if error.outcome in _OF_THE_SERVER:
                raise
            said = WrittenAnswer("", failed=str(error))
        found.append(
            replace(
                said,
                system=name,
                requests=model.requests,
                characters=model.characters,
                seconds=round(time.perf_counter() - started, 3),
            )
        )
    return found


def _from_passages(
    question: str, index: Index, services: Services, writer: AnswerWriter
) -> WrittenAnswer:
    return _paragraph(question, _searched(question, index, services).chunks, writer.model)


def _from_several_searches(
    question: str, index: Index, services: Services, writer: AnswerWriter
) -> WrittenAnswer:
    """Search by the model's rewritings too, fused by reciprocal rank; where there is none, by the question alone."""
    try:
        queries, failed = _rewritten(question, writer.model), ""
    except LanguageModelError as error:
        if error.outcome in _OF_THE_SERVER:
            raise
        queries, failed = [], f"no other queries: {error}"
    scores: defaultdict[str, float] = defaultdict(float)
    chunks: dict[str, EvidenceChunk] = {}
    for query in (question, *queries):
        for rank, chunk in enumerate(_searched(query, index, services).chunks, 1):
            chunks[chunk.chunk_id] = chunk
            scores[chunk.chunk_id] += 1 / (_RRF + rank)
    best = sorted(chunks, key=lambda name: (-scores[name], name))[: services.settings.max_chunks]
    said = _paragraph(question, [chunks[name] for name in best], writer.model)
    return replace(said, failed=failed)


def _searched(query: str, index: Index, services: Services) -> RetrievalOutcome:
    most = services.settings.max_chunks
    return retrieve(query, index, services.embedder, services.reranker, max_chunks=most)


def _rewritten(question: str, model: LanguageModel) -> list[str]:
    nonce = secrets.token_hex(16)
    schema = items_schema("queries", {"type": "string"}, most=_QUERIES)
    request = Prompt(
        read_prompt("queries").instructions(nonce),
        "\n\n".join([delimited("question", plain_line(question), nonce), "Your JSON:"]),
        schema_name="queries",
        schema=schema,
        max_tokens=_MAX_TOKENS,
    )
    answer = json_answer(unmarked(model.stream(request), nonce), schema)
    return [line for query in answer["queries"] if (line := plain_line(query)[:_MAX_QUERY].strip())]


def _paragraph(
    question: str, chunks: Sequence[EvidenceChunk], model: LanguageModel
) -> WrittenAnswer:
    """Return one paragraph from *chunks*, which are numbered; one that breaks off counts as far as it came."""
    nonce = secrets.token_hex(16)
    blocks = [
        delimited(f"passage {number}", plain_line(search_text(chunk)), nonce)
        for number, chunk in enumerate(chunks, 1)
    ]
    blocks += [delimited("question", plain_line(question), nonce), "Your answer:"]
    request = Prompt(
        read_prompt("passages").instructions(nonce), "\n\n".join(blocks), max_tokens=_MAX_TOKENS
    )
    pieces: list[str] = []
    try:
        pieces.extend(unmarked(model.stream(request), nonce))
    except LanguageModelError as error:
        if error.outcome != "truncated":
            raise
    text = " ".join("".join(pieces).split())
    if is_nothing(_MARK.sub("", text)):
        text = ""
    docs = tuple(AlceDocument(chunk.context, visible_text(chunk)) for chunk in chunks)
    return WrittenAnswer("", text, docs, answers=bool(text))


def _reference_first(
    question: str, index: Index, services: Services, writer: AnswerWriter
) -> WrittenAnswer:
    """Write each claim from one sentence that was chosen before, and show all of them unchecked."""
    instruments = services.instruments
    spans = preselected(question, _searched(question, index, services), instruments)
    read = readable(question, spans.candidates, instruments.reader)
    given = {(own.chunk.chunk_id, own.span.span_id): own for own in read}
    most = services.settings.max_claims
    steps = interleaved(
        question,
        read,
        writer.model,
        writer.prompts["interleaved"],
        secrets.token_hex(16),
        lambda *_: True,
        services.split,
        max_claims=most,
        max_tries=TRIES_PER_CLAIM * most,
    )
    told = []
    for step in steps:
        for claim in step.claims:
            own = [given[place.chunk_id, place.span_id] for place in claim.evidence_candidates]
            told.append((claim.text, [(one.chunk, one.span.sentence) for one in own]))
    return _cited(told)


def _certified(
    question: str, index: Index, services: Services, _writer: AnswerWriter
) -> WrittenAnswer:
    """Answer as the product does, and take what its strict page shows."""
    answer = answer_question(question, index, services)
    seen = present(answer.export, Mode.STRICT, trusted=services.trusted)
    generation = seen.record.generation
    if generation and generation.end in _OF_THE_SERVER:
        raise LanguageModelError(cast("ModelOutcome", generation.end), generation.note)
    quoted = set(generation.quoted if generation else ())
    said = _cited(
        [
            (
                chip.text,
                [(view.chunk, view.span.sentence) for view in chip.evidence if view.attached],
            )
            for chip in seen.shown
        ]
    )
    return replace(
        said,
        answers=said.answers and seen.summary.reason_code != "RELATED_ONLY",
        quoted=sum(chip.claim_id in quoted for chip in seen.shown),
        failed=generation.note if generation else "",
    )


def _cited(told: Sequence[tuple[str, list[tuple[EvidenceChunk, str]]]]) -> WrittenAnswer:
    """Return statements with their sentences as a text with marks, a document a sentence."""
    docs: dict[AlceDocument, int] = {}
    parts = []
    for text, evidence in told:
        marks = [
            docs.setdefault(AlceDocument(chunk.context, sentence), len(docs) + 1)
            for chunk, sentence in evidence
        ]
        line = _MARK.sub(r"(\1)", " ".join(text.split()))  # a mark of its own would be read as ours
        parts.append(_before_its_stop(line, "".join(f"[{mark}]" for mark in dict.fromkeys(marks))))
    return WrittenAnswer("", " ".join(parts), tuple(docs), answers=bool(parts))


def _before_its_stop(line: str, marks: str) -> str:
    return f"{line[:-1]} {marks}{line[-1]}" if line[-1:] in {".", "!", "?"} else f"{line} {marks}."


_Answers = Callable[[str, Index, Services, AnswerWriter], WrittenAnswer]
CERTIFIED: Final = "CertiRAG, strict"
SYSTEMS: Final[dict[str, _Answers]] = {
    "One search, one request, marks in the text": _from_passages,
    "Several searches by rewritten queries, then the same": _from_several_searches,
    "A sentence chosen before each claim, nothing checked": _reference_first,
    CERTIFIED: _certified,
}
