"""A report → Word: paragraphs of plain runs; no field, link, picture or macro is ever made."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from certirag.render import AnswerReport, ReportPiece

_MONO: Final = "Consolas"
_GRAY: Final = (0x46, 0x52, 0x5A)


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
        run.font.color.rgb = RGBColor(*_GRAY)
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
