"""Files in which benchmarks are published: JSON Lines, JSON, CSV, TSV and Parquet, read as typed rows that know their place."""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from certirag.errors import InputError, MissingExtra
from certirag.eval.labelled_lines import labelled_lines
from certirag.ports import Progress

T = TypeVar("T")
LeftOut = Counter[str]  # rows that a reader leaves out, by reason


@dataclass(frozen=True, slots=True)
class PublicationReading:
    """What a reader tells beside its rows: how many it leaves out and why, and how far it is."""

    left_out: LeftOut = field(default_factory=Counter)
    progress: Progress = lambda *_: None


_LONGEST_CELL: Final = 2**24  # characters; Python's own limit, 2**17, is shorter than an article
_PARQUET_ROWS: Final = 1_000  # held at once
_LONGEST_NAME: Final = 60  # characters
_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}

# How text of the Penn Treebank's tokenizer is joined again, in this order.
_JOINED: Final = (
    (r"-LRB-", "("),
    (r"-RRB-", ")"),
    (r"-LSB-", "["),
    (r"-RSB-", "]"),
    (r"-LCB-", "{"),
    (r"-RCB-", "}"),
    (r"``\s*", "“"),
    (r"\s*''", "”"),
    (r"(?<=\w) - (?=\w)", "-"),
    (r"\s+(?=[.,;:!?%)\]}])", ""),
    (r"(?<=[(\[{$£€])\s+", ""),
    (r"\s+(?=(?:'(?:s|re|ve|ll|d|m)|n't)\b)", ""),
)


def typed_rows(
    path: Path, adapter: TypeAdapter[T], *, key: str = "", columns: Sequence[str] = ()
) -> Iterator[tuple[str, T]]:
    """Yield (place, row) of a file whose suffix says its form; a place is like ``a.csv, line 3``.

    JSON Lines, CSV and TSV are read line by line (gunzipped where the name ends in .gz), Parquet in
    batches (extra ``parquet``); JSON, which is one value, is read whole: an array of rows, or an
    object that has it under *key*. *columns* names the cells of a CSV or TSV whose first line is a
    row already. Raises InputError naming file, place and field of the first row
    that is none, and for a file without rows; MissingExtra where pyarrow is needed and not there.
    """
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix in {".jsonl", ".ndjson"}:
        for number, row in labelled_lines(path, adapter):
            yield f"{path}, line {number}", row
        return
    if suffix in _SEPARATORS:
        values = _cells(path, _SEPARATORS[suffix], columns)
    elif suffix == ".json":
        values = _entries(path, key)
    elif suffix == ".parquet":
        values = _parquet(path)
    else:
        message = f"{path}: is none of .jsonl, .json, .csv, .tsv and .parquet: name another file"
        raise InputError(message)
    found = False
    for place, value in values:
        found = True
        try:
            row = adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "the row"
            raise InputError(f"{place}: {field}: {first['msg']}") from error
        yield place, row
    if not found:
        raise InputError(f"{path} holds no rows")


def _cells(
    path: Path, separator: str, columns: Sequence[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    csv.field_size_limit(_LONGEST_CELL)
    opener = cast("Callable[..., IO[str]]", gzip.open if path.suffix == ".gz" else open)
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, columns or None, delimiter=separator)
            for row in reader:
                # A cell that is not there is no cell; one too many has no name.
                cells = {name: cell for name, cell in row.items() if name and cell is not None}
                yield f"{path}, line {reader.line_num}", cells
    except csv.Error as error:
        raise InputError(f"{path}: is no table of cells ({error}): check the file") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise _unread(path, error) from error


def _entries(path: Path, key: str) -> Iterator[tuple[str, Any]]:
    try:
        value = from_json(path.read_bytes())
    except OSError as error:
        raise _unread(path, error) from error
    except ValueError as error:
        raise InputError(f"{path}: is no JSON ({error}): check the file") from error
    if key and isinstance(value, dict):
        value = value.get(key)
    if not isinstance(value, list):
        within = f" under {key!r}" if key else ""
        raise InputError(f"{path}: holds no array of rows{within}: check the file")
    for number, entry in enumerate(value, 1):
        yield f"{path}, entry {number}", entry


def _parquet(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        import pyarrow  # noqa: PLC0415  # heavy, and no part of what is always installed
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        message = f"{path}: Parquet needs pyarrow: pip install 'certirag[parquet]'"
        raise MissingExtra(message) from error
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", row
    except (OSError, pyarrow.ArrowException) as error:
        raise _unread(path, error) from error


def _unread(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: cannot be read ({str(error).splitlines()[0]}): check the path")


def one_file(path: Path) -> list[Path]:
    """Return the file *path* alone; InputError where it is a folder."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder: name one of its files")
    return [path]


def files_named(pattern: str) -> Callable[[Path], list[Path]]:
    """Return what finds the files: the one that is named, or those of a folder that *pattern* fits."""

    def found(path: Path) -> list[Path]:
        if not path.is_dir():
            return [path]
        files = sorted(path.glob(pattern))
        if not files:
            raise InputError(f"{path}: holds no {pattern}: name the folder that does, or a file")
        return files

    return found


def beside(path: Path, name: str) -> Path:
    """Return the file *name* in the folder of *path*; InputError where there is none."""
    found = path.parent / name
    if not found.is_file():
        raise InputError(f"{found}: is not there: {path.name} is published beside {name}")
    return found


def digest_of(files: Sequence[Path]) -> str:
    """Return the SHA-256 of a file's bytes, or of the names and digests of several."""
    digests = []
    for path in files:
        try:
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise _unread(path, error) from error
    if len(files) == 1:
        return digests[0]
    named = [f"{path.name} {digest}" for path, digest in zip(files, digests, strict=True)]
    return hashlib.sha256("\n".join(named).encode()).hexdigest()


def told(left_out: LeftOut) -> str:
    """Return *left_out* as a list for a reader, or ``nothing``."""
    reasons = [f"{count} {reason}" for reason, count in sorted(left_out.items())]
    return ", ".join(reasons) or "nothing"


def plain_name(text: str) -> str:
    """Return *text* of strangers as a name for tables and terminals: letters, digits, blanks and ``._-``."""
    return " ".join(re.sub(r"[^\w .-]+", " ", text).split())[:_LONGEST_NAME]


def joined_tokens(text: str) -> str:
    """Return *text* of the Penn Treebank's tokenizer as people write it: brackets, quotes, commas."""
    for pattern, instead in _JOINED:
        text = re.sub(pattern, instead, text)
    return " ".join(text.split())
