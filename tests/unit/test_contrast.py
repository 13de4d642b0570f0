"""Contrast pairs: every made claim is entailed by one text and not by another, and only that tells."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter, defaultdict
from dataclasses import asdict

import pytest

from training.contrast import contrast_rows, main
from training.contrast_cases import case_of_names, cases_of_sentence, says_nothing_of
from training.contrast_edits import edits_of, other_number
from training.contrast_hops import hop_groups
from training.contrast_keeps import date_form, number_form, reordered, synonym
from training.contrast_shapes import rewrites_of
from training.contrast_swap import swapped
from training.rows import Row

_PLACES = ("Arvenholm", "Bexley", "Corrant", "Dunmore", "Elsfield", "Farrow", "Gretna", "Holt")
_SHAPES = (
    "The mill in {a} was sold to {b} for {n} million dollars on 12 May {y}.",
    "In {y}, the council of {a} opened {n} schools near {b}.",
    "Most of the {n} boats in {a} may leave before the harbour of {b} is closed.",
    "The bridge of {a} is {n} metres longer than the old bridge of {b}.",
    "Ferries to {a} are allowed to carry at least {n} cars, unless {b} closes its pier.",
    "The team of {a} increased its lead over {b} by {n} percent in {y}.",
)


def _rows() -> list[Row]:
    rows = []
    for at in range(240):
        one, two = _PLACES[at % 8], _PLACES[(at * 3 + 1 + at // 8) % 8]
        if one != two:
            text = _SHAPES[at % 6].format(a=one, b=two, n=at + 13, y=1900 + at % 90)
            around = f"The records of year {at} are complete. {text} They were kept in a tower."
            rows.append(Row("conjnli", text, text, "entailed"))
            rows.append(Row("factcg_docs", f"{around} {around[:40]}.", text, "entailed"))
            rows.append(Row("lingnli", text, "Nobody knows why.", "neutral"))
    return rows


@pytest.fixture(scope="module")
def made() -> list[Row]:
    """Return the made rows of a small set."""
    return contrast_rows(_rows(), seed=7, limit=None)


def test_every_made_claim_has_a_text_that_supports_it_and_one_that_does_not(
    made: list[Row],
) -> None:
    """The hypothesis alone can say nothing of the label."""
    sides: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for row in made:
        sides[row.source, row.hypothesis].add(row.label == "entailed")
    assert len(sides) > 1000
    assert [claim for claim, found in sides.items() if found != {True, False}] == []


def test_about_half_of_each_kind_is_entailed(made: list[Row]) -> None:
    """Nor can the kind of edit."""
    count = Counter(row.source for row in made)
    entailed = Counter(row.source for row in made if row.label == "entailed")
    assert {kind for kind in count if not 0.4 <= entailed[kind] / count[kind] <= 0.6} == set()
    assert {"made_number", "made_negation", "made_modality", "made_hops", "made_form_unit"} <= set(
        count
    )


def test_no_claim_is_both_entailed_and_not_by_one_text(made: list[Row]) -> None:
    """Two edits never disagree on one pair."""
    labels: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for row in made:
        labels[row.premise, row.hypothesis].add(row.label == "entailed")
    assert [pair for pair, found in labels.items() if len(found) > 1] == []


def test_the_same_seed_makes_the_same_rows_and_another_seed_others(made: list[Row]) -> None:
    """What is trained on can be made again."""
    assert contrast_rows(_rows(), seed=7, limit=None) == made
    assert contrast_rows(_rows(), seed=8, limit=None) != made


def test_a_limit_keeps_pairs_whole_and_spans_the_kinds(made: list[Row]) -> None:
    """A trial run has the balance of the whole."""
    some = contrast_rows(_rows(), seed=7, limit=300)
    assert 100 <= len(some) <= 400
    assert len({row.source for row in some}) > 15
    by_claim = defaultdict(set)
    for row in some:
        by_claim[row.hypothesis].add(row.label == "entailed")
    assert all(len(found) == 2 for found in by_claim.values())


@pytest.mark.parametrize(
    ("sentence", "kind", "old"),
    [
        ("The fee is 1,200 a year.", "number", "1,200"),
        ("It opened in March 1987 with a fair.", "date", "1987"),
        ("The cable weighs 40 kg per reel.", "unit", "kg"),
        ("Tickets cost $15 at the door.", "currency", "$"),
        ("Prices rose by 4 percent in spring.", "percent", "4 percent"),
        ("She was born in Vienna to a baker.", "entity", "Vienna"),
        ("The pool is open to indoor clubs only.", "antonym", "indoor"),
        ("The north tower is taller than the church.", "comparison", "taller"),
        ("Guests may bring a dog.", "modality", "may"),
        ("Most members voted by post.", "quantifier", "Most"),
    ],
)
def test_an_edit_of_each_kind_is_found(sentence: str, kind: str, old: str) -> None:
    """Each finder sees a plain case of its kind."""
    found = [
        (edit.kind, edit.old.lower())
        for seed in range(5)
        for edit in edits_of(sentence[0].lower() + sentence[1:], random.Random(seed))
    ]
    assert (kind, old.lower()) in found


@pytest.mark.parametrize(
    ("sentence", "kind", "other"),
    [
        ("The gate is locked at night.", "negation", "The gate is not locked at night."),
        ("Anna Roe defeated Ella Moss in 1950.", "roles", "Ella Moss defeated Anna Roe in 1950."),
        (
            "The rent rose from 400 to 450 in May.",
            "exchange",
            "The rent rose from 450 to 400 in May.",
        ),
        (
            "Members may park in the yard unless it is full.",
            "qualifier",
            "Members may park in the yard.",
        ),
    ],
)
def test_a_rewrite_of_each_shape_reads_well(sentence: str, kind: str, other: str) -> None:
    """Each shape gives a sentence that one might write."""
    found = [(r.kind, r.other) for r in rewrites_of(sentence, random.Random(1))]
    assert (kind, other) in found


def test_some_to_all_flips_in_one_direction_alone() -> None:
    """All members entails some members, so only one side is a contrast."""
    cases = [
        case
        for seed in range(20)
        for case in cases_of_sentence(
            "", "The clerk says some members voted by post.", "", random.Random(seed)
        )
        if (case.kind, "all members" in case.other) == ("quantifier", True)
    ]
    assert cases
    assert {(case.forth, case.back) for case in cases} == {("neutral", None)}


def test_two_names_joined_by_and_are_not_exchanged() -> None:
    """Their order says nothing, so the exchange would not change the claim."""
    joined = "The cup went to Anna Roe and Ella Moss in spring."
    assert case_of_names(joined, joined, random.Random(1)) is None
    apart = "The cup that Anna Roe had lost was found by Ella Moss in spring."
    case = case_of_names(apart, "It was found by Ella Moss.", random.Random(1))
    assert case is not None
    assert case.other == "It was found by Anna Roe."
    assert (case.forth, case.back) == ("not_entailed", "not_entailed")


@pytest.mark.parametrize(
    ("keep", "text", "ways"),
    [
        (number_form, "It has 1,200 seats.", {"It has 1200 seats."}),
        (number_form, "It has five seats.", {"It has 5 seats."}),
        (number_form, "It cost 2.5 million in all.", {"It cost 2,500,000 in all."}),
        (number_form, "About 5% of it burned.", {"About 5 percent of it burned."}),
        (
            date_form,
            "It is due on 3 March 2024.",
            {"It is due on March 3, 2024.", "It is due on 2024-03-03."},
        ),
        (
            reordered,
            "In 1999, the mill was sold to a bank.",
            {"The mill was sold to a bank in 1999."},
        ),
        (synonym, "The employees left.", {"The staff left."}),
        (number_form, "It was built in 1987.", {"It was built in 1987."}),
    ],
)
def test_a_keep_says_the_same_in_another_way(keep, text: str, ways: set[str]) -> None:  # type: ignore[no-untyped-def]
    """Over all draws just these ways come out; a year stays as it is."""
    assert {keep(text, random.Random(seed)) for seed in range(30)} == ways


def test_a_swap_mends_the_article_and_keeps_the_capital() -> None:
    """Only whole words and whole numbers are replaced."""
    assert swapped("An indoor pool.", "indoor", "outdoor") == "An outdoor pool."
    assert swapped("A new pool and an old mill.", "old", "new") == "A new pool and a new mill."
    assert swapped("Most doors open.", "most", "all") == "All doors open."
    assert swapped("It has 15 and 1,500 of 15.5.", "15", "20") == "It has 20 and 1,500 of 15.5."


@pytest.mark.parametrize("text", ["7", "1,200", "3.5", "48", "0.05"])
def test_another_number_is_another_value_in_the_same_writing(text: str) -> None:
    """A flip that left the value as it was would carry a wrong label."""
    for seed in range(50):
        new = other_number(text, random.Random(seed))
        assert float(new.replace(",", "")) != float(text.replace(",", ""))
        assert new.partition(".")[1] == text.partition(".")[1]


def test_removed_evidence_is_called_silent_only_where_a_name_or_number_is_gone() -> None:
    """What is left must not support the claim in other words."""
    claim = "The mill in Arvenholm was sold for 40 dollars."
    assert says_nothing_of("A fire was seen in the hills.", claim)
    assert not says_nothing_of("In Arvenholm, the mill was sold; 40 dollars was the price.", claim)


def test_a_joined_claim_needs_both_sentences() -> None:
    """No text called silent holds a whole text that entails."""
    groups = list(hop_groups(random.Random(3), 64))
    assert len(groups) == 64
    for group in groups:
        entailed = {row.premise for row in group if row.label == "entailed"}
        silent = {row.premise for row in group if row.label == "neutral"}
        assert len(entailed) == len(silent) == 2
        assert len({row.hypothesis for row in group}) == 1
        assert not any(text in other for text in entailed for other in silent)


def test_the_command_writes_the_rows_and_prints_their_counts(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    """The file reads back and the counts are printed."""
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "made.jsonl.gz"
    pairs.write_text("".join(json.dumps(asdict(row)) + "\n" for row in _rows()), "utf-8")
    assert main(["--pairs", str(pairs), "--out", str(out), "--seed", "2"]) == 0
    printed = capsys.readouterr().out
    with gzip.open(out, "rt", encoding="utf-8") as lines:
        rows = [Row(**json.loads(line)) for line in lines]
    assert f"{len(rows)}" in printed
    assert "made_number" in printed


def test_the_command_names_a_missing_file(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    """One line and exit code 2."""
    missing = tmp_path / "none.jsonl"
    assert main(["--pairs", str(missing), "--out", str(tmp_path / "out.jsonl")]) == 2
    assert str(missing) in capsys.readouterr().err
