"""Read tables that are whole files: CSV and TSV, and JSON Lines, one block a row."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from certirag.errors import IngestError
from certirag.ingest.extract import Extract, Outline, clean
from certirag.ingest.tables import column_names, has_header, row_line

_SEPARATORS: Final = ",;\t|"
_PROSE_WORDS: Final = 40  # a cell longer than this is prose: paragraphs of its own, not one line
_LONGEST_FIELD: Final = 10_000_000
_BLANK_LINES = re.compile(r"\n\s*\n")
_IDENTIFIER = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")


def read_csv(text: str, *, name: str) -> Extract:
    """Return one table row a record, named by the first one; IngestError (with *name*) if broken."""
    csv.field_size_limit(_LONGEST_FIELD)
    separator = _separator(text)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise IngestError(f"{name}: not a readable table ({error}); quote its cells") from error
    outline = Outline()
    count = int(has_header(rows))
    names = column_names(rows[:count])
    for row in rows[count:]:
        columns = [names[i] if i < len(names) else "" for i in range(len(row))]
        _add_row(outline, list(zip(columns, row, strict=True)))
    return outline.extract(title="", media_type="text/csv")


def read_jsonl(text: str, *, name: str) -> Extract:
    """Return one table row a line of JSON; nested keys are dotted, figures kept as written.

    Raises IngestError with *name* and the number of the first line that is no JSON.
    """
    outline = Outline()
    # Only \n ends a line of JSON Lines; splitlines would also cut at U+2028 inside a string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(
                line,
                object_pairs_hook=_Pairs,
                parse_float=str,
                parse_int=str,
                parse_constant=str,
            )
            cells = list(_flattened("", value))
        except (ValueError, RecursionError) as error:
            raise IngestError(
                f"{name}: line {number} is not JSON; correct or remove that line"
            ) from error
        _add_row(outline, [(_spoken(key), cell) for key, cell in cells])
    return outline.extract(title="", media_type="application/jsonl")


class _Pairs(list[tuple[str, Any]]):
    """An object's members as written: a key that comes twice keeps both of its values."""


def _flattened(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, _Pairs):
        for inner, member in value:
            yield from _flattened(f"{key}.{inner}" if key else inner, member)
    elif isinstance(value, list):
        if any(isinstance(member, list) for member in value):
            for index, member in enumerate(value, start=1):
                yield from _flattened(f"{key}.{index}" if key else str(index), member)
        else:
            yield key, ", ".join(_scalar(member) for member in value if member is not None)
    elif value is not None:
        yield key, _scalar(value)


def _scalar(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spoken(key: str) -> str:
    cleaned = clean(key)
    return cleaned.replace("_", " ") if _IDENTIFIER.fullmatch(cleaned) else cleaned


def _add_row(outline: Outline, cells: Sequence[tuple[str, str]]) -> None:
    short = [(name, cell) for name, cell in cells if len(cell.split()) <= _PROSE_WORDS]
    outline.add("table_row", row_line([name for name, _ in short], [cell for _, cell in short]))
    label = next((clean(cell) for _, cell in short if clean(cell)), "")
    for name, cell in cells:
        if len(cell.split()) > _PROSE_WORDS:
            caption = " › ".join(part for part in (label, name) if part)
            for paragraph in _BLANK_LINES.split(cell):
                outline.add("paragraph", paragraph, caption=caption)


def _separator(text: str) -> str:
    """Return the separator that cuts the first lines most evenly, a comma when none does."""
    lines = [line for line in text[:100_000].split("\n")[:20] if line.strip()]

    def evenness(separator: str) -> tuple[float, int]:
        counts = [line.count(separator) for line in lines]
        usual = max(set(counts), key=counts.count, default=0)
        return (counts.count(usual) / len(counts) if usual else 0.0, usual)

    return max(_SEPARATORS, key=evenness) if lines else ","
