"""How a prompt is put to a language model: as much as its server takes, and the rest in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from certirag.ports import Prompt

SEED: Final = 7
_IN_WORDS: Final = (
    "Answer with one JSON object that satisfies this JSON Schema, and with nothing around it:"
)
# Lengths of strings are checked by us; strict servers refuse a whole schema for naming them.
_NOT_SENT: Final = frozenset({"minLength", "maxLength"})
_FORMAT: Final = re.compile(r"response_format|json_schema|json_object|schema", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """What a request asks for besides an answer: all of it at first, less where a server minds.

    *shape* is how the schema is asked for; it is checked by us however it was asked for. *limit*
    is the name under which the server takes the bound on the answer.
    """

    shape: Literal["json_schema", "json_object", "words"] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def request(self, model: str, prompt: Prompt) -> dict[str, Any]:
        """Return the arguments of a streamed chat completion of *model*."""
        sent: dict[str, Any] = {"model": model, "stream": True, self.limit: prompt.max_tokens}
        if self.temperature:
            sent["temperature"] = 0
        if self.seed:
            sent["seed"] = SEED
        instructions = prompt.instructions
        if prompt.schema is not None:
            if self.shape == "json_schema":
                name = re.sub(r"[^A-Za-z0-9_-]", "_", prompt.schema_name)[:64] or "answer"
                asked = {"name": name, "strict": True, "schema": _sendable(prompt.schema)}
                sent["response_format"] = {"type": "json_schema", "json_schema": asked}
            else:
                instructions = instructions_with_schema(prompt)
            if self.shape == "json_object":
                sent["response_format"] = {"type": "json_object"}
        sent["messages"] = [
            {"role": "system", "content": encodable(instructions)},
            {"role": "user", "content": encodable(prompt.content)},
        ]
        return sent

    def simpler(self, complaint: str, *, with_schema: bool) -> Form | None:
        """Return the form without what *complaint*, a rejection's own words, is about.

        What it does not name is the schema, which fewest servers take. None: nothing is left
        that could be left out. Each step leaves out one thing, so that they come to an end.
        """
        about_shape = with_schema and self.shape != "words"
        if about_shape and _FORMAT.search(complaint):
            return self._plainer()
        if self.limit == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        if self.seed and re.search(r"\bseed\b", complaint):
            return replace(self, seed=False)
        return self._plainer() if about_shape else None

    def _plainer(self) -> Form:
        return replace(self, shape="json_object" if self.shape == "json_schema" else "words")


def instructions_with_schema(prompt: Prompt) -> str:
    """Return the instructions of *prompt*, with its schema, if it has one, told in words."""
    if prompt.schema is None:
        return prompt.instructions
    told = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
    return f"{prompt.instructions}\n\n{_IN_WORDS}\n{told}"


def complaint_of(body: object) -> str:
    """Return what the *body* of a rejection, as far as it is JSON, says of the request.

    Its message, the parameter it names, and the places of a validation error; not the request,
    which some servers send back whole and which names everything.
    """
    found = [body if isinstance(body, str) else ""]
    outer = body if isinstance(body, Mapping) else {}
    for part in (outer, outer.get("error"), outer.get("detail")):
        if isinstance(part, Mapping):
            found += [str(part[name]) for name in ("param", "message") if part.get(name)]
        elif isinstance(part, str):
            found.append(part)
        elif isinstance(part, list):
            found += [str(fault.get("loc", "")) for fault in part if isinstance(fault, Mapping)]
    return " ".join(filter(None, found))[:4_000]


def _sendable(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: {name: _sendable(part) for name, part in value.items()}
            if key == "properties" and isinstance(value, Mapping)
            else _sendable(value)
            for key, value in schema.items()
            if key not in _NOT_SENT
        }
    return [_sendable(part) for part in schema] if isinstance(schema, list | tuple) else schema


def encodable(text: str) -> str:
    """Return *text* with halves of surrogate pairs, which no JSON can carry, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
