"""Makes exports for the vectors, with a place at every step to do something else there."""

from __future__ import annotations

import base64
import copy
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certirag.errors import CertificateError
from certirag.proof.certificate import PREDICATE_TYPE, STATEMENT_TYPE, answer_digest
from certirag.proof.envelope import PAYLOAD_TYPE, key_id, raw_public_key
from certirag.proof.log import checkpoint_signature, checkpoint_text, commitment
from certirag.proof.merkle import leaf_hash, root_from_inclusion
from certirag.proof.trust import Trust, TrustedKey, trust_bytes

KEYS: Final = tuple(Ed25519PrivateKey.from_private_bytes(bytes([n] * 32)) for n in range(1, 4))
ROOT: Final = Ed25519PrivateKey.from_private_bytes(bytes([9] * 32))
ORIGIN: Final = "certirag.test/vectors"
SALT: Final = hashlib.sha256(b"salt").digest()
Json = dict[str, Any]
Change = Callable[[Json], object]


@dataclass(frozen=True, slots=True)
class Made:
    """How one export is made from a record: what is changed at each step, in this order.

    *statement* and *payload* change what is signed, *leaf* what is logged, *sealed* (origin, size,
    root) what the checkpoint signs; *envelope*, *log*, *note* and *export* change what is written,
    *file* its bytes. *spell* writes the statement, *write* the file.
    """

    statement: Change = lambda _: None
    spell: Callable[[Json], str] = lambda value: json.dumps(value, ensure_ascii=False)
    payload: Callable[[bytes], bytes] = lambda payload: payload
    leaf: Change = lambda _: None
    leaf_text: Callable[[Json], str] = lambda leaf: json.dumps(leaf, separators=(",", ":"))
    sealed: Callable[[str, int, bytes], tuple[str, int, bytes]] = lambda *head: head
    note: Callable[[str], str] = lambda note: note
    log: Change = lambda _: None
    envelope: Change = lambda _: None
    export: Change = lambda _: None
    write: Callable[[Json], str] = lambda value: json.dumps(value, ensure_ascii=False, indent=1)
    file: Callable[[bytes], bytes] = lambda data: data
    key: Ed25519PrivateKey = KEYS[0]
    log_key: Ed25519PrivateKey = KEYS[0]
    index: int = 2
    size: int = 3
    readable: Json = field(default_factory=dict)


def statement_of(record: Json) -> Json:
    """Return the in-toto Statement of *record*."""
    sources = {
        chunk["doc_id"]: chunk["source"]["sha256"] for chunk in record["retrieval"]["chunks"]
    }
    texts = [claim["text"] for claim in record["claim_ir"]["claims"]]
    named = [("answer", answer_digest(texts))]
    named += [(f"source/{doc_id}", sources[doc_id]) for doc_id in sorted(sources)]
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in named],
        "predicateType": PREDICATE_TYPE,
        "predicate": record,
    }


def export(record: Json, made: Made) -> bytes:
    """Return the export of *record*, made as *made* says."""
    statement = statement_of(copy.deepcopy(record))
    made.statement(statement)
    payload = made.payload(made.spell(statement).encode("utf-8", "surrogatepass"))
    leaf = {
        "v": 1,
        "origin": ORIGIN,
        "index": made.index,
        "kind": "answer",
        "at": "2026-01-02T03:04:05.000+00:00",
        "trace_id": record["trace_id"],
        "retention": "internal_faq",
        "keyid": key_id(made.log_key.public_key()),
        "commit": commitment(SALT, payload),
        "detail": {"request": "f" * 32, "complete": True},
    }
    made.leaf(leaf)
    text = made.leaf_text(leaf)
    path, root = _path(made.index, made.size, text.encode("utf-8"))
    head = made.sealed(leaf["origin"], made.size, root)
    signature = checkpoint_signature(*head, made.log_key)
    note = checkpoint_text(*head, raw_public_key(made.log_key.public_key()), signature)
    log = {"leaf": text, "salt": SALT.hex(), "path": path, "checkpoint": made.note(note)}
    made.log(log)
    encoding = b"DSSEv1 %d %s %d " % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload))
    envelope = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {
                "keyid": key_id(made.key.public_key()),
                "sig": base64.b64encode(made.key.sign(encoding + payload)).decode(),
            }
        ],
    }
    made.envelope(envelope)
    value = {**_spelled(payload, record), **made.readable, "certificate": envelope, "log": log}
    made.export(value)
    written = unspelled(made.write(value))
    return made.file((written + "\n").encode("utf-8", "surrogatepass"))


def trust_file(*ranges: tuple[Ed25519PrivateKey, int, int | None], origin: str = ORIGIN) -> bytes:
    """Return a trust file with each key's first entry and the entry before which it ends."""
    keys = []
    for key, first, until in ranges:
        public = key.public_key()
        raw = raw_public_key(public).hex()
        keys.append(TrustedKey(key_id(public), raw, first, until, "" if until is None else "old"))
    return trust_bytes(Trust(1, 1, origin, tuple(keys)), ROOT)


def raw_hex(key: Ed25519PrivateKey) -> str:
    """Return the public half of *key* in hex."""
    return raw_public_key(key.public_key()).hex()


def number(spelled: str) -> str:
    """Return a stand-in for a number that is to be written as *spelled*."""
    return f"@@{spelled}@@"


def unspelled(text: str) -> str:
    """Return *text* with every stand-in replaced by the number that it stands for."""
    return re.sub(r'"@@([^"@]*)@@"', r"\1", text)


def spelled(numbers: Mapping[str, str]) -> Callable[[Json], str]:
    """Return a writer of statements that writes some numbers in another way."""

    def write(value: Json) -> str:
        text = json.dumps(value, ensure_ascii=False)
        for plain, other in numbers.items():
            text, count = re.subn(rf"(?<=: ){re.escape(plain)}(?=[,}}])", other, text)
            if not count:
                raise ValueError(f"there is no number {plain}")
        return text

    return write


def _spelled(payload: bytes, record: Json) -> Json:
    """Return the predicate of a payload, its numbers as they are spelled there."""
    try:
        value = json.loads(payload, parse_int=number, parse_float=number, parse_constant=number)
        return dict(value["predicate"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return copy.deepcopy(record)


def _path(index: int, size: int, leaf: bytes) -> tuple[list[str], bytes]:
    """Return a path of made-up hashes from *leaf* to the root that they give, with that root."""
    steps: list[bytes] = []
    while True:
        try:
            root = root_from_inclusion(index, size, leaf_hash(leaf), steps)
        except CertificateError:
            steps.append(hashlib.sha256(b"node %d" % len(steps)).digest())
        else:
            return [step.hex() for step in steps], root


def committed(payload: bytes) -> str:
    """Return the commitment to a payload under the vectors' salt."""
    return hmac.digest(SALT, payload, "sha256").hex()
