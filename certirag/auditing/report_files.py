"""An answer → a file to take away: Markdown, Word or PDF, each written from the same report.

Word gets paragraphs of plain runs: no field, link, picture or macro is ever made. A PDF's words are
drawn one by one on a canvas, so that no text is read as markup. Its font is DejaVu Sans
(assets/fonts); what that does not have, and what has to be shaped or runs from right to left, is
shown by its number: a wrong glyph or a wrong order would be a wrong quote.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from certirag.errors import InputError, MissingExtra
from certirag.render import Presentation, markdown_report, report_of
from certirag.settings import ASSETS

if TYPE_CHECKING:
    from certirag.render import AnswerReport, ReportPiece


_MONO: Final = "Consolas"
_GRAY_BYTES: Final = (0x46, 0x52, 0x5A)


def docx_report(report: AnswerReport) -> bytes:
    """Return *report* as a .docx; the same report gives the same text."""
    from docx import Document  # noqa: PLC0415  # only for who exports

    document = Document()
    _describe(document, report)
    document.add_heading(report.title, 0)
    for block in report.blocks:
        document.add_heading(block.heading, 1)
        for line in block.lines:
            paragraph = document.add_paragraph()
            if any(piece.kind == "status" for piece in line):
                paragraph.paragraph_format.keep_with_next = True
                paragraph.paragraph_format.space_after = 0
            for piece in line:
                _add(paragraph, piece)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _add(paragraph: Any, piece: ReportPiece) -> None:
    """Add *piece* as one run: its characters go into `w:t`, which Word shows as they are."""
    from docx.shared import RGBColor  # noqa: PLC0415

    run = paragraph.add_run(piece.text)
    if piece.kind == "status":
        run.bold = True
    elif piece.kind == "own":
        run.font.color.rgb = RGBColor(*_GRAY_BYTES)
    elif piece.kind == "code":
        run.font.name = _MONO


def _describe(document: Any, report: AnswerReport) -> None:
    """Replace what the template says of itself; nothing of it is text from outside."""
    about = document.core_properties
    about.title, about.author, about.comments = report.title, "CertiRAG", ""
    try:
        made = datetime.fromisoformat(report.made).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        made = datetime(1980, 1, 1)  # noqa: DTZ001  # Word has it without a zone
    about.created = about.modified = made


_FONT: Final = "DejaVuSans"
_PAGE: Final = (595.28, 841.89)  # A4 in points
_MARGIN: Final = 62.0
_TEXT, _HEADING, _TITLE = 10.0, 13.0, 20.0
_BLACK, _GRAY = (0.08, 0.08, 0.08), (0.27, 0.32, 0.35)
_LONGEST: Final = 160  # characters of a line without a blank
_WORDS: Final = re.compile(r"\s+|\S+")
# Written from right to left, or numbers that take part in it (Unicode bidirectional classes).
_TURNED: Final = frozenset({"R", "AL", "AN"})


def pdf_report(report: AnswerReport) -> bytes:
    """Return *report* as a PDF on A4; it holds the part of the font that it needs."""
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415  # only for who exports

    _set_up_font()
    file = BytesIO()
    canvas = Canvas(file, pagesize=_PAGE, pageCompression=1)
    canvas.setTitle(report.title)
    canvas.setAuthor("CertiRAG")
    sheet = _Sheet(canvas)
    sheet.write([_Word(report.title, bold=True)], _TITLE)
    for block in report.blocks:
        sheet.gap(_TEXT)
        sheet.write([_Word(block.heading, bold=True)], _HEADING, keep=3 * _HEADING)
        for line in block.lines:
            states = any(piece.kind == "status" for piece in line)
            sheet.gap(_TEXT / 2 if states else 0)
            sheet.write(_words(line), _TEXT, keep=3 * _TEXT if states else 0)
    if sheet.unset:
        sheet.gap(_TEXT)
        note = (
            "Characters that this file's font cannot set rightly are shown by their number, "
            "⟨U+XXXX⟩. The Word and Markdown files have them."
        )
        sheet.write([_Word(note, _GRAY)], _TEXT)
    sheet.end()
    return file.getvalue()


@lru_cache(maxsize=1)
def _set_up_font() -> frozenset[int]:
    """Make the font known to reportlab, once, and return the code points that it has."""
    from reportlab.pdfbase import pdfmetrics  # noqa: PLC0415
    from reportlab.pdfbase.ttfonts import TTFont  # noqa: PLC0415

    font = TTFont(_FONT, str(ASSETS / "fonts" / "DejaVuSans.ttf"))
    pdfmetrics.registerFont(font)
    return frozenset(font.face.charToGlyph)


def as_set(text: str) -> str:
    """Return *text* with each character by its number that cannot be set rightly.

    A mark on a letter can be set, one on another mark would be drawn over it.
    """
    known, shown, before = _set_up_font(), [], ""
    for character in text:
        turned = unicodedata.bidirectional(character) in _TURNED
        stacked = unicodedata.combining(character) and (not before or unicodedata.combining(before))
        right = ord(character) in known and not turned and not stacked
        shown.append(character if right else f"⟨U+{ord(character):04X}⟩")
        before = character
    return "".join(shown)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    colour: tuple[float, float, float] = _BLACK
    bold: bool = False


def _words(line: Iterable[ReportPiece]) -> list[_Word]:
    return [
        _Word(piece.text, _GRAY if piece.kind == "own" else _BLACK, bold=piece.kind == "status")
        for piece in line
    ]


@dataclass(slots=True)
class _Sheet:
    """Where on which page the next line goes; *unset* says whether a character was replaced."""

    canvas: Any
    top: float = _PAGE[1] - _MARGIN
    number: int = 1
    unset: bool = False

    def gap(self, points: float) -> None:
        self.top -= points

    def write(self, words: Iterable[_Word], size: float, *, keep: float = 0.0) -> None:
        """Write one paragraph, broken into lines; *keep* points below it stay on its page."""
        if self.top - keep < _MARGIN:
            self._turn()
        for line in self._lines(words, size):
            if self.top - size < _MARGIN:
                self._turn()
            self.top -= size * 1.45
            self._draw(line, size)
        self.top -= size * 0.5

    def end(self) -> None:
        self._foot()
        self.canvas.save()

    def _turn(self) -> None:
        self._foot()
        self.canvas.showPage()
        self.number += 1
        self.top = _PAGE[1] - _MARGIN

    def _foot(self) -> None:
        self.canvas.setFont(_FONT, 8)
        self.canvas.setFillColorRGB(*_GRAY)
        self.canvas.drawCentredString(_PAGE[0] / 2, _MARGIN / 2, f"{self.number:d}")

    def _lines(self, words: Iterable[_Word], size: float) -> Iterator[list[_Word]]:
        """Yield lines that fit between the margins; a word that is too long is cut anywhere."""
        room, line, used = _PAGE[0] - 2 * _MARGIN, list[_Word](), 0.0
        for word in words:
            shown = as_set(word.text)
            self.unset |= shown != word.text
            for text in _WORDS.findall(shown):
                for part in self._parts(text, size, room):
                    width = self.canvas.stringWidth(part, _FONT, size)
                    if line and used + width > room:
                        yield line
                        line, used = [], 0.0
                    if line or not part.isspace():
                        line.append(_Word(part, word.colour, word.bold))
                        used += width
        if line:
            yield line

    def _parts(self, text: str, size: float, room: float) -> Iterator[str]:
        start = 0
        while start < len(text):
            part = text[start : start + _LONGEST]
            while len(part) > 1 and self.canvas.stringWidth(part, _FONT, size) > room:
                part = part[:-1]
            yield part
            start += len(part)

    def _draw(self, line: list[_Word], size: float) -> None:
        self.canvas.saveState()  # how text is painted outlives a text object
        text = self.canvas.beginText(_MARGIN, self.top)
        text.setFont(_FONT, size)
        for word in line:
            text.setFillColorRGB(*word.colour)
            text.setStrokeColorRGB(*word.colour)
            text.setTextRenderMode(2 if word.bold else 0)
            text.textOut(word.text)
        self.canvas.setLineWidth(0.3)
        self.canvas.drawText(text)
        self.canvas.restoreState()


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A format by its *suffix*; *package* is what it needs installed, by the name of its import."""

    suffix: str
    mime: str
    package: str = ""
    extra: str = ""

    @property
    def missing(self) -> str:
        """What to do before this format can be written, "" when nothing is missing."""
        if not self.package or find_spec(self.package) is not None:
            return ""
        return f"{self.suffix} needs {self.package}: pip install 'certirag[{self.extra}]'"


_WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMATS: Final[Mapping[str, ReportFormat]] = {
    "md": ReportFormat("md", "text/markdown"),
    "docx": ReportFormat("docx", _WORD),
    "pdf": ReportFormat("pdf", "application/pdf", "reportlab", "pdf"),
}
_WRITERS: Final = {"md": markdown_report, "docx": docx_report, "pdf": pdf_report}


def ready_format(suffix: str) -> ReportFormat:
    """Return the format of *suffix*; InputError if there is none, MissingExtra if it cannot be had."""
    known = FORMATS.get(suffix)
    if known is None:
        raise InputError(f"{suffix!r} is no format of a report: take {', '.join(FORMATS)}")
    if known.missing:
        raise MissingExtra(known.missing)
    return known


def report_file(presentation: Presentation, suffix: str) -> bytes:
    """Return *presentation* as a file of the format *suffix*; errors as of `ready_format`."""
    return _WRITERS[ready_format(suffix).suffix](report_of(presentation))
