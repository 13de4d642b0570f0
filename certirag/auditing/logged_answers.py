"""Answers of the log, opened again, and rows that a query found as JSON Lines and CSV.

An opened answer is its record, and its export with today's proof. A cell of text that a spreadsheet
would take for a formula gets an apostrophe before it; so does what follows a character inside a text
that another program may take for the start of a cell. JSON Lines hold every text as it is. Half
surrogate pairs, which UTF-8 cannot hold, become U+FFFD in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.errors import AuditError
from certirag.ports import AuditLog, LogEntry
from certirag.proof.certificate import AnswerRecord, export_bytes, parse_statement
from certirag.proof.countersignature import REVIEW_TYPE, Countersigned
from certirag.proof.envelope import Envelope, envelope_of, verified_payload
from certirag.proof.facets import MAX_PAGE, RENDER_STATES, AnswerPage, AnswerQuery, AnswerRow
from certirag.proof.log import Leaf, commitment, parse_leaf
from certirag.proof.trust import require_in_range


def open_answer(
    entry: LogEntry, trusted: Mapping[str, Ed25519PublicKey]
) -> tuple[Leaf, AnswerRecord]:
    """Return leaf and record of an answer's entry once commitment and signature hold.

    Raises AuditError for another kind of entry and for an erased one, CertificateError for one
    that does not hold.
    """
    leaf = parse_leaf(entry.leaf)
    envelope = _envelope(leaf, entry)
    payload = verified_payload(envelope, trusted)
    require_in_range(trusted, envelope.signatures[0].keyid, leaf.index, leaf.origin)
    record = parse_statement(payload)
    if record.trace_id != leaf.trace_id:
        raise AuditError(f"entry {leaf.index} of the log holds another answer's record")
    return leaf, record


def pages(log: AuditLog, query: AnswerQuery) -> Iterator[AnswerPage]:
    """Yield the pages of *query* from the newest to the last one."""
    after: int | None = None
    while True:
        page = log.search(query, after=after, limit=MAX_PAGE)
        yield page
        if page.after is None:
            return
        after = page.after


def rows(log: AuditLog, query: AnswerQuery) -> Iterator[AnswerRow]:
    """Yield every answer that *query* asks for, newest first; memory does not grow with them."""
    for page in pages(log, query):
        yield from page.rows


def export_again(log: AuditLog, trace_id: str) -> bytes:
    """Return the audit export of a logged answer, with a proof from the newest checkpoint.

    Where a reviewer decided on it, the decision is part of the export.
    """
    entry = log.find(trace_id)
    leaf = parse_leaf(entry.leaf)
    envelope = _envelope(leaf, entry)
    return export_bytes(envelope, log.proof(leaf.index), _review(log, trace_id))


def _review(log: AuditLog, trace_id: str) -> Countersigned | None:
    """Return what a reviewer signed, None where nobody did or it was erased; nothing is verified."""
    for text in log.leaves_of("review", trace_id):
        leaf = parse_leaf(text)
        (entry,) = log.entries(leaf.index, leaf.index + 1)
        if entry.content is not None and entry.signature is not None:
            envelope = envelope_of(entry.content, *entry.signature, REVIEW_TYPE)
            return Countersigned(envelope, log.proof(leaf.index))
    return None


def _envelope(leaf: Leaf, entry: LogEntry) -> Envelope:
    if leaf.kind != "answer":
        raise AuditError(f"entry {leaf.index} of the log is no answer, it is {leaf.kind!r}")
    if entry.content is None or entry.salt is None or entry.signature is None:
        raise AuditError(f"the answer of entry {leaf.index} was erased")
    if leaf.commit != commitment(entry.salt, entry.content):
        raise AuditError(f"the content of entry {leaf.index} is not what its leaf commits to")
    return envelope_of(entry.content, *entry.signature)


ExportFormat = Literal["jsonl", "csv"]
COLUMNS: Final = (
    *("index", "at", "trace_id", "request", "complete", "question", "corpus", "policy"),
    *("decision", "reason", "confidence", "grounding", "claims"),
    *(state.lower() for state in RENDER_STATES),
    *("verifier", "generator", "topic", "revoked", "documents"),
)
# =, +, - and @, and what a spreadsheet takes for them: full-width, small and minus signs.
_FORMULA: Final = "=+@\\-\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
# Drawn as nothing, or cut off by the program that reads the cell.
_BLANK: Final = "\\s\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_STARTS: Final = re.compile(f"(^|[,;|\t\r\n\"'])([{_BLANK}]*)(?=[{_FORMULA}])")
_HALVES: Final = re.compile("[\ud800-\udfff]")
_CONTROLS: Final = ("\t", "\r", "\n")


def row_json(row: AnswerRow) -> dict[str, Any]:
    """Return *row* as JSON values, one key per name of `COLUMNS`; documents are objects."""
    of = row.facets
    values = {
        **{name: getattr(of, name) for name in COLUMNS if name in of.__dataclass_fields__},
        **{state.lower(): of.states.get(state, 0) for state in RENDER_STATES},
        "index": row.index,
        "revoked": row.revoked,
        "documents": [
            {"doc_id": d.doc_id, "title": d.title, "path": d.path, "sha256": d.sha256}
            for d in of.documents
        ],
    }
    return {name: values[name] for name in COLUMNS}


def json_line(row: AnswerRow) -> bytes:
    """Return *row* as one line of JSON in UTF-8."""
    return _utf8(json.dumps(row_json(row), ensure_ascii=False, allow_nan=False) + "\n")


def csv_line(row: AnswerRow) -> bytes:
    """Return *row* as a record of RFC 4180 in UTF-8; documents are one cell of JSON."""
    values = row_json(row)
    values["documents"] = json.dumps(values["documents"], ensure_ascii=False)
    return _utf8(csv_record(list(values.values())))


def csv_header() -> bytes:
    """Return the record that names the columns."""
    return _utf8(csv_record(list(COLUMNS)))


def csv_record(values: list[object]) -> str:
    """Return *values* as one record: numbers plain, every text quoted and without formulas."""
    return ",".join(map(_cell, values)) + "\r\n"


def safe_text(text: str) -> str:
    """Return *text* so that no spreadsheet computes it; what needs no change stays the same."""
    marked = _STARTS.sub(lambda match: f"{match[1]}'{match[2]}", text)
    return f"'{marked}" if marked.startswith(_CONTROLS) else marked


def start_of(form: ExportFormat) -> bytes:
    """Return what a file of this form begins with."""
    return csv_header() if form == "csv" else b""


def line_of(form: ExportFormat) -> Callable[[AnswerRow], bytes]:
    """Return the function that writes one row in this form."""
    return csv_line if form == "csv" else json_line


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = safe_text(str(value)).replace('"', '""')
    return f'"{text}"'


def _utf8(text: str) -> bytes:
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text).encode("utf-8")
