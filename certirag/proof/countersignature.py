"""What a reviewer decided on an answer, signed by the reviewer and proven to be in the log.

A reviewer signs with a key of their own, which nobody pins: the log names it in the leaf of its
``review`` entry, under the keys that are pinned. What is signed names the answer's certificate by
the digest of its payload, so no decision can be moved to another answer (docs/certificate.md §13).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import TypeAdapter

from certirag.core.text import sha256_hex
from certirag.errors import CertificateError, InputError
from certirag.proof.envelope import (
    Envelope,
    key_id,
    load_public_key,
    raw_public_key,
    sign,
    strict_base64,
    strict_json,
    validated,
    verified_payload,
)
from certirag.proof.log import Leaf, LogProof, prove

REVIEW_TYPE: Final = "application/vnd.certirag.review+json"
ReviewDecision = Literal["release", "refuse"]
_REVIEWER: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_MOST_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Review:
    """A decision on the answer *trace_id*, whose certificate's payload has the digest given.

    *reason* is the reviewer's own words, *at* is UTC. It lets supported statements leave, or not;
    it says nothing of any statement and can give none a badge.
    """

    v: Literal[1]
    trace_id: str
    certificate_sha256: str
    decision: ReviewDecision
    reviewer: str
    reason: str
    at: str


@dataclass(frozen=True, slots=True)
class Countersigned:
    """The part ``review`` of an export: the envelope of a `Review`, and the log's proof of it."""

    certificate: Envelope
    log: LogProof


_REVIEW: Final = TypeAdapter(Review)
_COUNTERSIGNED: Final = TypeAdapter(Countersigned)


def require_reviewer(name: str) -> None:
    """Raise InputError for what cannot name a reviewer: it names a file, and stands in the log."""
    if not _REVIEWER.fullmatch(name):
        raise InputError(
            f"{name[:80]!r} names no reviewer: use small letters, digits and . _ - (64 at most)"
        )


def sign_review(review: Review, key: Ed25519PrivateKey) -> Envelope:
    """Return *review* signed by the reviewer's *key*; InputError for words that cannot stand."""
    require_reviewer(review.reviewer)
    reason = review.reason
    if not reason.strip() or not reason.isprintable() or len(reason) > _MOST_REASON:
        raise InputError(f"the reason: plain text of one line, 1 to {_MOST_REASON} characters")
    text = json.dumps(asdict(review), ensure_ascii=False, allow_nan=False)
    return sign(text.encode("utf-8"), key, REVIEW_TYPE)


def review_detail(review: Review, target: Any, public_key: Ed25519PublicKey) -> dict[str, Any]:
    """Return what the leaf of a ``review`` entry says; *target* is the answer's entry."""
    return {
        "target": target,
        "decision": review.decision,
        "reviewer": review.reviewer,
        "public_key": raw_public_key(public_key).hex(),
    }


def require_signed_review(leaf: Leaf, envelope: Envelope) -> Review:
    """Return what *envelope* says once the key that *leaf* names signed it, and both say the same.

    Raises CertificateError otherwise. That the leaf is the log's is for the caller to know.
    """
    named = leaf.detail.get("public_key")
    try:
        key = load_public_key(bytes.fromhex(named if isinstance(named, str) else ""))
    except ValueError as error:
        raise CertificateError("its reviewer's key is no public key") from error
    payload = verified_payload(envelope, {key_id(key): key}, REVIEW_TYPE)
    review = validated(_REVIEW, strict_json(payload), "review")
    if leaf.kind != "review" or leaf.detail != review_detail(
        review, leaf.detail.get("target"), key
    ):
        raise CertificateError("the log's entry and the reviewer say different things")
    if review.trace_id != leaf.trace_id:
        raise CertificateError("the review is of another answer")
    return review


def open_review(
    countersigned: Countersigned,
    answer: Leaf,
    payload: bytes,
    trusted: Mapping[str, Ed25519PublicKey],
) -> Review:
    """Return what a reviewer decided on the answer of the leaf *answer* and its signed *payload*.

    Raises CertificateError unless the log of *trusted* keys holds the decision, the reviewer that
    it names signed it, and it is on this very certificate.
    """
    signed = strict_base64(countersigned.certificate.payload)
    leaf = prove(countersigned.log, signed, trusted)
    target = leaf.detail.get("target")
    if type(target) is not int or (leaf.origin, target) != (answer.origin, answer.index):
        raise CertificateError("the review is of another entry of the log")
    review = require_signed_review(leaf, countersigned.certificate)
    same = (answer.trace_id, sha256_hex(payload))
    if leaf.index <= answer.index or (review.trace_id, review.certificate_sha256) != same:
        raise CertificateError("the review is of another answer")
    return review


def parse_countersigned(value: object) -> Countersigned:
    """Return the part ``review`` of parsed JSON; CertificateError for unknown or missing fields."""
    return validated(_COUNTERSIGNED, value, "review")


def countersigned_json(countersigned: Countersigned) -> dict[str, Any]:
    """Return *countersigned* as JSON values."""
    value: dict[str, Any] = _COUNTERSIGNED.dump_python(countersigned, mode="json")
    return value
