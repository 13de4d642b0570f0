"""Identifiers: names that hold digits ("ISO 27001", "Form 10-K", "2FA", "version 4.2", "B12").

They are no amounts: they count nothing, and are compared letter for letter.
"""

from __future__ import annotations

import re

from certirag.quantities.dates import temporals_at, year_of
from certirag.quantities.figure_tokens import Tokens, ends_cleanly
from certirag.quantities.units import SCALES, unit_at
from certirag.text.word_classes import word_set

# Singular only: "week 6" is a name of a week, "weeks 4" is no English.
_LABELS = word_set(
    "section sections article articles no nr number chapter version v release edition form room "
    "building gate floor flight platform route bus table figure fig appendix annex clause "
    "paragraph page line item step phase stage type tier class category chapter part volume "
    "schedule rule regulation directive extension ext lot batch invoice ticket case serial model "
    "week day month apollo python java windows port channel protocol annexe sku ref reference id "
    "iso iec en din bs astm ansi nist rfc ieee ias ifrs gaap sox soc pci covid cve form"
)
_NO_NAMES = word_set(
    "january february march april may june july august september october november december jan feb "
    "mar apr jun jul aug sept sep oct nov dec"
)
_VERBS = word_set("is was has does ends starts uses comes weighs costs needs its")
_TIME_LABELS = frozenset(("week", "day", "month"))
_ROMAN_LABELS = word_set(
    "phase type class stage part article chapter tier volume annex schedule title grade"
)
_ROMAN = re.compile(r"[IVX]{1,6}")
_YEAR_PREFIXES = word_set("mid early late pre post non")


def label_end(tokens: Tokens, index: int) -> int:
    """Return the index after "section 4.2", "ISO/IEC 27001", "No. 4" at *index*, or 0."""
    token = tokens.at(index)
    if token.text == "#" and tokens.at(index + 1).glued:
        at = index + 1
        return tokens.run_end[at] if tokens.at(at).kind == "number" else 0
    if token.text == "+" and tokens.at(index + 1).glued:
        return _phone_end(tokens, index + 1)
    if token.lower not in _LABELS and token.lower not in _ROMAN_LABELS:
        return _named_model(tokens, index)
    at = tokens.run_end[index]  # "ISO/IEC", "No."
    if at > index + 4 or tokens.digits_before[at] > tokens.digits_before[index]:
        return 0
    if tokens.at(at).text == "." and tokens.at(at).glued:
        at += 1
    elif token.lower in ("no", "ref", "fig", "nr", "ext"):
        return 0
    if token.lower in _TIME_LABELS and tokens.at(index - 1).lower in ("a", "per", "one", "each"):
        return 0
    name = tokens.at(at)
    if token.lower in _ROMAN_LABELS and _ROMAN.fullmatch(name.text):
        return at + 1 if ends_cleanly(tokens, at + 1) else 0
    if token.lower not in _LABELS or name.kind == "end" or name.glued > (at - index > 1):
        return 0
    return _name_end(tokens, at)


def _phone_end(tokens: Tokens, index: int) -> int:
    """Read "+00 20 5550 100": groups of digits, single blanks between; 0 for "+5%"."""
    end = index
    while tokens.at(end).kind == "number" and tokens.at(end).text.isdecimal():
        if end > index and tokens.at(end).start != tokens.at(end - 1).end + 1:
            break
        end += 1
    return end if end - index > 2 else 0


def _named_model(tokens: Tokens, index: int) -> int:
    """Read a name with a short number, "the Kestrel 3", inside a sentence; 0 where none stands."""
    token, number, following = tokens.at(index), tokens.at(index + 1), tokens.at(index + 2)
    titled = token.kind == "word" and token.text[:1].isupper() and token.text[1:].islower()
    lead = tokens.at(index - 1)
    inside = lead.kind == "word" and lead.text.islower() and len(token.text) > 2
    short = number.kind == "number" and number.text.isdecimal() and len(number.text) < 3
    if not (titled and inside and short) or number.glued or token.lower in _NO_NAMES:
        return 0
    counted = following.lower.endswith("s") and following.lower not in _VERBS
    ranged = following.text in ("-", "–", "/", "%") or following.lower in ("to", "or", "and", "of")
    dated = temporals_at(tokens, index + 1)  # "from Monday 4 May"
    if counted or ranged or dated or tokens.at(index + 3).lower in ("to",):
        return 0
    return _name_end(tokens, index + 1)


def _name_end(tokens: Tokens, at: int) -> int:
    if not tokens.run_has_digits(at) or tokens.at(at).kind not in ("number", "word"):
        return 0
    end = tokens.run_end[at]
    alone = end == at + 1
    if alone and (year_of(tokens.at(at).text) or not ends_cleanly(tokens, end)):
        return 0
    measured = unit_at(tokens, end)[0] or tokens.at(end).lower in SCALES
    return 0 if measured else end


def run_end(tokens: Tokens, index: int) -> int:
    """Return where the identifier made of glued letters and digits at *index* ends, or 0."""
    token = tokens.at(index)
    if token.kind in ("end", "symbol") or not tokens.run_has_digits(index):
        return 0
    prefix = tokens.at(index + 1).text == "-" and token.lower in _YEAR_PREFIXES
    if prefix and year_of(tokens.at(index + 2).text):
        return 0  # "mid-2024" holds a year
    end = tokens.run_end[index]
    while _goes_on(tokens, end):
        end = tokens.run_end[end]
    return end


def _goes_on(tokens: Tokens, end: int) -> bool:
    """A zero-width or odd mark between digits does not cut an identifier in two."""
    token = tokens.at(end)
    return token.glued and token.kind in ("number", "odd", "word")


def canonical_identifier(text: str) -> str:
    """Return *text* in the form in which identifiers are compared: case and gaps do not count."""
    return re.sub(r"[\s\u2010\u2011_-]+", "-", text.strip()).casefold()
