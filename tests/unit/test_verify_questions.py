"""Questions cut from a claim, answered from evidence alone, compared by rules."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from certirag.verification.lexical.scoring import sentences
from certirag.verification.question_answers import (
    _says_in_full,
    answer_from_evidence,
    outcome_of,
    question_records,
)
from certirag.verification.questions import MAX_QUESTIONS, Question, questions_of

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def failed(claim: str, evidence: str, context: str = "") -> set[tuple[str, str]]:
    """Return kind and outcome of each question that the evidence does not answer as the claim."""
    records = question_records(claim, evidence, context)
    return {(r.kind, r.outcome) for r in records if r.outcome != "agree"}


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("Employees receive 40 days of leave.", "Employees receive 27 days of leave.", ("amount", "differ")),
        ("Employees receive 27 days of leave.", "Employees receive leave.", ("amount", "not_found")),
        ("The margin rose by 1.9%.", "The margin rose by 1.9 percentage points.", ("amount", "not_found")),
        ("The depot opened in May 2023.", "The depot opened in June 2023.", ("when", "differ")),
        ("The depot in Ghent was closed.", "The depot in Lille was closed.", ("name", "not_found")),
        ("Guests may not use the laundry.", "Guests may use the laundry.", ("polarity", "differ")),
        ("Guests may use the laundry.", "Guests may not use the laundry.", ("polarity", "differ")),
        ("Revenue rose in the spring.", "Revenue fell in the spring.", ("polarity", "differ")),
        ("Staff must wear a badge.", "Staff should wear a badge.", ("modality", "differ")),
        ("Staff receive a badge indoors.", "Staff may receive a badge indoors.", ("modality", "differ")),
        ("All staff wear a badge.", "Most staff wear a badge.", ("quantifier", "differ")),
        ("All staff wear a badge.", "Staff wear a badge.", ("quantifier", "not_found")),
        ("Only staff may enter the hall.", "Staff may enter the hall.", ("quantifier", "not_found")),
        ("In 2023 Tarnbeck acquired Ferrow.", "In 2023 Ferrow acquired Tarnbeck.", ("roles", "differ")),
    ],
)  # fmt: skip
def test_a_planted_error_is_found(claim: str, evidence: str, expected: tuple[str, str]) -> None:
    """Each kind of question catches its kind of error."""
    assert expected in failed(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence", "context"),
    [
        ("Employees receive 27 days of leave.", "Employees receive 27 days of leave.", ""),
        ("The cost was 3.2 million dollars.", "The cost was $3,200,000.", ""),
        ("Revenue was $5 million in 2024.", "Revenue was $5 million.", "Annual report 2024"),
        ("The depot opened in May 2023.", "The depot opened on 4 May 2023.", ""),
        ("Tarnbeck bought Ferrow in May 2023.", "Ferrow was bought by Tarnbeck in May 2023.", ""),
        ("The WHO funds the trial.", "The World Health Organization funds the trial.", ""),
        ("Staff must wear a badge.", "Staff are required to wear a badge.", ""),
        ("Every member of staff wears a badge.", "All members of staff wear a badge.", ""),
        (
            "Sales fell from 12.6% to 14.5% of costs.",
            "Sales fell from 12.6% to 14.5% of costs.",
            "",
        ),
        ("Guests cannot use the laundry.", "Guests may not use the laundry.", ""),
        (
            "The lease runs for six months. It may be renewed once, for at most three months.",
            "Pay first. The lease runs for six months. It may be renewed once, for at most three months.",
            "",
        ),
    ],
)
def test_the_same_in_other_words_agrees(claim: str, evidence: str, context: str) -> None:
    """A fair claim loses nothing."""
    assert failed(claim, evidence, context) == set()


@pytest.mark.parametrize(
    "evidence",
    [
        "It may be renewed once, for at most three months. The lease runs for six months.",
        "The lease runs for six months. Dogs pay extra. It may be renewed once, for three months.",
        "",
    ],
)
def test_only_sentences_that_follow_one_another_say_a_claim_in_full(evidence: str) -> None:
    """Turned round, or with another one between them, they are asked like any evidence."""
    claim = "The lease runs for six months. It may be renewed once, for at most three months."
    assert not _says_in_full(claim, sentences(evidence))
    assert not _says_in_full("", sentences("Dogs pay extra."))


def test_the_questions_do_not_hold_the_answer() -> None:
    """By type there is no place for it, and in the text stands a gap."""
    assert {f.name for f in fields(Question)} == {
        "kind", "text", "about", "dimension", "role", "periods",
    }  # fmt: skip
    for asked in questions_of("In May 2023 the depot in Ghent cost $3.2 million."):
        if asked.question.kind in {"amount", "when", "name"}:
            assert all(word not in asked.question.text for word in asked.said.words)
            assert all(word.casefold() not in asked.question.about for word in asked.said.words)


def test_the_answer_follows_the_evidence_not_the_claim() -> None:
    """The same question to two texts has two answers; without one, none is made up."""
    (asked, *_) = questions_of("Employees receive 27 days of leave.")
    assert asked.question.kind == "amount"
    same = answer_from_evidence(asked.question, "Employees receive 27 days of leave.")
    other = answer_from_evidence(asked.question, "Employees receive 12 days of leave.")
    assert same is not None
    assert other is not None
    assert (same.words, other.words) == (("27 days",), ("12 days",))
    assert (outcome_of(asked, same), outcome_of(asked, other)) == ("agree", "differ")
    assert answer_from_evidence(asked.question, "The canteen opens early.") is None
    assert outcome_of(asked, None) == "not_found"


def test_of_two_figures_the_one_of_the_same_subject_answers() -> None:
    """A figure is looked up by the words around it and by its period."""
    evidence = "Software revenue was $5 million and Services revenue was $7 million."
    assert failed("Services revenue was $7 million.", evidence) == set()
    assert ("amount", "differ") in failed("Services revenue was $5 million.", evidence)


@pytest.mark.parametrize(
    "text", ["", " ", "?", "9", "not", "x" * 5000, "🙂" * 9, "A\x00B", "No " * 700]
)
def test_any_text_may_be_asked_about(text: str) -> None:
    """Bounded and total."""
    assert len(questions_of(text)) <= MAX_QUESTIONS
    for record in question_records(text, text, text):
        assert record.outcome in {"agree", "differ", "not_found"}
    question_records("Employees receive 27 days.", text, text)


def _rows(name: str) -> list[dict[str, str]]:
    lines = (FIXTURES / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _share(rows: list[dict[str, str]]) -> float:
    found = [bool(failed(r["claim"], r["evidence"], r.get("title", ""))) for r in rows]
    return sum(found) / len(rows)


def test_what_the_questions_catch_and_cost_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Without any verifier: errors that they find, and fair claims that they doubt."""
    caught = _share(_rows("attacks/near_misses"))
    flips = _share(_rows("behaviour/negation_flips"))
    cost = _share(_rows("attacks/fair_claims"))
    line = (
        f"{caught:.0%} of near misses, {flips:.0%} of flipped negations, {cost:.0%} of fair claims"
    )
    with capsys.disabled():
        print(f"\nquestions alone doubt {line}")  # noqa: T201  # the measure is the point
    assert caught >= 0.35
    assert flips >= 0.75
    assert cost <= 0.05
