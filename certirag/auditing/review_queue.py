"""Answers that wait for a person: put into the log, listed from it, and decided by a reviewer.

The log is the queue: an ``escalate`` entry says that an answer waits, a ``review`` entry that
somebody decided. Both are proven under the trusted keys before anything is done upon them. What
leaves is for the policy to say; a reviewer lets its supported statements leave, or not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import TypeAdapter

from certirag.auditing.logged_answers import export_again, open_answer
from certirag.core.text import sha256_hex
from certirag.errors import AuditError, CertificateError, InputError
from certirag.ports import AuditLog, LogEntry, NewEntry
from certirag.proof.certificate import open_reviewed
from certirag.proof.countersignature import (
    Review,
    ReviewDecision,
    review_detail,
    sign_review,
)
from certirag.proof.envelope import strict_base64, strict_json, validated
from certirag.proof.facets import AnswerQuery
from certirag.proof.keys import reviewer_key
from certirag.proof.log import parse_leaf, prove

MOST_LISTED: Final = 100


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms an answer was asked for: what leaves once it is released keeps to them.

    *sources* are the allowed documents, path and SHA-256; *score* is the grounding score then.
    """

    profile: str
    sources: tuple[tuple[str, str], ...]
    max_citations: int
    score: float


@dataclass(frozen=True, slots=True)
class Escalated:
    """An answer that a person decides on: who asked (*caller*, *key*), since when, on what *terms*."""

    trace_id: str
    at: str
    caller: str
    key: str
    terms: Terms


_TERMS: Final = TypeAdapter(Terms)


def escalate(
    log: AuditLog, trace_id: str, terms: Terms, *, caller: str, key: str, now: datetime
) -> None:
    """Put the logged answer *trace_id* before the reviewers; AuditError where that cannot be."""
    target = parse_leaf(log.find(trace_id).leaf).index
    detail = {"target": target, "caller": caller, "key": key}
    content = json.dumps(asdict(terms), ensure_ascii=False, allow_nan=False).encode("utf-8")
    log.append(NewEntry("escalate", trace_id, now, content, detail=detail))


def escalated(
    log: AuditLog, trace_id: str, trusted: Mapping[str, Ed25519PublicKey]
) -> Escalated | None:
    """Return on which terms *trace_id* was put before the reviewers, None where it was not.

    Raises AuditError for one that was erased, CertificateError for one that does not hold.
    """
    for text in log.leaves_of("escalate", trace_id):
        leaf = parse_leaf(text)
        (entry,) = log.entries(leaf.index, leaf.index + 1)
        if entry.content is None:
            raise AuditError(f"what entry {leaf.index} of the log asks for was erased")
        leaf = prove(log.proof(leaf.index), entry.content, trusted)
        caller, key = leaf.detail.get("caller"), leaf.detail.get("key")
        if leaf.kind != "escalate" or not isinstance(caller, str) or not isinstance(key, str):
            raise CertificateError(f"entry {leaf.index} of the log does not say who asked")
        terms = validated(_TERMS, strict_json(entry.content), "escalation")
        return Escalated(leaf.trace_id, leaf.at, caller, key, terms)
    return None


def waiting(log: AuditLog) -> Sequence[str]:
    """Return the trace ids of the answers that nobody decided on, those that wait longest first."""
    decided = {parse_leaf(text).trace_id for text in log.leaves_of("review")}
    asked = (parse_leaf(text).trace_id for text in log.leaves_of("escalate"))
    return [trace_id for trace_id in asked if trace_id not in decided]


def review_of(
    log: AuditLog, trace_id: str, trusted: Mapping[str, Ed25519PublicKey]
) -> Review | None:
    """Return what a reviewer decided on *trace_id*, None while it waits.

    Raises AuditError or CertificateError for an answer that is gone or does not hold, and for a
    decision that was erased: what was decided once does not wait again.
    """
    _, review = open_reviewed(export_again(log, trace_id), trusted)
    if review is None and log.leaves_of("review", trace_id):
        raise AuditError("what was decided on this answer was erased")
    return review


def decide_review(
    log: AuditLog,
    home: Path,
    trace_id: str,
    decision: ReviewDecision,
    *,
    reviewer: str,
    reason: str,
    trusted: Mapping[str, Ed25519PublicKey],
    now: datetime,
) -> Review:
    """Log what *reviewer* decides on the waiting answer *trace_id*, signed by the reviewer's key.

    Raises InputError for an answer that does not wait, for a release of one that is no longer
    stood by, and for a name or reason that cannot stand; AuditError when it cannot be logged.
    """
    if trace_id not in waiting(log):
        raise InputError(f"no answer {trace_id[:64]!r} waits for a decision")
    entry = log.find(trace_id)
    leaf, _record = open_answer(entry, trusted)
    found = log.search(AnswerQuery(trace_id=trace_id, parts=True), limit=1).rows
    if decision == "release" and (not found or found[0].revoked):
        raise InputError("the answer was revoked since it was given: refuse it")
    review = Review(
        v=1,
        trace_id=trace_id,
        certificate_sha256=_digest(entry),
        decision=decision,
        reviewer=reviewer,
        reason=reason,
        at=now.astimezone(UTC).isoformat(timespec="milliseconds"),
    )
    key = reviewer_key(home, reviewer)
    envelope = sign_review(review, key)
    (signature,) = envelope.signatures
    log.append(
        NewEntry(
            "review",
            trace_id,
            now,
            strict_base64(envelope.payload),
            signature=(signature.keyid, strict_base64(signature.sig)),
            detail=review_detail(review, leaf.index, key.public_key()),
        )
    )
    return review


def _digest(entry: LogEntry) -> str:
    return sha256_hex(entry.content or b"")
