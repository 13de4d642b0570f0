"""Find every number, date, amount and measure in a text, and every identifier with digits.

With each goes what the wording allows it to be: at least, at most, about, more than, less than.
"""

from __future__ import annotations

from dataclasses import dataclass

from certirag.core.claim import Quantity, QuantityKind
from certirag.quantities.amounts import amounts_at
from certirag.quantities.dates import temporals_at
from certirag.quantities.figure_tokens import Tokens, ends_cleanly, tokenize
from certirag.quantities.identifiers import label_end, run_end
from certirag.quantities.numbers import exact_text, ordinal_at
from certirag.quantities.row_figures import with_header_units
from certirag.text.word_classes import word_set

_ABOUT = (
    "about|around|approximately|approx|approx .|roughly|nearly|almost|circa|ca|ca .|close to|"
    "some|in the region of|in the order of|~|≈"
)
_AT_LEAST = (
    "at least|no less than|not less than|no fewer than|not fewer than|a minimum of|minimum of|"
    "minimum|min|min .|no earlier than|not earlier than|not below|not under|≥|> ="
)
_AT_MOST = (
    "up to|at most|no more than|not more than|maximum of|maximum|max|max .|within|no later than|"
    "not later than|no longer than|not longer than|as many as|as much as|not over|not above|"
    "limited to|capped at|≤|< ="
)
_MORE = (
    "more than|greater than|longer than|later than|older than|higher than|larger than|bigger than|"
    "heavier than|over|above|exceed|exceeds|exceeding|exceeded|in excess of|upwards of|>"
)
_LESS = (
    "less than|fewer than|shorter than|earlier than|younger than|lower than|smaller than|"
    "lighter than|under|below|<"
)
_BEFORE = {
    tuple(phrase.split()): name
    for name, phrases in (
        ("about", _ABOUT),
        ("at_least", _AT_LEAST),
        ("at_most", _AT_MOST),
        ("more_than", _MORE),
        ("less_than", _LESS),
    )
    for phrase in phrases.split("|")
}
_FLIPPED = {"more_than": "at_most", "less_than": "at_least"}
_NEGATIONS = word_set("not no never cannot without nor neither nobody none")
_MORE_WORDS = word_set("more over above older longer later higher greater up upwards")
_LESS_WORDS = word_set("less fewer under below younger shorter earlier lower")
_FILLERS = frozenset(("a", "an", "the", "total", "of", "about"))
_STOPS = frozenset((".", ",", ";", ":", "(", ")", "but", "which", "who"))


def qualifier_of(tokens: Tokens, start: int, end: int) -> str:
    """Return the qualifier of the figure in the tokens ``start:end``, or ""."""
    name, phrase_start = wording_before(tokens, start)
    if name in _FLIPPED and _negated(tokens, phrase_start):
        return _FLIPPED[name]
    return name or _after(tokens, end)


def qualifier_start(tokens: Tokens, start: int) -> int:
    """Return the index of the first token of the qualifier before *start* (*start* if none)."""
    return wording_before(tokens, start)[1]


def wording_before(tokens: Tokens, start: int) -> tuple[str, int]:
    """Return what the words before the figure at token *start* allow, and the first of them."""
    for skip in range(3):
        if skip and tokens.at(start - skip).lower not in _FILLERS:
            break
        for length in (4, 3, 2, 1):
            first = start - skip - length
            words = tokens.words(first, length) if first >= 0 else ()
            if words in _BEFORE:
                return _BEFORE[words], first
    return "", start


def _negated(tokens: Tokens, start: int) -> bool:
    for index in range(start - 1, max(start - 6, -1), -1):
        word = tokens.at(index).lower
        if word in _STOPS:
            return False
        if word in _NEGATIONS or word.endswith(("n't", "n’t")):
            return True
    return False


def _after(tokens: Tokens, end: int) -> str:
    """Read "or more", "and older", "+", "minimum", "at most", also behind the counted noun."""
    if tokens.at(end).text == "+" and tokens.at(end).glued:
        return "at_least"
    for skip in range(4):
        at = end + skip
        if skip and tokens.at(at - 1).kind != "word":
            break
        word, following = tokens.at(at).lower, tokens.at(at + 1).lower
        if word in ("or", "and"):
            if following in _MORE_WORDS and _closes(tokens, at + 2, word):
                return "at_least"
            if following in _LESS_WORDS and _closes(tokens, at + 2, word):
                return "at_most"
            return "about" if (word, following) == ("or", "so") else ""
        if word == "at" and following in ("least", "most"):
            return "at_least" if following == "least" else "at_most"
        if skip == 0 and word in ("minimum", "maximum") and tokens.at(at + 1).kind != "word":
            return "at_least" if word == "minimum" else "at_most"
    return ""


def _closes(tokens: Tokens, at: int, joint: str) -> bool:
    """Tell "5 days or more" from "5 days and more money", "30 or more than 50"."""
    word = tokens.at(at).lower
    return word != "than" and (joint == "or" or tokens.at(at).kind != "word" or word in _AFTER_AGE)


_AFTER_AGE = word_set("start take get receive are is may must can should who with in at on")


_TEMPORAL = ("date", "year", "period")
# Before a date these are prepositions of another sense ("growth over 2023", "notes about May").
_NOT_BOUNDS = frozenset(("over", "under", "above", "below", "about", "some", "within"))


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name that holds digits, verbatim: ``source[start:end]``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of one text, in order and without overlap."""

    quantities: tuple[Quantity, ...]
    identifiers: tuple[Identifier, ...]


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of *text* in order; offsets are code points, without overlap."""
    return find_figures(text).quantities


def find_figures(text: str) -> Figures:
    """Return quantities and identifiers of *text*; any text is welcome, none raises."""
    tokens = tokenize(text)
    quantities: list[Quantity] = []
    identifiers: list[Identifier] = []
    index = 0
    while index < len(tokens.items):
        found, after = _quantities_at(tokens, index)
        end = 0 if found else label_end(tokens, index) or run_end(tokens, index)
        if end:
            start, stop = tokens.at(index).start, tokens.at(end - 1).end
            identifiers.append(Identifier(text[start:stop], start, stop))
        quantities.extend(found)
        index = after if found else end or index + 1
    return Figures(with_header_units(text, quantities), tuple(identifiers))


def _quantities_at(tokens: Tokens, index: int) -> tuple[tuple[Quantity, ...], int]:
    for temporal in temporals_at(tokens, index):
        found = _quantity(tokens, temporal.kind, index, temporal.next, temporal.value)
        return (found,), temporal.next
    if label_end(tokens, index):
        return (), index
    ordinal = _ordinal(tokens, index)
    if ordinal:
        return ordinal, index + _token_count(tokens, index, ordinal[0].end)
    amounts = amounts_at(tokens, index)
    found_all = tuple(
        _quantity(tokens, a.kind, a.start, a.next, a.value, unit=a.unit, high=a.high)
        for a in amounts
    )
    return found_all, amounts[-1].next if amounts else index


def _token_count(tokens: Tokens, index: int, end: int) -> int:
    count = 1
    while tokens.at(index + count - 1).end < end:
        count += 1
    return count


def _ordinal(tokens: Tokens, index: int) -> tuple[Quantity, ...]:
    """Read an ordinal that ranks a noun ("third party" and "first, …" rank nothing)."""
    number = ordinal_at(tokens, index)
    if number is None or not ends_cleanly(tokens, number.next):
        return ()
    following = tokens.at(number.next)
    hyphen = following.text == "-" and following.glued
    noun = tokens.at(number.next + 1) if hyphen else following
    if number.spelled and (noun.kind != "word" or noun.lower in ("party", "parties", "hand")):
        return ()
    if number.spelled and tokens.at(index - 1).lower == "at":
        return ()
    return (_quantity(tokens, "ordinal", index, number.next, exact_text(number.value)),)


def _quantity(
    tokens: Tokens,
    kind: QuantityKind,
    index: int,
    after: int,
    value: str,
    *,
    unit: str = "",
    high: str = "",
) -> Quantity:
    start, end = tokens.at(index).start, tokens.at(after - 1).end
    if value.startswith("T") and kind == "measure":
        unit = "time of day"
    qualifier = qualifier_of(tokens, index, after)
    if kind in _TEMPORAL and tokens.at(index - 1).lower in _NOT_BOUNDS:
        qualifier = ""
    text = tokens.source[start:end]
    return Quantity(kind, text, start, end, value, unit=unit, high=high, qualifier=qualifier)
