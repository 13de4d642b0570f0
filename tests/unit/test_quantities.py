"""Finding numbers, dates, amounts and identifiers in text."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.quantities.dates import as_written
from certirag.quantities.find import find_figures, find_quantities
from certirag.quantities.numbers import exact_text

# text, kind, value, unit, high, qualifier of its one quantity
ONE = [
    ("It has 1,248 members", "number", "1248", "", "", ""),
    ("It has 1\u202f248 members", "number", "1248", "", "", ""),
    ("It has 1.500,00 in stock", "number", "1500", "", "", ""),
    ("It scored 5,7 points", "number", "ambiguous:5,7", "", "", ""),
    ("It scored 0 points", "number", "0", "", "", ""),
    ("It scored -4.50 points", "number", "-4.5", "", "", ""),
    ("It holds 2½ cups", "number", "2.5", "", "", ""),
    ("There are twenty-five members", "number", "25", "", "", ""),
    ("There are two hundred and fifty members", "number", "250", "", "", ""),
    ("There are two thousand three hundred seats", "number", "2300", "", "", ""),
    ("It takes two and a half hours", "duration", "2.5", "hour", "", ""),
    ("It takes half an hour", "duration", "0.5", "hour", "", ""),
    ("A dozen eggs", "number", "12", "", "", ""),
    ("Two-thirds of users agree", "number", "2/3", "", "", ""),
    ("A quarter of users agree", "number", "0.25", "", "", ""),
    ("It waits three quarters", "duration", "3", "quarter", "", ""),
    ("It cost $3.2B", "currency", "3200000000", "USD", "", ""),
    ("It cost USD 3,200 million", "currency", "3200000000", "USD", "", ""),
    ("It cost US$5m", "currency", "5000000", "USD", "", ""),
    ("It cost 3.2 million euros", "currency", "3200000", "EUR", "", ""),
    ("It cost €1,500", "currency", "1500", "EUR", "", ""),
    ("It cost £20", "currency", "20", "GBP", "", ""),
    ("It cost ¥20", "currency", "20", "JPY", "", ""),
    ("It cost 5000 EUR", "currency", "5000", "EUR", "", ""),
    ("It cost -$5", "currency", "-5", "USD", "", ""),
    ("It has 12k users", "number", "12000", "", "", ""),
    ("It has 4.1 million users", "number", "4100000", "", "", ""),
    ("It grew 5.7%", "percent", "5.7", "%", "", ""),
    ("It grew 5.7 per cent", "percent", "5.7", "%", "", ""),
    ("It grew 2 percentage points", "percentage_point", "2", "pp", "", ""),
    ("It grew 50 basis points", "percentage_point", "50", "bps", "", ""),
    ("It takes 3–5 days", "duration", "3", "day", "5", ""),
    ("It takes 3-5 days", "duration", "3", "day", "5", ""),
    ("It takes between 10 and 20 kg", "measure", "10", "kg", "20", ""),
    ("Store it from 2 to 8 °C", "measure", "2", "°C", "8", ""),
    ("It costs $3–5 million", "currency", "3000000", "USD", "5000000", ""),
    ("Keep it at −18 °C", "measure", "-18", "°C", "", ""),
    ("It has a 5 m rope", "measure", "5", "m", "", ""),
    ("It holds 250mL", "measure", "250", "mL", "", ""),
    ("The dose is 30 mg/kg/day", "measure", "30", "mg/kg/day", "", ""),
    ("The dose is 200 µg", "measure", "200", "mcg", "", ""),
    ("It uses 3 kWh", "measure", "3", "kWh", "", ""),
    ("It stores 16 GB", "measure", "16", "GB", "", ""),
    ("A 5-day trip", "duration", "5", "day", "", ""),
    ("A 20-page report", "number", "20", "", "", ""),
    ("It takes five business days", "duration", "5", "business day", "", ""),
    ("It takes five working days", "duration", "5", "working day", "", ""),
    ("It takes five calendar days", "duration", "5", "calendar day", "", ""),
    ("It takes five consecutive working days", "duration", "5", "working day", "", ""),
    ("Take it every 8 hours", "duration", "8", "every hour", "", ""),
    ("Take it twice daily", "number", "2", "times/day", "", ""),
    ("It pays €25 per night", "currency", "25", "EUR/night", "", ""),
    ("It pays €0.38 per kilometre", "currency", "0.38", "EUR/km", "", ""),
    ("It is open 24 hours a day", "duration", "24", "hour/day", "", ""),
    ("On 1 March 2024", "date", "2024-03-01", "", "", ""),
    ("On March 1, 2024", "date", "2024-03-01", "", "", ""),
    ("On the 1st of March 2024", "date", "2024-03-01", "", "", ""),
    ("On 2024-03-01", "date", "2024-03-01", "", "", ""),
    ("On 31/12/2024", "date", "2024-12-31", "", "", ""),
    ("On 01/03/2024", "date", "ambiguous:01/03/2024", "", "", ""),
    ("On 31 February 2024", "date", "ambiguous:31 February 2024", "", "", ""),
    ("On 31 March", "date", "--03-31", "", "", ""),
    ("In Sept. 2023", "date", "2023-09", "", "", ""),
    ("In November", "date", "--11", "", "", ""),
    ("In 1998", "year", "1998", "", "", ""),
    ("In Q3 2024", "period", "2024-Q3", "", "", ""),
    ("In 3Q24", "period", "2024-Q3", "", "", ""),
    ("In the third quarter of 2024", "period", "2024-Q3", "", "", ""),
    ("In the third quarter", "period", "-Q3", "", "", ""),
    ("In the second half of 2027", "period", "2027-H2", "", "", ""),
    ("In H1 2024", "period", "2024-H1", "", "", ""),
    ("In FY2024", "period", "FY2024", "", "", ""),
    ("In fiscal year 2024", "period", "FY2024", "", "", ""),
    ("In Q3 FY2024", "period", "FY2024-Q3", "", "", ""),
    ("In 2023/24", "period", "2023/24", "", "", ""),
    ("At 10:30pm", "measure", "T22:30", "time of day", "", ""),
    ("The third visit", "ordinal", "3", "", "", ""),
    ("The 21st visit", "ordinal", "21", "", "", ""),
    ("About 25 people", "number", "25", "", "", "about"),
    ("At least 25 people", "number", "25", "", "", "at_least"),
    ("A minimum of 25 people", "number", "25", "", "", "at_least"),
    ("25 or more people", "number", "25", "", "", "at_least"),
    ("People aged 60+", "number", "60", "", "", "at_least"),
    ("Aged 12 years and older", "duration", "12", "year", "", "at_least"),
    ("Up to 25 people", "number", "25", "", "", "at_most"),
    ("No more than 25 people", "number", "25", "", "", "at_most"),
    ("It must not take more than 25 people", "number", "25", "", "", "at_most"),
    ("Nobody may invite more than 25 people", "number", "25", "", "", "at_most"),
    ("Within 24 hours", "duration", "24", "hour", "", "at_most"),
    ("25 days maximum", "duration", "25", "day", "", "at_most"),
    ("More than 25 people", "number", "25", "", "", "more_than"),
    ("Under 25 people", "number", "25", "", "", "less_than"),
    ("p < 0.001", "number", "0.001", "", "", "less_than"),
]


@pytest.mark.parametrize(("text", "kind", "value", "unit", "high", "qualifier"), ONE)
def test_one_quantity_is_read(text, kind, value, unit, high, qualifier):
    """A quantity is found once, in canonical form, with its qualifier."""
    (found,) = find_quantities(text)
    assert (found.kind, found.value, found.unit, found.high, found.qualifier) == (
        kind, value, unit, high, qualifier
    )  # fmt: skip
    assert text[found.start : found.end] == found.text


@pytest.mark.parametrize(
    "name",
    [
        "ISO 27001", "Form 10-K", "COVID-19", "room B12", "section 4.2", "Article 5", "No. 4",
        "2FA", "version 4.0", "5G", "1.2.3", "HT-22", "24/7", "120/80", "Phase III", "week 6",
        "HbA1c", "v2.1", "192.168.0.1", "2\u200b5", "３０", "extension 4444", "1e5", "Kestrel 3",
    ],
)  # fmt: skip
def test_identifiers_are_no_quantities(name):
    """A name with digits is an identifier, verbatim, and no amount."""
    text = f"See the {name} for more"
    assert [one.text for one in find_figures(text).identifiers] == [name]
    assert find_quantities(text) == ()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("rose from $3.1M in 2023 to $3.6M in 2024", ["3100000", "2023", "3600000", "2024"]),
        ("rose from 3.1 to 3.6 million euros", ["3100000", "3600000"]),
        ("from 1 April 2024 to 31 March 2025", ["2024-04-01", "2025-03-31"]),
        ("1–5 March 2024", ["2024-03-01", "2024-03-05"]),
        ("shut from Monday 4 May until Friday 17 July", ["--05-04", "--07-17"]),
        ("between May and August", ["--05", "--08"]),
        ("in 2021-2023", ["2021", "2023"]),
        ("a ratio of two to one", ["2:1"]),
        ("mid-2024 and 3 eggs", ["2024", "3"]),
        ("Once approved, this one pays", []),
        ("It is audited once by the council, the last one month ago", ["1", "1"]),
        ("One of the 96 children under one slept", ["1", "96", "1"]),
        ("It may sell more, and this one too", []),
        ("Segment: EMEA; Q3 2024 revenue ($M): 12.3; Headcount: 40", ["2024-Q3", "12300000", "40"]),
        ("Result (EUR): (3.2); Note: none", ["-3.2"]),
    ],
)
def test_values_in_order(text, values):
    """Changes and spans give two figures, ranges one, and table headers scale their cells."""
    assert [quantity.value for quantity in find_quantities(text)] == values


HOSTILE = st.text(
    alphabet=st.sampled_from(list("0123456789.,-–/:%$€ ()+;½²٣３\u200b\u202fabkMQ")), max_size=60
)
PIECES = (
    "twenty five hundred and a half third quarter of FY 2024 March 1 31 Q3 to between from $ "
    "million % per day every not more than at least one or 3.5 10-K ISO : ; - first"
)
WORDS = st.lists(
    st.sampled_from(PIECES.split()),
    max_size=25,
).map(" ".join)


@examples(300)
@given(st.one_of(HOSTILE, WORDS, st.text(max_size=80)))
def test_no_digit_escapes(text):
    """Any text is read without an error; figures do not overlap, and hold every digit."""
    figures = find_figures(text)
    spans = sorted((f.start, f.end) for f in (*figures.quantities, *figures.identifiers))
    for figure in (*figures.quantities, *figures.identifiers):
        assert text[figure.start : figure.end] == figure.text != ""
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    held = {place for start, end in spans for place in range(start, end)}
    assert all(place in held for place, mark in enumerate(text) if mark.isdecimal())


@pytest.mark.parametrize(
    "piece",
    [
        "1-",
        "1,",
        "twenty-",
        "$",
        "not ",
        "Q3 of the ",
        "9",
        "a: 1; ",
        "a-",
        "from 1 to ",
        "one and ",
    ],
)
def test_a_hostile_repetition_is_read_to_its_end(piece):
    """Sixteen thousand repetitions end: what backtracks without bound would run into the limit."""
    figures = find_figures(piece * 16_000)
    assert all(figure.text for figure in (*figures.quantities, *figures.identifiers))


@given(st.fractions(min_value=-(10**12), max_value=10**12, max_denominator=10**6))
def test_values_are_exact(value):
    """A value is written without rounding, as a decimal or as a fraction."""
    assert Fraction(exact_text(value)) == value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("--05", "May"),
        ("--03-31", "31 March"),
        ("2024-03-01", "1 March 2024"),
        ("2024-03", "March 2024"),
        ("2024-Q3", "Q3 2024"),
        ("-Q3", "Q3"),
        ("FY2024-Q3", "Q3 FY2024"),
        ("2024", "2024"),
        ("FY2024", "FY2024"),
        ("2023/24", "2023/24"),
        ("T18:00", "18:00"),
        ("--13", "13"),
    ],
)
def test_a_reader_is_told_dates_as_people_write_them(value: str, written: str) -> None:
    """No reason names a month "--05"."""
    assert as_written(value) == written
