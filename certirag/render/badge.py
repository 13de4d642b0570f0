"""Decision → badge: the icon, word and colour of a state exist here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from certirag.render.gate import RenderState, is_verified, state_of

BadgeKind = Literal["verified", "unverified", "contradicted"]


@dataclass(frozen=True, slots=True)
class Badge:
    """A badge as drawn: never colour alone, always icon and word too (WCAG 1.4.1)."""

    kind: BadgeKind
    icon: str
    word: str

    @property
    def label(self) -> str:
        """Icon and word, for a button or a line of text."""
        return f"{self.icon} {self.word}"


_VERIFIED: Final = Badge("verified", "✅", "Verified")
_UNVERIFIED: Final = Badge("unverified", "⚠️", "Unverified")
_CONTRADICTED: Final = Badge("contradicted", "❌", "Contradicted")


def badge_of(decision: object) -> Badge:
    """Return the badge of a genuine decision; whatever else comes in is Unverified."""
    if is_verified(decision):
        return _VERIFIED
    return _CONTRADICTED if state_of(decision) is RenderState.BLOCKED else _UNVERIFIED
