"""The signing key: made on first use, for its owner only, never in a log or a file that travels.

Trusted public keys are the local one and those in ``keys/trusted/*.pub`` (one 64-digit hex
line each), put there by a person; a key is never taken from the certificate it signs.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from certirag.core.certificate import key_id, load_public_key, raw_public_key
from certirag.errors import AuditError, CertificateError, InputError

_PRIVATE: Final = "signing.key"
_PUBLIC: Final = "signing.pub"


def signing_key(home: Path) -> Ed25519PrivateKey:
    """Return the private key of *home*, made with mode 0600 on first use.

    Raises AuditError when the file is unreadable, damaged or open to other users.
    """
    folder = home / "keys"
    path = folder / _PRIVATE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _create(path)
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise AuditError(f"{path} can be read by others: run 'chmod 600' on it")
        key = Ed25519PrivateKey.from_private_bytes(path.read_bytes())
    except (OSError, ValueError) as error:
        raise AuditError(f"the signing key {path} cannot be used: {error}") from error
    public = folder / _PUBLIC
    line = raw_public_key(key.public_key()).hex() + "\n"
    if not public.exists() or public.read_text("ascii", "replace") != line:
        public.write_text(line, "ascii")
    return key


def trusted_keys(home: Path) -> dict[str, Ed25519PublicKey]:
    """Return the public keys that *home* trusts, by key id; empty when there are none."""
    folder = home / "keys"
    paths = [folder / _PUBLIC, *sorted((folder / "trusted").glob("*.pub"))]
    keys = [read_public_key(path) for path in paths if path.is_file()]
    return {key_id(key): key for key in keys}


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
    temporary = path.with_name(f".{_PRIVATE}.{os.getpid()}")
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
