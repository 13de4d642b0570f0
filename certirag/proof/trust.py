"""Which key signs for which entries of a log: a list that the root key signs.

A key that is retired keeps what it signed before; what it signs from `until_index` on is worth
nothing, whoever holds it (docs/certificate.md §3).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Final, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import TypeAdapter

from certirag.errors import CertificateError
from certirag.proof.envelope import (
    envelope_json,
    key_id,
    load_public_key,
    parse_envelope,
    raw_public_key,
    sign,
    strict_json,
    validated,
    verified_payload,
)

TRUST_TYPE: Final = "application/vnd.certirag.trust+json"


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A key of a log: good for entries from *from_index* on, before *until_index* (None: all).

    *public_key* is 64 hex digits; *reason* says why it was retired, "" while it is in use.
    """

    keyid: str
    public_key: str
    from_index: int
    until_index: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys of the log *origin*; a higher *version* replaces a lower one."""

    v: Literal[1]
    version: int
    origin: str
    keys: tuple[TrustedKey, ...]

    def ring(self) -> KeyRing:
        """Return the keys for checking; CertificateError for one that is none or misnamed."""
        keys = {}
        for one in self.keys:
            try:
                key = load_public_key(bytes.fromhex(one.public_key))
            except ValueError as error:
                raise CertificateError(f"the trusted key {one.keyid[:16]!r} is not hex") from error
            if key_id(key) != one.keyid or raw_public_key(key).hex() != one.public_key:
                raise CertificateError(f"the trusted key {one.keyid[:16]!r} is misnamed")
            keys[one.keyid] = key
        if len(keys) != len(self.keys):
            raise CertificateError("the trust file names a key twice")
        return KeyRing(keys, self)


class KeyRing(Mapping[str, Ed25519PublicKey]):
    """Public keys by key id: those of *trust* for their entries, those of *outright* for all.

    A plain mapping of keys in its place means: every key for every entry.
    """

    __slots__ = ("_keys", "_outright", "trust")

    def __init__(
        self,
        keys: Mapping[str, Ed25519PublicKey],
        trust: Trust,
        outright: Mapping[str, Ed25519PublicKey] = MappingProxyType({}),
    ) -> None:
        # A key that the trust file names has its range, whoever else pins it.
        self._outright = {keyid: key for keyid, key in outright.items() if keyid not in keys}
        self._keys, self.trust = {**keys, **self._outright}, trust

    def __getitem__(self, keyid: str) -> Ed25519PublicKey:
        return self._keys[keyid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def is_outright(self, keyid: str) -> bool:
        """Say whether *keyid* is pinned for every entry of any log."""
        return keyid in self._outright


def require_in_range(
    trusted: Mapping[str, Ed25519PublicKey], keyid: str, index: int, origin: str
) -> None:
    """Raise CertificateError unless *keyid* signs for entry *index* of the log *origin*."""
    if not isinstance(trusted, KeyRing) or trusted.is_outright(keyid):
        return
    ranges = {one.keyid: one for one in trusted.trust.keys}
    one = ranges.get(keyid)
    if origin != trusted.trust.origin:
        raise CertificateError(f"the trust file is for the log {trusted.trust.origin!r}")
    if one is None or index < one.from_index:
        raise CertificateError(f"key {keyid[:16]!r}… did not sign for entry {index}")
    if one.until_index is not None and index >= one.until_index:
        raise CertificateError(
            f"key {keyid[:16]!r}… was retired before entry {index}: {one.reason or 'replaced'}"
        )


def signs_no_longer(trusted: Mapping[str, Ed25519PublicKey], keyid: str, until: int) -> bool:
    """Say whether the trust file of *trusted* ends what *keyid* signs at entry *until* or before.

    Without a trust file there is nothing that could say otherwise: True.
    """
    if not isinstance(trusted, KeyRing):
        return True
    ends = [one.until_index for one in trusted.trust.keys if one.keyid == keyid]
    return all(end is not None and end <= until for end in ends)


def trust_bytes(trust: Trust, root: Ed25519PrivateKey) -> bytes:
    """Return the trust file: a DSSE envelope of *trust*, signed by the *root* key."""
    payload = json.dumps(asdict(trust), ensure_ascii=True, allow_nan=False).encode("ascii")
    envelope = envelope_json(sign(payload, root, TRUST_TYPE))
    return (json.dumps(envelope, indent=1) + "\n").encode("ascii")


def open_trust(data: bytes, root: Ed25519PublicKey) -> Trust:
    """Return what a trust file says once the *root* key's signature holds, else CertificateError."""
    envelope = parse_envelope(strict_json(data))
    payload = verified_payload(envelope, {key_id(root): root}, TRUST_TYPE)
    value = strict_json(payload)
    if isinstance(value, dict) and type(value.get("v")) is not int:  # true and 1.0 pass for 1
        raise CertificateError("the trust file is malformed at v")
    trust = validated(_TRUST, value, "trust file")
    trust.ring()
    for one in trust.keys:
        if one.from_index < 0 or (one.until_index is not None and one.until_index < 0):
            raise CertificateError(f"the trusted key {one.keyid[:16]!r} has a malformed range")
    return trust


_TRUST: Final = TypeAdapter(Trust)
