"""The record of an answer as a signed certificate, and its export (docs/certificate.md).

The payload is an in-toto Statement v1 (https://in-toto.io/Statement/v1) whose predicate is the
`AnswerRecord`, in a DSSE envelope. An export carries the record for a reader, the envelope, and
the proof that the log holds it; only the signed bytes are trusted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import TypeAdapter

from certirag.core.citation import CitationsRecord
from certirag.core.claim import ClaimIR
from certirag.core.generation import GenerationRecord, ModelIdentity
from certirag.core.judgement import ConfidenceBasis, LeftOut, Reference, Suggestions
from certirag.core.policy import Policy
from certirag.core.text import EvidenceChunk, sha256_hex
from certirag.core.verdict import AnswerDecisionName, Probe, VerificationResult
from certirag.errors import CertificateError
from certirag.proof.countersignature import (
    Countersigned,
    Review,
    countersigned_json,
    open_review,
    parse_countersigned,
)
from certirag.proof.envelope import (
    Envelope,
    envelope_json,
    parse_envelope,
    strict_base64,
    strict_json,
    validated,
    verified_payload,
)
from certirag.proof.log import LogProof, parse_proof, proof_json, prove
from certirag.proof.trust import require_in_range

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://certirag.dev/attestation/answer/v2"

RenderStateName = Literal["VERIFIED", "UNVERIFIED", "BLOCKED"]
Confidence = Literal["high", "medium", "low", "insufficient_evidence"]


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
    *query_refinements*, with *suggestions* behind them, when something is missing from it.
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


_RECORD: Final = TypeAdapter(AnswerRecord)


# What is not in a record where there is nothing to say of it.
_UNASKED: Final[Mapping[str, Any]] = {
    "relevance": None,
    "by_part": [],
    "parts": [],
    "open_parts": 0,
    "quoted": [],
}


def record_json(record: AnswerRecord) -> dict[str, Any]:
    """Return *record* as JSON values, in the field order of the published schema.

    A record without a probe has no such key; so with a language model's part, with citations, and
    with the selector of a span that nothing leans on, the relevance that nobody measured, the parts
    of a question that has one, and quotes where the language model's own claims are the answer.
    """
    value = cast("dict[str, Any]", _RECORD.dump_python(record, mode="json"))
    for optional in ("probe", "generation", "citations"):
        if value[optional] is None:
            del value[optional]
    for chunk in value["retrieval"]["chunks"]:
        for span in chunk["spans"]:
            if span["selector"] is None:
                del span["selector"]
    claim_ir, basis = value["claim_ir"], value["answer"]["basis"] or {}
    for rated in (claim_ir, *claim_ir["claims"], basis, value.get("generation", {})):
        for name, unset in _UNASKED.items():
            if name in rated and rated[name] == unset:
                del rated[name]
    return value


def answer_digest(claims: Sequence[str]) -> str:
    """Return the SHA-256 of the claims' texts, each behind its length in code points."""
    return sha256_hex("\x00".join(f"{len(text)}:{text}" for text in claims))


def statement_bytes(record: AnswerRecord) -> bytes:
    """Return the bytes to sign: an in-toto Statement over the answer and every source."""
    sources = {c.doc_id: c.source.sha256 for c in record.retrieval.chunks}
    answer = answer_digest([claim.text for claim in record.claim_ir.claims])
    subject = [{"name": "answer", "digest": {"sha256": answer}}]
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
    record = validated(_RECORD, statement["predicate"], "signed record")
    if json.loads(statement_bytes(record))["subject"] != statement["subject"]:
        raise CertificateError("the statement's subjects do not match its answer and sources")
    return record


def export_bytes(envelope: Envelope, proof: LogProof, review: Countersigned | None = None) -> bytes:
    """Return the audit export: the readable record, its certificate, and the log's proof of it.

    A *review* is what a reviewer decided on it, where one did.

    The readable part is read out of the signed bytes, so an export can be made again from them.
    """
    predicate = json.loads(strict_base64(envelope.payload))["predicate"]
    certified = {"certificate": envelope_json(envelope), "log": proof_json(proof)}
    if review is not None:
        certified["review"] = countersigned_json(review)
    readable = {**predicate, **certified}
    return (json.dumps(readable, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def open_export(data: bytes, trusted: Mapping[str, Ed25519PublicKey]) -> AnswerRecord:
    """Return the record of an export whose signature, log proof and two parts hold together.

    Only the signed bytes are trusted: a readable part that differs from them in any value,
    number spelling included, is a CertificateError; so is a proof of another entry, and a
    reviewer's signature that is none over this answer.
    """
    return open_reviewed(data, trusted)[0]


def open_reviewed(
    data: bytes, trusted: Mapping[str, Ed25519PublicKey]
) -> tuple[AnswerRecord, Review | None]:
    """Return what `open_export` does, and what a reviewer decided; None where nobody did."""
    readable = strict_json(data, literal_numbers=True)
    if not isinstance(readable, dict) or not {"certificate", "log"} <= readable.keys():
        raise CertificateError("this is not an audit export: it needs 'certificate' and 'log'")
    envelope = parse_envelope(readable.pop("certificate"))
    proof = parse_proof(readable.pop("log"))
    countersigned = parse_countersigned(readable.pop("review")) if "review" in readable else None
    payload = verified_payload(envelope, trusted)
    record = parse_statement(payload)
    leaf = prove(proof, payload, trusted)
    require_in_range(trusted, envelope.signatures[0].keyid, leaf.index, leaf.origin)
    if (leaf.kind, leaf.trace_id) != ("answer", record.trace_id):
        raise CertificateError("the log proof is of another entry")
    signed = strict_json(payload, literal_numbers=True)["predicate"]
    for key in sorted(set(readable) | set(signed)):
        if key not in readable or key not in signed or not _same(readable[key], signed[key]):
            raise CertificateError(f"the readable part differs from the signed one at {key!r}")
    review = open_review(countersigned, leaf, payload, trusted) if countersigned else None
    return record, review


def _same(one: object, other: object) -> bool:
    """Compare parsed JSON by type too: true is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
