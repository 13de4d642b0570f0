"""Who may ask: keys hashed at rest, what each may use, and how often it may ask.

A key is 32 random bytes, so one round of SHA-256 is enough to keep it: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from certirag.errors import InputError
from certirag.gateway.profiles import load_profile
from certirag.gateway.refusals import Refused
from certirag.gateway.together import Together
from certirag.proof.countersignature import require_reviewer

FILE: Final = "gateway_keys.json"
_PREFIX: Final = "crk_"
PER_MINUTE: Final = 120
Use = Literal["ask", "review"]  # who asks does not decide on what waits, nor the other way


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as it is kept: the SHA-256 of the secret, and what its holder may do.

    *profile* is a floor: no request with the key is decided under less. *corpora* and *sources*
    (file names) are all that it may search, everything where they are empty. *use* is what it is
    for; a reviewer decides under the key's name, and on answers of every corpus.
    """

    name: str
    sha256: str
    profile: str
    corpora: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    per_minute: int = PER_MINUTE
    use: Use = "ask"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, after the key was checked; `ANYONE` on a loopback server without keys.

    *key* is the beginning of the SHA-256 of the secret, "" without one: a key made anew under an
    old name is another caller.
    """

    name: str
    profile: str = ""
    corpora: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    per_minute: int = PER_MINUTE
    use: Use = "ask"
    key: str = ""


ANYONE: Final = Caller("anyone on this machine")
_KEYS: Final = TypeAdapter(tuple[KeyRecord, ...])


def read_keys(home: Path) -> tuple[KeyRecord, ...] | None:
    """Return the keys kept under *home*, None where none was ever made; InputError for a broken file."""
    path = home / FILE
    try:
        return _KEYS.validate_json(path.read_bytes(), extra="forbid")
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise InputError(f"{path}: the gateway's keys cannot be read: restore it") from error


def add_key(home: Path, record: KeyRecord) -> str:
    """Keep a new key with what *record* says (its digest aside), and return the secret, once."""
    load_profile(record.profile)  # an unknown floor is said now, not at the first request
    if record.use == "review":
        require_reviewer(record.name)
        if record.corpora or record.sources:
            raise InputError(
                "a reviewer decides on every answer that waits: name no corpus or source"
            )
    keys = read_keys(home) or ()
    if any(key.name == record.name for key in keys):
        raise InputError(f"there is a key called {record.name!r}: choose another name")
    secret = _PREFIX + secrets.token_urlsafe(32)
    _write(home, (*keys, replace(record, sha256=_digest(secret))))
    return secret


def revoke_key(home: Path, name: str) -> None:
    """Forget the key *name*; InputError when there is none."""
    keys = read_keys(home) or ()
    left = tuple(key for key in keys if key.name != name)
    if left == keys:
        raise InputError(f"there is no key called {name!r}: see certirag serve-key list")
    _write(home, left)


def _write(home: Path, keys: tuple[KeyRecord, ...]) -> None:
    home.mkdir(parents=True, exist_ok=True)
    new = home / f"{FILE}.{secrets.token_hex(6)}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump([asdict(key) for key in keys], file, indent=1)
    new.replace(home / FILE)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def caller_of(authorisation: str, keys: tuple[KeyRecord, ...] | None) -> Caller:
    """Return whose key the header *authorisation* holds; Refused when it is nobody's.

    Where none was ever made everybody is `ANYONE`: such a server listens on loopback alone. Once the
    last one is revoked nobody may ask.
    """
    if keys is None:
        return ANYONE
    kind, _, secret = authorisation.partition(" ")
    given = _digest(secret.strip())
    found = [key for key in keys if hmac.compare_digest(key.sha256, given)]
    if kind.lower() != "bearer" or len(found) != 1:
        raise Refused("NOT_AUTHORISED", headers={"WWW-Authenticate": "Bearer"})
    key = found[0]
    may = (key.profile, key.corpora, key.sources, key.per_minute, key.use)
    return Caller(key.name, *may, key.sha256[:16])


class RateLimit:
    """A bucket of tokens for each caller: *per_minute* at once, and so many a minute after that."""

    def __init__(self, now: Callable[[], float], together: Together | None = None) -> None:
        self._now, self._together = now, together or Together()

    def take(self, caller: Caller) -> None:
        """Take a token of *caller*; Refused, with the seconds to wait, when there is none."""
        wait = self._together.take(caller.name, caller.per_minute, self._now())
        if wait:
            raise Refused("RATE_LIMITED", headers={"Retry-After": str(math.ceil(wait))})
