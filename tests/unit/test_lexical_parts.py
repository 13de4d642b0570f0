"""Tokens, lemmas, clauses, rows and word lists of the lexical comparison."""

from __future__ import annotations

import pytest

from certirag.verification.lexical.alignment import opposite
from certirag.verification.lexical.framing import named_source, superseded
from certirag.verification.lexical.lemmas import lemma_of, same_family
from certirag.verification.lexical.lexicon import OPPOSITES, SYNONYMS
from certirag.verification.lexical.predicate_clauses import parse
from certirag.verification.lexical.row_claims import cells_of
from certirag.verification.lexical.scoring import sentences
from certirag.verification.lexical.word_tokens import tokenise


@pytest.mark.parametrize(
    ("text", "canonical", "comparator"),
    [
        ("up to €2,500", "2500 EUR", "le"),
        ("at least nine months", "9 month", "ge"),
        ("more than five consecutive working days", "5 working day", "gt"),
        ("no longer than 48 hours", "48 hour", "le"),
        ("$288.7 million", "288700000 USD", ""),
        ("14.3%", "14.3 %", ""),
        ("31 March 2024", "2024-03-31 date", ""),
        ("March 31, 2024", "2024-03-31 date", ""),
        ("the 25th of March", "-03-25 date", ""),
        ("10:00", "T10:00 clock", ""),
        ("5 pm", "T17:00 clock", ""),
        ("twenty-one days", "21 day", ""),
        ("40mg", "40 mg", ""),
        ("75 years and older", "75 year", "ge"),
        ("a two-year lease", "2 year", ""),
    ],
)
def test_quantities_are_read(text: str, canonical: str, comparator: str) -> None:
    """A figure becomes one token with value, unit and comparator."""
    found = [t.quantity for t in tokenise(f"It is {text} here.") if t.quantity]
    assert [(q.canonical, q.comparator) for q in found] == [(canonical, comparator)]


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("policies", "policy"), ("expires", "expire"), ("booked", "book"), ("running", "run"),
        ("approved", "approve"), ("children", "child"), ("kept", "keep"), ("analyses", "analysis"),
        ("planned", "plan"), ("business", "business"), ("boxes", "box"), ("covered", "cover"),
    ],
)  # fmt: skip
def test_lemmas(word: str, lemma: str) -> None:
    """Inflected forms come back to one dictionary form."""
    assert lemma_of(word) in {lemma, "analyse" if word == "analyses" else lemma}


@pytest.mark.parametrize(
    ("left", "right", "related"),
    [
        ("approve", "approval", True), ("require", "requirement", True),
        ("reimburse", "reimbursement", True), ("employer", "employee", False),
        ("trainer", "trainee", False), ("paid", "unpaid", False), ("office", "officer", False),
    ],
)  # fmt: skip
def test_word_families(left: str, right: str, related: bool) -> None:
    """Derived words are kin; words that only look alike are not."""
    assert same_family(left, right) is related


def test_no_word_is_synonym_and_opposite() -> None:
    """The lists do not contradict themselves except where a word has two senses by design."""
    both = {
        (word, other)
        for word, group in SYNONYMS.items()
        for other in group & OPPOSITES.get(word, frozenset())
    }
    assert both == set()


@pytest.mark.parametrize(
    ("left", "right"),
    [("increase", "decrease"), ("before", "after"), ("known", "unknown"), ("adult", "child"),
     ("include", "exclude"), ("approve", "reject"), ("mandatory", "optional"), ("above", "below")],
)  # fmt: skip
def test_opposites(left: str, right: str) -> None:
    """Opposites are found both ways, by list or by prefix."""
    assert opposite(lemma_of(left), lemma_of(right)) or opposite(left, right)
    assert opposite(right, left)


def test_clauses_are_divided() -> None:
    """Relative clause, condition and contrast leave the main clause whole."""
    parsed = parse("Employees who fall ill may rest at home, but not if they are abroad.")
    kinds = [clause.kind for clause in parsed.clauses]
    assert kinds == ["main", "relative", "contrast", "condition"]
    main = " ".join(parsed.tokens[at].text for at in parsed.clauses[0].tokens)
    assert main.startswith("Employees may rest at home")
    assert parsed.clauses[2].negations == 1


def test_rows_are_recognised() -> None:
    """``name: cell; name: cell`` is a row; a sentence with one colon is not."""
    assert len(cells_of("Office: Oslo; Staff: 12; Opening hours: 9:00 to 17:00")) == 3
    assert cells_of("Note: the office is closed.") == ()


def test_sentences_keep_abbreviations_whole() -> None:
    """Evidence is cut at line ends and full stops, not after titles or numbers."""
    text = "Dr. Amaya is in. The rate is 2.5 percent.\nIt rose."
    assert sentences(text) == ("Dr. Amaya is in.", "The rate is 2.5 percent.", "It rose.")


def test_sources_that_no_longer_hold() -> None:
    """A superseded title or section counts unless the claim names its year or says so itself."""
    title = "Leave Policy 2023 (superseded)"
    assert superseded("Employees receive 24 days.", title)
    assert not superseded("In 2023 employees received 24 days.", title)
    assert not superseded("The superseded policy gave 24 days.", title)
    assert not superseded("Employees receive 24 days.", "Leave Policy 2024")
    section = "Parking rules 2023 › Rules until 2022 (no longer in force)"
    assert superseded("A permit costs 25 euros.", section)
    assert superseded("In 2023 a permit cost 25 euros.", section)
    assert not superseded("Until 2022 a permit cost 25 euros.", section)
    assert superseded("A withdrawn application may be filed again.", title)
    assert superseded("The fee is 2 euros.", "Parking rules › 2. Superseded fees")


def test_named_sources() -> None:
    """Attributions are seen in both of their usual forms."""
    assert named_source("According to the Travel Handbook, trains are preferred.")
    assert named_source("The Travel Handbook states that trains are preferred.")
    assert not named_source("Trains are preferred to flights.")
