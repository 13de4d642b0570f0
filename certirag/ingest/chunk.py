"""Cut a document into chunks with sentence spans, every offset exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from certirag.core.text import (
    Block,
    Box,
    ChunkSource,
    Document,
    EvidenceChunk,
    SentenceSpan,
    sha256_hex,
)
from certirag.ports import SentenceSplitter


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence at ``document.text[start:end]``."""

    start: int
    end: int
    words: int
    boxes: tuple[Box, ...]


def chunk_document(
    document: Document, split: SentenceSplitter, *, max_words: int = 160, max_spans: int = 12
) -> tuple[EvidenceChunk, ...]:
    """Return the document's chunks in order, with chunk_id ``<doc_id>#c1``, ``#c2``, and so on.

    ``chunk.text`` is ``document.text[chunk.source.start:][:len(chunk.text)]``. A chunk holds
    sentences of one section that begin on one page, at most *max_spans* of them and at most
    *max_words* words, save that a longer sentence stays whole. A table row is one span. Headings
    and invisible blocks are in no chunk.
    """
    chunks: list[EvidenceChunk] = []
    for blocks in _sections(document):
        sentences = [_sentences(document, block, split) for block in blocks]
        for group in _packed(sentences, max_words=max_words, max_spans=max_spans):
            chunks.append(_chunk(document, blocks[0], group, number=len(chunks) + 1))
    return tuple(chunks)


def _sections(document: Document) -> Iterator[list[Block]]:
    """Yield runs of neighbouring blocks that may share a chunk."""

    def place(block: Block) -> tuple[bool, str, int | None]:
        return block.visible and block.kind != "heading", block.section, block.page

    for (readable, _, _), blocks in groupby(document.blocks, key=place):
        if readable:
            yield list(blocks)


def _sentences(document: Document, block: Block, split: SentenceSplitter) -> list[_Sentence]:
    text = document.text[block.start : block.end]
    whole = [(0, len(text))] if text else []
    spans = whole if block.kind == "table_row" else split(text)
    counts = [len(text[start:end].split()) for start, end in spans]
    # A PDF's prose has a box for each word (`extract.Piece`), and its sentences hold all of them;
    # any other block's boxes are all its sentences'.
    one_each = len(block.boxes) == sum(counts) and block.kind != "table_row"
    firsts = accumulate(counts, initial=0)
    return [
        _Sentence(
            block.start + start,
            block.start + end,
            count,
            _lines(block.boxes[first : first + count]) if one_each else block.boxes,
        )
        for (start, end), count, first in zip(spans, counts, firsts, strict=False)
    ]


def _lines(words: Sequence[Box]) -> tuple[Box, ...]:
    """Return one box a line of the page for the boxes of neighbouring *words*."""
    merged: list[Box] = []
    for box in words:
        if merged and _same_line(merged[-1], box):
            last = merged[-1]
            merged[-1] = Box(
                box.page,
                min(last.left, box.left),
                min(last.bottom, box.bottom),
                max(last.right, box.right),
                max(last.top, box.top),
            )
        else:
            merged.append(box)
    return tuple(merged)


def _same_line(one: Box, other: Box) -> bool:
    overlap = min(one.top, other.top) - max(one.bottom, other.bottom)
    height = min(one.top - one.bottom, other.top - other.bottom)
    return one.page == other.page and overlap > 0.5 * height and other.right > one.left


def _packed(
    blocks: Sequence[Sequence[_Sentence]], *, max_words: int, max_spans: int
) -> Iterator[list[_Sentence]]:
    """Yield groups of sentences within the limits; a block that fits in one group stays whole."""
    group: list[_Sentence] = []
    for sentences in blocks:
        fits_alone = _fits(sentences, max_words, max_spans)
        if group and fits_alone and not _fits([*group, *sentences], max_words, max_spans):
            yield group
            group = []
        for sentence in sentences:
            if group and not _fits([*group, sentence], max_words, max_spans):
                yield group
                group = []
            group.append(sentence)
    if group:
        yield group


def _fits(sentences: Sequence[_Sentence], max_words: int, max_spans: int) -> bool:
    return len(sentences) <= max_spans and sum(s.words for s in sentences) <= max_words


def _chunk(
    document: Document, block: Block, sentences: Sequence[_Sentence], *, number: int
) -> EvidenceChunk:
    start, end = sentences[0].start, sentences[-1].end
    text = document.text[start:end]
    return EvidenceChunk(
        chunk_id=f"{document.doc_id}#c{number}",
        doc_id=document.doc_id,
        text=text,
        sha256=sha256_hex(text),
        source=ChunkSource(
            title=document.title,
            url_or_path=document.path,
            section=block.section,
            sha256=document.sha256,
            page=block.page,
            start=start,
        ),
        spans=tuple(
            SentenceSpan(
                span_id=f"s{index}",
                start=sentence.start - start,
                end=sentence.end - start,
                sentence=document.text[sentence.start : sentence.end],
                boxes=sentence.boxes,
            )
            for index, sentence in enumerate(sentences, start=1)
        ),
    )
