"""Edits of a claim's words: its statement denied or its denial dropped, another name put in.

What an edit of any claim is, and what has to be known of the evidence to make one, stands first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from certirag.core.verdict import PlantKind
from certirag.quantities.find import find_figures
from certirag.text.tokens import Tokens, finite_verb, is_plural, tokenize
from certirag.text.word_classes import (
    BASE_FORMS,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    PARTICIPLES,
    PAST_FORMS,
    PREPOSITIONS,
    STEM_OF,
    word_set,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """``text[start:end]`` replaced by *becomes*; offsets are code points."""

    kind: PlantKind
    start: int
    end: int
    becomes: str

    def applied(self, text: str) -> str:
        """Return *text* with the edit made."""
        return text[: self.start] + self.becomes + text[self.end :]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The evidence around one claim.

    *attached* are the sentences that it stands on, *compared* all sentences it was compared with
    and the headings over them, *retrieved* the readable sentences of all that was retrieved.
    """

    attached: tuple[str, ...]
    compared: tuple[str, ...]
    retrieved: tuple[str, ...]


def plain(text: str) -> str:
    """Return *text* in lower case with single blanks and plain apostrophes."""
    return " ".join(text.casefold().replace("’", "'").split())


def says(texts: tuple[str, ...], words: str) -> bool:
    """Say whether *words* stand in any of *texts*, whatever their case, not inside others."""
    wanted = plain(words)
    whole = _joined(texts)
    if wanted not in whole:
        return False
    return re.search(rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])", whole) is not None


@lru_cache(maxsize=8)
def _joined(texts: tuple[str, ...]) -> str:
    return "\n".join(map(plain, texts))


_DENIES: Final = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|none|nobody|nothing|hardly|rarely)\b|n['’]t\b",
    re.IGNORECASE,
)
# What may be without ever being so is not denied by "might not".
_DENIABLE: Final = BE | word_set("must may can will shall should does do did")
_PERFECT: Final = word_set("has have had")
# "Not only" and "not necessarily" deny no statement; without the "not" they are none either.
_KEEPS_NOT: Final = word_set("only just merely simply necessarily all every always both yet until")
_OPENS: Final = word_set(
    "who which that whose if unless because when while until where before after since whether as "
    "than although though"
)
_IRREGULAR: Final = {
    "rose": "rise", "fell": "fall", "grew": "grow", "paid": "pay", "made": "make", "held": "hold",
    "kept": "keep", "led": "lead", "took": "take", "gave": "give", "became": "become",
    "began": "begin", "bought": "buy", "sold": "sell", "built": "build", "brought": "bring",
    "came": "come", "had": "have", "lost": "lose", "won": "win", "wrote": "write", "met": "meet",
    "left": "leave", "sent": "send", "spent": "spend", "chose": "choose", "found": "find",
}  # fmt: skip

_WORD: Final = re.compile(r"[^\W\d_][\w&.'’-]*[^\W_]|[^\W\d_]")
_CALENDAR: Final = word_set(
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday"
)
_TITLES: Final = word_set("dr mr mrs ms prof sir")
# Names of nothing, for where the documents hold no other name that could be taken for this one.
_MADE_UP: Final = ("Brenholt", "Kestrum", "Ovidane", "Tolvarin")
_MADE_UP_SHORT: Final = ("QZV", "XKJ", "VWQ")
_MOST_WORDS: Final = 4


def negation_edits(text: str, _around: Surroundings) -> Iterator[Edit]:
    """Yield the edit that turns the claim's statement into its denial, or back; often none.

    The evidence is not asked: where it bears out a statement, it does not bear out its denial.
    """
    denials = list(_DENIES.finditer(text))
    if not denials and "only" not in plain(text).split():  # denies what? the fact, or the "only"
        yield from _denied(tokenize(text))
    elif len(denials) == 1:
        yield from _admitted(text, denials[0])


def _denied(tokens: Tokens) -> Iterator[Edit]:
    at = finite_verb(tokens)
    if at < 1 or any(token.lower in _OPENS for token in tokens[:at]):
        return
    verb, after = tokens[at], tokens[at + 1].lower if at + 1 < len(tokens) else ""
    word = verb.lower
    if word == "can":
        yield Edit("negation", verb.start, verb.end, "cannot")
    elif word in _DENIABLE or (word in _PERFECT and (after == "been" or after in PARTICIPLES)):
        yield Edit("negation", verb.end, verb.end, " not")
    elif word in STEM_OF:
        yield Edit("negation", verb.start, verb.end, f"does not {STEM_OF[word]}")
    elif word in BASE_FORMS and is_plural(tokens[at - 1]):
        yield Edit("negation", verb.start, verb.end, f"do not {word}")
    elif word in PAST_FORMS and _stem_of_past(word):
        yield Edit("negation", verb.start, verb.end, f"did not {_stem_of_past(word)}")


def _stem_of_past(word: str) -> str:
    """Return the stem of a past form, "" where it has none on the list."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    stems = (word[:-1], word[:-2], word[:-3], word[:-3] + "y") if word.endswith("ed") else ()
    return next((stem for stem in stems if stem in BASE_FORMS), "")


def _admitted(text: str, denial: re.Match[str]) -> Iterator[Edit]:
    """Drop the one "not" that follows the verb it denies."""
    word = denial.group().lower()
    if word == "cannot":
        yield Edit("negation", denial.start(), denial.end(), "can")
    before, after = text[: denial.start()].split(), text[denial.end() :].split()
    if word != "not" or not before or not after:
        return
    keeps = after[0].lower().strip(",.;:") in _KEEPS_NOT
    if before[-1].lower() in _DENIABLE | _PERFECT and not keeps:
        yield Edit("negation", denial.start(), denial.end() + 1, "")


@dataclass(frozen=True, slots=True)
class _Name:
    text: str
    start: int
    end: int
    opens: bool = False  # one word, and the first of its sentence or cell: it may be no name

    @property
    def words(self) -> frozenset[str]:
        return frozenset(plain(self.text).replace("-", " ").split())

    @property
    def short(self) -> bool:
        """Whether it is written in capitals alone, as an abbreviation is."""
        return self.text.isupper() and len(self.text) > 1


def entity_edits(text: str, around: Surroundings) -> Iterator[Edit]:
    """Yield edits of a name into another that none of the compared evidence mentions."""
    read = (*around.retrieved, *around.compared)
    common, known = _common_words(read), _names_in(read)
    pool = [
        name
        for name in known.values()
        if not name.words <= common and not says((*around.compared, text), name.text)
    ]
    for name in _names(text):
        nameless = name.words <= common or (name.opens and name.text not in known)
        if nameless or not says(around.compared, name.text):
            continue
        for other in (*(n.text for n in _like(name, pool)), *_made_up(name)):
            if not says((*around.compared, text), other):
                yield Edit("entity", name.start, name.end, other)


@lru_cache(maxsize=4)
def _common_words(texts: tuple[str, ...]) -> frozenset[str]:
    """Return the words that *texts* write in lower case: they name nothing by themselves."""
    words = (match.group() for text in texts for match in _WORD.finditer(text))
    return frozenset(plain(word) for word in words if word[0].islower())


@lru_cache(maxsize=4)
def _names_in(texts: tuple[str, ...]) -> dict[str, _Name]:
    """Return the names in *texts* by their own text, in order; none that only opens sentences."""
    return {name.text: name for text in texts for name in _names(text) if not name.opens}


def _like(name: _Name, pool: list[_Name]) -> list[_Name]:
    """Return the names that could stand in for *name*, those of as many words first.

    One that shares a word or an initial may be another name of the same thing.
    """
    fit = [
        other
        for other in pool
        if other.short == name.short
        and not other.words & name.words
        and other.text[0] != name.text[0]
    ]
    return sorted(fit, key=lambda other: abs(len(other.words) - len(name.words)))


def _made_up(name: _Name) -> tuple[str, ...]:
    return _MADE_UP_SHORT if name.short else _MADE_UP


def _names(text: str) -> Iterator[_Name]:
    """Yield the names in a sentence: runs of capitalised words with lower-case ones beside them.

    What follows an article is a description ("the Board") and is left out.
    """
    words = list(_WORD.finditer(text))
    if sum(word.group()[0].islower() for word in words) < 3:  # a heading
        return
    figures = find_figures(text)
    taken = [(q.start, q.end) for q in figures.quantities]
    taken += [(i.start, i.end) for i in figures.identifiers]
    run: list[re.Match[str]] = []
    for word in words:
        goes_on = _is_name_word(word) and (not run or text[run[-1].end() : word.start()] == " ")
        if run and not goes_on:
            yield from _named(text, run, taken)
            run = []
        if _is_name_word(word):
            run.append(word)
    if run:
        yield from _named(text, run, taken)


def _named(text: str, run: list[re.Match[str]], taken: list[tuple[int, int]]) -> Iterator[_Name]:
    before = text[: run[0].start()].split()
    if not before and run[0].group().lower() in DETERMINERS | PREPOSITIONS | CONJUNCTIONS:
        return  # "The Board", "In Norway": the first word is part of no name
    start, end = run[0].start(), run[-1].end()
    if text[:end].endswith(("'s", "’s")):
        end -= 2
    described = bool(before) and before[-1].lower() in DETERMINERS
    inside = any(low < end and start < high for low, high in taken)
    if not (described or inside) and len(run) <= _MOST_WORDS and end - start > 1:
        opens = not before or before[-1][-1] in ".:;|!?•"
        yield _Name(text[start:end], start, end, opens=opens and len(run) == 1)


def _is_name_word(match: re.Match[str]) -> bool:
    word = match.group()
    return word[0].isupper() and word.lower() not in _CALENDAR | _TITLES and word != "I"
