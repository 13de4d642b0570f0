"""The terms that BM25 counts, and the text that searches read."""

from __future__ import annotations

import pytest
from fakes import chunk_of
from hypothesis import given
from hypothesis import strategies as st

from certirag.retrieve.hybrid import clean_text, search_text, terms, visible_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The policies of the companies", ("policy", "company")),
        ("employee's employees’ Employee", ("employee", "employee", "employee")),
        ("boxes branches losses rates expenses", ("box", "branch", "loss", "rate", "expense")),
        ("status analysis loss gas", ("status", "analysis", "loss", "gas")),
        ("1,250 and 1250", ("1250", "1250")),
        ("EUR 1,250.50, 3.5 % and 0.002", ("eur", "1250.50", "3.5", "0.002")),
        ("lr=0.002 in Q3/FY2024", ("lr", "0.002", "q3", "fy2024")),
        ("Müller naïve Straße", ("muller", "naive", "strasse")),
        ("re\u00adport zero\u200bwidth \uff21\uff22\uff23", ("report", "zerowidth", "abc")),
        ("It is IT; tell us about the US", ("it", "us")),
        ("may not, only all, no", ("may", "not", "only", "all", "no")),
        ("2024-03-31", ("2024", "03", "31")),
        ("What is this?", ()),
        ("?!… — \ud800", ()),
        ("", ()),
    ],
)
def test_terms(text: str, expected: tuple[str, ...]) -> None:
    """Words are folded lightly, numbers kept, stop words dropped unless written in capitals."""
    assert terms(text) == expected


@given(st.text(alphabet=st.characters(), max_size=60))
def test_terms_take_any_text(text: str) -> None:
    """Any text has terms without an error, none of them empty."""
    assert all(terms(text)) or terms(text) == ()


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ((), "Seen one. Unseen two. Seen three."),
        (("Unseen",), "Seen one.  Seen three."),
        (("Unseen", "three"), "Seen one.  "),
        (("Seen", "Unseen"), ""),
    ],
)
def test_invisible_text_is_not_searched(hidden: tuple[str, ...], expected: str) -> None:
    """Spans that a reader cannot see are cut from what the searches read."""
    chunk = chunk_of("Seen one. Unseen two. Seen three.", hidden=hidden, title="T", section="S")
    assert visible_text(chunk) == expected
    assert search_text(chunk) == f"T › S\n{expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\ud800b", "a\ufffdb"), ("\udfff", "\ufffd"), ("\U0001f600", "\U0001f600"), ("é", "é")],
)
def test_lone_surrogates_are_replaced(text: str, expected: str) -> None:
    """What no tokeniser takes becomes U+FFFD and the rest stays."""
    assert clean_text(text) == expected
