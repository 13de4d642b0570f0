"""What an edit of a claim is, and what has to be known of the evidence to make one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from certirag.core.probe import PlantKind


@dataclass(frozen=True, slots=True)
class Edit:
    """``text[start:end]`` replaced by *becomes*; offsets are code points."""

    kind: PlantKind
    start: int
    end: int
    becomes: str

    def applied(self, text: str) -> str:
        """Return *text* with the edit made."""
        return text[: self.start] + self.becomes + text[self.end :]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The evidence around one claim.

    *attached* are the sentences that it stands on, *compared* all sentences it was compared with
    and the headings over them, *retrieved* the readable sentences of all that was retrieved.
    """

    attached: tuple[str, ...]
    compared: tuple[str, ...]
    retrieved: tuple[str, ...]


def plain(text: str) -> str:
    """Return *text* in lower case with single blanks and plain apostrophes."""
    return " ".join(text.casefold().replace("’", "'").split())


def says(texts: tuple[str, ...], words: str) -> bool:
    """Say whether *words* stand in any of *texts*, whatever their case, not inside others."""
    wanted = plain(words)
    whole = _joined(texts)
    if wanted not in whole:
        return False
    return re.search(rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])", whole) is not None


@lru_cache(maxsize=8)
def _joined(texts: tuple[str, ...]) -> str:
    return "\n".join(map(plain, texts))
