"""The record of an answer and its DSSE envelope: what is signed is bytes.

The payload is an in-toto Statement v1 (https://in-toto.io/Statement/v1) whose predicate is
the `AnswerRecord`. The envelope is DSSE v1: the signature is over the pre-authentication
encoding of the payload bytes, so nothing depends on writing JSON twice in the same way.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import TypeAdapter, ValidationError

from certirag.core.citation import CitationsRecord
from certirag.core.claim import ClaimIR
from certirag.core.generation import GenerationRecord
from certirag.core.judgement import ConfidenceBasis, LeftOut, Reference, Suggestions
from certirag.core.models import ModelIdentity
from certirag.core.policy import Policy
from certirag.core.probe import Probe
from certirag.core.text import EvidenceChunk, sha256_hex
from certirag.core.verdict import VerificationResult
from certirag.errors import CertificateError, CertiRAGError

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://certirag.dev/attestation/answer/v1"
MAX_CERTIFICATE_BYTES: Final = 16 * 1024 * 1024

RenderStateName = Literal["VERIFIED", "UNVERIFIED", "BLOCKED"]
AnswerDecisionName = Literal["ACCEPT", "STRIP", "REJECT"]
Confidence = Literal["high", "medium", "low", "insufficient_evidence"]

# Points of order 1, 2, 4 and 8 on edwards25519, canonical and not: OpenSSL accepts signatures
# under them for any message (Chalkias, Garillot, Nikolaenko 2020, "Taming the many EdDSAs").
_SMALL_ORDER_KEYS: Final = frozenset(
    bytes.fromhex(key)
    for key in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    )
)


@dataclass(frozen=True, slots=True)
class RetrievalRecord:
    """What was retrieved: every chunk that any decision leans on, with its scores and ranks.

    *dropped* says, one line each, what a cap left out; *settings* are the retriever's own.
    """

    query: str
    chunks: tuple[EvidenceChunk, ...]
    settings: dict[str, str | int | float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """One rule's answer, in plain words."""

    rule: str
    passed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class RendererDecision:
    """What was shown for a claim and why (CertiRAG seed §6.4). A record, never a permission."""

    claim_id: str
    render_state: RenderStateName
    policy: dict[str, str | float]
    reason: str
    findings: tuple[FindingRecord, ...]


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """The decision on the answer as a whole, with its reason code and RFC-0004 confidence.

    *reason* says the code in words, *basis* what the confidence was computed from, *left_out* the
    claims without a badge by rule. *closest_references* are there when there is no answer, and
    *query_refinements*, with *suggestions* behind them, when something is missing from it. A
    record made before these fields has none of them.
    """

    decision: AnswerDecisionName
    reason_code: str
    confidence: Confidence
    verified: int
    unverified: int
    blocked: int
    limitations: tuple[str, ...] = ()
    query_refinements: tuple[str, ...] = ()
    reason: str = ""
    basis: ConfidenceBasis | None = None
    left_out: tuple[LeftOut, ...] = ()
    closest_references: tuple[Reference, ...] = ()
    suggestions: Suggestions | None = None


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """Everything that a stranger needs to derive every badge of one answer again.

    *generation* is there when a language model wrote the draft, *citations* when the draft cited.
    *probe* is there when errors were planted in the answer's claims. Each stands in one of them,
    and they are judged under a policy that this record's refines, for a stricter one would catch
    more: CertificateError otherwise.
    """

    question: str
    retrieval: RetrievalRecord
    claim_ir: ClaimIR
    verification: tuple[VerificationResult, ...]
    decisions: tuple[RendererDecision, ...]
    answer: AnswerSummary
    policy: Policy
    models: tuple[ModelIdentity, ...]
    config: dict[str, str | int | float | bool]
    config_hash: str
    created_at: str
    trace_id: str
    probe: Probe | None = None
    generation: GenerationRecord | None = None
    citations: CitationsRecord | None = None

    def __post_init__(self) -> None:
        """Refuse a probe of other claims, or one that is judged more strictly than the claims."""
        if self.probe is None:
            return
        if {e.claim_id for e in self.probe.planted} - {c.id for c in self.claim_ir.claims}:
            raise CertificateError("an error is planted in a claim that the answer does not make")
        if not self.policy.refines(self.probe.policy):
            raise CertificateError(
                f"planted errors are judged under {self.probe.policy.name!r}, "
                f"which is stricter than the answer's {self.policy.name!r}"
            )


@dataclass(frozen=True, slots=True)
class Signature:
    """One DSSE signature: *keyid* is the SHA-256 of the raw public key, *sig* is base64."""

    keyid: str
    sig: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """A DSSE envelope; *payload* is base64 of the Statement's bytes."""

    payloadType: str  # noqa: N815  # the DSSE field's name
    payload: str
    signatures: tuple[Signature, ...]


_T = TypeVar("_T")
_RECORD: Final = TypeAdapter(AnswerRecord)
_ENVELOPE: Final = TypeAdapter(Envelope)


def key_id(public_key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of the raw 32-byte public key, in hex."""
    return sha256_hex(raw_public_key(public_key))


def raw_public_key(public_key: Ed25519PublicKey) -> bytes:
    """Return the 32 raw bytes of *public_key*."""
    return public_key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def load_public_key(raw: bytes) -> Ed25519PublicKey:
    """Return the key of 32 raw bytes; CertificateError for a wrong length or a small order."""
    if len(raw) != 32 or raw in _SMALL_ORDER_KEYS:
        raise CertificateError("public key is not a usable Ed25519 key (length or small order)")
    return Ed25519PublicKey.from_public_bytes(raw)


def record_json(record: AnswerRecord) -> dict[str, Any]:
    """Return *record* as JSON values, in the field order of the published schema.

    A record without a probe has no such key, so it reads as it did before there were any; so with
    a language model's part and with citations.
    """
    value = cast("dict[str, Any]", _RECORD.dump_python(record, mode="json"))
    for optional in ("probe", "generation", "citations"):
        if value[optional] is None:
            del value[optional]
    return value


def statement_bytes(record: AnswerRecord) -> bytes:
    """Return the bytes to sign: an in-toto Statement over the answer and every source."""
    sources = {c.doc_id: c.source.sha256 for c in record.retrieval.chunks}
    answer = json.dumps([claim.text for claim in record.claim_ir.claims], ensure_ascii=False)
    subject = [{"name": "answer", "digest": {"sha256": sha256_hex(answer)}}]
    subject += [
        {"name": f"source/{doc_id}", "digest": {"sha256": digest}}
        for doc_id, digest in sorted(sources.items())
    ]
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": subject,
        "predicateType": PREDICATE_TYPE,
        "predicate": record_json(record),
    }
    return json.dumps(statement, ensure_ascii=False, allow_nan=False).encode("utf-8")


def sign(payload: bytes, private_key: Ed25519PrivateKey) -> Envelope:
    """Return the DSSE envelope of *payload* signed with *private_key*."""
    signature = private_key.sign(_pae(payload))
    return Envelope(
        payloadType=PAYLOAD_TYPE,
        payload=base64.b64encode(payload).decode("ascii"),
        signatures=(
            Signature(
                keyid=key_id(private_key.public_key()),
                sig=base64.b64encode(signature).decode("ascii"),
            ),
        ),
    )


def verified_payload(envelope: Envelope, trusted: Mapping[str, Ed25519PublicKey]) -> bytes:
    """Return the payload bytes once a *trusted* key's signature over them holds.

    Keys come from the caller, never from the file. Raises CertificateError otherwise.
    """
    if envelope.payloadType != PAYLOAD_TYPE:
        raise CertificateError(f"payload type is not {PAYLOAD_TYPE}")
    if len(envelope.signatures) != 1:
        raise CertificateError("the envelope must carry exactly one signature")
    signature = envelope.signatures[0]
    key = trusted.get(signature.keyid)
    if key is None or key_id(key) != signature.keyid:
        raise CertificateError(f"signed by key {signature.keyid[:16]!r}…, which is not trusted")
    load_public_key(raw_public_key(key))
    payload = _strict_base64(envelope.payload)
    try:
        key.verify(_strict_base64(signature.sig), _pae(payload))
    except InvalidSignature as error:
        raise CertificateError("the signature does not match the signed bytes") from error
    return payload


def parse_statement(payload: bytes) -> AnswerRecord:
    """Return the record inside verified *payload* bytes; CertificateError unless it is whole."""
    statement = strict_json(payload)
    if not isinstance(statement, dict) or set(statement) != {
        "_type",
        "subject",
        "predicateType",
        "predicate",
    }:
        raise CertificateError("the signed payload is not an in-toto Statement")
    if statement["_type"] != STATEMENT_TYPE or statement["predicateType"] != PREDICATE_TYPE:
        raise CertificateError("the signed statement is of another type or version")
    record = _validated(_RECORD, statement["predicate"], "signed record")
    if json.loads(statement_bytes(record))["subject"] != statement["subject"]:
        raise CertificateError("the statement's subjects do not match its answer and sources")
    return record


def parse_envelope(value: object) -> Envelope:
    """Return the envelope of parsed JSON; CertificateError for unknown or missing fields."""
    return _validated(_ENVELOPE, value, "certificate")


def strict_json(data: bytes, *, literal_numbers: bool = False) -> Any:
    """Parse JSON, refusing duplicate keys, NaN, infinities, bad UTF-8 and oversized input.

    *literal_numbers* keeps each number as it was spelled, for comparing two texts.
    """
    if len(data) > MAX_CERTIFICATE_BYTES:
        raise CertificateError(f"larger than {MAX_CERTIFICATE_BYTES} bytes")
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_Number if literal_numbers else None,
            parse_int=_Number if literal_numbers else None,
        )
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"not strict JSON: {error}") from error


def _validated(adapter: TypeAdapter[_T], value: object, what: str) -> _T:
    try:
        return adapter.validate_json(json.dumps(value), strict=True, extra="forbid")
    except (ValidationError, ValueError, CertiRAGError) as error:
        detail = error.errors()[0] if isinstance(error, ValidationError) else error
        where = ".".join(map(str, detail["loc"])) if isinstance(detail, dict) else str(detail)
        raise CertificateError(f"the {what} is malformed at {where or 'its top'}") from error


def _pae(payload: bytes) -> bytes:
    """Pre-authentication encoding of DSSE v1."""
    kind = PAYLOAD_TYPE.encode("ascii")
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _strict_base64(text: str) -> bytes:
    """Decode base64, refusing other spellings of the same bytes."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise CertificateError("the envelope holds bad base64") from error
    if base64.b64encode(data).decode("ascii") != text:
        raise CertificateError("the envelope holds non-canonical base64")
    return data


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key appears twice")
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def export_bytes(record: AnswerRecord, envelope: Envelope) -> bytes:
    """Return the audit export: the readable record and, last, the signed certificate of it."""
    readable = {**record_json(record), "certificate": _ENVELOPE.dump_python(envelope, mode="json")}
    return (json.dumps(readable, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def open_export(data: bytes, trusted: Mapping[str, Ed25519PublicKey]) -> AnswerRecord:
    """Return the record of an audit export whose signature holds and whose two parts agree.

    Only the signed bytes are trusted: a readable part that differs from them in any value,
    number spelling included, is a CertificateError.
    """
    readable = strict_json(data, literal_numbers=True)
    if not isinstance(readable, dict) or "certificate" not in readable:
        raise CertificateError("this is not an audit export: it has no key 'certificate'")
    envelope = parse_envelope(readable.pop("certificate"))
    payload = verified_payload(envelope, trusted)
    record = parse_statement(payload)
    signed = strict_json(payload, literal_numbers=True)["predicate"]
    for key in sorted(set(readable) | set(signed)):
        if key not in readable or key not in signed or not _same(readable[key], signed[key]):
            raise CertificateError(f"the readable part differs from the signed one at {key!r}")
    return record


@dataclass(frozen=True, slots=True)
class _Number:
    """A JSON number as it was spelled."""

    literal: str


def _same(one: object, other: object) -> bool:
    """Compare parsed JSON by type too: true is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
