"""Near misses for training: cases are read strictly, slots ascend, labels do not give away."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from integration_fixtures import WHOLE

from certirag.errors import InputError
from certirag.ingest.sentences import sentence_splitter
from training.near_misses import (
    FOLDER,
    NearMiss,
    near_miss_rows,
    read_near_misses,
    slot_values,
    split_cases,
)

CASES = read_near_misses(FOLDER)
TWINS = NearMiss(
    "for_against",
    ("{P1} voted for the plan.", "{P1} voted against the plan."),
    (("{P1} [[backed|supported]] the plan.", "ec"), ("{P1} wrote the plan.", "nn")),
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is no case"),
        ('{"family": "x", "texts": ["a"]}', "is no case"),
        ('{"family": "x", "texts": ["a"], "claims": [["b.", "ee"]]}', "not one of e, n, c"),
        ('{"family": "x", "texts": ["a"], "claims": [["b.", "q"]]}', "not one of e, n, c"),
        ("", "no near misses"),
    ],
)
def test_a_bad_case_is_named(tmp_path: Path, line: str, said: str) -> None:
    """The message names the file and the line, or the folder that holds nothing."""
    (tmp_path / "cases.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        read_near_misses(tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("seed", range(50))
def test_figures_of_one_letter_ascend(seed: int) -> None:
    """What a case says of their order holds with every filling."""
    values = slot_values(random.Random(seed))
    for letter in "IHQADKR":
        own = [values[k].replace(",", "") for k in sorted(values) if k[0] == letter]
        assert [float(v) for v in own] == sorted({float(v) for v in own})
    assert values["X1"] != values["Y1"]


def test_a_claim_keeps_its_words_and_changes_its_label() -> None:
    """The twins share names and claims; only the label tells them apart."""
    rows = list(near_miss_rows([TWINS], sentence_splitter(), seed=1, dressed=False))
    assert [row.label for row in rows] == ["entailed", "neutral", "contradicted", "neutral"]
    assert rows[0].hypothesis == rows[2].hypothesis
    assert rows[0].premise.replace(" for ", " against ") == rows[2].premise


def test_the_same_seed_gives_the_same_rows_and_another_gives_others() -> None:
    """An epoch can be made again; the next one has other names and figures."""
    split = sentence_splitter()
    first, again, other = (list(near_miss_rows(CASES[:40], split, seed=s)) for s in (1, 1, 2))
    assert first == again
    assert [row.label for row in first] != [] != other
    assert {row.premise for row in first} != {row.premise for row in other}


def test_what_is_kept_from_training_stays_apart() -> None:
    """No family of the third part, and no case of the second, is trained on."""
    train, unseen, strange = split_cases(CASES)
    assert len(train) + len(unseen) + len(strange) == len(CASES)
    assert not {case.family for case in strange} & {case.family for case in (*train, *unseen)}
    assert not {case.key for case in unseen} & {case.key for case in train}
    assert min(len(unseen), len(strange)) >= len(CASES) / 10


def test_every_shipped_case_is_filled_whole() -> None:
    """No slot and no choice is left over, and no row is empty."""
    for row in near_miss_rows(CASES[:: 1 if WHOLE else 8], sentence_splitter(), seed=3):
        assert not re.search(r"\{[A-Z]\d\}|\[\[|\]\]", row.premise + row.hypothesis)
        assert row.premise.strip()
        assert row.hypothesis.strip()


def test_neither_the_claim_nor_its_label_gives_the_answer_away() -> None:
    """Most claims stand under several labels: guessing each claim's commonest is no skill."""
    letters = [letters for case in CASES for _, letters in case.claims]
    known = Counter("".join(letters))
    assert 0.35 <= known["e"] / known.total() <= 0.55
    guessed = sum(Counter(own).most_common(1)[0][1] for own in letters)
    assert guessed / known.total() < 0.75
    several = [own for own in letters if len(own) > 1]
    assert sum(len(set(own)) > 1 for own in several) / len(several) > 0.6
