"""Another key takes over, an old one is retired: in the log and in the trust file.

The order of the steps is what a crash between any two of them leaves mendable: the new key is on
disk before the log names it, the trust file names it before it signs anything.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certirag.audit.keys import ROOT, SIGNING, TRUST_FILE, private_key, read_trust
from certirag.core.envelope import key_id, raw_public_key
from certirag.core.log import parse_leaf, rotation_message
from certirag.core.trust import Trust, TrustedKey, trust_bytes
from certirag.errors import AuditError, InputError
from certirag.ports import AuditLog, NewEntry

_NEXT: Final = "next"


def trust_in_force(home: Path, log: AuditLog) -> Trust:
    """Return the trust file of *home*, written with the key in use for all entries if missing."""
    trust = read_trust(home)
    if trust is None:
        trust = Trust(1, 1, log.origin, (_entry(private_key(home, SIGNING), 0),))
        _write(home, trust)
    if trust.origin != log.origin:
        raise InputError(f"keys/{TRUST_FILE} is for the log {trust.origin}, not {log.origin}")
    return trust


def rotate(home: Path, log: AuditLog, now: datetime) -> Trust:
    """Hand over from the key in use to a new one, and return the trust file then in force.

    *log* signs with the old key. Both keys stay good until the old one is retired, so that a
    server that still holds it signs nothing worthless. A rotation that was cut off is finished.
    """
    trust = trust_in_force(home, log)
    old = private_key(home, SIGNING)
    resumed = (home / "keys" / f"{_NEXT}.key").exists()
    new = private_key(home, _NEXT)
    names = key_id(old.public_key()), key_id(new.public_key())
    index = _handed_over(log, names[1]) if resumed else None
    if index is None:
        message = rotation_message(log.origin, *names)
        signed = {
            "old_signature": old.sign(message).hex(),
            "new_signature": new.sign(message).hex(),
        }
        detail = {"old": names[0], "new": names[1], **signed}
        proof = log.append(NewEntry("rotate", "", now, detail=detail))
        index = parse_leaf(proof.leaf).index
    if names[1] not in {one.keyid for one in trust.keys}:
        trust = replace(
            trust, version=trust.version + 1, keys=(*trust.keys, _entry(new, index + 1))
        )
        _write(home, trust)
    folder = home / "keys"
    (folder / f"{_NEXT}.key").replace(folder / f"{SIGNING}.key")
    (folder / f"{_NEXT}.pub").replace(folder / f"{SIGNING}.pub")
    return trust


def retire(
    home: Path, log: AuditLog, keyid: str, now: datetime, *, until: int | None, reason: str
) -> Trust:
    """End the entries that key *keyid* signs for, before entry *until* (None: from now on).

    For a key that somebody else got hold of, *until* is the first entry that it may have forged.
    The act is logged under the key in use. Raises InputError for an unknown key, for the one in
    use, and for an entry that was there under a shorter range.
    """
    trust = trust_in_force(home, log)
    found = [one for one in trust.keys if one.keyid.startswith(keyid)] if keyid else []
    if len(found) != 1:
        known = ", ".join(one.keyid[:16] for one in trust.keys)
        raise InputError(f"{keyid!r} names {len(found)} keys: give the beginning of one of {known}")
    one = found[0]
    if one.keyid == key_id(private_key(home, SIGNING).public_key()):
        raise InputError("this key is in use: run 'certirag keys rotate' first, then retire it")
    end = log.size() if until is None else until
    if end < one.from_index or (one.until_index is not None and end > one.until_index):
        raise InputError(f"--from-index {end}: the key signs for {_range(one)}; it can only shrink")
    detail = {"key": one.keyid, "until_index": end}
    log.append(NewEntry("retire", "", now, detail=detail))
    shorter = replace(one, until_index=end, reason=reason)
    keys = tuple(shorter if key.keyid == one.keyid else key for key in trust.keys)
    trust = replace(trust, version=trust.version + 1, keys=keys)
    _write(home, trust)
    return trust


def _range(one: TrustedKey) -> str:
    end = "the end" if one.until_index is None else f"before {one.until_index}"
    return f"entries {one.from_index} to {end}"


def _entry(key: Ed25519PrivateKey, index: int) -> TrustedKey:
    public = key.public_key()
    return TrustedKey(key_id(public), raw_public_key(public).hex(), index, None, "")


def _handed_over(log: AuditLog, new: str) -> int | None:
    """Return the entry that already names the key *new*, if a rotation was cut off behind it."""
    for entry in log.entries():
        leaf = parse_leaf(entry.leaf)
        if leaf.kind == "rotate" and leaf.detail.get("new") == new:
            return leaf.index
    return None


def _write(home: Path, trust: Trust) -> None:
    path = home / "keys" / TRUST_FILE
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(trust_bytes(trust, private_key(home, ROOT)))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise AuditError(f"{path} cannot be written ({error}): mend that, then run this again") from error
    finally:
        temporary.unlink(missing_ok=True)
