"""Signals of wording add up to a depth, with the seed's weights; nothing else follows from them."""

from __future__ import annotations

import math

import pytest
from fakes import chunk_of

from certirag.core.claim import Claim
from certirag.verification.candidates import choose_candidates
from certirag.verification.routing import (
    BASE,
    HIGH_THRESHOLD,
    LOW_THRESHOLD,
    MILD,
    STRONG,
    UNROUTED,
    WEAK,
    route,
    route_claims,
    routing_of,
)

REVENUE = "Revenue for the third quarter of 2024 was $288.7 million, up 14.3% from $252.6 million."


def names(claim: str, evidence: str = "", context: str = "") -> list[str]:
    """Return the names of the signals that the two texts give."""
    return [signal.name for signal in route(claim, evidence, context=context).signals]


def test_the_numbers_are_the_seeds() -> None:
    """Base, weights and thresholds stand in the fifth seed, Stage 3."""
    assert (BASE, HIGH_THRESHOLD, LOW_THRESHOLD) == (0.5, 0.85, 0.50)
    assert (STRONG, MILD, WEAK) == (0.3, 0.1, -0.2)


@pytest.mark.parametrize(
    ("claim", "evidence", "signal"),
    [
        ("The notice says “no dogs on the lawn”.", "There are no dogs on the lawn.", "quote"),
        ("Revenue for the third quarter of 2024 was $288.7 million.", REVENUE, "number"),
        ("Revenue for the third quarter of 2024 was $288.7 million.", REVENUE, "date"),
        ("The plant of Tarnbeck closed.", "The plant of Tarnbeck was closed.", "entity"),
    ],
)
def test_what_the_evidence_holds_raises_confidence(claim: str, evidence: str, signal: str) -> None:
    """Each strong signal needs the evidence to hold it: without, it is not there."""
    assert signal in names(claim, evidence)
    assert signal not in names(claim, "The canteen opens at noon.")


@pytest.mark.parametrize(
    ("claim", "signal"),
    [
        ("The drug may be harmful.", "hedge"),
        ("Sales were approximately level.", "hedge"),
        ("Sales were higher than costs.", "comparison"),
        ("The two sites employ 40 people in total.", "derived"),
        ("Sales saw a substantial rise.", "subjective"),
        ("Tarnbeck runs the largest depot.", "superlative"),
    ],
)
def test_doubtful_wording_lowers_confidence(claim: str, signal: str) -> None:
    """Each kind of doubt weighs the same, whatever the evidence says."""
    found = route(claim, claim).signals
    assert [s.weight for s in found if s.name == signal] == [WEAK]


def test_each_hedge_weighs_and_a_superlative_with_a_source_does_not() -> None:
    """Hedges add up; "according to" answers for a superlative."""
    assert names("It might possibly and perhaps fail.").count("hedge") == 3
    assert "superlative" not in names("According to the report, this is the largest depot.")


def test_another_number_is_no_match() -> None:
    """A planted figure takes the signal away, so such a claim is looked at more closely."""
    right = route("Revenue was $288.7 million in the third quarter of 2024.", REVENUE)
    wrong = route("Revenue was $298.7 million in the third quarter of 2024.", REVENUE)
    assert right.routing == "HIGH"
    assert "number" not in [signal.name for signal in wrong.signals]
    assert wrong.confidence < right.confidence


@pytest.mark.parametrize(
    ("confidence", "routing"),
    [(1.0, "HIGH"), (0.85, "HIGH"), (0.849999, "MEDIUM"), (0.5, "MEDIUM"), (0.499999, "LOW"),
     (0.0, "LOW"), (math.nan, "LOW"), (math.inf, "LOW"), (-1.0, "LOW"), (2.0, "LOW")],
)  # fmt: skip
def test_thresholds_and_what_is_no_confidence(confidence: float, routing: str) -> None:
    """Both thresholds belong to the better side; no number is the closest look."""
    assert routing_of(confidence) == routing


def test_confidence_stays_in_range() -> None:
    """Signals may add up beyond either end."""
    low = route("It may possibly be significantly better than the largest, combined.", "")
    high = route(f"“{REVENUE}” was said of Tarnbeck.", f"{REVENUE} Tarnbeck")
    assert low.confidence == 0.0
    assert high.confidence == 1.0


def test_claims_are_routed_by_their_best_span() -> None:
    """A claim without any evidence gets the closest look."""
    claim = Claim("c1", "Revenue was $288.7 million.", "numeric_fact", "factual_lit_claim")
    chunks = (chunk_of("The canteen opens at noon.", name="a"), chunk_of(REVENUE, name="b"))
    candidates = choose_candidates([claim], chunks, max_spans=5, max_pairs=50)
    nothing = choose_candidates([claim], (), max_spans=5, max_pairs=50)
    (found,) = route_claims(candidates)
    assert found == route(claim.text, chunks[1].spans[0].sentence)
    assert found.routing == "MEDIUM"
    assert route_claims(nothing)[0].routing == "LOW"


def test_switched_off_every_claim_gets_the_closest_look() -> None:
    """Appendix B: without the classification all claims are LOW."""
    assert UNROUTED.routing == "LOW"


@pytest.mark.parametrize("text", ["", " ", "\x00", "“" * 500, "may " * 3000, "9" * 5000, "🙂" * 50])
def test_any_text_is_routed(text: str) -> None:
    """No text breaks it."""
    assert 0.0 <= route(text, text).confidence <= 1.0
    assert route(text, REVENUE).routing in {"HIGH", "MEDIUM", "LOW"}
