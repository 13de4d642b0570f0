"""The lexical verifier: aligned words and hard checks, no trained part (Verifier port)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from certirag.core.models import ModelIdentity
from certirag.core.verdict import Label
from certirag.ports import Embedder, Judgement, Pair
from certirag.verification.lexical.scoring import Scores, score

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME: Final = "lexical"
VERSION: Final = "1"
_PACKAGES: Final = (
    "certirag.verification.lexical",
    "certirag.claims",
    "certirag.quantities",
    "certirag.text",
)
MAX_CLAIM: Final = 4_000  # characters; a longer claim is no atomic statement
MAX_EVIDENCE: Final = 2_000_000  # characters of one pair
_LONGEST_NOTE: Final = 120
_MOST_WORDS: Final = 50_000  # word vectors kept at a time


class LexicalVerifier:
    """Scores pairs by aligned words and hard checks; *embedder* may vouch for single words.

    A pair's scores depend on that pair alone, whatever else is asked in the same call. Text
    beyond the limits is not cut: such a pair gets the label ``error`` with *truncated* set.
    Without an embedder, words count as the same by form and by the word lists only.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}
        digest = _source_digest()
        if embedder is not None:
            digest = hashlib.sha256(f"{digest}{embedder.identity.sha256}".encode()).hexdigest()
        self._identity = ModelIdentity("verifier", NAME, VERSION, digest)

    @property
    def identity(self) -> ModelIdentity:
        """Name, version and the digest of source, word lists and embedder."""
        return self._identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order."""
        if len(self._vectors) > _MOST_WORDS:
            self._vectors.clear()
        return tuple(self._judge(pair) for pair in pairs)

    def _judge(self, pair: Pair) -> Judgement:
        if len(pair.claim) > MAX_CLAIM or len(pair.evidence) + len(pair.context) > MAX_EVIDENCE:
            reason = (
                f"a pair may hold {MAX_CLAIM} characters of claim and {MAX_EVIDENCE} of evidence; "
                f"this one has {len(pair.claim)} and {len(pair.evidence) + len(pair.context)}"
            )
            return Judgement("error", 0.0, 1.0, 0.0, truncated=True, error=reason)
        return _judgement(score(pair.claim, pair.evidence, pair.context, self._similar))

    def _similar(self, left: str, right: str) -> float:
        """Cosine of two single words, 0.0 without an embedder."""
        if self._embedder is None or len(left) < 4 or len(right) < 4:
            return 0.0
        return float(self._vector(left) @ self._vector(right))

    def _vector(self, word: str) -> NDArray[np.float32]:
        """The unit vector of one word, asked for alone so that no other text sways it."""
        found = self._vectors.get(word)
        if found is None and self._embedder is not None:
            found = self._vectors[word] = self._embedder.embed([word])[0]
        if found is None:
            raise KeyError(word)
        return found


def _judgement(scores: Scores) -> Judgement:
    """Round to six places so that the three numbers sum to one exactly as written."""
    entailed = round(scores.entailed, 6)
    contradicted = round(min(scores.contradicted, 1.0 - entailed), 6)
    rest = round(max(0.0, 1.0 - entailed - contradicted), 6)
    label: Label = "not_enough_info"
    if entailed >= max(rest, contradicted):
        label = "entailed"
    elif contradicted >= rest:
        label = "contradicted"
    return Judgement(label, entailed, rest, contradicted, note=_note(scores))


def _note(scores: Scores) -> str:
    """What speaks against the claim, in one short line."""
    detail = scores.findings[0].detail.rstrip(" .") if scores.findings else ""
    return detail if len(detail) <= _LONGEST_NOTE else f"{detail[:_LONGEST_NOTE]}…"


@lru_cache(maxsize=1)
def _source_digest() -> str:
    """SHA-256 over this file and the modules that compare, word lists among them."""
    parts = []
    for package in _PACKAGES:
        files = (entry for entry in resources.files(package).iterdir())
        for entry in sorted(files, key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                content = hashlib.sha256(entry.read_bytes()).hexdigest()
                parts.append(f"{package}/{entry.name}:{content}")
    own = resources.files(__package__).joinpath("lexical_verifier.py").read_bytes()
    parts.append(f"adapter:{hashlib.sha256(own).hexdigest()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
