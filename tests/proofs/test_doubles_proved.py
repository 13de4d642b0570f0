"""The keys that the proofs use for doubles are the order of IEEE 754: proved, and tried on floats."""

from __future__ import annotations

import math

import z3
from hypothesis import given
from hypothesis import strategies as st
from symbolic_run import INFINITY_KEY, at_most, fp, key, less, same

_ODD = (0.0, -0.0, 5e-324, -5e-324, 1.0, math.nextafter(1, 2), math.inf, -math.inf, math.nan)


def _key_of_bits(bits: z3.BitVecRef) -> z3.BitVecRef:
    magnitude = bits & z3.BitVecVal(2**63 - 1, 64)
    signed = z3.If(bits < 0, -magnitude, magnitude)
    return z3.If(magnitude > INFINITY_KEY, z3.BitVecVal(INFINITY_KEY + 1, 64), signed)


def test_keys_compare_as_doubles_do() -> None:
    """For all pairs of 64 bits, against z3's theory of floating point: ≤, < and =, NaN included."""
    x, y = z3.BitVecs("x y", 64)
    one, other = (z3.fpBVToFP(bits, z3.Float64()) for bits in (x, y))
    a, b = _key_of_bits(x), _key_of_bits(y)
    numbers = z3.And([k >= -INFINITY_KEY for k in (a, b)] + [k <= INFINITY_KEY for k in (a, b)])
    for of_keys, of_doubles in (
        (z3.And(numbers, a <= b), z3.fpLEQ(one, other)),
        (z3.And(numbers, a < b), z3.fpLT(one, other)),
        (z3.And(numbers, a == b), z3.fpEQ(one, other)),
    ):
        solver = z3.SolverFor("QF_FPBV")
        solver.add(of_keys != of_doubles)
        assert solver.check() == z3.unsat
    slipped = z3.SolverFor("QF_FPBV")
    slipped.add((a <= b) != z3.fpLEQ(one, other))  # NaN has a key too, so this is wrong
    assert slipped.check() == z3.sat


def test_every_key_is_a_double() -> None:
    """So a proof over all keys is over doubles, and a counterexample is a real one."""
    k = z3.BitVec("k", 64)
    bits = z3.If(k < 0, z3.BitVecVal(2**63, 64) | -k, k)
    solver = z3.SolverFor("QF_FPBV")
    solver.add(k >= -INFINITY_KEY, k <= INFINITY_KEY, _key_of_bits(bits) != k)
    assert solver.check() == z3.unsat


@given(st.floats() | st.sampled_from(_ODD), st.floats() | st.sampled_from(_ODD))
def test_python_compares_as_the_keys_do(one: float, other: float) -> None:
    """The formulas, read with concrete numbers, give what Python's own comparisons give."""
    for formula, plain in (
        (at_most(fp(one), fp(other)), one <= other),
        (less(fp(one), fp(other)), one < other),
        (same(fp(one), fp(other)), one == other),
    ):
        assert z3.is_true(z3.simplify(formula)) is plain
    assert (abs(key(one)) <= INFINITY_KEY) is not math.isnan(one)
