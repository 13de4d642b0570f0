"""The name and digest of a model, as every certificate records it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model did a job: *role* is ``embedder``, ``reranker``, ``reader``, ``verifier`` or ``generator``."""

    role: str
    name: str
    version: str
    sha256: str
