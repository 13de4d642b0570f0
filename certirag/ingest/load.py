"""Turn the bytes of one source into a Document: choose a reader, place its blocks, see what it says of itself."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Final

from certirag.core.text import Block, Document, sha256_hex
from certirag.errors import IngestError
from certirag.ingest.extract import Extract, Limits, Piece, printable

__all__ = ["Limits", "doc_id_of", "load_document"]

_SLUG_LENGTH: Final = 48
_SECTION_SEPARATOR: Final = " › "
_KINDS: Final = {
    **dict.fromkeys((".txt", ".text"), "text"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".pdf": "pdf",
    ".docx": "docx",
}
_READABLE: Final = "txt, md, html, pdf, docx, csv, jsonl"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # old Office files, and encrypted new ones
_ZIP: Final = b"PK\x03\x04"
_MARKUP = re.compile(rb"\s*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE)
_DECLARED_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]{2,40})", re.IGNORECASE
)
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MOST_CONTROLS: Final = 0.005  # share of a text's characters; binary files have many more
_MOST_CHAOS: Final = 0.15  # charset-normalizer's measure of mess, 0 to 1


def load_document(data: bytes, *, path: str, limits: Limits) -> Document:
    """Return the document that *data*, found under the relative *path*, holds.

    ``document.text[block.start:block.end]`` is each block's text; blocks are in reading order,
    apart by one line feed. Raises IngestError, one line that names the file and the mend, for
    anything that cannot be read: encrypted, corrupt, empty, binary, too large, unsupported; and
    MemoryError, for which `certirag.ingest.apart` has the line.
    """
    name = printable(path)
    if len(data) > limits.max_bytes:
        raise IngestError(
            f"{name}: {len(data):,} bytes, more than the limit of {limits.max_bytes:,}; "
            "split it or raise CERTIRAG_MAX_FILE_BYTES"
        )
    if not data.strip(b"\x00 \t\r\n\f\v"):
        raise IngestError(f"{name}: the file is empty; give one with text")
    kind = _kind(data, path, name)
    try:
        extract = _READERS[kind](data, name, limits)
    except (IngestError, MemoryError):
        raise
    # Parsers of hostile files raise anything, and one bad file must not stop the others.
    except Exception as error:
        raise IngestError(
            f"{name}: damaged or not a {kind} file ({type(error).__name__}); save it anew"
        ) from error
    if not extract.pieces:
        raise IngestError(f"{name}: holds no text; if it is a scan, run text recognition on it")
    return _document(extract, data, path)


def doc_id_of(path: str) -> str:
    """Return the identifier of the document at *path*: its slug and 6 hex digits of its hash."""
    ascii_path = unicodedata.normalize("NFKD", path).encode("ascii", "ignore").decode("ascii")
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_path.lower()).strip("-")[:_SLUG_LENGTH].strip("-")
    return f"{slug or 'document'}-{sha256_hex(path)[:6]}"


def _document(extract: Extract, data: bytes, path: str) -> Document:
    blocks: list[Block] = []
    parts: list[str] = []
    end = 0
    for before, piece in zip((None, *extract.pieces), extract.pieces, strict=False):
        between = _between(before, piece) if before else ""
        start = end + len(between)
        end = start + len(piece.text)
        parts += (between, piece.text)
        section = _SECTION_SEPARATOR.join(piece.headings)
        blocks.append(
            Block(piece.kind, start, end, section, piece.page, piece.visible, piece.boxes)
        )
    # A file's name may hold what UTF-8 cannot: such a path could not be written to an export.
    shown = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return Document(
        doc_id=doc_id_of(path),
        title=extract.title or PurePosixPath(shown).stem or shown,
        path=shown,
        media_type=extract.media_type,
        sha256=sha256_hex(data),
        text="".join(parts),
        blocks=tuple(blocks),
    )


def _between(before: Piece, piece: Piece) -> str:
    """Return the line end within a list or table and under the line that leads into it, or two."""
    runs_on = before.kind == piece.kind or before.text.endswith(":")
    return "\n" if runs_on and piece.kind in ("list_item", "table_row") else "\n\n"


def _kind(data: bytes, path: str, name: str) -> str:
    suffix = PurePosixPath(path).suffix.lower()
    declared = _KINDS.get(suffix, "")
    found = _sniffed(data)
    if data.startswith(_OLE):
        raise IngestError(f"{name}: encrypted, or an old Office format; save it as a plain .docx")
    if declared in {"pdf", "docx"} or found in {"pdf", "docx"}:
        if declared and found and declared != found:
            raise IngestError(f"{name}: is named {suffix} but holds {found}; rename it to .{found}")
        if declared and not found:
            raise IngestError(f"{name}: damaged or not a {declared} file; save it anew")
        return found
    if declared:
        return declared
    if suffix and found != "html":
        raise IngestError(f"{name}: cannot read {printable(suffix)} files; give {_READABLE}")
    return found or "text"


def _sniffed(data: bytes) -> str:
    """Return the kind that the content itself tells beyond doubt, or ""."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(_ZIP):
        return "docx"
    return "html" if _MARKUP.match(data[:4096].removeprefix(codecs.BOM_UTF8)) else ""


def decode_text(data: bytes, *, name: str) -> str:
    """Return *data* as text: byte order mark, UTF-8, a declared charset, then a careful guess.

    Raises IngestError (with *name*) for binary content and for text in no known encoding.
    """
    text = _decoded(data, name)
    controls = sum(1 for _ in _CONTROLS.finditer(text))
    if controls > max(2, len(text) * _MOST_CONTROLS):
        raise IngestError(f"{name}: holds binary content, not text; give one of {_READABLE}")
    return text


def _decoded(data: bytes, name: str) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                raise _undecodable(name) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if b"\x00" in data[:4096]:
        raise IngestError(f"{name}: holds binary content, not text; give one of {_READABLE}")
    if declared := _DECLARED_CHARSET.search(data[:4096]):
        try:
            return data.decode(declared[1].decode("ascii"))
        except (UnicodeDecodeError, LookupError):
            pass
    return _guessed(data, name)


def _guessed(data: bytes, name: str) -> str:
    from charset_normalizer import from_bytes  # noqa: PLC0415 - only for the odd file

    guesses = from_bytes(data)
    best = guesses.best()
    if best is None or best.chaos > _MOST_CHAOS:
        raise _undecodable(name)
    # Short texts fit many code pages as well; the one of Western Windows is by far the likeliest.
    likely = [guess for guess in guesses if guess.encoding == "cp1252"]
    return str(likely[0] if likely and likely[0].chaos <= _MOST_CHAOS else best)


def _undecodable(name: str) -> IngestError:
    return IngestError(f"{name}: its text is in no encoding that fits; save it as UTF-8")


def _read_text(data: bytes, name: str, _limits: Limits) -> Extract:
    from certirag.ingest.read_text import read_plain_text  # noqa: PLC0415 - readers load late

    return read_plain_text(decode_text(data, name=name))


def _read_markdown(data: bytes, name: str, _limits: Limits) -> Extract:
    from certirag.ingest.read_text import read_markdown  # noqa: PLC0415 - the same

    return read_markdown(decode_text(data, name=name), name=name)


def _read_html(data: bytes, name: str, _limits: Limits) -> Extract:
    from certirag.ingest.read_html import read_html  # noqa: PLC0415 - the same

    return read_html(decode_text(data, name=name), name=name)


def _read_csv(data: bytes, name: str, _limits: Limits) -> Extract:
    from certirag.ingest.read_rows import read_csv  # noqa: PLC0415 - the same

    return read_csv(decode_text(data, name=name), name=name)


def _read_jsonl(data: bytes, name: str, _limits: Limits) -> Extract:
    from certirag.ingest.read_rows import read_jsonl  # noqa: PLC0415 - the same

    return read_jsonl(decode_text(data, name=name), name=name)


def _read_docx(data: bytes, name: str, limits: Limits) -> Extract:
    from certirag.ingest.read_docx import read_docx  # noqa: PLC0415 - the same

    return read_docx(data, name=name, limits=limits)


def _read_pdf(data: bytes, name: str, limits: Limits) -> Extract:
    from certirag.ingest.read_pdf import read_pdf  # noqa: PLC0415 - the same

    return read_pdf(data, name=name, limits=limits)


_READERS: Final[dict[str, Callable[[bytes, str, Limits], Extract]]] = {
    "text": _read_text,
    "markdown": _read_markdown,
    "html": _read_html,
    "csv": _read_csv,
    "jsonl": _read_jsonl,
    "docx": _read_docx,
    "pdf": _read_pdf,
}


# Does a document say of itself, at its top, that it no longer holds? See docs/adr/0006.

_STATE: Final = re.compile(
    r"\b(?:superseded|obsolete|withdrawn|no longer (?:valid|in force))\b", re.I
)
# A sentence at the top counts when its subject is the document itself.
_ITSELF: Final = re.compile(
    r"\b(?:this|the present) (?:document|version|guideline|policy|report|page|notice|edition|"
    r"standard|procedure|handbook|schedule)\b[^.;]{0,40}?\b(?:is|was|has been|are|were)\b"
    r"[^.;]{0,20}?\b(?:superseded|obsolete|withdrawn|no longer (?:valid|in force))\b"
    r"|\A\W{0,8}(?:status\s*:\s*)?(?:superseded|obsolete|withdrawn)\b",
    re.I,
)
_OPENING_BLOCKS: Final = 4


def superseded_notice(document: Document) -> str:
    """Return the words by which *document* calls itself superseded, or "" when it does not.

    Only what a reader sees counts, in the title and the first blocks; a heading that does not
    stand above all the text speaks of its section alone, and is judged with each claim on it.
    """
    if _STATE.search(document.title):
        return document.title
    seen = [block for block in document.blocks if block.visible]
    for block in seen[:_OPENING_BLOCKS]:
        text = document.text[block.start : block.end]
        heads = block.kind == "heading" and _STATE.search(text)
        if _ITSELF.search(text) or (heads and all(_under(b, text) for b in seen)):
            return text
    return ""


def _under(block: Block, heading: str) -> bool:
    return block.kind == "heading" or heading in block.section.split(" › ")
