"""Exports of answers that a reviewer decided on, and what may not pass for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_cases import KEY, record
from memory_log import MemoryLog

from certirag.core.text import sha256_hex
from certirag.ports import NewEntry
from certirag.proof.certificate import export_bytes, statement_bytes
from certirag.proof.countersignature import (
    REVIEW_TYPE,
    Countersigned,
    Review,
    review_detail,
    sign_review,
)
from certirag.proof.envelope import Envelope, sign, strict_base64

REVIEWER = Ed25519PrivateKey.from_private_bytes(bytes([5]) * 32)
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes([6]) * 32)
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
Json = dict[str, Any]


def _signed(review: Review) -> Envelope:
    return sign_review(review, REVIEWER)


def _as_it_is(detail: Json) -> Json:
    return detail


def reviewed(
    *,
    says: Callable[[Review], Review] = lambda review: review,
    signs: Callable[[Review], Envelope] = _signed,
    detail: Callable[[Json], Json] = _as_it_is,
    kind: Any = "review",
    trace_id: str = "",
    first: bool = False,
    log_key: Ed25519PrivateKey = KEY,
) -> Json:
    """Return the export of an answer that was released, with what the arguments change of that."""
    of = record()
    payload = statement_bytes(of)
    log = MemoryLog(KEY)
    answer = NewEntry("answer", of.trace_id, AT, payload)
    if not first:
        log.append(answer)
    target = 2 if first else 1
    review = says(
        Review(1, of.trace_id, sha256_hex(payload), "release", "anna", "Seen.", AT.isoformat())
    )
    envelope = signs(review)
    content = strict_base64(envelope.payload)
    said = detail(review_detail(review, target, REVIEWER.public_key()))
    entry = NewEntry(kind, trace_id or of.trace_id, AT, content, detail=said)
    log.append(entry)
    if first:
        log.append(answer)
    proof = log.proof(1 if first else 2)
    if log_key is not KEY:
        other = MemoryLog(log_key)
        other.append(answer)
        other.append(entry)
        proof = other.proof(2)
    countersigned = Countersigned(envelope, proof)
    made: Json = json.loads(export_bytes(sign(payload, KEY), log.proof(target), countersigned))
    return made


def _without(name: str) -> Callable[[Json], Json]:
    return lambda detail: {key: value for key, value in detail.items() if key != name}


def _written(**fields: object) -> Callable[[Review], Envelope]:
    """Sign the review with fields that are not as they should be."""

    def signs(review: Review) -> Envelope:
        value = {name: getattr(review, name) for name in Review.__dataclass_fields__}
        return sign(json.dumps({**value, **fields}).encode(), REVIEWER, REVIEW_TYPE)

    return signs


def _other_answer() -> Json:
    """A sound review, moved to another answer of the same log."""
    of, other = record(), replace(record(), trace_id="b" * 32, question="What of the canteen?")
    log = MemoryLog(KEY)
    for one in (of, other):
        log.append(NewEntry("answer", one.trace_id, AT, statement_bytes(one)))
    digest = sha256_hex(statement_bytes(of))
    review = Review(1, of.trace_id, digest, "release", "anna", "Seen.", AT.isoformat())
    envelope = _signed(review)
    content, detail = (
        strict_base64(envelope.payload),
        review_detail(review, 1, REVIEWER.public_key()),
    )
    log.append(NewEntry("review", of.trace_id, AT, content, detail=detail))
    moved = Countersigned(envelope, log.proof(3))
    made: Json = json.loads(export_bytes(sign(statement_bytes(other), KEY), log.proof(2), moved))
    return made


def _edited(change: Callable[[Json], object]) -> Json:
    made = reviewed()
    change(made["review"])
    return made


FORGED: dict[str, Json] = {
    "moved to another answer": _other_answer(),
    "of another digest": reviewed(says=lambda r: replace(r, certificate_sha256="0" * 64)),
    "of another trace": reviewed(says=lambda r: replace(r, trace_id="1" * 32)),
    "in an entry of another trace": reviewed(trace_id="1" * 32),
    "of another entry": reviewed(detail=lambda d: {**d, "target": 0}),
    "of an entry that is true": reviewed(detail=lambda d: {**d, "target": True}),
    "of an entry with a point": reviewed(detail=lambda d: {**d, "target": 1.0}),
    "before its answer": reviewed(first=True),
    "signed by a key that the log does not name": reviewed(
        signs=lambda review: sign_review(review, STRANGER)
    ),
    "by another name than the log's": reviewed(detail=lambda d: {**d, "reviewer": "boss"}),
    "of another decision than the log's": reviewed(detail=lambda d: {**d, "decision": "refuse"}),
    "with more in the entry": reviewed(detail=lambda d: {**d, "more": 1}),
    "without a key in the entry": reviewed(detail=_without("public_key")),
    "with a key in capitals": reviewed(
        detail=lambda d: {**d, "public_key": d["public_key"].upper()}
    ),
    "under a key of small order": reviewed(detail=lambda d: {**d, "public_key": "01" + "00" * 31}),
    "in an entry of another kind": reviewed(kind="escalate"),
    "in a log of a stranger": reviewed(log_key=STRANGER),
    "of another version": reviewed(signs=_written(v=2)),
    "of a decision that there is not": reviewed(signs=_written(decision="verify")),
    "with a field more": reviewed(signs=_written(badge="yes")),
    "of another type": reviewed(
        signs=lambda r: sign(json.dumps({"v": 1, "reviewer": r.reviewer}).encode(), REVIEWER)
    ),
    "with a signature of nothing": _edited(
        lambda r: r["certificate"]["signatures"][0].update(sig="AA==")
    ),
    "with two signatures": _edited(
        lambda r: r["certificate"].update(signatures=r["certificate"]["signatures"] * 2)
    ),
    "with another salt": _edited(lambda r: r["log"].update(salt="0" * 64)),
    "without a proof": _edited(lambda r: r.pop("log")),
    "with a field beside it": _edited(lambda r: r.update(verified=True)),
    "null": {**reviewed(), "review": None},
}
