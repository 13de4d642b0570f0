"""Two checked drafts → what differs: sentences, figures, badges. Nothing here grants or changes one.

Each statement comes with the badge that its own record gave it; the comparison reads words alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.said import said
from certirag.render.checked_draft import CheckedDraft, DraftStatement, plain_words
from certirag.render.differences import Place, standing_against, words_against, words_of

MOST: Final = 200  # statements of each draft that are compared in other words than the same
_ALIKE: Final = 0.6  # of their words: two sentences that say a thing otherwise, and not two things


@dataclass(frozen=True, slots=True)
class Quoted:
    """A statement, and the places (code points of its ``words``) that the other draft has otherwise."""

    statement: DraftStatement
    differing: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftDifference:
    """A statement of one draft (the other side is None), or of both where something differs.

    *figures*: what differs are figures or names.
    """

    first: Quoted | None
    second: Quoted | None
    figures: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """Say in words what differs, one phrase each."""
        if self.second is None:
            return (said("Only in the first draft"),)
        if self.first is None:
            return (said("Only in the second draft"),)
        one, two = self.first.statement, self.second.statement
        worded = plain_words(one.words) != plain_words(two.words)
        return (
            *([said("Another figure or name")] if self.figures else []),
            *([said("Other words")] if worded and not self.figures else []),
            *([said("Another badge")] if one.badge.kind != two.badge.kind else []),
        )


@dataclass(frozen=True, slots=True)
class DraftComparison:
    """What differs, in the order of the first draft; *alike* sentences stand in both with one badge.

    *left_out* statements have no sure words of their own, or were not checked: nothing is said of
    them.
    """

    differences: tuple[DraftDifference, ...]
    alike: int
    left_out: int


def compare_drafts(first: CheckedDraft, second: CheckedDraft) -> DraftComparison:
    """Compare the statements of two drafts by their words, each with at most one of the other's.

    Those of the same words are found first, in linear time; of what is left, `MOST` of each are
    paired with what shares most of their words.
    """
    ours, theirs = _placed(first), _placed(second)
    pairs, lone, others = _same(ours, theirs)
    same = [DraftDifference(Quoted(one), Quoted(two)) for one, two in pairs]
    near = _near(lone, others)
    paired = {id(one) for pair in near for one in pair}
    found = [
        *(one for one in same if one.kinds),
        *(_told_otherwise(one, two) for one, two in near),
        *(DraftDifference(Quoted(one), None) for one in lone if id(one) not in paired),
    ]
    found.sort(key=lambda of: 0 if of.first is None else of.first.statement.number)
    return DraftComparison(
        (*found, *(DraftDifference(None, Quoted(two)) for two in others if id(two) not in paired)),
        sum(not one.kinds for one in same),
        sum(
            draft.unread + sum(one.counted and not one.words for one in draft.statements)
            for draft in (first, second)
        ),
    )


def _placed(draft: CheckedDraft) -> list[DraftStatement]:
    return [one for one in draft.statements if one.counted and one.words]


def _same(
    ours: Sequence[DraftStatement], theirs: Sequence[DraftStatement]
) -> tuple[list[tuple[DraftStatement, DraftStatement]], list[DraftStatement], list[DraftStatement]]:
    """Return the pairs of the same words, and what is left of each draft."""
    waiting = defaultdict[str, list[DraftStatement]](list)
    for two in reversed(theirs):
        waiting[plain_words(two.words)].append(two)
    pairs, lone = [], []
    for one in ours:
        alike = waiting[plain_words(one.words)]
        if alike:
            pairs.append((one, alike.pop()))
        else:
            lone.append(one)
    taken = {id(two) for _, two in pairs}
    return pairs, lone, [two for two in theirs if id(two) not in taken]


def _near(
    ours: Sequence[DraftStatement], theirs: Sequence[DraftStatement]
) -> list[tuple[DraftStatement, DraftStatement]]:
    """Return the pairs that share most of their words, the nearest first."""
    read = {id(one): words_of(one.words) for one in (*ours[:MOST], *theirs[:MOST])}
    shares = []
    for one in ours[:MOST]:
        for two in theirs[:MOST]:
            mine, other = read[id(one)], read[id(two)]
            shares.append((len(mine & other) / max(len(mine), len(other), 1), one, two))
    shares.sort(key=lambda pair: (-pair[0], pair[1].number, pair[2].number))
    pairs: list[tuple[DraftStatement, DraftStatement]] = []
    taken: set[int] = set()
    for share, one, two in shares:
        if share >= _ALIKE and not taken & {id(one), id(two)}:
            pairs.append((one, two))
            taken |= {id(one), id(two)}
    return pairs


def _told_otherwise(one: DraftStatement, two: DraftStatement) -> DraftDifference:
    figures = standing_against(one.words, two.words)
    places = figures if any(figures) else words_against(one.words, two.words)
    return DraftDifference(Quoted(one, places[0]), Quoted(two, places[1]), any(figures))
