"""A passage's layout read back from its text: a table where there is one reading, else its lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certirag.ingest.tables import row_line, table_of
from ui.shapes import shapes_of

WORDS = st.text("abé €01:;,()- \n", min_size=1, max_size=10)
ROW = "Office: Oslo; Staff: 12"


def said(text: str) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Return kind, names of columns and cells' words of each shape."""
    return [
        (s.kind, s.names, [[text[a:b] for a, b in row] for row in s.rows]) for s in shapes_of(text)
    ]


@given(st.lists(WORDS, min_size=2, max_size=4), st.lists(st.lists(WORDS, min_size=4), min_size=2))
def test_a_table_read_back_says_what_its_lines_say(names, rows) -> None:
    """Whatever was written as rows: cell by cell as it was, or not as a table."""
    lines = [row_line(names, row[: len(names)]) for row in rows]
    table = table_of(lines)
    if table is not None:
        read, cells = table
        assert len(cells) == len(lines)
        for row, line in zip(cells, lines, strict=True):
            assert "; ".join(f"{n}: {c}" for n, c in zip(read, row, strict=True)) == line


@pytest.mark.parametrize(
    "lines",
    [
        [ROW],
        [ROW, "Office: Bergen"],
        [ROW, "Office: Bergen; Rooms: 4"],
        [ROW, "Staff: 4; Office: Bergen"],
        [ROW, "Office: Bergen; Staff: 4; closed on Fridays"],
        [ROW, "Office: Bergen; Staff: see note: 4"],
        [ROW, "Office: Bergen; north; Staff: 4"],
        ["Note: one", "Note: two"],
        ["Office: Oslo; Office: Bergen", "Office: Rome; Office: Paris"],
        ["Office: ; Staff: 12", "Office: ; Staff: 4"],
        [ROW, "A sentence."],
        [],
    ],
)
def test_what_can_be_read_in_two_ways_is_no_table(lines) -> None:
    """One row, other columns, a cell that holds the marks, a name twice, nothing in a cell."""
    assert table_of(lines) is None


def test_rows_with_the_same_columns_are_a_table_below_the_line_that_leads_in() -> None:
    """Times and figures keep their colons; the offsets are the cells' own."""
    text = "All hours:\nDay: Monday; Open: 08:00 to 17:30\nDay: Friday; Open: 09:00\n\nElse closed."
    assert said(text) == [
        ("paragraph", (), [["All hours:"]]),
        ("table", ("Day", "Open"), [["Monday", "08:00 to 17:30"], ["Friday", "09:00"]]),
        ("paragraph", (), [["Else closed."]]),
    ]


def test_items_are_a_list_and_uneven_rows_stay_lines() -> None:
    """A row that lacks a cell is not filled up with one."""
    assert said("Open the cap.\nBreathe in.") == [
        ("list", (), [["Open the cap."], ["Breathe in."]])
    ]
    uneven = f"{ROW}\n{ROW}; Remark: new"
    assert said(uneven) == [("lines", (), [[ROW], [f"{ROW}; Remark: new"]])]


@given(st.text("ab:; \n", max_size=60))
def test_no_word_is_lost_and_none_comes_twice(text) -> None:
    """Outside tables every character but line ends is in one shape, in order."""
    shapes = said(text)
    if all(kind != "table" for kind, _, _ in shapes):
        words = "".join(cell for _, _, rows in shapes for row in rows for cell in row)
        assert words.split() == text.split() or "".join(words.split()) == "".join(text.split())
