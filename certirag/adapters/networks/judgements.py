"""What the model verifiers share in values: limits, blanks, sound numbers, refusals."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.verdict import Label
from certirag.ports import Judgement, Pair

MAX_CLAIM: Final = 4_000  # characters; a longer claim is no atomic statement
MAX_EVIDENCE: Final = 200_000  # characters of one pair, about a hundred windows of a model
_WORD: Final = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model said of one window: two probabilities, whose rest is not_enough_info."""

    entailed: float
    contradicted: float


def judged(readings: Sequence[Reading]) -> Judgement:
    """Return the judgement of a pair from its windows, rounded to six places; they sum to one.

    Support is the highest of any window and so is contradiction. Where the two do not fit into
    one, support gives way: a window that speaks against the claim is never outvoted. Without a
    reading, or with one that is no probability, the judgement is an error.
    """
    if not readings:
        return refused("the verifier read nothing of the pair")
    numbers = [n for reading in readings for n in (reading.entailed, reading.contradicted)]
    if not all(math.isfinite(number) and 0.0 <= number <= 1.0 for number in numbers):
        return refused("the verifier's scores are no probabilities")
    contradicted = round(max(reading.contradicted for reading in readings), 6)
    entailed = round(min(max(reading.entailed for reading in readings), 1.0 - contradicted), 6)
    rest = round(max(0.0, 1.0 - entailed - contradicted), 6)
    label: Label = "not_enough_info"
    if contradicted >= max(entailed, rest):
        label = "contradicted"
    elif entailed > rest:
        label = "entailed"
    return Judgement(label, entailed, rest, contradicted)


def refused(reason: str, *, truncated: bool = False) -> Judgement:
    """Return the label ``error`` with its reason; *truncated* where text was left unread."""
    return Judgement("error", 0.0, 1.0, 0.0, truncated=truncated, error=reason)


def answered_unasked(pair: Pair) -> Judgement | None:
    """Return the judgement of a pair that needs no model, None where one must be asked.

    A claim or evidence without a word supports nothing; text beyond the limits is not cut but
    refused.
    """
    if len(pair.claim) > MAX_CLAIM or len(pair.evidence) > MAX_EVIDENCE:
        reason = (
            f"a pair may hold {MAX_CLAIM} characters of claim and {MAX_EVIDENCE} of evidence; "
            f"this one has {len(pair.claim)} and {len(pair.evidence)}"
        )
        return refused(reason, truncated=True)
    if not _WORD.search(pair.claim) or not _WORD.search(pair.evidence):
        return Judgement("not_enough_info", 0.0, 1.0, 0.0)
    return None


def joined_sentences(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the sentences of *text* at *spans*, neighbours, with one blank or line break between.

    A line break stays one because it separates rows and items; longer gaps hold nothing. Where
    there is no gap, in a text without an end of a sentence, none is made.
    """
    parts = []
    for at, (start, end) in enumerate(spans):
        gap = text[spans[at - 1][1] : start] if at else ""
        parts.append("\n" if "\n" in gap else gap[:1] and " ")
        parts.append(text[start:end])
    return "".join(parts)
