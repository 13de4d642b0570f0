"""Lists that belong together in order: "Revenue and profit were $3M and $1M, respectively"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from certirag.claim_ir.quantity_sentence import Segment, Sentence, Word
from certirag.core.claim import Quantity

_JOINTS = (",", "and", "or", ";")


def respective_segments(sentence: Sentence, group: Sequence[Quantity]) -> tuple[Segment, ...]:
    """Return one clause per figure of a "respectively" sentence, or () for other sentences.

    Where the labels cannot be told apart, every clause is the whole sentence and shares its
    words, so that no claim fits one figure better than another.
    """
    if len(group) < 2 or "respectively" not in sentence.text.lower() or sentence.cells:
        return ()
    first, last = group[0].start, group[-1].end
    for start, end, at_end in ((0, first, False), (last, len(sentence.text), True)):
        labels = _labels(sentence, start, end, len(group), at_end=at_end)
        if labels:
            taken = {word.start for label in labels for word in label}
            shared = tuple(word for word in sentence.words if word.start not in taken)
            return tuple(Segment(label, (), shared, 0, len(sentence.text)) for label in labels)
    everything = Segment((), (), sentence.words, 0, len(sentence.text))
    return (everything,) * len(group)


def _labels(
    sentence: Sentence, start: int, end: int, count: int, *, at_end: bool
) -> tuple[tuple[Word, ...], ...]:
    """Split the text ``start:end`` into *count* items at commas and "and", or return ()."""
    cuts = [start]
    for token in sentence.tokens.items:
        if start <= token.start < end and token.lower in _JOINTS:
            cuts.append(token.start)
    cuts.append(end)
    parts = [
        tuple(w for w in sentence.words if a <= w.start < b and w.lower != "respectively")
        for a, b in pairwise(cuts)
    ]
    items = [part for part in parts if part]
    if len(items) != count:
        return ()
    # The outer items may carry words of the frame ("In Europe, sales and costs were …").
    first = items[0][-2:] if not at_end else items[0]
    final = items[-1][:2]
    return (first, *items[1:-1], final)
