"""Which figures of a claim are not found in the evidence, and why (DESIGN §2, rule 4).

A figure is found when one evidence sentence has the same value, unit, bound, range, rate, role,
period and subject. When in doubt it is not found: a missed badge is cheap, a wrong one is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from certirag.core.claim import Quantity
from certirag.quantities.compare import (
    FigureReading,
    amount_mismatch,
    describe,
    reading_of,
    same_dimension,
)
from certirag.quantities.figured_sentence import TEMPORAL, Sentence, read_sentence
from certirag.quantities.find import Identifier
from certirag.quantities.identifiers import canonical_identifier
from certirag.quantities.period import (
    aligned_periods,
    completed,
    covers_date,
    period_mismatch,
)
from certirag.quantities.roles import role_mismatch, role_of
from certirag.quantities.subject import place, subject_mismatch

MAX_FIGURES = 30  # in one claim or one evidence sentence; more are never found
MAX_LENGTH = 6_000  # characters of one text; a longer one supports nothing
MAX_SENTENCES = 400
# How far two figures agree if all but the subject is the same: amount, period and role, or the date.
_SAME_AMOUNT, _SAME_DATE = 4.0, 2.0
_BOUNDS_OF_TIME = ("at_least", "at_most", "more_than", "less_than", "about")


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A figure of the claim that the evidence does not support, and *reason* in plain words.

    *text* is verbatim from the claim; *quantity* is None for an identifier. A figure that stands
    *elsewhere* is there, of another subject as far as the words tell: a reading of grammar, which
    is the verifier's to weigh.
    """

    text: str
    reason: str
    quantity: Quantity | None = None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class _Evidence:
    sentences: tuple[Sentence, ...]
    context: Sentence
    periods: frozenset[str]
    stems: frozenset[str]


def unmatched_quantities(
    claim: str, evidence: Sequence[str], context: str = ""
) -> tuple[Mismatch, ...]:
    """Return the figures of *claim* that *evidence* does not hold; () when all are found.

    *evidence* is sentences or table rows, each judged alone. *context* is the titles and
    headings above them: it may supply periods, dates and identifiers, never amounts.
    """
    said = " ".join(claim.split())
    if any(" ".join(sentence.split()) == said for sentence in evidence):
        return ()
    if len(claim) > MAX_LENGTH:
        return (Mismatch(claim[:80], f"the claim has more than {MAX_LENGTH} characters"),)
    ours = read_sentence(claim)
    if len(ours.quantities) + len(ours.identifiers) > MAX_FIGURES:
        reason = f"the claim has more than {MAX_FIGURES} figures"
        return tuple(Mismatch(q.text, reason, q) for q in ours.quantities) + tuple(
            Mismatch(i.text, reason) for i in ours.identifiers
        )
    if not ours.quantities and not ours.identifiers:
        return ()
    theirs = _read_evidence(evidence, context)
    found = [_identifier_mismatch(identifier, theirs) for identifier in ours.identifiers]
    found += [_quantity_mismatch(ours, quantity, theirs) for quantity in ours.quantities]
    return tuple(mismatch for mismatches in found for mismatch in mismatches)


def _read_evidence(evidence: Sequence[str], context: str) -> _Evidence:
    short = [text for text in evidence[:MAX_SENTENCES] if len(text) <= MAX_LENGTH]
    sentences = tuple(read_sentence(text) for text in short)
    head = read_sentence(context[:MAX_LENGTH])
    return _Evidence(
        sentences=tuple(s for s in sentences if len(s.quantities) <= MAX_FIGURES),
        context=head,
        periods=frozenset(q.value for q in head.temporals()),
        stems=head.stems(),
    )


def _identifier_mismatch(identifier: Identifier, theirs: _Evidence) -> tuple[Mismatch, ...]:
    wanted = canonical_identifier(identifier.text)
    for sentence in (*theirs.sentences, theirs.context):
        if any(canonical_identifier(i.text) == wanted for i in sentence.identifiers):
            return ()
    return (Mismatch(identifier.text, f"the evidence does not name {identifier.text}"),)


def _quantity_mismatch(
    claim: Sentence, quantity: Quantity, theirs: _Evidence
) -> tuple[Mismatch, ...]:
    if quantity.kind in TEMPORAL:
        return _temporal_mismatch(claim, quantity, theirs)
    ours = place(claim, quantity)
    reading = reading_of(claim, quantity, ours.segment)
    nearest = (-1.0, f"the evidence does not say {describe(quantity)}")
    for sentence in theirs.sentences:
        for other in sentence.amounts():
            stage, reason = _compare(claim, reading, sentence, other, theirs)
            if not reason:
                return ()
            nearest = max(nearest, (stage, reason), key=lambda pair: pair[0])
    return (Mismatch(quantity.text, nearest[1], quantity, elsewhere=nearest[0] >= _SAME_AMOUNT),)


def _compare(
    claim: Sentence, ours: FigureReading, sentence: Sentence, other: Quantity, theirs: _Evidence
) -> tuple[float, str]:
    """Compare one figure with one of the evidence; how far they agree, and why no further."""
    quantity = ours.quantity
    if not same_dimension(quantity, other):
        return -2, "other units"
    here, there = place(claim, quantity), place(sentence, other)
    reason = amount_mismatch(ours, reading_of(sentence, other, there.segment))
    if reason:
        common = len(here.segment.stems() & there.segment.stems())
        return (1 if common > 1 else 0), reason
    reason = period_mismatch(claim, quantity, sentence, other, theirs.periods)
    if reason:
        return 2, reason
    dated = bool(aligned_periods(claim, quantity).values)
    reason = role_mismatch(claim, quantity, sentence, other, dated=dated)
    if reason:
        return 3, reason
    return _SAME_AMOUNT, subject_mismatch(here, there, theirs.stems)


def _temporal_mismatch(
    claim: Sentence, quantity: Quantity, theirs: _Evidence
) -> tuple[Mismatch, ...]:
    """Look for a date: as the period of a figure, in a sentence about the same, in a heading."""
    bound = quantity.qualifier in _BOUNDS_OF_TIME
    if quantity.value in theirs.periods and not bound:
        return ()
    of_figure = any(
        quantity.value in aligned_periods(claim, amount).values for amount in claim.amounts()
    )
    nearest = (-1.0, f"the evidence does not say {describe(quantity)}")
    for sentence in theirs.sentences:
        for other in sentence.temporals():
            value = completed(other.value, theirs.periods)
            stage, reason = _compare_dates(claim, quantity, sentence, other, value)
            if not reason and not (of_figure and value == quantity.value and not bound):
                there = place(sentence, other)
                stage = _SAME_DATE
                reason = subject_mismatch(place(claim, quantity), there, theirs.stems)
            if not reason:
                return ()
            nearest = max(nearest, (stage, reason), key=lambda pair: pair[0])
    return (Mismatch(quantity.text, nearest[1], quantity, elsewhere=nearest[0] >= _SAME_DATE),)


def _compare_dates(
    claim: Sentence, ours: Quantity, sentence: Sentence, other: Quantity, value: str
) -> tuple[float, str]:
    """Compare a date with one of the evidence, whose *value* is completed from the headings."""
    if not covers_date(ours.value, value) or ours.qualifier != other.qualifier:
        same_role = role_of(claim, ours) == role_of(sentence, other)
        stage = (0.5 if same_role else 0.0) if other.kind == ours.kind else -0.5
        said = f"the claim says {describe(ours)}; the evidence says {describe(other)}"
        return stage, said
    return 1.0, role_mismatch(claim, ours, sentence, other, dated=False)
