"""Amounts at a place in a text: sign, currency, number, scale, unit, rate and range."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from certirag.core.claim import QuantityKind
from certirag.quantities.dates import temporals_at
from certirag.quantities.figure_tokens import CURRENCY_SIGNS, Tokens, ends_cleanly
from certirag.quantities.numbers import Number, exact_text, number_at
from certirag.quantities.units import CURRENCIES, TIME_UNITS, unit_at, unit_word
from certirag.text.word_classes import word_set

_DASHES = ("-", "–", "—", "‑")
_MOST_IN_ALL = 1000  # "one in 1,000"; "3 in 2024" is a year
_MINUS = ("-", "−", "–")
_EVERY = {"daily": "day", "nightly": "night", "weekly": "week", "monthly": "month",
          "quarterly": "quarter", "yearly": "year", "annually": "year", "hourly": "hour"}  # fmt: skip
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
# "once" counts before these; before a clause it is the conjunction ("once it is approved").
_AFTER_ONCE = word_set("by in for at within during with on and or before after only per more")
_MONEY = frozenset(CURRENCIES.values())
# With one of these before "from 5 to 8" two figures are told, not a range.
_CHANGES = [
    "rose",
    "rise",
    "grew",
    "grow",
    "increase",
    "decrease",
    "fell",
    "fall",
    "drop",
    "decline",
    "reduce",
    "went",
    "go",
    "move",
    "raise",
    "cut",
    "climb",
    "jump",
    "slip",
    "improv",
    "lift",
    "chang",
    "widen",
    "narrow",
    "expand",
    "shr",
    "shrank",
    "soar",
    "plung",
    "low",
    "up",
    "down",
]
_RATE_FILLERS = word_set("calendar full whole complete working business")


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount in the tokens ``start:next``, with value, unit and upper end in canonical form."""

    kind: QuantityKind
    start: int
    next: int
    value: str
    unit: str = ""
    high: str = ""


def kind_of(unit: str) -> QuantityKind:
    """Return what kind of quantity has the canonical *unit*."""
    base = unit.partition("/")[0].removeprefix("every ")
    if base == "%":
        return "percent"
    if base in ("pp", "bps"):
        return "percentage_point"
    if base in _MONEY:
        return "currency"
    if base in TIME_UNITS or base.rpartition(" ")[2] in TIME_UNITS:
        return "duration"
    return "measure" if base else "number"


def rate_at(tokens: Tokens, index: int, *, bare: bool = False) -> tuple[str, int]:
    """Return the rate at *index* ("/day" for "per day", "a day", "daily") and what follows it.

    *bare* says the amount has no unit, so that "daily" after it belongs to a noun ("2 daily doses").
    """
    rate = ""
    for _ in range(3):
        name, after = _one_rate(tokens, index, bare=bare)
        if not name:
            break
        rate, index = f"{rate}/{name}", after
    return rate, index


def _one_rate(tokens: Tokens, index: int, *, bare: bool) -> tuple[str, int]:
    word, at = tokens.at(index).lower, index + 1
    if word in _EVERY and not bare:
        return _EVERY[word], at
    if word == "p" and tokens.words(at, 3) == (".", "a", "."):
        return "year", at + 3
    if word == "/":
        following = tokens.at(at)
        glued = following.glued and following.kind == "word"
        name = unit_word(following.text) or following.lower
        return (name, at + 1) if glued else ("", index)
    if word not in ("per", "a", "an", "each", "every"):
        return "", index
    if tokens.at(at).lower in _RATE_FILLERS and tokens.at(at + 1).kind == "word":
        at += 1
    noun = tokens.at(at)
    if noun.kind != "word" or noun.lower in ("cent", "cents"):
        return "", index
    if word == "per" and noun.lower == "annum":
        return "year", at + 1
    name = unit_word(noun.text)
    if name in TIME_UNITS and not noun.lower.endswith("s"):
        return name, at + 1
    return (name or singular(noun.lower), at + 1) if word == "per" else ("", index)


def singular(noun: str) -> str:
    """Return the singular of a regular English *noun*."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def amounts_at(tokens: Tokens, index: int) -> tuple[Amount, ...]:
    """Return what starts at *index*: nothing, one amount, or the two ends of a change or ratio."""
    if tokens.at(index).lower in _TIMES:
        return _frequency(tokens, index)
    if tokens.words(index, 2) == ("a", "fortnight"):
        return (Amount("duration", index, index + 2, "1", "fortnight"),)
    share = _one_in(tokens, index)
    if share is not None:
        return (share,)
    first = _one(tokens, index)
    if first is None:
        return ()
    found = _with_range(tokens, index, first)
    return found if ends_cleanly(tokens, found[-1].next) else ()


def _one_in(tokens: Tokens, index: int) -> Amount | None:
    """Read "one in five", "3 out of 4": a share of the others, and neither of the two a count."""
    few = Fraction(1) if tokens.at(index).lower == "one" else None
    number = number_at(tokens, index)
    at = index + 1 if number is None else number.next
    few = few if number is None else number.value
    if tokens.words(at, 2) == ("out", "of"):
        at += 1
    elif tokens.at(at).lower != "in":
        return None
    all_ = number_at(tokens, at + 1)
    if few is None or all_ is None or not few < all_.value <= _MOST_IN_ALL:
        return None
    if unit_at(tokens, all_.next)[0] or temporals_at(tokens, at + 1):
        return None
    value = f"{exact_text(few)}:{exact_text(all_.value)}"
    return Amount("number", index, all_.next, value, "ratio")


def _frequency(tokens: Tokens, index: int) -> tuple[Amount, ...]:
    """Read "twice daily", "once a year", "may be extended once"; not "once it is approved"."""
    word = tokens.at(index).lower
    rate, after = rate_at(tokens, index + 1)
    follows = tokens.at(after)
    closes = follows.kind in ("symbol", "end") or follows.lower in _AFTER_ONCE
    if word == "once" and not rate and (not closes or tokens.at(index - 1).lower in ("at", "all")):
        return ()
    return (Amount("number", index, after, str(_TIMES[word]), f"times{rate}"),)


@dataclass(frozen=True, slots=True)
class _Part:
    number: Number
    value: Fraction
    unit: str
    next: int


def _currency_prefix(tokens: Tokens, index: int) -> tuple[str, int]:
    token, following = tokens.at(index), tokens.at(index + 1)
    if token.kind == "word" and following.text == "$" and following.glued:
        return CURRENCIES.get(f"{token.lower}$", ""), index + 2
    if token.kind == "symbol" and token.text in CURRENCY_SIGNS:
        return CURRENCIES.get(token.text, ""), index + 1
    code = token.text.isupper() and len(token.text) == 3
    return (CURRENCIES.get(token.lower, ""), index + 1) if code else ("", index)


def _one(tokens: Tokens, index: int) -> _Part | None:
    token, following = tokens.at(index), tokens.at(index + 1)
    sign = 1
    if (token.text in _MINUS and not token.glued and following.glued) or (
        token.lower in ("minus", "negative") and _is_number_or_money(tokens, index + 1)
    ):
        sign, index = -1, index + 1
    money, at = _currency_prefix(tokens, index)
    if money and sign == 1 and tokens.at(at).text in _MINUS and tokens.at(at + 1).glued:
        sign, at = -1, at + 1
    number = number_at(tokens, at if money else index, money=bool(money))
    if number is None:
        return None
    unit, after = unit_at(tokens, number.next)
    if money:
        after = after if unit == money else number.next
        unit = money
    return _Part(number, sign * number.value, unit, after)


def _is_number_or_money(tokens: Tokens, index: int) -> bool:
    money, at = _currency_prefix(tokens, index)
    return tokens.at(at if money else index).kind == "number"


def _built(start: int, part: _Part, tokens: Tokens, *, rated: bool = True) -> Amount:
    """Make the amount of one number; a leading "every" and a rate become part of its unit."""
    rate, after = rate_at(tokens, part.next, bare=not part.unit) if rated else ("", part.next)
    if not ends_cleanly(tokens, after):
        rate, after = "", part.next
    unit = part.unit
    if tokens.at(start - 1).lower in ("every", "each") and unit in TIME_UNITS:
        unit = f"every {unit}"
    value = f"ambiguous:{part.number.literal}" if part.number.literal else exact_text(part.value)
    return Amount(kind_of(unit), start, after, value, unit + rate)


def _with_range(tokens: Tokens, index: int, first: _Part) -> tuple[Amount, ...]:
    alone = (_built(index, first, tokens),)
    joint = tokens.at(first.next)
    if first.number.literal or not _joins(tokens, index, first.next):
        return alone
    second = _one(tokens, first.next + 1)
    if second is None or second.number.literal or _is_date(tokens, first.next + 1):
        return alone
    if joint.lower in ("to", "and") and _ratio(tokens, index):
        value = f"{exact_text(first.value)}:{exact_text(second.value)}"
        return (Amount("number", index, second.next, value, "ratio"),)
    low = first.value
    share = (
        second.number.scaled and not first.number.scaled and joint.text in (*_DASHES, "to", "and")
    )
    if share and abs(second.value) > abs(low) > 0 and not first.number.spelled:
        mantissa = _mantissa(tokens, first.next + 1)
        low = low * (second.value / mantissa) if mantissa and low <= mantissa else low
    same = first.unit in ("", second.unit) or (not second.unit and first.unit in _MONEY)
    if not same or low > second.value or not ends_cleanly(tokens, second.next):
        return alone
    if _changes(tokens, index) and joint.lower == "to":
        start = _Part(first.number, low, first.unit or second.unit, first.next)
        return (
            _built(index, start, tokens, rated=False),
            _built(
                first.next + 1, _Part(second.number, second.value, start.unit, second.next), tokens
            ),
        )
    whole = _built(
        index, _Part(second.number, second.value, second.unit or first.unit, second.next), tokens
    )
    return (Amount(whole.kind, index, whole.next, exact_text(low), whole.unit, whole.value),)


def _mantissa(tokens: Tokens, index: int) -> Fraction:
    """Return the digits of the number at *index* without its scale word (0 if it has no digits)."""
    for at in range(index, index + 3):
        if tokens.at(at).kind == "number":
            return Fraction(tokens.at(at).text.replace(",", ""))
    return Fraction(0)


def _joins(tokens: Tokens, start: int, at: int) -> bool:
    joint, following = tokens.at(at), tokens.at(at + 1)
    if joint.text in _DASHES:
        return joint.glued == following.glued
    if joint.lower == "and":
        return "between" in tokens.words(start - 3, 3)
    return joint.lower in ("to", "through")


def _is_date(tokens: Tokens, index: int) -> bool:
    found = temporals_at(tokens, index)
    return bool(found) and found[0].kind != "year"


def _ratio(tokens: Tokens, index: int) -> bool:
    return any(word in ("ratio", "odds") for word in tokens.words(index - 3, 3))


def _changes(tokens: Tokens, index: int) -> bool:
    first = max(index - 10, 0)
    before = tokens.words(first, index - first)
    if "from" not in before[-3:]:
        return False
    return any(word.startswith(stem) for word in before for stem in _CHANGES if len(word) > 1)
