"""Exported rows: every value comes back, and no spreadsheet computes anything of them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from audit_facets import made_facets
from hypothesis import given
from hypothesis import strategies as st

from certirag.auditing.logged_answers import (
    COLUMNS,
    csv_header,
    csv_line,
    csv_record,
    json_line,
    row_json,
    safe_text,
)
from certirag.proof.facets import AnswerRow, CitedDocument

ROW = AnswerRow(7, made_facets(1)[0][1], "source changed")
# What a spreadsheet, or a program that splits cells elsewhere, would compute.
FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    '=HYPERLINK("http://x.example","click")',
    "\t=1",
    "\r=1",
    "\n=1",
    "\tplain",
    "\rplain",
    "\nplain",
    " =1",
    "\u00a0=1",
    "\u200b=1",
    "\ufeff=1",
    "\u202e=1",
    "\x00=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(A1)",
    "﹢1",
    "\u2212" + "1",
    "'=1",
)
INSIDE = ("a,=1", "a;=1", "a\t=1", "a|=1", "a\n=1", "a\r\n=1", 'a",=1', '"=1', "a; =1", "a;＝1")
PLAIN = ("", "a", "How much? 1 = 1", "a-b", "e@mail.example", "2026-11-21", "ok; fine", "Größe 5")
STARTERS = "=+-@\t\r\n＝＋－＠"


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    """The cell begins with an apostrophe, and the text behind it is whole."""
    assert safe_text(text).startswith("'")
    assert safe_text(text).replace("'", "") == text.replace("'", "")


@pytest.mark.parametrize("text", INSIDE)
def test_a_formula_behind_a_separator_gets_one_too(text: str) -> None:
    """Where another program starts a new cell, an apostrophe stands first."""
    made = safe_text(text)
    sign = next(i for i, c in enumerate(made) if c in "=＝")
    assert "'" in made[max(0, sign - 2) : sign]
    assert made.replace("'", "") == text


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_stays_as_it_is(text: str) -> None:
    """Nothing is added where nothing would be computed."""
    assert safe_text(text) == text


@given(st.lists(st.text(st.characters(codec="utf-8")) | st.integers() | st.booleans(), min_size=1))
def test_every_record_is_one_row_without_formulas(values: list[object]) -> None:
    """A reader of RFC 4180 gets the same cells back; only text cells may gain an apostrophe."""
    text = csv_record(values)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == 1
    for cell, value in zip(rows[0], values, strict=True):
        if isinstance(value, str):
            assert not cell or cell[0] not in STARTERS
            assert cell == safe_text(value)
            assert cell.replace("'", "") == value.replace("'", "")
        else:
            assert cell == str(value).lower()


def test_numbers_stay_numbers() -> None:
    """A number has no quotes and no apostrophe, not even below zero."""
    assert csv_record([-0.5, 1e-07, 12, True, "-0.5"]) == '-0.5,1e-07,12,true,"\'-0.5"\r\n'


def test_a_row_comes_back_from_csv_whole() -> None:
    """Every column has its name and its value."""
    written = (csv_header() + csv_line(ROW)).decode("utf-8")
    (row,) = csv.DictReader(io.StringIO(written, newline=""), strict=True)
    assert tuple(row) == COLUMNS
    expected = row_json(ROW)
    documents = json.loads(row.pop("documents"))
    assert documents == expected.pop("documents")
    assert float(row["grounding"]) == ROW.facets.grounding
    assert row == {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in expected.items()
    }


def test_a_row_comes_back_from_json_lines_whole() -> None:
    """One line a row, whatever line ends its texts hold; every text as it is."""
    question = "=1\nsecond line\r\u2028 end \u0085"
    document = CitedDocument("-doc", "Title", "doc.md", "0" * 64)
    row = replace(ROW, facets=replace(ROW.facets, question=question, documents=(document,)))
    line = json_line(row)
    assert line.count(b"\n") == 1
    assert line.endswith(b"}\n")
    value = json.loads(line)
    assert value["question"] == question
    assert value["documents"] == [
        {"doc_id": "-doc", "title": "Title", "path": "doc.md", "sha256": "0" * 64}
    ]
    assert (value["index"], value["revoked"]) == (7, "source changed")


def test_half_a_surrogate_pair_does_not_stop_an_export() -> None:
    """UTF-8 cannot hold it; the replacement character stands for it."""
    row = replace(ROW, facets=replace(ROW.facets, question="a\ud800b"))
    assert "a\N{REPLACEMENT CHARACTER}b" in json_line(row).decode("utf-8")
    assert "a\N{REPLACEMENT CHARACTER}b" in csv_line(row).decode("utf-8")
