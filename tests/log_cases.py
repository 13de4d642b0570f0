"""A log as a year leaves it: answers, failures, a hold, erasures, a revocation, a new key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_cases import record

from certirag.ports import NewEntry
from certirag.proof.certificate import statement_bytes
from certirag.proof.envelope import key_id, sign, strict_base64
from certirag.proof.facets import facets_of
from certirag.proof.log import rotation_message

ORIGIN = "certirag.test/log"
OLD = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
NEW = Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64)))
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(range(64, 96)))
KEYS = {key_id(key.public_key()): key.public_key() for key in (OLD, NEW)}
START = datetime(2026, 1, 1, tzinfo=UTC)


def at(minute: int) -> datetime:
    """Return the time *minute* minutes after the log began."""
    return START + timedelta(minutes=minute)


@cache
def _record() -> Any:
    return record()


def request_id(number: int) -> str:
    """Return the id of request *number*."""
    return f"{number:032x}"


def received(number: int) -> NewEntry:
    """Return the entry that request *number* leaves when it comes in."""
    content = f'{{"question": "question {number}"}}'.encode()
    return NewEntry("received", request_id(number), at(number), content, detail={"of": "question"})


def answer(number: int, key: Ed25519PrivateKey = OLD, *, complete: bool = True) -> NewEntry:
    """Return the entry of the signed answer to request *number*."""
    trace_id = f"{number:030x}" + ("aa" if complete else "bb")
    when = at(number).isoformat(timespec="seconds")
    of = replace(_record(), trace_id=trace_id, question=f"question {number}?", created_at=when)
    payload = statement_bytes(of)
    envelope = sign(payload, key)
    signature = (envelope.signatures[0].keyid, strict_base64(envelope.signatures[0].sig))
    return NewEntry(
        "answer",
        trace_id,
        at(number),
        payload,
        signature,
        facets_of(of, request=request_id(number), complete=complete),
        {"request": request_id(number), "complete": complete},
    )


def failed(number: int) -> NewEntry:
    """Return the entry of request *number* that came to nothing."""
    detail = {"request": request_id(number), "error": "VerifierError"}
    return NewEntry("failed", request_id(number), at(number), detail=detail)


def erasure(minute: int, *targets: Sequence[int]) -> tuple[NewEntry, list[int]]:
    """Return the act that erases the ranges *targets*, and their entries."""
    detail = {
        "targets": [list(span) for span in targets],
        "rule": "internal_faq",
        "authoriser": "",
        "justification": "",
    }
    indexes = [index for first, last in targets for index in range(first, last + 1)]
    return NewEntry("erase", "", at(minute), detail=detail), indexes


def hold(minute: int, name: str, *targets: Sequence[int], kind: Any = "hold") -> NewEntry:
    """Return the entry of a hold, or of its release."""
    detail = {"hold": name, "targets": [list(span) for span in targets], "authoriser": "officer"}
    return NewEntry(kind, "", at(minute), detail=detail)


def revocation(minute: int, target: int) -> NewEntry:
    """Return the entry that revokes the answer at *target*."""
    detail = {"target": target, "reason": "SOURCE_CHANGED", "authoriser": "officer"}
    return NewEntry("revoke", "", at(minute), detail=detail)


def rotation(minute: int, old: Ed25519PrivateKey, new: Ed25519PrivateKey, origin: str) -> NewEntry:
    """Return the entry in which *old* hands over to *new*."""
    names = key_id(old.public_key()), key_id(new.public_key())
    message = rotation_message(origin, *names)
    signed = {"old_signature": old.sign(message).hex(), "new_signature": new.sign(message).hex()}
    detail = {"old": names[0], "new": names[1], **signed}
    return NewEntry("rotate", "", at(minute), detail=detail)


def fill(
    opened: Callable[[Ed25519PrivateKey], Any], stepped: Callable[[], object] = lambda: None
) -> Any:
    """Write some sixty entries into the log that *opened* opens with a key; return it, open.

    *stepped* is called now and then on the way.
    """
    log = opened(OLD)
    for number in range(10):
        log.append(received(number))
        if number % 4 == 3:
            log.append(failed(number))
        else:
            log.append_all([answer(number, complete=False), answer(number)])
        stepped()
    log.append(hold(11, "case-1", (5, 9)))
    log.erase(*erasure(12, (1, 3), (13, 15)))
    log.append(revocation(13, 9))
    log.append(rotation(14, OLD, NEW, log.origin))
    log.close()
    log = opened(NEW)
    log.append(hold(15, "case-1", (5, 7), kind="release"))
    log.erase(*erasure(16, (5, 6)))
    for number in range(20, 30):
        stepped()
        log.append_all([received(number), answer(number, NEW)])
    log.append(received(31))  # nobody ever answered it
    for number in range(60, 63):
        log.append_all([received(number), answer(number, NEW)])
    log.append(received(64))  # this one may be under way
    return log
