"""The passages that a search finds, each with its place at every stage, to see where retrieval failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.answers.pipeline import MAX_QUESTION
from certirag.core.said import Message
from certirag.retrieve.hybrid import retrieve
from certirag.retrieve.relevance import answers_in
from ui import services
from ui.inert import draw_facts, draw_place, draw_text
from ui.language import tr
from ui.reader import open_document, passages_of

if TYPE_CHECKING:
    from certirag.core.text import EvidenceChunk
    from certirag.ports import Index
    from ui.corpora import Corpus

POOL: Final = 40
_AT_ONCE: Final = 10
_MOST_CHARACTERS: Final = 300
_NONE: Final[Message] = "none"


def draw_search(corpus: Corpus) -> None:
    """Draw the search box and, once something is searched for, what is found in *corpus*."""
    query = st.text_input(
        tr("Search the passages"),
        key="search-passages",
        max_chars=MAX_QUESTION,
        placeholder=tr("A question, or words of it"),
        help=tr("Finds what an answer to this question would be made from."),
    )
    if not (query or "").strip():
        return
    with st.spinner(tr("Searching the passages")):
        found = _found(corpus.index.fingerprint, query, corpus.index)
    read = services.shared().services.settings.max_chunks
    if not found:
        st.info(tr("No passage was found."))
        return
    st.caption(
        tr(
            "{n:d} passages, in the order in which an answer would get them; it is made from the first {read:d}. A place counts from 1 within that search; none: not among its first {pool:d}. Relevance is how surely the best sentence answers, from 0 to 1.",
            n=len(found),
            read=read,
            pool=POOL,
        )
    )
    pages = -(-len(found) // _AT_ONCE)
    page = 1 if pages == 1 else st.pagination(pages, key="search-page")
    here = found[(page - 1) * _AT_ONCE : page * _AT_ONCE]
    with st.spinner(tr("Reading what was found")):
        scores = _relevance(corpus.index.fingerprint, query, page, here)
    for chunk, score in zip(here, scores, strict=True):
        _draw_found(chunk, score, corpus)


def _draw_found(chunk: EvidenceChunk, relevance: float | None, corpus: Corpus) -> None:
    source, at = chunk.source, chunk.retrieval
    page = [] if source.page is None else [tr("Page {page}", page=source.page)]
    with st.container(key=f"found-{at.rank or 0:d}", gap="xsmall"):
        draw_place(source.title, *page, *([source.section] if source.section else []))
        begins = " ".join(chunk.text[:_MOST_CHARACTERS].split())
        draw_text(begins + ("…" if len(chunk.text) > _MOST_CHARACTERS else ""), "note")
        draw_facts(
            (
                (tr("Place"), _place(at.rank)),
                (tr("By words (BM25)"), _place(at.bm25_rank)),
                (tr("By meaning (vectors)"), _place(at.dense_rank)),
                (tr("Fused"), _place(at.fused_rank)),
                (tr("Relevance"), tr(_NONE) if relevance is None else f"{relevance:.2f}"),
            )
        )
        rank = at.rank or 0
        if st.button(
            tr("Open passage {rank:d} in its document", rank=rank),
            key=f"open-found-{rank}",
            type="tertiary",
        ):
            own = [c.chunk_id for c in passages_of(corpus.index, chunk.doc_id)]
            open_document(corpus.name, chunk.doc_id, own.index(chunk.chunk_id) + 1)


def _place(rank: int | None) -> str:
    return tr(_NONE) if rank is None else str(rank)


@st.cache_resource(scope="session", max_entries=20, show_spinner=False)
def _found(fingerprint: str, query: str, _index: Index) -> tuple[EvidenceChunk, ...]:  # noqa: ARG001  # the key
    """Return what an answer to *query* would find, best first; raises a CertiRAGError."""
    common = services.shared()
    with common.lock:
        return retrieve(
            query,
            _index,
            common.services.embedder,
            common.services.reranker,
            max_chunks=POOL,
            pool=POOL,
        ).chunks


@st.cache_resource(scope="session", max_entries=40, show_spinner=False)
def _relevance(
    fingerprint: str,  # noqa: ARG001  # the key
    query: str,
    page: int,  # noqa: ARG001  # the key
    _chunks: tuple[EvidenceChunk, ...],
) -> tuple[float | None, ...]:
    """Return for each passage how surely its best sentence answers; None where it shows none."""
    common = services.shared()
    owners = [(n, s) for n, c in enumerate(_chunks) for s in c.spans if s.visible]
    statements = [(_chunks[n].context, span.sentence) for n, span in owners]
    with common.lock:
        scores = answers_in(common.services.reader, query, statements) if statements else []
    best: dict[int, float] = {}
    for (number, _), score in zip(owners, scores, strict=True):
        best[number] = max(score, best.get(number, 0.0))
    return tuple(best.get(number) for number in range(len(_chunks)))
