"""A part of a PDF's page as a picture, and the words that show under given boxes of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pypdfium2

from certirag.core.text import Box
from certirag.errors import IngestError
from certirag.ingest.pdf_page import PageText, read_page
from certirag.ingest.read_pdf import PDFIUM

if TYPE_CHECKING:
    from PIL.Image import Image

_SCALE: Final = 2.0  # pixels a point: sharp at twice the size of print
_MOST_PIXELS: Final = 6_000_000
_AROUND: Final = 72.0  # points above and below the boxes that a close-up shows
_MARGIN: Final = 8.0
_WHITE: Final = 250


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A PNG of the part of a page from *left* to *right* and *bottom* to *top*, in points.

    *words* has, for each box that was asked about, the words that a reader sees in it.
    """

    png: bytes
    left: float
    bottom: float
    right: float
    top: float
    words: tuple[str, ...]


def page_picture(data: bytes, boxes: Sequence[Box], *, whole: bool, name: str) -> PagePicture:
    """Return the page of the first of *boxes*: all of it if *whole*, else the lines around them.

    Boxes of other pages have no words. Raises IngestError, naming *name*, where the file cannot
    be drawn or has no such page.
    """
    number = boxes[0].page
    here = [box for box in boxes if box.page == number]
    with PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise IngestError(f"{name}: its pages cannot be drawn") from error
        try:
            if not 1 <= number <= len(document):
                raise IngestError(f"{name}: it has no page {number}")
            page = document[number - 1]
            read = read_page(page, number)
            scale = min(_SCALE, (_MOST_PIXELS / max(read.width * read.height, 1.0)) ** 0.5)
            # Links, notes and form fields are no text of the page, and none of it is evidence.
            picture = page.render(scale=scale, draw_annots=False, may_draw_forms=False).to_pil()
        finally:
            document.close()
    top = read.height if whole else min(max(b.top for b in here) + _AROUND, read.height)
    bottom = 0.0 if whole else max(min(b.bottom for b in here) - _AROUND, 0.0)
    left, right = _inked(picture, scale, here)
    drawn = (left, read.height - top, right, read.height - bottom)
    part = picture.crop(tuple(round(edge * scale) for edge in drawn))
    png = io.BytesIO()
    part.convert("RGB").save(png, "PNG")
    words = tuple(_words_in(box, read) if box.page == number else "" for box in boxes)
    return PagePicture(png.getvalue(), left, bottom, right, top, words)


def _inked(picture: Image, scale: float, boxes: Sequence[Box]) -> tuple[float, float]:
    """Return where the page's ink begins and ends from left to right, *boxes* inside, in points."""
    dark = picture.convert("L").point(lambda light: 255 if light < _WHITE else 0)
    begin, _, end, _ = dark.getbbox() or (0, 0, picture.width, 0)
    width = picture.width / scale
    left = min(begin / scale, *(box.left for box in boxes)) - _MARGIN
    right = max(end / scale, *(box.right for box in boxes)) + _MARGIN
    return max(left, 0.0), min(right, width)


def _words_in(box: Box, page: PageText) -> str:
    return " ".join(
        word.text
        for word in page.words
        if box.left <= (word.left + word.right) / 2 <= box.right
        and box.bottom <= (word.bottom + word.top) / 2 <= box.top
    )
