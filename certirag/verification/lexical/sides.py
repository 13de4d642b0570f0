"""Words on the other side: a claim that reuses its evidence's words around a pivot, exchanged.

"A before B" is not "B before A", "from A to B" not "from B to A", "A and B" not "A or B".
A pivot is a small word with a left and a right side; a claim whose sides are those of the
evidence exchanged says something else. Where both readings fit, nothing is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from certirag.text.word_classes import word_set
from certirag.verification.lexical.alignment import CheckFinding, Comparison
from certirag.verification.lexical.predicate_clauses import Parsed

# Pivots between clauses: class, and whether the side after the pivot is what comes first.
_CLAUSE_PIVOTS: Final[dict[str, tuple[str, bool]]] = {
    "before": ("time", False), "until": ("until", False), "till": ("until", False),
    "after": ("time", True), "once": ("time", True), "then": ("time", False),
    "because": ("cause", True), "since": ("cause", True), "so_that": ("purpose", False),
    "if": ("condition", True), "when": ("condition", True), "unless": ("unless", True),
}  # fmt: skip
_PHRASE_PIVOTS: Final = word_set(
    "from to for of by than on against with into in over under behalf between not"
)
_LIST_WORDS: Final = word_set("and or nor")
_PLACES_IN_ORDER: Final = word_set("first second third last finally next")
_BE: Final = word_set("be is are was were been being get gets got")
_PHRASE_REACH: Final = 5
_MARKS: Final = frozenset(".,;:!?")


def sides(comparison: Comparison) -> list[CheckFinding]:
    """No pivot of the claim has the evidence's two sides exchanged."""
    return [
        *_clause_sides(comparison),
        *_phrase_sides(comparison),
        *_ordinal_places(comparison),
        *_voices(comparison),
    ]


def joints(comparison: Comparison) -> list[CheckFinding]:
    """What the evidence joins by "or" the claim does not join by "and", nor the reverse."""
    said = dict(_joined_pairs(comparison.claim))
    known = dict(_joined_pairs(comparison.evidence))
    findings = []
    for (left, right), word in said.items():
        ends = {comparison.partner(left), comparison.partner(right)}
        for (first, second), other in known.items():
            if ends == {first, second} and word != other:
                findings.append(CheckFinding("joint", f"the evidence says “{other}”, not “{word}”"))
    return findings


def _clause_sides(comparison: Comparison) -> Iterator[CheckFinding]:
    for at, (kind, later) in _clause_pivots(comparison.claim):
        for place, (other, after) in _clause_pivots(comparison.evidence):
            if kind != other:
                continue
            here = _earlier_and_later(comparison.claim, at, later=later)
            there = _earlier_and_later(comparison.evidence, place, later=after)
            if _exchanged(comparison, here, there):
                word = comparison.claim.tokens[at].text
                yield CheckFinding("sides", f"what stands around “{word}” is exchanged")
                return


def _clause_pivots(parsed: Parsed) -> Iterator[tuple[int, tuple[str, bool]]]:
    for at, token in enumerate(parsed.tokens):
        pivot = _CLAUSE_PIVOTS.get(token.text.lower())
        if pivot is not None:
            yield at, pivot


def _earlier_and_later(parsed: Parsed, at: int, *, later: bool) -> tuple[set[int], set[int]]:
    """Return the positions before and after a clause pivot, put into one order.

    A pivot at the front of its sentence governs what follows up to the comma.
    """
    size = len(parsed.tokens)
    before = [p for p in range(at) if parsed.tokens[p].carries]
    if before:
        first, second = set(range(at)), set(range(at + 1, size))
    else:
        comma = next((p for p in range(at, size) if parsed.tokens[p].text == ","), size)
        first, second = set(range(comma + 1, size)), set(range(at + 1, comma))
    return (second, first) if later else (first, second)


def _phrase_sides(comparison: Comparison) -> Iterator[CheckFinding]:
    claim, evidence = comparison.claim, comparison.evidence
    for at, token in enumerate(claim.tokens):
        word = token.text.lower()
        if word not in _PHRASE_PIVOTS:
            continue
        here = _around(claim, at)
        places = [p for p, t in enumerate(evidence.tokens) if t.text.lower() == word]
        verdicts = [_relation(comparison, here, _around(evidence, p)) for p in places]
        if "exchanged" in verdicts and "kept" not in verdicts:
            yield CheckFinding("sides", f"what stands around “{token.text}” is exchanged")


def _around(parsed: Parsed, at: int) -> tuple[set[int], set[int]]:
    """Return up to five words on each side of a phrase pivot, not past a mark."""
    sides: list[set[int]] = []
    for step in (-1, 1):
        side: set[int] = set()
        place = at + step
        while 0 <= place < len(parsed.tokens) and len(side) < _PHRASE_REACH:
            if parsed.tokens[place].text in _MARKS:
                break
            if _weighs(parsed, place):
                side.add(place)
            place += step
        sides.append(side)
    return sides[0], sides[1]


def _weighs(parsed: Parsed, at: int) -> bool:
    """Count words that state something, and single capital letters that name ("glove A")."""
    token = parsed.tokens[at]
    return token.carries or (at > 0 and len(token.text) == 1 and token.text.isupper())


def _relation(
    comparison: Comparison, here: tuple[set[int], set[int]], there: tuple[set[int], set[int]]
) -> str:
    left, right = (_images(comparison, side) for side in here)
    if _exchanged(comparison, here, there) or _neighbours_exchanged(comparison, here, there):
        return "exchanged"
    return "kept" if left & there[0] and right & there[1] else "apart"


def _exchanged(
    comparison: Comparison, here: tuple[set[int], set[int]], there: tuple[set[int], set[int]]
) -> bool:
    """Say whether words went over in both directions; a word of both sides tells nothing."""
    both = _lemmas(comparison.evidence, there[0]) & _lemmas(comparison.evidence, there[1])
    left, right = (
        {place for place in _images(comparison, side) if _lemma(comparison, place) not in both}
        for side in here
    )
    return bool(left & there[1]) and bool(right & there[0])


def _lemmas(parsed: Parsed, side: set[int]) -> set[str]:
    return {parsed.tokens[at].lemma for at in side if _weighs(parsed, at)}


def _lemma(comparison: Comparison, place: int) -> str:
    return comparison.evidence.tokens[place].lemma


def _neighbours_exchanged(
    comparison: Comparison, here: tuple[set[int], set[int]], there: tuple[set[int], set[int]]
) -> bool:
    """Say whether the two words next to the pivot changed places ("from A to B")."""
    if not all((*here, *there)):
        return False
    mine = comparison.partner(max(here[0])), comparison.partner(min(here[1]))
    return mine == (min(there[1]), max(there[0]))


def _images(comparison: Comparison, side: set[int]) -> set[int]:
    found = {_image(comparison, at) for at in side if _weighs(comparison.claim, at)}
    return {place for place in found if place >= 0}


def _image(comparison: Comparison, at: int) -> int:
    """The evidence position of a word; of a naming letter, which is not aligned, its only one."""
    token = comparison.claim.tokens[at]
    if token.carries:
        return comparison.partner(at)
    evidence = comparison.evidence
    places = [p for p, t in enumerate(evidence.tokens) if t.text == token.text]
    return places[0] if len(places) == 1 and _weighs(evidence, places[0]) else -1


def _ordinal_places(comparison: Comparison) -> Iterator[CheckFinding]:
    """Yield where "first", "then" or "last" belongs to another word than in the evidence."""
    evidence = comparison.evidence
    for at, token in enumerate(comparison.claim.tokens):
        word = token.text.lower()
        places = [p for p, t in enumerate(evidence.tokens) if t.text.lower() == word]
        if word not in _PLACES_IN_ORDER or len(places) != 1:
            continue
        mine, theirs = _nearest_left(comparison.claim, at), _nearest_left(evidence, places[0])
        image = comparison.partner(mine) if mine >= 0 else -1
        if image >= 0 and theirs >= 0 and image != theirs and image < len(evidence.tokens):
            yield CheckFinding("sides", f"“{token.text}” belongs to {evidence.tokens[theirs].text}")


def _nearest_left(parsed: Parsed, at: int) -> int:
    return next((p for p in range(at - 1, -1, -1) if parsed.tokens[p].carries), -1)


def _voices(comparison: Comparison) -> Iterator[CheckFinding]:
    """Yield where an active verb turned passive (or back) and the parties kept their places."""
    claim, evidence = comparison.claim, comparison.evidence
    for at, token in enumerate(claim.tokens):
        place = comparison.partner(at)
        if place < 0 or not token.carries:
            continue
        if _is_passive(claim, at) == _is_passive(evidence, place):
            continue
        left = {p for p in range(at) if claim.tokens[p].carries}
        right = {p for p in range(at + 1, len(claim.tokens)) if claim.tokens[p].carries}
        before = _images(comparison, left) & set(range(place))
        after = _images(comparison, right) & set(range(place + 1, len(evidence.tokens)))
        agent = "by" in {t.text.lower() for t in (*claim.tokens, *evidence.tokens)}
        if agent and before and after and not _exchanged_around(comparison, at, place):
            yield CheckFinding("sides", f"the parties of “{token.text}” kept their places")
            return


def _is_passive(parsed: Parsed, at: int) -> bool:
    near = [t.text.lower() for t in parsed.tokens[max(0, at - 2) : at]]
    follows = [t.text.lower() for t in parsed.tokens[at + 1 : at + 2]]
    return bool(_BE.intersection(near)) and follows == ["by"]


def _exchanged_around(comparison: Comparison, at: int, place: int) -> bool:
    size, other = len(comparison.claim.tokens), len(comparison.evidence.tokens)
    here = (set(range(at)), set(range(at + 1, size)))
    there = (set(range(place)), set(range(place + 1, other)))
    return _exchanged(comparison, here, there)


def _joined_pairs(parsed: Parsed) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the words that "and" or "or" stands between, with it."""
    for at, token in enumerate(parsed.tokens):
        word = token.text.lower()
        if word not in _LIST_WORDS:
            continue
        left = _nearest_left(parsed, at)
        size = len(parsed.tokens)
        right = next((p for p in range(at + 1, size) if parsed.tokens[p].carries), -1)
        if left >= 0 and right >= 0:
            yield (left, right), word
