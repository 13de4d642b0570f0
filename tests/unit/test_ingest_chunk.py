"""Chunks and spans: exact offsets, limits, sections, and no invisible text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.core.text import Block, BlockKind, Document, sha256_hex
from certirag.ingest.chunk import chunk_document
from certirag.ingest.load import Limits, load_document
from certirag.ingest.sentences import sentence_splitter

SPLIT = sentence_splitter()


def document_of(parts: list[tuple[BlockKind, str, str, int | None, bool]]) -> Document:
    """Return a document of (kind, text, section, page, visible) blocks."""
    blocks, position = [], 0
    for kind, text, section, page, visible in parts:
        blocks.append(Block(kind, position, position + len(text), section, page, visible))
        position += len(text) + 1
    text = "\n".join(part[1] for part in parts)
    return Document("d-123456", "T", "d.md", "text/plain", sha256_hex(b""), text, tuple(blocks))


def test_a_list_keeps_its_lead_in_and_a_row_is_one_span() -> None:
    """Lead-in, items and rows are spans of one chunk; the heading is none."""
    source = "# T\n\n## S\n\nOnly these count:\n\n- floods\n- storms\n\n|A|B|\n|-|-|\n|x. Y|1|\n"
    document = load_document(source.encode(), path="a.md", limits=Limits())
    (chunk,) = chunk_document(document, SPLIT)
    assert [span.sentence for span in chunk.spans] == [
        "Only these count:", "floods", "storms", "A: x. Y; B: 1"
    ]  # fmt: skip
    assert (chunk.source.section, chunk.context) == ("S", "T › S")
    assert chunk.chunk_id == f"{document.doc_id}#c1"
    assert [span.span_id for span in chunk.spans] == ["s1", "s2", "s3", "s4"]


def test_chunks_end_with_section_page_and_hidden_text() -> None:
    """No chunk crosses a section, a page, or a block that nobody sees."""
    document = document_of(
        [("paragraph", "One.", "A", 1, True), ("paragraph", "Two.", "A", 2, True),
         ("paragraph", "Three.", "B", 2, True), ("paragraph", "hidden", "B", 2, False),
         ("paragraph", "Four.", "B", 2, True)]
    )  # fmt: skip
    assert [c.text for c in chunk_document(document, SPLIT)] == ["One.", "Two.", "Three.", "Four."]


@pytest.mark.parametrize(("words", "spans", "count"), [(1000, 3, 4), (8, 12, 5), (1, 12, 10)])
def test_limits_of_words_and_spans(words: int, spans: int, count: int) -> None:
    """Ten sentences of four words are packed to the limits; a longer one stays whole."""
    document = document_of(
        [("paragraph", "The pump runs well. " * 9 + "The pump runs well.", "", None, True)]
    )
    chunks = chunk_document(document, SPLIT, max_words=words, max_spans=spans)
    assert len(chunks) == count
    assert sum(len(chunk.spans) for chunk in chunks) == 10


WORDS = st.sampled_from(
    ["Dr. ", "fee. ", "It ", "4.5 ", "é ", "\U0001f600 ", "e\u0301. ", "No. 4 ", "? "]
)
PARTS = st.tuples(
    st.sampled_from(["heading", "paragraph", "list_item", "table_row"]),
    st.lists(WORDS, min_size=1, max_size=12).map(lambda words: "".join(words).strip()),
    st.sampled_from(["", "A", "A › B"]),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
)


@examples(150)
@given(st.lists(PARTS, min_size=1, max_size=12), st.integers(1, 30), st.integers(1, 5))
def test_every_offset_is_exact_and_every_visible_sentence_is_there(parts, words, spans) -> None:
    """chunk.text and each sentence are the very substrings that their offsets name."""
    document = document_of(parts)
    chunks = chunk_document(document, SPLIT, max_words=words, max_spans=spans)
    covered = set()
    for chunk in chunks:
        start = chunk.source.start
        assert document.text[start : start + len(chunk.text)] == chunk.text
        assert chunk.sha256 == sha256_hex(chunk.text)
        assert 0 < len(chunk.spans) <= spans
        assert len(chunk.spans) == 1 or sum(len(s.sentence.split()) for s in chunk.spans) <= words
        for span in chunk.spans:
            assert chunk.text[span.start : span.end] == span.sentence
            covered.update(range(start + span.start, start + span.end))
    wanted = {
        at
        for block in document.blocks
        for at in range(block.start, block.end)
        if block.visible and block.kind != "heading" and not document.text[at].isspace()
    }
    assert {at for at in covered if not document.text[at].isspace()} == wanted
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
