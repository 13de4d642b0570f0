"""Whole small documents with true and untrue claims about them, as a demanding user writes them.

No rule or network was fitted to `documents_blind.jsonl` and `documents_plain.jsonl`; but the thresholds that
ship were chosen with their figures in view, so that neither is blind any more. `documents_unseen.jsonl` was
written after that by somebody who saw nothing of the gate. Of its claims one was read, which ended in an error;
by now the figures of two networks and two settings on it have been seen.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from near_miss_path import Row, decide, wholly_verified

HELD_OUT = Path(__file__).resolve().parents[2] / "fixtures" / "heldout"
# Of the untrue claims how many may be Verified, and of the true ones how many are at least: of 120
# and 120 in the first two, of 240 and 180 in the others.
MOST_WRONG = {"documents": 1, "documents_blind": 0, "documents_plain": 2, "documents_unseen": 1}
LEAST_RIGHT = {
    "documents": 24,
    "documents_blind": 25,
    "documents_plain": 16,
    "documents_unseen": 23,
}


def _rows(name: str) -> list[tuple[Row, bool, str]]:
    found = []
    for line in (HELD_OUT / f"{name}.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        title, _, text = one["document"].removeprefix("# ").partition("\n")
        for number, (claim, true, kind) in enumerate(one["claims"]):
            row = {
                "id": f"{one['name']}-{number}",
                "title": title.strip(),
                "evidence": text.strip(),
                "claim": claim,
                "format": "md",
            }
            found.append((row, true, kind))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", MOST_WRONG)
def test_few_untrue_claims_are_verified_and_not_fewer_true_ones(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The share of untrue claims is near nought; that of true ones is what wants to grow."""
    rows = _rows(name)
    assert len({row["id"] for row, _, _ in rows}) == len(rows) >= 240
    decided = decide([row for row, _, _ in rows])
    verified = [
        (row, true, kind) for row, true, kind in rows if wholly_verified(decided[row["id"]])
    ]
    wrong = [row for row, true, _ in verified if not true]
    right = Counter(kind for _, true, kind in verified if true)
    asked = Counter(kind for _, true, kind in rows if true)
    with capsys.disabled():
        by_kind = ", ".join(f"{kind} {right[kind]}/{n}" for kind, n in sorted(asked.items()))
        print(
            f"\n{name}: untrue claims Verified {len(wrong)} of {len(rows) - asked.total()}, "
            f"true ones {right.total()} of {asked.total()} ({by_kind})"
        )
    assert len(wrong) <= MOST_WRONG[name]
    assert right.total() >= LEAST_RIGHT[name]
