"""The story, one screen each: ingest() and the two ways to an answer.

    question ─ retrieve ─▶ chunks ─▶ claims ─▶ candidates ─▶ verify (isolated)
        ─▶ certify (the gate) ─▶ sign ─▶ audit log ─▶ the signed export

What comes out is the signed export and never a decision: whoever shows it derives every badge
again (`render.present`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from certirag.claim_ir.compile import claims_from_draft
from certirag.claim_ir.extractive import Candidate, claims_from_evidence
from certirag.claim_ir.planted import PLANTER
from certirag.core.certificate import (
    AnswerRecord,
    RetrievalRecord,
    export_bytes,
    open_export,
    sign,
    statement_bytes,
)
from certirag.core.claim import ClaimIR
from certirag.core.models import ModelIdentity
from certirag.core.policy import Policy
from certirag.core.probe import Probe
from certirag.core.text import EvidenceChunk, sha256_hex
from certirag.errors import InputError
from certirag.ports import (
    AuditLog,
    Embedder,
    Index,
    Progress,
    Reranker,
    SentenceSplitter,
    Verifier,
)
from certirag.render import certify
from certirag.retrieve.hybrid import RetrievalOutcome, retrieve
from certirag.settings import Settings
from certirag.verify.candidates import choose_candidates
from certirag.verify.claim import verify_claims
from certirag.verify.plant import measure_planted, plant_errors

# Opened around each stage by its name, for whoever measures: it is told nothing else, and nothing
# of it reaches a certificate.
Stage = Callable[[str], AbstractContextManager[object]]

MAX_QUESTION = 2_000
MAX_DRAFT = 40_000


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that an answer needs from outside, built once by `bootstrap`."""

    settings: Settings
    policy: Policy
    embedder: Embedder
    reranker: Reranker
    verifier: Verifier
    split: SentenceSplitter
    audit_log: AuditLog
    key: Ed25519PrivateKey
    trusted: dict[str, Ed25519PublicKey]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    stage: Stage = lambda _name: nullcontext()

    @property
    def models(self) -> tuple[ModelIdentity, ...]:
        """The models in use, as certificates name them."""
        return (self.embedder.identity, self.reranker.identity, self.verifier.identity)


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    """One answer as it may be kept, sent or shown: the signed export's bytes."""

    trace_id: str
    export: bytes


def answer_question(
    question: str,
    index: Index,
    services: Services,
    *,
    asked_policy: Policy | None = None,
    progress: Progress = lambda _line, _done, _total: None,
) -> SignedAnswer:
    """Answer *question* with sentences of the corpus; no language model takes part.

    Raises InputError for an unusable question and AuditError when the log refuses.
    """
    text = _bounded(question, "the question", MAX_QUESTION)
    settings = services.settings
    progress("Searching the documents", 1, 5)
    with services.stage("retrieve"):
        found = _retrieve(text, index, services)
    progress("Choosing the sentences that answer", 2, 5)
    with services.stage("compile"):
        claim_ir = claims_from_evidence(
            text, _ranked_sentences(text, found, services), max_claims=settings.max_claims
        )
    return _certified(claim_ir, found, index, services, asked_policy, progress)


def verify_draft(
    draft: str,
    index: Index,
    services: Services,
    *,
    question: str = "",
    asked_policy: Policy | None = None,
    progress: Progress = lambda _line, _done, _total: None,
) -> SignedAnswer:
    """Check somebody else's answer against the corpus, claim by claim.

    Raises InputError for an unusable draft and AuditError when the log refuses.
    """
    text = _bounded(draft, "the draft", MAX_DRAFT)
    progress("Splitting the draft into claims", 1, 5)
    with services.stage("compile"):
        claim_ir = claims_from_draft(
            question, text, services.split, max_claims=services.settings.max_claims
        )
    progress("Searching the documents", 2, 5)
    nothing = RetrievalOutcome(chunks=(), dropped=(), settings={})
    return _certified(claim_ir, nothing, index, services, asked_policy, progress)


def _certified(
    claim_ir: ClaimIR,
    found: RetrievalOutcome,
    index: Index,
    services: Services,
    asked_policy: Policy | None,
    progress: Progress,
) -> SignedAnswer:
    """Verify, decide, sign and log; the log is written before anything is returned."""
    settings = services.settings
    policy = services.policy if asked_policy is None else services.policy.meet(asked_policy)
    progress(f"Looking for evidence on {len(claim_ir.claims)} claims", 3, 5)
    with services.stage("evidence"):
        chunks, dropped = _evidence_for(claim_ir, found, index, services)
    with services.stage("candidates"):
        candidates = choose_candidates(
            claim_ir.claims,
            chunks,
            max_spans=settings.max_spans_per_claim,
            max_pairs=settings.max_pairs,
        )
    progress(f"Verifying {sum(len(c.chosen) for c in candidates)} pairs", 4, 5)
    with services.stage("verify"):
        results = verify_claims(candidates, services.verifier)
    with services.stage("decide"):
        decisions, summary = certify(claim_ir.claims, results, chunks, policy)
    used = {ref.chunk_id for result in results for ref in result.all_scores}
    kept = {chunk.chunk_id for chunk in found.chunks} | used
    config = settings.caps()
    record = AnswerRecord(
        question=claim_ir.question,
        retrieval=RetrievalRecord(
            query=claim_ir.question,
            chunks=tuple(chunk for chunk in chunks if chunk.chunk_id in kept),
            settings={**found.settings, "corpus": index.fingerprint},
            dropped=(*found.dropped, *dropped),
        ),
        claim_ir=claim_ir,
        verification=results,
        decisions=decisions,
        answer=summary,
        policy=policy,
        models=services.models,
        config=config,
        config_hash=sha256_hex(repr(sorted(config.items()))),
        created_at=services.now().isoformat(timespec="seconds"),
        trace_id=secrets.token_hex(16),
    )
    progress("Signing and recording", 5, 5)
    return _signed(record, services)


def probe_answer(
    export: bytes,
    services: Services,
    *,
    progress: Progress = lambda _line, _done, _total: None,
) -> SignedAnswer:
    """Plant errors in the claims that *export* verifies and return a new answer that tells.

    The inputs are those of *export*; the record, its date and its trace are new. A probe that
    *export* already holds is made again. The errors are judged under the server's own policy, so
    that asking for a stricter one brings no badge back (docs/adr/0009).

    Raises CertificateError for an export that does not hold, InputError for one that another
    verifier measured, and AuditError when the log refuses.
    """
    old = open_export(export, services.trusted)
    verifier = services.verifier.identity
    if verifier not in old.models:
        raise InputError(
            f"the answer was measured by another verifier than {verifier.name} "
            f"{verifier.version}: ask again, then plant errors"
        )
    policy = services.policy.meet(old.policy)
    measured = (old.claim_ir.claims, old.verification, old.retrieval.chunks)
    decisions, _ = certify(*measured, policy)
    progress("Planting errors in the answer", 1, 3)
    verified = {d.claim_id for d in decisions if d.render_state == "VERIFIED"}
    planted = plant_errors(
        [claim for claim in old.claim_ir.claims if claim.id in verified],
        old.verification,
        old.retrieval.chunks,
        max_tokens=policy.max_claim_tokens,
    )
    progress(f"Verifying {len(planted.errors)} planted errors", 2, 3)
    results = measure_planted(planted.errors, *measured, services.verifier)
    probe = Probe(planted.errors, results, services.policy, PLANTER, planted.left_out)
    decisions, summary = certify(*measured, policy, probe)
    record = replace(
        old,
        decisions=decisions,
        answer=summary,
        policy=policy,
        created_at=services.now().isoformat(timespec="seconds"),
        trace_id=secrets.token_hex(16),
        probe=probe,
    )
    progress("Signing and recording", 3, 3)
    return _signed(record, services)


def _signed(record: AnswerRecord, services: Services) -> SignedAnswer:
    """Sign and log *record*; nothing is returned unless the log took it."""
    with services.stage("sign"):
        export = export_bytes(record, sign(statement_bytes(record), services.key))
    with services.stage("log"):
        services.audit_log.append(
            trace_id=record.trace_id, created_at=record.created_at, certificate=export
        )
    return SignedAnswer(record.trace_id, export)


def _retrieve(query: str, index: Index, services: Services) -> RetrievalOutcome:
    return retrieve(
        query,
        index,
        services.embedder,
        services.reranker,
        max_chunks=services.settings.max_chunks,
    )


def _ranked_sentences(
    question: str, found: RetrievalOutcome, services: Services
) -> Sequence[Candidate]:
    """Return every visible sentence of the retrieved chunks, best answer first."""
    spans = [
        (chunk, span)
        for chunk in found.chunks
        for span in chunk.spans[: services.settings.max_spans_per_chunk]
        if span.visible
    ]
    texts = [f"{chunk.context}\n{span.sentence}" for chunk, span in spans]
    scores = services.reranker.score(question, texts) if texts else []
    ranked = [
        Candidate(chunk, span, round(float(score), 6))
        for (chunk, span), score in zip(spans, scores, strict=True)
    ]
    return sorted(ranked, key=lambda c: (-c.score, c.chunk.chunk_id, c.span.start))


def _evidence_for(
    claim_ir: ClaimIR, found: RetrievalOutcome, index: Index, services: Services
) -> tuple[tuple[EvidenceChunk, ...], tuple[str, ...]]:
    """Return the chunks that speak for or against any claim, and what the caps left out.

    Each claim searches the whole corpus by itself, without the reranker: what opposes a claim
    may have been far from the question.
    """
    cap = services.settings.max_spans_per_chunk
    chunks = {chunk.chunk_id: chunk for chunk in found.chunks}
    for claim in claim_ir.claims:
        outcome = retrieve(
            claim.text, index, services.embedder, None, max_chunks=services.settings.max_chunks
        )
        for chunk in outcome.chunks:
            chunks.setdefault(chunk.chunk_id, chunk)
    dropped = tuple(
        f"{chunk.chunk_id}: sentences {cap + 1} to {len(chunk.spans)} left out by the cap"
        for chunk in chunks.values()
        if len(chunk.spans) > cap
    )
    return tuple(chunks.values()), dropped


def _bounded(text: str, what: str, limit: int) -> str:
    if not text.strip():
        raise InputError(f"{what} is empty: write at least one sentence")
    if len(text) > limit:
        raise InputError(f"{what} has {len(text)} characters: the limit is {limit}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} holds bytes that are not text: write it as UTF-8")
    return text
