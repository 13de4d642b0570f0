"""A whole document as it was read: headings, passages and printed pages, from the open index.

Its address, `?corpus=…&doc=…&passage=…&quote=…`, is looked up and never drawn. `quote` is where a
sentence begins in the document's text, and the start of its SHA-256: it is marked where both hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import streamlit as st

from certirag.core.said import Message
from certirag.core.text import sha256_hex
from ui.corpora import chosen_corpus, corpus_called, corpus_label, keep_chosen
from ui.inert import draw_facts, draw_heading, draw_passage, draw_text
from ui.language import tr
from ui.original import draw_pages_of
from ui.shapes import shapes_of

if TYPE_CHECKING:
    from certirag.core.text import EvidenceChunk, Selector, SentenceSpan
    from ui.located import CorpusLike

PAGE: Final = "app_pages/document.py"
NOT_HERE: Final[Message] = (
    "The document that this address names is in no corpus that is open here. It may have been "
    "renamed or taken away."
)
CHANGED: Final[Message] = (
    "The words that this address quotes do not stand in this document as it was last read, "
    "so nothing is marked."
)
_CORPUS: Final = "corpus"
_DOCUMENT: Final = "doc"
_PASSAGE: Final = "passage"
_QUOTE: Final = "quote"
_CHOSEN: Final = "reader-passage"
_DIGEST: Final = 12
_AT_ONCE: Final = 6
_MOST_CHARACTERS: Final = 20_000
_MOST_HEADINGS: Final = 6
_TOP: Final = 3  # the level of a document's own highest headings, below ours
_ABOVE: Final = " › "


def document_page() -> None:
    """Draw the whole of Document below its heading: what the address names, from its passage on."""
    if st.button(tr("All documents of the corpus"), key="reader-close"):
        st.switch_page("app_pages/corpus.py")
    corpus = corpus_called(st.query_params.get(_CORPUS, "") or chosen_corpus())
    named = st.query_params.get(_DOCUMENT, "")
    documents = () if corpus is None else corpus.index.documents
    document = next((document for document in documents if document.doc_id == named), None)
    if corpus is None or document is None:
        draw_text(tr(NOT_HERE), "error")
        return
    keep_chosen(corpus.name)
    passages = passages_of(corpus.index, named)
    draw_heading(document.title, _TOP - 1)
    draw_facts(
        (
            (tr("Corpus"), corpus_label(corpus.name)),
            (tr("File"), PurePath(document.path).name),
            (tr("Passages"), str(len(passages))),
            ("SHA-256", document.sha256[:_DIGEST]),
        )
    )
    _draw_passages(passages)


def passages_of(corpus: CorpusLike, doc_id: str) -> list[EvidenceChunk]:
    """Return the passages of one document of *corpus*, in order."""
    return [chunk for chunk in corpus.chunks() if chunk.doc_id == doc_id]


def offer_document(doc_id: str, selector: Selector, corpus: CorpusLike, *, key: str) -> None:
    """Draw a button that opens the document where *selector* stands, if *corpus* holds it there."""
    start, end = selector.position.start, selector.position.end
    for number, chunk in enumerate(passages_of(corpus, doc_id), 1):
        first = chunk.source.start
        if first <= start and chunk.text[start - first : end - first] == selector.quote.exact:
            if st.button(tr("Open the document here"), key=key):
                quote = f"{start}-{selector.sha256[:_DIGEST]}"
                open_document(chosen_corpus(), doc_id, number, quote)
            return


def open_document(corpus: str, doc_id: str, passage: int, quote: str = "") -> None:
    """Leave for the page Document, at *passage*, counted from 1, of that document."""
    address = {_CORPUS: corpus, _DOCUMENT: doc_id, _PASSAGE: str(passage)}
    st.switch_page(PAGE, query_params=address | ({_QUOTE: quote} if quote else {}))


def _draw_passages(passages: Sequence[EvidenceChunk]) -> None:
    if not passages:
        st.caption(tr("Nothing was read of this document that could be quoted."))
        return
    quoted = _quoted(passages)
    if quoted is None and st.query_params.get(_QUOTE):
        draw_text(tr(CHANGED), "error")
    at = _choose_passage(len(passages))
    with st.container(key=f"reader-pane-{at}"):
        section = ""
        for number in range(at, min(at + _AT_ONCE, len(passages) + 1)):
            passage = passages[number - 1]
            _draw_headings(section, passage.source.section)
            section = passage.source.section
            span = quoted[1] if quoted and quoted[0] == number else None
            _draw_passage(passage, number, span)
            if span is not None:
                draw_pages_of(passage, [span], "the quoted words")
            elif number == at and any(s.boxes for s in passage.spans):
                _offer_print(passage)
    last = min(at + _AT_ONCE - 1, len(passages))
    st.caption(
        tr(
            "Passages {at:d} to {last:d} of {n:d}, as they were read. Text that a reader of the document cannot see is left out.",
            at=at,
            last=last,
            n=len(passages),
        )
    )


def _offer_print(passage: EvidenceChunk) -> None:
    if st.toggle(tr("Show this passage as it is printed"), key="reader-printed"):
        draw_pages_of(passage, passage.spans, "this passage")


def _quoted(passages: Sequence[EvidenceChunk]) -> tuple[int, SentenceSpan] | None:
    """Return the sentence that the address quotes, with its passage's number, or None."""
    asked = st.query_params.get(_QUOTE, "")
    for number, passage in enumerate(passages, 1):
        for span in passage.spans:
            place = f"{passage.source.start + span.start}-"
            if asked.startswith(place) and asked == place + sha256_hex(span.sentence)[:_DIGEST]:
                return number, span
    return None


def _choose_passage(total: int) -> int:
    """Draw the way to the other passages; return the number, from 1, of the first one shown."""
    named = st.query_params.get(_PASSAGE, "")
    sound = named.isascii() and named.isdigit() and len(named) < len(str(total)) + 1
    at = min(max(int(named), 1), total) if sound else 1
    st.session_state[_CHOSEN] = at
    with st.container(key="reader-ways", horizontal=True, vertical_alignment="center"):
        st.button(
            tr("Previous passage"),
            key="reader-previous",
            disabled=at == 1,
            on_click=_go_to,
            args=(at - 1,),
        )
        st.button(
            tr("Next passage"),
            key="reader-next",
            disabled=at == total,
            on_click=_go_to,
            args=(at + 1,),
        )
        st.pagination(total, key=_CHOSEN, on_change=_go_to_chosen)
    return at


def _go_to(passage: int) -> None:
    st.query_params[_PASSAGE] = str(passage)


def _go_to_chosen() -> None:
    _go_to(int(st.session_state[_CHOSEN]))


def _draw_headings(above: str, section: str) -> None:
    """Draw the headings of *section* that do not stand over what was drawn *above* too."""
    before, now = above.split(_ABOVE), section.split(_ABOVE, _MOST_HEADINGS - 1)
    shared = 0
    while shared < min(len(before), len(now)) and before[shared] == now[shared]:
        shared += 1
    for depth, heading in enumerate(now[shared:], shared):
        if heading:
            draw_heading(heading, min(_TOP + depth, 6))


def _draw_passage(passage: EvidenceChunk, number: int, span: SentenceSpan | None) -> None:
    """Draw a passage, *span* of it marked: all of it, or as much as a page bears from there on."""
    text = passage.text
    marks = [] if span is None or text[span.start : span.end] != span.sentence else [span]
    first = marks[0].start if marks and marks[0].start > _MOST_CHARACTERS else 0
    shown = text[first : first + _MOST_CHARACTERS]
    page = passage.source.page
    hidden = sum(not s.visible for s in passage.spans)
    left_out = len(text) - len(shown)
    draw_passage(
        shown,
        shapes_of(shown),
        [(m.start - first, m.end - first) for m in marks],
        facts=[
            tr("Passage {number}", number=number),
            *([] if page is None else [tr("Page {page}", page=page)]),
            *(
                [tr("{hidden} sentences that a reader cannot see: no evidence", hidden=hidden)]
                if hidden
                else []
            ),
            *([tr("{left_out} more characters", left_out=left_out)] if left_out else []),
        ],
    )
