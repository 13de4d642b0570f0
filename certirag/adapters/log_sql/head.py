"""Builds on a newest entry only if a key of this log signed for it.

Without this, whoever can write to the database but has no key could change what is past, with its
whole tree, and let the next append sign it.
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import Connection, select

from certirag.adapters.log_sql.read import LogHead
from certirag.adapters.log_sql.schema import LOG_ENTRY, LOG_KEY
from certirag.errors import AuditError, CertificateError
from certirag.proof.envelope import key_id, load_public_key
from certirag.proof.log import (
    Leaf,
    checkpoint_text,
    open_checkpoint,
    parse_leaf,
    rotation_message,
)

_BROKEN: Final = (
    "the audit log is broken: no key of this log signed its newest entry, so nothing is added"
)


def require_signed_head(
    connection: Connection, head: LogHead, origin: str, own: Ed25519PublicKey
) -> None:
    """Raise AuditError unless *own*, or a key that *own* is linked to, signed *head*.

    Two keys are linked by an entry in which one hands over to the other and that both signed. A
    key that a ``retire`` entry ended before the newest entry signs for nothing.
    """
    signers = {key_id(own): own}
    if head.keyid not in signers:
        signers = _linked(connection, origin, own)
    signer = signers.get(head.keyid)
    if signer is None:
        raise AuditError(
            f"the audit log was last signed by the key {head.keyid[:16]}, which never handed over "
            "to the one here: put that key back, or begin a log of your own"
        )
    try:
        raw = signer.public_bytes_raw()
        text = checkpoint_text(origin, head.size, head.root, raw, head.signature)
        open_checkpoint(text, [signer])
    except CertificateError as error:
        raise AuditError(_BROKEN) from error
    if head.keyid == key_id(own):
        return
    if head.size > _end_of(connection, head.keyid, head.size):
        raise AuditError(f"{_BROKEN}: the key {head.keyid[:16]} was retired before it")
    # A program that runs on with a key that was retired would end the log for all others.
    if head.size >= _end_of(connection, key_id(own), head.size + 1):
        raise AuditError(
            f"the key in use, {key_id(own)[:16]}, was retired: restart with the key that took over"
        )


def _linked(
    connection: Connection, origin: str, own: Ed25519PublicKey
) -> dict[str, Ed25519PublicKey]:
    """Return the keys that *own* is linked to, over any number of rotations, and itself."""
    known = {key_id(own): own, **_keys(connection)}
    edges = [
        (leaf.detail["old"], leaf.detail["new"])
        for leaf in _leaves(connection, "rotate")
        if _both_signed(leaf, origin, known)
    ]
    found = {key_id(own)}
    while more := {name for edge in edges if found & set(edge) for name in edge} - found:
        found |= more
    return {keyid: known[keyid] for keyid in found}


def _keys(connection: Connection) -> dict[str, Ed25519PublicKey]:
    """Return the public keys that stand in the log, each under the digest that it really has."""
    found = {}
    for (raw,) in connection.execute(select(LOG_KEY.c.public_key)):
        try:
            key = load_public_key(bytes(raw))
        except (CertificateError, TypeError, ValueError):
            continue
        found[key_id(key)] = key
    return found


def _both_signed(leaf: Leaf, origin: str, known: dict[str, Ed25519PublicKey]) -> bool:
    try:
        old, new = leaf.detail["old"], leaf.detail["new"]
        message = rotation_message(origin, old, new)
        known[old].verify(bytes.fromhex(leaf.detail["old_signature"]), message)
        known[new].verify(bytes.fromhex(leaf.detail["new_signature"]), message)
    except (KeyError, TypeError, ValueError, InvalidSignature):
        return False
    return True


def _end_of(connection: Connection, keyid: str, size: int) -> int:
    """Return how many entries *keyid* may have signed for, by the log's own word."""
    ends = [
        leaf.detail.get("until_index")
        for leaf in _leaves(connection, "retire")
        if leaf.detail.get("key") == keyid
    ]
    return min((end for end in ends if type(end) is int), default=size)


def _leaves(connection: Connection, kind: str) -> list[Leaf]:
    query = select(LOG_ENTRY.c.leaf).where(LOG_ENTRY.c.kind == kind).order_by(LOG_ENTRY.c.seq)
    try:
        leaves = [parse_leaf(text) for (text,) in connection.execute(query)]
    except CertificateError as error:
        raise AuditError(f"the audit log is broken in a {kind} entry: {error}") from error
    return [leaf for leaf in leaves if leaf.kind == kind]
