"""The figures of the evidence that a sum may be made of, each with its subject and period.

Arithmetic on them is exact; a claim may round what comes out of it so far and no further.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from certirag.core.claim import Operation, Quantity
from certirag.quantities.asked_operation import CHANGES, NEUTRAL, is_supposed
from certirag.quantities.compare import is_within_wording, reading_of
from certirag.quantities.figured_sentence import (
    Segment,
    Sentence,
    read_sentence,
    respective_segments,
    segments_of,
)
from certirag.quantities.numbers import exact_text
from certirag.quantities.period import aligned_periods, completed
from certirag.quantities.roles import is_denied, is_directed, order_of, role_of, same_order, senses
from certirag.quantities.subject_words import RESTRICTING, class_of
from certirag.quantities.units import base_unit
from certirag.text.word_classes import word_set

MAX_VALUE = Fraction(10**24)
_WRITTEN = re.compile(r"[0-9][0-9,]*(?:\.([0-9]+))?")
_RATE = re.compile(r"\s+(?:an?|per|each|every)\b|/", re.IGNORECASE)
_EXACT_PLACES = 2  # a quotient with no more decimals than these can be stated, so it must be
_CONVERSION_DIGITS = 3
_QUOTIENT_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """An exact *value* in the unit of the claim's figure, and how it came about.

    *divided* says that a division may have left no short decimal; *digits* is how many
    significant digits a claim must write to be read as its rounding.
    """

    value: Fraction
    divided: bool = False
    digits: int = _QUOTIENT_DIGITS


def converted(value: Fraction) -> Outcome:
    """Return the outcome of a conversion between systems of units."""
    return Outcome(value, divided=True, digits=_CONVERSION_DIGITS)


def states(figure: Quantity, outcome: Outcome, *, nearly: bool = False) -> bool:
    """Say whether *figure* states *outcome*.

    It does when the values are equal. A hedged figure ("about", "nearly") may round as its
    wording allows. An unhedged figure may round a quotient only, and only where the quotient
    cannot be written in full (more than two decimals): the figure then asserts no more than
    the digits it writes, so the exact value must round to precisely these digits, at least two
    of them (three for a conversion), which keeps the gap under 5 % and usually far below. A
    sum, a difference or a quotient that ends must be stated exactly.
    """
    value = _value(figure)
    if value is None or abs(outcome.value) > MAX_VALUE:
        return False
    if figure.qualifier == "about":
        return is_within_wording(figure, value, outcome.value, nearly=nearly)
    if figure.qualifier or figure.high:
        return False
    if value == outcome.value:
        return True
    return _is_rounding(figure, value, outcome)


def _value(figure: Quantity) -> Fraction | None:
    try:
        return Fraction(figure.value)
    except (ValueError, ZeroDivisionError):
        return None


def _is_rounding(figure: Quantity, value: Fraction, outcome: Outcome) -> bool:
    if not outcome.divided or _places(outcome.value) <= _EXACT_PLACES:
        return False
    written = _WRITTEN.search(figure.text)
    if not written or not value:
        return False
    digits = written.group().replace(",", "")
    if len(digits.replace(".", "").lstrip("0")) < outcome.digits or not Fraction(digits):
        return False
    step = abs(value / Fraction(digits)) * Fraction(1, 10 ** len(written.group(1) or ""))
    gap = outcome.value - value
    return -step <= 2 * gap < step  # halves are rounded up


def _places(value: Fraction) -> int:
    """Return how many decimals *value* has; many where it never ends."""
    text = exact_text(value)
    return 99 if "/" in text else len(text.partition(".")[2])


def shown_result(figure: Quantity, outcome: Outcome) -> str:
    """Return " = 2.7 pp": the right side of a ledger, with "≈" where digits are left out."""
    if _value(figure) == outcome.value:
        return f" = {_as_claimed(figure)}"
    if figure.qualifier == "about":
        number, exact = _short(outcome.value)
        unit = {"times": ""}.get(figure.unit.partition("/")[0], figure.unit.partition("/")[0])
        return f" {'=' if exact else '≈'} {number} {unit}".rstrip()
    return f" ≈ {_as_claimed(figure)}"


def _as_claimed(figure: Quantity) -> str:
    """Return the claim's own figure; percentages and multiples in one plain form."""
    unit = figure.unit.partition("/")[0]
    text = " ".join(_RATE.split(figure.text)[0].split())
    written = _WRITTEN.search(text)
    if unit in ("%", "pp") and written:
        return f"{written.group()} {unit}"
    if unit == "times":
        return exact_text(Fraction(figure.value))
    return text if text[:1].isdigit() else text[:1].lower() + text[1:]


def _short(value: Fraction) -> tuple[str, bool]:
    exact = _places(value) <= 6
    shown = exact_text(value if exact else Fraction(round(value * 10_000), 10_000))
    whole, point, decimals = shown.partition(".")
    return f"{int(whole):,}{point}{decimals}", exact


def _said(text: str) -> str:
    return " ".join(_RATE.split(text)[0].split())


def ledger_of(operation: str, texts: tuple[str, ...], *, rising: bool = True) -> str:
    """Return the left side of a ledger for operands that read *texts*.

    Of two operands the first is the later or the compared one, the second the base; *rising*
    says that the first is the larger.
    """
    said = [_said(text) for text in texts]
    if operation in ("sum", "average"):
        total = " + ".join(said)
        return f"({total}) ÷ {len(said)}" if operation == "average" else total
    if operation == "conversion":
        return said[0]
    first, base = said
    if operation in ("ratio", "share"):
        return f"{first} ÷ {base}"
    change = f"{first} − {base}" if rising else f"{base} − {first}"
    return f"({change}) ÷ {base}" if operation == "growth" else change


MAX_OPERANDS = 60
_POINTING = frozenset(("it", "they", "this", "that", "these", "those", "its", "their"))
# Behind "it" these say what the figure of the sentence before became; "it had" says something new.
_PREDICATES = frozenset(("is", "was", "are", "were", "rose", "fell", "grew", "increased", "dropped",
                         "declined", "decreased"))  # fmt: skip
# A heading may say no more than this beside the subject that it lends.
_HEADING = frozenset(
    class_of(word)
    for word in word_set(
        "quarter quarterly year annual month monthly half table summary report result results "
        "financial key figures overview highlights statement performance chapter section notes"
    )
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of sentence *number* (from 1) that is stated plainly.

    *value* is in the unit *base*, per *rate*; *words* are the stems of its subject, *periods*
    its dates, and *role* is "from" or "to" where the sentence tells of a change.
    """

    number: int
    quantity: Quantity
    value: Fraction
    base: str
    rate: str
    words: frozenset[str]
    periods: frozenset[str]
    role: str
    sense: frozenset[str]
    document: str


@dataclass(frozen=True, slots=True)
class Sources:
    """What a figure may be reckoned from: the usable *figures*, and all that are *known*.

    *heading* and *periods* are the stems and dates of the headings above the *sentences*.
    """

    figures: tuple[Figure, ...]
    known: tuple[Figure, ...]
    heading: frozenset[str]
    periods: frozenset[str]
    sentences: tuple[Sentence, ...]

    def fits(self, words: frozenset[str], wanted: frozenset[str]) -> bool:
        """Say whether a figure about *words* is about *wanted*: the same, or the heading's rest.

        A heading lends the subject only if it names no other one beside it.
        """
        if not words <= wanted or not wanted:
            return False
        lent = wanted - words
        return not lent or (lent <= self.heading and not self.heading - wanted - _HEADING - NEUTRAL)

    def rivals(self, chosen: Figure, wanted: frozenset[str]) -> bool:
        """Say whether a narrower figure of the same kind and period says another value.

        "Restated revenue was $3.3M" stands against "Revenue was $3.1M".
        """
        return any(
            other.base == chosen.base
            and other.periods == chosen.periods
            and other.value != chosen.value
            and other.words > chosen.words
            and (other.words - chosen.words - wanted) <= RESTRICTING
            for other in self.known
        )

    def of_claim(self, claim: Sentence) -> Sources:
        """Return the sources without the figures whose small words or word order are not the claim's."""
        said, order = senses(claim, claim=True), order_of(claim)
        sound = {
            number
            for number, sentence in enumerate(self.sentences, 1)
            if not is_directed(sentence) or same_order(order, order_of(sentence))
        }
        figures = tuple(f for f in self.known if f.sense <= said and f.number in sound)
        return replace(self, figures=figures)

    def near(self, claim: Sentence) -> Sources:
        """Return the sources without the figures that are about something else than *claim*."""
        told = claim.stems() | RESTRICTING | CHANGES
        known = tuple(f for f in self.known if f.words <= told)
        return replace(self, known=known, figures=known)

    def of_document(self, document: str) -> Sources:
        """Return the sources with the figures of one document only."""
        return replace(self, figures=tuple(f for f in self.figures if f.document == document))


def read_sources(
    evidence: Sequence[str],
    context: str,
    follows: Sequence[bool] | None = None,
    documents: Sequence[str] | None = None,
) -> Sources:
    """Read the operands of *evidence*, sentences in the order of their documents.

    *follows* says of each sentence whether it stands right behind the one before it; only then
    may "it" mean that one's subject. *documents* names the document of each sentence. Without
    these two the sentences are taken as one text.
    """
    head = read_sentence(context)
    periods = frozenset(q.value for q in head.temporals())
    sentences = tuple(read_sentence(text) for text in evidence)
    found: list[Figure] = []
    before: list[Figure] = []
    for place, sentence in enumerate(sentences):
        near = place > 0 and (follows is None or bool(follows[place]))
        document = documents[place] if documents is not None else ""
        before = _figures(sentence, place + 1, document, periods, before if near else [])
        found.extend(before)
    known = tuple(found)
    return Sources(known, known, head.stems(), periods, sentences)


def _figures(
    sentence: Sentence,
    number: int,
    document: str,
    heading: frozenset[str],
    before: Sequence[Figure],
) -> list[Figure]:
    if is_supposed(sentence):
        return []
    group = tuple(q for q in sentence.amounts() if q.kind != "ordinal")
    segments = respective_segments(sentence, group) or segments_of(sentence, group)
    first, second = sentence.tokens.at(0).lower, sentence.tokens.at(1).lower
    points = first in _POINTING
    # "Of the 180 patients, 45 recovered": the 45 are patients.
    partitive = first in ("of", "among")
    said = senses(sentence)
    found = []
    for quantity, segment in zip(group, segments, strict=True):
        read = _figure(sentence, quantity, segment, heading)
        if read is None:
            continue
        value, base, rate, words, periods, role = read
        if points:
            # "It" is what the sentence before is about, where that has one figure of this kind.
            known = [f for f in before if f.base == base]
            if len(known) != 1 or second not in _PREDICATES:
                continue
            words |= known[0].words
        elif partitive and quantity is not group[0]:
            words |= segments[0].stems() - NEUTRAL
        found.append(
            Figure(number, quantity, value, base, rate, words, periods, role, said, document)
        )
    return found


def _figure(
    sentence: Sentence, quantity: Quantity, segment: Segment, heading: frozenset[str]
) -> tuple[Fraction, str, str, frozenset[str], frozenset[str], str] | None:
    """Return value, base unit, rate, subject words, periods and role; None for no plain figure."""
    reading = reading_of(sentence, quantity, segment)
    role = role_of(sentence, quantity)
    if quantity.high or reading.bound or role not in ("", "from", "to"):
        return None
    if is_denied(sentence, quantity):
        return None
    try:
        value = Fraction(quantity.value)
    except (ValueError, ZeroDivisionError):
        return None
    periods = aligned_periods(sentence, quantity)
    if not periods.clear:
        return None
    values = frozenset(completed(p, heading) for p in periods.values)
    if not values and len(heading) == 1:
        values = heading
    words = segment.stems() - NEUTRAL
    if sentence.cells:
        words -= _HEADING  # the header "Year" or "Quarter" of the cell that holds the date
    if role:
        words -= CHANGES
    base, factor = base_unit(reading.base)
    return value * factor, base, reading.rate, words, values, role


# One way to reckon a figure: the operation, its operands and its exact outcome.


@dataclass(frozen=True, slots=True)
class Reckoned:
    """*figures* in the order of the ledger; of two, the compared one before its base.

    *periods* are dates that the operands make up together ("2024" for its four quarters).
    """

    operation: Operation
    figures: tuple[Figure, ...]
    outcome: Outcome
    rising: bool = True
    periods: tuple[str, ...] = ()


def in_unit_of(figure: Quantity, value: Fraction) -> Fraction:
    """Return *value*, in the base unit, in the unit of *figure*."""
    return value / base_unit(figure.unit.partition("/")[0])[1]


def is_share(figure: Quantity) -> bool:
    """Say whether *figure* can be a share: a percentage, or a fraction below one."""
    if figure.kind == "percent":
        return figure.unit == "%"
    below = figure.kind == "number" and not figure.unit
    try:
        return below and 0 < Fraction(figure.value) < 1
    except (ValueError, ZeroDivisionError):
        return False
