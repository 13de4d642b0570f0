"""Another key takes over, an old one is retired: in the log and in the trust file.

The order of the steps is what a crash between any two of them leaves mendable: the new key is on
disk before the log names it, the trust file names it before it signs anything. The log has the last
word: a trust file that lets a key sign where the log says that it was retired is an older one, put
back or never written, and is mended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certirag.errors import AuditError, CertificateError, InputError
from certirag.ports import AuditLog, NewEntry
from certirag.proof.envelope import key_id, raw_public_key
from certirag.proof.keys import ROOT, SIGNING, TRUST_FILE, private_key, read_trust
from certirag.proof.log import Leaf, parse_leaf, rotation_message
from certirag.proof.trust import Trust, TrustedKey, trust_bytes

_NEXT: Final = "next"
_LOCK: Final = "keys.lock"
_REASON: Final = 200


def trust_in_force(home: Path, log: AuditLog) -> Trust:
    """Return the trust file of *home*, written with the key in use for all entries if missing.

    It is mended to what *log* says of rotated and retired keys. Raises InputError for the trust
    file of another log and for a key in use that the log does not know.
    """
    with _alone(home):
        return _in_force(home, log)


def rotate(home: Path, log: AuditLog, now: datetime) -> Trust:
    """Hand over from the key in use to a new one, and return the trust file then in force.

    *log* signs with the old key. Both keys stay good until the old one is retired, so that a
    server that still holds it signs nothing worthless. A rotation that was cut off is finished.
    """
    with _alone(home):
        private_key(home, ROOT)  # missing or exposed: known before anything is done
        trust = _in_force(home, log)
        old = private_key(home, SIGNING)
        folder = home / "keys"
        resumed = (folder / f"{_NEXT}.key").exists()
        if not resumed:
            (folder / f"{_NEXT}.pub").unlink(missing_ok=True)  # of a rotation cut off at its end
        new = private_key(home, _NEXT)
        keyid = key_id(new.public_key())
        index = _handed_over(_acts(log), keyid) if resumed else None
        if index is None:
            index = _hand_over(log, old, new, now)
        if keyid not in {one.keyid for one in trust.keys}:
            keys = (*trust.keys, _entry(new, index + 1))
            trust = replace(trust, version=trust.version + 1, keys=keys)
            _write(home, trust)
        (folder / f"{_NEXT}.key").replace(folder / f"{SIGNING}.key")
        private_key(home, SIGNING)  # its public half goes with it
        (folder / f"{_NEXT}.pub").unlink(missing_ok=True)
        _settle(folder)
        return trust


def retire(
    home: Path, log: AuditLog, keyid: str, now: datetime, *, until: int | None, reason: str
) -> Trust:
    """End the entries that key *keyid* signs for, before entry *until* (None: from now on).

    For a key that somebody else got hold of, *until* is the first entry that it may have forged.
    The act is logged under the key in use. Raises InputError for an unknown key, for the one in
    use, and for an entry that is to come or that was there under a shorter range.
    """
    if not reason.isprintable() or len(reason) > _REASON:
        raise InputError(f"--reason: give plain text of one line, {_REASON} characters at most")
    with _alone(home):
        private_key(home, ROOT)
        trust = _in_force(home, log)
        one = _named(trust, keyid)
        if one.keyid == key_id(private_key(home, SIGNING).public_key()):
            raise InputError("this key is in use: run 'certirag keys rotate' first, then retire it")
        size = log.size()
        end = size if until is None else until
        if end > size:
            raise InputError(f"--from-index {end}: the log has the entries 0 to {size - 1}")
        if end < one.from_index or (one.until_index is not None and end > one.until_index):
            raise InputError(
                f"--from-index {end}: the key signs for {_range(one)}; it can only shrink"
            )
        if end != one.until_index:
            log.append(NewEntry("retire", "", now, detail={"key": one.keyid, "until_index": end}))
        trust = _with(trust, replace(one, until_index=end, reason=reason))
        _write(home, trust)
        return trust


def _in_force(home: Path, log: AuditLog) -> Trust:
    own = private_key(home, SIGNING)
    trust = read_trust(home)
    acts = _acts(log)
    if trust is None and acts:
        raise InputError(
            f"keys/{TRUST_FILE} is gone, and the log {log.origin} has had other keys: put it back"
        )
    if trust is None:
        trust = Trust(1, 1, log.origin, (_entry(own, 0),))
        _write(home, trust)
    if trust.origin != log.origin:
        raise InputError(
            f"keys/{TRUST_FILE} is for the log {trust.origin}, not {log.origin}: use that log, or "
            "a home folder of its own for this one"
        )
    mended = _as_logged(trust, acts, own)
    if mended != trust:
        _write(home, mended)
    return mended


def _as_logged(trust: Trust, acts: Sequence[Leaf], own: Ed25519PrivateKey) -> Trust:
    """Return *trust* with what the log says of keys and it does not."""
    keyid = key_id(own.public_key())
    if keyid not in {one.keyid for one in trust.keys}:
        index = _handed_over(acts, keyid)
        if index is None:
            raise InputError(
                f"the key in use, {keyid[:16]}, is neither in keys/{TRUST_FILE} nor handed over to "
                "in the log: put back the key that was"
            )
        entry = _entry(own, index + 1)
        trust = replace(trust, version=trust.version + 1, keys=(*trust.keys, entry))
    for leaf in acts:
        key, until = leaf.detail.get("key"), leaf.detail.get("until_index")
        if leaf.kind != "retire" or type(until) is not int:
            continue
        for one in trust.keys:
            if one.keyid != key or (one.until_index is not None and one.until_index <= until):
                continue
            if one.keyid == keyid:
                raise InputError(
                    f"entry {leaf.index} of the log retired the key in use, {keyid[:16]}: put the "
                    "key that took over into the folder 'keys'"
                )
            reason = one.reason or "retired"
            trust = _with(trust, replace(one, until_index=until, reason=reason))
    return trust


def _named(trust: Trust, keyid: str) -> TrustedKey:
    found = [one for one in trust.keys if one.keyid.startswith(keyid)] if keyid else []
    if len(found) != 1:
        known = ", ".join(one.keyid[:16] for one in trust.keys)
        raise InputError(
            f"{keyid[:64]!r} names {len(found)} keys: give the beginning of one of {known}"
        )
    return found[0]


def _with(trust: Trust, changed: TrustedKey) -> Trust:
    keys = tuple(changed if key.keyid == changed.keyid else key for key in trust.keys)
    return replace(trust, version=trust.version + 1, keys=keys)


def _range(one: TrustedKey) -> str:
    end = "the end" if one.until_index is None else f"before {one.until_index}"
    return f"entries {one.from_index} to {end}"


def _entry(key: Ed25519PrivateKey, index: int) -> TrustedKey:
    public = key.public_key()
    return TrustedKey(key_id(public), raw_public_key(public).hex(), index, None, "")


def _hand_over(log: AuditLog, old: Ed25519PrivateKey, new: Ed25519PrivateKey, now: datetime) -> int:
    """Log that *old* hands over to *new*, signed by both; return the entry."""
    names = key_id(old.public_key()), key_id(new.public_key())
    message = rotation_message(log.origin, *names)
    signed = {"old_signature": old.sign(message).hex(), "new_signature": new.sign(message).hex()}
    detail = {"old": names[0], "new": names[1], **signed}
    return parse_leaf(log.append(NewEntry("rotate", "", now, detail=detail)).leaf).index


def _handed_over(acts: Sequence[Leaf], new: str) -> int | None:
    """Return the entry that hands over to the key *new*, if there is one."""
    for leaf in acts:
        if leaf.kind == "rotate" and leaf.detail.get("new") == new:
            return leaf.index
    return None


def _acts(log: AuditLog) -> list[Leaf]:
    """Return the entries in which keys changed; the others are not even parsed."""
    found = [text for text in log.leaves() if '"rotate"' in text or '"retire"' in text]
    try:
        return [leaf for leaf in map(parse_leaf, found) if leaf.kind in {"rotate", "retire"}]
    except CertificateError as error:
        raise AuditError(
            f"the log's entries about keys cannot be read ({error}): see 'certirag audit verify'"
        ) from error


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Let one program at a time change the keys; the system lets go when it ends, killed or not."""
    import fcntl  # noqa: PLC0415  # this file is read on systems without it too

    private_key(home, SIGNING)  # makes the folder
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        lock = os.open(home / "keys" / _LOCK, flags, 0o600)
    except OSError as error:
        raise AuditError(
            f"{home / 'keys' / _LOCK} cannot be opened ({error.strerror}): make the folder writable"
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise AuditError(
                f"another program changes the keys in {home / 'keys'}: wait until it is done"
            ) from error
        yield
    finally:
        os.close(lock)


def _write(home: Path, trust: Trust) -> None:
    root = private_key(home, ROOT)
    path = home / "keys" / TRUST_FILE
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(trust_bytes(trust, root))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _settle(path.parent)
    except OSError as error:
        raise AuditError(
            f"{path} cannot be written ({error.strerror}): mend that, then run this again"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Make what was renamed in *folder* survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
