"""Recomputing a figure from figures: what follows, what does not, and how far it may be rounded."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.quantities.asked_operation import wanted_parts
from certirag.quantities.derive import explain_quantities, is_only_result
from certirag.quantities.figured_sentence import read_sentence
from certirag.quantities.find import find_quantities
from certirag.quantities.operands import Outcome, converted, states
from certirag.quantities.units import convert

RATE = "The error rate fell 2.7 percentage points from 2022 to 2023."
RATES = ("The error rate was 44.8 % in 2022.", "It was 42.1 % in 2023.")
GROWTH = "Revenue grew 20% from 2023 to 2024."
YEARS = ("Revenue was $10M in 2023.", "Revenue was $12M in 2024.")


def find_derivation(claim, sentences, context="", follows=None, documents=None):
    """Return the one derivation that leaves nothing of *claim* unexplained, else None."""
    found = explain_quantities(claim, sentences, context, follows, documents)
    return found.derived[0] if len(found.derived) == 1 and not found.missing else None


def test_a_derivation_carries_operands_result_and_ledger():
    """Each operand is verbatim with its value, unit and sentence; the result is exact."""
    found = find_derivation(RATE, RATES)
    assert found is not None
    assert found.operation == "difference"
    assert found.figure == "2.7 percentage points"
    assert [(o.text, o.value, o.unit, o.sentence) for o in found.operands] == [
        ("42.1 %", "42.1", "%", 2),
        ("44.8 %", "44.8", "%", 1),
    ]
    assert (found.result, found.unit) == ("2.7", "pp")
    assert found.ledger == "44.8 % − 42.1 % = 2.7 pp"
    assert found.periods == ("2022", "2023")


def test_nothing_is_derived_where_the_evidence_states_the_figure():
    """A stated figure needs no ledger, and an unsupported one has none."""
    assert find_derivation(YEARS[0], YEARS) is None
    assert find_derivation("Revenue was $11M in 2023.", YEARS) is None


def test_a_rounded_quotient_keeps_its_exact_result():
    """The ledger says "≈", and the result is the fraction itself."""
    found = find_derivation(
        "Revenue grew 16.1% from 2023 to 2024.",
        ("Revenue was $3.1M in 2023.", "Revenue was $3.6M in 2024."),
    )
    assert found is not None
    assert Fraction(found.result) == Fraction(500, 31)
    assert found.ledger == "($3.6M − $3.1M) ÷ $3.1M ≈ 16.1 %"


def test_a_pronoun_needs_the_sentence_before_it():
    """The word "it" is resolved only where the sentence right before is among the evidence."""
    assert find_derivation(RATE, RATES, follows=(False, True)) is not None
    assert find_derivation(RATE, RATES, follows=(False, False)) is None
    assert find_derivation(RATE, tuple(reversed(RATES))) is None


def test_operands_of_two_documents_do_not_mix():
    """What is "the firm" in two documents may be two firms."""
    assert find_derivation(GROWTH, YEARS, documents=("a", "a")) is not None
    assert find_derivation(GROWTH, YEARS, documents=("a", "b")) is None


def test_two_documents_with_other_results_give_none():
    """Where another document leads to another result, none of them counts."""
    more = (*YEARS, "Revenue was $11M in 2024.")
    assert find_derivation(GROWTH, more, documents=("a", "a", "b")) is None


@pytest.mark.parametrize(
    ("beside", "alone"),
    [
        ("The office is in Lund.", True),
        ("Revenue was $12 million in 2024.", True),
        ("Revenue was $11M in 2024.", False),
        ("Restated revenue was $11M in 2023.", False),
        ("Revenue grew by 18% from 2023 to 2024.", False),
    ],
)
def test_what_stands_beside_may_speak_against_a_result(beside, alone):
    """A second or restated figure that was not chosen leaves the result doubtful."""
    found = find_derivation(GROWTH, YEARS)
    assert found is not None
    assert is_only_result(GROWTH, found, (*YEARS, beside)) is alone


def test_one_open_figure_leaves_the_claim_without_a_derivation():
    """Every other figure, date and identifier of the claim must have its own support."""
    claim = "Revenue grew 20% from 2023 to 2024 at 7 sites."
    explained = explain_quantities(claim, YEARS)
    assert [m.text for m in explained.missing if m.quantity and m.quantity.value == "7"] == ["7"]
    assert find_derivation(claim, YEARS) is None


# figure as the claim writes it, exact value, whether it came of a division, accepted
ROUNDINGS = [
    ("16.1%", Fraction(500, 31), True, True),
    ("16%", Fraction(500, 31), True, True),
    ("16.2%", Fraction(500, 31), True, False),
    ("17%", Fraction(500, 31), True, False),
    ("10%", Fraction(500, 31), True, False),
    ("3%", Fraction(10, 3), True, False),
    ("3.3%", Fraction(10, 3), True, True),
    ("33%", Fraction(100, 3), True, True),
    ("67%", Fraction(200, 3), True, True),
    ("66%", Fraction(200, 3), True, False),
    ("13%", Fraction(25, 2), True, False),
    ("12.5%", Fraction(25, 2), True, True),
    ("about 13%", Fraction(25, 2), True, True),
    ("nearly 13%", Fraction(131, 10), False, False),
    ("about 20%", Fraction(18), False, False),
    ("20%", Fraction(199, 10), False, False),
    ("2.50 times", Fraction(5, 2), True, True),
    ("at least 20%", Fraction(25), False, False),
    ("$8M", Fraction(8 * 10**6), False, True),
    ("$8M", Fraction(8 * 10**6 + 1), False, False),
    ("a third of them", Fraction(33, 100), True, False),
    ("0.67 of them", Fraction(2, 3), True, True),
]


@pytest.mark.parametrize(("text", "value", "divided", "accepted"), ROUNDINGS)
def test_rounding(text, value, divided, accepted):
    """Equal, hedged as the wording allows, or a quotient to the digits that the claim writes."""
    (figure,) = find_quantities(text)
    nearly = text.startswith("nearly")
    assert states(figure, Outcome(value, divided=divided), nearly=nearly) is accepted


def test_a_conversion_needs_three_digits():
    """Between systems of units two digits are too few."""
    (short,), (long,) = find_quantities("16 km"), find_quantities("16.1 km")
    exact = converted(Fraction("16.09344"))
    assert not states(short, exact)
    assert states(long, exact)


@pytest.mark.parametrize(
    ("value", "unit", "target", "result"),
    [
        (10, "mile", "km", Fraction("16.09344")),
        (1, "ft", "inch", Fraction(12)),
        (100, "°C", "°F", Fraction(212)),
        (-40, "°F", "°C", Fraction(-40)),
        (2, "year", "month", Fraction(24)),
        (1, "km²", "ha", Fraction(100)),
        (1, "USD", "EUR", None),
        (1, "month", "day", None),
        (1, "GB", "GiB", None),
        (1, "m", "m²", None),
        (1, "pound", "kg", None),
    ],
)
def test_conversions_are_exact_or_none(value, unit, target, result):
    """What is not exact by definition is not converted."""
    assert convert(Fraction(value), unit, target) == result


@pytest.mark.parametrize(
    ("claim", "parts"),
    [
        ("from 2022 to 2024", (("2022", "2023", "2024"),)),
        ("in 2022–2024", (("2022", "2023", "2024"),)),
        ("in 2023 and 2024", (("2023", "2024"),)),
        ("from Q1 2024 to Q3 2024", (("2024-Q1", "2024-Q2", "2024-Q3"),)),
        ("in 2024", (("2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4"), ("2024-H1", "2024-H2"))),
        ("from 2024 to 2022", ()),
        ("in March 2024", ()),
        ("from Q1 2023 to Q2 2024", ()),
        ("in 2022 and 2024 and 2024", ()),
    ],
)
def test_the_parts_of_a_time(claim, parts):
    """A span is added up only where all its parts are known."""
    assert wanted_parts(read_sentence(f"Total revenue {claim} was $9M.")) == parts


@examples(150)
@given(st.integers(1, 9999), st.integers(1, 9999), st.integers(1, 9999))
def test_only_the_true_difference_follows(first, second, told):
    """Whatever the operands, one number follows and no other."""
    rises = second > first
    verb = "rose" if rises else "fell"
    evidence = (f"Output was {first} kg in 2022.", f"Output was {second} kg in 2023.")
    true = abs(second - first)
    found = find_derivation(f"Output {verb} by {true} kg from 2022 to 2023.", evidence)
    if true not in (first, second):  # else the figure stands there, and need not be computed
        assert (found is not None) is (first != second)
    if told not in (true, first, second):
        assert find_derivation(f"Output {verb} by {told} kg from 2022 to 2023.", evidence) is None
    wrong = "fell" if rises else "rose"
    assert find_derivation(f"Output {wrong} by {true} kg from 2022 to 2023.", evidence) is None


@examples(150)
@given(st.integers(1, 500), st.integers(1, 500), st.decimals(0, 500, places=1))
def test_a_stated_growth_is_within_its_last_digit(first, second, told):
    """No accepted growth is further from the exact one than half of its last place."""
    evidence = (f"Output was {first} kg in 2022.", f"Output was {second} kg in 2023.")
    claim = f"Output grew {told}% from 2022 to 2023."
    if find_derivation(claim, evidence) is not None:
        exact = Fraction(100 * (second - first), first)
        assert abs(Fraction(told) - exact) <= Fraction(1, 20)
        assert second > first


PIECES = st.sampled_from(
    [
        "Revenue",
        "costs",
        "was",
        "rose",
        "fell",
        "doubled",
        "$3M",
        "$6M",
        "20%",
        "2",
        "pp",
        "2022",
        "2023",
        "Q1",
        "from",
        "to",
        "in",
        "than",
        "twice",
        "that",
        "as",
        "many",
        "of",
        "half",
        "average",
        "total",
        "together",
        "Europe",
        "Asia",
        "and",
        "it",
        ",",
        ".",
        ";",
        ":",
        "not",
        "0",
        "more",
        "km",
        "miles",
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=14).map(" ".join), st.text(max_size=60))


@examples(300)
@given(TEXTS, st.lists(TEXTS, max_size=3), TEXTS)
def test_any_text_is_read_and_every_ledger_has_its_operands(claim, evidence, context):
    """No text raises; what is derived comes from figures that stand in the evidence."""
    explained = explain_quantities(claim, evidence, context)
    for derivation in explained.derived:
        assert derivation.operands
        for operand in derivation.operands:
            assert operand.text in evidence[operand.sentence - 1]
        is_only_result(claim, derivation, evidence, context)
