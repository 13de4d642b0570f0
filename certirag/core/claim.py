"""Claims: atomic statements with their place in the draft (Claim IR, CertiRAG seed §6.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from certirag.core.text import SpanRef

ClaimType = Literal[
    "fact",
    "numeric_fact",
    "temporal_fact",
    "attribution",
    "comparison",
    "scope",
    "definition",
    "procedure",
]
RiskClass = Literal["factual_lit_claim", "historical_claim", "comparative_claim", "scope_claim"]
QuantityKind = Literal[
    "number",
    "percent",
    "percentage_point",
    "currency",
    "measure",
    "duration",
    "date",
    "year",
    "period",
    "ordinal",
]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, date, percentage, currency amount or measure inside a text.

    *text* is verbatim (``source[start:end]``). *value* is canonical: an exact decimal for
    numbers (scale words applied: "3.2 million" is "3200000"), ISO 8601 for dates
    ("2024-03-01", "2024-03"), "2024-Q3" or "2024-H1" for periods. *high* is the upper end
    of a range, else "". *unit* is canonical ("USD", "mg", "day", "%", "pp", "").
    *qualifier* is what the wording allows: "", "about", "at_least", "at_most", "more_than",
    "less_than".
    """

    kind: QuantityKind
    text: str
    start: int
    end: int
    value: str
    unit: str = ""
    high: str = ""
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement to be checked.

    *text* is what is verified and shown. *draft_start* and *draft_end* are its place in the
    draft (for an extractive claim: in the source chunk's text). *supplied* lists words added
    to make it self-contained. *problems* says why it is not well formed, one reason each:
    ``not_checkable: …``, ``not_self_contained: …``, ``not_atomic: …``, ``too_long: …``.
    *relevance* in [0, 1] is how surely it answers the question, None where none was asked;
    *by_part* the same for each part of a question that has two, the larger of which it is.
    """

    id: str
    text: str
    type: ClaimType
    risk_class: RiskClass
    fields: dict[str, str | int] = field(default_factory=dict)
    evidence_candidates: tuple[SpanRef, ...] = ()
    draft_start: int = 0
    draft_end: int = 0
    hedges: tuple[str, ...] = ()
    supplied: tuple[str, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    problems: tuple[str, ...] = ()
    relevance: float | None = None
    by_part: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimIR:
    """The claims of one answer. *dropped* says, one line each, what a cap left out.

    *parts* are the two questions that *question* asks, () where it asks one.
    """

    question: str
    claims: tuple[Claim, ...]
    generator: str = "extractive"
    draft: str = ""
    dropped: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


# A figure that no source states, recomputed from figures that sources do state.

Operation = Literal["sum", "difference", "ratio", "share", "growth", "average", "conversion"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A figure of the evidence: *text* is verbatim, *sentence* the number of its sentence from 1.

    *value* is an exact decimal, or "numerator/denominator", in the canonical *unit*.
    """

    text: str
    value: str
    unit: str
    sentence: int


@dataclass(frozen=True, slots=True)
class Derivation:
    """How *figure*, verbatim from the claim, follows from the *operands*.

    *result* is the exact value in *unit* before any rounding; *ledger* is the sum on one line
    ("44.8 % − 42.1 % = 2.7 pp"), with "≈" where the claim states fewer digits than the result
    has. *periods* are the dates of the operands, which the claim may name.
    """

    operation: Operation
    figure: str
    operands: tuple[Operand, ...]
    result: str
    unit: str
    ledger: str
    periods: tuple[str, ...] = ()
