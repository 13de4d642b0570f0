"""The threshold algebra, proved over all policies: bounds, the order, the meet, monotonicity.

`Policy`'s own methods are run on symbolic numbers (`symbolic_run`) and their paths merged into one
formula each; the theorems are then about those formulas. Rules are in their usual order here;
`test_the_order_of_rules_decides_nothing` shows that another order changes no badge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations, product
from typing import Any

import pytest
import z3
from gate_cases import CLAIM, good_case
from symbolic_cases import (
    ALL_RULES,
    LABELS,
    TAUS,
    followed,
    in_bounds,
    passes_when,
    shapes,
    symbolic_case,
    symbolic_fields,
    unchecked_policy,
)
from symbolic_run import changed, counterexample, explore, fp, holds_when, outcomes, whole

from certirag.core.policy import BASE_RULES, RISK_CLASSES, STRICT_RULES, Policy
from certirag.errors import PolicyError
from certirag.render.gate import decide, is_verified
from certirag.render.rules import RULES

CHOICES = tuple(product((False, True), repeat=len(STRICT_RULES)))
Terms = Mapping[str, Any]


def _rules(chosen: tuple[bool, ...]) -> tuple[str, ...]:
    return BASE_RULES + tuple(r for r, on in zip(STRICT_RULES, chosen, strict=True) if on)


def _names(tag: str) -> dict[str, Any]:
    """Return the variables of the policy *tag*: its numbers, and whether it has each strict rule."""
    numbers = (*TAUS, "max_claim_tokens", *RISK_CLASSES)
    of_rules = {rule: z3.Bool(f"{rule}.{tag}") for rule in STRICT_RULES}
    return of_rules | {name: z3.Int(f"{name}.{tag}") for name in numbers}


def _has(tag: str, chosen: tuple[bool, ...]) -> z3.BoolRef:
    pairs = zip(STRICT_RULES, chosen, strict=True)
    return z3.And([z3.Bool(f"{rule}.{tag}") == on for rule, on in pairs])


def _of(formula: Any, **policies: Terms) -> Any:
    """Return *formula* about the policies of those tags, said of these ones instead."""
    swaps = [
        (variable, policies[tag][name])
        for tag in policies
        for name, variable in _names(tag).items()
    ]
    return z3.substitute(formula, *swaps)


@dataclass(frozen=True)
class Algebra:
    """`Policy.refines` and `Policy.meet` as formulas over the policies ``p`` and ``q``."""

    order: z3.BoolRef
    lowest: Terms

    def refines(self, one: Terms, other: Terms) -> z3.BoolRef:
        """Return the formula that *one* refines *other*."""
        return _of(self.order, p=one, q=other)

    def meet(self, one: Terms, other: Terms) -> Terms:
        """Return the terms of the meet of *one* and *other*."""
        return {name: _of(term, p=one, q=other) for name, term in self.lowest.items()}


@cache
def algebra(
    refines: Any = None, meet: Any = None, choices: tuple[tuple[bool, ...], ...] = CHOICES
) -> Algebra:
    """Return the algebra of `Policy`, or of these functions in place of its methods.

    Exact for policies whose strict rules are among *choices*.
    """
    refines, meet = refines or Policy.refines, meet or Policy.meet
    given = z3.And(in_bounds("p"), in_bounds("q"))
    order, lowest = [], dict[str, Any]()
    with pytest.MonkeyPatch.context() as patched, followed():
        patched.setattr(Policy, "refines", refines)
        for one, other in product(choices, repeat=2):
            p, q = unchecked_policy("p", _rules(one)), unchecked_policy("q", _rules(other))
            here = z3.And(_has("p", one), _has("q", other))
            paths = explore(lambda p=p, q=q: bool(refines(p, q)), given)
            order.append(z3.And(here, holds_when(paths, lambda path: path.value is True)))
            for condition, found in outcomes(explore(lambda p=p, q=q: meet(p, q), given)):
                for name, term in _terms(found).items():
                    before = lowest.get(name, term)
                    lowest[name] = z3.If(z3.And(here, condition), term, before)
    return Algebra(z3.Or(order), {name: z3.simplify(term) for name, term in lowest.items()})


def _terms(policy: Policy) -> Terms:
    return {
        **{rule: z3.BoolVal(rule in policy.rules) for rule in STRICT_RULES},
        **{tau: fp(getattr(policy, tau)) for tau in TAUS},
        "max_claim_tokens": whole(policy.max_claim_tokens),
        **{risk: whole(policy.class_minimum[risk]) for risk in RISK_CLASSES},
    }


A, B, C = (_names(tag) for tag in "abc")
BOUNDED = z3.And([in_bounds(tag) for tag in "abc"])
FEWEST, MOST = CHOICES[0], CHOICES[-1]


def _alike(of: Algebra, one: Terms, other: Terms) -> z3.BoolRef:
    return z3.And(of.refines(one, other), of.refines(other, one))


def _no_looser(one: Terms, other: Terms) -> z3.BoolRef:
    """Return the order as docs/contract.md §5 states it."""
    return z3.And(
        *(z3.Implies(other[rule], one[rule]) for rule in STRICT_RULES),
        one["tau_entail"] >= other["tau_entail"],
        one["tau_contradict"] <= other["tau_contradict"],
        z3.Implies(other["uncontested"], one["tau_contest"] <= other["tau_contest"]),
        one["max_claim_tokens"] <= other["max_claim_tokens"],
        *(one[risk] >= other[risk] for risk in RISK_CLASSES),
    )


# Each law is a formula over all policies a, b, c within their bounds. Policies that refine each
# other differ at most in name, order of rules, and a limit that no rule of theirs reads.
LAWS: dict[str, Callable[[Algebra], z3.BoolRef]] = {
    "as stated": lambda of: of.refines(A, B) == _no_looser(A, B),
    "reflexive": lambda of: of.refines(A, A),
    "transitive": lambda of: z3.Implies(
        z3.And(of.refines(A, B), of.refines(B, C)), of.refines(A, C)
    ),
    "lower bound": lambda of: z3.And(of.refines(of.meet(A, B), A), of.refines(of.meet(A, B), B)),
    "greatest": lambda of: z3.Implies(
        z3.And(of.refines(C, A), of.refines(C, B)), of.refines(C, of.meet(A, B))
    ),
    "commutative": lambda of: _alike(of, of.meet(A, B), of.meet(B, A)),
    "associative": lambda of: _alike(of, of.meet(of.meet(A, B), C), of.meet(A, of.meet(B, C))),
    "idempotent": lambda of: _alike(of, of.meet(A, A), A),
    "within bounds": lambda of: _of(in_bounds("p"), p=of.meet(A, B)),
}
# a change of the code → a law that it must break
SLIPS = {
    ("refines", "self.tau_entail >= other", "self.tau_entail <= other"): "lower bound",
    ("refines", "self.tau_contradict <= other", "self.tau_contradict < other"): "reflexive",
    ("refines", "self.max_claim_tokens <= other.max_claim_tokens", "True"): "as stated",
    ("refines", "set(self.rules) >= set(other.rules)", "True"): "as stated",
    ("meet", "max(self.tau_entail", "min(self.tau_entail"): "lower bound",
    ("meet", "min(self.tau_contradict", "max(self.tau_contradict"): "lower bound",
    ("meet", "self.rules + other.rules", "self.rules"): "lower bound",
    ("meet", "tau_entail=max(self.tau_entail, other.tau_entail)", "tau_entail=1.0"): "greatest",
    ("meet", "max(self.class_minimum[name], other", "min(self.class_minimum[name], other"): (
        "lower bound"
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_policies_are_a_lattice(law: str) -> None:
    """The order and its meet obey each law, for all policies."""
    assert counterexample(z3.Implies(BOUNDED, LAWS[law](algebra()))) is None


@pytest.mark.parametrize(("slip", "law"), SLIPS.items(), ids=lambda value: str(value)[-40:])
def test_a_changed_algebra_breaks_a_law(slip: tuple[str, str, str], law: str) -> None:
    """Each proof can fail: one slip in the code gives policies for which the law is false."""
    method, old, new = slip
    of_two = (FEWEST, MOST)
    slipped = algebra(**{method: changed(getattr(Policy, method), old, new)}, choices=of_two)
    few = z3.And([z3.Or(_has(tag, FEWEST), _has(tag, MOST)) for tag in "abc"])
    assert counterexample(z3.Implies(z3.And(BOUNDED, few), LAWS[law](slipped))) is not None


def test_a_policy_is_built_exactly_within_its_bounds() -> None:
    """Over all doubles and whole numbers: outside DESIGN's bounds there is only PolicyError."""
    for chosen in CHOICES:
        with followed():
            paths = explore(lambda c=chosen: Policy("p", _rules(c), **symbolic_fields("p")))
        assert all(path.error is None or type(path.error) is PolicyError for path in paths)
        built = holds_when(paths, lambda path: path.error is None)
        assert counterexample(built == in_bounds("p")) is None
        lax = z3.And(built, z3.Int("tau_entail.p") < fp(0.5000001))
        assert counterexample(z3.Not(lax)) is not None  # the bound itself is allowed


def _cases(rule: str) -> Iterator[Any]:
    """Yield every arrangement of a case that *rule* could tell apart."""
    claims = [replace(CLAIM, risk_class=risk) for risk in RISK_CLASSES]
    claims += [replace(claim, hedges=("may",)) for claim in claims]
    if rule in ("class_minimum", "well_formed", "load_bearing"):
        for claim, count in product(claims, range(4)):
            yield symbolic_case(("a",) * count, range(count), claim=claim)
        return
    for docs, attached in shapes():
        if rule == "uncontested" or "b" not in docs:
            for label in LABELS if rule != "uncontested" else LABELS[:1]:
                yield symbolic_case(docs, attached, label)


READ_THE_POLICY = (
    "entailed",
    "not_contradicted",
    "well_formed",
    "class_minimum",
    "load_bearing",
    "uncontested",
)


def _loses_nothing(rule: str, function: Any) -> Iterator[z3.BoolRef]:
    """Yield for each arrangement: what passes under p passes under every q that p refines."""
    p, q = _names("p"), _names("q")
    for case in _cases(rule):
        passes = passes_when(function, case, in_bounds("p"))
        asked = q.get(rule, z3.BoolVal(True))  # a strict rule matters only where q has it
        given = z3.And(in_bounds("p"), in_bounds("q"), algebra().refines(p, q), asked, passes)
        yield z3.Implies(given, _of(passes, p=q))


@pytest.mark.parametrize("rule", READ_THE_POLICY)
def test_tightening_turns_no_refusal_into_a_pass(rule: str) -> None:
    """Over all scores and all pairs of policies; the other rules never look at the policy."""
    for theorem in _loses_nothing(rule, RULES[rule]):
        assert counterexample(theorem) is None


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("entailed", "score < tau", "score >= tau"),
        ("not_contradicted", "score.contradicted >= tau", "score.contradicted < tau"),
        ("class_minimum", "len(spans) < needed", "len(spans) != needed"),
        ("uncontested", "tau_contest", "tau_entail"),
    ],
)
def test_a_rule_that_loosens_has_a_counterexample(rule: str, old: str, new: str) -> None:
    """A rule that passes more when the threshold tightens is found."""
    loose = changed(RULES[rule], old, new)
    assert any(counterexample(theorem) for theorem in _loses_nothing(rule, loose))


def test_the_order_of_rules_decides_nothing() -> None:
    """Policies with the same rules in another order give the same badges."""
    policy = good_case().policy
    for order in list(permutations(ALL_RULES))[:: 3628800 // 40]:
        turned = replace(policy, rules=order)
        assert turned.refines(policy)
        assert policy.refines(turned)
        assert is_verified(decide(replace(good_case(), policy=turned), RULES))
