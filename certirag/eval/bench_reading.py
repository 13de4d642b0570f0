"""Measures what reading a document costs against its size, for every format that is read.

The documents are made here, of sentences in paragraphs under headings or of rows. Each is read and
cut into sentences as `certirag ingest` does it, in a process of its own and within the limits set.
"""

from __future__ import annotations

import io
import json
import random
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from certirag.bootstrap import reading_process
from certirag.errors import IngestError
from certirag.eval.bench import machine_facts, milliseconds
from certirag.ports import Progress
from certirag.settings import Settings

Report = dict[str, Any]
SIZES: Final = (10_000, 100_000, 1_000_000, 5_000_000, 25_000_000)  # bytes
_WORDS: Final = (
    *("the", "committee", "approves", "a", "budget", "when", "its", "members", "agree", "that"),
    *("costs", "stay", "below", "figures", "of", "last", "year", "and", "every", "department"),
    *("reports", "in", "March", "what", "it", "has", "spent", "on", "travel", "training"),
)
_SENTENCES: Final = 6  # of a paragraph
_PARAGRAPHS: Final = 20  # of a section
_PAGE_LINES: Final = 90
_PAGES: Final = 1_990  # under the limit on pages, however large the file


def run_reading_bench(settings: Settings, progress: Progress, *, seed: int = 1) -> Report:
    """Return seconds and bytes of memory for each format and size, for JSON.

    What is refused has the line that says why in place of them.
    """
    work = [(kind, size) for kind in _WRITERS for size in SIZES]
    rows: list[Report] = []
    for done, (kind, size) in enumerate(work):
        progress(f"Reading {size:,} bytes of {kind}", done, len(work))
        chance = random.Random(f"{seed}/{kind}/{size}")  # noqa: S311  # repeatable, and no secret
        data = _WRITERS[kind](size, chance)
        row: Report = {"format": kind, "bytes": len(data)}
        with reading_process(settings) as read:
            began = time.perf_counter()
            try:
                _, chunks = read(data, f"document.{kind}")
            except IngestError as error:
                row["refused"] = str(error)
            else:
                row["chunks"] = len(chunks)
                row["peak_memory_mb"] = round(read.peak_memory / 1e6) or None
            row["ms"] = milliseconds(time.perf_counter() - began)
        rows.append(row)
    progress("Read them all", len(work), len(work))
    return {"documents": rows, "machine": machine_facts()}


def reading_report_lines(report: Report) -> tuple[str, ...]:
    """Return *report* as a table for a person."""
    lines = [f"{'format':<8}{'bytes':>12}{'seconds':>10}{'s per MB':>10}{'peak MB':>9}"]
    for row in report["documents"]:
        seconds = row["ms"] / 1000
        line = f"{row['format']:<8}{row['bytes']:>12,}{seconds:>10.2f}"
        if "refused" in row:
            lines.append(f"{line}  refused: {row['refused'].partition(': ')[2]}")
            continue
        each, memory = seconds * 1e6 / row["bytes"], row["peak_memory_mb"]
        lines.append(f"{line}{each:>10.2f}{'unknown' if memory is None else memory:>9}")
    lines.append(f"{report['machine']['cores']} cores; each with the start of its own process")
    return tuple(lines)


def _sentence(chance: random.Random) -> str:
    words = chance.choices(_WORDS, k=chance.randint(8, 22))
    words.insert(3, f"{chance.randint(2, 9_999):,}")
    return f"{' '.join(words).capitalize()}."


def _paragraphs(size: int, chance: random.Random) -> Iterator[str]:
    """Yield paragraphs that have *size* characters together, or a few more."""
    made = 0
    while made < size:
        text = " ".join(_sentence(chance) for _ in range(_SENTENCES))
        made += len(text)
        yield text


def _text(size: int, chance: random.Random) -> bytes:
    return "\n\n".join(_paragraphs(size, chance)).encode()[:size]


def _markdown(size: int, chance: random.Random) -> bytes:
    parts = [
        f"## Section {at // _PARAGRAPHS}\n\n{text}" if at % _PARAGRAPHS == 0 else text
        for at, text in enumerate(_paragraphs(size, chance))
    ]
    return "\n\n".join(parts).encode()[:size]


def _html(size: int, chance: random.Random) -> bytes:
    parts = [
        f"<h2>Section {at // _PARAGRAPHS}</h2><p>{text}</p>"
        if at % _PARAGRAPHS == 0
        else f"<p>{text}</p>"
        for at, text in enumerate(_paragraphs(size, chance))
    ]
    return f"<html><body>{''.join(parts)}".encode()[:size]


def _csv(size: int, chance: random.Random) -> bytes:
    rows = ["item,amount,note"]
    made = 0
    while made < size:
        row = f"item {len(rows)},{chance.randint(1, 10**6)},{_sentence(chance).replace(',', '')}"
        made += len(row) + 1
        rows.append(row)
    return "\n".join(rows[:-1]).encode()[:size]


def _jsonl(size: int, chance: random.Random) -> bytes:
    rows: list[str] = []
    made = 0
    while made < size:
        row = json.dumps(
            {"item": len(rows), "amount": chance.randint(1, 10**6), "text": _sentence(chance)}
        )
        made += len(row) + 1
        rows.append(row)
    return "\n".join(rows[:-1] or rows).encode()


def _docx(size: int, chance: random.Random) -> bytes:
    """Return a docx whose packed size is about *size*: text of this kind packs to a quarter."""
    text = "".join(
        f"<w:p><w:r><w:t>{paragraph}</w:t></w:r></w:p>"
        for paragraph in _paragraphs(int(size * _PACKED), chance)
    )
    return docx_file(text)


def docx_file(body: str) -> bytes:
    """Return a Word file whose body is the WordprocessingML *body*."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _DOCX_PARTS.items():
            archive.writestr(name, content.replace("TEXT", body))
    return out.getvalue()


def _pdf(size: int, chance: random.Random) -> bytes:
    """Return a PDF of *size* bytes, unpacked, of at most so many pages as may be read."""
    lines = [
        text[at : at + 100].encode()
        for text in _paragraphs(int(size * _PDF_TEXT), chance)
        for at in range(0, len(text), 100)
    ]
    each = max(_PAGE_LINES, len(lines) // _PAGES + 1)
    pages = [lines[at : at + each] for at in range(0, len(lines), each)]
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>"
        % (b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(len(pages))), len(pages)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for at, page in enumerate(pages):
        leading = min(8, 780 / len(page))
        shown = b"\n".join(b"(%b) '" % line for line in page)
        content = b"BT /F %.2f Tf %.3f TL 40 800 Td\n%b\nET" % (leading * 0.9, leading, shown)
        parts.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 820]/Contents %d 0 R"
            b"/Resources<</Font<</F 3 0 R>>>>>>" % (5 + 2 * at)
        )
        parts.append(b"<</Length %d>>stream\n%b\nendstream" % (len(content), content))
    return pdf_file(parts)


def pdf_file(parts: Sequence[bytes]) -> bytes:
    """Return a PDF of the objects *parts*, numbered from 1, of which the first is the catalogue."""
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, part in enumerate(parts, 1):
        places.append(b"%010d 00000 n \n" % out.tell())
        out.write(b"%d 0 obj%b\nendobj\n" % (number, part))
    start = out.tell()
    count = len(parts) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, b"".join(places)))
    out.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (count, start))
    return out.getvalue()


_PACKED: Final = 4.0  # characters for each packed byte of a docx
_PDF_TEXT: Final = 0.92  # characters for each byte of a PDF
_OFFICE: Final = "http://schemas.openxmlformats.org"
_DOCX_PARTS: Final = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_OFFICE}/package/2006/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.wordprocessingml.document.main+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="r1" Type='
        f'"{_OFFICE}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
        "</Relationships>"
    ),
    "word/document.xml": (
        f'<w:document xmlns:w="{_OFFICE}/wordprocessingml/2006/main"><w:body>TEXT</w:body>'
        "</w:document>"
    ),
}
_WRITERS: Final[dict[str, Callable[[int, random.Random], bytes]]] = {
    "txt": _text,
    "md": _markdown,
    "html": _html,
    "csv": _csv,
    "jsonl": _jsonl,
    "docx": _docx,
    "pdf": _pdf,
}
