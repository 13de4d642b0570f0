"""Read PDF with pypdfium2: pages, headings, paragraphs, tables, and what a reader cannot see."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import pypdfium2

from certirag.errors import IngestError
from certirag.ingest.extract import Extract, Limits, Outline, clean
from certirag.ingest.pdf_blocks import (
    Paragraph,
    body_size,
    is_heading,
    paragraphs_of,
    tokens,
    vocabulary,
)
from certirag.ingest.pdf_lines import PdfLine, box_of, lines_of
from certirag.ingest.pdf_page import PageText, read_page
from certirag.ingest.pdf_tables import Table, split_tables
from certirag.ingest.tables import column_names, has_header, row_line

# PDFium is not thread-safe, not even for two documents at a time.
PDFIUM: Final = threading.Lock()
_MARGIN: Final = 0.09  # of the page's height: where running heads and feet are
_PAGE_NUMBER = re.compile(
    r"(?:page|p\.|seite)?\s*[-–—]?\s*\d{1,4}\s*(?:(?:of|/)\s*\d{1,4})?\s*[-–—]?", re.I
)
_CAPTION = re.compile(r"(?:table|tab\.|exhibit|schedule)\s+\w{1,6}\b", re.IGNORECASE)
_EMPTY_TITLE = re.compile(r"(?:untitled|\(?anonymous\)?|microsoft \w+ - .*|.*\.\w{2,5})?", re.I)
_DIGITS = re.compile(r"\d+")


def read_pdf(data: bytes, *, name: str, limits: Limits) -> Extract:
    """Return the blocks of a PDF; pages count from 1, boxes are points from bottom left.

    Raises IngestError (with *name*) for encrypted or damaged files and for too many pages.
    """
    with PDFIUM:
        pages, described = _pages(data, name, limits)
    outline = Outline()
    title = _add_blocks(outline, pages)
    outline.close(1)
    for page in pages:
        if page.slanted:
            words = " ".join(word.text for word in page.slanted)
            box = box_of(page.slanted, page.number)
            outline.add("paragraph", words, page=page.number, boxes=(box,))
        for line in lines_of(page.hidden, page=page.number):
            boxes = (line.box,)
            outline.add("paragraph", line.text, page=page.number, visible=False, boxes=boxes)
    # Nobody sees the title among a PDF's properties: a heading on the page goes before it.
    fallback = "" if _EMPTY_TITLE.fullmatch(described) else described
    return outline.extract(title=title or fallback, media_type="application/pdf")


def _pages(data: bytes, name: str, limits: Limits) -> tuple[list[PageText], str]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise IngestError(f"{name}: encrypted; save a copy without a password") from error
        raise IngestError(f"{name}: damaged or not a PDF; save or export it anew") from error
    try:
        if len(document) > limits.max_pages:
            raise IngestError(
                f"{name}: {len(document):,} pages, more than the limit of {limits.max_pages:,}; "
                "split it or raise CERTIRAG_MAX_PAGES"
            )
        pages = []
        for index in range(len(document)):
            limits.page_begins()
            page = document[index]
            try:
                pages.append(read_page(page, index + 1))
            finally:
                page.close()
        return pages, clean(str(document.get_metadata_value("Title")))
    finally:
        document.close()


def _add_blocks(outline: Outline, pages: Sequence[PageText]) -> str:
    """Add what the pages show; return the title: the largest heading of the first page."""
    by_page = {
        page.number: lines_of(page.words, page=page.number, rulings=page.rulings) for page in pages
    }
    running = _running_lines(pages, by_page)
    items: list[PdfLine | Table] = []
    for page in pages:
        lines = [line for line in by_page[page.number] if line not in running]
        tables, rest = split_tables(lines, page.rulings)
        items += sorted([*tables, *rest], key=lambda item: item.index)
    lines = [item for item in items if isinstance(item, PdfLine)]
    known, body = vocabulary(lines), body_size(lines)
    parts = list(paragraphs_of(items))
    headings = [p for p in parts if isinstance(p, Paragraph) and is_heading(p, body)]
    ranks = {style: rank for rank, style in enumerate(sorted({p.style for p in headings})[::-1], 1)}
    for line in _kept_once(running, parts):
        outline.add("paragraph", line.text, page=line.page, boxes=(line.box,))
    writer = _Writer(outline, known, ranks)
    for part in parts:
        if isinstance(part, Table):
            writer.table(part)
        else:
            writer.paragraph(part, heading=part in headings)
    first = [p for p in headings if p.page == pages[0].number] if pages else []
    if not first or ranks[first[0].style] > min(ranks[p.style] for p in first):
        return ""
    return _heading_text(first[0], known)


class _Writer:
    """Adds paragraphs and tables to an outline; a table may go on over the end of a page."""

    def __init__(
        self, outline: Outline, known: frozenset[str], ranks: dict[tuple[float, bool], int]
    ) -> None:
        self._outline = outline
        self._known = known
        self._ranks = ranks
        self._caption = ""
        self._above: tuple[Table, tuple[str, ...]] | None = None

    def paragraph(self, paragraph: Paragraph, *, heading: bool) -> None:
        """Add a heading, a caption (which waits for its table), a list item or a paragraph."""
        self._above = None
        words = list(tokens(paragraph, self._known))
        text = " ".join(word for word, _ in words)
        page, boxes = paragraph.page, [box for _, box in words]
        self._caption = ""
        if _CAPTION.match(text) and len(words) <= 25 and not (heading and len(words) < 3):
            self._caption = text
            self._outline.caption(text, page=page, boxes=boxes)
        elif heading:
            text = _heading_text(paragraph, self._known)
            self._outline.heading(text, level=self._ranks[paragraph.style], page=page, boxes=boxes)
        else:
            kind = "list_item" if paragraph.item else "paragraph"
            self._outline.add(kind, text, page=page, boxes=boxes)  # type: ignore[arg-type]

    def table(self, table: Table) -> None:
        """Add the rows of a table, under the names of its own or the page before's header."""
        names, first = self._names(table)
        for row, boxes in list(zip(table.rows, table.boxes, strict=True))[first:]:
            line = row_line(names, row)
            caption = self._caption
            self._outline.add("table_row", line, caption=caption, page=table.page, boxes=boxes)
        self._above = (table, names)

    def _names(self, table: Table) -> tuple[tuple[str, ...], int]:
        own = column_names(table.rows[:1])
        if self._above is not None:
            above, names = self._above
            if above.page + 1 == table.page and len(above.rows[0]) == len(table.rows[0]):
                return names, int(own == names)
        bold = table.bold[0] and not all(table.bold)
        return (own, 1) if bold or has_header(table.rows) else ((), 0)


def _heading_text(paragraph: Paragraph, known: frozenset[str]) -> str:
    number = [paragraph.lines[0].words[0].text] if paragraph.item else []
    return " ".join([*number, *(text for text, _ in tokens(paragraph, known))])


def _running_lines(
    pages: Sequence[PageText], by_page: dict[int, list[PdfLine]]
) -> frozenset[PdfLine]:
    """Return the lines of running heads and feet: page numbers, and what comes back in margins."""
    marginal: dict[tuple[bool, int, str], list[PdfLine]] = defaultdict(list)
    for page in pages:
        for line in by_page[page.number]:
            middle = (line.bottom + line.top) / 2 / max(page.height, 1.0)
            if middle < _MARGIN or middle > 1 - _MARGIN:
                shape = _DIGITS.sub("#", line.text.casefold())
                marginal[middle < _MARGIN, round(line.size), shape].append(line)
    found: set[PdfLine] = set()
    for lines in marginal.values():
        repeated = len({line.page for line in lines}) > max(1, len(pages) // 3)
        if repeated or all(_PAGE_NUMBER.fullmatch(line.text.strip()) for line in lines):
            found.update(lines)
    return frozenset(found)


def _kept_once(
    running: frozenset[PdfLine], parts: Sequence[Paragraph | Table]
) -> Iterator[PdfLine]:
    """Yield the first of each running line that says more than a page's number or the title."""
    seen = {
        clean(" ".join(line.text for line in part.lines)).casefold()
        for part in parts
        if isinstance(part, Paragraph)
    }
    for line in sorted(running, key=lambda line: (line.page, line.index)):
        text = clean(line.text).casefold()
        shape = _DIGITS.sub("#", text)
        if _PAGE_NUMBER.fullmatch(text) or text in seen or shape in seen:
            continue
        seen.add(shape)
        yield line
