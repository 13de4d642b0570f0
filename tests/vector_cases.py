"""The published vectors, and what certirag/checker.py says of one."""

from __future__ import annotations

import base64
import json
import lzma
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag import checker

VECTORS = Path(__file__).resolve().parents[1] / "fixtures" / "vectors" / "vectors.jsonl.xz"


def published_lines() -> list[str]:
    """Return the lines of the file as they are."""
    return lzma.decompress(VECTORS.read_bytes()).decode("ascii").splitlines()


def vectors() -> list[dict[str, Any]]:
    """Return the vectors, their exports and trust files as bytes."""
    found = []
    for line in published_lines():
        vector = json.loads(line)
        for name in ("export", "trust"):
            if name in vector:
                vector[name] = base64.b64decode(vector[name])
        found.append(vector)
    return found


def pinned(vector: dict[str, Any]) -> Any:
    """Return the keys of a vector for the checker, useless ones too; checker.Unusable if none."""
    if "trust" in vector:
        return checker.open_trust(vector["trust"], checker.load_key(bytes.fromhex(vector["root"])))
    raw = map(bytes.fromhex, vector["keys"])
    return {checker.key_id(key): key for key in map(Ed25519PublicKey.from_public_bytes, raw)}


def judged(vector: dict[str, Any]) -> tuple[str, str, str]:
    """Return what the checker says of a vector: verdict, code and reason."""
    try:
        keys = pinned(vector)
    except checker.Unusable as error:
        return "CANNOT CHECK", "trust", str(error)
    report = checker.check(vector["export"], keys, vector.get("sources"))
    return report.verdict, report.code, report.reason
