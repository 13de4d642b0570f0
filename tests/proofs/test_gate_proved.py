"""`decide` proved: Verified exactly when every rule of the policy passed; Blocked only on proof.

What a rule may do is enumerated, scores are all doubles (`symbolic_run`). The function is run as
it stands on up to four rules, each doing anything, and on up to three scored spans. For more
rules: `_ask` sees one rule at a time, and `all` over one more finding is `and`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

import pytest
import z3
from gate_cases import good_case, with_first_score, with_result
from hypothesis import given
from hypothesis import strategies as st
from symbolic_cases import (
    MOST_SPANS,
    at_least,
    in_bounds,
    passes_when,
    sound,
    symbolic_case,
    unchecked_policy,
)
from symbolic_run import changed, counterexample, explore, fp, holds_when

from certirag.core.policy import Policy
from certirag.render import gate
from certirag.render.gate import Finding, RenderState, decide, state_of
from certirag.render.rules import RULES


class _Raising(Exception):
    """What a rule may raise."""


def _raises(_case: object) -> Finding:
    raise _Raising


class _Said(Finding):
    """Looks like a finding."""


# All that a rule can do; only the first is a pass. None stands for a rule that nobody wrote.
ANSWERS: Final[dict[str, Callable[[Any], Any] | None]] = {
    "passes": lambda _case: Finding(True, ""),
    "refuses": lambda _case: Finding(False, ""),
    "raises": _raises,
    "is missing": None,
    "says nothing": lambda _case: None,
    "says yes": lambda _case: True,
    "says a pair": lambda _case: (True, ""),
    "passes by 1": lambda _case: Finding(1, ""),  # type: ignore[arg-type]
    "says something like it": lambda _case: _Said(True, ""),
}


def _case(names: tuple[str, ...], spans: int = 0) -> Any:
    case = symbolic_case(("a",) * spans, ())
    tau = unchecked_policy("p").tau_contradict
    policy = SimpleNamespace(rules=names, tau_contradict=tau)
    return SimpleNamespace(policy=policy, claim=case.claim, result=case.result, planted=())


def _wrong(decide: Callable[..., Any], most: int) -> bool:
    """Say whether *decide* is Verified for anything but "there are rules and all pass"."""
    for count in range(most + 1):
        for chosen in product(ANSWERS, repeat=count):
            names = tuple(f"rule {n}" for n in range(count))
            given = [(n, ANSWERS[c]) for n, c in zip(names, chosen, strict=True)]
            found = decide(_case(names), {n: rule for n, rule in given if rule is not None})
            verified = state_of(found) is RenderState.VERIFIED
            if verified is not (count > 0 and set(chosen) == {"passes"}):
                return True
    return False


def test_verified_exactly_when_every_rule_passed() -> None:
    """Over every combination of what up to four rules can do (7,381 of them)."""
    assert not _wrong(decide, 4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("findings and all(", "all("),
        ("findings and all(", "findings and any("),
        ("finding.passed is True", "finding.passed is not False"),
        ("_ask(name, rules.get(name), case) for", "rules[name](case) for"),
    ],
)
def test_a_changed_decide_is_caught(old: str, new: str) -> None:
    """The enumeration can fail; what only `_ask` guards is asked past it."""
    slipped = changed(decide, old, new)
    if "is not False" in new:
        slipped.__globals__["_ask"] = lambda name, rule, case: gate.NamedFinding(
            name, rule(case).passed if rule else False, ""
        )
    with suppress(_Raising, KeyError, AttributeError, TypeError):  # broken is caught too
        assert _wrong(slipped, 2)


@pytest.mark.parametrize("passes", [True, False])
def test_blocked_only_with_a_sound_contradiction(passes: bool) -> None:
    """Over all doubles: not every rule passed, and a score at or above the threshold is there."""
    rules = {"rule": ANSWERS["passes" if passes else "refuses"]}
    for spans in range(MOST_SPANS + 1):
        case = _case(("rule",), spans)
        paths = explore(lambda case=case: state_of(decide(case, rules)), in_bounds("p"))  # type: ignore[arg-type]
        assert all(path.error is None for path in paths)
        blocked = holds_when(paths, lambda path: path.value is RenderState.BLOCKED)
        verified = holds_when(paths, lambda path: path.value is RenderState.VERIFIED)
        strong = [
            z3.And(sound(f"contradicted.{n}"), at_least(f"contradicted.{n}", "tau_contradict.p"))
            for n in range(spans)
        ]
        wanted = z3.And(z3.BoolVal(not passes), z3.Or(strong))
        assert counterexample(z3.Implies(in_bounds("p"), blocked == wanted)) is None
        assert counterexample(verified == z3.BoolVal(passes)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is_score(score.contradicted)\n            and ", ""),
        (">= case.policy", "> case.policy"),
        ("tau_contradict", "tau_entail"),
        ("return any(", "return all("),
    ],
)
def test_a_changed_block_has_a_counterexample(old: str, new: str) -> None:
    """One slip in what blocks is refuted by numbers."""
    slipped = changed(gate._contradicted, old, new)
    case = symbolic_case(("a", "a"), ())
    found = holds_when(explore(lambda: bool(slipped(case)), in_bounds("p")), lambda p: p.value)
    strong = [
        z3.And(sound(f"contradicted.{n}"), at_least(f"contradicted.{n}", "tau_contradict.p"))
        for n in range(2)
    ]
    assert counterexample(z3.Implies(in_bounds("p"), found == z3.Or(strong))) is not None


_numbers = st.floats() | st.sampled_from([0.0, -0.0, 0.85, 0.7, 1.0, 0.5]) | st.floats(0, 1)
_taus = st.floats(0.5, 1.0)


@given(_numbers, _numbers, _numbers, _taus, _taus)
def test_the_proved_formulas_are_the_running_gate(
    entailed: float, contradicted: float, without: float, tau: float, tau_contradict: float
) -> None:
    """On plain floats the real rules and gate give what the formulas say of these numbers."""
    policy = replace(good_case().policy, tau_entail=tau, tau_contradict=tau_contradict)
    policy = replace(policy, tau_contest=tau_contradict)
    case = with_result(good_case(), score=entailed, score_without=without)
    case = with_first_score(case, entailed=entailed, contradicted=contradicted)
    real = replace(case, policy=policy)
    numbers = {
        "score": entailed,
        "entailed.0": entailed,
        "contradicted.0": contradicted,
        "without": without,
        "tau_entail.p": tau,
        "tau_contradict.p": tau_contradict,
        "tau_contest.p": tau_contradict,
    }
    swaps = [(z3.Int(name), fp(value)) for name, value in numbers.items()]
    for name, formula in FORMULAS.items():
        said = z3.is_true(z3.simplify(z3.substitute(formula, *swaps)))
        assert RULES[name](real).passed is said, name


FORMULAS: Final = {
    name: passes_when(RULES[name], symbolic_case(("a",), (0,)))
    for name in ("entailed", "not_contradicted", "load_bearing", "uncontested")
}


def test_a_decision_reads_the_case_s_own_policy() -> None:
    """The type of the policy in every proof is the one that the gate is given."""
    assert type(unchecked_policy("p")) is Policy is type(good_case().policy)
