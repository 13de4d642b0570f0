"""What the head is told of a pair, and the checks that may lower what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certirag.ports import Pair
from certirag.verification.features import NAMES, aligned, features, surface
from certirag.verification.lexical.scoring import NOTHING, VETO_CEILING, Scores
from certirag.verification.vetoes import DOUBT_CEILING, UNREAD_CEILING, checked_exactly, guarded

SAID = "The north depot stores 40 tonnes of salt."


def _named(claim: str, evidence: str, context: str = "") -> dict[str, float]:
    found = surface(claim, evidence, context)
    words = aligned(claim, evidence, context, found)
    return dict(zip(NAMES, features([(1.0, 0.0, -1.0)], found, words), strict=True))


def test_a_claim_that_is_the_evidence_is_covered() -> None:
    """Every share that speaks for a claim is one, every one that speaks against it nought."""
    found = _named(SAID, SAID)
    for name in ("cover", "cover_sentence", "bigrams", "run"):
        assert found[name] == 1.0
    for name in ("uncovered", "numbers_missing", "names_missing", "denial_differs"):
        assert found[name] == 0.0


def test_what_is_missing_is_said() -> None:
    """A figure, a name and a denial that the evidence lacks show in features of their own."""
    assert _named(SAID.replace("40", "60"), SAID)["numbers_missing"] == 1.0
    assert _named("The depot in Vega stores salt.", SAID)["names_missing"] == 1.0
    assert _named("The north depot does not store salt.", SAID)["denial_differs"] == 1.0


def test_a_heading_names_the_subject_and_no_figure() -> None:
    """Words and names of the context count as there; its figures do not."""
    claim = "The Vega depot stores 40 tonnes of salt."
    bare, headed = (_named(claim, "It stores much salt.", c) for c in ("", "Vega depot, 40 tonnes"))
    assert headed["cover"] > bare["cover"]
    assert headed["names_missing"] == 0.0
    assert headed["numbers_missing"] == 1.0


def test_support_is_the_best_window() -> None:
    """The window that supports best decides, and its own opposition stands beside the highest."""
    windows = [(0.0, 1.0, 3.0), (4.0, 0.0, -2.0), (1.0, 1.0, 1.0)]
    found = dict(zip(NAMES, features(windows, surface(SAID, SAID), NOTHING), strict=True))
    assert found["support"] == pytest.approx(3.873, abs=1e-3)
    assert found["opposition"] > 0 > found["opposition_there"]


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=20))
def test_features_are_finite_whatever_the_text(claim: str, evidence: str, context: str) -> None:
    """Hostile text gives numbers, shares within nought and one."""
    found = surface(claim, evidence, context)
    values = features([(0.0, 0.0, 0.0)], found, NOTHING)
    assert len(values) == len(NAMES)
    assert all(-10 < value < 10 for value in values)
    assert 0.0 <= found.cover_sentence <= 1.0


@pytest.mark.parametrize(
    ("claim", "evidence", "ceiling"),
    [
        (SAID.replace("40", "60"), SAID, VETO_CEILING),
        (SAID.replace("tonnes", "kilograms"), SAID, VETO_CEILING),
        ("The gate is open.", "The gate is closed.", VETO_CEILING),
        ("The north depot does not store 40 tonnes of salt.", SAID, DOUBT_CEILING),
        ("Pumps were replaced.", "Pumps were replaced only in May.", DOUBT_CEILING),
        ("In 2021 the north depot stored 40 tonnes.", f"{SAID} It opened in 2021.", DOUBT_CEILING),
    ],
)
def test_a_finding_caps_the_score_whatever_the_network_says(
    claim: str, evidence: str, ceiling: float
) -> None:
    """What is nowhere in the evidence is vetoed; a denial or another subject is a doubt."""
    pair = Pair(claim, evidence)
    words = aligned(claim, evidence, "", surface(claim, evidence))
    found = guarded(pair, 0.999, 0.0, words, ())
    assert found.entailed == ceiling
    assert found.reason


def test_a_check_never_raises_support() -> None:
    """Whatever is found, the score after the checks is at most the score before them."""
    pair = Pair(SAID, "The south depot stores sand.")
    words = aligned(pair.claim, pair.evidence, "", surface(pair.claim, pair.evidence))
    for score in (0.0, 0.3, 0.9):
        assert guarded(pair, score, 0.0, words, ()).entailed <= score


def test_the_same_words_are_support_without_the_network() -> None:
    """A claim that the evidence says word for word needs no opinion."""
    words = aligned(SAID, SAID, "", surface(SAID, SAID))
    assert guarded(Pair(SAID, SAID), 0.1, 0.8, words, ()).entailed >= 0.97


def test_the_same_words_under_a_frame_are_not() -> None:
    """What the document only quotes is left to the network, and doubted."""
    words = aligned(SAID, SAID, "", surface(SAID, SAID))
    quoted = Pair(SAID, SAID, "", f'He wrote: "I was wrong. {SAID} It rusts."')
    assert guarded(quoted, 0.1, 0.8, words, ()).entailed == 0.1
    assert guarded(quoted, 0.99, 0.0, words, ()).entailed == DOUBT_CEILING


def test_a_figure_in_another_notation_is_the_same_word() -> None:
    """Verbatim but for how a figure is written needs no network either; in other words it does."""
    written = "The depot was built in 2004 for 1.5 million euros."
    for claim, alike in (
        ("The depot was built in 2004 for €1,500,000.", True),
        ("For €1,500,000 the depot was built in 2004.", False),
        ("The depot was built in 2004 for €1,600,000.", False),
    ):
        words = aligned(claim, written, "", surface(claim, written))
        assert (guarded(Pair(claim, written), 0.1, 0.0, words, ()).entailed > 0.9) is alike


@pytest.mark.parametrize(
    ("claim", "evidence", "entailed"),
    [
        ("Long waiting led to shortages.", "Shortages led to long waiting.", 0.8),
        # What is left out, and a word of its own: the larger network is heard.
        ("Reuse of the maps is permitted.", "Non-commercial reuse of the maps is permitted.", 0.99),
        ("You may reuse the maps.", "Non-commercial reuse of the maps is permitted.", 0.99),
        ("Reuse of the maps is permitted.", "Reuse of maps is permitted.", 0.99),
    ],
)
def test_moved_words_are_doubted_by_their_alignment(
    claim: str, evidence: str, entailed: float
) -> None:
    """However sure the larger network is; of what says it in other words the alignment knows less."""
    words = aligned(claim, evidence, "", surface(claim, evidence))
    assert checked_exactly(Pair(claim, evidence), 0.99, 0.0, words, ()).entailed == entailed


def test_unread_words_are_a_veto() -> None:
    """What the network has no tokens for must stand in the evidence."""
    claim, evidence = "The code is 🚀 today.", "The code is 🐶 today."
    nothing = Scores(0.0, 0.0)
    assert guarded(Pair(claim, evidence), 0.99, 0.0, nothing, ("🚀",)).entailed == UNREAD_CEILING
    assert guarded(Pair(claim, claim), 0.99, 0.0, nothing, ("🚀",)).entailed == 0.99
