"""Runs the project's own functions on symbolic numbers, path by path, for the proofs beside it.

A `Double` is a float and a `Whole` an int whose comparisons do not answer: they ask the explorer,
which takes first the one answer and in a later run the other, whenever z3 finds both possible
under what was assumed before. So a function is run as it stands, once for each path, and what
comes out is exact: the condition of each path over *all* doubles (NaN, infinities and -0 too)
with the value returned. Whatever such a number cannot follow (arithmetic, hashing) raises, so
nothing is silently computed from a stand-in value.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import struct
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import z3

# The order of all doubles is that of their bits read as sign and magnitude: infinity has this key,
# both zeros 0, the next double the next integer. Every other integer stands for NaN, which no
# comparison holds of. `test_doubles_proved` proves this against z3's own IEEE 754 theory.
INFINITY_KEY: Final = 0x7FF0_0000_0000_0000
_RUNS: Final[list[_Run]] = []


class UntrackedError(Exception):
    """A symbolic number was used in a way that the explorer does not follow."""


@dataclass
class _Run:
    """One path: the answers to repeat, those taken, and the paths that are left to try."""

    prefix: tuple[bool, ...]
    solver: z3.Solver
    taken: list[bool] = field(default_factory=list)
    conditions: list[z3.BoolRef] = field(default_factory=list)
    untried: list[tuple[bool, ...]] = field(default_factory=list)

    def answer(self, condition: z3.BoolRef) -> bool:
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return z3.is_true(condition)
        if len(self.taken) < len(self.prefix):
            choice = self.prefix[len(self.taken)]
        else:
            choice = self._possible(condition)
            if choice and self._possible(z3.Not(condition)):
                self.untried.append((*self.taken, False))
        self.taken.append(choice)
        self.conditions.append(condition if choice else z3.Not(condition))
        self.solver.add(self.conditions[-1])
        return choice

    def _possible(self, condition: z3.BoolRef) -> bool:
        found = self.solver.check(condition)
        if found == z3.unknown:
            raise UntrackedError(self.solver.reason_unknown())
        return bool(found == z3.sat)


class Truth:
    """A symbolic yes or no; asking for its truth is where a path splits."""

    def __init__(self, term: z3.BoolRef) -> None:
        self.term = term

    def __bool__(self) -> bool:
        if not _RUNS:
            raise UntrackedError("a symbolic answer was asked for outside explore()")
        return _RUNS[-1].answer(self.term)


def _refuse(*_: object) -> NoReturn:
    raise UntrackedError("only comparisons of symbolic numbers are followed")


class Double(float):  # noqa: PLW1641  # hashing is refused below
    """Any IEEE 754 double, by its key. Its own float value is NaN, so no C code can mistake it."""

    term: z3.ArithRef

    def __new__(cls, term: z3.ArithRef | str) -> Double:
        made = float.__new__(cls, math.nan)
        made.term = z3.Int(term) if isinstance(term, str) else term
        return made

    def __lt__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(less(self.term, fp(other)))

    def __le__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(at_most(self.term, fp(other)))

    def __gt__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(less(fp(other), self.term))

    def __ge__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(at_most(fp(other), self.term))

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(same(self.term, fp(other)))

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(z3.Not(same(self.term, fp(other))))

    def __bool__(self) -> bool:
        return bool(Truth(z3.Not(same(self.term, z3.IntVal(0)))))  # NaN is true

    def __format__(self, _spec: str) -> str:
        return "?"


class Whole(int):  # noqa: PLW1641  # the same
    """Any integer, without bound; it must not meet a float, which would read its stand-in value."""

    term: z3.ArithRef

    def __new__(cls, term: z3.ArithRef | str) -> Whole:
        made = int.__new__(cls, -(2**62))
        made.term = z3.Int(term) if isinstance(term, str) else term
        return made

    def __lt__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term < whole(other))

    def __le__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term <= whole(other))

    def __gt__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term > whole(other))

    def __ge__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term >= whole(other))

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term == whole(other))

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term != whole(other))

    def __bool__(self) -> bool:
        return bool(Truth(self.term != 0))

    def __format__(self, _spec: str) -> str:
        return "?"


for _name in (
    *("hash", "float", "int", "index", "round", "trunc", "floor", "ceil", "neg", "pos", "abs"),
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv"),
    *("rfloordiv", "mod", "rmod", "pow", "rpow", "divmod", "rdivmod"),
):
    setattr(Double, f"__{_name}__", _refuse)
    setattr(Whole, f"__{_name}__", _refuse)


def key(value: float) -> int:
    """Return the place of *value* in the order of doubles; one beyond infinity's for NaN."""
    bits = int.from_bytes(struct.pack(">d", value), "big")
    magnitude = bits & (2**63 - 1)
    if magnitude > INFINITY_KEY:
        return INFINITY_KEY + 1
    return -magnitude if bits >> 63 else magnitude


def is_number(term: z3.ArithRef) -> z3.BoolRef:
    """Return the formula that *term* is the key of a number, not of NaN."""
    return z3.And(term >= -INFINITY_KEY, term <= INFINITY_KEY)


def at_most(one: z3.ArithRef, other: z3.ArithRef) -> z3.BoolRef:
    """Return the formula *one* ≤ *other* over doubles."""
    return z3.And(is_number(one), is_number(other), one <= other)


def less(one: z3.ArithRef, other: z3.ArithRef) -> z3.BoolRef:
    """Return the formula *one* < *other* over doubles."""
    return z3.And(is_number(one), is_number(other), one < other)


def same(one: z3.ArithRef, other: z3.ArithRef) -> z3.BoolRef:
    """Return the formula *one* == *other* over doubles: NaN equals nothing, -0 equals 0."""
    return z3.And(is_number(one), is_number(other), one == other)


def fp(value: object) -> z3.ArithRef:
    """Return the key of *value*; a concrete number must be a double exactly."""
    if isinstance(value, Double):
        return value.term
    if isinstance(value, Whole) or not isinstance(value, int | float):
        raise UntrackedError(f"a double compared with {type(value).__name__}")
    if isinstance(value, int) and float(value) != value:
        raise UntrackedError(f"{value} is no double")
    return z3.IntVal(key(float(value)))


def whole(value: object) -> z3.ArithRef:
    """Return *value* as a z3 integer; a concrete number must be whole."""
    if isinstance(value, Whole):
        return value.term
    if isinstance(value, Double) or not isinstance(value, int | float) or int(value) != value:
        raise UntrackedError(f"an integer compared with {value!r}")
    return z3.IntVal(int(value))


@dataclass(frozen=True)
class Path:
    """What a function did under *condition*: it returned *value*, or raised *error*."""

    condition: z3.BoolRef
    value: Any
    error: Exception | None = None


def explore(program: Callable[[], object], assuming: z3.BoolRef | None = None) -> list[Path]:
    """Return every path of *program* that some numbers under *assuming* take.

    Raises UntrackedError when the numbers were used beyond comparisons, and AssertionError
    unless the paths' conditions together cover everything that was assumed.
    """
    given = z3.BoolVal(True) if assuming is None else assuming
    pending, paths = [()], []
    while pending:
        solver = z3.SolverFor("QF_LIA")
        solver.add(given)
        run = _Run(pending.pop(), solver)
        _RUNS.append(run)
        value, error = None, None
        try:
            value = program()
            if isinstance(value, Truth):
                value = bool(value)
        except UntrackedError:
            raise
        except Exception as raised:  # noqa: BLE001  # an outcome like another
            error = raised
        finally:
            _RUNS.pop()
        paths.append(Path(z3.And(run.conditions), value, error))
        pending += run.untried
    every = z3.Or([path.condition for path in paths])
    assert counterexample(z3.Implies(given, every)) is None, "a path was missed"
    return paths


def holds_when(paths: list[Path], wanted: Callable[[Path], bool]) -> z3.BoolRef:
    """Return the condition under which the explored function has the *wanted* outcome."""
    return z3.Or([path.condition for path in paths if wanted(path)])


def counterexample(theorem: z3.BoolRef) -> z3.ModelRef | None:
    """Return numbers for which *theorem* is false, or None: then it is proved."""
    solver = z3.SolverFor("QF_LIA")
    solver.add(z3.Not(theorem))
    found = solver.check()
    if found == z3.unknown:
        raise UntrackedError(solver.reason_unknown())
    return solver.model() if found == z3.sat else None


def changed(function: Any, old: str, new: str) -> Any:
    """Return *function* compiled from its own source with *old* replaced by *new*, once."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} is not once in {function.__name__}"
    names = {**inspect.getmodule(function).__dict__, "max": symbolic_max, "min": symbolic_min}
    exec(compile(source.replace(old, new), "<changed>", "exec"), names)  # noqa: S102  # our source
    return names[function.__name__]


# What the functions call of the language itself, for symbolic numbers as for others.
class SymbolicMath:
    """`math` for the functions under proof."""

    @staticmethod
    def isfinite(value: float) -> object:
        """Ask whether *value* is neither infinite nor NaN."""
        if isinstance(value, Double):
            return Truth(z3.And(value.term > -INFINITY_KEY, value.term < INFINITY_KEY))
        return math.isfinite(value)


def symbolic_type(value: object) -> type:
    """Return `type(value)`, where a symbolic number is a number."""
    real: Mapping[type, type] = {Double: float, Whole: int}
    return real.get(builtins.type(value), builtins.type(value))


def symbolic_max(*values: Any) -> Any:
    """Return `max(*values)` without splitting the path: a later one only if it is greater."""
    listed = values if len(values) > 1 else tuple(values[0])
    return functools.reduce(lambda a, b: _either(a, b, lambda x, y: y > x), listed)


def symbolic_min(*values: Any) -> Any:
    """Return `min(*values)` without splitting the path: a later one only if it is less."""
    listed = values if len(values) > 1 else tuple(values[0])
    return functools.reduce(lambda a, b: _either(a, b, lambda x, y: y < x), listed)


def _either(one: Any, other: Any, takes_other: Callable[[Any, Any], Any]) -> Any:
    """Return *other* where it is to be taken, else *one*, as one term."""
    chosen = takes_other(one, other)
    if not isinstance(chosen, Truth):
        return other if chosen else one
    if isinstance(one, Double) or isinstance(other, Double):
        return Double(z3.If(chosen.term, fp(other), fp(one)))
    return Whole(z3.If(chosen.term, whole(other), whole(one)))


def outcomes(paths: list[Path]) -> Iterator[tuple[z3.BoolRef, Any]]:
    """Yield condition and value of each path; raise what a path raised."""
    for path in paths:
        if path.error is not None:
            raise path.error
        yield path.condition, path.value
