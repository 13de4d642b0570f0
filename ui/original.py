"""The page of a PDF as it is printed, with the quoted words boxed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import streamlit as st

from certirag.bootstrap import reading_process
from certirag.core.said import Message
from certirag.core.text import Box
from certirag.errors import IngestError
from certirag.settings import read_settings
from ui.corpora import original_file
from ui.inert import draw_picture, draw_text
from ui.language import tr

if TYPE_CHECKING:
    from certirag.core.text import EvidenceChunk, SentenceSpan
    from certirag.ingest.pdf_picture import PagePicture

NOT_KEPT: Final[Message] = (
    "The page cannot be shown: the PDF is not kept here, or has changed since. "
    "Ingest it again to see it."
)
NOT_THESE: Final[Message] = "The page cannot be shown: other words stand in this place of it."
AS_PRINTED: Final[dict[str, Message]] = {
    "the quoted words": "Page {page:d} as printed, the quoted words boxed",
    "this passage": "Page {page:d} as printed, this passage boxed",
}
_MOST_PAGES: Final = 2
_DRAWN_AT_ONCE: Final = threading.Semaphore(2)  # whatever many sessions open at once
_GAP: Final = 1.5  # points between the words and their box


def draw_pages_of(
    chunk: EvidenceChunk,
    spans: Sequence[SentenceSpan],
    what: Literal["the quoted words", "this passage"],
) -> None:
    """Draw the page on which *spans* of *chunk* are printed, and the next if they go on there.

    Nothing for documents without pages. A page is drawn only from the very file that was read
    (by its SHA-256), and only where each sentence's words stand in its boxes.
    """
    source = chunk.source
    boxes = [box for span in spans for box in span.boxes]
    if not boxes:
        return
    data = original_file(source.sha256)
    if data is None:
        st.caption(tr(NOT_KEPT))
        return
    key = f"page-{chunk.chunk_id}-{spans[0].span_id}-{spans[0].start}"
    whole = bool(st.session_state.get(key))
    try:
        with st.spinner(tr("Drawing the page")):
            pages = [
                (page, _picture(source.sha256, page, whole, data))
                for page in _pages(boxes)[:_MOST_PAGES]
            ]
    except IngestError as error:
        draw_text(str(error), "note", max_lines=4)
        return
    if not all(_are_these(span.sentence, _words(span, pages)) for span in spans if span.boxes):
        draw_text(tr(NOT_THESE), "error")
        return
    for page, picture in pages:
        draw_picture(
            picture.png,
            [_share(box, picture) for box in page],
            page=page[0].page,
            caption=tr(AS_PRINTED[what]).format(page=page[0].page),
        )
    st.toggle(tr("Show the whole page"), key=key)


def _words(span: SentenceSpan, pages: Sequence[tuple[tuple[Box, ...], PagePicture]]) -> list[str]:
    """Return the words that show in the boxes of *span*, in order, of those *pages*."""
    found = {box: words for page, p in pages for box, words in zip(page, p.words, strict=True)}
    return [found[box] for box in span.boxes if box in found]


def _pages(boxes: Sequence[Box]) -> list[tuple[Box, ...]]:
    numbers = dict.fromkeys(box.page for box in boxes)
    return [tuple(box for box in boxes if box.page == number) for number in numbers]


@st.cache_data(scope="session", max_entries=40, show_spinner=False)
def _picture(sha256: str, boxes: tuple[Box, ...], whole: bool, _data: bytes) -> PagePicture:  # noqa: ARG001  # the key
    with _DRAWN_AT_ONCE, reading_process(read_settings()) as read:
        return read.picture(_data, "this document", boxes, whole=whole)


def _are_these(sentence: str, found: Sequence[str]) -> bool:
    """Say whether what stands in the boxes is *sentence*; spaces and hyphens do not count.

    The sentence of a table's row (``Column: cell; …``) has the names of its columns besides, which
    stand in other boxes: there each cell follows the one before it.
    """
    rest = _letters(sentence)
    if _letters("".join(found)) == rest:
        return bool(rest)
    if ": " not in sentence or not all(found):
        return False
    for cell in filter(None, map(_letters, found)):
        if cell not in rest:
            return False
        rest = rest.partition(cell)[2]
    return True


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _share(box: Box, picture: PagePicture) -> tuple[float, float, float, float]:
    """Return where *box* lies in *picture*: left, top, width and height in per cent of it."""
    width = (picture.right - picture.left) / 100
    height = (picture.top - picture.bottom) / 100
    return (
        (box.left - _GAP - picture.left) / width,
        (picture.top - box.top - _GAP) / height,
        (box.right - box.left + 2 * _GAP) / width,
        (box.top - box.bottom + 2 * _GAP) / height,
    )
