"""Every single-bit change of an export, put to the checker; fast enough for whole certificates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag import checker

Keys = Mapping[str, Ed25519PublicKey]


def accepted_flips(data: bytes, keys: Keys, places: Iterable[int] | None = None) -> list[int]:
    """Return the bits (place · 8 + bit) whose change `checker.check` does not call TAMPERED.

    All bits of the bytes *places*, of all bytes by default.
    """
    changed, accepted = bytearray(data), []
    with _remembered():
        if checker.check(data, keys).verdict != "VALID":
            raise ValueError("this export is not VALID, so nothing is shown by changing it")
        for place in range(len(data)) if places is None else places:
            for bit in range(8):
                changed[place] ^= 1 << bit
                if checker.check(bytes(changed), keys).verdict != "TAMPERED":
                    accepted.append(place * 8 + bit)
                changed[place] ^= 1 << bit
    return accepted


@contextmanager
def _remembered() -> Iterator[None]:
    """Let the checker keep what it found of one envelope: most changes leave that as it is.

    The two steps are functions of their arguments alone, and refusals are not kept.
    """
    pinned: dict[str, Ed25519PublicKey] = {}  # a key itself cannot be looked up by
    whole = checker._signed_bytes  # noqa: SLF001

    @lru_cache(maxsize=2)
    def signed(payload: str, sig: str, kind: str, keyid: str) -> bytes:
        return whole(payload, sig, kind, pinned[keyid])

    def named(payload: str, sig: str, kind: str, key: Ed25519PublicKey) -> bytes:
        keyid = checker.key_id(key)
        pinned[keyid] = key
        return signed(payload, sig, kind, keyid)

    statement = lru_cache(maxsize=2)(checker._statement)  # noqa: SLF001
    with patch.multiple(checker, _signed_bytes=named, _statement=statement):
        yield
