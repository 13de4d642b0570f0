"""One sentence into atomic claims, without ever dropping a qualifier.

What stands in front of a statement governs all of it: sources, conditions, times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from certirag.claims.clauses import cut_clauses, cut_relative, cut_semicolon, cut_that
from certirag.claims.nominals import cut_neither, cut_objects, cut_subjects
from certirag.claims.predicates import cut_figures, cut_predicates
from certirag.text.tokens import (
    Token,
    Tokens,
    clause_verb,
    depths,
    finite_verb,
    render,
    supplied,
    tokenize,
)
from certirag.text.word_classes import PREPOSITIONS, SAYING, word_set

_CONDITIONS: Final = word_set(
    "if unless when whenever once where wherever until provided while as before after since "
    "although though because whether even until during assuming should"
)
_ADVERBS: Final = word_set(
    "currently today reportedly allegedly apparently generally normally usually typically "
    "previously formerly initially originally historically overall annually"
)
_DENYING: Final = word_set(
    "not never no denies denied doubt doubts false untrue unclear whether if cannot"
)
Rule = Callable[[Tokens], tuple[Tokens, ...]]


@dataclass(frozen=True, slots=True)
class Frame:
    """The front *length* tokens; not *divisible* when its end cannot be told."""

    length: int = 0
    divisible: bool = True
    refused: tuple[Rule, ...] = ()
    time: str = ""
    said: bool = False

    def is_replaced_by(self, part: Tokens) -> bool:
        """Say whether *part* opens with a time of its own in place of the frame's."""
        return bool(self.time) and bool(part) and part[0].lower == self.time


WHOLE: Final = Frame(divisible=False)


def frame_of(tokens: Tokens) -> Frame:
    """Return the frame of a sentence: how many tokens at its front belong to every piece."""
    if not tokens:
        return WHOLE
    if _trailing_source(tokens):
        return WHOLE
    first = tokens[0].lower
    if first == "according" or first in _ADVERBS:
        return _to_comma(tokens, needs_verb=False)
    if first in _CONDITIONS:
        return _to_comma(tokens, needs_verb=first not in PREPOSITIONS | {"during", "where"})
    if first in PREPOSITIONS:
        frame = _to_comma(tokens, needs_verb=False)
        return Frame(frame.length, frame.divisible, frame.refused, time=first)
    return _saying(tokens)


def _to_comma(tokens: Tokens, *, needs_verb: bool) -> Frame:
    inside = depths(tokens)
    for index, token in enumerate(tokens):
        if token.text != "," or inside[index]:
            continue
        if needs_verb and finite_verb(tokens[:index]) < 0 and index > 8:
            return WHOLE
        rest = tokens[index + 1 :]
        if rest and rest[0].lower in {"and", "or", "but"}:
            continue
        if clause_verb(rest) > 0 or _list_subject(rest):
            return Frame(index + 1)
    return WHOLE


def _list_subject(rest: Tokens) -> bool:
    verb = finite_verb(rest)
    return verb > 0 and any(t.lower == "and" for t in rest[:verb])


def _saying(tokens: Tokens) -> Frame:
    """Read "X states that …": all up to "that" is the source of every piece."""
    for index, token in enumerate(tokens[:-1]):
        if token.lower == "that" and index and tokens[index - 1].lower in SAYING:
            # "Jane Smith, the CFO, said that …" has two commas round an apposition
            commas = sum(t.text == "," for t in tokens[:index])
            if commas not in {0, 2} or any(t.lower in _DENYING for t in tokens[:index]):
                return WHOLE
            if clause_verb(tokens[index + 1 :]) < 1:
                return WHOLE
            # a clause after a comma may be the writer's own again, or still the source's
            refused: tuple[Rule, ...] = (cut_semicolon,)
            if any(t.text == "," for t in tokens[index:]):
                refused = (cut_semicolon, cut_clauses)
            return Frame(index + 1, refused=refused, said=True)
        if token.lower == "that" and index and tokens[index - 1].lower in _REPORTING:
            return WHOLE
        # "Critics say the drug is unsafe and is costly": nobody but the critics says so
        told = index and token.lower in SAYING | _REPORTING - _COPULAS
        if told and tokens[index + 1].lower != "that" and clause_verb(tokens[index + 1 :]) > 0:
            return WHOLE
    return Frame()


_COPULAS: Final = frozenset({"is", "was", "not"})
_REPORTING: Final = word_set(
    "is was clear true false possible likely unlikely not believes believe think thinks assume "
    "think thought suggests suggest argues argue hopes hope feels feel "
    "expects expect estimated believed denied denies agreed agree ensure ensures"
)


def _trailing_source(tokens: Tokens) -> bool:
    """Say whether the sentence ends in ", according to X" or ", X said": it governs the whole."""
    commas = [i for i, t in enumerate(tokens) if t.text == ","]
    if any(t.lower == "according" for t in tokens[1:]):
        return True
    if not commas:
        return False
    tail = [t.lower for t in tokens[commas[-1] + 1 :] if t.text.isalnum()]
    return 0 < len(tail) <= 6 and tail[-1] in {"said", "says", "reported", "reports", "wrote"}


# A longer sentence is over every policy's word cap anyway; the limit keeps the work linear.
MAX_TOKENS: Final = 400
MAX_PIECES: Final = 24
_TABLE_ROW: Final = re.compile(r"[^:;]{1,200}: [^;]{0,300}(?:; [^:;]{1,200}: [^;]{0,300})+")
_RULES: Final[tuple[Callable[[Tokens], tuple[Tokens, ...]], ...]] = (
    cut_semicolon,
    cut_relative,
    cut_clauses,
    cut_predicates,
    cut_neither,
    cut_figures,
    cut_subjects,
    cut_objects,
)


@dataclass(frozen=True, slots=True)
class ClaimPiece:
    """An atomic claim: the clause it comes from is ``sentence[start:end]``.

    *supplied* lists the words that were taken from elsewhere in the sentence, or added, to
    make *text* stand alone.
    """

    text: str
    start: int
    end: int
    supplied: tuple[str, ...] = ()


def is_table_row(text: str) -> bool:
    """Say whether *text* is a table row written as "Column: value; Column: value"."""
    return len(text) <= 8000 and _TABLE_ROW.match(text) is not None


def split_claims(sentence: str) -> tuple[ClaimPiece, ...]:
    """Return the atomic claims of one sentence in order; a blank sentence has none.

    Offsets are code points in *sentence*. Total: a text that is not understood comes back
    whole as one piece.
    """
    text = sentence.strip()
    if not text:
        return ()
    start = sentence.index(text)
    whole = (ClaimPiece(text, start, start + len(text)),)
    if text.endswith("?") or is_table_row(text):
        return whole
    tokens = tokenize(sentence)
    if not 4 <= len(tokens) <= MAX_TOKENS or any(t.lower == "respectively" for t in tokens):
        return whole
    parts = _cut(tokens, depth=0)
    if not 1 < len(parts) <= MAX_PIECES:
        return whole
    return tuple(_piece(part, stop=text[-1] if text[-1] in ".!" else "") for part in parts)


def _cut(tokens: Tokens, *, depth: int) -> tuple[Tokens, ...]:
    """Cut *tokens* as far as the rules allow; each part keeps the frame at the front."""
    frame = frame_of(tokens)
    if not frame.divisible or depth > 8:
        return (tokens,)
    front, body = tokens[: frame.length], tokens[frame.length :]
    for rule in (cut_that, *_RULES) if frame.said else _RULES:
        if rule in frame.refused:
            continue
        parts = rule(body)
        if len(parts) < 2:
            continue
        found: list[Tokens] = []
        for index, part in enumerate(parts):
            lead = () if index and frame.is_replaced_by(part) else front
            found.extend(_cut((*(supplied(lead) if index else lead), *part), depth=depth + 1))
        return tuple(found)
    return (tokens,)


def _piece(tokens: Tokens, *, stop: str) -> ClaimPiece:
    words = list(tokens)
    while words and words[-1].text in ",;.!":
        words.pop()
    text = render(words)
    head = text.split(" ", 1)[0]
    if head.islower() or (head[:1].islower() and head[1:].islower()):
        text = text[:1].upper() + text[1:]
    own = [token for token in words if token.own]
    start = min(token.start for token in own) if own else 0
    end = max(token.end for token in own) if own else 0
    return ClaimPiece(text + stop, start, end, _runs(words))


def _runs(words: list[Token]) -> tuple[str, ...]:
    """Return the supplied words, those that stand together in one string."""
    runs: list[str] = []
    current: list[Token] = []
    for token in (*words, None):
        if token is not None and not token.own:
            current.append(token)
        elif current:
            runs.append(render(current))
            current = []
    return tuple(runs)
