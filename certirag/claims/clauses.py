"""Cuts between whole clauses: semicolons, "…, and …", reasons, and "…, which …"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from certirag.claims.antecedent import antecedent, is_time, subject_of
from certirag.text.tokens import (
    Token,
    Tokens,
    clause_verb,
    depths,
    finite_verb,
    is_capitalised,
    is_figure,
    is_finite,
    is_plural,
    supplied,
)
from certirag.text.word_classes import (
    ANAPHORS,
    AUXILIARIES,
    DEADLINES,
    DEFINITE,
    LIMITS,
    PAST_FORMS,
    PAST_ONLY,
    PERSONAL,
    PREPOSITIONS,
    SCOPED_SUBJECTS,
    SUBORDINATORS,
    TEMPORAL,
    word_set,
)

# A time frame that two clauses share although only one of them names it.

_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:[-–/]\d\d(?:\d\d)?)?$")
_PERIOD_WORDS: Final = word_set(
    "q1 q2 q3 q4 h1 h2 quarter half year january february march april may june july august "
    "september october november december fiscal fy the first second third fourth of last"
)
_CORE: Final = _PERIOD_WORDS - {"the", "of", "first", "second", "third", "fourth", "may", "last"}


def _period(tokens: Tokens) -> tuple[int, int]:
    """Return the bounds of the first "in Q3 2024"-like phrase, or (-1, -1)."""
    for start, token in enumerate(tokens):
        if token.lower not in {"in", "during", "for", "by", "since", "at", "on", "until", "from"}:
            continue
        end = start + 1
        while end < len(tokens) and (
            tokens[end].lower in _PERIOD_WORDS
            or _YEAR.match(tokens[end].text)
            or tokens[end].text.isdigit()
        ):
            end += 1
        if any(t.lower in _CORE or _YEAR.match(t.text) for t in tokens[start + 1 : end]):
            return start, end
    return -1, -1


def _has_time(tokens: Tokens) -> bool:
    return _period(tokens)[0] >= 0 or any(
        _YEAR.match(t.text) or t.lower in _CORE or t.lower in {"ago", "today", "now", "still"}
        for t in tokens
    )


def _is_past(tokens: Tokens) -> bool:
    verb = clause_verb(tokens)
    word = tokens[verb].lower if verb > 0 else ""
    return word in PAST_FORMS or word in {"was", "were", "had", "did"}


def _figures(tokens: Tokens) -> bool:
    return any(token.text[0].isdigit() for token in tokens)


def _is_stop(token: Token) -> bool:
    return token.text in ".!"


def share_period(left: Tokens, right: Tokens) -> tuple[Tokens, ...]:
    """Return both clauses, the period of the one given to the other where that is what is meant.

    "Revenue rose 5% in Q3 2024, and costs fell 3%" says nothing of costs in other quarters:
    without the period the second claim would say more than the sentence does.
    """
    if not (_is_past(left) and _is_past(right) and _figures(left) and _figures(right)):
        return (left, right)
    if _has_time(left) and not _has_time(right):
        start, end = _period(left)
        if start >= 0:
            stop = right[-1:] if _is_stop(right[-1]) else ()
            body = right[: len(right) - len(stop)]
            return (left, (*body, *supplied(left[start:end]), *stop))
    if _has_time(right) and not _has_time(left):
        start, end = _period(right)
        if start >= 0 and right[0].lower not in {"in", "during"}:
            return ((*left, *supplied(right[start:end])), right)
    return (left, right)


Parts = tuple[Tokens, ...]
_JOINS: Final = frozenset({"and", "but", "so", "whereas", "because", "since", "yet", "while"})
_LINKS: Final = frozenset({"however", "moreover", "furthermore", "also", "therefore"})
_UNSAFE_START: Final = frozenset(
    {"then", "there", "otherwise", "else", "thereafter", "both", "neither", "either", "each", "one"}
    | {"some", "others", "none", "all", "in", "even", "thus", "hence", "instead", "such"}
)
# A reduced or cautious clause after these is part of the statement, not a second one.
_TRAILING: Final = LIMITS - frozenset({"only", "solely", "merely", "without", "although", "though"})


def cut_semicolon(tokens: Tokens) -> Parts:
    """Cut at a semicolon between two clauses that can each stand alone."""
    for index in _marks(tokens, ";"):
        left, right = tokens[:index], tokens[index + 1 :]
        if right and right[0].lower in _LINKS:
            right = right[1:]
            right = right[1:] if right and right[0].text == "," else right
        if clause_verb(left) < 1:
            continue
        right = stand_alone(left, right)
        if right and not _has(left, _TRAILING - {"where", "while", "once"}):
            return (left, right)
    return ()


def cut_clauses(tokens: Tokens) -> Parts:
    """Cut "A does X, and B does Y" (also but, so, whereas, because) where it is safe."""
    inside = depths(tokens)
    for index, token in enumerate(tokens):
        if token.lower not in _JOINS or inside[index] or index < 2:
            continue
        comma = tokens[index - 1].text == ","
        left = tokens[: index - 1] if comma else tokens[:index]
        right = tokens[index + 1 :]
        if not _joinable(token.lower, left, right, comma=comma):
            continue
        right = stand_alone(left, right)
        if right:
            return share_period(left, right)
    return ()


def _joinable(join: str, left: Tokens, right: Tokens, *, comma: bool) -> bool:
    verb = clause_verb(left)
    if verb < 1 or verb + 1 >= len(left) or not right:
        return False
    if _has(left, SUBORDINATORS - {"before", "after", "than"} - ({"who"} if comma else set())):
        return False
    if any(token.lower in {"between", "whether", "both", "either", "neither"} for token in left):
        return False
    if _limited_after_comma(right):
        return False
    if join in {"while", "whereas"}:
        # "while" may mean "as long as": only figures on both sides make it a plain contrast
        figures = all(any(t.text[0].isdigit() for t in side) for side in (left, right))
        return comma and (join == "whereas" or figures)
    if join in {"so", "because", "since", "yet"}:
        return comma and right[0].lower != "that"
    if comma:
        return True
    # without a comma the two may be one noun phrase: ask for a second subject in plain sight
    start = right[0].lower
    plain = start in DEFINITE | {"a", "an"} | PERSONAL or (
        is_capitalised(right[0]) and not is_capitalised(left[-1])
    )
    verb = clause_verb(right)
    if not plain and verb > 0 and is_figure(left[-1]):
        plain = right[verb].lower in AUXILIARIES | PAST_ONLY
    if _has(right, DEADLINES) and not _has(left, DEADLINES | TEMPORAL):
        return False
    return plain and not _has(right, _TRAILING) and verb <= 6


def cut_that(tokens: Tokens) -> Parts:
    """Cut "[X says that] A and that B"; only for what follows a source's "that"."""
    inside = depths(tokens)
    for index in range(1, len(tokens) - 2):
        pair = (tokens[index].lower, tokens[index + 1].lower)
        if pair != ("and", "that") or inside[index]:
            continue
        left = tokens[: index - (tokens[index - 1].text == ",")]
        if clause_verb(left) < 1 or _has(left, SUBORDINATORS - {"before", "after", "than"}):
            return ()
        right = stand_alone(left, tokens[index + 2 :])
        return (left, right) if right and not _limited_after_comma(right) else ()
    return ()


def stand_alone(left: Tokens, right: Tokens) -> Tokens:
    """Return *right* as a clause of its own, its pronoun resolved from *left*; () if unsafe."""
    verb = clause_verb(right)
    if verb < 1 or right[0].lower in _UNSAFE_START:
        return ()
    if right[0].lower in PERSONAL:
        referent = antecedent(right[0].lower, left, strict=False)
        if not referent or _anaphoric(right[1:]):
            return ()
        return (*supplied(referent), *right[1:])
    if _anaphoric(right[:verb]) or any(
        t.lower in {"its", "their", "his", "her"} for t in right[:verb]
    ):
        return ()
    return () if _anaphoric(right[verb:]) else right


def _anaphoric(tokens: Sequence[Token]) -> bool:
    """Say whether *tokens* point at something outside: "it", "these rooms", "the same"."""
    for index, token in enumerate(tokens):
        word = token.lower
        if word not in ANAPHORS:
            continue
        relative = word == "that" and index and is_finite_next(tokens, index)
        own = word in PERSONAL | {"them"} and any(
            t.lower in {"before", "after", "when", "until", "if", "once", "unless", "while"}
            for t in tokens[:index]
        )
        if not relative and not own:
            return True
    return False


def is_finite_next(tokens: Sequence[Token], index: int) -> bool:
    """Say whether the word after *index* is a finite verb, as in a relative clause."""
    return index + 1 < len(tokens) and is_finite(tokens, index + 1)


def _limited_after_comma(tokens: Sequence[Token]) -> bool:
    return any(
        a.text == "," and (b.lower in LIMITS or b.lower in {"according", "which", "but"})
        for a, b in pairwise(tokens)
    )


def _has(tokens: Sequence[Token], words: frozenset[str]) -> bool:
    return any(
        token.lower in words and not (token.lower == "once" and _is_rate(tokens, index))
        for index, token in enumerate(tokens)
    )


def _is_rate(tokens: Sequence[Token], index: int) -> bool:
    """Say whether "once" counts ("once a day", "once, by …") and opens no condition."""
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    return following in {"a", "an", "per", "every", "daily", "in", ",", ""}


def _marks(tokens: Tokens, mark: str) -> tuple[int, ...]:
    inside = depths(tokens)
    return tuple(i for i, t in enumerate(tokens) if t.text == mark and not inside[i])


def cut_relative(tokens: Tokens) -> Parts:
    """Give ", which …" or ", who …" its own claim, with the noun before it as subject."""
    inside = depths(tokens)
    for comma in _marks(tokens, ","):
        after = comma + 1
        if after + 2 > len(tokens) or inside[comma]:
            continue
        if tokens[after].lower not in {"which", "who"} or not is_finite_next(tokens, after):
            continue
        end = next((i for i in _marks(tokens, ",") if i > after), len(tokens))
        relative, tail = tokens[after + 1 : end], tokens[end + 1 :]
        if _has(relative, LIMITS) or _anaphoric(relative):
            continue
        if tail and finite_verb((*tokens[:comma], *tail), comma) != comma:
            continue
        noun = _noun_before(tokens[:comma], whole=bool(tail))
        if noun:
            main = (*tokens[:comma], *tail)
            return (main, (*supplied(noun), *relative))
    return ()


def _noun_before(left: Tokens, *, whole: bool) -> Tokens:
    """Return the one noun phrase at the end of *left* that "which" can mean, or ()."""
    if whole:
        return _definite(left)
    verb = clause_verb(left)
    if verb < 1:
        return ()
    start = len(left)
    while start > verb + 1 and left[start - 1].lower not in PREPOSITIONS - {"of"}:
        start -= 1
    noun, before = left[start:], left[start - 1]
    if not noun or any(t.lower in {"and", "or", "not", "that", "who"} for t in noun):
        return ()
    if before.lower in TEMPORAL and is_time(noun):
        return ()
    if start == verb + 1 or _is_verb_before(left, start - 1, verb) or start - 2 == verb:
        return _nominal(noun)
    if before.lower in PREPOSITIONS and not _names_thing(noun):
        # "six weeks of leave at full pay": "full pay" is a manner, the whole object is meant
        object_start = verb + 1
        while object_start < start and left[object_start].lower in {"be", "been", "not"}:
            object_start += 1
        phrase = left[object_start:]
        plain = not any(t.lower in {"and", "or", "by", "to", "that"} for t in phrase)
        return _nominal(phrase) if plain else ()
    return ()


def _is_verb_before(left: Tokens, preposition: int, verb: int) -> bool:
    """Say whether the preposition follows the main verb: "is requested on", "go to"."""
    before = left[preposition - 1].lower
    passive = before.endswith(("ed", "en", "wn")) or before in _IRREGULAR_PASSIVE
    helper = left[preposition - 2].lower if preposition > 1 else ""
    return passive and (helper in AUXILIARIES | {"be", "been"} or preposition - 1 == verb)


_IRREGULAR_PASSIVE: Final = frozenset({"made", "held", "sent", "paid", "kept", "sold", "led", "go"})


def _names_thing(noun: Sequence[Token]) -> bool:
    return noun[0].lower in DEFINITE | {"a", "an"} or is_capitalised(noun[0]) or is_plural(noun[-1])


def _nominal(noun: Tokens) -> Tokens:
    """Return *noun* if it looks like a noun phrase and not like an adjective or an adverb."""
    first = noun[0].lower
    known = first in DEFINITE | {"a", "an"} or is_capitalised(noun[0]) or is_plural(noun[-1])
    number = noun[0].text[0].isdigit() or any(is_plural(token) for token in noun)
    coded = any(c.isdigit() for c in noun[-1].text) and first.isalpha()
    return noun if (known or number or coded) and first not in SCOPED_SUBJECTS else ()


def _definite(subject: Tokens) -> Tokens:
    """Return *subject* if it names one thing; "Employees, who …, may …" may be a limit."""
    # a bare plural ("Employees") is where writers put a comma before a limit
    plain = subject_of((*subject, Token("is", -1, -1)))
    if not plain:
        return ()
    named = all(map(is_capitalised, plain)) and (len(plain) > 1 or not is_plural(plain[0]))
    definite = plain[0].lower in DEFINITE or named
    quantified = plain[0].lower in {"each", "every"}
    return plain if definite and not quantified else ()


# ", which was 7.6% more than a year earlier" measures the figure before it: one statement
_CHANGES: Final = word_set("more less higher lower up down increase decrease rise fall")


def joins_clauses(tokens: Tokens) -> bool:
    """Say whether *tokens* plainly join two statements, even where they cannot be cut."""
    if any(t.lower in SUBORDINATORS - {"which", "who", "than", "before", "after"} for t in tokens):
        return False
    inside = depths(tokens)
    for index, token in enumerate(tokens[:-2]):
        if inside[index] or token.text not in ",;" or clause_verb(tokens[:index]) < 1:
            continue
        after = tokens[index + 1]
        if after.lower in {"which", "who"} and is_finite_next(tokens, index + 1):
            end = next((i for i in _marks(tokens, ",") if i > index), len(tokens))
            relative = tokens[index:end]
            if end == len(tokens) and not _has(relative, LIMITS | _CHANGES):
                return True
        joined = after.lower in {"and", "but"} and clause_verb(tokens[index + 2 :]) > 0
        if joined or (token.text == ";" and clause_verb(tokens[index + 1 :]) > 0):
            return True
    return False
