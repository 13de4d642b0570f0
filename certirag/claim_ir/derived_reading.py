"""One way to reckon a figure: the operation, its operands and its exact outcome."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from certirag.claim_ir.derived_arithmetic import Outcome
from certirag.claim_ir.derived_operands import Figure
from certirag.claim_ir.units import base_unit
from certirag.core.claim import Quantity
from certirag.core.derivation import Operation


@dataclass(frozen=True, slots=True)
class Reckoned:
    """*figures* in the order of the ledger; of two, the compared one before its base.

    *periods* are dates that the operands make up together ("2024" for its four quarters).
    """

    operation: Operation
    figures: tuple[Figure, ...]
    outcome: Outcome
    rising: bool = True
    periods: tuple[str, ...] = ()


def in_unit_of(figure: Quantity, value: Fraction) -> Fraction:
    """Return *value*, in the base unit, in the unit of *figure*."""
    return value / base_unit(figure.unit.partition("/")[0])[1]


def is_share(figure: Quantity) -> bool:
    """Say whether *figure* can be a share: a percentage, or a fraction below one."""
    if figure.kind == "percent":
        return figure.unit == "%"
    below = figure.kind == "number" and not figure.unit
    try:
        return below and 0 < Fraction(figure.value) < 1
    except (ValueError, ZeroDivisionError):
        return False
