"""Honest figures: claims that no rule was tuned on, put through the real path."""

from __future__ import annotations

from collections import Counter

import pytest
from near_miss_path import Piece, decide, read_rows, wholly_verified, wrongly_verified

NEAR_MISSES = read_rows("heldout", "near_misses")
FAIR_CLAIMS = read_rows("heldout", "fair_claims")
SHORT = read_rows("heldout", "short_statements")


@pytest.fixture(scope="module")
def decided() -> dict[str, tuple[Piece, ...]]:
    """Decide every held-out row once."""
    return decide((*NEAR_MISSES, *FAIR_CLAIMS))


def test_the_held_out_figures_have_not_collapsed(
    decided: dict[str, tuple[Piece, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Under 5 % of the near misses and over 40 % of the fair claims are Verified."""
    wrong = [row for row in NEAR_MISSES if wrongly_verified(row, decided[row["id"]])]
    right = [row for row in FAIR_CLAIMS if wholly_verified(decided[row["id"]])]
    wrong_share, right_share = len(wrong) / len(NEAR_MISSES), len(right) / len(FAIR_CLAIMS)
    verified = Counter(row["kind"] for row in right)
    asked = Counter(row["kind"] for row in FAIR_CLAIMS)
    with capsys.disabled():
        print(
            f"\nheld-out near misses Verified: {len(wrong)} of {len(NEAR_MISSES)} "
            f"({wrong_share:.1%}); held-out fair claims Verified: {len(right)} of "
            f"{len(FAIR_CLAIMS)} ({right_share:.1%})".replace("%", " %")
        )
        print("by kind:", ", ".join(f"{kind} {verified[kind]}/{n}" for kind, n in asked.items()))
        for row in wrong:
            print(f"wrongly Verified: {row['id']}: {wrongly_verified(row, decided[row['id']])}")
    assert wrong_share < 0.05
    assert right_share > 0.40


def test_statements_of_one_word_of_meaning_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    """As evidence and as claims, such as "There is no lift.": untrue ones hardly ever."""
    found = decide(SHORT)
    shares = {}
    for kind in ("fair", "near miss"):
        own = [row for row in SHORT if row["kind"] == kind]
        verified = [row for row in own if wholly_verified(found[row["id"]])]
        shares[kind] = len(verified) / len(own)
        with capsys.disabled():
            print(f"\nshort statements, {kind}: {len(verified)} of {len(own)} Verified")
    assert shares["fair"] > 0.3
    assert shares["near miss"] < 0.05


def test_every_held_out_row_makes_a_claim(decided: dict[str, tuple[Piece, ...]]) -> None:
    """A near miss that made no claim would count as refused without having been tested."""
    assert [row["id"] for row in NEAR_MISSES if not decided[row["id"]]] == []


def test_the_held_out_rows_are_many_distinct_and_complete() -> None:
    """Each row has its own id and words, and the sets are large enough for a percentage."""
    everything = NEAR_MISSES + FAIR_CLAIMS
    fields = {"id", "kind", "title", "evidence", "claim"}
    assert all(fields <= row.keys() <= fields | {"false"} for row in everything)
    assert len({row["id"] for row in everything}) == len(everything)
    assert len({(row["evidence"], row["claim"]) for row in everything}) == len(everything)
    assert all(row.get("false", "") in row["claim"] for row in NEAR_MISSES)
    assert len(NEAR_MISSES) >= 120
    assert len(FAIR_CLAIMS) >= 100
