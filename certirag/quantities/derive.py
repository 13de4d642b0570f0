"""Recompute a figure that the evidence does not state from figures that it does (DESIGN §2, rule 4).

The same figure in another unit is one such step; a ledger shows every one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from certirag.core.claim import Derivation, Operand, Quantity
from certirag.quantities.asked_operation import (
    claims_plainly,
    direction,
    factors,
    is_size,
    lowers,
    subject_words,
)
from certirag.quantities.compare import reading_of, same_dimension, same_rate, same_value
from certirag.quantities.figured_sentence import TEMPORAL, Sentence, read_sentence, token_index
from certirag.quantities.match import (
    MAX_FIGURES,
    MAX_LENGTH,
    MAX_SENTENCES,
    Mismatch,
    unmatched_quantities,
)
from certirag.quantities.numbers import exact_text
from certirag.quantities.operands import (
    MAX_OPERANDS,
    Figure,
    Outcome,
    Reckoned,
    Sources,
    converted,
    is_share,
    ledger_of,
    read_sources,
    shown_result,
    states,
)
from certirag.quantities.operations import changes, comparisons, shares, totals
from certirag.quantities.period import period_mismatch
from certirag.quantities.roles import role_mismatch, role_of, same_tense, tells_a_change
from certirag.quantities.subject import MIN_COVERAGE, place, subject_mismatch
from certirag.quantities.units import base_unit, convert
from certirag.text.word_classes import word_set

_GAPS = word_set(
    "warmer colder hotter cooler difference differences gap range tolerance variation swing rise "
    "than change margin within ± plus minus each every per"
)


def conversions(claim: Sentence, figure: Quantity, sources: Sources) -> Iterator[Reckoned]:
    """Yield how *figure* is a figure of the evidence in another unit ("10 miles ≈ 16.1 km").

    Subject, period, role and rate are judged by the matcher's own tests.
    """
    if figure not in claim.amounts():
        return  # a verb ("doubled") converts into nothing
    heading = frozenset(sources.heading)
    ours = place(claim, figure)
    reading = reading_of(claim, figure, ours.segment)
    for found in sources.figures:
        outcome = _converted(claim, figure, sources, found)
        if outcome is None:
            continue
        sentence = sources.sentences[found.number - 1]
        theirs = place(sentence, found.quantity)
        same = (
            same_rate(reading, reading_of(sentence, found.quantity, theirs.segment))
            and not period_mismatch(claim, figure, sentence, found.quantity, sources.periods)
            and not role_mismatch(claim, figure, sentence, found.quantity, dated=False)
            and not subject_mismatch(ours, theirs, heading)
        )
        if same:
            yield Reckoned("conversion", (found,), outcome)


def _converted(
    claim: Sentence, figure: Quantity, sources: Sources, found: Figure
) -> Outcome | None:
    unit, theirs = figure.unit.partition("/")[0], found.quantity.unit.partition("/")[0]
    shares = is_share(figure) and is_share(found.quantity)
    if shares and {unit, theirs} == {"", "%"}:
        sentence = sources.sentences[found.number - 1]
        if not (_has_of(claim, figure) and _has_of(sentence, found.quantity)):
            return None
        value = Fraction(found.quantity.value)
        return Outcome(value * 100 if unit == "%" else value / 100)
    if not unit or unit == theirs or base_unit(unit)[0] == base_unit(theirs)[0]:
        return None  # the matcher has compared these already
    if "°C" in (unit, theirs) and _compares(claim, sources.sentences[found.number - 1]):
        return None  # a difference of temperatures has no zero point
    value_there = convert(Fraction(found.quantity.value), theirs, unit)
    return None if value_there is None else converted(value_there)


def _compares(*sentences: Sentence) -> bool:
    return any(
        direction(sentence) or tells_a_change(sentence) or _GAPS & set(lowers(sentence))
        for sentence in sentences
    )


def _has_of(sentence: Sentence, figure: Quantity) -> bool:
    return sentence.tokens.at(token_index(sentence.tokens, figure.end)).lower == "of"


def shown_conversions(
    claim: Sentence, unmatched: Sequence[Mismatch], sources: Sources
) -> tuple[Derivation, ...]:
    """Return the ledgers of figures that the matcher found in another unit ("two years")."""
    open_figures = {mismatch.quantity for mismatch in unmatched}
    found = []
    for figure in claim.amounts():
        if figure in open_figures or not figure.unit:
            continue
        equal = [
            (number, other)
            for number, sentence in enumerate(sources.sentences, 1)
            for other in sentence.amounts()
            if same_value(figure, other)
        ]
        unit = figure.unit.partition("/")[0]
        if equal and all(other.unit.partition("/")[0] != unit for _, other in equal):
            found.append(_shown(figure, *equal[0]))
    return tuple(found)


def _shown(figure: Quantity, number: int, other: Quantity) -> Derivation:
    outcome = Outcome(Fraction(figure.value)) if not figure.high else None
    text = " ".join(other.text.split())
    right = shown_result(figure, outcome) if outcome else f" = {' '.join(figure.text.split())}"
    return Derivation(
        "conversion",
        figure.text,
        (Operand(other.text, other.value, other.unit, number),),
        exact_text(outcome.value) if outcome else figure.value,
        figure.unit,
        ledger_of("conversion", (text,)) + right,
    )


@dataclass(frozen=True, slots=True)
class Explained:
    """The figures of a claim against evidence: how some were *derived*, and which are *missing*."""

    derived: tuple[Derivation, ...]
    missing: tuple[Mismatch, ...]


def explain_quantities(
    claim: str,
    evidence: Sequence[str],
    context: str = "",
    follows: Sequence[bool] | None = None,
    documents: Sequence[str] | None = None,
) -> Explained:
    """Return how each figure of *claim* that *evidence* does not state follows from it, if it does.

    *evidence* and *context* are as in `unmatched_quantities`; the sentences stand in the order of
    their documents, *follows* says which stand right behind the one before (all, if None), and
    *documents* names the document of each (one, if None): "the firm" of two documents may be two
    firms, so the operands of one sum come from one document.
    A conversion between units that the matcher already accepted is listed too, for its ledger.
    """
    unmatched = unmatched_quantities(claim, evidence, context)
    if len(claim) > MAX_LENGTH or any(
        " ".join(e.split()) == " ".join(claim.split()) for e in evidence
    ):
        return Explained((), unmatched)
    said = read_sentence(claim)
    verbs = tuple(f for f in factors(said) if not _says_factor(said, f, evidence, context))
    unmatched += tuple(Mismatch(f.text, f"the evidence does not say “{f.text}”", f) for f in verbs)
    # Too many sentences or a text too long to read: one operand might have a rival in the rest.
    readable = len(evidence) <= MAX_SENTENCES and all(len(e) <= MAX_LENGTH for e in evidence)
    if len(said.quantities) > MAX_FIGURES or not readable:
        return Explained((), unmatched)
    sources = read_sources(evidence, context[:MAX_LENGTH], follows, documents)
    shown = shown_conversions(said, unmatched, sources)
    if not unmatched:
        return Explained(shown, ())
    derived: list[Derivation] = []
    missing: list[Mismatch] = []
    for mismatch in unmatched:
        quantity = mismatch.quantity
        if quantity is None or quantity.kind in TEMPORAL:
            missing.append(mismatch)
            continue
        found = _derive(said, quantity, sources)
        if found is None:
            missing.append(mismatch)
        else:
            derived.append(found)
    return Explained((*derived, *shown), _still_missing(missing, derived))


def is_only_result(
    claim: str,
    derivation: Derivation,
    sentences: Sequence[str],
    context: str = "",
    follows: Sequence[bool] | None = None,
) -> bool:
    """Say whether *sentences*, all that the documents say, leave *derivation* its only result.

    A derivation from chosen sentences says nothing of a restated or second figure beside them.
    """
    if derivation.operation == "conversion":
        return True
    said = read_sentence(claim)
    figures = [f for f in (*said.quantities, *factors(said)) if f.text == derivation.figure]
    if len(figures) != 1 or any(len(text) > MAX_LENGTH for text in sentences):
        return False
    sources = read_sources(sentences, context[:MAX_LENGTH], follows).near(said)
    if len(sources.known) > MAX_OPERANDS or _contested(said, figures[0], sources):
        return False
    ways = _reckoned(said, figures[0], sources.of_claim(said))
    return {(w.operation, exact_text(w.outcome.value)) for w in ways} == {
        (derivation.operation, derivation.result)
    }


def _derive(claim: Sentence, figure: Quantity, sources: Sources) -> Derivation | None:
    """Return the only way in which *figure* follows from *sources*; None where there is none."""
    if not claims_plainly(claim) or len(sources.known) > MAX_OPERANDS:
        return None
    if figure.high or figure.qualifier not in ("", "about") or figure.kind == "ordinal":
        return None
    usable = sources.of_claim(claim)
    # All documents together must not have another result: then the operands are not sure.
    everywhere = _reckoned(claim, figure, usable)
    if len({(way.operation, way.outcome.value) for way in everywhere}) != 1:
        return None
    documents = dict.fromkeys(f.document for f in usable.figures)
    inside = [w for d in documents for w in _reckoned(claim, figure, usable.of_document(d))]
    if not inside or _contested(claim, figure, sources):
        return None
    way = inside[0]
    if not states(figure, way.outcome, nearly=_nearly(claim, figure)):
        return None
    return _derivation(figure, way)


def _reckoned(claim: Sentence, figure: Quantity, sources: Sources) -> list[Reckoned]:
    return [
        way
        for reckon in (changes, comparisons, shares, totals, conversions)
        for way in reckon(claim, figure, sources)
        if any(f.periods for f in way.figures) or _same_time(claim, way, sources)
    ]


def _same_time(claim: Sentence, way: Reckoned, sources: Sources) -> bool:
    numbers = {figure.number for figure in way.figures}
    return same_tense((claim, *(sources.sentences[number - 1] for number in numbers)))


def _contested(claim: Sentence, figure: Quantity, sources: Sources) -> bool:
    """Say whether a sentence about the same tells a change of another size itself."""
    wanted = subject_words(claim, "change")
    return any(
        wanted <= sentence.stems()
        and role_of(sentence, other) in ("", "by")
        and (is_size(sentence, other) and same_dimension(figure, other))
        and not same_value(figure, other)
        for sentence in sources.sentences
        for other in sentence.amounts()
    )


def _derivation(figure: Quantity, way: Reckoned) -> Derivation:
    operands = tuple(
        Operand(f.quantity.text, f.quantity.value, f.quantity.unit, f.number) for f in way.figures
    )
    left = ledger_of(
        way.operation,
        tuple(" ".join(f.quantity.text.split()) for f in way.figures),
        rising=way.rising,
    )
    periods = {p for f in way.figures for p in f.periods} | set(way.periods)
    return Derivation(
        way.operation,
        figure.text,
        operands,
        exact_text(way.outcome.value),
        figure.unit,
        left + shown_result(figure, way.outcome),
        tuple(sorted(periods)),
    )


def _nearly(claim: Sentence, figure: Quantity) -> bool:
    index = token_index(claim.tokens, figure.start)
    return bool({"nearly", "almost"} & set(claim.tokens.words(index - 2, 2)))


def _says_factor(claim: Sentence, factor: Quantity, evidence: Sequence[str], context: str) -> bool:
    """Say whether a sentence of the evidence itself says "doubled" of the same subject."""
    head = read_sentence(context[:MAX_LENGTH])
    wanted = claim.stems()
    dates = {q.value for q in claim.temporals()} - {q.value for q in head.temporals()}
    for text in evidence[:MAX_SENTENCES]:
        sentence = read_sentence(text[:MAX_LENGTH])
        same = any(
            (f.value, f.qualifier) == (factor.value, factor.qualifier) for f in factors(sentence)
        )
        told = {q.value for q in sentence.temporals()}
        covered = len(wanted & (sentence.stems() | head.stems()))
        if same and covered >= MIN_COVERAGE * len(wanted) and dates <= told:
            return True
    return False


def _still_missing(
    missing: Sequence[Mismatch], derived: Sequence[Derivation]
) -> tuple[Mismatch, ...]:
    """Drop what a derivation settles: the dates of its operands, and the number of its periods."""
    if not derived:
        return tuple(missing)
    dates = {period for derivation in derived for period in derivation.periods}
    return tuple(m for m in missing if not _settled(m, dates, derived))


def _settled(mismatch: Mismatch, dates: set[str], derived: Sequence[Derivation]) -> bool:
    quantity = mismatch.quantity
    if quantity is None:
        return False
    if quantity.kind in TEMPORAL:
        return quantity.value in dates and not quantity.qualifier
    # "In the two years 2023 and 2024": the count of the periods that were added.
    counted = base_unit(quantity.unit)[0] == "month" or quantity.unit in ("quarter", "month")
    return counted and any(
        d.operation in ("sum", "average")
        and quantity.value == str(len(d.operands))
        and not quantity.qualifier
        and quantity.unit == _span_of(d.periods)
        for d in derived
    )


def _span_of(periods: Sequence[str]) -> str:
    plain = {p.removeprefix("FY") for p in periods}
    if all(len(p) == 4 for p in plain):
        return "year"
    return "quarter" if all("-Q" in p for p in plain) else ""
