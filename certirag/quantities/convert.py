"""The same figure in another unit, with the ledger that shows the step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from certirag.core.claim import Derivation, Operand, Quantity
from certirag.quantities.arithmetic import Outcome, converted, ledger_of, shown_result
from certirag.quantities.asked_operation import direction, lowers
from certirag.quantities.compare import reading_of, same_rate, same_value
from certirag.quantities.figure_tokens import word_set
from certirag.quantities.figured_sentence import Sentence, token_index
from certirag.quantities.match import Mismatch
from certirag.quantities.numbers import exact_text
from certirag.quantities.operands import Figure, Reckoned, Sources, is_share
from certirag.quantities.period import period_mismatch
from certirag.quantities.roles import changes, role_mismatch
from certirag.quantities.subject import place, subject_mismatch
from certirag.quantities.units import base_unit, convert

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
        direction(sentence) or changes(sentence) or _GAPS & set(lowers(sentence))
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
