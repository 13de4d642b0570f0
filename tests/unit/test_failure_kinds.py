"""In which way a claim failed, by rule: a case for each line of the table, and what it leaves open."""

from __future__ import annotations

from typing import Any

import pytest
from spot_cases import claim

from certirag.eval.failure_kinds import KINDS, MOST_COMPARED, failure_of, suggested_kind
from certirag.eval.measured_claims import MeasuredClaim

LOW = ("entailed", "the closest passage supports it with 0.40; 0.85 is needed")
NUMBERS = ("numbers", "the evidence does not say 30 days")
OPPOSED = ("not_contradicted", "“Leave” contradicts it: 0.90, the threshold is 0.70")
FORM = "well_formed"
LEAVE = "Full-time employees receive 27 days of annual leave."


def _failed(
    text: str, evidence: tuple[str, ...], stage: str, *failed: tuple[str, str], **more: Any
) -> MeasuredClaim:
    fields = {"verdict": "UNSUPPORTED", "entailed": 0.4, "against": "", **more}
    return claim(text, "UNVERIFIED", evidence=evidence, failed=failed, stage=stage, **fields)


CASES: dict[str, tuple[MeasuredClaim, tuple[str, str, str]]] = {
    "words that stood for it are gone": (
        _failed(
            "He receives 30 days.",
            (LEAVE,),
            "compilation",
            (FORM, "not self contained: he"),
            LOW,
            NUMBERS,
        ),
        ("context_loss", "compilation", FORM),
    ),
    "two statements in one": (
        _failed("It is.", (LEAVE,), "compilation", (FORM, "not atomic: two facts"), LOW),
        ("", "compilation", FORM),
    ),
    "a question": (
        _failed("Is it?", (LEAVE,), "compilation", (FORM, "not checkable: it is a question")),
        ("", "compilation", FORM),
    ),
    "nothing was compared": (
        _failed(
            "The canteen sells 30 soups.",
            (),
            "retrieval",
            ("evidence", "no evidence is attached"),
            LOW,
            NUMBERS,
            ("sound_measurement", "no evidence was scored"),
        ),
        ("unsupported", "retrieval", "retrieval"),
    ),
    "off the subject": (
        _failed("The canteen sells soup.", (LEAVE,), "retrieval", LOW, verdict="NEI"),
        ("unsupported", "retrieval", "retrieval"),
    ),
    "off the subject by its verdict, and yet it speaks of the same otherwise": (
        _failed(
            "Full-time employees receive 30 days of annual leave.",
            (LEAVE,),
            "retrieval",
            LOW,
            NUMBERS,
            verdict="NEI",
        ),
        ("numeric_drift", "retrieval", "numbers"),
    ),
    "a text that was cut off": (
        _failed(
            "Staff receive 30 days.",
            (LEAVE,),
            "verification",
            LOW,
            NUMBERS,
            ("sound_measurement", "part of the text was cut off before it was scored"),
        ),
        ("", "verification", "sound_measurement"),
    ),
    "a verifier that was given more": (
        _failed(LEAVE, (LEAVE,), "verification", ("isolated", "something other"), entailed=0.9),
        ("", "verification", "isolated"),
    ),
    "a source that is not what it was": (
        _failed(LEAVE, (LEAVE,), "policy", ("evidence", "the digest does not match"), entailed=0.9),
        ("misattributed", "policy", "evidence"),
    ),
    "the headings alone say it": (
        _failed(LEAVE, (LEAVE,), "policy", ("load_bearing", "titles alone score"), entailed=0.9),
        ("misattributed", "policy", "load_bearing"),
    ),
    "another number": (
        _failed(
            "Full-time employees receive 30 days of annual leave.",
            (LEAVE,),
            "verification",
            LOW,
            NUMBERS,
            OPPOSED,
            verdict="CONTRADICTED",
        ),
        ("numeric_drift", "verification", "numbers"),
    ),
    "another unit": (
        _failed("The rope is 5 km long.", ("The rope is 5 miles long.",), "policy", NUMBERS),
        ("numeric_drift", "policy", "numbers"),
    ),
    "the figure of another subject": (
        _failed(
            "Revenue was $3.2B in 2023.", ("Profit was $3.2 billion in 2023.",), "verification", LOW
        ),
        ("numeric_drift", "verification", "numbers"),
    ),
    "a figure where the evidence has none is no drift": (
        _failed("The mill sells 30 loaves.", ("Its wheel is oak.",), "verification", LOW, NUMBERS),
        ("unsupported", "verification", "words"),
    ),
    "a figure that the record found under a heading is no drift": (
        _failed("Rent was due in 2023.", ("Rent was due.",), "verification", LOW),
        ("unsupported", "verification", "words"),
    ),
    "the opposite": (
        _failed(
            "Contractors are given credentials.",
            ("Contractors are never given credentials.",),
            "verification",
            LOW,
            OPPOSED,
        ),
        ("contradicted", "verification", "not_contradicted"),
    ),
    "another document says the opposite": (
        _failed(LEAVE, (LEAVE,), "policy", ("uncontested", "“Old” opposes it"), entailed=0.9),
        ("contradicted", "policy", "uncontested"),
    ),
    "contradicted by its verdict alone": (
        _failed("It is open.", ("It is shut.",), "verification", LOW, verdict="CONTRADICTED"),
        ("contradicted", "verification", "verdict"),
    ),
    "one side of a comparison": (
        _failed(
            "The van used less fuel than the lorry.",
            ("The van used less fuel.",),
            "policy",
            ("class_minimum", "a comparison needs 2 pieces of evidence; 1 is attached"),
            entailed=0.9,
        ),
        ("over_synthesis", "policy", "class_minimum"),
    ),
    "limits that the source does not state": (
        _failed(
            "The rule applies only to staff.",
            ("Staff follow the rule.",),
            "policy",
            ("class_minimum", "a statement of limits needs a source that states the limits itself"),
            entailed=0.9,
        ),
        ("context_loss", "policy", "class_minimum"),
    ),
    "a condition is gone": (
        _failed(
            "Staff receive a bonus.",
            ("Staff receive a bonus if the group meets its target.",),
            "verification",
            LOW,
        ),
        ("context_loss", "verification", "words"),
    ),
    "a doubt is gone": (
        _failed(
            "The load had been secured.",
            ("The driver stated that the load had been secured.",),
            "verification",
            LOW,
        ),
        ("context_loss", "verification", "words"),
    ),
    "several sentences, none of which says it": (
        _failed(
            "The gallery sold paintings to the museum.",
            ("The gallery sold paintings.", "The museum bought paintings."),
            "verification",
            LOW,
        ),
        ("over_synthesis", "verification", "words"),
    ),
    "another word in its place": (
        _failed(
            "The tablet is sold in Spain through Ferrix.",
            ("The tablet is sold in Portugal through Ferrix.",),
            "verification",
            LOW,
        ),
        ("unsupported", "verification", "words"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_line_of_the_table(name) -> None:
    """Kind, stage, and the rule that told."""
    case, expected = CASES[name]
    found = failure_of(case)
    assert found is not None
    assert (found.kind, found.stage, found.rule) == expected
    assert found.kind in {*KINDS, ""}


def test_every_kind_is_assigned_by_a_case() -> None:
    """None of the six is there in name alone."""
    assert {kind for _, (kind, _, _) in CASES.values()} == {*KINDS, ""}


def test_a_claim_with_the_badge_has_not_failed() -> None:
    """Nor has one of which the record names no stage."""
    assert failure_of(claim()) is None
    assert failure_of(claim(failed=(LOW,), stage="elsewhere")) is None


def test_long_texts_are_not_read_word_by_word() -> None:
    """They cost no time, and nothing is made up of them."""
    long = "word " * MOST_COMPARED
    found = failure_of(_failed(long, (LEAVE,), "verification", LOW, NUMBERS))
    assert found is not None
    assert found.kind == "unsupported"
    assert suggested_kind(long, [LEAVE]) == ""


@pytest.mark.parametrize(
    ("text", "evidence", "against", "kind"),
    [
        (
            "Staff receive 30 days of leave.",
            ["Staff receive 27 days of leave."],
            "",
            "numeric_drift",
        ),
        ("Managers must approve it.", ["Managers may approve it."], "", "context_loss"),
        ("Staff are given keys.", ["Staff are never given keys."], "", "contradicted"),
        (
            "Staff are given keys.",
            ["Staff are busy."],
            "Staff are never given keys.",
            "contradicted",
        ),
        ("The mill is old.", ["The mill has a wheel.", "A wheel is old."], "", "over_synthesis"),
        ("The mill is old.", ["The mill has a wheel."], "", ""),
        ("The mill is old.", [], "", ""),
        ("", [""], "", ""),
    ],
)
def test_what_is_proposed_to_a_rater_is_of_the_texts_alone(text, evidence, against, kind) -> None:
    """Nothing where they tell nothing."""
    assert suggested_kind(text, evidence, against) == kind


def test_hostile_texts_break_nothing() -> None:
    """Whatever a document holds, a rule answers."""
    from builders import hostile_strings

    for _, text in hostile_strings():
        assert suggested_kind(text, [text, text[::-1]], text) in {*KINDS, ""}
        found = failure_of(_failed(text, (text,), "verification", LOW, NUMBERS))
        assert found is not None
