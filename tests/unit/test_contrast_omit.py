"""Evidence that lost a part no longer bears out a claim that needs it, and only that claim."""

from __future__ import annotations

import random

import pytest

from training.contrast_omit import grafted, omitted, parts_of, sentences_apart, without
from training.rows import Row

_SENTENCE = (
    "The ferry company sold two boats to the national museum in the northern harbour in 1987."
)
_TEXT = (
    "The mill of Arvenholm was built in stone by a family of bakers in 1802. "
    "The council rented the upper floor to a school of music after the second flood. "
    "A new wheel was fitted by three carpenters from Bexley in the dry summer of 1911. "
    "The owners sold the whole house to a bank in the winter of 1955. "
) * 2


@pytest.mark.parametrize("lost", [" in 1987", " northern", "two ", " national"])
def test_a_sentence_does_without_each_of_its_parts(lost: str) -> None:
    """An adjunct, an adjective and a number are parts; what is left is a sentence."""
    parts = {_SENTENCE[start:end] for start, end in parts_of(_SENTENCE)}
    assert lost in parts
    start = _SENTENCE.index(lost)
    left = without(_SENTENCE, (start, start + len(lost)))
    assert lost.strip() not in left.split()
    assert left.endswith(".")
    assert "  " not in left


def test_a_claim_loses_its_support_with_the_part_it_needs() -> None:
    """Of each pair, one premise has the words that the claim needs and the other lacks them."""
    row = Row("lingnli", _SENTENCE, "The ferry company sold two boats in 1987.", "entailed")
    groups = list(omitted([row] * 12, random.Random(3)))
    assert len(groups) > 6
    for supporting, lacking in groups:
        assert supporting.hypothesis == lacking.hypothesis
        assert (supporting.label, lacking.label) == ("entailed", "neutral")
        wanted = set(supporting.hypothesis.lower().rstrip(".").split())
        there = set(supporting.premise.lower().rstrip(".").split())
        left = set(lacking.premise.lower().rstrip(".").split())
        assert wanted & there - left


@pytest.mark.parametrize(
    "premise",
    [
        "No boats were sold to a museum in the northern harbour in 1987 by the company.",
        "The company sold only two boats to a museum in the northern harbour in 1987.",
        "The company may have sold two boats to a museum in the northern harbour in 1987.",
    ],
)
def test_a_sentence_that_denies_or_limits_is_left_alone(premise: str) -> None:
    """There a shorter sentence can say more, so nobody can be sure of a label."""
    assert list(omitted([Row("begin", premise, "Nothing.", "neutral")], random.Random(1))) == []


def test_a_fused_claim_is_supported_by_the_fused_text_alone() -> None:
    """The end of one sentence behind the start of another is another statement."""
    groups = list(grafted([Row("factcg", _TEXT, "Nothing.", "not_entailed")], random.Random(5)))
    assert groups
    for supporting, lacking in groups:
        assert supporting.premise != lacking.premise
        assert (supporting.label, lacking.label) == ("entailed", "not_entailed")
        assert len(lacking.premise) > 200


def test_the_wrong_sentence_of_a_claim_is_found_by_its_true_twin() -> None:
    """Two claims of one text that differ in one sentence say which sentence is wrong."""
    whole = "The mill was built in 1802. The wheel is made of oak."
    wrong = "The mill was built in 1802. The wheel is made of iron."
    other = "The mill was built in 1805. The wheel is made of iron."
    rows = [
        Row("summedits_news", _TEXT, whole, "entailed"),
        Row("summedits_news", _TEXT, wrong, "not_entailed"),
        Row("summedits_news", _TEXT, other, "not_entailed"),
    ]
    (group,) = sentences_apart(rows)
    assert [(row.hypothesis, row.label) for row in group] == [
        ("The wheel is made of oak.", "entailed"),
        ("The wheel is made of iron.", "not_entailed"),
    ]
