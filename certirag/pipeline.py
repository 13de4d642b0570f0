"""The story, one screen each: the ways to an answer.

    question ─ retrieve ─▶ chunks ─ preselect ─▶ spans ─ draft (`drafting`) ─▶ claims
        ─ measure (`measuring`) ─▶ certify (the gate) ─▶ sign ─▶ audit log ─▶ the signed export

What comes out is the signed export and never a decision: whoever shows it derives every badge
again (`render.present`). A language model's answer comes in parts, each recorded before it is
shown; what a part verifies, every later part verifies too.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from certirag.claim_ir.citation_marks import cited_sources, read_citations
from certirag.claim_ir.cited_claims import citations_of, with_marks
from certirag.claim_ir.compile import claims_from_draft
from certirag.claim_ir.generate_steps import DraftStep, claim_ir_of
from certirag.claim_ir.planted import PLANTER
from certirag.core.certificate import (
    AnswerRecord,
    RetrievalRecord,
    export_bytes,
    open_export,
    sign,
    statement_bytes,
)
from certirag.core.citation import Citation, CitationsRecord
from certirag.core.claim import Claim, ClaimIR
from certirag.core.generation import DraftEnd, GenerationRecord
from certirag.core.policy import Policy
from certirag.core.probe import Probe
from certirag.core.text import sha256_hex
from certirag.drafting import extracted, preselected, prompts_of, strategy_of, written
from certirag.errors import GroundingError, InputError, LanguageModelError
from certirag.measuring import Measured, measure_claims
from certirag.ports import Index, Progress
from certirag.render import certify
from certirag.render.abstain import lacks_answer, with_suggestions
from certirag.retrieve.hybrid import RetrievalOutcome, retrieve
from certirag.retrieve.suggest import suggest
from certirag.services import Services, SignedAnswer, Writer
from certirag.verify.plant import measure_planted, plant_errors

MAX_QUESTION = 2_000
MAX_DRAFT = 40_000


def _silent(_line: str, _done: int, _total: int) -> None:
    """Report nothing."""


def answer_question(
    question: str,
    index: Index,
    services: Services,
    *,
    asked_policy: Policy | None = None,
    progress: Progress = _silent,
) -> SignedAnswer:
    """Answer *question* from the corpus, and return the answer when it is complete.

    Raises as `stream_answer` does.
    """
    *_, last = stream_answer(
        question, index, services, asked_policy=asked_policy, progress=progress
    )
    return last


def stream_answer(
    question: str,
    index: Index,
    services: Services,
    *,
    asked_policy: Policy | None = None,
    progress: Progress = _silent,
) -> Iterator[SignedAnswer]:
    """Yield the answer to *question* as it grows; the last one yielded is complete.

    Without a language model there is one. With one, each claim is measured, certified and
    recorded as soon as it is written; where the model fails, what was certified stands and the
    last part says how it ended. Raises InputError for an unusable question and AuditError when
    the log refuses.
    """
    text = _bounded(question, "the question", MAX_QUESTION)
    progress("Searching the documents", 1, 5)
    with services.stage("retrieve"):
        found = retrieve(
            text,
            index,
            services.embedder,
            services.reranker,
            max_chunks=services.settings.max_chunks,
        )
    answer = _Answer(text, found, index, services, asked_policy)
    progress("Choosing the sentences that answer", 2, 5)
    with services.stage("compile"):
        spans = preselected(text, found, services)
    answer.dropped += spans.dropped
    if services.writer is None:
        with services.stage("compile"):
            claim_ir = extracted(text, spans, services)
        progress(f"Verifying {len(claim_ir.claims)} claims", 3, 5)
        answer.measure(claim_ir.claims)
        progress("Signing and recording", 5, 5)
        yield answer.signed(claim_ir)
        return
    yield from _written_answer(
        answer, services.writer, written(text, spans, services.writer, services), progress
    )


def verify_draft(
    draft: str,
    index: Index,
    services: Services,
    *,
    question: str = "",
    asked_policy: Policy | None = None,
    progress: Progress = _silent,
) -> SignedAnswer:
    """Check somebody else's answer against the corpus, claim by claim, and what it cites.

    Raises InputError for an unusable draft and AuditError when the log refuses.
    """
    text = _bounded(draft, "the draft", MAX_DRAFT)
    progress("Splitting the draft into claims", 1, 5)
    with services.stage("compile"):
        cited = read_citations(text, cited_sources(index.chunks()))
        plain = claims_from_draft(
            question, cited.text, services.split, max_claims=services.settings.max_claims
        )
        own = citations_of(plain.claims, cited)
        claim_ir = with_marks(plain, cited)
    progress(f"Verifying {len(claim_ir.claims)} claims", 3, 5)
    nothing = RetrievalOutcome(chunks=(), dropped=(), settings={})
    answer = _Answer(claim_ir.question, nothing, index, services, asked_policy)
    answer.measure(claim_ir.claims, own.citations, own.dropped)
    progress("Signing and recording", 5, 5)
    return answer.signed(claim_ir)


def _written_answer(
    answer: _Answer, writer: Writer, steps: Iterator[DraftStep], progress: Progress
) -> Iterator[SignedAnswer]:
    """Yield an answer part by part while the model writes, whatever becomes of the model."""
    services = answer.services
    strategy = strategy_of(writer, services)
    record = GenerationRecord(
        strategy, prompts_of(writer, strategy), secrets.token_hex(16), 0, "under_way"
    )
    done: list[DraftStep] = []
    end: DraftEnd = "complete"
    note = ""
    most = services.settings.max_claims
    progress("The language model is writing", 3, 5)
    try:
        for step in steps:
            done.append(step)
            end = "abstained" if step.abstained else end
            if step.claims:
                answer.measure(step.claims, step.citations)
                record = replace(record, part=record.part + 1)
                claim_ir = claim_ir_of(answer.question, done, generator=_name(writer))
                progress(f"Claim {len(claim_ir.claims)} is checked", len(claim_ir.claims), most)
                yield answer.signed(claim_ir, record)
    except LanguageModelError as error:
        end, note = error.outcome, f"the language model stopped: {error}"
    except GroundingError as error:
        end, note = error.fault, str(error)
    record = replace(record, part=record.part + 1, end=end, note=note)
    progress(note or "Signing and recording", 5, 5)
    yield answer.signed(claim_ir_of(answer.question, done, generator=_name(writer)), record)


def _name(writer: Writer) -> str:
    return writer.model.identity.name


@dataclass(slots=True)
class _Answer:
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
                dropped=(*self.found.dropped, *self.dropped, *measured.dropped),
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
        return _signed(record, services, complete=finished)

    def _cited(self) -> CitationsRecord | None:
        if not (self.citations or self.unread):
            return None
        measured = self.measured
        return CitationsRecord(
            self.citations, measured.judgements, measured.corrections, self.unread
        )


def probe_answer(
    export: bytes,
    services: Services,
    *,
    progress: Progress = _silent,
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
    decisions, summary = certify(*measured, policy, probe, question=old.question)
    record = replace(
        old,
        decisions=decisions,
        answer=with_suggestions(summary, old.answer.suggestions),
        policy=policy,
        created_at=services.now().isoformat(timespec="seconds"),
        trace_id=secrets.token_hex(16),
        probe=probe,
    )
    progress("Signing and recording", 3, 3)
    return _signed(record, services)


def _signed(record: AnswerRecord, services: Services, *, complete: bool = True) -> SignedAnswer:
    """Sign and log *record*; nothing is returned unless the log took it."""
    with services.stage("sign"):
        export = export_bytes(record, sign(statement_bytes(record), services.key))
    with services.stage("log"):
        services.audit_log.append(
            trace_id=record.trace_id, created_at=record.created_at, certificate=export
        )
    return SignedAnswer(record.trace_id, export, complete)


def _bounded(text: str, what: str, limit: int) -> str:
    if not text.strip():
        raise InputError(f"{what} is empty: write at least one sentence")
    if len(text) > limit:
        raise InputError(f"{what} has {len(text)} characters: the limit is {limit}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} holds bytes that are not text: write it as UTF-8")
    return text
