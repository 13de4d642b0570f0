"""A quotation may state several facts; what only looks like one is held to the rules of a claim."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_cases import CLAIM, POLICY, chunk, located, result

from certirag.bootstrap import make_verifier
from certirag.core.text import EvidenceChunk, SentenceSpan, SpanRef, sha256_hex
from certirag.ports import Pair
from certirag.render.gate import Case
from certirag.render.rules import numbers, well_formed

FIRST = "A loaded inhaler is kept below 30 °C, and it must not be put back into the refrigerator."
SECOND = "It may be carried in hand luggage, and it may be used on board an aircraft."
THIRD = "The counter shows 60 doses; it cannot be reset."
ROW = "Office: Skarholm; Hotel limit: €175; Lunch: €12"
JOINED = f"{FIRST} {SECOND}"


def _passage(*sentences: str) -> EvidenceChunk:
    text, spans = "", []
    for number, sentence in enumerate(sentences, 1):
        text += " " if text else ""
        spans.append(SentenceSpan(f"s{number}", len(text), len(text) + len(sentence), sentence))
        text += sentence
    return located(replace(chunk(), text=text, sha256=sha256_hex(text), spans=tuple(spans)))


def _case(claim: str, *attached: str) -> Case:
    of = _passage(FIRST, SECOND, THIRD, ROW)
    numbered = {span.sentence: span.span_id for span in of.spans}
    made = replace(CLAIM, text=claim)
    refs = tuple(SpanRef(of.chunk_id, numbered[sentence]) for sentence in attached)
    return Case(made, replace(result(of, made), best_evidence=refs), {of.chunk_id: of}, POLICY)


@pytest.mark.parametrize(
    ("claim", "attached"),
    [
        (FIRST, [FIRST]),
        (JOINED, [FIRST, SECOND]),
        (JOINED, [SECOND, FIRST]),
        (f"{SECOND} {THIRD}", [SECOND, THIRD]),
        ("Skarholm (office), hotel limit: €175.", [ROW]),
        ("Skarholm (office), hotel limit: €175; lunch: €12.", [ROW]),
    ],
)
def test_the_figures_of_a_quotation_stand_there(claim, attached) -> None:
    """What is quoted is not asked which figure belongs to what."""
    assert numbers(_case(claim, *attached)).passed is True


@pytest.mark.parametrize(
    ("claim", "attached"),
    [
        (FIRST, [FIRST]),
        (JOINED, [FIRST, SECOND]),
        (FIRST, [FIRST, THIRD]),
        (THIRD, [FIRST, SECOND, THIRD]),
        (JOINED, [FIRST, SECOND, THIRD]),
        ("Skarholm (office), lunch: €12.", [ROW]),
    ],
)
def test_a_quotation_may_state_several_facts(claim, attached) -> None:
    """The source states each of them, whatever else is attached: a comparison needs a second piece."""
    assert well_formed(_case(claim, *attached)).passed is True


@pytest.mark.parametrize(
    ("claim", "attached"),
    [
        pytest.param(SECOND, [SECOND], id="what it points at is left out"),
        pytest.param(f"{SECOND} {THIRD}", [SECOND, THIRD], id="it begins in the middle"),
        pytest.param(f"{FIRST} {THIRD}", [FIRST, THIRD], id="the sentence between is left out"),
        pytest.param(
            f"{FIRST} {THIRD}", [FIRST, SECOND, THIRD], id="the sentence between is left out of it"
        ),
        pytest.param(f"{SECOND} {FIRST}", [FIRST, SECOND], id="in another order"),
        pytest.param(JOINED, [FIRST], id="half of it is attached"),
        pytest.param(JOINED.replace("must not", "must"), [FIRST, SECOND], id="a word is gone"),
        pytest.param(JOINED.replace("30 °C", "35 °C"), [FIRST, SECOND], id="another figure"),
        pytest.param(JOINED.replace(".", ";", 1), [FIRST, SECOND], id="another mark"),
        pytest.param(JOINED.replace("below", "bеlow"), [FIRST, SECOND], id="a Cyrillic letter"),
        pytest.param(f"{JOINED} {JOINED}", [FIRST, SECOND], id="twice"),
    ],
)
def test_what_only_looks_like_a_quotation_is_several_facts(claim, attached) -> None:
    """One character, one place or one sentence less, and it is no quotation."""
    assert well_formed(_case(claim, *attached)).passed is False


@pytest.mark.parametrize(
    "claim",
    [
        "Skarholm (office), hotel limit: €185.",
        "Skarholm (office), lunch: €175.",
    ],
)
def test_a_row_read_wrongly_has_no_figures(claim) -> None:
    """A cell of another column or another value is not what the row says."""
    assert numbers(_case(claim, ROW)).passed is False


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (
            "Expense claims must be submitted within 30 days of the trip. They are entered online.",
            "Expense claims must be submitted within 60 days of the trip.",
        ),
        (
            "Blood is taken every 8 weeks in the first year. It is taken every 6 months after it.",
            "Blood is taken every 12 weeks in the first year.",
        ),
        (
            "A lost badge must be reported within 4 hours, and a new one is made within a week.",
            "A lost badge must be reported within 24 hours.",
        ),
    ],
)
def test_what_speaks_against_one_fact_of_a_quotation_speaks_against_it(claim, evidence) -> None:
    """The fact beside it hides no conflict between documents."""
    verifier = make_verifier("embedded")
    (judged,) = verifier.judge([Pair(claim, evidence)])
    assert judged.contradicted >= POLICY.tau_contradict
