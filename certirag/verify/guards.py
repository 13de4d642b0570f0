"""Hard checks beside the network: they lower a score, with a reason, and never raise one.

A network of this size lets a changed figure pass now and then. A check that reads figures does
not. Each kind of finding is a veto of its own; which kinds are is measured, see the model card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.ports import Pair
from certirag.verify.lexical.scoring import REARRANGED, Scores

CEILING: Final = 0.45  # what a veto leaves of support: below every threshold a policy may set
VETOES: Final = frozenset()


@dataclass(frozen=True, slots=True)
class Guarded:
    """The scores after the checks, and the first *reason* against the claim, or ""."""

    entailed: float
    contradicted: float
    reason: str = ""


def guarded(
    pair: Pair, entailed: float, contradicted: float, words: Scores, unread: Sequence[str]
) -> Guarded:
    """Return *entailed* and *contradicted* as the checks leave them."""
    return Guarded(entailed, contradicted)
