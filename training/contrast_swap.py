"""Puts one phrase for another in a text, and says what that does to a claim."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache

from training.rows import RowLabel


def drawing(seed: object) -> random.Random:
    """Return draws that *seed* alone decides, the same on every machine."""
    return random.Random(str(seed))  # noqa: S311  # an order, not a secret


@dataclass(frozen=True, slots=True)
class Edit:
    """Puts *new* for *old* wherever a text has it.

    *forth* is the label of a text with *old* and a claim with *new*; *back* that of a text with
    *new* and a claim with *old*. None: the claim still follows, or nobody can be sure.
    """

    kind: str
    old: str
    new: str
    forth: RowLabel | None
    back: RowLabel | None


@cache
def _whole(words: str) -> re.Pattern[str]:
    start = r"(?<![\w-])" if words[0].isalnum() else ""
    end = r"(?![\w-])" if words[-1].isalnum() else ""
    return re.compile(rf"\b([Aa]n?) ({start}{re.escape(words)}{end})|{_bounded(words)}")


def _bounded(words: str) -> str:
    start = r"(?<![\w-])(?<!\d[.,])" if words[0].isalnum() else ""
    end = r"(?![\w-])(?![.,]\d)" if words[-1].isalnum() else ""
    return rf"({start}{re.escape(words)}{end})"


def holds(text: str, words: str) -> bool:
    """Whether *text* has *words* as whole words, letter for letter or as a sentence's start."""
    return bool(_whole(words).search(text)) or text.startswith(words[0].upper() + words[1:] + " ")


def swapped(text: str, old: str, new: str) -> str:
    """Put *new* for every whole *old*, keeping a capital first letter and mending a or an."""
    if text.startswith(old[0].upper() + old[1:] + " "):
        text = new[0].upper() + new[1:] + text[len(old) :]

    def put(match: re.Match[str]) -> str:
        if match[1] is None:
            return new
        article = match[1][0] + ("n" if new[0].lower() in "aeiou" else "")
        return f"{article} {new}"

    return _whole(old).sub(put, text)
