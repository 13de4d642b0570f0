"""A sentence read for its figures: content words, names, and the clause that each figure owns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from certirag.core.claim import Quantity
from certirag.quantities.figure_tokens import Tokens, tokenize
from certirag.quantities.find import Identifier, find_figures
from certirag.quantities.row_figures import Cell, row_cells
from certirag.quantities.subject_words import class_of, is_content

TEMPORAL = ("date", "year", "period")
_CUTS = {";": 6, "while": 5, "whereas": 5, "but": 5, "versus": 5, "vs": 5, "compared": 5,
         "and": 3, "or": 3, "plus": 3, "then": 3, ",": 3, "than": 2, "to": 2, "from": 2,
         "against": 2, "in": 1, "for": 1, "at": 1, "on": 1, "by": 1, "with": 1, "of": 1}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FiguredWord:
    """A content word: its stem, where it starts, and whether it is plainly a name."""

    stem: str
    lower: str
    start: int
    name: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """The clause of one figure: content words before and after it, and those it shares.

    *shared* are the words of an earlier clause that this one leaves unsaid ("… fell by 41% in A
    and by 17% in B"). *figures* are the other figures of the clause, which may tell it apart
    ("adults over 75 years take 20 mg"). *start* and *end* are offsets of the clause.
    """

    before: tuple[FiguredWord, ...]
    after: tuple[FiguredWord, ...]
    shared: tuple[FiguredWord, ...]
    start: int
    end: int
    figures: frozenset[str] = frozenset()

    def stems(self) -> frozenset[str]:
        """Return the stems of all its words, shared ones too."""
        return frozenset(word.stem for word in (*self.before, *self.after, *self.shared))

    def own(self) -> frozenset[str]:
        """Return the stems of the words that stand in this clause."""
        return frozenset(word.stem for word in (*self.before, *self.after))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or table row with its figures, read once."""

    text: str
    tokens: Tokens
    quantities: tuple[Quantity, ...]
    identifiers: tuple[Identifier, ...]
    words: tuple[FiguredWord, ...]
    cells: tuple[Cell, ...]

    def stems(self) -> frozenset[str]:
        """Return the stems of all content words."""
        return frozenset(word.stem for word in self.words)

    def amounts(self) -> tuple[Quantity, ...]:
        """Return the quantities that are neither dates nor periods."""
        return tuple(q for q in self.quantities if q.kind not in TEMPORAL)

    def temporals(self) -> tuple[Quantity, ...]:
        """Return the dates, years and periods."""
        return tuple(q for q in self.quantities if q.kind in TEMPORAL)


@lru_cache(maxsize=1024)
def read_sentence(text: str) -> Sentence:
    """Read *text* for its figures and words."""
    figures = find_figures(text)
    tokens = tokenize(text)
    # Ordinals stay words as well: "the first year" and "the second year" are different subjects.
    taken = [(q.start, q.end) for q in figures.quantities if q.kind != "ordinal"]
    taken += [(i.start, i.end) for i in figures.identifiers]
    words = tuple(_words(tokens, sorted(taken)))
    return Sentence(text, tokens, figures.quantities, figures.identifiers, words, row_cells(text))


def _words(tokens: Tokens, taken: Sequence[tuple[int, int]]) -> Iterable[FiguredWord]:
    """Yield the content words outside figures; hyphenated words stay one word."""
    index, place = 0, 0
    while index < len(tokens.items):
        token = tokens.at(index)
        while place < len(taken) and taken[place][1] <= token.start:
            place += 1
        inside = place < len(taken) and taken[place][0] <= token.start
        index += 1
        if inside or token.kind != "word":
            continue
        text = token.text
        while (
            tokens.at(index).text == "-" and tokens.at(index).glued and _hyphenated(tokens, index)
        ):
            text = f"{text}-{tokens.at(index + 1).text}"
            index += 2
        if is_content(text.lower()) or _is_noun(tokens, index, text.lower()):
            shouted = len(text) > 1 and text.isupper()
            name = shouted or (text[0].isupper() and not _starts(tokens, token.start))
            yield FiguredWord(class_of(text), text.lower(), token.start, name)


def _is_noun(tokens: Tokens, index: int, word: str) -> bool:
    """Tell "the grant is …" from "they grant …": *index* is behind the word."""
    return word in ("grant", "permit", "offer") and tokens.at(index - 2).lower in ("the", "a", "an")


def _hyphenated(tokens: Tokens, index: int) -> bool:
    following = tokens.at(index + 1)
    return following.glued and following.kind == "word"


def _starts(tokens: Tokens, start: int) -> bool:
    """Say whether a capital at *start* may come from the place: after a stop, or at the start."""
    before = tokens.source[max(start - 3, 0) : start].rstrip(" \t\n\"'“‘(")
    return not before or before[-1] in ".!?:;•-–—"


def segments_of(sentence: Sentence, group: Sequence[Quantity]) -> tuple[Segment, ...]:
    """Return the clause of each quantity of *group*, which is in the order of the text.

    Clauses are cut at the strongest joint between two neighbours of the group; in a table row
    every cell is a clause, and cells without a figure of the group belong to all.
    """
    if sentence.cells:
        return tuple(_cell_segment(sentence, quantity, group) for quantity in group)
    cuts = [0]
    cuts.extend(_cut(sentence.tokens, left.end, right.start) for left, right in pairwise(group))
    cuts.append(len(sentence.text))
    found: list[Segment] = []
    for place, quantity in enumerate(group):
        start, end = cuts[place], cuts[place + 1]
        before = tuple(w for w in sentence.words if start <= w.start < quantity.start)
        after = tuple(w for w in sentence.words if quantity.end <= w.start < end)
        shared: tuple[FiguredWord, ...] = ()
        pronoun = {"it", "they", "this", "these"} & set(
            _lowers(sentence.tokens, start, quantity.start)
        )
        if found and (not before or pronoun):
            shared = (*found[-1].shared, *found[-1].before)
        others = _other_figures(sentence, group, start, end)
        found.append(Segment(before, after, shared, start, end, others))
    return tuple(found)


def _cut(tokens: Tokens, left: int, right: int) -> int:
    """Return the offset at which the clauses of two figures are best cut.

    The strongest joint wins; of equal ones the last. A comma before "and" is one joint with it.
    """
    best, place = 0.0, right
    for index in range(token_index(tokens, left), token_index(tokens, right)):
        token = tokens.items[index]
        strength = float(_CUTS.get(token.lower, 0))
        if token.lower in ("and", "but", "while") and tokens.at(index - 1).text == ",":
            strength += 0.5
        if strength and strength >= best:
            best, place = strength, token.start
    return place


def _cell_segment(sentence: Sentence, quantity: Quantity, group: Sequence[Quantity]) -> Segment:
    taken = [c for c in sentence.cells if any(c.start <= q.start < c.end for q in group)]
    mine = [c for c in taken if c.start <= quantity.start < c.end]
    start, end = (mine[0].start, mine[0].end) if mine else (quantity.start, quantity.end)
    before = tuple(w for w in sentence.words if start <= w.start < quantity.start)
    after = tuple(w for w in sentence.words if quantity.end <= w.start < end)
    shared = tuple(w for w in sentence.words if not any(c.start <= w.start < c.end for c in taken))
    others = _other_figures(sentence, group, start, end)
    return Segment(before, after, shared, start, end, others)


def _other_figures(
    sentence: Sentence, group: Sequence[Quantity], start: int, end: int
) -> frozenset[str]:
    return frozenset(
        " ".join((q.value, q.high, q.unit, q.qualifier))
        for q in sentence.quantities
        if start <= q.start < end and q not in group
    )


def token_index(tokens: Tokens, offset: int) -> int:
    """Return the index of the first token that starts at *offset* or later."""
    low, high = 0, len(tokens.items)
    while low < high:
        middle = (low + high) // 2
        if tokens.items[middle].start < offset:
            low = middle + 1
        else:
            high = middle
    return low


def counted_words(sentence: Sentence, quantity: Quantity) -> tuple[str, ...]:
    """Return the stems of the noun phrase behind *quantity* ("of annual leave", "characters").

    It ends at a function word, a stop, a verb form or the next figure; four words at most.
    """
    index = token_index(sentence.tokens, quantity.end)
    places = {word.start: word for word in sentence.words}
    found: list[str] = []
    past = 0  # where a hyphenated word that was taken as one ends
    for at in range(index, index + 8):
        token = sentence.tokens.at(at)
        if token.start < past:
            continue
        if not found and token.lower in ("of", "the", "a", "an", "their", "its", "-", "such", "or"):
            continue
        if not found and token.lower in ("more", "fewer", "less"):
            continue
        word = places.get(token.start)
        if word is None:
            if token.text == "-" and token.glued:
                continue
            break
        if len(found) == 4 or word.lower.endswith(("ed", "ly")) or word.name:
            break
        found.append(word.stem)
        past = word.start + len(word.lower)
    return tuple(found)


def _lowers(tokens: Tokens, start: int, end: int) -> tuple[str, ...]:
    first = token_index(tokens, start)
    return tokens.words(first, token_index(tokens, end) - first)


# Lists that belong together in order: "Revenue and profit were $3M and $1M, respectively".

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
) -> tuple[tuple[FiguredWord, ...], ...]:
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
