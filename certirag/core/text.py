"""Documents, chunks and sentence spans, with offsets that map to the exact substring.

Offsets are code points, 0-based, end exclusive (DESIGN §5). The field names of
`EvidenceChunk` are the seed's (CertiRAG seed §6.1).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

# "superseded" is a state; "this policy supersedes …" and "replaces all earlier guidance" are not.
NO_LONGER_HOLDS: Final = re.compile(
    r"\b(?:superseded|obsolete|outdated|archived|withdrawn|revoked|repealed|rescinded|deprecated"
    r"|no longer (?:valid|in force))\b",
    re.I,
)

BlockKind = Literal["heading", "paragraph", "list_item", "table_row"]


def sha256_hex(data: bytes | str) -> str:
    """Return the SHA-256 of *data* (text as UTF-8, lone surrogates kept) in lower-case hex."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a PDF page: *page* is 1-based, the rest are PDF points from bottom left."""

    page: int
    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a document: ``document.text[start:end]``.

    *section* is the chain of headings above it (`` › `` between them, without the title);
    *context* is text of the document that a reader sees with it, such as a table's header
    row. *visible* is False for text that a reader of the page cannot see (white, tiny,
    off the page): it is kept for the record and is never evidence.
    """

    kind: BlockKind
    start: int
    end: int
    section: str = ""
    page: int | None = None
    visible: bool = True
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A source as read: *sha256* is of the source's bytes, *text* is what was extracted."""

    doc_id: str
    title: str
    path: str
    media_type: str
    sha256: str
    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class TextQuoteSelector:
    """W3C Web Annotation §4.2.4: the exact text with up to 32 code points around it."""

    exact: str
    prefix: str
    suffix: str
    type: Literal["TextQuoteSelector"] = "TextQuoteSelector"


@dataclass(frozen=True, slots=True)
class TextPositionSelector:
    """W3C Web Annotation §4.2.5: code points of the document's extracted text."""

    start: int
    end: int
    type: Literal["TextPositionSelector"] = "TextPositionSelector"


@dataclass(frozen=True, slots=True)
class FragmentSelector:
    """W3C Web Annotation §4.2.1 for a PDF: *value* is ``page=N``, from 1 (RFC 8118)."""

    value: str
    conformsTo: str = "http://tools.ietf.org/rfc/rfc8118"  # noqa: N815  # the field's name
    type: Literal["FragmentSelector"] = "FragmentSelector"


@dataclass(frozen=True, slots=True)
class Selector:
    """Where an attached sentence stands, for whoever opens the document (docs/certificate.md §9).

    The offsets in UTF-8 bytes and UTF-16 units are of the chunk's text, as the span's own are.
    """

    quote: TextQuoteSelector
    position: TextPositionSelector
    fragment: FragmentSelector | None
    section: str
    sha256: str
    utf8_start: int
    utf8_end: int
    utf16_start: int
    utf16_end: int


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """One sentence of a chunk: ``chunk.text[start:end] == sentence``, always.

    A record's attached spans carry a *selector*; an index's carry none.
    """

    span_id: str
    start: int
    end: int
    sentence: str
    visible: bool = True
    boxes: tuple[Box, ...] = ()
    selector: Selector | None = None


@dataclass(frozen=True, slots=True)
class ChunkSource:
    """Where a chunk comes from; *sha256* is the digest of the source file's bytes."""

    title: str
    url_or_path: str
    section: str
    sha256: str
    page: int | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """Score and 1-based rank of a chunk at each stage; a stage that missed it says None.

    *bm25* is an Okapi BM25 score, *dense* a cosine, *fused* a reciprocal-rank-fusion sum
    and *rerank* the late-interaction (or cross-encoder) score.
    """

    bm25: float | None = None
    dense: float | None = None
    fused: float | None = None
    rerank: float | None = None
    bm25_rank: int | None = None
    dense_rank: int | None = None
    fused_rank: int | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class EvidenceChunk:
    """A piece of one section of a document, with its sentence spans and its digest."""

    chunk_id: str
    doc_id: str
    text: str
    sha256: str
    source: ChunkSource
    spans: tuple[SentenceSpan, ...]
    retrieval: RetrievalScores = RetrievalScores()

    def span(self, span_id: str) -> SentenceSpan:
        """Return the span called *span_id*; KeyError when the chunk has none of that name."""
        for span in self.spans:
            if span.span_id == span_id:
                return span
        raise KeyError(span_id)

    @property
    def context(self) -> str:
        """Title and headings above the chunk: what a reader sees around its sentences."""
        return " › ".join(part for part in (self.source.title, self.source.section) if part)


@dataclass(frozen=True, slots=True)
class SpanRef:
    """A pointer to one sentence span of one chunk."""

    chunk_id: str
    span_id: str


def shared_context(chunks: Sequence[EvidenceChunk]) -> str:
    """Return the title and headings that stand over all of *chunks*, outermost first.

    Headings speak for their own sentences: those of one section or document are never lent to
    another's, so a set from two documents has none.
    """
    paths = [(chunk.doc_id, *chunk.context.split(" › ")) for chunk in chunks]
    shared = []
    for parts in zip(*paths, strict=False):  # as far as the shortest path goes
        if len(set(parts)) != 1:
            break
        shared.append(parts[0])
    return " › ".join(part for part in shared[1:] if part)


def joined_evidence(sentences: Sequence[str]) -> str:
    """Return the evidence text that a verifier reads for a set of sentences."""
    return "\n".join(sentences)


def reading_window(chunks: Sequence[EvidenceChunk], evidence: str) -> str:
    """Return the passage in which a verifier reads *evidence*: the whole chunk that holds it.

    "" where the sentences come from several chunks, or are all that their chunk says.
    """
    texts = {chunk.chunk_id: chunk.text for chunk in chunks}
    (text, *others) = texts.values()
    return "" if others or text == evidence else text


def pair_digests(
    claim: str, evidence: str, context: str, chunks: Sequence[EvidenceChunk]
) -> dict[str, str]:
    """Return the digests that a verifier's input may have, each with the window that was read.

    *chunks* hold the evidence. Without a window are the pairs of verifiers that read none, and
    all of a record made before there were any (docs/certificate.md §7).
    """
    texts = {chunk.chunk_id: chunk.text for chunk in chunks}
    windows = ["", *texts.values()] if len(texts) == 1 else [""]
    return {pair_digest(claim, evidence, context, window): window for window in windows}


def pair_digest(claim: str, evidence: str, context: str, window: str = "") -> str:
    """Digest of exactly what a verifier was given, recomputed by the isolation rule.

    Lengths are hashed too, so that text cannot move from one field to the next unseen.
    """
    parts = (claim, evidence, context, *([window] if window else []))
    return sha256_hex("\x00".join(f"{len(part)}:{part}" for part in parts))
