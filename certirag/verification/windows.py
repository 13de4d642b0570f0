"""Cuts evidence into sentence-aligned windows that a model can read whole; nothing is dropped.

A window that a model truncates unseen is the classic way in which a checker fails open: the tail
was never read and counts as supported. Here every sentence lies in at least one window, and a
sentence that alone is too long is reported, never cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Final

_WORD: Final = re.compile(r"\w+")


def spans_of_windows(lengths: Sequence[int], *, room: int, overlap: int) -> list[tuple[int, int]]:
    """Return (start, end) sentence ranges that together cover all of *lengths*.

    *lengths* are the tokens of each sentence, *room* the most tokens of a window; a window begins
    about *overlap* tokens before the last one ended, on a sentence's start. A sentence longer
    than *room* stands alone in its window: the caller must refuse that window.
    """
    ranges = []
    start = 0
    while start < len(lengths):
        end, used = start + 1, lengths[start]
        while end < len(lengths) and used + lengths[end] <= room:
            used += lengths[end]
            end += 1
        ranges.append((start, end))
        if end == len(lengths):
            break
        back, kept = end, 0
        while back - 1 > start and kept + lengths[back - 1] <= overlap:
            back -= 1
            kept += lengths[back]
        # What is carried over must leave room for the next sentence, or nothing is gained.
        while back < end and kept + lengths[end] > room:
            kept -= lengths[back]
            back += 1
        start = back
    return ranges


def focused(
    claim: str, sentences: Sequence[str], lengths: Sequence[int], *, room: int
) -> tuple[int, ...]:
    """Return the numbers, in order, of the sentences closest to *claim* that fit into *room*.

    Closeness is the weight of the claim's words in the sentence, a word weighing more the fewer
    sentences have it (Robertson's idf), each word of the claim counted once over all that is
    taken: the second sentence is the one that adds most to the first. Evidence for one claim may
    lie far apart in a document; a contiguous window would miss that.
    """
    wanted = set(_words(claim))
    found = [wanted & set(_words(sentence)) for sentence in sentences]
    spread = Counter(word for words in found for word in words)
    total = len(sentences)
    weight = {w: log(1 + (total - n + 0.5) / (n + 0.5)) for w, n in spread.items()}
    taken: set[int] = set()
    left, uncovered = room, set(wanted)
    while True:
        best, best_gain = -1, 0.0
        for at, words in enumerate(found):
            if at in taken or lengths[at] > left:
                continue
            gain = sum(weight[w] * (1.0 if w in uncovered else 0.25) for w in words)
            gain /= 1 + 0.01 * lengths[at]
            if gain > best_gain:
                best, best_gain = at, gain
        if best < 0:
            return tuple(sorted(taken))
        taken.add(best)
        uncovered -= found[best]
        left -= lengths[best]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
