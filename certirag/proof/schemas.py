"""The published JSON Schemas (2020-12), generated from the types that the program runs on."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from certirag.core.claim import ClaimIR
from certirag.core.policy import Policy
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.proof.certificate import AnswerRecord, RendererDecision
from certirag.proof.countersignature import Countersigned, Review
from certirag.proof.envelope import Envelope
from certirag.proof.log import Leaf, LogProof

_BASE: Final = "https://certirag.dev/schemas/"
_TYPES: Final[dict[str, Any]] = {
    "evidence-chunk": EvidenceChunk,
    "claim-ir": ClaimIR,
    "verification-result": VerificationResult,
    "renderer-decision": RendererDecision,
    "policy": Policy,
    "answer-record": AnswerRecord,
    "envelope": Envelope,
    "log-proof": LogProof,
    "leaf": Leaf,
    "review": Review,
    "countersigned": Countersigned,
}
# These are no keys of a record that has nothing to say there; every other field always is.
_LEFT_OUT: Final = frozenset(
    {
        "probe",
        "generation",
        "citations",
        "selector",
        "relevance",
        "by_part",
        "parts",
        "open_parts",
        "quoted",
    }
)


def published_schemas() -> dict[str, dict[str, Any]]:
    """Return every published schema by name; unknown fields are refused at every level."""
    return {name: _schema(name, kind) for name, kind in _TYPES.items()}


def _schema(name: str, kind: Any) -> dict[str, Any]:
    body = TypeAdapter(kind).json_schema(mode="serialization")
    _close(body)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{_BASE}{name}/v1.json",
    }
    return {**head, **body}


def _close(node: Any) -> None:
    """Refuse unknown and missing fields wherever the fields are listed."""
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            node["additionalProperties"] = False
            left_out = _LEFT_OUT & {
                n for n, kind in node["properties"].items() if "default" in kind
            }
            node["required"] = [name for name in node["properties"] if name not in left_out]
            for name in left_out:  # absent, never null
                kind = node["properties"][name]
                node["properties"][name] = kind["anyOf"][0] if "anyOf" in kind else kind
        for value in node.values():
            _close(value)
    elif isinstance(node, list):
        for value in node:
            _close(value)
