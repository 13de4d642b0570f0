"""Read Word documents with python-docx: headings, paragraphs, lists, tables and footnotes."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import qn

from certirag.errors import IngestError
from certirag.ingest.extract import Extract, Limits, Outline, clean, raised
from certirag.ingest.tables import has_header, span_width, table_lines

_UNPACKED: Final = 8  # times the limit of a file's bytes that its parts may unpack to
_MOST_PARTS: Final = 5_000
_MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_OFF: Final = frozenset({"0", "false", "off", "none"})
_SMALLEST: Final = 6  # half points: 3 pt
_HEADING = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_RUN_HOLDERS: Final = frozenset(
    qn(tag)
    for tag in (
        "w:hyperlink",
        "w:ins",
        "w:moveTo",
        "w:smartTag",
        "w:sdt",
        "w:sdtContent",
        "w:fldSimple",
        "w:customXml",
        "w:bdo",
        "w:dir",
    )
)
_BLOCK_HOLDERS: Final = frozenset(
    qn(tag) for tag in ("w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo")
)
_BLANKS: Final = {
    qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-", qn("w:ptab"): "\t",
}  # fmt: skip


def read_docx(data: bytes, *, name: str, limits: Limits) -> Extract:
    """Return the blocks of a Word document; it has no pages until somebody lays it out.

    Hidden and struck-out text and tracked deletions are left out. Raises IngestError (with
    *name*) for damaged files and for archives that unpack to far more than they should.
    """
    _check_archive(data, name, limits)
    try:
        document = docx.Document(io.BytesIO(data))
    except (KeyError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise IngestError(f"{name}: damaged or not a Word document; save it anew") from error
    reader = _Reader(document)
    reader.read(document.element.body)
    reader.footnotes()
    title = reader.title
    return reader.outline.extract(title=title, media_type=_MEDIA_TYPE)


def _check_archive(data: bytes, name: str, limits: Limits) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except zipfile.BadZipFile as error:
        raise IngestError(f"{name}: damaged or not a Word document; save it anew") from error
    if any(part.flag_bits & 1 for part in parts):
        raise IngestError(f"{name}: encrypted; save a copy without a password")
    if "word/document.xml" not in {part.filename for part in parts}:
        raise IngestError(f"{name}: an archive, but no Word document; give a .docx file")
    unpacked = sum(part.file_size for part in parts)
    if unpacked > _UNPACKED * limits.max_bytes or len(parts) > _MOST_PARTS:
        raise IngestError(
            f"{name}: unpacks to {unpacked:,} bytes in {len(parts):,} parts, which is too much; "
            "remove its pictures or split it"
        )


class _Reader:
    """Walks the body once, in order."""

    def __init__(self, document: Any) -> None:
        self.outline = Outline()
        self.title = ""
        self._document = document
        self._styles = {style.style_id: style for style in document.styles}
        self._caption = ""

    def read(self, parent: Any) -> None:
        """Read the blocks below *parent*; content controls and insertions are seen through."""
        for element in parent:
            if element.tag == qn("w:p"):
                self._paragraph(element)
            elif element.tag == qn("w:tbl"):
                self._table(element)
            elif element.tag in _BLOCK_HOLDERS:
                self.read(element)

    def footnotes(self) -> None:
        """Read the footnotes and endnotes, which stand in parts of their own."""
        for kind in (RELATIONSHIP_TYPE.FOOTNOTES, RELATIONSHIP_TYPE.ENDNOTES):
            for relation in self._document.part.rels.values():
                if relation.reltype == kind and not relation.is_external:
                    self.outline.close(1)
                    for note in parse_xml(relation.target_part.blob):
                        if note.get(qn("w:type")) is None:
                            self.read(note)

    def _paragraph(self, element: Any) -> None:
        text = clean(self._text(element))
        style = self._style(element)
        level = self._level(element, style)
        if style.lower() == "title" and not self.title and text:
            self.title = text
            self.outline.heading(text, level=1)
        elif level:
            # Below the title's level, so that "Heading 1" does not close the title.
            self.outline.heading(text, level=level + 1)
        elif style.lower() == "caption":
            self._caption = text
            self.outline.caption(text)
        else:
            self.outline.add("list_item" if self._listed(element, style) else "paragraph", text)
            self._caption = "" if text else self._caption
        for box in self._text_boxes(element):
            self.read(box)

    def _text_boxes(self, element: Any) -> Iterator[Any]:
        for content in element.iter(qn("w:txbxContent")):
            ancestors = {parent.tag.rpartition("}")[2] for parent in content.iterancestors()}
            if "Fallback" not in ancestors and "del" not in ancestors:
                yield content

    def _style(self, element: Any) -> str:
        found = self._styles.get(_value(element.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")))
        return str(found.name or "") if found is not None else ""

    def _level(self, element: Any, style: str) -> int:
        if match := _HEADING.match(style):
            return int(match[1])
        outline = _value(element.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}"))
        return int(outline) + 1 if outline.isascii() and outline.isdigit() and outline < "9" else 0

    def _listed(self, element: Any, style: str) -> bool:
        if element.find(f"{qn('w:pPr')}/{qn('w:numPr')}") is not None:
            return True
        return style.lower().startswith("list") and style.lower() != "list continue"

    def _text(self, element: Any) -> str:
        """Return the shown text of a paragraph, or of what holds runs in it."""
        if self._hidden(element.find(qn("w:pPr"))):
            return ""
        parts = []
        for child in element:
            if child.tag == qn("w:r"):
                parts.append(self._run(child))
            elif child.tag in _RUN_HOLDERS:
                parts.append(self._text(child))
        return "".join(parts)

    def _run(self, run: Any) -> str:
        properties = run.find(qn("w:rPr"))
        if self._hidden(properties) or self._hides_run(properties):
            return ""
        text = ""
        for child in run:
            if child.tag == qn("w:t"):
                text += child.text or ""
            else:
                text += _BLANKS.get(child.tag, "")
        if properties is not None and _value(properties.find(qn("w:vertAlign"))) == "superscript":
            return raised(text)
        return text

    def _hides_run(self, properties: Any) -> bool:
        if properties is None:
            return False
        if _on(properties.find(qn("w:strike"))) or _on(properties.find(qn("w:dstrike"))):
            return True
        size = _value(properties.find(qn("w:sz")))
        if size.isascii() and size.isdigit() and int(size) < _SMALLEST:
            return True
        white = _value(properties.find(qn("w:color"))).upper() in {"FFFFFF", "FEFEFE", "FDFDFD"}
        grounds = (properties.find(qn("w:shd")), properties.find(qn("w:highlight")))
        return white and all(ground is None for ground in grounds) and not _shaded(properties)

    def _hidden(self, properties: Any) -> bool:
        """Say whether run or paragraph properties, or the style they name, hide the text."""
        if properties is None:
            return False
        for tag in ("w:vanish", "w:specVanish"):
            if properties.tag == qn("w:rPr") and _on(properties.find(qn(tag))):
                return True
        for tag in ("w:rStyle", "w:pStyle"):
            style = self._styles.get(_value(properties.find(qn(tag))))
            if style is not None and _on(style.element.find(f"{qn('w:rPr')}/{qn('w:vanish')}")):
                return True
        return False

    def _table(self, table: Any) -> None:
        rows = [row for row in _rows(table) if row.find(f"{qn('w:trPr')}/{qn('w:del')}") is None]
        cells = [list(_cells(row)) for row in rows]
        if max((len(row) for row in cells), default=0) < 2:
            for cell in (cell for row in cells for cell in row):
                self.read(cell)
            return
        grid = self._grid(cells)
        marked = 0
        while marked < len(rows) and _on(rows[marked].find(f"{qn('w:trPr')}/{qn('w:tblHeader')}")):
            marked += 1
        header = marked if 0 < marked < len(rows) else int(has_header(grid))
        for _, line in table_lines(grid, header_rows=header):
            self.outline.add("table_row", line, caption=self._caption)
        self._caption = ""

    def _grid(self, rows: Sequence[Sequence[Any]]) -> list[list[str]]:
        """Return the cells' texts; a cell merged downwards repeats, as does one over columns."""
        grid: list[list[str]] = []
        for number, row in enumerate(rows):
            texts: list[str] = []
            for cell in row:
                properties = cell.find(qn("w:tcPr"))
                merge = None if properties is None else properties.find(qn("w:vMerge"))
                text = self._cell_text(cell)
                if merge is not None and _value(merge) != "restart" and grid:
                    at = len(texts)
                    text = grid[-1][at] if at < len(grid[-1]) else text
                span = None if properties is None else properties.find(qn("w:gridSpan"))
                texts.append(text)
                repeats = span_width(_value(span) or None) - 1
                texts.extend([text if number == 0 else ""] * repeats)
            grid.append(texts)
        return grid

    def _cell_text(self, cell: Any) -> str:
        texts = (clean(self._text(paragraph)) for paragraph in cell.iter(qn("w:p")))
        return " ".join(text for text in texts if text)


def _rows(table: Any) -> Iterator[Any]:
    for child in table:
        if child.tag == qn("w:tr"):
            yield child
        elif child.tag in _BLOCK_HOLDERS:
            yield from _rows(child)


def _cells(row: Any) -> Iterator[Any]:
    for child in row:
        if child.tag == qn("w:tc"):
            yield child
        elif child.tag in _BLOCK_HOLDERS:
            yield from _cells(child)


def _shaded(properties: Any) -> bool:
    """Say whether the paragraph or cell around a run has a ground of its own."""
    return any(
        ancestor.find(f"{qn(holder)}/{qn('w:shd')}") is not None
        for ancestor in properties.iterancestors()
        for holder in ("w:pPr", "w:tcPr", "w:tblPr")
    )


def _value(element: Any) -> str:
    return "" if element is None else str(element.get(qn("w:val")) or "")


def _on(element: Any) -> bool:
    return element is not None and str(element.get(qn("w:val")) or "1").lower() not in _OFF
