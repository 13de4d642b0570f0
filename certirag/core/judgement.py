"""What an answer as a whole was judged by, and what a reader may do when there is none.

Records, never permissions: everything here but `Suggestions` is derived again from the scores and
spans each time an answer is shown. Suggestions come from the search, so they are carried: words
of the documents, to be drawn as inert text (RFC-0004 §7, §8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

# Why an answer was decided as it was. RFC-0004 §5.3 names INSUFFICIENT_EVIDENCE and the gateway
# document (§2, concept 1) UNGROUNDED_CLAIMS; a part that failed is never taken for a refusal.
ReasonCode = Literal[
    "ALL_VERIFIED",
    "SOME_UNVERIFIED",
    "SOME_CONTRADICTED",
    "RELATED_ONLY",
    "PARTLY_ANSWERED",
    "NO_CLAIMS",
    "UNGROUNDED_CLAIMS",
    "INSUFFICIENT_EVIDENCE",
    "CONTRADICTED",
    "CONTESTED",
    "PLANTED_ERRORS_PASSED",
    "MEASUREMENT_FAILED",
]
REASON_CODES: tuple[ReasonCode, ...] = get_args(ReasonCode)
# At this relevance a statement counts as an answer (docs/development.md has how it was chosen).
ANSWERS: Final = 0.50
# Below this for every Verified claim, a part of a question is open: on the development questions 19 of
# 27 open parts were told so, and 6 of 119 answered ones.
OPEN: Final = 0.10
SuggestionKind = Literal["spelling", "period", "question", "heading"]
FilterField = Literal["document", "section", "period"]


@dataclass(frozen=True, slots=True)
class ConfidenceBasis:
    """The inputs of the confidence of one answer (RFC-0004 §7), so that a reader can see why.

    *checkable* and *verified* count claims and *pass_rate* is their share in [0, 1], six decimals.
    *high_risk_unresolved* counts comparisons and statements of scope without a badge,
    *contradicted* the claims that a scored span contradicts, *contested* those that another
    document opposes. *retrieval* and *specificity* in [0, 1] are the quality of the evidence of
    the verified claims, None when it was not looked at; *relevance* that of the verified claim which
    answers the question best, None when no question was asked, *open_parts* the parts of a question that no
    verified claim answers beside one that some do. *caveats* names each input that lowers the
    confidence.
    """

    checkable: int
    verified: int
    pass_rate: float
    high_risk_unresolved: int = 0
    contradicted: int = 0
    contested: int = 0
    retrieval: float | None = None
    specificity: float | None = None
    caveats: tuple[str, ...] = ()
    relevance: float | None = None
    open_parts: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The claims (by id) that *rule* kept out of the answer; each claim is counted once."""

    rule: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A passage that came near and was not enough: evidence that nothing was verified by.

    *quote* is one sentence span, character for character; *why* says what it lacks.
    """

    chunk_id: str
    span_id: str
    title: str
    section: str
    page: int | None
    quote: str
    why: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that the documents may answer: *because* says where its words come from."""

    kind: SuggestionKind
    query: str
    because: str


@dataclass(frozen=True, slots=True)
class Filter:
    """A document, section or period to which a search may be narrowed.

    *passages* counts those of the nearest passages that it would keep.
    """

    field: FilterField
    value: str
    passages: int


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What may help, drawn from the documents: other questions, and filters."""

    refinements: tuple[Suggestion, ...] = ()
    filters: tuple[Filter, ...] = ()
