"""An answer while it grows: measured claim by claim, then decided, signed and logged."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from certirag.core.certificate import (
    AnswerRecord,
    RetrievalRecord,
    export_bytes,
    sign,
    statement_bytes,
)
from certirag.core.citation import Citation, CitationsRecord
from certirag.core.claim import Claim, ClaimIR
from certirag.core.generation import GenerationRecord
from certirag.core.policy import Policy
from certirag.core.text import sha256_hex
from certirag.measuring import Measured, measure_claims
from certirag.ports import Index
from certirag.render import certify
from certirag.render.abstain import lacks_answer, with_suggestions
from certirag.retrieve.hybrid import RetrievalOutcome
from certirag.retrieve.suggest import suggest
from certirag.services import Services, SignedAnswer


@dataclass(slots=True)
class GrowingAnswer:
    """An answer while it grows: what was found for the question, and what was measured so far."""

    question: str
    found: RetrievalOutcome
    index: Index
    services: Services
    asked_policy: Policy | None
    measured: Measured = field(default_factory=Measured)
    citations: tuple[Citation, ...] = ()
    unread: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def measure(
        self,
        claims: tuple[Claim, ...],
        citations: tuple[Citation, ...] = (),
        unread: tuple[str, ...] = (),
    ) -> None:
        """Measure *claims* and keep what was found beside what there is; nothing is measured twice."""
        more = measure_claims(
            claims, self.found.chunks, self.index, self.services, citations=citations
        )
        self.measured = self.measured.with_more(more)
        self.citations += citations
        self.unread += unread

    def signed(self, claim_ir: ClaimIR, generation: GenerationRecord | None = None) -> SignedAnswer:
        """Decide, sign and log; the log is written before anything is returned."""
        services, measured = self.services, self.measured
        policy = services.policy
        policy = policy if self.asked_policy is None else policy.meet(self.asked_policy)
        chunks = measured.chunks or self.found.chunks
        with services.stage("decide"):
            decisions, summary = certify(
                claim_ir.claims, measured.results, chunks, policy, question=self.question
            )
        finished = generation is None or generation.end != "under_way"
        if finished and services.settings.enable_abstention and lacks_answer(summary):
            nearest = self.found.chunks or chunks
            hints = suggest(self.question, nearest, self.index.chunks())
            summary = with_suggestions(summary, hints)
        used = {ref.chunk_id for result in measured.results for ref in result.all_scores}
        kept = {chunk.chunk_id for chunk in self.found.chunks} | used
        config = services.settings.caps()
        record = AnswerRecord(
            question=self.question,
            retrieval=RetrievalRecord(
                query=self.question,
                chunks=tuple(chunk for chunk in chunks if chunk.chunk_id in kept),
                settings={**self.found.settings, "corpus": self.index.fingerprint},
                dropped=(*self.found.dropped, *self.dropped),
            ),
            claim_ir=claim_ir,
            verification=measured.results,
            decisions=decisions,
            answer=summary,
            policy=policy,
            models=tuple(
                model
                for model in services.models
                if generation is not None or model.role != "generator"  # it wrote nothing here
            ),
            config=config,
            config_hash=sha256_hex(repr(sorted(config.items()))),
            created_at=services.now().isoformat(timespec="seconds"),
            trace_id=secrets.token_hex(16),
            generation=generation,
            citations=self._cited(),
        )
        return signed_answer(record, services, complete=finished)

    def _cited(self) -> CitationsRecord | None:
        if not (self.citations or self.unread):
            return None
        measured = self.measured
        return CitationsRecord(
            self.citations, measured.judgements, measured.corrections, self.unread
        )


def signed_answer(
    record: AnswerRecord, services: Services, *, complete: bool = True
) -> SignedAnswer:
    """Sign and log *record*; nothing is returned unless the log took it."""
    with services.stage("sign"):
        export = export_bytes(record, sign(statement_bytes(record), services.key))
    with services.stage("log"):
        services.audit_log.append(
            trace_id=record.trace_id, created_at=record.created_at, certificate=export
        )
    return SignedAnswer(record.trace_id, export, complete)
