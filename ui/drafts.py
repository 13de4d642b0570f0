"""An uploaded draft → its text and the question it answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from certirag.errors import InputError

DRAFT_TYPES: Final = ["txt", "md", "json"]
_MAX_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer to be checked; *question* is "" when the file names none."""

    text: str
    question: str = ""


def read_draft(name: str, content: bytes) -> Draft:
    """Return the draft in a .txt, .md or .json file; InputError says what is wrong with it.

    JSON is an object with the string ``text`` and, if there is one, ``question``.
    """
    if len(content) > _MAX_BYTES:
        raise InputError(f"the draft has {len(content)} bytes: the limit is {_MAX_BYTES}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{PurePath(name).name!r} is not UTF-8 text: save it as UTF-8") from error
    if PurePath(name).suffix.lower() != ".json":
        return Draft(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{PurePath(name).name!r} is not JSON: {error}") from error
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise InputError(f"{PurePath(name).name!r} needs an object with the string 'text'")
    question = value.get("question", "")
    if not isinstance(question, str):
        raise InputError(f"{PurePath(name).name!r}: 'question' must be a string")
    return Draft(value["text"], question)
