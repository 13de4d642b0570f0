"""Rows that a query found → JSON Lines and CSV that a spreadsheet cannot run.

A cell of text that a spreadsheet would take for a formula gets an apostrophe before it; so does
what follows a character inside a text that another program may take for the start of a cell. JSON Lines hold every text as it is. Half surrogate pairs, which UTF-8 cannot hold, become
U+FFFD in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final, Literal

from certirag.proof.facets import RENDER_STATES, AnswerRow

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
