"""What the tools of the Model Context Protocol are asked and give, beside what `wire` has."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from certirag.answers.pipeline import MAX_DRAFT
from certirag.checker import Verdict
from certirag.gateway.wire import CitationOut, Name, Question

MAX_EXPORT = 700_000  # characters: escaped once more, it is still less than a body may have


class ToolRequest(BaseModel):
    """What every tool is asked: an unknown field is a bad request."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _OverSources(ToolRequest):
    sources: list[Name] = Field(
        default=[], max_length=200, description="Documents to search, by name; all when empty."
    )
    corpus: Name | None = Field(
        default=None, description="The corpus; needed where there are several."
    )


class _Gated(_OverSources):
    profile: Name | None = Field(default=None, description="A stricter profile to decide under.")
    max_citations: int = Field(default=10, ge=1, le=50)
    certificate: bool = Field(
        default=False, description="Also give the signed export, as text for check_certificate."
    )


class AskRequest(_Gated):
    """A question over the documents that the caller may use."""

    question: Question


class TextRequest(_Gated):
    """Somebody's text, of whose statements those that the documents support are given back."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_DRAFT)]
    question: str = Field(
        default="", max_length=2_000, description="What the text answers, if any."
    )


class CheckRequest(ToolRequest):
    """An exported answer, as text, exactly as it was given or saved.

    With *corpus* its evidence is compared with the documents there that the caller may use.
    """

    export: Annotated[str, Field(min_length=1, max_length=MAX_EXPORT)]
    corpus: Name | None = Field(
        default=None, description="Compare the evidence with today's documents of this corpus."
    )


class CheckResponse(BaseModel):
    """The verdict of the checker; *code* is that of docs/certificate.md, "" when VALID."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    verdict: Verdict
    reason: str
    code: str


class SearchRequest(_OverSources):
    """Words to search the documents for."""

    query: Question
    limit: int = Field(default=10, ge=1, le=30)


class FoundSentence(CitationOut):
    """A sentence as a citation has it; *relevance* in [0, 1] is how surely it answers."""

    relevance: float


class SearchResponse(BaseModel):
    """Sentences of the documents, best first. None of them is a claim that was decided."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    status: Literal["NOT_VERIFIED"] = "NOT_VERIFIED"
    sentences: list[FoundSentence]
