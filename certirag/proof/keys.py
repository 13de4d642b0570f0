"""The signing key: made on first use, for its owner only, never in a log or a file that travels.

Trusted public keys are those of ``keys/trust.json`` for their entries (`core.trust`), or the local
one where there is no such file yet, and those in ``keys/trusted/*.pub`` (one 64-digit hex line
each), put there by a person. A key is never taken from the certificate it signs.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from certirag.errors import AuditError, CertificateError, InputError
from certirag.proof.countersignature import require_reviewer
from certirag.proof.envelope import key_id, load_public_key, raw_public_key
from certirag.proof.trust import KeyRing, Trust, open_trust

SIGNING: Final = "signing"
REVIEWERS: Final = (
    "reviewers"  # a folder of keys, one a reviewer; none of them is trusted by itself
)
ROOT: Final = "root"
ROOT_PUBLIC: Final = "root.pub"
TRUST_FILE: Final = "trust.json"
_PUBLIC: Final = "signing.pub"


def signing_key(home: Path) -> Ed25519PrivateKey:
    """Return the private key that *home* signs with, made with mode 0600 on first use.

    Raises AuditError when the file is unreadable, damaged or open to other users.
    """
    return private_key(home, SIGNING)


def has_signing_key(home: Path) -> bool:
    """Say whether *home* has a key that this user may sign with; none is made."""
    return os.access(home / "keys" / f"{SIGNING}.key", os.R_OK)


def key_that_may_sign(home: Path) -> Ed25519PrivateKey:
    """Return the key that *home* signs with, once its trust file lets it sign what comes next.

    Raises AuditError for a key that was retired, and for one that the trust file does not name:
    what it signed would be worth nothing.
    """
    key, trust = signing_key(home), read_trust(home)
    if trust is None:
        return key
    keyid = key_id(key.public_key())
    named = [one for one in trust.keys if one.keyid == keyid]
    if not named:
        raise AuditError(
            f"the key in use, {keyid[:16]}, is not in {home / 'keys' / TRUST_FILE}: put back the "
            "newest trust file, or run 'certirag keys list' to mend it from the log"
        )
    if named[0].until_index is not None:
        raise AuditError(
            f"the key in use, {keyid[:16]}, was retired ({named[0].reason or 'replaced'}): "
            f"put the key that took over into {home / 'keys'}"
        )
    return key


def private_key(home: Path, name: str) -> Ed25519PrivateKey:
    """Return the private key *name* of *home*; its public half stands beside it as ``.pub``.

    It is made on first use. AuditError where it was there before, by its public half, and is gone:
    another one in its place would be a stranger to whoever trusts the first.
    """
    folder = home / "keys"
    path, public = folder / f"{name}.key", folder / f"{name}.pub"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)  # questions and answers are in it
        folder.mkdir(exist_ok=True, mode=0o700)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        if not path.exists():
            if public.exists() and not path.exists():  # asked again: another process may be faster
                raise AuditError(f"the key {path} is gone, {public.name} is there: put it back")
            _create(path)
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            raise AuditError(f"{path} can be read by others: run 'chmod 600' on it")
        key = Ed25519PrivateKey.from_private_bytes(path.read_bytes())
        line = raw_public_key(key.public_key()).hex() + "\n"
        if not public.exists() or public.read_text("ascii", "replace") != line:
            _write_whole(public, line.encode("ascii"))
    except (OSError, ValueError) as error:
        raise AuditError(
            f"the key {path} cannot be used ({_reason(error)}): mend that, or set CERTIRAG_HOME "
            "to a folder of your own"
        ) from error
    return key


def reviewer_key(home: Path, reviewer: str) -> Ed25519PrivateKey:
    """Return the key that *reviewer* countersigns with, made on first use; it signs nothing else.

    Raises InputError for a name that cannot be one, AuditError as `private_key` does.
    """
    require_reviewer(reviewer)
    return private_key(home, f"{REVIEWERS}/{reviewer}")


def trusted_keys(home: Path) -> Mapping[str, Ed25519PublicKey]:
    """Return the public keys that *home* trusts, by key id; empty when there are none.

    Raises InputError for a key file or a trust file that does not hold: none is passed over.
    """
    folder = home / "keys"
    trust = read_trust(home)
    own = [] if trust else [folder / _PUBLIC]
    paths = (*own, *sorted((folder / "trusted").glob("*.pub")))
    keys = {key_id(key): key for key in map(read_public_key, filter(Path.is_file, paths))}
    return KeyRing(trust.ring(), trust, keys) if trust else keys


def own_keys(
    key: Ed25519PrivateKey, trusted: Mapping[str, Ed25519PublicKey]
) -> Mapping[str, Ed25519PublicKey]:
    """Return the public keys of *trusted* that the home of *key* itself signs or signed with.

    Another home whose key a person put into ``keys/trusted`` is believed, and never obeyed.
    """
    own = {key_id(key.public_key()): key.public_key()}
    if isinstance(trusted, KeyRing):
        own |= {keyid: trusted[keyid] for keyid in trusted if not trusted.is_outright(keyid)}
    return own


def read_trust(home: Path) -> Trust | None:
    """Return what ``keys/trust.json`` says under the root key of *home*, None without the file."""
    path = home / "keys" / TRUST_FILE
    return open_trust_file(path, home / "keys" / ROOT_PUBLIC) if path.exists() else None


def open_trust_file(path: Path, root: Path) -> Trust:
    """Return what a trust file says; InputError unless the *root* public key's signature holds."""
    key = read_public_key(root)
    try:
        return open_trust(path.read_bytes(), key)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    except CertificateError as error:
        raise InputError(
            f"{path}: is no trust file under the root key {root} ({error}): put back the one that "
            "it signed"
        ) from error


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return the key of a file that holds 64 hex digits or a PEM public key.

    Raises InputError naming the file when it holds neither.
    """
    try:
        data = path.read_bytes()
        if data.lstrip().startswith(b"-----BEGIN"):
            key = serialization.load_pem_public_key(data)
            if not isinstance(key, Ed25519PublicKey):
                raise InputError(f"{path}: not an Ed25519 public key")
            return load_public_key(raw_public_key(key))
        return load_public_key(bytes.fromhex(data.decode("ascii").strip()))
    except OSError as error:
        raise InputError(
            f"{path}: the public key cannot be read ({error.strerror}): check the path"
        ) from error
    except (ValueError, CertificateError) as error:
        raise InputError(f"{path}: not a public key (64 hex digits or PEM): {error}") from error


def _create(path: Path) -> None:
    """Write a new key; another process that is faster wins, and its key is used."""
    raw = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.Raw,
        serialization.PrivateFormat.Raw,
        serialization.NoEncryption(),
    )
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)  # refuses to replace, unlike rename
    except FileExistsError:
        pass
    finally:
        temporary.unlink(missing_ok=True)


def _write_whole(path: Path, data: bytes) -> None:
    """Write *path* whole or not at all: others read it meanwhile."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    """Return what the system said, without the path, which the line names already."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
