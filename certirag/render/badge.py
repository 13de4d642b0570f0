"""Decision → badge: the icon, word and colour of a state exist here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from certirag.render.gate import RenderState, is_verified, state_of

BadgeKind = Literal["verified", "unverified", "contradicted"]
# Language → the word of each state, beside English. No catalogue has one of these words.
_WORDS: Final[Mapping[str, Mapping[BadgeKind, str]]] = {
    "de": {"verified": "Belegt", "unverified": "Unbelegt", "contradicted": "Widersprochen"},
}


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

    def word_in(self, language: str) -> str:
        """Return the word in *language*, the English one where it has none."""
        return _WORDS.get(language, {}).get(self.kind, self.word)

    def label_in(self, language: str) -> str:
        """Return icon and word in *language*."""
        return f"{self.icon} {self.word_in(language)}"


_VERIFIED: Final = Badge("verified", "✅", "Verified")
_UNVERIFIED: Final = Badge("unverified", "⚠️", "Unverified")
_CONTRADICTED: Final = Badge("contradicted", "❌", "Contradicted")


def badge_of(decision: object) -> Badge:
    """Return the badge of a genuine decision; whatever else comes in is Unverified."""
    if is_verified(decision):
        return _VERIFIED
    return _CONTRADICTED if state_of(decision) is RenderState.BLOCKED else _UNVERIFIED
