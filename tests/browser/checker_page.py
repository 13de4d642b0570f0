"""Drives assets/checker.html in a browser, from its file, and asks it for verdicts."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_cases import KEY, logged
from memory_log import ORIGIN
from playwright.sync_api import Page

from certirag.proof.envelope import key_id, raw_public_key
from certirag.proof.trust import Trust, TrustedKey, trust_bytes

PAGE = Path(__file__).resolve().parents[2] / "assets" / "checker.html"

HEX = raw_public_key(KEY.public_key()).hex()
PINS = {"keys": [HEX]}
_ROOT = Ed25519PrivateKey.from_private_bytes(bytes([9]) * 32)
ROOT_HEX = raw_public_key(_ROOT.public_key()).hex()

_CHECK_ALL = """async (cases) => {
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const found = [];
  for (const { data, pins, sources } of cases) {
    if (pins && pins.trust) pins.trust = bytes(pins.trust);
    const { verdict, code, reason } = await window.checkExport(bytes(data), pins, sources);
    found.push({ verdict, code, reason });
  }
  return found;
}"""
_FLIP = """async ({ data, pins, first, last }) => {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  return window.checkMany(bytes, pins, first, last ?? bytes.length * 8);
}"""


def case(
    data: bytes, pins: dict[str, Any] | None, sources: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return one question to the page; a trust file in *pins* is given as bytes."""
    if pins and isinstance(pins.get("trust"), bytes):
        pins = {**pins, "trust": base64.b64encode(pins["trust"]).decode("ascii")}
    named = None if sources is None else list(sources)
    return {"data": base64.b64encode(data).decode("ascii"), "pins": pins, "sources": named}


def verdicts(page: Page, cases: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Return verdict, code and reason of every case, in order."""
    found: list[dict[str, str]] = []
    for start in range(0, len(cases), 100):  # a message to the browser has its limits
        found += page.evaluate(_CHECK_ALL, cases[start : start + 100])
    return found


def flipped(
    page: Page, data: bytes, pins: dict[str, Any], first: int = 0, last: int | None = None
) -> dict[str, Any]:
    """Check *data* with each single bit of [first, last) flipped: tried, accepted, codes."""
    question = {**case(data, pins), "first": first, "last": last}
    answered: dict[str, Any] = page.evaluate(_FLIP, question)
    return answered


def resigned(statement: dict[str, Any]) -> bytes:
    """Return the export of *statement*, whatever it says, signed and logged by the pinned key."""
    return logged(json.dumps(statement, ensure_ascii=False).encode("utf-8"))


def trust_entry(first: int = 0, until: int | None = None) -> TrustedKey:
    """Return the pinned key as a trust file names it, for the entries from *first* to *until*."""
    return TrustedKey(key_id(KEY.public_key()), HEX, first, until, "")


def trust_file(*entries: TrustedKey, origin: str = ORIGIN) -> bytes:
    """Return a trust file of *entries*, signed by the root key."""
    return trust_bytes(Trust(1, 1, origin, entries), _ROOT)
