"""Reads JSON that strangers wrote in one way only, and watches it arrive."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from certirag.errors import LanguageModelError

_FENCED: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.IGNORECASE | re.DOTALL)
_OPENING: Final = re.compile(r"\s*(?:```(?:json)?[ \t]*\n\s*)?", re.IGNORECASE)
_CLOSING: Final = {"{": "}", "[": "]"}
_DEEPEST: Final = 32  # brackets in brackets; our schemas need four


class Unsound(ValueError):
    """JSON that two readers may read in two ways, or that holds what is no number or no text."""


def read_json(text: str) -> Any:
    """Return the one JSON value that *text* is; a code block's fence is no part of it.

    Raises LanguageModelError, ``truncated`` for an object that breaks off and ``malformed`` for a
    key twice, NaN, infinity, half of a surrogate pair, depth, text around it, or no JSON.
    """
    fenced = _FENCED.fullmatch(text.strip())
    plain = fenced[1] if fenced else text
    deepest, still_open = _depths(plain)
    try:
        if deepest > _DEEPEST:
            raise Unsound
        found = json.loads(
            plain, object_pairs_hook=_once_each, parse_constant=_refused, parse_float=_finite
        )
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except Unsound:
        still_open = 0
    except (ValueError, RecursionError):
        pass
    else:
        return found
    if still_open > 0:
        raise LanguageModelError("truncated", "the language model's JSON breaks off")
    raise LanguageModelError("malformed", "the language model's answer is not sound JSON alone")


class ItemScan:
    """Finds the objects of the array under the first key *key* of an object as it arrives.

    It only cuts: what it yields is still to be read and checked, and so is the whole. Raises
    LanguageModelError for what cannot become an object with one such array.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._before: list[str] = []  # all that came before the object
        self._open: list[str] = []  # the brackets that are to come, outermost first
        self._string: list[str] | None = None  # the string that is being read, as written
        self._escaped = False
        self._last = ""  # the last string directly inside the object, as written
        self._current: object = None  # the key whose value is being read
        self._item: list[str] | None = None
        self._inside = self._seen = self._done = False

    def feed(self, piece: str) -> Iterator[str]:
        """Yield the text of each item that *piece* completes."""
        for character in piece:
            if self._done:
                return
            if not self._open and not self._begins(character):
                continue
            if self._item is not None:
                self._item.append(character)
            if self._string is not None:
                self._read_string(character)
            elif character == '"':
                self._string = []
            elif character in "{[":
                self._enter(character)
            elif character in "}]":
                self._leave(character)
                if self._item is not None and len(self._open) == 2:
                    yield "".join(self._item)
                    self._item = None
            elif character == ":" and len(self._open) == 1:
                self._current = _decoded(self._last)

    def _begins(self, character: str) -> bool:
        if character == "{":
            before = "".join(self._before)
            if _OPENING.fullmatch(before):
                return True
            if before.lstrip().startswith("["):
                message = "the language model's answer is no object"
                raise LanguageModelError("wrong_schema", message)
            message = "the language model's answer is not sound JSON alone"
            raise LanguageModelError("malformed", message)
        self._before.append(character)
        return False

    def _read_string(self, character: str) -> None:
        string = self._string or []
        if character == '"' and not self._escaped:
            if len(self._open) == 1:
                self._last = "".join(string)
            self._string = None
            return
        self._escaped = character == "\\" and not self._escaped
        string.append(character)
        self._string = string

    def _enter(self, bracket: str) -> None:
        if len(self._open) == 1 and bracket == "[" and self._current == self._key:
            if self._seen:
                message = "the language model's answer holds a key twice"
                raise LanguageModelError("malformed", message)
            self._seen = self._inside = True
        elif len(self._open) == 2 and bracket == "{" and self._inside:
            self._item = ["{"]
        self._open.append(_CLOSING[bracket])
        if len(self._open) > _DEEPEST:
            raise LanguageModelError("malformed", "the language model's JSON is nested too deep")

    def _leave(self, bracket: str) -> None:
        if self._open.pop() != bracket:
            message = "the brackets of the language model's JSON do not pair"
            raise LanguageModelError("malformed", message)
        if len(self._open) == 1:
            self._inside = False
        self._done = not self._open


def _depths(text: str) -> tuple[int, int]:
    """Return how deep brackets lie in brackets, and how many are open where *text* ends.

    Brackets in strings do not count; what follows the last closing bracket is not looked at.
    """
    depth = deepest = 0
    quoted = escaped = False
    for character in text.strip():
        if quoted:
            quoted = character != '"' or escaped
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        else:
            depth += (character in _CLOSING) - (character in "}]")
            deepest = max(deepest, depth)
        if depth <= 0:
            break
    return deepest, depth


def _decoded(written: str) -> object:
    try:
        return json.loads(f'"{written}"')
    except ValueError:
        return None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unsound
    return found


def _refused(_: str) -> float:
    raise Unsound


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise Unsound
    return number
