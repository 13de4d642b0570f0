"""Policies form a lattice in which a caller can only tighten."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_cases import good_case
from hypothesis import given
from hypothesis import strategies as st

from certirag.bootstrap import load_policy, policy_names
from certirag.core.policy import BASE_RULES, RISK_CLASSES, STRICT_RULES, Policy
from certirag.errors import PolicyError
from certirag.render.gate import decide, is_verified
from certirag.render.rules import RULES

_taus = st.floats(0.5, 1.0)
policies = st.builds(
    Policy,
    name=st.sampled_from(["a", "b", "c"]),
    rules=st.sampled_from([BASE_RULES, BASE_RULES + STRICT_RULES, (*BASE_RULES, "load_bearing")]),
    tau_entail=_taus,
    tau_contradict=_taus,
    tau_contest=_taus,
    max_claim_tokens=st.integers(5, 100),
    class_minimum=st.fixed_dictionaries({name: st.integers(1, 3) for name in RISK_CLASSES}),
)


@given(policies, policies)
def test_meet_is_a_lower_bound(one: Policy, other: Policy) -> None:
    """The meet is at least as strict as both, whichever comes first."""
    meet = one.meet(other)
    assert meet.refines(one)
    assert meet.refines(other)
    assert other.meet(one).refines(meet)
    assert meet.refines(other.meet(one))


@given(policies, policies, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_tightening_never_adds_a_badge(
    one: Policy, other: Policy, entailed: float, contradicted: float, without: float
) -> None:
    """What the meet verifies, each of the two verifies."""
    case = good_case()
    first, *rest = case.result.all_scores
    scores = (replace(first, entailed=entailed, contradicted=contradicted), *rest)
    result = replace(case.result, score=entailed, all_scores=scores, score_without=without)
    verified = {
        name: is_verified(decide(replace(case, result=result, policy=policy), RULES))
        for name, policy in {"meet": one.meet(other), "one": one, "other": other}.items()
    }
    assert not verified["meet"] or (verified["one"] and verified["other"])


def test_the_shipped_policies_load_and_are_ordered() -> None:
    """Every file loads; strict-2 is stricter than strict-1, which is stricter than base-1."""
    assert policy_names() == ("base-1", "strict-1", "strict-2")
    base, first, second = map(load_policy, policy_names())
    assert second.refines(first)
    assert first.refines(base)
    assert not base.refines(first)
    assert first.meet(base) == first


def test_an_unknown_profile_is_refused() -> None:
    """An unknown name is an error with the choices, never a lenient default."""
    for name in ("auto", "", "../strict-1", "strict-1.toml"):
        with pytest.raises(PolicyError, match="choose one of"):
            load_policy(name)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        (("uncontested", 0.6), ("", 0.1), 0.6),  # nothing is asked by a number without its rule
        (("", 0.1), ("uncontested", 0.6), 0.6),
        (("uncontested", 0.6), ("uncontested", 0.4), 0.4),
        (("", 0.6), ("", 0.4), 0.4),
    ],
)
def test_a_contest_limit_counts_with_its_rule(
    one: tuple[str, float], other: tuple[str, float], meet: float
) -> None:
    """The meet takes the stricter limit of the policies that have the rule."""
    both = [
        Policy(
            name=name,
            rules=(*BASE_RULES, rule) if rule else BASE_RULES,
            tau_contest=limit,
            tau_entail=entail,
            max_claim_tokens=tokens,  # neither refines the other, so that they really meet
        )
        for name, (rule, limit), entail, tokens in (("a", one, 0.9, 60), ("b", other, 0.6, 50))
    ]
    assert both[0].meet(both[1]).tau_contest == meet
    assert both[1].meet(both[0]).tau_contest == meet
