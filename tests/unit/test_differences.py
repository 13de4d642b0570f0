"""What a claim and a passage have differently: exact words, the figure finder's figures."""

from __future__ import annotations

import pytest
from builders import hostile_strings

from certirag.quantities.against import MAX_LENGTH, figure_against, with_figure_of
from certirag.render import highlight_html
from certirag.render.differences import (
    Differences,
    contrast,
    differences,
    lone_name,
)


def _cut(text: str, places: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[start:end] for start, end in places]


@pytest.mark.parametrize(
    ("claim", "passage", "missing", "ours", "theirs"),
    [
        (
            "Staff receive 30 days of leave.",
            "Staff receive 27 days of leave.",
            ("30 days",),
            ["30 days"],
            ["27 days"],
        ),
        # The same figure in another notation is no difference.
        ("The grant runs for two years.", "The grant runs for 24 months.", (), [], []),
        # What the passage says beside does not stand against anything.
        ("Staff receive leave.", "Staff receive 27 days of leave in Oslo.", (), [], []),
        (
            "The desk is led by Dana Okoye.",
            "The desk is led by Ivo Brandt.",
            ("Dana", "Okoye"),
            ["Dana", "Okoye"],
            ["Ivo", "Brandt"],
        ),
        ("Guests may not smoke.", "Guests may smoke.", ("not",), [], []),
        ("", "Guests may smoke.", (), [], []),
    ],
)
def test_what_differs(claim, passage, missing, ours, theirs) -> None:
    """The claim's words that the passage lacks; figures and names on both sides."""
    found = differences(claim, passage)
    assert found.missing == missing
    assert _cut(claim, found.in_claim) == ours
    assert _cut(passage, found.in_passage) == theirs


def test_a_long_text_is_not_compared() -> None:
    """Nothing is marked where comparing would take long."""
    assert differences("7 " * MAX_LENGTH, "8 days") == Differences()
    assert differences("7 " * 100, "8 days") == Differences()
    assert figure_against("7 " * MAX_LENGTH, "8 days") is None
    assert lone_name("Dana " * MAX_LENGTH, "") == ""


def test_a_name_is_told_whole() -> None:
    """With its first word at the start of the sentence; not where the passage has it."""
    assert lone_name("Dana Okoye leads the desk.", "The clerk leads the desk.") == "Dana Okoye"
    assert lone_name("Led by Dana Okoye.", "Dana Okoye leads it.") == ""
    assert lone_name("Staff are paid monthly.", "They are paid weekly.") == ""


@pytest.mark.parametrize("text", [text for _, text in hostile_strings()])
def test_marks_of_differences_make_no_other_tag(text: str) -> None:
    """Attack strings compared with each other and marked: every tag is one of ours."""
    other = f"30 days {text} Dana"
    for claim, passage in ((text, other), (other, text)):
        found = differences(claim, passage)
        html = highlight_html(passage, [(0, len(passage))], found.in_passage)
        rest = html.replace('<strong class="cr-differs">', "").replace("</strong>", "")
        assert "<" not in rest.replace("<mark>", "").replace("</mark>", "")


def test_a_difference_across_the_edge_of_a_mark_is_not_drawn() -> None:
    """A wrong highlight is false evidence."""
    assert highlight_html("abcdef", [(0, 3)], [(2, 5)]) == "<mark>abc</mark>def"
    assert highlight_html("abcdef", [(0, 3)], [(1, 2), (1, 3)]) == (
        '<mark>a<strong class="cr-differs">b</strong>c</mark>def'
    )


@pytest.mark.parametrize(
    ("one", "other", "ours", "theirs"),
    [
        # Figures that stand against each other, on both sides, and nothing else.
        (
            "From 2024 staff receive 30 days of leave.",
            "Staff receive 27 days of leave.",
            ["30 days"],
            ["27 days"],
        ),
        # Without any, the words that each alone has.
        ("Laptops must be locked.", "Laptops need not be locked.", ["must"], ["need", "not"]),
        # Most of what is said in other words is not marked.
        ("The canteen opens at noon.", "Laptops need not be locked.", [], []),
        ("Staff receive leave.", "Staff receive leave.", [], []),
        ("a " * MAX_LENGTH, "b " * MAX_LENGTH, [], []),
    ],
)
def test_two_sides_are_marked_where_they_differ(one, other, ours, theirs) -> None:
    """Whichever side is told first."""
    assert (_cut(one, contrast(one, other)[0]), _cut(other, contrast(one, other)[1])) == (
        ours,
        theirs,
    )
    assert contrast(other, one) == contrast(one, other)[::-1]


@pytest.mark.parametrize(("name", "text"), hostile_strings(), ids=lambda value: value[:20])
def test_marks_of_hostile_sides_lie_in_their_text(name, text) -> None:
    """Every place is one of its own text."""
    other = f"{text} 30 days"
    for side, places in zip((text, other), contrast(text, other), strict=True):
        assert all(0 <= start < end <= len(side) for start, end in places), name


@pytest.mark.parametrize(
    ("claim", "passage", "turned"),
    [
        (
            "A lost laptop must be reported within 4 hours.",
            "A lost laptop must be reported to the desk within 24 hours.",
            "A lost laptop must be reported within 24 hours.",
        ),
        ("Entry costs €12.", "Entry costs €12 for adults and €6 for children.", ""),  # it has it
        ("Staff receive 30 days.", "Staff receive at least 27 days.", ""),  # another bound
        ("The limit is 175 euros a night.", "City: Skarholm; Limit per night: €175", ""),  # no rate
        ("Probation lasts six months.", "It is reviewed every six months.", ""),  # a rate alone
        ("Probation lasts six months.", "It is reviewed every three months.", ""),
        ("It opened in 2019.", "It opened in 2021.", ""),  # both may be right of two days
        ("Staff receive 30 days and €50.", "Staff receive 27 days and €40.", ""),  # two differ
        ("Staff receive 30 days.", "Staff receive €40.", ""),  # nothing of its kind
    ],
)
def test_a_claim_is_told_with_the_figure_of_a_passage(
    claim: str, passage: str, turned: str
) -> None:
    """Where one amount of the claim, and of its kind one of the passage, stands against the other."""
    assert with_figure_of(claim, passage) == turned
