"""Cuts a text into typed tokens: names, numbers with units, content words, small words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from certirag.quantities.units import CURRENCIES
from certirag.verification.lexical.aligned_figures import (
    AlignedFigure,
    joined_digits,
    mark,
    merge_quantities,
    pieces_of,
)
from certirag.verification.lexical.lemmas import lemma_of
from certirag.verification.lexical.lexicon import (
    COMPARATORS,
    COMPARATORS_AFTER,
    CONTRACTIONS,
    IDIOMS,
)
from certirag.verification.lexical.markers import (
    CONDITION_CLASS,
    HARMLESS,
    LIGHT,
    MODALS,
    NEGATIONS,
    PARTIAL,
    RESTRICTORS,
    STOP,
    UNIVERSAL,
)

Kind = Literal[
    "name", "number", "content", "light", "stop", "negation", "modal", "quantifier",
    "restrictor", "marker", "harmless", "punctuation",
]  # fmt: skip

_WORD: Final = re.compile(
    r"\d{1,2}:\d{2}(?::\d{2})?|[€$£¥₹]|\d+(?:[.,]\d+)*(?:[^\W\d_]+\w*)?|%|°[CF]"
    r"|[^\W\d_]+\d[\w]*(?:[-/][\w]+)*"
    r"|mL/min|mmol/L|[^\W_]+(?:['’&.][^\W\d_]+)*(?:[-‐‑][^\W_]+(?:['’][^\W\d_]+)?)*|[^\w\s]"
)
_IDIOM_LENGTH: Final = 5


@dataclass(frozen=True, slots=True)
class WordToken:
    """One word, number or mark; *lemma* is its dictionary form or a quantity's canonical text."""

    text: str
    lemma: str
    kind: Kind
    quantity: AlignedFigure | None = None

    @property
    def carries(self) -> bool:
        """Say whether the token states something that evidence has to bear out."""
        return self.kind in {"name", "number", "content", "light"}


def folded(text: str) -> str:
    """Return *text* in NFKC with plain quotes and dashes, so that look-alikes compare equal."""
    text = unicodedata.normalize("NFKC", joined_digits(text))
    for shape, plain in (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("–", "-"), ("‑", "-")):
        text = text.replace(shape, plain)
    return text.replace("μ", "µ")


def _raw_words(text: str) -> tuple[list[str], list[AlignedFigure]]:
    """The words of a text, with a mark in place of each figure, and the figures."""
    words: list[str] = []
    figures: list[AlignedFigure] = []
    for piece in pieces_of(folded(text)):
        if isinstance(piece, AlignedFigure):
            words.append(mark(len(figures)))
            figures.append(piece)
        else:
            words.extend(_words_between(piece))
    return words, figures


def _words_between(text: str) -> list[str]:
    """The words and marks of a stretch without figures; contractions are written out."""
    words: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group()
        lowered = word.lower()
        for short, long in CONTRACTIONS:
            if short in lowered and (short != "cannot" or lowered == short):
                word = lowered.replace(short, long)
                break
        for piece in word.split():
            words.append(piece[:-2] if piece.lower().endswith("'s") else piece)
    return words


def _joined(words: list[str]) -> list[str]:
    """Replace idioms by their one-word meaning; case is kept where nothing is replaced."""
    out: list[str] = []
    position = 0
    while position < len(words):
        for length in range(min(_IDIOM_LENGTH, len(words) - position), 0, -1):
            phrase = " ".join(words[position : position + length]).lower()
            if phrase in IDIOMS and not _is_name_run(words[position : position + length]):
                out.extend(IDIOMS[phrase].split())
                position += length
                break
        else:
            out.append(words[position])
            position += 1
    return out


def _is_name_run(words: list[str]) -> bool:
    return len(words) > 1 and all(word[:1].isupper() for word in words)


def _comparators(words: list[str]) -> list[str]:
    """Mark comparators next to numbers as ``<le`` (before) or ``>le`` (after the unit)."""
    out: list[str] = []
    position = 0
    while position < len(words):
        for length in range(min(4, len(words) - position), 0, -1):
            phrase = " ".join(words[position : position + length]).lower()
            after = words[position + length : position + length + 3]
            if phrase in COMPARATORS and _starts_with_number(after):
                out.append("<" + COMPARATORS[phrase])
                position += length
                break
            if phrase in COMPARATORS_AFTER and _number_near(out):
                out.append(">" + COMPARATORS_AFTER[phrase])
                position += length
                break
        else:
            out.append(words[position])
            position += 1
    return out


def _starts_with_number(words: list[str]) -> bool:
    for word in words:
        lowered = word.lower()
        if lowered[:1].isdigit() or lowered == "one":
            return True
        if lowered not in CURRENCIES and lowered not in {"the", "a", "an"}:
            return False
    return False


def _number_near(words: list[str]) -> bool:
    near = [word.lower() for word in words[-4:]]
    return any(word[:1].isdigit() or word == "one" for word in near)


def _kind(word: str, lemma: str, *, first: bool) -> Kind:
    lowered = word.lower()
    if not any(character.isalnum() for character in word):
        return "punctuation"
    if lowered in MODALS or lemma in {"be_required"}:
        return "modal" if word[0].islower() or first else "name"
    if lowered in NEGATIONS:
        return "negation"
    if lowered in RESTRICTORS:
        return "restrictor"
    if lowered in CONDITION_CLASS:
        return "marker"
    if lowered in UNIVERSAL or lowered in PARTIAL:
        return "quantifier"
    if lowered in HARMLESS:
        return "harmless"
    if lowered in STOP:
        return "stop"
    if any(character.isdigit() for character in word) or _looks_like_name(word, first=first):
        return "name"
    return "light" if lemma in LIGHT else "content"


def _looks_like_name(word: str, *, first: bool) -> bool:
    if word.isupper() and len(word) > 1:
        return True
    return word[0].isupper() and not first


@lru_cache(maxsize=16384)
def tokenise(sentence: str) -> tuple[WordToken, ...]:
    """Return the tokens of one sentence; numbers, dates and units are merged to quantities."""
    raw, figures = _raw_words(sentence)
    words = _joined(_comparators(raw))
    tokens: list[WordToken] = []
    first = True
    for item in merge_quantities(words, figures):
        if isinstance(item, AlignedFigure):
            tokens.append(WordToken(item.text, item.canonical, "number", item))
            first = False
            continue
        lemma = lemma_of(item)
        kind = _kind(item, lemma, first=first)
        tokens.append(WordToken(item, lemma, kind))
        first = item in {":", "•", "|", "(", '"', "."} or (first and kind == "punctuation")
    return _first_word_names(tokens)


def _first_word_names(tokens: list[WordToken]) -> tuple[WordToken, ...]:
    """A capital at the start of a sentence counts as a name where a name follows at once."""
    for position, token in enumerate(tokens[:-1]):
        follows = tokens[position + 1]
        if token.kind == "content" and token.text[0].isupper() and follows.kind == "name":
            tokens[position] = replace(token, kind="name")
    return tuple(tokens)
