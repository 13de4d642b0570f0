"""Text to tokens with exact offsets, and the runs of glued tokens that identifiers are made of.

One pass of a regular expression without nested repetition: linear in the text, whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

TokenKind = Literal["number", "word", "odd", "symbol", "end"]

_TOKEN = re.compile(
    r"(?P<number>[0-9]{1,3}(?:[\u00a0\u2009\u202f][0-9]{3})+(?![0-9])"
    r"|[0-9]+(?:[.,][0-9]+)*|(?<![\w.,])\.[0-9]+)"
    r"|(?P<odd>\d+)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)"
    r"|(?P<symbol>\S)"
)
FRACTION_SIGNS = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"}
CURRENCY_SIGNS = "$€£¥₹₩₽₺"
# A symbol that ends a run of glued tokens: sentence punctuation, brackets, quotes, operators.
_BREAKS = frozenset(",;:!?()[]{}\"'’‘“”«»…*|–—=<>~≈≤≥%±" + CURRENCY_SIGNS)


@dataclass(frozen=True, slots=True)
class FigureToken:
    """``source[start:end]``; *glued* says that no white space stands before it."""

    text: str
    lower: str
    start: int
    end: int
    kind: TokenKind
    glued: bool


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text. *run_end* is, per token, the index after its glued run."""

    source: str
    items: tuple[FigureToken, ...]
    run_end: tuple[int, ...]
    digits_before: tuple[int, ...]

    def at(self, index: int) -> FigureToken:
        """Return the token at *index*, or an empty token of kind "end" outside the text."""
        if 0 <= index < len(self.items):
            return self.items[index]
        size = len(self.source)
        return FigureToken("", "", size, size, "end", glued=False)

    def words(self, start: int, count: int) -> tuple[str, ...]:
        """Return the lower-case texts of *count* tokens from *start* (fewer at the borders)."""
        return tuple(token.lower for token in self.items[max(start, 0) : max(start + count, 0)])

    def run_has_digits(self, index: int) -> bool:
        """Say whether the glued run that starts at *index* holds any digit."""
        return self.digits_before[self.run_end[index]] > self.digits_before[index]


def _kind(match: re.Match[str]) -> TokenKind:
    if match.lastgroup == "number":
        return "number"
    text = match.group()
    if match.lastgroup == "word":
        # Numerals outside ASCII must not slip by as letters; m² and ½ are told apart later.
        numeral = not text.isascii() and any(c.isnumeric() and c not in "²³" for c in text)
        return "odd" if numeral and text not in FRACTION_SIGNS else "word"
    return "odd" if match.lastgroup == "odd" or text.isnumeric() else "symbol"


def tokenize(text: str) -> Tokens:
    """Return the tokens of *text*; every character that is not white space is in one of them."""
    items: list[FigureToken] = []
    before = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        word = match.group()
        items.append(FigureToken(word, word.lower(), start, end, _kind(match), start == before > 0))
        before = end
    return Tokens(text, tuple(items), _run_ends(items), _digit_counts(items))


def _digit_counts(items: Sequence[FigureToken]) -> tuple[int, ...]:
    return tuple(accumulate((t.kind in ("number", "odd") for t in items), initial=0))


def _run_ends(items: Sequence[FigureToken]) -> tuple[int, ...]:
    """Per token, where its run of glued letters, digits and joiners ends (one backward pass)."""
    ends = [0] * len(items)
    for index in range(len(items) - 1, -1, -1):
        follows = index + 1 < len(items) and items[index + 1].glued
        if not follows or _breaks(items, index) or _breaks(items, index + 1):
            ends[index] = index + 1
        else:
            ends[index] = ends[index + 1]
    return tuple(ends)


def _breaks(items: Sequence[FigureToken], index: int) -> bool:
    token = items[index]
    if token.kind != "symbol":
        return False
    if token.text in _BREAKS:
        return True
    # A full stop, hyphen or slash joins only when something is glued behind it.
    return not (index + 1 < len(items) and items[index + 1].glued)


def ends_cleanly(tokens: Tokens, index: int) -> bool:
    """Say whether a figure may end before the token at *index*.

    It may not where letters, digits or unknown symbols are glued on ("10-K", "5²", "2.5x9"):
    what stands there is an identifier, not a number.
    """
    token = tokens.at(index)
    if not token.glued:
        return True
    if token.kind != "symbol":
        return False
    if token.text in ":,.+":
        following = tokens.at(index + 1)
        return not (following.glued and following.kind in ("number", "odd"))
    if token.text == "-":
        following = tokens.at(index + 1)
        # "20-page report" counts pages; "10-K" names a form.
        return following.kind == "word" and following.text.islower() and len(following.text) > 2
    return token.text in ";!?)]}\"'’‘”»…*|–—%=<>" and token.text != "%"
