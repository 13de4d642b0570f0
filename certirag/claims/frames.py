"""What stands in front of a statement and governs all of it: sources, conditions, times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from certirag.claims.clauses import cut_clauses, cut_semicolon
from certirag.text.tokens import Tokens, clause_verb, depths, finite_verb
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
