"""Reads a report back from each format, with a reader that did not write it."""

from __future__ import annotations

import io
import re
import zipfile

import docx
import pypdfium2
import pypdfium2.raw as pdfium
from markdown_it import MarkdownIt

from certirag.render.report import AnswerReport

# What may stand in a report written as Markdown, by its CommonMark name.
PLAIN_BLOCKS = {"heading", "paragraph", "blockquote", "inline"}
PLAIN_INLINE = {"text", "code_inline", "strong_open", "strong_close"}
# What in a Word file is more than its text, its fonts and its headings.
LIVE_WORD = re.compile(
    rb"<w:(hyperlink|fldChar|fldSimple|instrText|object|pict|drawing|altChunk|sdt)\b|"
    rb'TargetMode="External"'
)


def blocks_of(report: AnswerReport) -> dict[str, list[str]]:
    """Return the lines of *report* by their heading."""
    return {
        block.heading: ["".join(piece.text for piece in line) for line in block.lines]
        for block in report.blocks
    }


def whole_lines(report: AnswerReport) -> list[str]:
    """Return the title, the headings and the lines of *report* in order."""
    parts = [report.title]
    for heading, lines in blocks_of(report).items():
        parts += [heading, *lines]
    return parts


def read_markdown(file: bytes) -> tuple[list[str], list[str], set[str]]:
    """Return the lines, the code spans, and whatever is there that no report may hold.

    Read with tables and strikethrough, which GitHub has beside CommonMark.
    """
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(file.decode("utf-8"))
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {re.sub("_(open|close)$", "", token.type) for token in tokens} - PLAIN_BLOCKS
    live = kinds | {child.type for child in inline} - PLAIN_INLINE
    lines = ["".join(c.content for c in t.children or ()) for t in tokens if t.type == "inline"]
    return lines, [child.content for child in inline if child.type == "code_inline"], live


def read_word(file: bytes) -> tuple[list[str], set[bytes]]:
    """Return the paragraphs, and what in the parts of the file is more than text."""
    document = docx.Document(io.BytesIO(file))
    with zipfile.ZipFile(io.BytesIO(file)) as parts:
        live = {
            found[0] for name in parts.namelist() for found in LIVE_WORD.finditer(parts.read(name))
        }
    return [paragraph.text for paragraph in document.paragraphs], live


def read_pdf(file: bytes) -> tuple[str, int]:
    """Return the text without blanks, and how many annotations (links, forms) and attachments."""
    document = pypdfium2.PdfDocument(file)
    texts, live = [], document.count_attachments()
    for page in document:
        live += pdfium.FPDFPage_GetAnnotCount(page)
        whole = page.get_textpage().get_text_range()
        # The last line of a page is its number.
        texts.append(re.sub(r"\d+\s*$", "", whole))
    return unbroken("".join(texts)), live


def unbroken(text: str) -> str:
    """Return *text* without blanks and hyphens: a reader of a PDF takes one at a line's end away."""
    return re.sub(r"[\s\ufffe\u0002-]+", "", text)
