"""What an auditor can ask the log for: the facets of an answer, a query, and its rows.

Facets are read out of the signed record when the answer is logged, so that a question over many
answers opens none of them. They are content: whatever erases an answer erases its facets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from certirag.core.verdict import AnswerDecisionName

if TYPE_CHECKING:
    from certirag.proof.certificate import AnswerRecord

MAX_PAGE: Final = 500  # rows that are asked for at once
RENDER_STATES: Final = ("VERIFIED", "UNVERIFIED", "BLOCKED")
DECISIONS: Final[tuple[str, ...]] = get_args(AnswerDecisionName)
Grouping = Literal["day", "week", "month", "topic", "policy", "decision", "reason", "verifier"]
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document whose sentences an answer leans on, by the digest of its bytes."""

    doc_id: str
    title: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class AnswerFacets:
    """One answer as an auditor asks for it.

    *grounding* is the share of the checkable claims that are Verified (0 where there is none;
    Project 10 §2.1), *topic* the title of the document that most attached sentences stand in, ""
    where there are none. *states* counts the claims by render state. *request* ties the parts of
    one streamed answer together; only its last part is *complete*.
    """

    trace_id: str
    request: str
    at: str
    question: str
    corpus: str
    policy: str
    decision: str
    reason: str
    confidence: str
    grounding: float
    claims: int
    states: Mapping[str, int]
    verifier: str
    generator: str
    topic: str
    documents: tuple[CitedDocument, ...]
    complete: bool = True


@dataclass(frozen=True, slots=True)
class AnswerQuery:
    """Which answers; a field left at its default asks for nothing.

    *since* and *until* are ISO 8601 UTC, the second exclusive; *score_from* and *score_below*
    bound the grounding score, the second exclusive. *model* is a verifier's or generator's name,
    *state* a render state of at least one claim, *document* a doc_id, title or SHA-256 of one
    that is cited. *about* names whole words that the question holds, all of them, in any order.
    *parts* also asks for the unfinished parts of streamed answers. *among* holds trace ids, and
    asks for those alone: for none where it is empty.
    """

    trace_id: str = ""
    since: str = ""
    until: str = ""
    corpus: str = ""
    score_from: float | None = None
    score_below: float | None = None
    decisions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    policy: str = ""
    model: str = ""
    state: str = ""
    document: str = ""
    about: str = ""
    parts: bool = False
    among: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer of the log that a query found; *index* is its entry's, *revoked* says why."""

    index: int
    facets: AnswerFacets
    revoked: str = ""


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """A page of rows, newest first; *after* asks for the next page, None when this is the last."""

    rows: tuple[AnswerRow, ...]
    after: int | None


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One group of a trend: how many answers, their mean grounding score, their decisions."""

    group: tuple[str, ...]
    answers: int
    grounding: float
    decisions: Mapping[str, int]


def question_words(text: str) -> tuple[str, ...]:
    """Return the words of *text* as they are compared: without case, in Unicode's NFKC."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def facets_of(record: AnswerRecord, *, request: str, complete: bool) -> AnswerFacets:
    """Return the facets of *record*."""
    chunks = {chunk.chunk_id: chunk for chunk in record.retrieval.chunks}
    leans: dict[str, int] = {}
    documents: dict[str, CitedDocument] = {}
    for result in record.verification:
        for ref in result.best_evidence:
            chunk = chunks.get(ref.chunk_id)
            if chunk is None:
                continue
            source = chunk.source
            leans[source.title] = leans.get(source.title, 0) + 1
            documents[chunk.doc_id] = CitedDocument(
                chunk.doc_id, source.title, source.url_or_path, source.sha256
            )
    models = {model.role: model.name for model in record.models}
    states = dict.fromkeys(RENDER_STATES, 0)
    for decision in record.decisions:
        states[decision.render_state] += 1
    basis = record.answer.basis
    return AnswerFacets(
        trace_id=record.trace_id,
        request=request,
        at=record.created_at,
        question=record.question,
        corpus=str(record.retrieval.settings.get("corpus", "")),
        policy=record.policy.name,
        decision=record.answer.decision,
        reason=record.answer.reason_code,
        confidence=record.answer.confidence,
        grounding=0.0 if basis is None else basis.pass_rate,
        claims=len(record.decisions),
        states=states,
        verifier=models.get("verifier", ""),
        generator=models.get("generator", record.claim_ir.generator),
        topic=max(sorted(leans), key=lambda title: leans[title], default=""),
        documents=tuple(documents[doc_id] for doc_id in sorted(documents)),
        complete=complete,
    )
