"""Reading Word documents: order, tables, hidden and deleted text, and hostile archives."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import docx
import pytest
from docx.oxml import OxmlElement
from docx.shared import Pt, RGBColor

from certirag.core.text import Document
from certirag.errors import IngestError
from certirag.ingest.load import Limits, load_document


def saved(document: Any) -> bytes:
    """Return the bytes of a python-docx document."""
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def load(data: bytes, limits: Limits | None = None) -> Document:
    """Return the document that *data* holds."""
    return load_document(data, path="a.docx", limits=limits or Limits())


def blocks(document: Document) -> list[tuple[str, str, str]]:
    """Return (kind, section, text) of all blocks."""
    return [(b.kind, b.section, document.text[b.start : b.end]) for b in document.blocks]


def test_headings_lists_and_tables_come_in_order() -> None:
    """A title, headings, a list and a table with a merged cell give the blocks a reader sees."""
    word = docx.Document()
    word.add_heading("Insurance", level=0)
    word.add_heading("Water damage", level=1)
    word.add_paragraph("Covered only from burst pipes.")
    word.add_paragraph("Floods are not.", style="List Bullet")
    table = word.add_table(rows=3, cols=3)
    for row, texts in zip(
        table.rows, [["Site", "Sum", "Note"], ["Oslo", "5", ""], ["", "7", "new"]], strict=True
    ):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    word.add_heading("Fire", level=1)
    power = word.add_paragraph("Covered up to 10")
    power.add_run("5").font.superscript = True
    document = load(saved(word))
    assert document.title == "Insurance"
    assert blocks(document) == [
        ("heading", "", "Insurance"),
        ("heading", "", "Water damage"),
        ("paragraph", "Water damage", "Covered only from burst pipes."),
        ("list_item", "Water damage", "Floods are not."),
        ("table_row", "Water damage", "Site: Oslo; Sum: 5"),
        ("table_row", "Water damage", "Site: Oslo; Sum: 7; Note: new"),
        ("heading", "", "Fire"),
        ("paragraph", "Fire", "Covered up to 10⁵"),
    ]


def test_hidden_struck_tiny_white_and_deleted_text_is_left_out() -> None:
    """Only what the page shows is read; a tracked insertion is shown, a deletion is not."""
    word = docx.Document()
    paragraph = word.add_paragraph("Shown ")
    paragraph.add_run("vanished ").font.hidden = True
    paragraph.add_run("struck ").font.strike = True
    paragraph.add_run("tiny ").font.size = Pt(1)
    paragraph.add_run("white ").font.color.rgb = RGBColor(255, 255, 255)
    for tag, text in (("w:del", "deleted "), ("w:ins", "inserted")):
        change, run, inner = OxmlElement(tag), OxmlElement("w:r"), OxmlElement("w:t")
        inner.text = text
        run.append(inner)
        change.append(run)
        paragraph._p.append(change)
    assert load(saved(word)).text == "Shown inserted"


def test_content_controls_and_text_boxes_are_read() -> None:
    """Text inside a content control or a text box is on the page, so it is read."""
    word = docx.Document()
    paragraph = word.add_paragraph("Before.")
    control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    inner = word.add_paragraph("In a control.")._p
    paragraph._p.addnext(control)
    control.append(content)
    content.append(inner)
    box = OxmlElement("w:txbxContent")
    box.append(word.add_paragraph("In a box.")._p)
    holder = OxmlElement("w:pict")
    holder.append(box)
    paragraph.runs[0]._r.append(holder)
    assert load(saved(word)).text == "Before.\n\nIn a box.\n\nIn a control."


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    """What the parts unpack to is bounded by the limit of the file's bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a/>" + b" " * 5_000_000)
    with pytest.raises(IngestError, match="unpacks to 5,000,004 bytes"):
        load(buffer.getvalue(), Limits(max_bytes=100_000))


@pytest.mark.parametrize("name", ["xl/workbook.xml", "word/document.xml"])
def test_an_archive_that_is_no_word_document_is_refused(name: str) -> None:
    """A spreadsheet, or an empty shell, is refused in one line."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "<a/>")
    with pytest.raises(IngestError, match=r"^a\.docx: .*Word document|damaged"):
        load(buffer.getvalue())


def test_external_entities_are_not_expanded() -> None:
    """An entity declared in the document's own XML brings no file in."""
    word = docx.Document()
    word.add_paragraph("MARK")
    source = zipfile.ZipFile(io.BytesIO(saved(word)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in source.namelist():
            part = source.read(name)
            if name == "word/document.xml":
                head, _, rest = part.partition(b"?>")
                entity = b'?><!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
                part = head + entity + rest.replace(b"MARK", b"A &x; b.")
            archive.writestr(name, part)
    try:
        outcome = load(buffer.getvalue()).text
    except IngestError as error:
        outcome = str(error)
    assert outcome
    assert "root:" not in outcome
