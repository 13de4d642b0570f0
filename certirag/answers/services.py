"""What an answer needs from outside, built once by `bootstrap`, and what it is when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from certirag.core.generation import ModelIdentity, PromptText, Strategy
from certirag.core.policy import Policy
from certirag.ports import (
    AuditLog,
    Embedder,
    LanguageModel,
    Reader,
    Reranker,
    SentenceSplitter,
    Verifier,
)
from certirag.settings import Settings

# Opened around each stage by its name, for whoever measures: it is told nothing else, and nothing
# of it reaches a certificate.
Stage = Callable[[str], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class AnswerWriter:
    """A language model that writes drafts, by which strategy, with its prompts by name."""

    model: LanguageModel
    strategy: Strategy
    prompts: Mapping[str, PromptText]


@dataclass(frozen=True, slots=True)
class Instruments:
    """What a draft is written and claims are measured with: no key, no policy, no log."""

    settings: Settings
    embedder: Embedder
    reranker: Reranker
    reader: Reader
    verifier: Verifier
    split: SentenceSplitter
    stage: Stage


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that an answer needs from outside; without a *writer* answers are extractive."""

    settings: Settings
    policy: Policy
    embedder: Embedder
    reranker: Reranker
    reader: Reader
    verifier: Verifier
    split: SentenceSplitter
    audit_log: AuditLog
    key: Ed25519PrivateKey
    trusted: Mapping[str, Ed25519PublicKey]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    stage: Stage = lambda _name: nullcontext()
    writer: AnswerWriter | None = None

    @property
    def instruments(self) -> Instruments:
        """What drafting and measuring may know of these services."""
        return Instruments(
            settings=self.settings,
            embedder=self.embedder,
            reranker=self.reranker,
            reader=self.reader,
            verifier=self.verifier,
            split=self.split,
            stage=self.stage,
        )

    @property
    def models(self) -> tuple[ModelIdentity, ...]:
        """The models in use, as certificates name them."""
        parts = (self.embedder, self.reranker, self.reader, self.verifier)
        own = tuple(part.identity for part in parts)
        return own if self.writer is None else (*own, self.writer.model.identity)


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    """One answer as it may be kept, sent or shown: the signed export's bytes.

    *complete* is False for a part of an answer of which more may come.
    """

    trace_id: str
    export: bytes
    complete: bool = True
