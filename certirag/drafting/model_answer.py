"""A language model's answer: from its pieces to its text, its JSON, or its items one by one.

What it is given of strangers stands in the prompt as material, between lines that nobody but us can
have written.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, Final

from certirag.drafting.strict_json import ItemScan, read_json
from certirag.errors import InputError, LanguageModelError

_LABEL: Final = re.compile(r"[a-z][a-z0-9 _.:-]{0,63}", re.IGNORECASE)
_NONCE: Final = re.compile(r"[0-9a-f]{16,64}")


def delimiters(label: str, nonce: str) -> tuple[str, str]:
    """Return the lines before and behind the text called *label*.

    *nonce* is drawn anew for each request (``secrets.token_hex(8)``), so that no text can have
    been written with it in view. Raises InputError for a label or a nonce of another form.
    """
    if not _LABEL.fullmatch(label):
        raise InputError(f"{label!r} cannot name a text in a prompt: use letters and digits")
    if not _NONCE.fullmatch(nonce):
        raise InputError("a delimiter must be 16 to 64 hexadecimal digits in small letters")
    return f"<{label} {nonce}>", f"</{label} {nonce}>"


def delimited(label: str, text: str, nonce: str) -> str:
    """Return *text*, as it is, between the delimiters of *label* and *nonce*.

    Raises InputError when the text holds the nonce, in whatever letters: then it was not drawn
    for this request alone, and the caller draws another.
    """
    before, behind = delimiters(label, nonce)
    if nonce in text.casefold():
        raise InputError(
            f"the text {label!r} holds its own delimiter: draw another for this request"
        )
    return f"{before}\n{text}\n{behind}"


def unmarked(pieces: Iterable[str], nonce: str) -> Iterator[str]:
    """Yield the *pieces* of an answer, none of which may write the *nonce* of its request.

    A small model repeats the material it was shown, delimiters and all; and an answer that gives
    the nonce away would let the next text be written with it in view. LanguageModelError then.
    """
    end = ""
    for piece in pieces:
        end += piece.casefold()
        if nonce in end:
            message = "the language model repeats the marks of its request instead of answering"
            raise LanguageModelError("malformed", message)
        end = end[-len(nonce) :]
        yield piece


# Checks a language model's JSON against the part of JSON Schema that our prompts use.

# Whether a value is of a type of JSON Schema: true is no number, 1.0 is no integer of ours.
_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    ),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_SPOKEN: Final = frozenset({"title", "description"})  # for the model; nothing is checked by them
_KNOWN: Final = _SPOKEN | {
    "type", "enum", "properties", "required", "additionalProperties", "items",
    "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum",
}  # fmt: skip


def items_schema(
    key: str,
    item: Mapping[str, Any],
    *,
    most: int,
    others: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the schema of an object with an array of at most *most* *item* under *key*.

    *others* are the schemas of its other keys; every key must be there, and no more.
    """
    properties = {key: {"type": "array", "items": item, "maxItems": most}, **(others or {})}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def fault_of(value: object, schema: Mapping[str, Any], place: str = "the answer") -> str:
    """Return the first thing by which *value* breaks *schema*, or "" if it keeps to it.

    The line names places by the schema's own keys and quotes nothing of the value. Raises
    ValueError for a schema that says something that would go unchecked.
    """
    unknown = set(schema) - _KNOWN
    if unknown or schema.get("additionalProperties", False) is not False:
        raise ValueError(f"a schema for {place} that cannot be checked: {sorted(unknown)}")
    types = schema.get("type", ())
    names = [types] if isinstance(types, str) else list(types)
    if names and not any(_TYPES[name](value) for name in names):
        return f"{place} is no {' or '.join(names)}"
    if "enum" in schema and not any(
        type(value) is type(one) and value == one for one in schema["enum"]
    ):
        return f"{place} is none of the values that may stand there"
    if isinstance(value, dict):
        return _object_fault(value, schema, place)
    if isinstance(value, list):
        return _array_fault(value, schema, place)
    if isinstance(value, str):
        return _bounds_fault(len(value), schema, ("minLength", "maxLength"), f"{place}, in length,")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _bounds_fault(value, schema, ("minimum", "maximum"), place)
    return ""


def _object_fault(value: Mapping[str, object], schema: Mapping[str, Any], place: str) -> str:
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{place} has no {name}"
    if "additionalProperties" in schema and not value.keys() <= properties.keys():
        return f"{place} has a key that it was not asked for"
    faults = (
        fault_of(value[name], part, f"{place}'s {name}")
        for name, part in properties.items()
        if name in value
    )
    return next(filter(None, faults), "")


def _array_fault(value: list[object], schema: Mapping[str, Any], place: str) -> str:
    fault = _bounds_fault(len(value), schema, ("minItems", "maxItems"), f"{place}, in length,")
    if fault or "items" not in schema:
        return fault
    faults = (
        fault_of(part, schema["items"], f"{place}, item {number},")
        for number, part in enumerate(value, 1)
    )
    return next(filter(None, faults), "")


def _bounds_fault(
    size: float, schema: Mapping[str, Any], bounds: tuple[str, str], place: str
) -> str:
    least, most = (schema.get(bound) for bound in bounds)
    if least is not None and size < least:
        return f"{place} is below {least}"
    if most is not None and size > most:
        return f"{place} is above {most}"
    return ""


MAX_CHARACTERS: Final = 400_000


def whole_answer(pieces: Iterable[str], *, limit: int = MAX_CHARACTERS) -> str:
    """Return the text of *pieces*, blanks around it removed.

    LanguageModelError when the stream fails, is longer than *limit* characters, or is blank.
    """
    text = "".join(_bounded(pieces, limit)).strip()
    if not text:
        raise LanguageModelError("empty", "the language model answered with nothing")
    return text


def json_answer(
    pieces: Iterable[str], schema: Mapping[str, Any], *, limit: int = MAX_CHARACTERS
) -> dict[str, Any]:
    """Return the one JSON object that *pieces* come to, if it keeps to *schema*.

    No key twice, no NaN or infinity, no half of a surrogate pair, nothing around it; the fence of
    a code block is no part of it if there is nothing outside. LanguageModelError otherwise:
    ``truncated`` for JSON that breaks off, ``malformed`` for none, ``wrong_schema`` for another.
    """
    return _object_of(whole_answer(pieces, limit=limit), schema)


def streamed_items(
    pieces: Iterable[str],
    key: str,
    item_schema: Mapping[str, Any],
    *,
    most: int = 64,
    others: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int = MAX_CHARACTERS,
) -> Generator[dict[str, Any], None, dict[str, Any]]:
    """Yield each object of the array under *key* once it is complete; return the whole object.

    The answer is asked for by ``items_schema(key, item_schema, most=most, others=others)``. Each
    item keeps to *item_schema* when it is yielded. Then the whole answer is checked as by
    `json_answer`, and must hold the items that were yielded and no others. LanguageModelError as
    soon as something is wrong; what was yielded before it stays yielded.
    """
    schema = items_schema(key, item_schema, most=most, others=others)
    scan = ItemScan(key)
    heard: list[str] = []
    items: list[dict[str, Any]] = []
    with closing(_bounded(pieces, limit)) as bounded:
        for piece in bounded:
            heard.append(piece)
            for text in scan.feed(piece):
                if len(items) >= most:
                    message = f"the language model gave more than {most} items under {key}"
                    raise LanguageModelError("wrong_schema", message)
                items.append(_object_of(text, item_schema))
                yield items[-1]
    whole = _object_of(whole_answer(heard, limit=limit), schema)
    if json.dumps(whole[key]) != json.dumps(items):
        message = "the language model's answer can be read in more than one way"
        raise LanguageModelError("malformed", message)
    return whole


def _object_of(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    found = read_json(text)
    if not isinstance(found, dict):
        raise LanguageModelError("wrong_schema", "the language model's answer is no object")
    fault = fault_of(found, schema)
    if fault:
        raise LanguageModelError("wrong_schema", f"the language model's JSON is wrong: {fault}")
    return found


def _bounded(pieces: Iterable[str], limit: int) -> Generator[str, None, None]:
    """Yield *pieces*, closing the stream behind them; LanguageModelError for too many."""
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > limit:
                message = f"the language model's answer is longer than {limit} characters"
                raise LanguageModelError("truncated", message)
            yield piece
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            close()
