"""A rater's file: a line as it is said, never changed, gone on with after a crash."""

from __future__ import annotations

import json

import pytest
from spot_cases import NOW, sample_folder, say

from certirag.errors import InputError
from certirag.eval.spot_ratings import (
    Rating,
    all_ratings,
    rate,
    ratings_of,
    withdraw_last,
)

ITEMS = {"001", "002", "003", "004"}


@pytest.fixture
def folder(tmp_path):
    """Return a sample of four claims."""
    return sample_folder(tmp_path / "s")


def test_each_rating_is_a_line_with_its_time_and_consent(folder) -> None:
    """Consent is off unless it was given."""
    rate(folder, Rating("001", "supported", reason=" in\nother  words ", rater="anna"), NOW)
    rate(
        folder,
        Rating("002", "not_supported", "numeric_drift", "contradicted", "", "anna", consent=True),
        NOW,
    )
    lines = (folder / "ratings" / "anna.jsonl").read_text("utf-8").splitlines()
    first, second = map(json.loads, lines)
    assert first == {
        "item": "001",
        "verdict": "supported",
        "kind": "",
        "suggested": "",
        "reason": "in other words",
        "rater": "anna",
        "at": "2026-03-04T05:06:07.000+00:00",
        "consent": False,
        "withdrawn": False,
    }
    assert (second["kind"], second["suggested"], second["consent"]) == (
        "numeric_drift",
        "contradicted",
        True,
    )


def test_what_is_taken_back_is_said_and_not_removed(folder) -> None:
    """The last rating that stands goes first; with none there is nothing to take back."""
    say(folder, "anna", {"001": "s", "002": "n"})
    assert withdraw_last(folder, "anna", ITEMS, NOW).item == "002"
    assert list(ratings_of(folder, "anna", ITEMS)) == ["001"]
    assert withdraw_last(folder, "anna", ITEMS, NOW).item == "001"
    assert withdraw_last(folder, "anna", ITEMS, NOW) is None
    assert len((folder / "ratings" / "anna.jsonl").read_text("utf-8").splitlines()) == 4


def test_the_last_word_on_an_item_counts(folder) -> None:
    """As from two windows of one rater."""
    say(folder, "anna", {"001": "s"})
    say(folder, "anna", {"002": "s"})
    say(folder, "anna", {"001": "c"})
    found = ratings_of(folder, "anna", ITEMS)
    assert [(item, one.verdict) for item, one in found.items()] == [
        ("002", "supported"),
        ("001", "cannot_tell"),
    ]


@pytest.mark.parametrize("cut", [1, 40, 120])
def test_a_torn_last_line_is_cut(folder, cut) -> None:
    """When it is read, and on the disk before the next rating, which stays whole."""
    say(folder, "anna", {"001": "s", "002": "s"})
    path = folder / "ratings" / "anna.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"\n") + 1 + cut])
    assert list(ratings_of(folder, "anna", ITEMS)) == ["001"]
    say(folder, "anna", {"003": "s"})
    assert list(ratings_of(folder, "anna", ITEMS)) == ["001", "003"]
    assert len(path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item": "001", "verdict": "yes", "rater": "anna"}', "line 2: verdict: is no rating"),
        ('{"item": "001"', "line 2: the line: is no rating"),
        (
            '{"item": "999", "verdict": "supported", "rater": "anna"}',
            "line 2: is of another sample",
        ),
        ('{"item": "001", "verdict": "supported", "rater": "bo"}', "line 2: is of another sample"),
        (
            '{"item": "001", "verdict": "not_supported", "kind": "odd", "rater": "anna"}',
            "line 2: kind",
        ),
    ],
)
def test_a_line_that_is_no_rating_is_named(folder, line, said) -> None:
    """File, line and field."""
    say(folder, "anna", {"001": "s"})
    path = folder / "ratings" / "anna.jsonl"
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    with pytest.raises(InputError) as error:
        all_ratings(folder, ITEMS)
    assert f"{path}, {said}" in str(error.value)


@pytest.mark.parametrize("name", ["", "Anna", "../anna", "a/b", ".hidden", "a\n", "x" * 65, "é"])
def test_a_name_that_could_be_another_path_is_refused(folder, name) -> None:
    """It names a file."""
    with pytest.raises(InputError, match="names no rater"):
        rate(folder, Rating("001", "supported", rater=name), NOW)
    with pytest.raises(InputError, match="names no rater"):
        ratings_of(folder, name, ITEMS)
    assert list((folder / "ratings").iterdir()) == []


def test_a_kind_stands_with_what_is_not_supported_alone(folder) -> None:
    """And a reason has an end."""
    for bad in (
        Rating("001", "supported", "unsupported", rater="anna"),
        Rating("001", "not_supported", rater="anna"),
        Rating("001", "supported", rater="anna", reason="x" * 501),
    ):
        with pytest.raises(InputError):
            rate(folder, bad, NOW)
    assert not (folder / "ratings" / "anna.jsonl").exists()


def test_a_half_of_a_surrogate_pair_does_not_break_the_file(folder) -> None:
    """A reason may hold anything that a browser sends."""
    say(folder, "anna", {"001": "s"}, reason="\ud800 \u202e ✅ Verified")
    assert list(ratings_of(folder, "anna", ITEMS)) == ["001"]
