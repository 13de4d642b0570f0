"""Citations counted as ALCE counts them, and the supported share of an answer: by hand."""

from __future__ import annotations

import math

import pytest

from certirag.eval.citation_measures import (
    CitationFigures,
    CitedStatement,
    citation_figures,
    mean_citation_figures,
    supported_share,
)


def _entails(text: str, statement: str) -> bool:
    """A text bears a statement out that has all of its letters; the texts' own order does not matter."""
    return set(statement) <= set(text)


def _figures(*statements: tuple[str, tuple[str, ...]]) -> tuple[float, float, float]:
    found = citation_figures([CitedStatement(*one) for one in statements], _entails)
    return found.recall, found.precision, found.f1


def test_recall_and_precision_by_hand() -> None:
    """Of three statements two are borne out; of five citations three are of use."""
    found = _figures(
        ("ab", ("a", "b")),  # only together: both are of use
        ("c", ("c", "x")),  # x says nothing, and c alone is enough: x is idle
        ("d", ("x",)),  # not borne out
    )
    assert found == (2 / 3, 3 / 5, pytest.approx(2 * (2 / 3) * (3 / 5) / (2 / 3 + 3 / 5)))


def test_each_of_two_that_suffice_is_of_use() -> None:
    """A citation that bears the statement out alone is never idle."""
    assert _figures(("a", ("a", "ab"))) == (1.0, 1.0, 1.0)


def test_without_citations_there_is_neither() -> None:
    """An uncited statement is not recalled; an answer that cites nothing has no precision, by ALCE 0."""
    assert _figures(("a", ())) == (0.0, 0.0, 0.0)
    assert _figures(("a", ()), ("b", ("b",))) == (0.5, 1.0, pytest.approx(2 / 3))
    assert all(math.isnan(value) for value in _figures())


def test_citations_beyond_the_third_are_not_read() -> None:
    """The fourth alone would bear it out; it is not counted either."""
    assert _figures(("d", ("a", "b", "c", "d"))) == (0.0, 0.0, 0.0)
    found = citation_figures([CitedStatement("d", ("a", "b", "c", "d"))], _entails, at_most=4)
    assert (found.recall, found.precision) == (1.0, 0.25)


def test_answers_count_alike() -> None:
    """Means over answers, and the F1 of the means; an answer without a statement is left out."""
    nothing = CitationFigures(math.nan, math.nan, math.nan)
    found = mean_citation_figures(
        [CitationFigures(1.0, 0.5, 2 / 3), nothing, CitationFigures(0.0, 0.0, 0.0)]
    )
    assert found == CitationFigures(0.5, 0.25, pytest.approx(1 / 3))
    assert math.isnan(mean_citation_figures([nothing]).f1)


def test_the_supported_share_of_an_answer() -> None:
    """Two of three claims; a short answer loses nothing, and one that claims nothing has no share."""
    assert supported_share(["a", "ab", "c"], "ab", _entails) == 2 / 3
    assert supported_share(["a"], "ab", _entails) == 1.0
    assert math.isnan(supported_share([], "ab", _entails))
