"""Which noun phrase a pronoun stands for, when there is only one that it can be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from certirag.text.tokens import (
    Token,
    Tokens,
    clause_verb,
    depths,
    is_capitalised,
    is_number,
    is_plural,
)
from certirag.text.word_classes import (
    BE,
    DETERMINERS,
    NUMBER_WORDS,
    PERSONAL,
    PREPOSITIONS,
    SCOPED_SUBJECTS,
    is_verb_form,
    word_set,
)

_SINGULAR_DETERMINERS: Final = word_set("the a an its their his her each this that every")
_INSTITUTIONS: Final = word_set(
    "portal policy handbook company department institute mutual committee board hotline office "
    "team plant trial group limited ltd inc gmbh union"
)


def subject_of(tokens: Sequence[Token]) -> Tokens:
    """Return the subject of the clause *tokens*, or () when it is not a plain noun phrase.

    A subject with a quantity that governs the whole sentence ("no employee", "some users") is
    not plain: repeated in a second sentence it would mean something else.
    """
    verb = clause_verb(tokens)
    if verb < 1:
        return ()
    subject = tuple(tokens[:verb])
    while subject and subject[-1].lower.endswith("ly"):
        subject = subject[:-1]
    if not subject or subject[0].lower in SCOPED_SUBJECTS or subject[0].lower in PERSONAL:
        return ()
    if is_number(subject[0]) or any(depths(subject)):
        return ()
    if any(t.lower in {"who", "which", "that", "whose", "and", "or", "there"} for t in subject):
        return ()
    return subject


def is_plural_subject(subject: Sequence[Token]) -> bool:
    """Say whether *subject* takes a plural verb, judged by its head noun."""
    head = head_of(subject)
    if any(token.lower == "and" for token in subject):
        return True
    return bool(head) and is_plural(head[0])


def head_of(phrase: Sequence[Token]) -> Tokens:
    """Return the head noun of *phrase*: the last word before its first preposition."""
    words = []
    for token in phrase:
        if token.lower in {"of", "in", "on", "at", "for", "by", "with", "from", "to", "who"}:
            break
        words.append(token)
    return tuple(words[-1:])


def antecedent(pronoun: str, clause: Sequence[Token], *, strict: bool) -> Tokens:
    """Return the noun phrase of *clause* that *pronoun* must mean, or ().

    Only the subject can be it, it must agree in number, and nothing else in the clause may
    agree too. Without *strict* (inside one sentence) bare plurals and places are no rivals.
    """
    word = {"its": "it", "their": "they", "his": "he", "her": "she"}.get(pronoun, pronoun)
    subject = subject_of(clause)
    if not subject:
        return ()
    # a name such as "Field Services" may be followed by "it" as well as by "they"
    name = len(subject) > 1 and all(map(is_capitalised, subject[-2:]))
    plural = is_plural_subject(subject) and not (name and word == "it")
    rest = _after_copula(clause[len(subject) :])
    if word == "they":
        rivals = _plural_rivals((*subject[1:-1], *rest), strict=strict)
        return subject if plural and not rivals else ()
    if plural:
        return ()
    names = _is_person(subject)
    if word in {"he", "she"}:
        return subject if names and not _person_rivals(rest) else ()
    if names and word == "it" and not is_plural(subject[-1]):
        return ()
    return () if _singular_rivals(rest, strict=strict) or _inner_rivals(subject) else subject


def _after_copula(rest: Sequence[Token]) -> Sequence[Token]:
    """Drop "was a randomised trial": what the subject is said to be is no rival of it."""
    if len(rest) < 2 or rest[0].lower not in BE or rest[1].lower not in DETERMINERS:
        return rest
    end = next((i for i, t in enumerate(rest) if t.lower in PREPOSITIONS), len(rest))
    return rest[end:]


def _is_person(phrase: Sequence[Token]) -> bool:
    """Say whether *phrase* looks like a person's name (two or three capitalised words)."""
    return (
        2 <= len(phrase) <= 4
        and all(is_capitalised(t) or t.text == "." for t in phrase)
        and phrase[0].lower not in DETERMINERS
        and not any(t.lower in _INSTITUTIONS or t.text.isupper() for t in phrase)
    )


def _person_rivals(rest: Sequence[Token]) -> bool:
    return any(is_capitalised(a) and is_capitalised(b) for a, b in pairwise(rest))


def _plural_rivals(tokens: Sequence[Token], *, strict: bool) -> bool:
    for index, token in enumerate(tokens):
        if not is_plural(token) or token.lower in _UNITS:
            continue
        before = tokens[index - 1] if index else None
        named = before is not None and (before.lower in DETERMINERS or is_capitalised(before))
        if strict or named:
            return True
    return False


def _singular_rivals(tokens: Sequence[Token], *, strict: bool) -> bool:
    """Say whether a singular thing is named: a determiner with a noun, or a proper name."""
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.lower in _SINGULAR_DETERMINERS and following is not None:
            phrase = tokens[index + 1 : index + 5]
            if not is_time(phrase) and not _plural_noun_phrase(phrase):
                return True
        modifier = following is not None and (is_plural(following) or is_capitalised(following))
        near = {t.lower for t in tokens[max(0, index - 3) : index]}
        modifier = modifier or (not strict and bool(near & {"in", "at", "near"}))
        named = is_capitalised(token) and not is_plural(token)
        if named and not modifier and token.lower not in _MONTHS:
            return True
    return False


def _inner_rivals(subject: Sequence[Token]) -> bool:
    """Say whether a name or a second definite noun stands inside a singular subject."""
    for index, token in enumerate(subject[1:], start=1):
        if token.lower in _SINGULAR_DETERMINERS:
            return not is_time(subject[index + 1 : index + 4])
    return False


def _plural_noun_phrase(phrase: Sequence[Token]) -> bool:
    """Say whether the noun phrase at the front of *phrase* ends in a plural noun."""
    last: Token | None = None
    for token in phrase:
        word = token.lower
        if not word[:1].isalnum() or word in _BREAKS or is_verb_form(word) or word.endswith("ly"):
            break
        last = token
    return last is not None and is_plural(last)


_BREAKS: Final = PREPOSITIONS | frozenset({"and", "or", "but", "that", "who", "which"})


def is_time(phrase: Sequence[Token]) -> bool:
    """Say whether *phrase* names a time or an amount of it, which no pronoun stands for."""
    return any(
        t.lower in _UNITS or t.lower in _MONTHS or _YEAR.match(t.text) is not None
        for t in phrase[:3]
    )


_YEAR: Final = re.compile(r"(?:1[89]|20)\d\d$")


_MONTHS: Final = word_set(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday q1 q2 q3 q4 h1 h2"
)
_UNITS: Final = (
    word_set(
        "day days week weeks month months year years hour hours minute minutes second seconds "
        "quarter quarters percent euros dollars time times end beginning start century "
        "morning evening night noon midnight rate"
    )
    | NUMBER_WORDS
)
