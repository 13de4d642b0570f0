"""A time frame that two clauses share although only one of them names it."""

from __future__ import annotations

import re
from typing import Final

from certirag.claim_ir.tokens import Token, Tokens, clause_verb, supplied
from certirag.claim_ir.verbs import PAST_FORMS
from certirag.claim_ir.words import word_set

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
