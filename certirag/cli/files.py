"""The files that the command line reads and writes; what cannot be used is one clear line."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from certirag.errors import InputError


def read_draft(path: Path) -> tuple[str, str]:
    """Return (question, draft) of a text file, or of a JSON object with ``text``."""
    text = _read_text(path)
    if path.suffix.lower() != ".json":
        return "", text
    try:
        value = json.loads(text)
        question, draft = value.get("question", ""), value["text"]
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: a JSON draft is an object with the key 'text'") from error
    if not isinstance(question, str) or not isinstance(draft, str):
        raise InputError(f"{path}: 'text' and 'question' must be strings")
    return question, draft


def read_pairs(path: Path) -> list[dict[str, object]]:
    """Return the rows of JSON Lines, gzipped or not; InputError naming the first bad line."""
    rows: list[dict[str, object]] = []
    text = _read_gzipped(path) if path.suffix == ".gz" else _read_text(path)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: not JSON: {error}") from error
        if not isinstance(row, dict) or not all(
            isinstance(row.get(key), str) for key in ("premise", "hypothesis")
        ):
            raise InputError(
                f"{path}, line {number}: a row is an object with strings 'premise' and 'hypothesis'"
            )
        rows.append(row)
    return rows


def _read_text(path: Path) -> str:
    _ordinary(path)  # a pipe or a device may never end
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: save it as UTF-8") from error


def _read_gzipped(path: Path) -> str:
    try:
        return gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read as gzip ({error}): check the file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: save it as UTF-8") from error


def _ordinary(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is no ordinary file: name one")


def write_beside(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file whole or not at all, for its owner alone: what people asked is in it."""
    if not path.name:
        raise InputError(f"{str(path)!r} names no file: give one to write")
    _ordinary(path)  # a device would be replaced
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.touch(0o600)
        with temporary.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def json_line(value: object) -> bytes:
    """Return *value* as one line of JSON in UTF-8."""
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
