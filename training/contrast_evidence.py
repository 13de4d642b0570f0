"""Makes rows that differ in their evidence alone: support removed, other texts around or instead."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from training.contrast_cases import (
    CAPTIONS,
    Group,
    content,
    missing,
    paired,
    says_nothing_of,
    sentences_of,
    specific,
    states,
    tidy,
)
from training.contrast_keeps import KEEPS
from training.rows import Row

_WORDS: Final = 110  # of a passage: it stays within one window of the verifier
_COMMON: Final = 300  # premises that share a word; beyond, the word tells little


def passages(text: str, chance: random.Random) -> Iterator[tuple[list[str], int]]:
    """Yield windows of three to six sentences of *text*, each with the place of one statement."""
    sentences = sentences_of(text)
    for start in range(0, max(0, len(sentences) - 2), 5):
        part = sentences[start : start + chance.randint(3, 6)]
        while sum(len(s.split()) for s in part) > _WORDS and len(part) > 1:
            part.pop()
        places = [at for at, sentence in enumerate(part) if states(sentence)]
        if len(part) > 2 and places:
            yield part, chance.choice(places)


def removed(rows: Sequence[Row], chance: random.Random) -> Iterator[Group]:
    """Yield a passage with and without the sentence that the claim says again."""
    for premise in dict.fromkeys(row.premise for row in rows if len(row.premise) > 300):
        for part, at in passages(tidy(premise), chance):
            rest = " ".join(part[:at] + part[at + 1 :])
            if says_nothing_of(rest, part[at]):
                claim = KEEPS[chance.choice(sorted(KEEPS))](part[at], chance)
                yield paired("removed", claim, " ".join(part), rest, "neutral")


def wrong_chunks(rows: Sequence[Row]) -> Iterator[Group]:
    """Yield each named claim with its own premise and with the most similar premise of another.

    Similar means: of the premises of the same source, the one that shares most rare words with the
    claim (a plain stand-in for the retriever's ranking) and yet lacks a name or number of it.
    """
    for source in sorted({row.source for row in rows} - set(CAPTIONS)):
        own = [row for row in rows if row.source == source]
        premises = [p for p in dict.fromkeys(tidy(row.premise) for row in own) if len(p) < 700]
        words = [content(premise) for premise in premises]
        where: dict[str, list[int]] = defaultdict(list)
        for number, found in enumerate(words):
            for word in sorted(found):
                where[word].append(number)
        for row in own:
            claim, premise = tidy(row.hypothesis), tidy(row.premise)
            if row.label == "entailed" and len(premise) < 700 and specific(claim):
                best = _most_similar(claim, premise, premises, where)
                if best is not None:
                    yield paired("wrong_chunk", claim, premise, best, "neutral")


def _most_similar(
    claim: str, premise: str, premises: Sequence[str], where: dict[str, list[int]]
) -> str | None:
    scores: Counter[int] = Counter()
    for word in sorted(content(claim)):
        places = where.get(word, ())
        if len(places) < _COMMON:
            for number in places:
                scores[number] += math.log(len(premises) / len(places))  # type: ignore[assignment]
    for number, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:6]:
        other = premises[number]
        if other != premise and missing(other, claim) and premise not in other:
            return other
    return None
