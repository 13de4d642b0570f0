"""The embedded verifier on the same rows as the default one, through the whole gate."""

from __future__ import annotations

import pytest
from near_miss_path import Row, decide, read_rows, wholly_verified, wrongly_verified

# Counts that the shipped model reaches. The held-out rows are measured, never tuned on. The larger
# network refuses all of these attacks but the ones that are open in their rows.
MOST_WRONG = {"attacks": 13, "heldout": 2}
LEAST_RIGHT = {"attacks": 105, "heldout": 53}


@pytest.mark.parametrize("folder", sorted(MOST_WRONG))
def test_near_misses_get_no_badge(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A claim one detail away from its evidence stays unverified; fair ones mostly do not."""
    near, fair = read_rows(folder, "near_misses"), read_rows(folder, "fair_claims")
    near = [row for row in near if not row.get("open")]
    decided = decide([*near, *fair], "embedded")
    wrong = [text for row in near for text in wrongly_verified(row, decided[row["id"]])]
    right = sum(wholly_verified(decided[row["id"]]) for row in fair)
    with capsys.disabled():
        print(
            f"\nembedded, {folder}: near misses Verified {len(wrong)} of {len(near)}, "
            f"fair claims Verified {right} of {len(fair)}"
        )
    assert len(wrong) <= MOST_WRONG[folder], wrong
    assert right >= LEAST_RIGHT[folder]


@pytest.mark.parametrize(
    ("name", "least"),
    [("negation_flips", 2), ("paraphrases", 27), ("evidence_removed", 0), ("multi_hop", 2)],
)
def test_behaviour(name: str, least: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Flipped denials and claims without their sentence get nothing; some of the rest do."""
    rows: list[Row] = read_rows("behaviour", name)
    decided = decide(rows, "embedded")
    right = [r for r in rows if r["expect"] == "verified" and wholly_verified(decided[r["id"]])]
    wrong = [
        row["id"]
        for row in rows
        if row["expect"] != "verified" and any(p.state == "VERIFIED" for p in decided[row["id"]])
    ]
    due = sum(row["expect"] == "verified" for row in rows)
    with capsys.disabled():
        print(f"\nembedded, {name}: Verified {len(right)} of {due}, wrongly {len(wrong)}")
    assert not wrong
    assert len(right) >= least
