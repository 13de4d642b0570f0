"""A table row as a sentence: what it names stays with it, and only its own words are said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certirag.claims.lists_and_rows import reads_row, row_cells, row_sentence

CANTEEN = "Office: Skarholm; Opening hours: 11:00 to 13:30; Price of the daily meal: €4.80"
STAFF = "date: 2023-12-31; site: Rotterdam; country: Netherlands; employees: 702"
WORDS = st.text("abcdeé €0123456789()-", min_size=1, max_size=12).map(str.strip).filter(bool)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=2, max_size=6, unique=True)


@pytest.mark.parametrize(
    ("row", "columns", "sentence"),
    [
        (CANTEEN, [2], "Skarholm (office), price of the daily meal: €4.80."),
        (
            CANTEEN,
            [2, 1],
            "Skarholm (office), opening hours: 11:00 to 13:30; price of the daily meal: €4.80.",
        ),
        (
            STAFF,
            [3],
            "2023-12-31 (date), Rotterdam (site), Netherlands (country), employees: 702.",
        ),
        ("EUR per day: 12; VAT: 2", [1], "12 (EUR per day), VAT: 2."),
    ],
)
def test_a_row_says_what_it_is_about_and_the_columns_asked_for(row, columns, sentence) -> None:
    """Everything named before the last column said goes with it."""
    assert row_sentence(row_cells(row), columns) == sentence
    assert reads_row(sentence, row)


@pytest.mark.parametrize(
    "claim",
    [
        "Skarholm (office), price of the daily meal: €4.90.",
        "Elverton (office), price of the daily meal: €4.80.",
        "Price of the daily meal: €4.80.",
        "Skarholm (office), opening hours: €4.80.",
        "Skarholm (office), price of the daily meal: €4.80; tips: none.",
        "Skarholm (office), price of the daily meal: €4.80 and free on Fridays.",
        "Not Skarholm (office), price of the daily meal: €4.80.",
        "",
    ],
)
def test_what_the_row_does_not_say_is_not_read_from_it(claim) -> None:
    """Another value, another row, a cell without its subject, or a word more."""
    assert not reads_row(claim, CANTEEN)


def test_a_sentence_is_no_row() -> None:
    """Only the notation of a row is read as one."""
    assert row_cells("The office opens at nine.") == ()
    assert not reads_row("The office opens at nine.", "The office opens at nine.")


@given(PAIRS, st.data())
def test_every_choice_of_columns_is_read_back_and_nothing_more(pairs, data) -> None:
    """Whatever the cells hold."""
    row = "; ".join(f"{name}: {value}" for name, value in pairs)
    cells = row_cells(row)
    columns = data.draw(st.sets(st.integers(1, len(cells) - 1), min_size=1))
    sentence = row_sentence(cells, sorted(columns))
    assert reads_row(sentence, row)
    assert not reads_row(f"{sentence[:-1]}7.", row)
    assert not reads_row(f"x{sentence}", row)


@pytest.mark.parametrize(
    "row",
    [
        "Office: Skarholm; Limit: €175;not for trainees",
        "Office: Skarholm; Limit: €175; not for trainees",
        "Office: Skarholm; only in winter; Limit: €175",
    ],
)
def test_a_row_with_words_outside_its_cells_is_not_read(row: str) -> None:
    """What stands in no cell may be a condition of all of them."""
    assert row_cells(row) == ()
    assert not reads_row("Skarholm (office), limit: €175.", row)
