"""Judge whether the figure of the evidence is about what the figure of the claim is about.

A scored alignment of content words, made to refuse: a name that the evidence does not have, a
word in the place of another, a counted noun of another kind, or a neighbour figure that fits the
claim better each end the match. Nothing here understands language; what it cannot tell it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from certirag.core.claim import Quantity
from certirag.quantities.compare import same_dimension, same_value
from certirag.quantities.figured_sentence import (
    TEMPORAL,
    Segment,
    Sentence,
    counted_words,
    read_sentence,
    respective_segments,
    segments_of,
)
from certirag.quantities.subject_words import IMPLIED_RATES, RESTRICTING, SUPPOSING, contrasts

# Figures that changed places: the words around agree, the figure between them does not.
#
# "A severe episode occurred in 94 of 832 on Quindorel and in 132 of 416 on placebo" has every
# figure and every word of "132 of 832 … and 94 of 416". Both sentences are aligned as sequences of
# content words and figures; a figure whose place holds another one in the evidence is refused.

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


MIN_COVERAGE = 0.7  # of the claim's content words; below it the two may speak of different things
MAX_WORDS = 400
_FIGURE = "#"
_EACH = ("a", "per", "each", "every", "per calendar")


@dataclass(frozen=True, slots=True)
class Placed:
    """A quantity in its sentence, with the figures that it could be confused with."""

    sentence: Sentence
    quantity: Quantity
    group: tuple[Quantity, ...]
    segments: tuple[Segment, ...]

    @property
    def segment(self) -> Segment:
        """Return the clause of the quantity itself."""
        return self.segments[self.group.index(self.quantity)]


def place(sentence: Sentence, quantity: Quantity) -> Placed:
    """Find the clauses of *quantity* and of the figures of its dimension in *sentence*."""
    if quantity.kind in TEMPORAL:
        group = sentence.temporals()
    else:
        group = tuple(q for q in sentence.amounts() if same_dimension(q, quantity))
    segments = respective_segments(sentence, group) or segments_of(sentence, group)
    return Placed(sentence, quantity, group, segments)


def subject_mismatch(claim: Placed, evidence: Placed, context: frozenset[str]) -> str:
    """Return why the figures have different subjects, in plain words, or "" if they agree.

    *context* holds the stems of the titles and headings above the evidence.
    """
    if max(len(claim.sentence.words), len(evidence.sentence.words)) > MAX_WORDS:
        return "the sentence is too long to tell which figure is about what"
    return (
        _supposed(claim, evidence)
        or _opposed(claim, evidence)
        or _foreign_name(claim, evidence, context)
        or _counted(claim, evidence, context)
        or _coverage(claim, evidence, context)
        or _substituted(claim, evidence)
        or _better_neighbour(claim, evidence)
        or displaced(claim.sentence, claim.quantity, evidence.sentence, evidence.quantity)
    )


def _supposed(claim: Placed, evidence: Placed) -> str:
    """Refuse a forecast or an estimate as evidence for what the claim states as fact."""
    segment = evidence.segment
    told = {word.lower for word in claim.sentence.words}
    for word in (*segment.shared, *segment.before, *segment.after):
        if word.lower in SUPPOSING and word.lower not in told:
            return (
                f"the evidence says {evidence.quantity.text} as “{word.lower}”, the claim as fact"
            )
    return ""


def _opposed(claim: Placed, evidence: Placed) -> str:
    ours, theirs = contrasts(claim.segment.stems(), evidence.segment.stems())
    said = f"the claim is about “{_shown(claim, (ours,))}”, the evidence about "
    return f"{said}“{_shown(evidence, (theirs,))}”" if ours else ""


def _shown(placed: Placed, stems: Iterable[str]) -> str:
    """Return the words of the sentence that have these *stems*, as a reader knows them."""
    words = {word.stem: word.lower for word in reversed(placed.sentence.words)}
    return " ".join(words.get(stem, stem) for stem in stems)


def _foreign_name(claim: Placed, evidence: Placed, context: frozenset[str]) -> str:
    known = evidence.sentence.stems() | context
    segment = claim.segment
    for word in (*segment.shared, *segment.before, *segment.after):
        if word.name and word.stem not in known:
            return f"the evidence for {evidence.quantity.text} does not name “{word.lower}”"
    return ""


def _counted(claim: Placed, evidence: Placed, context: frozenset[str]) -> str:
    """Compare what is counted: "62 sites" against "62 countries", "of annual leave"."""
    if claim.quantity.kind in TEMPORAL:
        return ""
    ours = counted_words(claim.sentence, claim.quantity)
    theirs = _counted_in(evidence)
    said = f"the claim counts “{_shown(claim, ours)}”, the evidence “{_shown(evidence, theirs)}”"
    words = claim.segment.stems()
    if evidence.sentence.cells:
        return "" if not theirs or words & set(theirs) else said
    if ours and theirs:
        related = ours[-1] in theirs or theirs[-1] in ours
        return (
            ""
            if related or (theirs[-1] in words and ours[-1] in evidence.segment.stems())
            else said
        )
    if ours:
        known = evidence.sentence.stems() | (context if claim.quantity.unit else frozenset())
        return "" if ours[-1] in known else said
    if theirs and not claim.quantity.unit:
        return "" if theirs[-1] in words or set(theirs) & words else said
    return ""


def _counted_in(evidence: Placed) -> tuple[str, ...]:
    if not evidence.sentence.cells:
        return counted_words(evidence.sentence, evidence.quantity)
    return tuple(word.stem for word in evidence.segment.before)


def _coverage(claim: Placed, evidence: Placed, context: frozenset[str]) -> str:
    wanted = claim.segment.stems() - _said_as_rate(claim, evidence)
    inside = wanted & evidence.sentence.stems()
    covered = wanted & (evidence.sentence.stems() | context)
    if not wanted:
        return f"the claim does not say what {claim.quantity.text} is about"
    narrow = sorted((wanted - covered) & RESTRICTING)
    if narrow:
        return (
            f"the evidence does not say that {evidence.quantity.text} is “{_shown(claim, narrow)}”"
        )
    if not inside or len(covered) < MIN_COVERAGE * len(wanted):
        missing = _shown(claim, sorted(wanted - covered)[:4])
        return f"the evidence for {evidence.quantity.text} says nothing of “{missing}”"
    return ""


def _said_as_rate(claim: Placed, evidence: Placed) -> frozenset[str]:
    """Return the stems of words like "daily" that the evidence says as "a day"."""
    lower = evidence.sentence.text.lower()
    return frozenset(
        word.stem
        for word in claim.sentence.words
        if any(f" {each} {IMPLIED_RATES.get(word.lower, '?')}" in lower for each in _EACH)
    )


def _sequence(placed: Placed, *, whole: bool) -> list[str]:
    segment = placed.segment
    words = placed.sentence.words if whole else (*segment.shared, *segment.before, *segment.after)
    marked = [(word.start, word.stem) for word in words]
    marked.append((placed.quantity.start, _FIGURE))
    return [text for _, text in sorted(marked)]


def _substituted(claim: Placed, evidence: Placed) -> str:
    """Find a word of the claim where the evidence has another ("hardware" for "software")."""
    if evidence.sentence.cells:
        return ""
    ours, theirs = _sequence(claim, whole=False), _sequence(evidence, whole=True)
    known, claimed = set(theirs), set(ours)
    for left, right in _gaps(ours, theirs):
        new = [word for word in left if word not in known]
        old = [word for word in right if word not in claimed]
        if new and old:
            said = f"the claim says “{_shown(claim, new)}” where the evidence says "
            return f"{said}“{_shown(evidence, old)}”"
    return ""


def _gaps(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Return the unmatched words between the pairs of a longest common subsequence."""
    rows, columns = len(ours), len(theirs)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            same = ours[i] == theirs[j]
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    gaps: list[tuple[list[str], list[str]]] = [([], [])]
    i = j = 0
    while i < rows or j < columns:
        if i < rows and j < columns and ours[i] == theirs[j]:
            gaps.append(([], []))
            i, j = i + 1, j + 1
        elif j == columns or (i < rows and best[i + 1][j] >= best[i][j + 1]):
            gaps[-1][0].append(ours[i])
            i += 1
        else:
            gaps[-1][1].append(theirs[j])
            j += 1
    return gaps


def _better_neighbour(claim: Placed, evidence: Placed) -> str:
    """Refuse when another figure of the sentence fits the claim's words as well or better.

    Where the evidence tells its figures apart by words of which the claim has none, the claim
    says less than the evidence and could mean any of them.
    """
    mine = evidence.quantity
    rivals = [
        place_
        for place_, other in enumerate(evidence.group)
        if (other.value, other.high, other.unit) != (mine.value, mine.high, mine.unit)
    ]
    if not rivals:
        return ""
    said = claim.segment.stems() | claim.segment.figures
    index = evidence.group.index(mine)
    fit, distinct = _fit(evidence.segments, index, said)
    for place_ in rivals:
        theirs, _ = _fit(evidence.segments, place_, said)
        if theirs > fit or theirs == fit > 0:
            return f"the claim's words fit {evidence.group[place_].text} in the evidence, not {mine.text}"
    if distinct and not fit:
        return f"the evidence says {mine.text} of “{_shown(evidence, sorted(distinct))}”"
    return ""


def _fit(
    segments: Sequence[Segment], index: int, said: frozenset[str]
) -> tuple[float, frozenset[str]]:
    """Return which part of the words that only this clause has are in the claim, and these words."""
    others: set[str] = set()
    for place_, segment in enumerate(segments):
        if place_ != index:
            others |= segment.stems() | segment.figures
    distinct = (segments[index].own() | segments[index].figures) - others
    return (len(distinct & said) / len(distinct) if distinct else 0.0), distinct
