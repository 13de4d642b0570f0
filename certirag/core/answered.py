"""From the pieces of a language model's answer to its text, its JSON, or its items one by one."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from typing import Any, Final

from certirag.core.answer_schema import fault_of, items_schema
from certirag.core.strict_json import ItemScan, read_json
from certirag.errors import LanguageModelError

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
