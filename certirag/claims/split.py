"""One sentence into atomic claims, without ever dropping a qualifier.

A cut is made only where both halves are sure to keep their meaning; where it is not sure the
sentence stays whole. Conditions, attributions and time frames at the front go with every piece
(CertiRAG seed §5.2 D, §13.1 T-U2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from certirag.claims.clauses import cut_clauses, cut_relative, cut_semicolon, cut_that
from certirag.claims.frames import frame_of
from certirag.claims.nominals import cut_neither, cut_objects, cut_subjects
from certirag.claims.predicates import cut_figures, cut_predicates
from certirag.text.tokens import Token, Tokens, render, supplied, tokenize

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
