"""Claim types, risk classes, hedges and the fields that are read off a plain claim."""

from __future__ import annotations

import pytest

from certirag.claims.classify import claim_type, hedges, plain_fields, risk_class
from certirag.quantities.find import find_quantities

CLASSES = [
    ("The fee of Acme is higher than the fee of Birch.", "comparison", "comparative_claim"),
    ("Sensors grew more quickly than Software.", "comparison", "comparative_claim"),
    ("Profit was $160.6 million, compared with $122.2 million in 2023.", "comparison", "comparative_claim"),
    ("Unlike Acme, Birch pays a dividend.", "comparison", "comparative_claim"),
    ("Revenue rose by 5% to $12.3 million.", "numeric_fact", "factual_lit_claim"),
    ("A request for more than five days must be made in May.", None, "factual_lit_claim"),
    ("Absence of more than 20 working days extends the period.", None, "factual_lit_claim"),
    ("The gallery holds no more than forty people.", None, "factual_lit_claim"),
    ("Theft is covered only if there are signs of entry.", "scope", "scope_claim"),
    ("Probation does not apply to transfers.", "scope", "scope_claim"),
    ("Unused leave is not paid out, unless the employment ends.", "scope", "scope_claim"),
    ("The policy does not cover flood.", "scope", "scope_claim"),
    ("Acme was founded in 2017.", "temporal_fact", "historical_claim"),
    ("The shares have been listed in London since 1998.", "temporal_fact", "historical_claim"),
    ("The S1 was withdrawn on 31 December 2023.", "temporal_fact", "historical_claim"),
    ("The handbook states that fuel is not reimbursed.", "attribution", "factual_lit_claim"),
    ("According to the audit, the plant is closed.", "attribution", "factual_lit_claim"),
    ("Quindorel is a preventive medicine.", "definition", "factual_lit_claim"),
    ("Damage is reported to the safety manager.", "procedure", "factual_lit_claim"),
    ("Wednesday is common.", "fact", "factual_lit_claim"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "risk"), CLASSES)
def test_a_claim_gets_the_class_that_its_wording_asks_for(text, kind, risk):
    """A comparison is two things; a change or a minimum of one thing is none."""
    found = claim_type(text, find_quantities(text))
    assert kind in {None, found}
    assert risk_class(text, found) == risk


HEDGED = [
    ("Sales may perhaps fall.", ("perhaps",)),
    ("The cause is reportedly a leak.", ("reportedly",)),
    ("It appears to be safe.", ("appears to",)),
    ("About 30% of the dose is removed.", ("about",)),
    ("As far as I can tell, the office is closed.", ("as far as i can tell",)),
    ("Revenue is expected to be $5 million.", ("is expected to",)),
    ("Employees may take up to five days.", ()),
    ("The notes say nothing about hotels.", ()),
    ("The term ends on 31 May.", ()),
    ("Reports are kept for two years.", ()),
]


@pytest.mark.parametrize(("text", "words"), HEDGED)
def test_words_of_doubt_are_marked_and_permission_is_not(text, words):
    """A hedge is a word of doubt; "may" and "about" a topic are none."""
    assert hedges(text) == words


def test_plain_fields_name_the_entity_and_the_year():
    """The seed's own example: an entity and the year of its foundation."""
    text = "Acme was founded in 2017."
    assert plain_fields(text, find_quantities(text)) == {"entity": "Acme", "year": 2017}
    reason = plain_fields("The lot was recalled because the seal failed.", ())
    assert reason["connective"] == "because"
