"""What a question asks: its words, which of them a text holds, and where it may ask two things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.text.stems import FUNCTION_WORDS, stem
from certirag.text.word_classes import word_set

# The words of a question and of a text, stemmed: to say what a passage holds, never to rank it.

_STOP: Final = FUNCTION_WORDS | word_set(
    "according all amount any applies apply both called company's currently document documents "
    "each either every exactly far fast figure get gets give given happen happens instead just "
    "kind know left long many mean means more most much name named need needs no not now number "
    "often old one only per percentage please policy proportion quickly say share since some soon "
    "sort state stated still tell there's time type until use used using very what's whether why "
    "within without"
)
# Words that a question and a text use for one another; the first is the group's name.
_GROUPS: Final = (
    "maximum highest max most upper limit ceiling cap largest biggest",
    "minimum lowest min least smallest",
    "employee staff worker colleague personnel people",
    "begin start starting commence beginning onset",
    "end expire expiry finish terminate lapse",
    "pay paid payment payable payout",
    "cost price fee charge rate",
    "buy purchase acquire acquisition bought",
    "yearly annual annually year",
    "monthly month",
    "daily day",
    "nightly night",
    "weekly week",
    "revenue sales turnover",
    "profit earnings income",
    "head lead leader chief manager",
    "remote remotely home",
    "allow allowed permit permitted permission",
    "forbid forbidden prohibit prohibited ban banned",
    "medicine drug medication",
    "child children paediatric",
    "renal kidney",
    "hepatic liver",
    "store stored storage keep kept retain retained",
    "report reported reporting notify notified",
    "phone telephone call",
    "location office site",
    "car vehicle",
    "vacation holiday",
    "2fa two-factor",
    "founded establish established",
    "show shown showed",
    "take taken took",
    "give given gave",
    "choose chosen chose",
    "hold held",
    "send sent",
    "sell sold",
    "write written wrote",
    "grow grown grew",
    "rise risen rose",
    "divide divided split",
    "smoke smoker smokers smoked smoking",
    "carry carried",
    "lose lost",
    "work worked employ employed employs",
    "quote quotation offer",
)


@dataclass(frozen=True, slots=True)
class Ask:
    """A question as read: stems of its content words in order, each once, and its names."""

    terms: tuple[str, ...]
    names: frozenset[str] = frozenset()


def term_of(word: str) -> str:
    """Return what *word* is counted by: its stem, words of one meaning made one."""
    plain = stem(word)
    return _SAME.get(plain, plain)


_SAME: Final = {stem(word): stem(line.split()[0]) for line in _GROUPS for word in line.split()}


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of *text*."""
    found = set()
    for match in _WORD.finditer(text):
        word = match.group()
        for part in (word, *re.split(r"[-.]", word)) if "-" in word else (word,):
            if part.lower() not in _STOP and part:
                found.add(term_of(part))
    return frozenset(found)


def read_question(question: str) -> Ask:
    """Return what *question* asks about."""
    terms: dict[str, None] = {}
    for match in _WORD.finditer(question):
        word = match.group()
        if word.lower() not in _STOP and (len(word) > 1 or word.isdigit()):
            terms[term_of(word)] = None
    names = {
        term_of(m.group()) for m in _WORD.finditer(question) if m.start() and m.group()[0].isupper()
    }
    return Ask(tuple(terms), frozenset(names))


def has_term(term: str, words: Iterable[str]) -> bool:
    """Say whether *term* is among *words*, a long word also by its first letters."""
    pool = words if isinstance(words, set | frozenset) else set(words)
    if term in pool:
        return True
    if len(term) < 5 or not term.isalpha():
        return False
    head = term[: max(5, len(term) - 3)]
    return any(word.startswith(head) and abs(len(word) - len(term)) <= 4 for word in pool)


# Words are read here only to explain an answer or to suggest another question.
MAX_WORDS: Final = 24
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[.'’-]\w+)*")
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
        word, term = match.group(), term_of(match.group())
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
