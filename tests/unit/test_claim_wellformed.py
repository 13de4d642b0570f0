"""Which texts are one checkable, self-contained statement, and why the others are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.claims.self_contained import resolve
from certirag.claims.well_formed import problems

GOOD = [
    "The probation period lasts six months.",
    "Segment: EMEA; Q3 2024 revenue ($M): 12.3",
    "Role: Team Lead; Category: Hardware; Approval limit (EUR): 2500",
    "No generic version of Quindorel is available.",
    "Yes, employees receive 27 days of leave.",
    "Great Western Rail reported a loss.",
    "In an emergency, call the emergency line on extension 4444 first.",
    "You must report a lost laptop within 4 hours.",
    "Theft is covered only if there are signs of forced entry.",
    "This version replaces the Annual Leave Policy 2023.",
    "If the child is born early, the leave begins on the day of the birth.",
    "It is forbidden to smoke in the laboratory.",
    "The first results of the trial may appear in 2027.",
    "Dr. Amaya is the doctor in St. Ives.",
    "Patients with an eGFR of 30 to 44 mL/min inhale at most 600 mcg.",
    "Revenue rose to $4.2 million, i.e. by 5%.",
    "The note was published because the form had changed.",
    "Adults take 40 mg once daily.",
    "One of the reports is late.",
    "Acme and Birch merged in 2020.",
]
BAD = [
    ("Would you like to hear more?", "not_checkable"),
    ("Welcome to Tarnbrook!", "not_checkable"),
    ("Good morning!", "not_checkable"),
    ("Thank you for your question.", "not_checkable"),
    ("Here is a short summary of the rules:", "not_checkable"),
    ("I think this was a good quarter.", "not_checkable"),
    ("In my view, booking early is always a good idea.", "not_checkable"),
    ("You should consider booking early.", "not_checkable"),
    ("Let me know if you need more.", "not_checkable"),
    ("I hope this helps!", "not_checkable"),
    ("The new canteen is wonderful!", "not_checkable"),
    ("Annual Leave Policy 2024", "not_checkable"),
    ("Water damage", "not_checkable"),
    ("The policy covers:", "not_checkable"),
    ("", "not_checkable"),
    ("  \n ", "not_checkable"),
    ("— … —", "not_checkable"),
    ("It may be extended once.", "not_self_contained"),
    ("They receive five days.", "not_self_contained"),
    ("This applies to everyone.", "not_self_contained"),
    ("These are aims.", "not_self_contained"),
    ("The former is larger.", "not_self_contained"),
    ("The latter was sold in 2019.", "not_self_contained"),
    ("The same applies to contractors.", "not_self_contained"),
    ("As above, the limit is €500.", "not_self_contained"),
    ("During that time, Tarnbrook pays half of the salary.", "not_self_contained"),
    ("After that, it depends on the length of service.", "not_self_contained"),
    ("On the death of a parent, they receive five days.", "not_self_contained"),
    ("Both are documented by the manager.", "not_self_contained"),
    ("However, it is not covered.", "not_self_contained"),
    ("Its revenue was $69.5 million.", "not_self_contained"),
    ("Acme sells pumps, and Birch makes valves.", "not_atomic"),
    ("Acme sells pumps. Birch makes valves.", "not_atomic"),
    ("Elverton has 120 spaces, and eight of these have a charger.", "not_atomic"),
    ("Flights and hotels are booked through the portal.", "not_atomic"),
    ("The plant opened in May, which surprised the town.", "not_atomic"),
    ("word " * 61 + "is long.", "too_long"),
    ("x" * 5000, "too_long"),
]


@pytest.mark.parametrize("text", GOOD)
def test_one_plain_statement_has_no_problem(text):
    """A statement that stands alone and says one thing passes."""
    assert problems(text, max_tokens=60) == ()


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_every_other_text_has_a_named_problem(text, reason):
    """The reason begins with its documented name and says more after it."""
    found = problems(text, max_tokens=60)
    assert any(problem.startswith(f"{reason}: ") for problem in found)
    assert all(len(problem.split(": ", 1)[1]) > 5 for problem in found)


@pytest.mark.parametrize("words", [1, 5, 60])
def test_the_word_cap_is_the_one_given(words):
    """A text at the cap passes the cap; one word more does not."""
    at_cap = " ".join(["word"] * words)
    assert not any(p.startswith("too_long") for p in problems(at_cap, max_tokens=words))
    assert any(p.startswith("too_long") for p in problems(at_cap + " more", max_tokens=words))


@examples(400)
@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=600), st.integers(1, 400))
def test_any_text_gets_the_same_answer_twice(text, cap):
    """Total and deterministic on arbitrary text, lone surrogates included."""
    first = problems(text, max_tokens=cap)
    assert first == problems(text, max_tokens=cap)
    assert all(isinstance(problem, str) for problem in first)


HOSTILE = ["a, and " * 550, "which, " * 550, "(" * 4000, "a: b; " * 650, '" and ' * 600,
           "neither nor " * 330, "x is " * 800, "A. " * 1300, "sure " * 800, "the " * 1000]  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_repetition_is_answered_in_time(text):
    """Text made to be slow is read in bounded time even at the largest word cap."""
    problems(text, max_tokens=400)
    problems(" ".join(text.split()[:399]), max_tokens=400)


RESOLVED = [
    ("The probation period lasts six months.", "It may be extended once.",
     "The probation period may be extended once."),
    ("The deductible is €1,500 per claim.", "For storm damage, it is €5,000 per claim.",
     "For storm damage, the deductible is €5,000 per claim."),
    ("A clause applies to managers.", "It lasts nine months.", "The clause lasts nine months."),
    ("Employees receive three days when they marry.", "On the death of a parent, they receive five days.",
     "On the death of a parent, employees receive five days."),
    ("The battery lasts 24 months.", "Its warranty lasts 12 months.",
     "The battery's warranty lasts 12 months."),
]  # fmt: skip
UNRESOLVED = [
    ("The certificate is sent to the People team.", "It must cover every day."),
    ("Acme sued Birch in 2019.", "It lost the case."),
    ("Managers meet users on Monday.", "They bring reports."),
    ("No employee was hurt.", "They were insured."),
    ("Acme and Birch merged.", "It is based in Oslo."),
    ("", "It is closed."),
    ("The plant is closed.", "This is final."),
]


@pytest.mark.parametrize(("before", "text", "expected"), RESOLVED)
def test_a_pronoun_is_replaced_when_only_one_thing_can_be_meant(before, text, expected):
    """The subject of the sentence before takes the pronoun's place and is named as supplied."""
    resolved = resolve(text, before)
    assert resolved.text == expected
    assert resolved.words


@pytest.mark.parametrize(("before", "text"), UNRESOLVED)
def test_an_ambiguous_pronoun_stays_a_problem(before, text):
    """With two candidates, or none, nothing is replaced and the claim says so."""
    assert resolve(text, before).text == text
    assert any(p.startswith("not_self_contained") for p in problems(text, max_tokens=60))


def test_a_quotation_may_point_at_its_own_sentence_before() -> None:
    """What "that" stands for is in the quotation; alone, it is not."""
    both = "A booking may be cancelled until Friday. After that, one day's hire is payable."
    assert problems(both, max_tokens=60, quoted=True) == ()
    alone = "After that, one day's hire is payable."
    assert "points at another sentence" in problems(alone, max_tokens=60, quoted=True)[0]
    one = "Of the income Acme Inc. Holdings contributed $5 million of this."
    assert "points at another sentence" in problems(one, max_tokens=60, quoted=True)[0]
