"""Two drafts: which sentences, figures and badges differ, each sentence told once."""

from __future__ import annotations

import time

import pytest

from certirag.render.badge import _CONTRADICTED, _UNVERIFIED, _VERIFIED, Badge
from certirag.render.checked_draft import CheckedDraft, DraftStatement
from certirag.render.compared_drafts import MOST, DraftDifference, compare_drafts

LEAVE = "Full-time employees receive 27 days of annual leave."
MORE = "Full-time employees receive 30 days of annual leave."
DESK = "The travel desk answers within two working days."


def _draft(*said: str | tuple[str, Badge], unread: int = 0) -> CheckedDraft:
    pairs = [one if isinstance(one, tuple) else (one, _UNVERIFIED) for one in said]
    statements = tuple(
        DraftStatement(n, badge, text, 0, len(text), True, True, "", "")
        for n, (text, badge) in enumerate(pairs, 1)
    )
    return CheckedDraft("", statements, (), 0, len(pairs), unread, ())


def _told(of: DraftDifference) -> tuple[str, str, tuple[str, ...]]:
    sides = ("" if one is None else one.statement.words for one in (of.first, of.second))
    return (*sides, of.kinds)  # type: ignore[return-value]


def _found(first: CheckedDraft, second: CheckedDraft) -> list[tuple[str, str, tuple[str, ...]]]:
    return [_told(one) for one in compare_drafts(first, second).differences]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ((LEAVE, DESK), (DESK, LEAVE), []),
        # Emphasis, blanks and a last full stop say nothing.
        ((LEAVE,), (f"**{LEAVE[:-1]}**",), []),
        ((LEAVE,), (MORE,), [(LEAVE, MORE, ("Another figure or name",))]),
        (
            ((LEAVE, _VERIFIED),),
            ((MORE, _CONTRADICTED),),
            [(LEAVE, MORE, ("Another figure or name", "Another badge"))],
        ),
        (((LEAVE, _VERIFIED),), (LEAVE,), [(LEAVE, LEAVE, ("Another badge",))]),
        (
            ("Laptops must be locked at night.",),
            ("Laptops may be locked at night.",),
            [
                (
                    "Laptops must be locked at night.",
                    "Laptops may be locked at night.",
                    ("Other words",),
                )
            ],
        ),
        (
            (LEAVE,),
            (DESK,),
            [
                (LEAVE, "", ("Only in the first draft",)),
                ("", DESK, ("Only in the second draft",)),
            ],
        ),
        # What is said twice stands against what is said once, and against nothing.
        ((LEAVE, LEAVE), (LEAVE,), [(LEAVE, "", ("Only in the first draft",))]),
        ((), (), []),
    ],
)
def test_each_sentence_is_told_once(first, second, found) -> None:
    """With the sentence of the other draft that is nearest to it, if one is near."""
    assert _found(_draft(*first), _draft(*second)) == found


def test_the_figures_that_differ_are_placed_in_both() -> None:
    """In code points of each one's words."""
    (one,) = compare_drafts(_draft(LEAVE), _draft(MORE)).differences
    assert one.first is not None
    assert one.second is not None
    for side, figure in ((one.first, "27 days"), (one.second, "30 days")):
        assert [side.statement.words[a:b] for a, b in side.differing] == [figure]


def test_what_has_no_words_of_its_own_is_counted_and_not_compared() -> None:
    """Nor what a cap left unread."""
    found = compare_drafts(_draft("", LEAVE, unread=2), _draft(LEAVE))
    assert (found.differences, found.alike, found.left_out) == ((), 1, 3)


def test_drafts_of_a_thousand_like_sentences_are_compared_in_time() -> None:
    """Each is told, alone or in a pair, once."""
    first = _draft(*(f"Site {n} of the company opens on Monday at noon." for n in range(1_000)))
    second = _draft(*(f"Site {n} of the firm opens on Monday at noon." for n in range(1_000)))
    began = time.monotonic()
    found = compare_drafts(first, second).differences
    assert time.monotonic() - began < 20
    assert sum(one.second is not None and one.first is not None for one in found) == MOST
    assert len(found) == 2_000 - MOST
