"""Another policy over the same record: a tighter one only loses, and says what and why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_cases import POLICY, good_case, record, with_first_score, with_result
from hypothesis import given
from hypothesis import strategies as st

import certirag.auditing.replay
from certirag.auditing.replay import replay
from certirag.core.policy import BASE_RULES
from certirag.errors import PolicyError
from certirag.render import certify

LAX = replace(POLICY, name="lax", rules=BASE_RULES, tau_entail=0.5)


def test_the_same_policy_changes_nothing() -> None:
    """Every badge stays, and the answer is decided as it was."""
    same = replay(record(), POLICY)
    assert (same.verified, same.still_verified, same.differs, same.tightens) == (1, 1, False, True)


@pytest.mark.parametrize(
    ("tighter", "because"),
    [
        (replace(POLICY, name="high", tau_entail=0.99), "with 0.97; 0.99 is needed"),
        (replace(POLICY, name="calm", tau_contradict=0.005), "contradicts"),
        (
            replace(
                POLICY,
                name="two",
                class_minimum={**POLICY.class_minimum, "factual_lit_claim": 2},
            ),
            "needs 2 pieces of evidence",
        ),
    ],
)
def test_a_tighter_policy_loses_and_says_why(tighter, because: str) -> None:  # type: ignore[no-untyped-def]
    """The claim, its state then and now, and the reason of the rule that withholds it."""
    found = replay(record(), tighter)
    (claim,) = found.lost
    assert (claim.claim_id, claim.was) == ("c1", "VERIFIED")
    assert claim.becomes != "VERIFIED"
    assert because in claim.reason
    assert (found.tightens, found.gained, found.decision, found.becomes) == (
        True,
        (),
        "ACCEPT",
        "REJECT",
    )


def test_a_laxer_policy_may_gain_and_is_not_called_tighter() -> None:
    """What it would have shown is told, as what another policy would have done."""
    weak = record(with_first_score(with_result(good_case(), score=0.6), entailed=0.6))
    found = replay(weak, LAX)
    assert (found.tightens, len(found.gained), found.lost) == (False, 1, ())
    assert (found.verified, found.still_verified) == (0, 1)


@given(
    st.floats(0.5, 1), st.floats(0.01, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from("ab")
)
def test_a_tighter_policy_never_gains(
    entail: float, contradict: float, score: float, against: float, kind: str
) -> None:
    """For any thresholds and scores; `replay` would raise."""
    case = with_result(good_case(), score=score)
    case = with_first_score(case, entailed=score, contradicted=against)
    own = POLICY if kind == "a" else LAX
    other = own.meet(replace(LAX, name="x", tau_entail=entail, tau_contradict=contradict))
    found = replay(record(case, own), other)
    assert found.tightens
    assert not found.gained
    assert found.still_verified == found.verified - len(found.lost)


def test_a_gain_under_a_tighter_policy_is_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the gate were broken that way, the replay says so instead of reporting it."""
    weak = record(with_first_score(with_result(good_case(), score=0.6), entailed=0.6))
    strong = certify([good_case().claim], [good_case().result], weak.retrieval.chunks, POLICY)

    def broken(*arguments, **_named):  # type: ignore[no-untyped-def]
        return strong if arguments[3].name == "tight" else certify(*arguments)

    monkeypatch.setattr(certirag.auditing.replay, "certify", broken)
    with pytest.raises(PolicyError, match="would gain a badge"):
        replay(weak, replace(POLICY, name="tight", tau_entail=0.9))
