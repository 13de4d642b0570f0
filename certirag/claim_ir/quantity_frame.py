"""Figures that changed places: the words around agree, the figure between them does not.

"A severe episode occurred in 94 of 832 on Quindorel and in 132 of 416 on placebo" has every
figure and every word of "132 of 832 … and 94 of 416". Both sentences are aligned as sequences of
content words and figures; a figure whose place holds another one in the evidence is refused.
"""

from __future__ import annotations

from functools import lru_cache

from certirag.claim_ir.quantity_compare import same_dimension, same_value
from certirag.claim_ir.quantity_sentence import Sentence, read_sentence
from certirag.core.claim import Quantity

_MATCH, _SLOT = 4, 3  # equal words or figures; two figures of one dimension with other values


def displaced(claim: Sentence, quantity: Quantity, evidence: Sentence, match: Quantity) -> str:
    """Return why *quantity* stands where the evidence has another figure than *match*, or ""."""
    for start, other in _exchanged(claim.text, evidence.text):
        if start == quantity.start and other.start != match.start:
            return f"where the claim says {quantity.text}, the evidence says {other.text}"
    return ""


@lru_cache(maxsize=256)
def _exchanged(claim: str, evidence: str) -> tuple[tuple[int, Quantity], ...]:
    """Return where the claim's figures stand in places that the evidence gives to others of them.

    A place is the same when the neighbours on both sides are. The figure that belongs there must
    be in the claim too, unless the two agree from end to end: a claim about one part of a
    sentence leaves figures out.
    """
    sentence = read_sentence(claim)
    ours, theirs = _items(sentence), _items(read_sentence(evidence))
    pairs = _aligned(ours, theirs)
    whole = len(ours) == len(theirs) == len(pairs)
    found = []
    for i, j in pairs:
        mine, other = ours[i], theirs[j]
        if isinstance(mine, str) or isinstance(other, str) or same_value(mine, other):
            continue
        left = (i - 1, j - 1) in pairs or i == j == 0
        right = (i + 1, j + 1) in pairs or (i == len(ours) - 1 and j == len(theirs) - 1)
        kept = whole or any(same_value(q, other) for q in sentence.quantities)
        if left and right and kept:
            found.append((mine.start, other))
    return tuple(found)


def _items(sentence: Sentence) -> list[str | Quantity]:
    """Return content words and figures in order."""
    spans = [(q.start, q.end) for q in sentence.quantities]
    words: list[tuple[int, str | Quantity]] = [
        (w.start, w.stem)
        for w in sentence.words
        if not any(start <= w.start < end for start, end in spans)
    ]
    words.extend((q.start, q) for q in sentence.quantities)
    return [item for _, item in sorted(words, key=lambda entry: entry[0])]


def _weight(ours: str | Quantity, theirs: str | Quantity) -> int:
    if isinstance(ours, str) or isinstance(theirs, str):
        return _MATCH if ours == theirs else 0
    if same_value(ours, theirs):
        return _MATCH
    return _SLOT if same_dimension(ours, theirs) and ours.kind == theirs.kind else 0


def _aligned(
    ours: list[str | Quantity], theirs: list[str | Quantity]
) -> frozenset[tuple[int, int]]:
    """Return the pairs of an order-keeping alignment of greatest weight."""
    rows, columns = len(ours), len(theirs)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    weights = [[_weight(a, b) for b in theirs] for a in ours]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            paired = weights[i][j] + best[i + 1][j + 1] if weights[i][j] else 0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    pairs = set()
    i = j = 0
    while i < rows and j < columns:
        if weights[i][j] and best[i][j] == weights[i][j] + best[i + 1][j + 1]:
            pairs.add((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return frozenset(pairs)
