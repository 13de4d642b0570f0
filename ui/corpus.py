"""The corpus page: documents and what was not read, a search of the passages, an open document."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import Final, TypeVar

import streamlit as st

from ui.corpora import SESSION, Corpus, choose_corpus
from ui.corpus_changes import (
    Task,
    confirm_deletion,
    do_what_was_asked,
    offer_all_again,
    offer_changes,
    versions_of,
    what_was_asked,
)
from ui.found import draw_search
from ui.inert import draw_digest, draw_facts, draw_heading, draw_lines, draw_place, draw_text
from ui.language import tr, trn
from ui.reader import open_document

T = TypeVar("T")
PAGE_SIZE: Final = 20


def corpus_page() -> None:
    """Draw the whole of Corpus below its heading."""
    task = what_was_asked()
    corpus = choose_corpus(key="corpus-corpus")
    if corpus is None:
        return
    documents, skipped = corpus.index.documents, _skipped(corpus)
    draw_facts(
        (
            (tr("Documents"), str(len(documents))),
            (tr("Passages"), str(len(corpus.index.chunks()))),
            (tr("Not read"), str(len(skipped))),
        )
    )
    if corpus.index.foreign:
        st.caption(
            tr("Made elsewhere, or changed since: no key that this server trusts signed it.")
        )
    draw_search(corpus)
    st.header(tr("Documents"), anchor=False)
    offer_all_again(corpus)
    _draw_documents(corpus, task)
    st.header(tr("Not read, and why"), anchor=False)
    draw_lines(_page_of(skipped, "skipped-page"))
    if not skipped:
        st.caption(tr("Every file was read."))
    st.header(tr("Fingerprint"), anchor=False)
    st.caption(tr("SHA-256 of everything that was read. Answers name it in their signed record."))
    draw_digest(corpus.index.fingerprint)


def _skipped(corpus: Corpus) -> tuple[str, ...]:
    if corpus.name == SESSION:
        return corpus.skipped
    return tuple(skipped.reason for skipped in corpus.index.skipped)


def _draw_documents(corpus: Corpus, task: Task | None) -> None:
    """Draw a page of the documents, each with what was read of it and a button that opens it."""
    documents = corpus.index.documents
    rows = _page_of(tuple(enumerate(documents, 1)), "documents-page")
    do_what_was_asked(corpus, task, below={document.path for _, document in rows})
    if not documents:
        st.caption(tr("This corpus has no documents."))
    warnings: dict[str, list[str]] = {}
    for skipped in corpus.index.skipped:
        warnings.setdefault(skipped.path, []).append(skipped.reason)
    pages, hidden = _counted(corpus)
    for number, document in rows:
        facts = [PurePath(document.path).name]
        if document.doc_id in pages:
            facts.append(trn("{n} page", "{n} pages", pages[document.doc_id]))
        facts.append(trn("{n} passage", "{n} passages", document.chunks))
        facts.append(f"SHA-256 {document.sha256[:12]}")
        facts.append(tr("read") if document.chunks else tr("read, nothing in it can be quoted"))
        with st.container(key=f"document-{number}", gap="xsmall"):
            draw_heading(document.title, 4)
            draw_place(*facts)
            unseen = hidden[document.doc_id]
            if unseen:
                st.caption(
                    tr(
                        "{unseen:d} sentences that a reader cannot see: never evidence.",
                        unseen=unseen,
                    )
                )
            for reason in warnings.get(document.path, []):
                draw_text(reason, "note", max_lines=4)
            for line in versions_of(document):
                draw_text(line, "note", max_lines=1)
            with st.container(horizontal=True, gap="xsmall"):
                if st.button(
                    tr("Open document {number:d}", number=number),
                    key=f"open-{number}",
                    type="tertiary",
                ):
                    open_document(corpus.name, document.doc_id, 1)
                offer_changes(corpus, document, number)
            confirm_deletion(corpus, document, number)
            do_what_was_asked(corpus, task, document.path)


def _counted(corpus: Corpus) -> tuple[dict[str, int], Counter[str]]:
    """Return doc_id → its last page that was read, where it has pages, and its unseen sentences."""
    pages: dict[str, int] = {}
    hidden: Counter[str] = Counter()
    for chunk in corpus.index.chunks():
        if chunk.source.page is not None:
            pages[chunk.doc_id] = max(chunk.source.page, pages.get(chunk.doc_id, 0))
        hidden[chunk.doc_id] += sum(not span.visible for span in chunk.spans)
    return pages, hidden


def _page_of(rows: tuple[T, ...], key: str) -> tuple[T, ...]:
    """Return the page of *rows* that is chosen under *key*; a way to the others is drawn."""
    pages = max(1, -(-len(rows) // PAGE_SIZE))
    page = 1 if pages == 1 else st.pagination(pages, key=key)
    return rows[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
