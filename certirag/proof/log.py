"""The entries of the audit log as nouns: leaf, commitment, checkpoint, proof.

A leaf is written once, as bytes, and kept for ever; it holds no text of a user or a document.
What it speaks of, the content, stands beside it with a random salt, and the leaf commits to it
by HMAC-SHA256 under that salt: once content and salt are erased, the proofs still hold and the
content cannot be guessed. A checkpoint is a signed note (C2SP tlog-checkpoint) over the tree's
size and root.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import TypeAdapter

from certirag.errors import CertificateError
from certirag.proof.envelope import (
    key_id,
    load_public_key,
    raw_public_key,
    strict_base64,
    strict_json,
    validated,
)
from certirag.proof.merkle import leaf_hash, root_from_inclusion
from certirag.proof.trust import require_in_range

EntryKind = Literal[
    "genesis",  # the first leaf: names the log
    "received",  # a question or draft came in; its content is the request
    "answer",  # a signed answer; its content is the signed statement
    "failed",  # a request that ended without an answer, and why
    "revoke",  # an answer is no longer stood by
    "archive",  # contents were copied to a file
    "erase",  # contents were erased
    "hold",  # contents must not be erased
    "release",  # a hold ended
    "rotate",  # another key signs from here on
    "retire",  # a key signs no longer, from an entry on
    "escalate",  # an answer waits for a person; its content is what was allowed of it
    "review",  # a reviewer decided on it; its content is what the reviewer signed
]
SALT_BYTES: Final = 32
ORIGIN: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}(?:/[a-z0-9._-]{1,63}){1,3}")
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_DASH: Final = "\N{EM DASH} "


@dataclass(frozen=True, slots=True)
class Leaf:
    """One entry as the tree commits to it. *index* counts from 0, *at* is UTC with milliseconds.

    *trace_id* is the answer's, or the request's for ``received`` and ``failed``. *retention*
    names the retention policy that the entry was written under, *keyid* the key of the log then.
    *commit* is `commitment` of salt and content, "" for an entry without content. *detail* says
    what kinds other than ``answer`` did, in words of ours.
    """

    v: Literal[1]
    origin: str
    index: int
    kind: EntryKind
    at: str
    trace_id: str
    retention: str
    keyid: str
    commit: str
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree that was signed for: *text* is the whole signed note, *root* 32 bytes.

    *keyid* names the key whose signature was found to hold.
    """

    origin: str
    size: int
    root: bytes
    text: str
    keyid: str


@dataclass(frozen=True, slots=True)
class LogProof:
    """That an entry is in the log: part of every export, under the key ``log``.

    *leaf* is the leaf's exact text, *salt* and each hash of *path* are hex, *checkpoint* is the
    signed note of the tree that the path leads to.
    """

    leaf: str
    salt: str
    path: tuple[str, ...]
    checkpoint: str


_LEAF: Final = TypeAdapter(Leaf)
_PROOF: Final = TypeAdapter(LogProof)


def leaf_text(leaf: Leaf) -> str:
    """Return the bytes of a new leaf, as ASCII text; they are kept and never written again."""
    value = {name: getattr(leaf, name) for name in Leaf.__dataclass_fields__}
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def parse_leaf(text: str) -> Leaf:
    """Return the leaf of *text*; CertificateError unless it is whole and ASCII."""
    if not text.isascii():
        raise CertificateError("the log's leaf is not ASCII")
    value = strict_json(text.encode("ascii"))
    if isinstance(value, dict) and type(value.get("v")) is not int:  # true and 1.0 pass for 1
        raise CertificateError("the log's leaf is malformed at v")
    return validated(_LEAF, value, "log's leaf")


def commitment(salt: bytes, content: bytes) -> str:
    """Return HMAC-SHA256 of *content* under *salt*, in hex."""
    return hmac.digest(salt, content, hashlib.sha256).hex()


def parse_proof(value: object) -> LogProof:
    """Return the proof of parsed JSON; CertificateError for unknown or missing fields."""
    return validated(_PROOF, value, "log proof")


def proof_json(proof: LogProof) -> dict[str, Any]:
    """Return *proof* as JSON values."""
    value: dict[str, Any] = _PROOF.dump_python(proof, mode="json")
    return value


def checkpoint_signature(origin: str, size: int, root: bytes, key: Ed25519PrivateKey) -> bytes:
    """Return the raw Ed25519 signature over a checkpoint's body."""
    return key.sign(_body(origin, size, root).encode("ascii"))


def checkpoint_text(
    origin: str, size: int, root: bytes, public_key: bytes, signature: bytes
) -> str:
    """Return the signed note; *public_key* is 32 raw bytes, *signature* 64."""
    signed = base64.b64encode(_key_hash(origin, public_key) + signature).decode("ascii")
    return f"{_body(origin, size, root)}\n{_DASH}{origin} {signed}\n"


def open_checkpoint(text: str, trusted: Iterable[Ed25519PublicKey]) -> Checkpoint:
    """Return a checkpoint once a *trusted* key's signature over it holds.

    Raises CertificateError for a note of another form, spelled in another way, or signed by
    nobody who is trusted.
    """
    lines = text.split("\n")
    if len(lines) != 6 or lines[3] or lines[5] or not lines[4].startswith(_DASH):
        raise CertificateError("the checkpoint is not a signed note of one signature")
    origin, size, root = lines[0], lines[1], strict_base64(lines[2])
    name, _, encoded = lines[4].removeprefix(_DASH).partition(" ")
    if not ORIGIN.fullmatch(origin) or name != origin or len(root) != 32:
        raise CertificateError("the checkpoint's origin or root is malformed")
    if not size.isascii() or not size.isdigit() or str(int(size[:17])) != size:
        raise CertificateError("the checkpoint's size is malformed")
    signature = strict_base64(encoded)
    body = _body(origin, int(size), root).encode("ascii")
    for key in trusted:
        if signature[:4] != _key_hash(origin, raw_public_key(key)) or len(signature) != 68:
            continue
        load_public_key(raw_public_key(key))  # refuses keys under which anything verifies
        try:
            key.verify(signature[4:], body)
        except InvalidSignature:
            continue
        return Checkpoint(origin, int(size), root, text, key_id(key))
    raise CertificateError("the checkpoint is not signed by a trusted key")


def _body(origin: str, size: int, root: bytes) -> str:
    return f"{origin}\n{size}\n{base64.b64encode(root).decode('ascii')}\n"


def _key_hash(name: str, public_key: bytes) -> bytes:
    """Return the signed note's four bytes that say which key: name, 0x0A, 0x01 (Ed25519), key."""
    return hashlib.sha256(name.encode("ascii") + b"\n\x01" + public_key).digest()[:4]


def rotation_message(origin: str, old: str, new: str) -> bytes:
    """Return what both keys sign when the key *old* hands over to *new* (key ids)."""
    return f"certirag rotate\n{origin}\n{old}\n{new}\n".encode("ascii")


def prove(proof: LogProof, content: bytes, trusted: Mapping[str, Ed25519PublicKey]) -> Leaf:
    """Return the leaf that *proof* shows to be in the log and to speak of *content*.

    Size and root come from the signed checkpoint alone. Raises CertificateError otherwise.
    """
    leaf = parse_leaf(proof.leaf)
    checkpoint = open_checkpoint(proof.checkpoint, trusted.values())
    require_in_range(trusted, checkpoint.keyid, checkpoint.size - 1, checkpoint.origin)
    if leaf.origin != checkpoint.origin:
        raise CertificateError("the log proof's leaf and checkpoint are of two logs")
    path = [_hash(step) for step in proof.path]
    digest = leaf_hash(proof.leaf.encode("ascii"))
    if root_from_inclusion(leaf.index, checkpoint.size, digest, path) != checkpoint.root:
        raise CertificateError("the entry is not in the log that the checkpoint signs")
    if not leaf.commit or leaf.commit != commitment(_hash(proof.salt), content):
        raise CertificateError("the log's entry speaks of another content")
    return leaf


def _hash(text: str) -> bytes:
    """Return the 32 bytes of 64 lower-case hex digits."""
    if not _HEX.fullmatch(text):
        raise CertificateError("the log proof holds what is no hash in lower-case hex")
    return bytes.fromhex(text)
