"""What a verifier says of a claim: opinion, never permission (CertiRAG seed §6.3).

Of errors planted in an answer's own claims it is a record too: whether one was caught is derived
again in `render/probe_verdicts.py` each time an answer is shown (docs/adr/0009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from certirag.core.policy import Policy
from certirag.core.text import SpanRef

Label = Literal["entailed", "contradicted", "not_enough_info", "error"]
Verdict = Literal["SUPPORTED", "PARTIAL", "UNSUPPORTED", "CONTRADICTED", "NEI"]
# How closely a claim is looked at: HIGH confidence asks for least, LOW for most (DESIGN §3).
Routing = Literal["HIGH", "MEDIUM", "LOW"]
# "written": by a language model; the others are cut from the claim by rules.
QuestionKind = Literal[
    "amount", "when", "name", "polarity", "modality", "quantifier", "roles", "written"
]
Outcome = Literal["agree", "differ", "not_found"]
AnswerDecisionName = Literal["ACCEPT", "STRIP", "REJECT"]

# One table for the whole program (DESIGN §3). `not_enough_info` on evidence about the topic is
# UNSUPPORTED; where no evidence on the topic was found at all the caller says NEI.
VERDICT_OF_LABEL: Final[dict[Label, Verdict]] = {
    "entailed": "SUPPORTED",
    "contradicted": "CONTRADICTED",
    "not_enough_info": "UNSUPPORTED",
    "error": "NEI",
}


@dataclass(frozen=True, slots=True)
class SpanScore:
    """The scores of one claim against one span; None where the verifier gave no sound number.

    *score* repeats the score of *label*, as the seed's schema has it. *input_sha256* is
    `core.text.pair_digest` of exactly what the verifier was given. *note* is the verifier's own
    remark, for a reader; no rule decides by it.
    """

    chunk_id: str
    span_id: str
    label: Label
    score: float | None
    entailed: float | None
    not_enough_info: float | None
    contradicted: float | None
    input_sha256: str
    truncated: bool = False
    error: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question about a claim: what the claim says and what the evidence alone says.

    *answer* is "" where the evidence has none.
    """

    kind: QuestionKind
    question: str
    said: str
    answer: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """A verifier's opinion of one claim over its candidate spans.

    *score* is the entailment score of the attached set *best_evidence* taken together, and
    *set_input_sha256* the digest of what was given for it. *score_without* is the entailment
    score of the claim with the attached sentences removed (None: not measured).
    *pairs_dropped* counts candidate spans that a cap left unscored, *needed_dropped* those of
    them that this decision needs.

    *depth* is how closely the claim was looked at ("": as one is that nobody routed), *questions*
    are those that were put to the evidence, *missing_part* the words of the claim that the
    evidence leaves unsaid, and *opposing* the live spans of other documents that speak against it.
    """

    claim_id: str
    label: Label
    score: float | None
    best_evidence: tuple[SpanRef, ...]
    all_scores: tuple[SpanScore, ...]
    verdict: Verdict = "NEI"
    set_input_sha256: str = ""
    score_without: float | None = None
    truncated: bool = False
    pairs_dropped: int = 0
    needed_dropped: int = 0
    error: str = ""
    depth: Literal["", "HIGH", "MEDIUM", "LOW"] = ""
    questions: tuple[QuestionRecord, ...] = ()
    missing_part: str = ""
    opposing: tuple[SpanRef, ...] = ()


def is_score(value: object) -> bool:
    """Say whether *value* is a sound score: a real number, finite, in [0, 1], not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def two_places(score: float, needed: float) -> str:
    """Return *score* in two decimals, rounded down where it would read like *needed*, which it does not reach."""
    text = f"{score:.2f}"
    alike = score < needed and text == f"{needed:.2f}"
    return f"{float(text) - 0.01:.2f}" if alike else text


PlantKind = Literal["number", "date", "negation", "entity", "unit"]


@dataclass(frozen=True, slots=True)
class PlantedError:
    """One small edit that makes a claim false to its evidence.

    *text* is the claim *claim_id* with its characters *start* to *end* (code points, end
    exclusive) replaced by *becomes*.
    """

    id: str
    claim_id: str
    kind: PlantKind
    text: str
    start: int
    end: int
    becomes: str


@dataclass(frozen=True, slots=True)
class Probe:
    """What was planted in one answer and measured: one result per error, under its id.

    *policy* is the one that the errors are judged under, whatever stricter one is in force for
    the claims. *planter* names the way they were made, *left_out* counts those that the cap on
    an answer kept from being measured.
    """

    planted: tuple[PlantedError, ...]
    verification: tuple[VerificationResult, ...]
    policy: Policy
    planter: str
    left_out: int = 0
