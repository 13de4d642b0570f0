"""What a verifier must do whatever its scores: rows of everyday prose through the real path.

Negation flips, paraphrases, evidence with the supporting sentence taken out, and claims whose
proof needs two sentences. Counts are printed per kind; a floor is what was reached, not a goal.
"""

from __future__ import annotations

from collections import Counter

import pytest
from near_miss_path import Piece, Row, decide, read_rows, wholly_verified, wrongly_verified

from certirag.ingest.sentences import sentence_splitter

NEGATION_FLIPS = read_rows("behaviour", "negation_flips")
PARAPHRASES = read_rows("behaviour", "paraphrases")
EVIDENCE_REMOVED = read_rows("behaviour", "evidence_removed")
MULTI_HOP = read_rows("behaviour", "multi_hop")

Decided = dict[str, tuple[Piece, ...]]


def _restored(row: Row) -> Row:
    """Return *row* with the supporting sentence put back."""
    evidence = f"{row['evidence']} {row['removed']}"
    return {**row, "id": f"{row['id']}/restored", "evidence": evidence, "expect": "verified"}


def _halves(row: Row) -> tuple[Row, ...]:
    """Return *row* once for each of its sentences, which do not prove the claim alone."""
    text = row["evidence"]
    return tuple(
        {
            **row,
            "id": f"{row['id']}/half-{number}",
            "evidence": text[start:end],
            "expect": "not_verified",
        }
        for number, (start, end) in enumerate(sentence_splitter()(text), 1)
    )


RESTORED = [_restored(row) for row in EVIDENCE_REMOVED]
HALVES = [half for row in MULTI_HOP for half in _halves(row)]
GROUPS = {
    "negation flips": [row for row in NEGATION_FLIPS if row["expect"] == "not_verified"],
    "negations kept": [row for row in NEGATION_FLIPS if row["expect"] == "verified"],
    "paraphrases": PARAPHRASES,
    "evidence removed": EVIDENCE_REMOVED,
    "evidence put back": RESTORED,
    "two sentences together": MULTI_HOP,
    "one sentence of two": HALVES,
}
# How many rows of a group that must not be Verified may be: none.
ALLOWED = {"negation flips": 0, "evidence removed": 0, "one sentence of two": 0}
# How many rows of a group that should be Verified are at least, with the verifier in force.
FLOORS = {
    "negations kept": 5,
    "paraphrases": 34,
    "evidence put back": 32,
    "two sentences together": 3,
}


@pytest.fixture(scope="module")
def decided() -> Decided:
    """Decide every row of every group in one batch, by the verifier of the settings."""
    return decide([row for rows in GROUPS.values() for row in rows])


@pytest.mark.parametrize("group", ALLOWED)
def test_nothing_unsupported_is_verified(
    group: str, decided: Decided, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flipped negation, a missing sentence and half a proof give no badge."""
    rows = GROUPS[group]
    wrong = [row for row in rows if wrongly_verified(row, decided[row["id"]])]
    with capsys.disabled():
        print(f"\n{group}: {len(wrong)} of {len(rows)} wrongly Verified")
        for row in wrong:
            print(f"  {row['id']}: {row['claim']} | {row['evidence']}")
    assert [row["id"] for row in rows if not decided[row["id"]]] == [], "no claim, so no test"
    assert len(wrong) <= ALLOWED[group]


@pytest.mark.parametrize("group", FLOORS)
def test_what_is_supported_is_verified_often_enough(
    group: str, decided: Decided, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gate that refuses everything would pass the other rows; the count may not fall."""
    rows = GROUPS[group]
    right = [row for row in rows if wholly_verified(decided[row["id"]])]
    domains = Counter(_domain(row) for row in right)
    asked = Counter(_domain(row) for row in rows)
    with capsys.disabled():
        by_domain = ", ".join(f"{domain} {domains[domain]}/{n}" for domain, n in asked.items())
        print(f"\n{group}: {len(right)} of {len(rows)} Verified ({by_domain})")
    assert len(right) >= FLOORS[group]


def test_the_rows_are_many_distinct_and_complete() -> None:
    """Each row has its own id and words; each kind covers the four domains."""
    files = (NEGATION_FLIPS, PARAPHRASES, EVIDENCE_REMOVED, MULTI_HOP)
    fields = {"id", "title", "evidence", "claim", "expect"}
    everything = [row for rows in files for row in rows]
    for row in everything:
        assert row.keys() - {"removed"} == fields
        assert all(value.strip() for value in row.values())
    assert len({row["id"] for row in everything}) == len(everything)
    assert len({row["claim"] for row in everything}) == len(everything)
    for rows, least in zip(files, (30, 40, 30, 30), strict=True):
        assert len(rows) >= least
        assert {_domain(row) for row in rows} == {"policy", "finance", "clinical", "engineering"}
    assert len(GROUPS["negation flips"]) >= 30
    assert {row["expect"] for row in PARAPHRASES + MULTI_HOP} == {"verified"}
    assert {row["expect"] for row in EVIDENCE_REMOVED} == {"not_verified"}
    assert all("removed" in row for row in EVIDENCE_REMOVED)
    assert len(HALVES) == 2 * len(MULTI_HOP), "each proof of two steps has two sentences"


def test_no_row_is_a_copy_of_another_fixture() -> None:
    """These claims are no other set's."""
    others = [("attacks", "near_misses"), ("attacks", "fair_claims")]
    others += [("heldout", "near_misses"), ("heldout", "fair_claims")]
    known = {row["claim"].casefold() for place in others for row in read_rows(*place)}
    rows = NEGATION_FLIPS + PARAPHRASES + EVIDENCE_REMOVED + MULTI_HOP
    assert not [row["id"] for row in rows if row["claim"].casefold() in known]


def _domain(row: Row) -> str:
    return row["id"].split("/")[0].split("-")[-2]
