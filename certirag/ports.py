"""The Protocols between the core and the world: one suite of contract tests for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from certirag.core.models import ModelIdentity
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import Label

if TYPE_CHECKING:  # numpy is a type here, not an import
    import numpy as np
    from numpy.typing import NDArray

# Splits a text into sentences: (start, end) code-point offsets in order, without overlap, each
# cut to non-blank text. Headings, bullets and table rows are passed in one block at a time.
SentenceSplitter = Callable[[str], Sequence[tuple[int, int]]]
# Reports progress: a plain line for a person, units done, units in all (0: unknown).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """All that a verifier may see: a claim and evidence text.

    *context* is the document's own title and headings over the evidence, or "".
    """

    claim: str
    evidence: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verifier's scores for one pair; three numbers in [0, 1] that sum to one.

    *truncated* says that not all of the pair was read: such a judgement supports nothing.
    *note* may say in plain words what speaks against the claim; nothing is decided by it.
    """

    label: Label
    entailed: float
    not_enough_info: float
    contradicted: float
    truncated: bool = False
    error: str = ""
    note: str = ""


class Verifier(Protocol):
    """Scores pairs. It never thresholds and never sees question, draft or other claims."""

    @property
    def identity(self) -> ModelIdentity: ...

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order; raise VerifierError when it cannot answer."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors; nothing of a long text is dropped."""

    @property
    def identity(self) -> ModelIdentity: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension) of unit rows."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        """Return per text an array (tokens, dimension) of unit rows, special tokens removed."""
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk found by one search, with its score in that search's own unit."""

    chunk_id: str
    score: float


class Index(Protocol):
    """Read access to an ingested corpus; equal queries give equal answers, ties by chunk_id."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the corpus: its chunks, vectors and embedder."""
        ...

    def chunks(self) -> Sequence[EvidenceChunk]: ...

    def chunk(self, chunk_id: str) -> EvidenceChunk: ...

    def search_terms(self, query: str, *, limit: int) -> Sequence[Hit]:
        """Best *limit* chunks by Okapi BM25; chunks that share no term are left out."""
        ...

    def search_vector(self, vector: NDArray[np.float32], *, limit: int) -> Sequence[Hit]:
        """Best *limit* chunks by cosine with the unit *vector* of shape (dimension,)."""
        ...


class Reranker(Protocol):
    """Scores how well texts answer a query; larger is better, the unit is its own."""

    @property
    def identity(self) -> ModelIdentity: ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a language model: our instructions, and what they are about.

    *schema* is the JSON Schema that the answer must satisfy, strictly, under *schema_name*; None
    asks for plain text. *max_tokens* bounds the answer.
    """

    instructions: str
    content: str
    schema_name: str = ""
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024


class LanguageModel(Protocol):
    """Writes text; whatever it writes is a draft, and nothing of it is believed."""

    @property
    def identity(self) -> ModelIdentity: ...

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer piece by piece, as it is written.

        LanguageModelError, at once or half-way, when there is none: what was yielded before it is
        an answer that was cut off. An iterator that ends without an error was a whole answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of the audit log: *certificate* is the export's bytes, exactly as signed."""

    sequence: int
    trace_id: str
    created_at: str
    certificate: bytes


class AuditLog(Protocol):
    """Append-only; AuditError from `append` means that no answer may be shown."""

    def append(self, *, trace_id: str, created_at: str, certificate: bytes) -> int:
        """Write durably, then return the entry's sequence number (from 1)."""
        ...

    def entries(self) -> Iterator[LogEntry]: ...

    def find(self, trace_id: str) -> LogEntry:
        """Return the entry of *trace_id*; AuditError when there is none."""
        ...
