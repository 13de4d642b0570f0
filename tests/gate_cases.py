"""One claim that every rule passes, and ways to spoil it: shared by the gate's tests."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from memory_log import MemoryLog

from certirag.core.claim import Claim, ClaimIR
from certirag.core.generation import ModelIdentity
from certirag.core.policy import BASE_RULES, RISK_CLASSES, STRICT_RULES, Policy
from certirag.core.selector import with_selectors
from certirag.core.text import (
    ChunkSource,
    EvidenceChunk,
    SentenceSpan,
    SpanRef,
    pair_digest,
    sha256_hex,
)
from certirag.core.verdict import SpanScore, VerificationResult
from certirag.ports import NewEntry
from certirag.proof.certificate import AnswerRecord, RetrievalRecord, export_bytes, statement_bytes
from certirag.proof.envelope import key_id, sign
from certirag.render import certify
from certirag.render.gate import Case

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TRUSTED = {key_id(KEY.public_key()): KEY.public_key()}
POLICY = Policy(
    name="test-1",
    rules=BASE_RULES + STRICT_RULES,
    class_minimum={**dict.fromkeys(RISK_CLASSES, 1), "comparative_claim": 2},
)
SENTENCE = "Full-time employees receive 27 days of annual leave per calendar year."
OTHER = "The canteen opens at noon."
CLAIM = Claim("c1", SENTENCE, "numeric_fact", "factual_lit_claim")


def chunk(
    text: str = f"{SENTENCE} {OTHER}", doc_id: str = "leave", sentence: str = SENTENCE
) -> EvidenceChunk:
    """Return a chunk with its first sentence (and the rest, if any) as spans that say where."""
    spans = [SentenceSpan("s1", 0, len(sentence), sentence)]
    if len(text) > len(sentence):
        spans.append(SentenceSpan("s2", len(sentence) + 1, len(text), text[len(sentence) + 1 :]))
    source = ChunkSource("Leave policy", f"{doc_id}.md", "Annual leave", sha256_hex(doc_id))
    return located(
        EvidenceChunk(f"{doc_id}#c1", doc_id, text, sha256_hex(text), source, tuple(spans))
    )


def located(of: EvidenceChunk) -> EvidenceChunk:
    """Return *of* with a selector on every span, as if each were attached."""
    refs = tuple(SpanRef(of.chunk_id, span.span_id) for span in of.spans)
    whole = VerificationResult("c1", "entailed", 1.0, refs, ())
    return with_selectors([of], [whole])[0]


def score(
    of: EvidenceChunk,
    span_id: str = "s1",
    *,
    claim: Claim = CLAIM,
    entailed: float | None = 0.97,
    neutral: float | None = 0.02,
    contradicted: float | None = 0.01,
) -> SpanScore:
    """Return a span's scores, with the digest of what an isolated verifier was given."""
    given = pair_digest(claim.text, of.span(span_id).sentence, of.context)
    named = {"entailed": entailed, "not_enough_info": neutral, "contradicted": contradicted}
    label = max(named, key=lambda name: named[name] or 0.0)
    return SpanScore(
        of.chunk_id, span_id, label, named[label], entailed, neutral, contradicted, given
    )


def result(of: EvidenceChunk, claim: Claim = CLAIM) -> VerificationResult:
    """Return the measurement of *claim* that leans on the first span of *of*."""
    others = tuple(
        score(of, span.span_id, claim=claim, entailed=0.05, neutral=0.93, contradicted=0.02)
        for span in of.spans[1:]
    )
    own = score(of, claim=claim)
    return VerificationResult(
        claim_id=claim.id,
        label="entailed",
        score=0.97,
        best_evidence=(SpanRef(of.chunk_id, "s1"),),
        all_scores=(own, *others),
        verdict="SUPPORTED",
        set_input_sha256=own.input_sha256,
        score_without=0.1,
    )


def good_case() -> Case:
    """Return a case that every rule of `POLICY` passes."""
    of = chunk()
    return Case(CLAIM, result(of), {of.chunk_id: of}, POLICY)


def with_result(case: Case, **changes: object) -> Case:
    """Return *case* with fields of its measurement changed."""
    return replace(case, result=replace(case.result, **changes))  # type: ignore[arg-type]


def with_first_score(case: Case, **changes: object) -> Case:
    """Return *case* with fields of its first span's score changed."""
    first, *rest = case.result.all_scores
    return with_result(case, all_scores=(replace(first, **changes), *rest))  # type: ignore[arg-type]


def record(case: Case | None = None, policy: Policy = POLICY) -> AnswerRecord:
    """Return the record of an answer with the one claim of *case*."""
    case = case or good_case()
    chunks = tuple(case.chunks.values())
    decisions, summary = certify([case.claim], [case.result], chunks, policy)
    return AnswerRecord(
        question="How much annual leave is there?",
        retrieval=RetrievalRecord("How much annual leave is there?", chunks),
        claim_ir=ClaimIR("How much annual leave is there?", (case.claim,)),
        verification=(case.result,),
        decisions=decisions,
        answer=summary,
        policy=policy,
        models=(ModelIdentity("verifier", "fake", "1", sha256_hex("fake")),),
        config={"max_chunks": 8},
        config_hash=sha256_hex("config"),
        created_at="2026-01-02T03:04:05+00:00",
        trace_id="0" * 32,
    )


def export(of: AnswerRecord | None = None, key: Ed25519PrivateKey = KEY) -> bytes:
    """Return the signed audit export of *of*, logged third in a log of its own."""
    return logged(statement_bytes(of or record()), key)


def logged(payload: bytes, key: Ed25519PrivateKey = KEY) -> bytes:
    """Return the export of a statement's bytes, whatever they say, as *key* signs and logs them."""
    envelope = sign(payload, key)
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    trace_id = json.loads(payload)["predicate"]["trace_id"]
    log = MemoryLog(key)
    log.append(NewEntry("received", "f" * 32, at, b"request"))
    return export_bytes(envelope, log.append(NewEntry("answer", trace_id, at, payload)))
