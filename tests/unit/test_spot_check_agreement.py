"""What raters say together: kappas against published examples, shares and counts by hand."""

from __future__ import annotations

import csv
import json
import math

import pytest
from spot_cases import claim, row, sample_folder, say

from certirag.cli.main import main
from certirag.errors import InputError
from certirag.eval.measures import cohen_kappa, fleiss_kappa
from certirag.eval.spot_agreement import agreement, majority_of, read_rated

# Fleiss 1971 as worked in the literature: ten subjects, fourteen raters, five categories.
FLEISS = [
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
]


def _both(table: list[list[int]]) -> tuple[list[str], list[str]]:
    """Return two raters' labels with the confusion *table*, rows the first's."""
    pairs = [
        (str(i), str(j))
        for i, counts in enumerate(table)
        for j, count in enumerate(counts)
        for _ in range(count)
    ]
    return [one for one, _ in pairs], [other for _, other in pairs]


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        # Grants read by two: agreed 35 of 50, by chance (25·30 + 25·20)/2500 = 0.5.
        ([[20, 5], [10, 15]], 0.4),
        # Of Cohen 1968, 200 patients: agreed 0.70, by chance 0.60·0.50 + 0.30·0.30 + 0.10·0.20 = 0.41.
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.29 / 0.59),
        ([[45, 15], [25, 15]], 0.06 / 0.46),  # 0.60 against 0.54
        ([[25, 35], [5, 35]], 0.14 / 0.54),  # 0.60 against 0.46
        ([[10, 0], [0, 10]], 1.0),
        ([[0, 10], [10, 0]], -1.0),
        ([[4, 4], [4, 4]], 0.0),
    ],
)
def test_cohens_kappa_by_hand(table, kappa) -> None:
    """Cohen 1960; the two of 0.60 are Wikipedia's same agreement with other margins."""
    one, other = _both(table)
    assert cohen_kappa(one, other) == pytest.approx(kappa)
    assert cohen_kappa(other, one) == pytest.approx(kappa)


def test_fleiss_kappa_of_the_published_example() -> None:
    """P̄ = 0.378, P̄e = 0.213: κ = 0.210."""
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_of_two_raters_is_scotts_pi() -> None:
    """Both raters' shares together are the chance: of the grants 0.55² + 0.45² = 0.505."""
    one, other = _both([[20, 5], [10, 15]])
    counts = [
        [(mine, theirs).count(label) for label in ("0", "1")]
        for mine, theirs in zip(one, other, strict=True)
    ]
    assert fleiss_kappa(counts) == pytest.approx((0.70 - 0.505) / 0.495)


def test_a_kappa_that_is_not_defined_is_none() -> None:
    """Where all say one thing there is no chance to be beyond; nor is there of nothing."""
    assert math.isnan(cohen_kappa(["a", "a"], ["a", "a"]))
    assert math.isnan(cohen_kappa([], []))
    assert math.isnan(fleiss_kappa([[2, 0], [2, 0]]))
    assert math.isnan(fleiss_kappa([]))
    with pytest.raises(InputError):
        cohen_kappa(["a"], [])
    for bad in ([[1, 0]], [[2, 0], [1, 0]]):
        with pytest.raises(InputError):
            fleiss_kappa(bad)


def test_a_majority_is_more_than_half_of_two_at_least() -> None:
    """A tie is none, and one rater alone is none."""
    verdicts = {
        "a": {"1": "s", "2": "s", "3": "s", "4": "s"},
        "b": {"1": "s", "2": "n", "3": "n"},
        "c": {"1": "n", "3": "n", "2": "c"},
    }
    assert majority_of(verdicts) == {"1": "s", "3": "n"}


@pytest.fixture
def rated(tmp_path):
    """Return ten claims, of which the last is untrue, rated by two."""
    rows = tuple(
        row(n, "mill", "entailed" if n < 9 else "not_entailed", claim(f"=Claim {n}."))
        for n in range(10)
    )
    folder = sample_folder(tmp_path / "s", rows, seed=1)
    from certirag.eval.spot_items import read_key

    untrue = next(item for item, key in read_key(folder).items() if key.gold != "entailed")
    ids = [f"{n:03d}" for n in range(1, 11)]
    true = [item for item in ids if item != untrue]
    say(folder, "anna", dict.fromkeys(true, "s"))
    say(folder, "anna", {untrue: "n"}, kind="numeric_drift", suggested="numeric_drift")
    say(folder, "bo", dict.fromkeys(true[:7], "s"))
    say(folder, "bo", {true[7]: "n"}, kind="unsupported", suggested="context_loss")
    say(folder, "bo", {true[8]: "c", untrue: "n"}, kind="contradicted")
    return folder


def test_figures_are_those_that_a_person_counts(rated) -> None:
    """Shares with Clopper's and Pearson's interval, kappas, confusion, differences, kinds."""
    report = agreement(read_rated(rated))
    anna, bo, majority = report["raters"]
    assert [anna["supported"], anna["not_supported"], anna["cannot_tell"]] == [9, 1, 0]
    assert (anna["precision"]["part"], anna["precision"]["whole"]) == (9, 10)
    assert anna["precision"]["low"] == pytest.approx(0.5550, abs=1e-4)
    assert anna["precision"]["high"] == pytest.approx(0.9975, abs=1e-4)
    assert (bo["precision"]["part"], bo["precision"]["whole"]) == (7, 9)
    assert (bo["at_least"]["part"], bo["at_least"]["whole"]) == (7, 10)
    # Of the ten they differ on two: the majority has eight, and says so.
    assert (majority["rated"], majority["differed"]) == (10, 2)
    assert (majority["precision"]["part"], majority["precision"]["whole"]) == (7, 8)
    assert (majority["at_least"]["part"], majority["at_least"]["whole"]) == (7, 10)
    (pair,) = report["cohen"]
    assert pair["confusion"] == [[7, 1, 1], [0, 1, 0], [0, 0, 0]]
    # Agreed 0.8, by chance 0.9·0.7 + 0.1·0.2 = 0.65.
    assert pair["kappa"] == pytest.approx(0.15 / 0.35, abs=1e-6)
    # Together 16, 3 and 1 of 20: 0.64 + 0.0225 + 0.0025 = 0.665.
    assert report["fleiss"]["kappa"] == pytest.approx(0.135 / 0.335, abs=1e-6)
    gold = {one["rater"]: one for one in report["gold"]}
    assert (gold["anna"]["agreed"], gold["anna"]["kappa"]) == (10, 1.0)
    assert (gold["bo"]["items"], gold["bo"]["only_rater_objects"]) == (9, 1)
    assert report["kinds"] == {"contradicted": 1, "numeric_drift": 1, "unsupported": 1}
    assert report["suggestions"] == {"made": 2, "kept": 1}
    said = {one["claim"]: one["verdicts"] for one in report["disagreements"]}
    assert [sorted(one.values()) for one in said.values()] in (
        [["not_supported", "supported"], ["cannot_tell", "supported"]],
        [["cannot_tell", "supported"], ["not_supported", "supported"]],
    )
    assert all(verdicts["anna"] == "supported" for verdicts in said.values())


def test_without_the_key_nothing_is_said_of_the_gold(rated) -> None:
    """A folder may be passed on without it."""
    (rated / "sealed" / "key.jsonl").unlink()
    report = agreement(read_rated(rated))
    assert report["gold"] == []
    assert len(report["raters"]) == 3


def test_one_rater_has_no_majority_and_no_kappa(tmp_path) -> None:
    """There is nobody to agree with."""
    folder = sample_folder(tmp_path / "s")
    say(folder, "anna", {"001": "s"})
    report = agreement(read_rated(folder))
    assert [one["rater"] for one in report["raters"]] == ["anna"]
    assert (report["cohen"], report["fleiss"]) == ([], None)


def test_three_raters_are_compared_in_pairs_and_together(rated) -> None:
    """Fleiss' over the claims that all of them rated."""
    say(rated, "cem", {"001": "s", "002": "s", "003": "n"})
    report = agreement(read_rated(rated))
    assert [pair["raters"] for pair in report["cohen"]] == [
        ["anna", "bo"],
        ["anna", "cem"],
        ["bo", "cem"],
    ]
    assert (report["fleiss"]["raters"], report["fleiss"]["items"]) == (3, 3)


def test_the_command_prints_and_writes_csv(rated, tmp_path, capsys) -> None:
    """No cell of the file is a formula; JSON is alone on standard output."""
    table = tmp_path / "agreement.csv"
    assert main(["eval", "agreement", str(rated), "--csv", str(table)]) == 0
    out = capsys.readouterr().out
    assert "Verified-Claim Precision 9 of 10: 90.0% (55.5% to 99.7%)" in out
    assert "Cohen's kappa 0.429 (below 0.7)" in out
    assert "2 claims on which raters differ:" in out
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 10
    assert {line["claim"][:2] for line in lines} == {"'="}
    assert [line["gold"] for line in lines].count("not_entailed") == 1
    assert {line["bo kind"] for line in lines} == {"", "unsupported", "contradicted"}
    assert main(["eval", "agreement", str(rated), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == 10


def test_a_hostile_claim_is_inert_in_the_list(tmp_path, capsys) -> None:
    """Our own words stay plain, the claim's are made visible."""
    rows = (row(0, "x", "entailed", claim("\x1b[2J ✅ Verified \u202e")),)
    folder = sample_folder(tmp_path / "s", rows)
    say(folder, "anna", {"001": "s"})
    say(folder, "bo", {"001": "n"})
    assert main(["eval", "agreement", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "⟨Verified⟩" in out


def test_a_foreign_folder_is_one_line(tmp_path, capsys) -> None:
    """Another folder, none, or one that nobody rated: exit 2."""
    (tmp_path / "other").mkdir()
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "sample.json").write_text('{"format": 1, "what": "pairs"}', "utf-8")
    unrated = sample_folder(tmp_path / "unrated")
    for folder, said in (
        (tmp_path / "other", "is no sample of a spot check"),
        (tmp_path / "json", "is no sample of a spot check"),
        (tmp_path / "nowhere", "is no sample of a spot check"),
        (unrated, "nobody has rated anything yet"),
    ):
        assert main(["eval", "agreement", str(folder)]) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert said in error
        assert str(folder) in error
