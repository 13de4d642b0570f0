"""Where a claim and a passage differ: words compared exactly, figures by the figure finder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from certirag.quantities.against import MAX_FIGURES, MAX_LENGTH, can_replace, stands_in
from certirag.quantities.figured_sentence import Sentence, read_sentence
from certirag.text.word_classes import DEFINITE

_ARTICLES: Final = DEFINITE | {"a", "an"}  # they only point at the word behind them
_WORD: Final = re.compile(r"\w+(?:[.,:/'’-]\w+)*")
Place = tuple[int, int]
Words = list[tuple[str, Place]]


@dataclass(frozen=True, slots=True)
class Differences:
    """What a claim says that a passage does not.

    *missing* are its words and figures that the passage lacks, as they are written, each once.
    *in_claim* and *in_passage* are the places (code points) of the figures and names that stand
    against each other: what the claim alone has, and what the passage has of the same kind.
    """

    missing: tuple[str, ...] = ()
    in_claim: tuple[Place, ...] = ()
    in_passage: tuple[Place, ...] = ()


def differences(claim: str, passage: str) -> Differences:
    """Compare *claim* with *passage*; any texts are welcome, too long ones are not compared."""
    if max(len(claim), len(passage)) > MAX_LENGTH:
        return Differences()
    ours, theirs = read_sentence(claim), read_sentence(passage)
    if max(len(ours.quantities), len(theirs.quantities)) > MAX_FIGURES:
        return Differences()
    wrong = [one for one in ours.quantities if not stands_in(one, theirs)]
    others = [one for one in theirs.quantities if not stands_in(one, ours)]
    against = [one for one in others if any(can_replace(one, lone) for lone in wrong)]
    said = {word for word, _ in _words(passage)}
    names = [place for place in _names(ours) if claim[slice(*place)].casefold() not in said]
    known = {word for word, _ in _words(claim)}
    rivals = [place for place in _names(theirs) if passage[slice(*place)].casefold() not in known]
    figures = [(one.start, one.end) for one in wrong]
    taken = [(one.start, one.end) for one in ours.quantities]
    lone = [
        place
        for word, place in _words(claim)
        if word not in said and word not in _ARTICLES and not _inside(place, taken)
    ]
    missing: dict[str, str] = {}
    for start, end in sorted([*figures, *lone]):
        missing.setdefault(claim[start:end].casefold(), claim[start:end])
    return Differences(
        tuple(missing.values()),
        _apart([*figures, *names]),
        _apart([*((one.start, one.end) for one in against), *(rivals if names else [])]),
    )


def standing_against(one: str, other: str) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Return the places in *one* and in *other* of the figures and names that each has otherwise."""
    return differences(other, one).in_passage, differences(one, other).in_passage


def words_against(one: str, other: str) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Return the places of the words that each alone has, if most of its words are shared.

    To mark most of a text would say nothing.
    """
    if max(len(one), len(other)) > MAX_LENGTH:
        return (), ()
    ours, theirs = _words(one), _words(other)
    lone = (_lone(ours, theirs), _lone(theirs, ours))
    if any(2 * len(found) > len(words) for found, words in zip(lone, (ours, theirs), strict=True)):
        return (), ()
    return lone


def contrast(one: str, other: str) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Return the places to mark in two texts that stand against each other.

    Their figures and names that differ; where none do, their words.
    """
    figures = standing_against(one, other)
    return figures if any(figures) else words_against(one, other)


def lone_name(claim: str, passage: str) -> str:
    """Return the first name of *claim*, whole, that *passage* does not hold, or ""."""
    if max(len(claim), len(passage)) > MAX_LENGTH:
        return ""
    said = {word for word, _ in _words(passage)}
    runs: list[list[Place]] = []
    for word, (start, end) in _words(claim):
        if word in said or not claim[start].isupper():
            continue
        # "Dana Okoye": the first word of a sentence is part of a name where one follows it.
        if runs and claim[runs[-1][-1][1] : start] == " ":
            runs[-1].append((start, end))
        else:
            runs.append([(start, end)])
    named = set(_names(read_sentence(claim)))
    return next((claim[run[0][0] : run[-1][1]] for run in runs if named & set(run)), "")


def words_of(text: str) -> frozenset[str]:
    """Return the words of *text*, in lower case."""
    return frozenset(word for word, _ in _words(text))


def _lone(words: Words, others: Words) -> tuple[Place, ...]:
    said = {word for word, _ in others} | _ARTICLES
    return tuple(place for word, place in words if word not in said)


def _words(text: str) -> Words:
    return [(match.group().casefold(), match.span()) for match in _WORD.finditer(text)]


def _names(of: Sentence) -> list[Place]:
    found = [(word.start, word.start + len(word.lower)) for word in of.words if word.name]
    return [*found, *((one.start, one.end) for one in of.identifiers)]


def _inside(place: Place, taken: Iterable[Place]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in taken)


def _apart(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return *places* in order without those that run into an earlier one."""
    found: list[Place] = []
    for start, end in sorted(places):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return tuple(found)
