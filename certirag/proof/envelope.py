"""DSSE v1 envelopes and Ed25519 keys: what is signed is bytes, and only those bytes are read.

The signature is over the pre-authentication encoding of the payload's type and bytes
(https://github.com/secure-systems-lab/dsse), so nothing depends on writing JSON twice in the same
way, and one kind of statement cannot be passed off as another.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import TypeAdapter, ValidationError

from certirag.core.text import sha256_hex
from certirag.errors import CertificateError, CertiRAGError

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
MAX_CERTIFICATE_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 32
_TOO_LARGE: Final = 2**53
_ESCAPE: Final = re.compile(r"\\(?:u.{4}|.)", re.DOTALL)
_ODD_ESCAPE: Final = re.compile(r"\\u(?![0-9a-f]{4})", re.DOTALL)

# Points of order 1, 2, 4 and 8 on edwards25519, canonical and not: OpenSSL accepts signatures
# under them for any message (Chalkias, Garillot, Nikolaenko 2020, "Taming the many EdDSAs").
_SMALL_ORDER_KEYS: Final = frozenset(
    bytes.fromhex(key)
    for key in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    )
)


@dataclass(frozen=True, slots=True)
class Signature:
    """One DSSE signature: *keyid* is the SHA-256 of the raw public key, *sig* is base64."""

    keyid: str
    sig: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """A DSSE envelope; *payload* is base64 of the Statement's bytes."""

    payloadType: str  # noqa: N815  # the DSSE field's name
    payload: str
    signatures: tuple[Signature, ...]


_T = TypeVar("_T")
_ENVELOPE: Final = TypeAdapter(Envelope)


def key_id(public_key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of the raw 32-byte public key, in hex."""
    return sha256_hex(raw_public_key(public_key))


def raw_public_key(public_key: Ed25519PublicKey) -> bytes:
    """Return the 32 raw bytes of *public_key*."""
    return public_key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def load_public_key(raw: bytes) -> Ed25519PublicKey:
    """Return the key of 32 raw bytes; CertificateError for a wrong length or a small order."""
    if len(raw) != 32 or raw in _SMALL_ORDER_KEYS:
        raise CertificateError("public key is not a usable Ed25519 key (length or small order)")
    return Ed25519PublicKey.from_public_bytes(raw)


def sign(
    payload: bytes, private_key: Ed25519PrivateKey, payload_type: str = PAYLOAD_TYPE
) -> Envelope:
    """Return the DSSE envelope of *payload* signed with *private_key*."""
    signature = private_key.sign(_pae(payload_type, payload))
    return envelope_of(payload, key_id(private_key.public_key()), signature, payload_type)


def envelope_of(
    payload: bytes, keyid: str, signature: bytes, payload_type: str = PAYLOAD_TYPE
) -> Envelope:
    """Return the envelope of a *payload* that was signed before; nothing is verified here."""
    sig = base64.b64encode(signature).decode("ascii")
    encoded = base64.b64encode(payload).decode("ascii")
    return Envelope(payload_type, encoded, (Signature(keyid, sig),))


def verified_payload(
    envelope: Envelope,
    trusted: Mapping[str, Ed25519PublicKey],
    payload_type: str = PAYLOAD_TYPE,
) -> bytes:
    """Return the payload bytes once a *trusted* key's signature over them holds.

    Keys come from the caller, never from the file. Raises CertificateError otherwise.
    """
    if envelope.payloadType != payload_type:
        raise CertificateError(f"payload type is not {payload_type}")
    if len(envelope.signatures) != 1:
        raise CertificateError("the envelope must carry exactly one signature")
    signature = envelope.signatures[0]
    key = trusted.get(signature.keyid)
    if key is None or key_id(key) != signature.keyid:
        raise CertificateError(f"signed by key {signature.keyid[:16]!r}…, which is not trusted")
    load_public_key(raw_public_key(key))
    payload = strict_base64(envelope.payload)
    try:
        key.verify(strict_base64(signature.sig), _pae(payload_type, payload))
    except InvalidSignature as error:
        raise CertificateError("the signature does not match the signed bytes") from error
    return payload


def parse_envelope(value: object) -> Envelope:
    """Return the envelope of parsed JSON; CertificateError for unknown or missing fields."""
    return validated(_ENVELOPE, value, "certificate")


def envelope_json(envelope: Envelope) -> dict[str, Any]:
    """Return *envelope* as JSON values."""
    value: dict[str, Any] = _ENVELOPE.dump_python(envelope, mode="json")
    return value


def strict_json(data: bytes, *, literal_numbers: bool = False) -> Any:
    """Parse JSON that can be read and spelled in one way only.

    Refused, as CertificateError: duplicate keys, NaN, infinities, numbers too large to be told
    apart (2^53 and beyond), halves of surrogate pairs, escapes in upper-case hex (the same text
    in another spelling), bad UTF-8, nesting beyond `MAX_DEPTH` and oversized input.
    *literal_numbers* keeps each number as it was spelled, for comparing two texts.
    """
    if len(data) > MAX_CERTIFICATE_BYTES:
        raise CertificateError(f"larger than {MAX_CERTIFICATE_BYTES} bytes")
    try:
        text = data.decode("utf-8")
        if any(_ODD_ESCAPE.match(escape[0]) for escape in _ESCAPE.finditer(text)):
            raise ValueError("an escape is not in lower-case hex")
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_LiteralNumber if literal_numbers else _finite,
            parse_int=_LiteralNumber if literal_numbers else _small,
        )
        _require_sound(value)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"not strict JSON: {error}") from error
    return value


def validated(adapter: TypeAdapter[_T], value: object, what: str) -> _T:
    """Return parsed JSON as the adapter's type; CertificateError names where it does not fit."""
    try:
        return adapter.validate_json(json.dumps(value), strict=True, extra="forbid")
    except (ValidationError, ValueError, CertiRAGError) as error:
        detail = error.errors()[0] if isinstance(error, ValidationError) else error
        where = ".".join(map(str, detail["loc"])) if isinstance(detail, dict) else str(detail)
        raise CertificateError(f"the {what} is malformed at {where or 'its top'}") from error


def _pae(payload_type: str, payload: bytes) -> bytes:
    """Pre-authentication encoding of DSSE v1."""
    kind = payload_type.encode("ascii")
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def strict_base64(text: str) -> bytes:
    """Decode base64, refusing other spellings of the same bytes."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise CertificateError("it holds bad base64") from error
    if base64.b64encode(data).decode("ascii") != text:
        raise CertificateError("it holds non-canonical base64")
    return data


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key appears twice")
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise ValueError(f"{literal[:20]} is no finite number")
    return value


def _small(literal: str) -> int:
    value = int(literal) if len(literal) <= 17 else _TOO_LARGE
    if abs(value) >= _TOO_LARGE:
        raise ValueError(f"{literal[:20]} is too large to be read by everybody alike")
    return value


def _require_sound(value: object, depth: int = 0) -> None:
    """Refuse deep nesting and half surrogates, in keys too."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        for key, part in value.items():
            _require_sound(key, depth + 1)
            _require_sound(part, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _require_sound(part, depth + 1)
    elif isinstance(value, str):
        value.encode("utf-8")  # UnicodeEncodeError is a ValueError


@dataclass(frozen=True, slots=True)
class _LiteralNumber:
    """A JSON number as it was spelled."""

    literal: str
