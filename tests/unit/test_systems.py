"""What other systems would make of the same measured rows: counted by hand here."""

from __future__ import annotations

import pytest

from certirag.bootstrap import load_policy
from certirag.eval.gate_counts import trials_of
from certirag.eval.measured_claims import MeasuredClaim
from certirag.eval.pair_rows import MeasuredRow
from certirag.eval.systems import STRICT, Share, systems_of, systems_table

POLICY = load_policy("strict-1")


def _row(gold: str, state: str, *, entailed: float | None, cosine: float) -> MeasuredRow:
    true, verified = gold == "entailed", state == "VERIFIED"
    count = (int(verified), int(verified and not true), int(true), int(verified and true))
    text = "The mill is old." if cosine > 0.5 else "The mill was sold."  # see ROWS
    claim = MeasuredClaim(text, state, "NEI", entailed, 0.0, ("The mill is old.",), "", (), "")
    return MeasuredRow(
        number=0,
        source="",
        title="",
        premise="",
        hypothesis=text,
        false="",
        gold=gold,
        label="entailed",
        entailed=entailed,
        not_enough_info=0.0,
        contradicted=0.0,
        cosine=cosine,
        premise_words=9,
        hypothesis_words=9,
        claims=[claim],
        counts=[count] * len(trials_of(POLICY)),
    )


ROWS = [
    _row("entailed", "VERIFIED", entailed=0.95, cosine=0.6),
    _row("entailed", "VERIFIED", entailed=0.9, cosine=0.9),
    _row("entailed", "BLOCKED", entailed=0.3, cosine=0.5),
    _row("contradicted", "UNVERIFIED", entailed=0.88, cosine=0.8),
    _row("not_enough_info", "BLOCKED", entailed=0.1, cosine=0.4),
    _row("not_entailed", "VERIFIED", entailed=None, cosine=0.2),
]


def test_each_system_shows_and_marks_what_it_would() -> None:
    """Untrue of what is shown, of what is marked, true ones marked, untrue ones not marked."""
    found = {
        own.system: (own.exposed, own.wrong, own.coverage, own.caught)
        for own in systems_of(ROWS, POLICY)
    }
    everything, verbatim, cosine, beside, alone, mixed, strict = found.values()
    assert everything == (Share(3, 6), Share(3, 6), Share(3, 3), Share(0, 3))
    # The texts of 0.9, 0.8 and 0.6 stand in what was read, and 0.8 is untrue all the same.
    assert verbatim == cosine
    # Strict marks three rows, so the cosine does: 0.9 and 0.6 are true, 0.8 is not.
    assert cosine == (Share(3, 6), Share(1, 3), Share(2, 3), Share(2, 3))
    assert beside == (Share(3, 6), Share(1, 3), Share(2, 3), Share(2, 3))
    assert alone == (Share(1, 3), *beside[1:])
    assert mixed == (Share(2, 4), Share(1, 3), Share(2, 3), Share(2, 3))
    assert strict == (Share(1, 3), *mixed[1:])
    assert list(found)[-1] == STRICT


def test_the_test_against_strict_is_mcnemars() -> None:
    """Strict alone is right in two rows, everything shown in one: p is 1 of three differing."""
    p = {own.system: own.p for own in systems_of(ROWS * 4, POLICY)}
    everything, *_, strict = p.values()
    # Twelve differ, eight to four: 2 * P(at most 4 of 12), and Holm's largest of five.
    assert everything == pytest.approx(min(1.0, 5 * 2 * (1 + 12 + 66 + 220 + 495) / 2**12))
    assert strict is None


def test_without_a_badge_the_cosine_marks_nothing() -> None:
    """Nobody is credited with what the other did not show; a share of nothing is no number."""
    rows = [_row("entailed", "UNVERIFIED", entailed=0.2, cosine=0.99)]
    cosine = systems_of(rows, POLICY)[2]
    assert (cosine.wrong, cosine.coverage) == (Share(0, 0), Share(0, 1))
    assert (
        "| – | 0 of 1: 0.0% (0.0% to 97.5%) |" in systems_table(systems_of(rows, POLICY)).markdown()
    )
