"""What goes over the wire: requests and responses (gateway seed §3.4 to §3.7; RFC-0004 §4.2, §12).

Requests are read strictly: an unknown field is a bad request, not one that is passed over.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from certirag.answers.pipeline import MAX_DRAFT, MAX_QUESTION
from certirag.gateway.profiles import Between
from certirag.proof.countersignature import ReviewDecision

Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Question = Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUESTION)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Response(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerRequest(_Request):
    """A question over allowed sources; with *answer*, somebody else's answer to be gated.

    *sources* are file names of the corpus; all that the key may use when there are none. *between*
    asks for a stricter way with an answer between the profile's two shares.
    """

    question: Question
    sources: list[Name] = Field(default=[], max_length=200)
    max_citations: int = Field(default=10, ge=1, le=50)
    corpus: Name | None = None
    profile: Name | None = None
    between: Between | None = None
    answer: str | None = Field(default=None, min_length=1, max_length=MAX_DRAFT)
    certificate: Literal["link", "inline"] = "link"


class CitationOut(_Response):
    """A sentence of a source, word for word: ``section`` is ``p.N`` where the source has pages.

    *start* and *end* are code points in the source's text as it was read, end exclusive.
    """

    id: int
    source: str
    title: str
    section: str
    quote_span: str
    start: int
    end: int
    source_sha256: str


class ClaimOut(_Response):
    """A statement with what was decided of it; what is not supported has no text here.

    *reason* is the policy's rule that it fails, "" for none: a sentence on it would tell its figures.
    """

    text: str
    status: Literal["VERIFIED", "WITHHELD"]
    entailment: float | None
    citations: list[int]
    reason: str


class SourceOut(_Response):
    """A source that was searched, with the SHA-256 of its bytes."""

    source: str
    sha256: str


class ReviewOut(_Response):
    """What a reviewer decided, when, and the name of the reviewer's key."""

    decision: ReviewDecision
    reviewer: str
    at: str


class AnswerResponse(_Response):
    """An answer of supported statements alone, with its citations and where its certificate is.

    *stripped* says that fewer statements are supported than the profile wants of a whole answer,
    *retry_of* names the answer that had too few and for which the model was asked again, *review*
    the decision of the person who let it leave.
    """

    answer: str
    citations: list[CitationOut]
    grounding_score: float
    trace_id: str
    decision: Literal["ALLOW"]
    stripped: bool
    reason_code: str
    confidence: str
    claims: list[ClaimOut]
    sources: list[SourceOut]
    profile: str
    policy: str
    certificate: str | dict[str, Any]
    retry_of: str = ""
    review: ReviewOut | None = None


class ReviewRequest(_Request):
    """What a reviewer decides: that the supported statements leave, or that nothing does."""

    decision: ReviewDecision
    reason: str = Field(min_length=1, max_length=500)


class WaitingOut(_Response):
    """An answer that waits: who asked what, since when, and what would leave of it.

    *unsupported* are the statements that the policy refuses, *contradicted* counts those that the
    sources speak against; no decision lets one of them leave.
    *problem* says in words why there is nothing to release, "" where there is.
    """

    trace_id: str
    at: str
    caller: str
    question: str
    grounding_score: float
    answer: AnswerResponse | None
    unsupported: list[str]
    contradicted: int
    problem: str


class QueueOut(_Response):
    """The answers that wait longest, and how many wait in all."""

    waiting: int
    reviews: list[WaitingOut]


class QaRequest(_Request):
    """A question as RFC-0004 §12 asks it; *brief* leaves the quotes out."""

    query: Question
    corpus: Name | None = None
    sources: list[Name] = Field(default=[], max_length=200)
    mode: Literal["brief", "detailed"] = "detailed"
    profile: Name | None = None


class SupportingCitation(_Response):
    """A pointer to a reference and, unless brief, to the quoted passage."""

    work_id: str
    passage_id: str | None


class GroundedClaim(_Response):
    """A supported statement; *support_level* is direct where one sentence alone carries it."""

    text: str
    supporting_citations: list[SupportingCitation]
    support_level: Literal["direct", "indirect"]


class ReferenceOut(_Response):
    """A cited document, once."""

    work_id: str
    title: str
    source: str


class GroundedAnswer(_Response):
    """RFC-0004 §4.2; an abstention is one too, with the reason among its limitations."""

    answer_summary: str
    claims: list[GroundedClaim]
    references: list[ReferenceOut]
    confidence: str
    limitations: list[str]
    query_refinements: list[str]
    trace_id: str


Id = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class _Open(BaseModel):
    """Part of what another system made: what is not named here is metadata, and passed over."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class Citing(_Open):
    """What a claim cites: a work, or one passage of it."""

    work_id: Id
    passage_id: Id | None = None


class CandidateClaim(_Open):
    """A claim as somebody's answer makes it."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    supporting_citations: list[Citing] = Field(default=[], max_length=10)


class CandidateAnswer(_Open):
    """A grounded answer (RFC-0004 §4.2) that is to be verified; ``POST /qa`` gives such ones."""

    answer_summary: Annotated[str, StringConstraints(max_length=10_000)] = ""
    claims: list[CandidateClaim] = Field(min_length=1, max_length=50)


class PackWork(_Open):
    """A work of an evidence pack; *title* is read with its passages, as a heading is."""

    work_id: Id
    title: Annotated[str, StringConstraints(max_length=300)] = ""


class PackPassage(_Open):
    """A passage of a work, in plain text."""

    work_id: Id
    passage_id: Id
    text: Annotated[str, StringConstraints(min_length=1, max_length=8_000)]


class EvidencePack(_Open):
    """Passages with the metadata of their works; scores and links of whoever found them are not read."""

    works: list[PackWork] = Field(default=[], max_length=100)
    passages: list[PackPassage] = Field(min_length=1, max_length=100)


class VerifyRequest(_Request):
    """A candidate answer and the evidence pack that it has to stand on (RFC-0004 §12)."""

    query: Annotated[str, StringConstraints(max_length=MAX_QUESTION)] = ""
    answer: CandidateAnswer
    evidence_pack: EvidencePack
    profile: Name | None = None


class ClaimReport(_Response):
    """What was found of ``answer.claims[index]``, or of the summary where *index* is null.

    *supported*: all that it says is Verified against the pack, and *supporting_citations* carry it;
    else it has no text here. *passed*: what it cites carries it too.
    """

    index: int | None
    text: str
    supported: bool
    passed: bool
    support_level: Literal["direct", "indirect"] | None
    supporting_citations: list[SupportingCitation]
    reason_codes: list[str]


class VerificationReport(_Response):
    """Whether every claim passed, and why not (RFC-0004 §5.2, §12)."""

    verdict: Literal["pass", "fail"]
    reason_codes: list[str]
    claims: list[ClaimReport]
    grounding_score: float
    confidence: str
    left_out: list[str]
    trace_id: str
    profile: str
    policy: str
    certificate: str


class ErrorDetail(_Response):
    """What went wrong (gateway seed §3.7.5)."""

    code: str
    message: str
    trace_id: str
    project: str


class ErrorOut(_Response):
    """The one shape of every error, and of an answer that waits; *decision* is on the answer."""

    error: ErrorDetail
    decision: Literal["DENY", "RETRY", "ESCALATE"] | None


class TextPart(BaseModel):
    """A part of a message."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    type: Literal["text"]
    text: str


class ChatMessage(BaseModel):
    """One message of a conversation; parts other than text are refused."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]

    @property
    def text(self) -> str:
        """The words of the message."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class ChatOptions(_Request):
    """What a chat request may say to the gate."""

    corpus: Name | None = None
    sources: list[Name] = Field(default=[], max_length=200)
    profile: Name | None = None
    between: Between | None = None


class ChatRequest(BaseModel):
    """A chat completion as OpenAI's clients send it; parameters that it does not know are passed over.

    ``certirag`` may name corpus, sources and profile, as `AnswerRequest` does.
    """

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    model: Name
    messages: list[ChatMessage] = Field(min_length=1, max_length=200)
    stream: bool = False
    n: Literal[1] = 1
    certirag: ChatOptions | None = None
