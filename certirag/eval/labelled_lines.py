"""Labelled data as JSON Lines, read as it comes: what is no row is one line that names it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from certirag.errors import InputError

T = TypeVar("T")


def labelled_lines(
    path: Path, adapter: TypeAdapter[T], rows: str = "rows"
) -> Iterator[tuple[int, T]]:
    """Yield (number of the line, row) of what is called *rows* in messages, gunzipped where the name ends in .gz.

    Raises InputError naming file, line and field for a row that is none, and for a file without rows.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    number = found = 0
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):  # told below
                if line.strip():
                    found += 1
                    yield number, adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise InputError(f"{path}, line {number}: {place}: {first['msg']}") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}): check the path") from error
    if not found:
        raise InputError(f"{path} holds no {rows}")
