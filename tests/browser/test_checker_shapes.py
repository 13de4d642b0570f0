"""The offline page's table of shapes says what the published JSON schemas say."""

from __future__ import annotations

from typing import Any

import pytest
from checker_page import PAGE

from certirag.proof.schemas import published_schemas

pytestmark = pytest.mark.browser


def _spelled(schema: dict[str, Any]) -> str:
    """Return a published schema in the notation of the page's table."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return "1" if schema["const"] == 1 else f"={schema['const']}"
    if "enum" in schema:
        return "=" + "|".join(schema["enum"])
    if "anyOf" in schema:
        parts = [_spelled(part) for part in schema["anyOf"]]
        null = "?" if "0" in parts else ""
        parts = [part for part in parts if part != "0"]
        words = [part for part in parts if part.startswith("=")]
        joined = "=" + "|".join(part[1:] for part in parts) if words else "".join(sorted(parts))
        return joined + null
    if schema["type"] == "array":
        return _spelled(schema["items"]) + "*"
    if schema["type"] == "object":
        values = schema["additionalProperties"]
        return "%" if values is True else "%" + _spelled(values)
    return {"string": "s", "integer": "i", "number": "n", "boolean": "b", "null": "0"}[
        schema["type"]
    ]


def _fields(schema: dict[str, Any]) -> dict[str, str]:
    assert schema["additionalProperties"] is False
    required = schema["required"]
    return {
        name if name in required else f"{name}~": _spelled(part)
        for name, part in schema["properties"].items()
    }


def test_the_page_knows_every_published_shape_and_no_other(visit) -> None:
    """Its table and the JSON schemas name the same objects, fields, types and words."""
    schemas = published_schemas()
    expected: dict[str, dict[str, str]] = {}
    tops = {
        "Record": "answer-record",
        "Envelope": "envelope",
        "LogProof": "log-proof",
        "Leaf": "leaf",
        "Countersigned": "countersigned",
        "Review": "review",
    }
    for name, file in tops.items():
        expected[name] = _fields(schemas[file])
        for part, schema in schemas[file].get("$defs", {}).items():
            expected[part] = _fields(schema)
    table = visit(PAGE.as_uri()).page.evaluate("window.checkerShapes()")
    found = {}
    for name, text in table.items():
        fields = dict(field.split(":", 1) for field in text.split())
        found[name] = {key: _sorted_letters(spelled) for key, spelled in fields.items()}
    trust = {"Trust", "TrustedKey"}  # the trust file's, which is not published
    assert trust <= found.keys()
    assert {name: found[name] for name in found.keys() - trust} == expected


def _sorted_letters(spelled: str) -> str:
    letters = spelled.removeprefix("%")
    return (
        "%" * spelled.startswith("%") + "".join(sorted(letters))
        if letters.islower() and letters.isalpha()
        else spelled
    )
