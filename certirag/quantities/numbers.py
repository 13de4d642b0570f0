"""Exact values of written numbers: digits, words, fractions, ordinals and scale words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from certirag.quantities.figure_tokens import FRACTION_SIGNS, Tokens
from certirag.quantities.units import SCALES
from certirag.text.word_classes import word_set, words_in

MAX_DIGITS = 30  # a longer run of digits is an identifier, not an amount
ONES = {
    word: value
    for value, word in enumerate(
        words_in(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        words_in("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
_BIG = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        words_in(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth "
            "twentieth"
        ),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100}
_PARTS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
          "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10}  # fmt: skip
_PARTS |= {f"{word}s": value for word, value in _PARTS.items() if word not in ("half", "halves")}
# "one" beside these is a pronoun ("this one", "one is"), not the number 1.
_NOT_ONE_BEFORE = word_set("this that which no any every each another")
_MAYBE_ONE_BEFORE = word_set("the only next last first")
_NOT_ONE_AFTER = word_set(
    "is are was were has have had can could may might must shall should will would who that "
    "which another in at on for to by with from the be does did"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A value and the index of the token after it.

    *literal* is set where the digits cannot be read in one way only ("5,7"); then *value* is 0.
    *spelled* says it stood in words, *scaled* that a scale word or suffix was applied.
    """

    value: Fraction
    next: int
    literal: str = ""
    spelled: bool = False
    scaled: bool = False


def exact_text(value: Fraction) -> str:
    """Return *value* as an exact decimal, or as "numerator/denominator" if it has none."""
    denominator, twos, fives = value.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    if denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    scaled = abs(value.numerator) * 10**places // value.denominator
    digits = str(scaled).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{text}" if value < 0 else text


def read_digits(text: str) -> Number | None:
    """Return the number that *text* writes in digits; None where it is none (a version, an id).

    "1,248" groups thousands, "1.500,00" is read the continental way because it can be read no
    other way, and "5,7" stays literal: a decimal comma and a slip look the same.
    """
    plain = text.translate({0x00A0: ",", 0x2009: ",", 0x202F: ","})
    if len(plain) > MAX_DIGITS:
        return None
    whole, dot, decimals = plain.partition(".")
    if "." in decimals:
        return None
    if "," in decimals:
        groups, comma, cents = plain.rpartition(",")
        good = len(whole) <= 3 and len(groups) - len(whole) == 4 and "," not in groups
        return (
            Number(Fraction(groups.replace(".", "") + "." + cents), 0) if good and comma else None
        )
    parts = whole.split(",")
    if len(parts) > 1:
        grouped = 1 <= len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
        if not grouped or parts[0] == "0":
            return Number(Fraction(0), 0, literal=plain)
    return Number(Fraction("".join(parts) + dot + decimals), 0)


def number_at(tokens: Tokens, index: int, *, money: bool = False) -> Number | None:
    """Return the number written at *index*, scale words applied, or None.

    *money* says a currency sign stands before it, so that "5m" means five million.
    """
    token = tokens.at(index)
    if token.kind == "number":
        number = read_digits(token.text)
        if number is None:
            return None
        after = index + 1
        written = _written_fraction(tokens, index)
        if written is not None:
            return written
        if tokens.at(after).text in FRACTION_SIGNS and tokens.at(after).glued:
            part = Fraction(FRACTION_SIGNS[tokens.at(after).text])
            number, after = Number(number.value + part, 0), after + 1
        return _scaled(tokens, Number(number.value, after, number.literal), money=money)
    if token.text in FRACTION_SIGNS:
        return Number(Fraction(FRACTION_SIGNS[token.text]), index + 1)
    if token.kind != "word":
        return None
    return _spelled_at(tokens, index, money=money)


def _written_fraction(tokens: Tokens, index: int) -> Number | None:
    """Read "2/3 of"; without "of" two figures and a slash may be a date, a score or a name."""
    top, slash, bottom = tokens.at(index), tokens.at(index + 1), tokens.at(index + 2)
    glued = slash.text == "/" and slash.glued and bottom.glued and not top.glued
    plain = all(t.text.isdecimal() and 0 < len(t.text) < 3 for t in (top, bottom))
    if not (glued and plain and tokens.at(index + 3).lower == "of"):
        return None
    if tokens.at(index + 3).glued or not 0 < int(top.text) < int(bottom.text):
        return None
    return Number(Fraction(int(top.text), int(bottom.text)), index + 3)


def _scaled(tokens: Tokens, number: Number, *, money: bool) -> Number:
    if number.literal:
        return number
    value, index, scaled = number.value, number.next, number.scaled
    for _ in range(2):  # "3 hundred thousand", "2 half" never go deeper
        at = index + 1 if tokens.at(index).text == "-" and tokens.at(index).glued else index
        token = tokens.at(at)
        factor = SCALES.get(token.lower, 0) if token.kind == "word" else 0
        if token.text in ("M", "m", "B", "b", "T") and token.glued and (money or token.text == "M"):
            factor = {"m": 10**6, "b": 10**9, "t": 10**12}[token.lower]
        short = len(token.text) < 3
        if not factor or (token.lower == "k" and not token.glued) or (at > index and short):
            break  # "10-K" names a form
        value, index, scaled = value * factor, at + 1, True
    return Number(value, index, number.literal, number.spelled, scaled)


def _spelled_at(tokens: Tokens, index: int, *, money: bool) -> Number | None:
    part = _fraction_at(tokens, index)
    if part is not None:
        return part
    first = tokens.at(index).lower
    if first in ("a", "an"):
        following = tokens.at(index + 1).lower
        if following not in ("dozen", *_BIG):
            return None
        return _scaled(tokens, Number(Fraction(1), index + 1, spelled=True), money=money)
    if first == "dozen" or (first not in ONES and first not in _TENS):
        return Number(Fraction(12), index + 1, spelled=True) if first == "dozen" else None
    if first == "one" and _is_pronoun(tokens, index):
        return None
    value, after, scaled = _cardinal(tokens, index)
    number = Number(Fraction(value), after, spelled=True, scaled=scaled)
    denominator = _PARTS.get(tokens.at(_past_hyphen(tokens, after)).lower, 0)
    if value < denominator and denominator != 2 and _is_fraction(tokens, after, value):
        return Number(Fraction(value, denominator), _past_hyphen(tokens, after) + 1, spelled=True)
    return _with_half(tokens, _scaled(tokens, number, money=money))


def _past_hyphen(tokens: Tokens, index: int) -> int:
    return index + 1 if tokens.at(index).text == "-" and tokens.at(index).glued else index


def _is_fraction(tokens: Tokens, after: int, value: int) -> bool:
    """Tell "two thirds" and "one-third" from "one third party" and "three quarters" (of time)."""
    at = _past_hyphen(tokens, after)
    name = tokens.at(at).lower
    of_follows = tokens.at(at + 1).lower == "of"
    if name.startswith("quarter"):
        return at > after or of_follows
    return at > after or of_follows or (value > 1 and name.endswith("s"))


def _is_pronoun(tokens: Tokens, index: int) -> bool:
    if tokens.at(index - 1).lower in _NOT_ONE_BEFORE:
        return True
    if tokens.at(index - 1).lower in ("under", "over", "than", "least", "most", "below", "above"):
        return False
    following = tokens.at(index + 1)
    if following.text == "-" and tokens.at(index + 2).lower in ("time", "off", "way", "sided"):
        return True
    if tokens.at(index - 1).lower in _MAYBE_ONE_BEFORE and following.kind != "word":
        return True
    then = tokens.at(index + 2)
    if following.lower == "to" and (then.kind == "number" or then.lower in (*ONES, *_TENS)):
        return False
    return following.lower in _NOT_ONE_AFTER and then.lower not in ("more", "two")


def _fraction_at(tokens: Tokens, index: int) -> Number | None:
    """Read "half", "half a", "a third of", "one-half"; None where none stands there."""
    words = tokens.words(index, 4)
    if words[:1] == ("half",):
        skip = 1 if words[1:2] in (("a",), ("an",), ("the",)) else 0
        return Number(Fraction(1, 2), index + 1 + skip, spelled=True)
    if words[:1] in (("a",), ("one",)):
        at = _past_hyphen(tokens, index + 1)
        name = tokens.at(at).lower
        if name == "half":
            return Number(Fraction(1, 2), at + 1, spelled=True)
        if name in _PARTS and not name.endswith("s") and tokens.at(at + 1).lower == "of":
            return Number(Fraction(1, _PARTS[name]), at + 1, spelled=True)
    return None


def _with_half(tokens: Tokens, number: Number) -> Number:
    if tokens.words(number.next, 3) == ("and", "a", "half"):
        scale = number.value if number.scaled else Fraction(1)
        if scale == 1:
            return Number(number.value + Fraction(1, 2), number.next + 3, spelled=True)
    return number


def _cardinal(tokens: Tokens, index: int) -> tuple[int, int, bool]:
    """Read "two thousand three hundred and twenty-five"; the value, the next index, if scaled."""
    total = group = 0
    scaled = False
    last = "start"
    after = index
    for _ in range(16):
        at = after
        word = tokens.at(at).lower
        if word == "-" and tokens.at(at).glued and last == "tens":
            at += 1
            word = tokens.at(at).lower
            if word not in ONES or ONES[word] > 9:
                break
        elif word == "and" and last == "scale":
            at += 1
            word = tokens.at(at).lower
            if word not in ONES and word not in _TENS:
                break
        if word in _TENS and last in ("start", "scale"):
            group, last = group + _TENS[word], "tens"
        elif word in ONES and (last in ("start", "scale") or (last == "tens" and ONES[word] < 10)):
            group, last = group + ONES[word], "ones"
        elif word == "hundred" and last == "ones" and group < 100:
            group, last, scaled = group * 100, "scale", True
        elif word in _BIG and word != "hundred" and last != "start" and group > 0:
            total, group, last, scaled = total + group * _BIG[word], 0, "scale", True
        else:
            break
        after = at + 1
    return total + group, after, scaled


def ordinal_at(tokens: Tokens, index: int) -> Number | None:
    """Return the ordinal at *index* ("3rd", "twenty-first", "third"), or None."""
    token = tokens.at(index)
    following = tokens.at(index + 1)
    if token.kind == "number":
        suffix = following.glued and following.lower in ("st", "nd", "rd", "th")
        ok = suffix and token.text.isdecimal() and len(token.text) <= 6
        return Number(Fraction(token.text), index + 2) if ok else None
    if token.lower in _TENS and following.text == "-" and tokens.at(index + 2).lower in _ORDINALS:
        ones = _ORDINALS[tokens.at(index + 2).lower]
        return Number(Fraction(_TENS[token.lower] + ones), index + 3) if ones < 10 else None
    if token.lower in _ORDINALS:
        return Number(Fraction(_ORDINALS[token.lower]), index + 1, spelled=True)
    return None
