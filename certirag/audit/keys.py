"""The signing key: made on first use, for its owner only, never in a log or a file that travels.

Trusted public keys are those of ``keys/trust.json`` for their entries (`core.trust`), or the local
one where there is no such file yet, and those in ``keys/trusted/*.pub`` (one 64-digit hex line
each), put there by a person. A key is never taken from the certificate it signs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from certirag.core.envelope import key_id, load_public_key, raw_public_key
from certirag.core.trust import KeyRing, Trust, open_trust
from certirag.errors import AuditError, CertificateError, InputError

SIGNING: Final = "signing"
ROOT: Final = "root"
ROOT_PUBLIC: Final = "root.pub"
TRUST_FILE: Final = "trust.json"
_PUBLIC: Final = "signing.pub"


def signing_key(home: Path) -> Ed25519PrivateKey:
    """Return the private key that *home* signs with, made with mode 0600 on first use.

    Raises AuditError when the file is unreadable, damaged or open to other users.
    """
    return private_key(home, SIGNING)


def private_key(home: Path, name: str) -> Ed25519PrivateKey:
    """Return the private key *name* of *home*; its public half stands beside it as ``.pub``."""
    folder = home / "keys"
    path = folder / f"{name}.key"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _create(path)
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise AuditError(f"{path} can be read by others: run 'chmod 600' on it")
        key = Ed25519PrivateKey.from_private_bytes(path.read_bytes())
    except (OSError, ValueError) as error:
        raise AuditError(f"the key {path} cannot be used: {error}") from error
    public = folder / f"{name}.pub"
    line = raw_public_key(key.public_key()).hex() + "\n"
    if not public.exists() or public.read_text("ascii", "replace") != line:
        public.write_text(line, "ascii")
    return key


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


def read_trust(home: Path) -> Trust | None:
    """Return what ``keys/trust.json`` says under the root key of *home*, None without the file."""
    path = home / "keys" / TRUST_FILE
    return open_trust_file(path, home / "keys" / ROOT_PUBLIC) if path.exists() else None


def open_trust_file(path: Path, root: Path) -> Trust:
    """Return what a trust file says; InputError unless the *root* public key's signature holds."""
    key = read_public_key(root)
    try:
        return open_trust(path.read_bytes(), key)
    except (OSError, CertificateError) as error:
        raise InputError(f"{path}: is no trust file under the root key {root}: {error}") from error


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
    except (OSError, ValueError, CertificateError) as error:
        raise InputError(f"{path}: not a public key (64 hex digits or PEM): {error}") from error


def _create(path: Path) -> None:
    """Write a new key; another process that is faster wins, and its key is used."""
    raw = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.Raw,
        serialization.PrivateFormat.Raw,
        serialization.NoEncryption(),
    )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
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
