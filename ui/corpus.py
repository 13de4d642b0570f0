"""The corpus page: documents, what was skipped and why, and the passages of one document."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.render import visible
from ui.corpora import SESSION, Corpus, choose_corpus
from ui.drawer import place_in
from ui.inert import MAX_LABEL, draw_facts, draw_lines, draw_place, draw_table, draw_text

if TYPE_CHECKING:
    from certirag.core.text import EvidenceChunk

PAGE_SIZE: Final = 10


def corpus_page() -> None:
    """Draw the whole of Corpus below its heading."""
    corpus = choose_corpus(key="corpus-corpus")
    if corpus is None:
        return
    chunks = corpus.index.chunks()
    documents, skipped = corpus.index.documents, _skipped(corpus)
    draw_facts(
        (
            ("Documents", str(len(documents))),
            ("Passages", str(len(chunks))),
            ("Not read", str(len(skipped))),
            ("Fingerprint", corpus.index.fingerprint[:12]),
        )
    )
    st.header("Documents", anchor=False)
    draw_table(
        ("Title", "File", "Type", "Passages", "SHA-256"),
        [
            (d.title, PurePath(d.path).name, _kind(d.path), str(d.chunks), d.sha256[:12])
            for d in documents
        ],
    )
    st.header("Not read, and why", anchor=False)
    if skipped:
        draw_lines(skipped)
    else:
        st.caption("Every file was read.")
    st.header("Passages", anchor=False)
    _draw_passages(corpus)


def _kind(path: str) -> str:
    return PurePath(path).suffix.lstrip(".").lower() or "none"


def _skipped(corpus: Corpus) -> tuple[str, ...]:
    if corpus.name == SESSION:
        return corpus.skipped
    return tuple(skipped.reason for skipped in corpus.index.skipped)


def _draw_passages(corpus: Corpus) -> None:
    titles = _titles(corpus)
    if not titles:
        st.caption("This corpus has no documents.")
        return
    chosen = st.selectbox(
        "Document", tuple(titles), format_func=titles.__getitem__, key="passages-of"
    )
    chunks = [chunk for chunk in corpus.index.chunks() if chunk.doc_id == chosen]
    pages = max(1, -(-len(chunks) // PAGE_SIZE))
    page = 1 if pages == 1 else st.pagination(pages, key=f"passages-page-{chosen}")
    for chunk in chunks[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]:
        _draw_passage(chunk)


def _titles(corpus: Corpus) -> dict[str, str]:
    """Return doc_id → a title made visible; equal ones get their file's name too."""
    documents = corpus.index.documents
    seen = Counter(document.title for document in documents)
    titles = {}
    for document in documents:
        name = f" ({PurePath(document.path).name})" if seen[document.title] > 1 else ""
        titles[document.doc_id] = " ".join(visible(document.title + name).split())[:MAX_LABEL]
    return titles


def _draw_passage(chunk: EvidenceChunk) -> None:
    place = place_in(chunk.source)
    draw_place(chunk.chunk_id, *([place] if place else []))
    draw_text(chunk.text, "passage")
    hidden = sum(not span.visible for span in chunk.spans)
    if hidden:
        st.caption(f"{hidden:d} sentences here cannot be seen by a reader: never used as evidence.")
