"""Where a quoted sentence stands: in its passage, in its document, and in the open corpus today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import streamlit as st

from certirag.core.said import Message, ended, said
from certirag.core.selector import CannotLocate, locate_in, resolve, selector_of
from certirag.core.text import Selector
from certirag.render.recorded import restated
from ui.inert import draw_facts, draw_table, draw_text
from ui.language import tr
from ui.original import draw_pages_of
from ui.reader import offer_document

if TYPE_CHECKING:
    from certirag.core.text import EvidenceChunk
    from certirag.render import EvidenceView, Presentation

WHERE: Final[Message] = "Where it stands"
_CANNOT: Final[Message] = "Cannot locate: {why}"
# Why a sentence cannot be located, as `certirag.core.selector` says it.
REASONS: Final[tuple[Message, ...]] = (
    "the record gives no place in a text",
    "it lies outside its passage",
    "other words stand in its place in the passage",
    "its passage holds characters that are not text",
    "the record does not say where it stands",
    "the record says that it stands elsewhere",
    "the document is read in two ways at its place",
    "a reader of the document cannot see the text in its place",
    "the words around it are others",
    "nothing stands in its place",
    "other words stand in its place",
)
_MAX_BOXES: Final = 12


class DocumentLike(Protocol):
    """A document of a corpus: *sha256* is of the file's bytes."""

    @property
    def doc_id(self) -> str: ...

    @property
    def sha256(self) -> str: ...


class CorpusLike(Protocol):
    """What is read of an open index; *fingerprint* is of its content."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def documents(self) -> Sequence[DocumentLike]: ...

    def chunks(self) -> Sequence[EvidenceChunk]: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a view's sentence stands: *selector* by the record, None where that does not resolve.

    *lost* says why it cannot be located, in the record or in the open corpus ("": it can be), and
    *today* what the open corpus says of its document ("": nothing).
    """

    selector: Selector | None
    lost: str = ""
    today: str = ""


def place_of(view: EvidenceView, presentation: Presentation, corpus: CorpusLike | None) -> Place:
    """Return where the sentence of *view* stands, exactly or not at all.

    An attached sentence must stand where its record says. Where *corpus* holds its document with
    other content, it must stand there too: same place, same words in it and around it.
    """
    find = resolve if view.attached else selector_of
    found = find(view.chunk, view.span)
    if isinstance(found, CannotLocate):
        return Place(None, ended(restated(found.reason, REASONS)))
    if corpus is None:
        return Place(found)
    digests = {document.doc_id: document.sha256 for document in corpus.documents}
    now = digests.get(view.chunk.doc_id)
    if now == view.chunk.source.sha256:
        return Place(found, today=said("The open corpus holds this document unchanged."))
    if now is None:
        known = {chunk.doc_id for chunk in presentation.record.retrieval.chunks}
        if known & digests.keys():
            return Place(found, said("the document is no longer in the open corpus."))
        return Place(
            found, today=said("The open corpus is another one: the record alone was looked at.")
        )
    own = (chunk for chunk in corpus.chunks() if chunk.doc_id == view.chunk.doc_id)
    there = locate_in(found, own)
    if isinstance(there, CannotLocate):
        return Place(
            found,
            said("the document has changed since, and {why}.", why=restated(there.reason, REASONS)),
        )
    return Place(
        found,
        today=said(
            "The document has changed since. This sentence still stands in its place, "
            "word for word."
        ),
    )


def lost_evidence(
    views: Sequence[EvidenceView], presentation: Presentation, corpus: CorpusLike | None
) -> str:
    """Say why an attached sentence among *views* cannot be located, or "" when each can."""
    places = (place_of(view, presentation, corpus) for view in views if view.attached)
    return next((said(_CANNOT, why=place.lost) for place in places if place.lost), "")


def draw_place_of(
    view: EvidenceView, place: Place, corpus: CorpusLike | None, *, offsets: bool, key: str
) -> None:
    """Draw, below a quote, where it stands: folded, save for a sentence that cannot be located.

    Where *corpus*, the open index, holds it, a button opens its document there, under *key*.
    *offsets* adds where it begins and ends, counted in characters, bytes and points of the page.
    """
    if place.lost:
        draw_text(said(_CANNOT, why=place.lost), "error", max_lines=4)
    if place.selector is None:
        return
    if corpus is not None and not place.lost:
        offer_document(view.chunk.doc_id, place.selector, corpus, key=key)
    draw_pages_of(view.chunk, [view.span], "the quoted words")
    with st.expander(tr(WHERE)):
        if place.today:
            draw_text(place.today, "note")
        _draw_document(view, place.selector)
        if offsets:
            _draw_offsets(view, place.selector)
            _draw_boxes(view)


def _draw_document(view: EvidenceView, selector: Selector) -> None:
    source = view.chunk.source
    draw_facts(
        [
            (tr("Document"), source.title),
            (tr("File"), source.url_or_path),
            *([(tr("Page"), str(source.page))] if source.page is not None else []),
            *([(tr("Section"), source.section)] if source.section else []),
            (tr("File's SHA-256"), source.sha256[:12]),
            (tr("Sentence's SHA-256"), selector.sha256[:12]),
        ]
    )


def _draw_offsets(view: EvidenceView, selector: Selector) -> None:
    rows = (
        (tr("Code points of the document's text"), selector.position.start, selector.position.end),
        (tr("Code points of the passage"), view.span.start, view.span.end),
        (tr("UTF-8 bytes of the passage"), selector.utf8_start, selector.utf8_end),
        (tr("UTF-16 units of the passage"), selector.utf16_start, selector.utf16_end),
    )
    draw_table(
        (tr("Counted in"), tr("From"), tr("To")), [(name, str(a), str(b)) for name, a, b in rows]
    )


def _draw_boxes(view: EvidenceView) -> None:
    """Draw the lines of a PDF's page that the sentence covers."""
    boxes = view.span.boxes[:_MAX_BOXES]
    if boxes:
        draw_table(
            (tr("Page"), tr("Left"), tr("Bottom"), tr("Right"), tr("Top")),
            [
                (str(b.page), *(f"{n:.1f}" for n in (b.left, b.bottom, b.right, b.top)))
                for b in boxes
            ],
        )
        st.caption(tr("In points from the page's bottom left, one row for each line."))
