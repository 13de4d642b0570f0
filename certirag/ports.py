"""The Protocols between the core and the world: one suite of contract tests for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # types of signatures only: a process that reads files needs no records
    import numpy as np
    from numpy.typing import NDArray

    from certirag.core.generation import ModelIdentity
    from certirag.core.text import EvidenceChunk
    from certirag.core.verdict import Label
    from certirag.proof.facets import (
        AnswerFacets,
        AnswerPage,
        AnswerQuery,
        CitedDocument,
        Grouping,
        TrendRow,
    )
    from certirag.proof.log import EntryKind, LogProof

# Splits a text into sentences: (start, end) code-point offsets in order, without overlap, each
# cut to non-blank text. Headings, bullets and table rows are passed in one block at a time.
SentenceSplitter = Callable[[str], Sequence[tuple[int, int]]]
# Reports progress: a plain line for a person, units done, units in all (0: unknown).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """All that a verifier may see: a claim and evidence text.

    *context* is the document's own title and headings over the evidence, or "". *window* is the
    passage that the evidence stands in, the evidence included, or "" where there is no more of it:
    what stands around a sentence may take it back, or say of whom it speaks.
    """

    claim: str
    evidence: str
    context: str = ""
    window: str = ""


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

    @property
    def foreign(self) -> bool:
        """Whether it was made elsewhere, or changed since: no trusted key signed it."""
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


class Reader(Protocol):
    """Says how surely statements answer a question."""

    @property
    def identity(self) -> ModelIdentity: ...

    def relevance(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return for each (headings, statement) the probability in [0, 1] that it answers."""
        ...

    def order(self, question: str, statements: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return for each (headings, statement) a score to order by, larger first, in log-odds.

        Which one of several answers best is another question than whether one answers at all.
        """
        ...

    def instructs(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return for each text whether it tells a language model what to do."""
        ...

    def parts(self, question: str) -> Sequence[str]:
        """Return the two questions that *question* asks, word for word, or itself alone."""
        ...


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
class NewEntry:
    """What is to be logged. *content* is what may be erased later (b"": nothing).

    *signature* is (keyid, 64 bytes) of the envelope that *content* is the payload of, for
    answers; *facets* are there for answers too. *at* is the time in UTC. *detail* becomes the
    leaf's: no text of a user or a document may be in it.
    """

    kind: EntryKind
    trace_id: str
    at: datetime
    content: bytes = b""
    signature: tuple[str, bytes] | None = None
    facets: AnswerFacets | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry as it is kept: *leaf* is its exact text, *content* None once erased (or never had).

    *salt* goes with the content, *signature* is (keyid, 64 bytes) of an answer's envelope.
    """

    leaf: str
    salt: bytes | None = None
    content: bytes | None = None
    signature: tuple[str, bytes] | None = None


class AuditLog(Protocol):
    """Append-only; AuditError from any writing method means that nothing may be shown for it.

    Entries are numbered from 0; entry 0 is the ``genesis`` that names the log. Every append signs
    a new checkpoint in the same transaction, so no entry is ever beyond the newest one.
    """

    @property
    def origin(self) -> str:
        """The log's name, as in its checkpoints."""
        ...

    def append(self, entry: NewEntry) -> LogProof:
        """Write durably, then return the proof that the entry is in the log."""
        ...

    def append_all(self, entries: Sequence[NewEntry]) -> Sequence[LogProof]:
        """Write *entries* in order in one transaction: all of them or none."""
        ...

    def size(self) -> int:
        """Return the number of entries."""
        ...

    def checkpoint(self) -> str:
        """Return the newest signed checkpoint."""
        ...

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[LogEntry]:
        """Yield the entries from *start* on, in order, before *stop*; nothing is verified."""
        ...

    def leaves(self, start: int = 0, stop: int | None = None) -> Iterator[str]:
        """Yield the leaves' texts alone, as `entries` does: far less to read than the contents."""
        ...

    def leaves_of(self, kind: EntryKind, trace_id: str = "") -> Sequence[str]:
        """Return the leaves' texts of one *kind*, of one trace where it is named, in order."""
        ...

    def find(self, trace_id: str) -> LogEntry:
        """Return the answer of *trace_id*; AuditError when there is none."""
        ...

    def proof(self, index: int) -> LogProof:
        """Return the proof of entry *index* in the newest tree; salt "" once it is erased."""
        ...

    def consistency(self, first: int, second: int) -> Sequence[bytes]:
        """Return the proof that the tree of *second* entries extends that of *first*."""
        ...

    def erase(self, act: NewEntry, targets: Sequence[int]) -> LogProof:
        """Append *act*, then delete contents, salts and facets of *targets*, in one transaction.

        Raises AuditError when a target is under a hold; nothing has happened then.
        """
        ...

    def held(self) -> Mapping[int, tuple[str, ...]]:
        """Return the entries that may not be erased, with the names of their holds."""
        ...

    def missing_guards(self) -> Sequence[str]:
        """Return what the database should have to refuse changes, and has not."""
        ...

    def search(
        self, query: AnswerQuery, *, after: int | None = None, limit: int = 50
    ) -> AnswerPage:
        """Return a page of the answers that *query* asks for, newest first."""
        ...

    def count(self, query: AnswerQuery) -> int:
        """Return how many answers *query* asks for."""
        ...

    def documents(self) -> Sequence[CitedDocument]:
        """Return every document that an answer leans on, once for each digest; path is ""."""
        ...

    def trend(self, query: AnswerQuery, by: Sequence[Grouping]) -> Sequence[TrendRow]:
        """Return the answers that *query* asks for in groups, in the groups' order."""
        ...
