"""What verification at each depth took, and what it left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from certirag.core.verdict import Routing, VerificationResult

DEPTHS: Final[tuple[Routing, ...]] = ("HIGH", "MEDIUM", "LOW")


@dataclass(frozen=True, slots=True)
class DepthWork:
    """What was asked at one depth: *claims*, verifier *pairs* and *questions*.

    *spared* are the pairs that the closest look would have asked besides.
    """

    depth: Routing
    claims: int
    pairs: int
    spared: int
    questions: int


@dataclass(frozen=True, slots=True)
class DepthReport:
    """The work by depth, and the ids of claims routed HIGH that needed a closer look after all."""

    works: tuple[DepthWork, ...]
    escalated: tuple[str, ...]

    @property
    def pairs(self) -> int:
        """Pairs that the verifier was asked."""
        return sum(work.pairs for work in self.works)

    @property
    def saved(self) -> float:
        """The share in [0, 1] of the closest look's pairs that was not asked."""
        spared = sum(work.spared for work in self.works)
        return round(spared / max(1, self.pairs + spared), 6)


@dataclass(frozen=True, slots=True)
class DepthResults:
    """One result per claim, in order, and what they took."""

    results: tuple[VerificationResult, ...]
    report: DepthReport
