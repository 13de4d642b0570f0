"""What a question asks: its words, which of them a text holds, and where it may ask two things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.claim_ir.relevance import has_term, read_question, stem, stems

# Words are read here only to explain an answer or to suggest another question.
MAX_WORDS: Final = 24
_WORD: Final = re.compile(r"\w+(?:[.'’-]\w+)*")
# Where a question may end and a second one begin: "How long does it last, and can I extend it?"
_CUT: Final = re.compile(r"(?<=[.?!])\s+|,? and ", re.IGNORECASE)
_MOST_CUTS: Final = 4
PART: Final = " » "


@dataclass(frozen=True, slots=True)
class AskedWord:
    """One word at ``question[start:end]``; *telling* says that it is a name or holds a digit."""

    text: str
    term: str
    start: int
    end: int
    telling: bool


def asked_words(question: str) -> tuple[AskedWord, ...]:
    """Return the words of *question* that say what it is about, in order, each term once."""
    ask = read_question(question)
    terms, found = set(ask.terms), dict[str, AskedWord]()
    for match in _WORD.finditer(question):
        word, term = match.group(), stem(match.group())
        if term in terms and term not in found:
            telling = term in ask.names or any(character.isdigit() for character in word)
            found[term] = AskedWord(word, term, match.start(), match.end(), telling)
    return tuple(found.values())[:MAX_WORDS]


def divided(
    words: Sequence[AskedWord], texts: Iterable[str]
) -> tuple[tuple[AskedWord, ...], tuple[AskedWord, ...]]:
    """Return those of *words* that stand in one of *texts*, and those that stand in none."""
    pool = frozenset().union(*(stems(text) for text in texts))
    held = tuple(word for word in words if has_term(word.term, pool))
    return held, tuple(word for word in words if word not in held)


def quoted(words: Sequence[AskedWord], limit: int = 4) -> str:
    """Return *words* in quotation marks, parted by commas, at most *limit* of them."""
    return ", ".join(f"“{word.text}”" for word in words[:limit])


def part_of(question: str, part: str) -> str:
    """Return the *part* of *question* as a reader is asked it: beside the whole that it may lean on.

    "How long is the lease, and who pays?" and "who pays?" give "How long is the lease, and who
    pays? » who pays?". Readers are taught on such texts (`fixtures/everyday`).
    """
    return f"{question.strip()}{PART}{part}"


def halves(question: str) -> list[tuple[str, str]]:
    """Return each way to cut *question* in two where a second question may begin."""
    found = [
        (question[: c.start()].strip(), question[c.end() :].strip())
        for c in _CUT.finditer(question)
    ]
    sound = [pair for pair in found if all(any(map(str.isalnum, part)) for part in pair)]
    return sound[:_MOST_CUTS]
