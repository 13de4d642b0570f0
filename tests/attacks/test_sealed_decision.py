"""Every way to a Verified decision that does not go through `decide`, tried and refused."""

from __future__ import annotations

import copy
import pickle

import pytest
from gate_cases import good_case, with_result

from certirag.render.badge import badge_of
from certirag.render.gate import Decision, RenderState, decide, is_verified, state_of
from certirag.render.rules import RULES


def _genuine() -> Decision:
    return decide(good_case(), RULES)


def _refused() -> Decision:
    return decide(with_result(good_case(), score=0.1), RULES)


def test_it_has_no_constructor_and_no_children() -> None:
    """Calling or subclassing the type raises."""
    with pytest.raises(TypeError):
        Decision("c1")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        type("Forged", (Decision,), {})


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_it_cannot_be_copied_or_pickled(copier) -> None:
    """What travels is the certificate."""
    with pytest.raises(TypeError):
        copier(_genuine())


def test_it_is_immutable() -> None:
    """Assignment and deletion raise."""
    decision = _refused()
    with pytest.raises(AttributeError):
        decision.state = RenderState.VERIFIED
    with pytest.raises(AttributeError):
        del decision.state


def test_a_bare_object_is_not_verified() -> None:
    """An instance made past the constructor has no seal."""
    assert not is_verified(object.__new__(Decision))


def test_a_flipped_state_is_not_verified() -> None:
    """Setting the state past the guard breaks the seal."""
    decision = _refused()
    object.__setattr__(decision, "state", RenderState.VERIFIED)
    assert not is_verified(decision)
    assert badge_of(decision).kind == "unverified"


@pytest.mark.parametrize("field", ["claim_id", "claim_text", "findings"])
def test_a_seal_does_not_move_to_another_claim(field: str) -> None:
    """The seal covers the claim's id and text and every finding."""
    decision = _genuine()
    object.__setattr__(decision, field, getattr(_refused(), field) and "other")
    assert not is_verified(decision)


def test_a_replayed_seal_is_not_verified() -> None:
    """The seal of a verified claim does not verify a refused one."""
    decision = _refused()
    object.__setattr__(decision, "_seal", _genuine()._seal)
    object.__setattr__(decision, "state", RenderState.VERIFIED)
    assert not is_verified(decision)


class _Liar:
    """Says that it is a decision."""

    state = RenderState.VERIFIED
    claim_id = claim_text = "c1"
    findings = ()
    _seal = b""

    @property
    def __class__(self):  # type: ignore[override]
        return Decision


@pytest.mark.parametrize("thing", [_Liar(), {"state": "VERIFIED"}, "VERIFIED", True, None])
def test_look_alikes_get_no_badge(thing: object) -> None:
    """Duck types, dicts, strings and flags are Unverified."""
    assert not is_verified(thing)
    assert state_of(thing) is RenderState.UNVERIFIED
    assert badge_of(thing).kind == "unverified"


def test_the_genuine_one_gets_the_badge() -> None:
    """The door that is meant to open does."""
    assert badge_of(_genuine()).label == "✅ Verified"
