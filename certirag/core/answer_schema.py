"""Checks a language model's JSON against the part of JSON Schema that our prompts use."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

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
