"""Words with their places, and the shallow reading of them: verbs, clauses, brackets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.text.word_classes import (
    AMBIGUOUS_FORMS,
    AMBIGUOUS_STEMS,
    AUXILIARIES,
    BASE_FORMS,
    CONJUNCTIONS,
    DETERMINERS,
    MODALS,
    NUMBER_WORDS,
    PARTICIPLES,
    PAST_FORMS,
    PAST_ONLY,
    PREPOSITIONS,
    STEM_OF,
    word_set,
)

_WORD: Final = re.compile(r"\w+(?:[.,:/'’@&+\-‐‑–]\w+)*[%°]?|[^\w\s]")
_OPEN: Final = "([{“«"
_CLOSE: Final = ")]}”»"
_PLURAL_PRONOUNS: Final = frozenset({"they", "we", "you", "i", "who", "which", "that", "both"})
_NOT_PLURAL: Final = word_set(
    "this its is was has his us plus gas bus less business class access process thus across "
    "address basis status loss process previous various always perhaps as"
)
# Verb stems that are as often adjectives or nouns: a plural subject must stand before them.
_ADJECTIVES: Final = word_set(
    "open present last lower double slow separate complete lead fit moderate mean read live "
    "hire permit lease ban drop split rise gain hold start stop result help need base dose chair "
    "warrant bear catch permit read waive yield span stem triple target guarantee donate "
    "correlate compensate substitute import export content accompany embed"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark of a sentence at ``sentence[start:end]``; *own* is False when supplied."""

    text: str
    start: int
    end: int
    own: bool = True

    @property
    def lower(self) -> str:
        """The word in lower case with plain apostrophes."""
        return self.text.lower().replace("’", "'")


Tokens = tuple[Token, ...]


def tokenize(text: str) -> Tokens:
    """Return the words and marks of *text* in order, with code-point offsets."""
    return tuple(Token(m.group(), m.start(), m.end()) for m in _WORD.finditer(text))


def supplied(tokens: Sequence[Token]) -> Tokens:
    """Return *tokens* marked as taken from elsewhere in the sentence."""
    return tuple(replace(token, own=False) for token in tokens)


def new_words(text: str) -> Tokens:
    """Return tokens for words that do not stand in the sentence."""
    return tuple(Token(word, -1, -1, own=False) for word in text.split())


def render(tokens: Sequence[Token]) -> str:
    """Return the text of *tokens*: joined where they were joined, else by one space."""
    parts: list[str] = []
    for index, token in enumerate(tokens):
        if index and not _joined(tokens[index - 1], token):
            parts.append(" ")
        parts.append(token.text)
    return "".join(parts)


def _joined(left: Token, right: Token) -> bool:
    if left.end == right.start and left.end >= 0:
        return True
    return right.text in ",.;:!?)]}”»" or left.text in "([{“«"


def depths(tokens: Sequence[Token]) -> tuple[int, ...]:
    """Return for each token how many brackets and quotation marks stand open around it."""
    depth, quoted, found = 0, False, []
    for token in tokens:
        if token.text in _CLOSE:
            depth = max(0, depth - 1)
        if token.text == '"':
            quoted = not quoted
        found.append(depth + quoted)
        if token.text in _OPEN:
            depth += 1
    return tuple(found)


def is_number(token: Token) -> bool:
    """Say whether *token* is written with digits or is a number word."""
    return any(c.isdigit() for c in token.text) or token.lower in NUMBER_WORDS


def is_figure(token: Token) -> bool:
    """Say whether *token* begins a figure: a digit or a currency sign."""
    return token.text[0].isdigit() or token.text in "€$£¥%"


def is_capitalised(token: Token) -> bool:
    """Say whether *token* begins with an upper-case letter."""
    return token.text[:1].isupper()


def is_plural(token: Token) -> bool:
    """Say whether *token* looks like a plural noun."""
    word = token.lower
    return (
        word in {"people", "staff", "children", "women", "men", "persons", "police"}
        or (word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is", "'s")))
    ) and word not in _NOT_PLURAL


def _word_at(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].lower if 0 <= index < len(tokens) else ""


def _opens_object(tokens: Sequence[Token], index: int) -> bool:
    """Say whether the word at *index* can begin an object: so what precedes is a verb."""
    if not 0 <= index < len(tokens):
        return False
    token = tokens[index]
    return (
        token.lower in DETERMINERS
        or is_number(token)
        or token.lower in {"it", "them", "that", "about", "at", "up", "only", "within", "not"}
        or token.lower.endswith("ly")
        or token.text in "€$£¥"
    )


def is_finite(tokens: Sequence[Token], index: int) -> bool:
    """Say whether the word at *index* is a finite verb, read from the words beside it.

    Where the words beside it do not settle it, the answer is no: a clause that is not seen is
    not cut, so an error here costs a split, not a qualifier.
    """
    word, before = tokens[index].lower, _word_at(tokens, index - 1)
    if word in AUXILIARIES:
        return before not in MODALS and before != "to"
    if index == 0 or before in DETERMINERS or before in PREPOSITIONS or before in MODALS:
        return False
    if before in AUXILIARIES or is_capitalised(tokens[index]):
        return False
    if word in STEM_OF and word not in AMBIGUOUS_FORMS:
        return True
    after = index + 1
    if before in {"they", "we", "i", "who"} and (word in STEM_OF or word in BASE_FORMS):
        return True
    if word in AMBIGUOUS_FORMS:
        return _opens_object(tokens, after) or (
            _word_at(tokens, after) in PREPOSITIONS - {"of"}
            and (not is_plural(tokens[index - 1]) or is_capitalised(tokens[index - 1]))
        )
    if word in PAST_ONLY:
        return True
    if word in PAST_FORMS and before not in AUXILIARIES and before not in CONJUNCTIONS:
        reduced = _word_at(tokens, after) in {"by", "as"} or _auxiliary_follows(tokens, after)
        return word not in PARTICIPLES or not reduced
    if word in BASE_FORMS:
        if is_plural(tokens[index - 1]) or before in _PLURAL_PRONOUNS:
            return word not in AMBIGUOUS_STEMS or _opens_object(tokens, after)
        return word not in AMBIGUOUS_STEMS and word not in _ADJECTIVES and before.isalpha()
    return False


def _auxiliary_follows(tokens: Sequence[Token], start: int) -> bool:
    """Say whether the clause's verb is still to come: "the inhaled dose is", "codes sent … are"."""
    for index in range(start, min(len(tokens), start + 12)):
        word = tokens[index].lower
        if word in CONJUNCTIONS or word in _OPENS_CLAUSE or not tokens[index].text[0].isalnum():
            return False
        if word in AUXILIARIES:
            return tokens[index - 1].lower not in MODALS
    return False


_OPENS_CLAUSE: Final = word_set(
    "who which that if unless because when while until before after since whether as than"
)


def finite_verb(tokens: Sequence[Token], start: int = 0) -> int:
    """Return the index of the first finite verb from *start* on, or -1."""
    for index in range(start, len(tokens)):
        if is_finite(tokens, index):
            return index
    return -1


def clause_verb(tokens: Sequence[Token]) -> int:
    """Return the index of the finite verb of a clause that begins with its subject, or -1."""
    if not tokens:
        return -1
    first = tokens[0].lower
    if first in PREPOSITIONS or first in CONJUNCTIONS or first in AUXILIARIES:
        return -1
    if not (tokens[0].text[:1].isalnum() or tokens[0].text in '“"€$£¥('):
        return -1
    verb = finite_verb(tokens)
    if verb < 1 or any(token.text in ",;:" for token in tokens[:verb]):
        return -1
    return verb
