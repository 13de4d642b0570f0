"""Rules over scores, proved for all doubles: each passes exactly when its formula holds.

The functions themselves are run (`symbolic_run`), so code and proof cannot drift apart. Proved
for up to three scored spans in every arrangement; `test_no_pass_of_a_loop_decides_another` is the
induction step to any number: no iteration's decision reads what an earlier one stored.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import z3
from gate_cases import CLAIM
from symbolic_cases import (
    LABELS,
    MOST_SPANS,
    at_least,
    below,
    in_bounds,
    passes_when,
    shapes,
    sound,
    symbolic_case,
)
from symbolic_run import Double, changed, counterexample, explore, fp, holds_when, less, same

from certirag.core.verdict import is_score
from certirag.render import rules
from certirag.render.gate import Case

Rule = Callable[[Case], Any]
NO_NUMBERS = (
    *(None, True, False, "0.9", b"1", Decimal("0.9"), Fraction(9, 10), 0.9 + 0j),
    *((), [], object()),
)
DOCS = [("a",) * count for count in range(MOST_SPANS + 1)]


def _entailed_theorem(rule: Rule) -> Iterator[z3.BoolRef]:
    for docs, attached in shapes():
        if "b" in docs:
            continue  # the rule does not look at documents: not one more path
        for label in LABELS:
            formula = [
                sound("score"),
                at_least("score", "tau_entail.p"),
                z3.BoolVal(label == "entailed" and bool(attached) and len(docs) not in attached),
            ]
            if len(attached) == 1:
                alone = z3.Int(f"entailed.{attached[0]}")
                formula.append(same(alone, z3.Int("score")))
            case = symbolic_case(docs, attached, label)
            yield z3.Implies(
                in_bounds("p"), passes_when(rule, case, in_bounds("p")) == z3.And(formula)
            )


def _not_contradicted_theorem(rule: Rule) -> Iterator[z3.BoolRef]:
    for docs in DOCS:
        for label in LABELS:
            each = [
                z3.And(sound(f"contradicted.{n}"), below(f"contradicted.{n}", "tau_contradict.p"))
                for n in range(len(docs))
            ]
            case = symbolic_case(docs, (), label)
            passes = passes_when(rule, case, in_bounds("p"))
            yield z3.Implies(
                in_bounds("p"), passes == z3.And(*each, z3.BoolVal(label != "contradicted"))
            )


def _load_bearing_theorem(rule: Rule) -> Iterator[z3.BoolRef]:
    passes = passes_when(rule, symbolic_case(("a",), (0,)), in_bounds("p"))
    formula = z3.And(sound("without"), less(z3.Int("without"), fp(0.5)))
    yield z3.Implies(in_bounds("p"), passes == formula)


def _uncontested_theorem(rule: Rule) -> Iterator[z3.BoolRef]:
    for docs, attached in shapes():
        own = {(*docs, "unscored")[place] for place in attached}
        each = [
            z3.And(
                sound(f"contradicted.{n}"),
                z3.BoolVal(doc in own) | below(f"contradicted.{n}", "tau_contest.p"),
            )
            for n, doc in enumerate(docs)
        ]
        passes = passes_when(rule, symbolic_case(docs, attached), in_bounds("p"))
        yield z3.Implies(in_bounds("p"), passes == z3.And(each))


def _sound_measurement_theorem(rule: Rule) -> Iterator[z3.BoolRef]:
    for docs in DOCS[:3]:
        names = [
            f"{kind}.{n}" for kind in ("entailed", "neutral", "contradicted") for n in range(2)
        ]
        each = [sound(name) for name in names if int(name[-1]) < len(docs)]
        for label in LABELS:
            passes = passes_when(rule, symbolic_case(docs, (), label))
            may = z3.BoolVal(bool(docs) and label != "error")
            yield z3.Implies(in_bounds("p"), passes == z3.And(*each, sound("score"), may))


# rule → its theorem, and changes of its code that must each break that theorem
THEOREMS: dict[str, tuple[Callable[[Rule], Iterator[z3.BoolRef]], list[tuple[str, str]]]] = {
    "entailed": (
        _entailed_theorem,
        [
            ("if score < tau", "if score <= tau"),
            ("if score < tau", "if not score >= 0.5"),
            ("!= score", "< score"),
            ("not is_score(score)", "not isinstance(score, float)"),
            ("or None in attached", ""),
            ("case.policy.tau_entail", "case.policy.tau_contradict"),
            ('case.result.label != "entailed"', 'case.result.label == "error"'),
        ],
    ),
    "not_contradicted": (
        _not_contradicted_theorem,
        [
            ("score.contradicted >= tau", "score.contradicted > tau"),
            ("score.contradicted >= tau", "score.entailed >= tau"),
            ("score.contradicted >= tau", "worst < tau"),
            ("not is_score(score.contradicted)", "not isinstance(score.contradicted, float)"),
            ("case.result.all_scores:", "case.result.all_scores[:2]:"),
            ('"contradicted":', '"error":'),
        ],
    ),
    "load_bearing": (
        _load_bearing_theorem,
        [
            ("without >= LEAST_TAU_ENTAIL", "without > LEAST_TAU_ENTAIL"),
            ("not is_score(without)", "without != without"),
        ],
    ),
    "uncontested": (
        _uncontested_theorem,
        [
            ("case.policy.tau_contest", "case.policy.tau_contradict"),
            (">= case.policy", "> case.policy"),
            ("not in own", "in own"),
            ("not is_score(score.contradicted)", "False"),
        ],
    ),
    "sound_measurement": (
        _sound_measurement_theorem,
        [
            ("score.not_enough_info, ", ""),
            ("not all(is_score", "not any(is_score"),
            ("not is_score(result.score)", "False"),
        ],
    ),
}


@pytest.mark.parametrize("name", THEOREMS)
def test_a_rule_passes_exactly_when_its_formula_holds(name: str) -> None:
    """For every double in every place, NaN, infinities and -0 included."""
    theorem, _ = THEOREMS[name]
    assert all(counterexample(one) is None for one in theorem(rules.RULES[name]))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [(name, *change) for name, (_, changes) in THEOREMS.items() for change in changes],
)
def test_a_changed_rule_has_a_counterexample(name: str, old: str, new: str) -> None:
    """Each proof can fail: a rule with one slip is refuted by numbers."""
    theorem, _ = THEOREMS[name]
    slipped = changed(rules.RULES[name], old, new)
    assert any(counterexample(one) is not None for one in theorem(slipped))


def test_a_score_is_sound_exactly_in_its_bounds() -> None:
    """Over all doubles 0 ≤ x ≤ 1; of whole numbers 0 and 1; of other types nothing."""
    number = holds_when(explore(lambda: is_score(Double("x"))), lambda path: path.value is True)
    assert counterexample(number == sound("x")) is None
    for odd in (math.nan, math.inf, -math.inf, math.nextafter(1, 2), -5e-324):
        assert counterexample(z3.Not(z3.substitute(number, (z3.Int("x"), fp(odd))))) is None
    whole = [n for n in (*range(-999, 999), 2**63, -(2**63), 10**400, -(10**400)) if is_score(n)]
    assert whole == [0, 1]
    assert not any(map(is_score, NO_NUMBERS))


@pytest.mark.parametrize("odd", NO_NUMBERS, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("place", ["score", "entailed.0", "neutral.1", "contradicted.2", "without"])
def test_what_is_no_number_is_refused_in_every_place(place: str, odd: object) -> None:
    """Whatever the other scores are, the rules that read this place find no pass."""

    def numbers(name: str) -> object:
        return odd if name == place else Double(name)

    case = symbolic_case(("a", "a", "b"), (0,), numbers=numbers)
    read_by = {
        "score": ("entailed", "sound_measurement"),
        "contradicted.2": ("not_contradicted", "uncontested", "sound_measurement"),
        "without": ("load_bearing",),
    }.get(place, ("sound_measurement",))
    for name in read_by:
        passes = passes_when(rules.RULES[name], case, in_bounds("p"))
        assert counterexample(z3.Implies(in_bounds("p"), z3.Not(passes))) is None


@pytest.mark.parametrize("count", [0, 1, 2, 3])
@pytest.mark.parametrize("risk", ["factual_lit_claim", "comparative_claim"])
def test_a_class_minimum_is_a_number_of_different_sentences(count: int, risk: str) -> None:
    """Over all whole numbers: it passes when as many are attached; a hedge asks for one at most."""
    for hedges in ((), ("may",)):
        claim = replace(CLAIM, risk_class=risk, hedges=hedges)  # type: ignore[arg-type]
        case = symbolic_case(("a",) * count, range(count), claim=claim)
        passes = passes_when(rules.class_minimum, case, in_bounds("p"))
        least = z3.Int(f"{risk}.p")
        if hedges and risk == "comparative_claim":
            least = z3.If(least > 1, z3.IntVal(1), least)
        assert counterexample(z3.Implies(in_bounds("p"), passes == (least <= count))) is None


def test_a_longer_claim_needs_a_higher_cap() -> None:
    """Over all caps: a sound claim of n words is well formed exactly under caps of at least n."""
    passes = passes_when(rules.well_formed, symbolic_case(("a",), (0,)), in_bounds("p"))
    words = len(CLAIM.text.split())
    wanted = z3.Int("max_claim_tokens.p") >= words
    assert counterexample(z3.Implies(in_bounds("p"), passes == wanted)) is None


@pytest.mark.parametrize("name", ["evidence", "numbers", "sound_measurement", "isolated"])
def test_the_other_rules_do_not_look_at_the_policy(name: str) -> None:
    """So no policy can change their answer: the word does not occur in them."""
    names = {name, "_span", "_attached", "_all_spans", "_adjacent", "_place", "_count"}
    for node in ast.parse(inspect.getsource(rules)).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            attributes = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            assert "policy" not in attributes


@pytest.mark.parametrize("name", ["not_contradicted", "sound_measurement", "uncontested"])
def test_no_pass_of_a_loop_decides_another(name: str) -> None:
    """The induction step: a decision inside a loop reads nothing that an earlier round stored.

    So each round refuses or goes on by its own span alone, and the loop passes n + 1 spans exactly
    when it passes n of them and the last by itself.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(rules.RULES[name])))
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    assert loops
    for loop in loops:
        assert not loop.orelse
        assert not any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(loop))
        inner = [n.target for n in ast.walk(loop) if isinstance(n, ast.comprehension)]
        fresh = {target.id for target in (loop.target, *inner)}  # type: ignore[attr-defined]
        stored = {
            n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for statement in loop.body:
            if isinstance(statement, ast.If):
                read = {n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)}
                assert not read & (stored - fresh)
            elif isinstance(statement, ast.Assign):
                used = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
                if not used & (stored - fresh):
                    fresh |= {target.id for target in statement.targets}  # type: ignore[attr-defined]
            else:
                raise AssertionError(f"a loop of {name} holds more than decisions")
