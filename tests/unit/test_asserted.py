"""What stands around a sentence may quote it, ask it, list it, or put it under another thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certirag.ports import Pair
from certirag.verification.vetoes import drops_items, reservations, spelt_alike

SAID = "The roof was replaced in spring."


def _pair(window: str, *, claim: str = SAID, evidence: str = SAID, context: str = "") -> Pair:
    return Pair(claim, evidence, context, window)


@pytest.mark.parametrize(
    ("window", "said"),
    [
        (f'The seller wrote: "We moved in May. {SAID} It is dry."', "quotation"),
        (f"The seller wrote: “We moved in May. {SAID} It is dry.”", "quotation"),
        (f"The seller wrote: «We moved in May. {SAID}»", "quotation"),
        (f"These remarks proved wrong:\n{SAID}\nThe cellar is dry.", "These remarks proved wrong:"),
        (f"No date is set. Still to do:\nThe cellar.\n{SAID}", "Still to do:"),
    ],
)
def test_a_frame_is_a_reservation(window: str, said: str) -> None:
    """A sentence of an open quotation, or of a list under a lead-in, is not the document's own."""
    assert said in " ".join(reservations(_pair(window)))


@pytest.mark.parametrize(
    "window",
    [
        "",
        f"The survey is new. {SAID} The cellar is dry.",
        f'He said "never again". {SAID} The cellar is dry.',
        f"She said “never again”. {SAID}",
        f"Done:\nThe roof.\n{' '.join(['A long paragraph ends the list'] * 6)}.\n{SAID}",
    ],
)
def test_a_sentence_that_stands_by_itself_has_none(window: str) -> None:
    """Marks that are closed, and a list that a paragraph has ended, reach no further."""
    assert reservations(_pair(window)) == []


def test_a_claim_that_carries_its_lead_in_is_left_alone() -> None:
    """Who says under what the item stood has read it."""
    window = f"Works that were cancelled:\n{SAID}"
    claim = "The works on the roof, replaced in spring, were cancelled."
    assert reservations(_pair(window, claim=claim)) == []


def test_a_question_states_nothing() -> None:
    """Neither alone nor beside another sentence."""
    asked = "Did the pump fail?"
    assert reservations(Pair("The pump failed.", asked)) == ["the passage asks and does not say"]
    assert reservations(Pair("The pump failed.", f"{asked}\nNobody knows.")) != []


@pytest.mark.parametrize(
    ("context", "claim", "refused"),
    [
        ("Alma and Birte ferries compared › Alma", "The Birte ferry carries 90 cars.", True),
        ("Alma and Birte ferries compared › Alma", "The Alma ferry carries 90 cars.", False),
        ("Dosing in adults and children › Adults", "The dose in children is 5 mg.", True),
        ("Velmont Instruments › Management", "Velmont has two directors.", False),
        ("Ferries of the north", "The Birte ferry carries 90 cars.", False),
    ],
)
def test_the_innermost_heading_is_the_subject_s_place(
    context: str, claim: str, refused: bool
) -> None:
    """Of two things in the title, a section speaks of the one in its heading."""
    evidence = "The ferry carries 90 cars."
    assert bool(reservations(Pair(claim, evidence, context))) is refused


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30), st.text(max_size=90))
def test_any_text_is_read(claim: str, evidence: str, context: str, window: str) -> None:
    """Hostile text gives reasons or none, never an error."""
    assert all(isinstance(one, str) for one in reservations(Pair(claim, evidence, context, window)))


LIST = "Fares were cut.\n\nAll of these are needed:\na ticket\na passport\n\nPets travel free."


@pytest.mark.parametrize(
    ("claim", "evidence", "drops"),
    [
        ("All of these are needed: a ticket", "All of these are needed:\na ticket", True),
        ("All of these are needed: a ticket; […]", "All of these are needed:\na ticket", False),
        (
            "All of these are needed: a ticket; a passport",
            "All of these are needed:\na ticket\na passport",
            False,
        ),
        ("Pets travel free.", "Pets travel free.", False),
        (
            "All of these are needed: a ticket; a passport; Pets travel free.",
            "All of these are needed:\na ticket\na passport\nPets travel free.",
            True,
        ),
    ],
)
def test_a_part_of_a_list_is_not_the_list(claim: str, evidence: str, *, drops: bool) -> None:
    """One of two things that are needed is not what the document asks for, unless that is shown."""
    assert drops_items(_pair(LIST, claim=claim, evidence=evidence)) is drops


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=120))
def test_any_list_has_an_answer(claim: str, evidence: str, window: str) -> None:
    """Whatever stands there, the question is answered and no error raised."""
    assert drops_items(_pair(window, claim=claim, evidence=evidence)) in {True, False}


@pytest.mark.parametrize(
    ("claim", "evidence", "words"),
    [
        ("A contract signs the log.", "A contractor signs the log.", ("contract", "contractor")),
        ("The pump failed. ", "The lift works. The pumps failed.", ("", "")),
        ("The firm is unlicensed.", "The firm is licensed.", ("unlicensed", "licensed")),
        ("The west gate is shut.", "The east gate is shut.", ("", "")),
        ("The northern gate is shut.", "The eastern gate is open.", ("", "")),
        ("Room 41b2 is heated.", "Room 41b3 is heated.", ("", "")),
        ("The contract signs the log.", "A contractor signs the log.", ("", "")),
    ],
)
def test_one_word_spelt_alike_is_another_word(
    claim: str, evidence: str, words: tuple[str, str]
) -> None:
    """Two sentences that differ in one word, spelt alike and of another stem, are not the same."""
    assert spelt_alike(claim, evidence) == words


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_sentence_is_never_spelt_like_itself(one: str, other: str) -> None:
    """Of equal texts none differs, and any two have an answer."""
    assert spelt_alike(one, one) == ("", "")
    assert len(spelt_alike(one, other)) == 2
