"""Do two quantities say the same amount? Value, unit, rate, range, qualifier; no subjects here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from certirag.core.claim import Quantity
from certirag.quantities.amounts import rate_at
from certirag.quantities.figured_sentence import TEMPORAL, Segment, Sentence, token_index
from certirag.quantities.find import wording_before
from certirag.quantities.subject_words import IMPLIED_BOUNDS, IMPLIED_RATES
from certirag.quantities.units import base_unit

_BOUND_WORDS = {
    "about": "about ",
    "at_least": "at least ",
    "at_most": "at most ",
    "more_than": "more than ",
    "less_than": "less than ",
    "": "",
}
# The word is money or a mass: which of the two, its sentence says and the verifier reads.
_POUNDS = (frozenset(("pound", "GBP")), frozenset(("pound", "lb")))
_WITHIN = Fraction(1, 20)  # "about 30" rounds 29 and not 27, though both round to tens
_DECIMALS = re.compile(r"[0-9]\.([0-9]+)")


@dataclass(frozen=True, slots=True)
class FigureReading:
    """A quantity with what its clause adds: a rate said apart, an implied rate, a bound."""

    quantity: Quantity
    base: str
    rate: str
    implied_rates: frozenset[str]
    bound: str
    nearly: bool


def reading_of(sentence: Sentence, quantity: Quantity, segment: Segment) -> FigureReading:
    """Read what the clause of *quantity* adds to it."""
    base, _, rate = quantity.unit.partition("/")
    if not rate and quantity.kind != "ordinal":
        rate = _detached_rate(sentence, quantity)
    words = () if sentence.cells else segment.shared
    lowers = _lowers(sentence, segment)
    implied = frozenset(IMPLIED_RATES[w] for w in lowers if w in IMPLIED_RATES) | frozenset(
        IMPLIED_RATES[w.lower] for w in words if w.lower in IMPLIED_RATES
    )
    index = token_index(sentence.tokens, quantity.start)
    nearly = _is_from_below(sentence, index)
    bound = quantity.qualifier or _implied_bound(sentence, quantity, segment)
    return FigureReading(quantity, base, rate.lstrip("/"), implied, bound, nearly)


def _is_from_below(sentence: Sentence, index: int) -> bool:
    return bool({"nearly", "almost"} & set(sentence.tokens.words(index - 2, 2)))


def _lowers(sentence: Sentence, segment: Segment) -> frozenset[str]:
    first = token_index(sentence.tokens, segment.start)
    last = token_index(sentence.tokens, segment.end)
    return frozenset(sentence.tokens.words(first, last - first))


def _detached_rate(sentence: Sentence, quantity: Quantity) -> str:
    """Find the rate in "25 days of annual leave per calendar year", "two days per week"."""
    index = token_index(sentence.tokens, quantity.end)
    later = [q.start for q in sentence.quantities if q.start >= quantity.end]
    for at in range(index, index + 8):
        token = sentence.tokens.at(at)
        if token.kind not in ("word", "end") or token.start >= min(later, default=token.start + 1):
            break
        if token.lower in ("and", "or", "but", "if", "when", "is", "are"):
            break
        rate, _ = rate_at(sentence.tokens, at, bare=at == index)
        if rate:
            return rate
    return ""


def _implied_bound(sentence: Sentence, quantity: Quantity, segment: Segment) -> str:
    """Find the bound in "The maximum daily dose is 160 mg" and "80 mg is the limit"."""
    tokens = sentence.tokens
    index = token_index(tokens, quantity.start)
    others = [q for q in sentence.amounts() if q is not quantity]
    for at in range(index - 1, token_index(tokens, segment.start) - 1, -1):
        token = tokens.at(at)
        if any(q.start <= token.start < q.end for q in others) or token.text in (",", "."):
            break
        if token.lower in IMPLIED_BOUNDS:
            return IMPLIED_BOUNDS[token.lower]
    after = token_index(tokens, quantity.end)
    if tokens.at(after).lower in ("is", "was", "maximum", "minimum"):
        for word in tokens.words(after, 4):
            if word in IMPLIED_BOUNDS:
                return IMPLIED_BOUNDS[word]
    return ""


def describe(quantity: Quantity, bound: str = "") -> str:
    """Return the figure as a reader would say it: bound and verbatim text."""
    return f"{_BOUND_WORDS.get(bound or quantity.qualifier, '')}{' '.join(quantity.text.split())}"


def same_dimension(a: Quantity, b: Quantity) -> bool:
    """Say whether two quantities could be confused: the same unit up to exact conversion."""
    if "ordinal" in (a.kind, b.kind):
        return a.kind == b.kind
    ours, theirs = (base_unit(q.unit.partition("/")[0])[0] for q in (a, b))
    return ours == theirs or frozenset((ours, theirs)) in _POUNDS or _same_time(a, b)


def _number(text: str) -> Fraction | str:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text  # ratios, times of day and ambiguous figures compare as text


def _scaled(quantity: Quantity, text: str) -> Fraction | str:
    value = _number(text)
    factor = base_unit(quantity.unit.partition("/")[0])[1]
    return value * factor if isinstance(value, Fraction) else value


def same_value(a: Quantity, b: Quantity) -> bool:
    """Say whether two quantities have the same amount in the same dimension (no bounds)."""
    if not same_dimension(a, b):
        return False
    same = _scaled(a, a.value) == _scaled(b, b.value) or _same_time(a, b)
    return same and bool(a.high) == bool(b.high) and _scaled(a, a.high) == _scaled(b, b.high)


def in_one_notation(sentence: Sentence) -> str:
    """Return the sentence with every figure written one way: 1,500 m and 1.5 km are the same."""
    written, last = [], 0
    for quantity in sorted(sentence.quantities, key=lambda q: q.start):
        if quantity.start < last:
            return sentence.text
        unit, _, rate = quantity.unit.partition("/")
        ends = [str(_scaled(quantity, end)) for end in (quantity.value, quantity.high) if end]
        parts = (quantity.kind, quantity.qualifier, base_unit(unit)[0], rate, *ends)
        written += [sentence.text[last : quantity.start], f"[{'|'.join(parts)}]"]
        last = quantity.end
    return "".join((*written, sentence.text[last:]))


def in_its_notation(claim: Sentence, evidence: Sentence) -> str:
    """Return *claim* with each measure and date written as *evidence* writes the equal one.

    "Two years" becomes "24 months", "2024-03-01" becomes "1 March 2024": exact conversions only,
    with the same bound and rate, and only where the evidence writes the equal one in one way.
    "About $1.1 billion" becomes "$1,140.6 million" where that alone is what it rounds.
    """
    written, last = [], 0
    for ours in sorted(claim.quantities, key=lambda q: q.start):
        if ours.start < last:
            return claim.text
        theirs, start = evidence.quantities, ours.start
        equal = {q.text for q in theirs if _same_but_for_notation(ours, q)}
        if not equal and ours.qualifier == "about":
            at = token_index(claim.tokens, start)
            nearly = _is_from_below(claim, at)
            equal = {q.text for q in theirs if _is_rounded_from(ours, q, nearly=nearly)}
            if equal:
                start = claim.tokens.at(wording_before(claim.tokens, at)[1]).start
        if len(equal) == 1 and start >= last:
            written += [claim.text[last:start], *equal]
            last = ours.end
    return "".join((*written, claim.text[last:]))


def _same_but_for_notation(a: Quantity, b: Quantity) -> bool:
    rates = a.unit.partition("/")[2], b.unit.partition("/")[2]
    measured = bool(a.unit and b.unit) or a.kind in TEMPORAL
    alike = a.kind == b.kind or {a.kind, b.kind} == {"currency", "measure"}  # "ten pounds", "£10"
    same = alike and a.qualifier == b.qualifier and rates[0] == rates[1]
    return measured and same and same_value(a, b)


def _is_rounded_from(a: Quantity, b: Quantity, *, nearly: bool) -> bool:
    if b.qualifier or a.high or b.high or a.kind != b.kind:
        return False
    value, found = _scaled(a, a.value), _scaled(b, b.value)
    if isinstance(value, str) or isinstance(found, str) or not same_dimension(a, b):
        return False
    same_rates = a.unit.partition("/")[2] == b.unit.partition("/")[2]
    return same_rates and is_within_wording(a, value, found, nearly=nearly)


def _step(quantity: Quantity, value: Fraction) -> Fraction:
    """Return the last place that *quantity* is written to ("3.2 million": 100,000)."""
    shown = _DECIMALS.search(quantity.text)
    number = Fraction(quantity.value)
    if shown:
        whole = re.sub(r"[^0-9.]", "", quantity.text)
        written = Fraction(whole) if whole.count(".") == 1 and whole[-1] != "." else Fraction(0)
        scale = abs(number / written) if written else Fraction(1)
        step = scale * Fraction(1, 10 ** len(shown.group(1)))
    else:
        step = Fraction(1)
        while number and (number / (step * 10)).denominator == 1:
            step *= 10
    return step * abs(value / number) if number else step


def amount_mismatch(claim: FigureReading, evidence: FigureReading) -> str:
    """Return why *evidence* does not say what *claim* says, in plain words; "" if it does."""
    ours, theirs = claim.quantity, evidence.quantity
    said = f"the claim says {describe(ours, claim.bound)}; "
    said += f"the evidence says {describe(theirs, evidence.bound)}"
    if (ours.kind == "ordinal") != (theirs.kind == "ordinal"):
        return said
    if not same_dimension(ours, theirs):
        return f"{said}: the units differ"
    if bool(ours.high) != bool(theirs.high):
        return f"{said}: a single figure and a range are not the same"
    value, found = _scaled(ours, ours.value), _scaled(theirs, theirs.value)
    if value != found and not (_rounds(claim, evidence, value, found) or _same_time(ours, theirs)):
        return said
    if ours.high and _scaled(ours, ours.high) != _scaled(theirs, theirs.high):
        return said
    if not same_rate(claim, evidence):
        return f"{said}: per what it is counted differs"
    if claim.bound != evidence.bound and (claim.bound, evidence.bound) != ("about", ""):
        return f"{said}: not the same bound"
    return ""


def is_within_wording(
    figure: Quantity, value: Fraction, found: Fraction, *, nearly: bool = False
) -> bool:
    """Say whether a hedged *figure* of *value* may stand for the exact value *found*.

    "About", "around", "approximately", "roughly", "some", "circa", "close to" and "~" mean: the
    exact value rounds to the last place that the figure writes, and is at most 5 % away. "Nearly"
    and "almost" (*nearly*) mean the same from below: the exact value may not be larger.
    """
    gap = abs(found - value)
    if nearly and found > value:
        return False
    return gap * 2 <= _step(figure, value) and gap <= abs(found) * _WITHIN


def _same_time(a: Quantity, b: Quantity) -> bool:
    """Say whether one is a time of day and the other its digits without "am": "10.30"."""
    clock, bare = (a, b) if a.value.startswith("T") else (b, a)
    return "." in bare.text and clock.value == f"T{bare.text.replace('.', ':'):0>5}"


def _rounds(
    claim: FigureReading, evidence: FigureReading, value: Fraction | str, found: Fraction | str
) -> bool:
    if claim.bound != "about" or evidence.bound not in ("", "about") or claim.quantity.high:
        return False
    if isinstance(value, str) or isinstance(found, str):
        return False
    return is_within_wording(claim.quantity, value, found, nearly=claim.nearly)


def same_rate(claim: FigureReading, evidence: FigureReading) -> bool:
    """Say whether both figures are per the same thing ("a day", "daily", "per night")."""
    if claim.rate == evidence.rate:
        return True
    if not claim.rate:
        return evidence.rate in claim.implied_rates
    return not evidence.rate and claim.rate in evidence.implied_rates
