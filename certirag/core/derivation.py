"""A figure that no source states, recomputed from figures that sources do state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Operation = Literal["sum", "difference", "ratio", "share", "growth", "average", "conversion"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A figure of the evidence: *text* is verbatim, *sentence* the number of its sentence from 1.

    *value* is an exact decimal, or "numerator/denominator", in the canonical *unit*.
    """

    text: str
    value: str
    unit: str
    sentence: int


@dataclass(frozen=True, slots=True)
class Derivation:
    """How *figure*, verbatim from the claim, follows from the *operands*.

    *result* is the exact value in *unit* before any rounding; *ledger* is the sum on one line
    ("44.8 % − 42.1 % = 2.7 pp"), with "≈" where the claim states fewer digits than the result
    has. *periods* are the dates of the operands, which the claim may name.
    """

    operation: Operation
    figure: str
    operands: tuple[Operand, ...]
    result: str
    unit: str
    ledger: str
    periods: tuple[str, ...] = ()
