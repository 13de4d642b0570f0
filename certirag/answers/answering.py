"""An answer while it grows: measured claim by claim, then decided, signed and logged."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Final, Literal, NamedTuple

from certirag.answers.measure import Measured, measure_claims
from certirag.answers.services import Services, SignedAnswer
from certirag.core.citation import Citation, CitationsRecord
from certirag.core.claim import Claim, ClaimIR
from certirag.core.generation import GenerationRecord
from certirag.core.policy import Policy
from certirag.core.selector import with_selectors
from certirag.core.text import EvidenceChunk, sha256_hex
from certirag.drafting.extractive import FALL_OFF
from certirag.errors import AuditError
from certirag.ports import Index, NewEntry
from certirag.proof.certificate import (
    AnswerRecord,
    AnswerSummary,
    RendererDecision,
    RetrievalRecord,
    export_bytes,
    statement_bytes,
)
from certirag.proof.envelope import sign, strict_base64
from certirag.proof.facets import facets_of
from certirag.render import certify
from certirag.render.abstain import lacks_answer, with_suggestions
from certirag.render.closest import MAX_REFERENCES, found_references
from certirag.retrieve.hybrid import RetrievalOutcome, corpus_settings
from certirag.retrieve.relevance import answers_in, nearest, with_instructions_named, with_relevance
from certirag.retrieve.suggest import suggest

# What a request asks for: an answer, a draft's check, planted errors, a paragraph, a check again.
Received = Literal["question", "draft", "probe", "prose", "recheck"]


# What is said of verified claims that do not answer all that is asked.
_OPEN: Final = frozenset({"RELATED_ONLY", "PARTLY_ANSWERED"})


class _Decided(NamedTuple):
    claim_ir: ClaimIR
    chunks: tuple[EvidenceChunk, ...]
    decisions: tuple[RendererDecision, ...]
    summary: AnswerSummary


def _borne_out(of: _Decided) -> set[str]:
    return {d.claim_id for d in of.decisions if d.render_state == "VERIFIED"}


def _surest(of: _Decided) -> float:
    """Return how surely the best claim that is borne out answers; 0 without one."""
    stand = _borne_out(of)
    return max((c.relevance or 0.0 for c in of.claim_ir.claims if c.id in stand), default=0.0)


@dataclass(slots=True)
class GrowingAnswer:
    """An answer while it grows: what was found for the question, and what was measured so far."""

    question: str
    found: RetrievalOutcome
    index: Index
    services: Services
    asked_policy: Policy | None
    request: str
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
            claims, self.found.chunks, self.index, self.services.instruments, citations=citations
        )
        self.measured = self.measured.with_more(more)
        self.citations += citations
        self.unread += unread

    def signed(self, claim_ir: ClaimIR, generation: GenerationRecord | None = None) -> SignedAnswer:
        """Decide, sign and log; the log is written before anything is returned."""
        services, measured = self.services, self.measured
        decided = self._decided(claim_ir)
        claim_ir, chunks, summary = decided.claim_ir, decided.chunks, decided.summary
        finished = generation is None or generation.end != "under_way"
        if finished and services.settings.enable_abstention and lacks_answer(summary):
            found = self.found.chunks or chunks
            answers = partial(answers_in, services.reader)
            hints = suggest(self.question, found, answers, self.index.chunks())
            summary = with_suggestions(summary, hints)
        if finished and summary.decision == "REJECT" and not summary.closest_references:
            read = nearest(self.question, self.found.chunks, services.reader, most=MAX_REFERENCES)
            summary = replace(summary, closest_references=found_references(read))
        used = {ref.chunk_id for result in measured.results for ref in result.all_scores}
        kept = {chunk.chunk_id for chunk in self.found.chunks} | used
        config = services.settings.caps()
        record = AnswerRecord(
            question=self.question,
            retrieval=RetrievalRecord(
                query=self.question,
                chunks=tuple(chunk for chunk in chunks if chunk.chunk_id in kept),
                settings={**self.found.settings, **corpus_settings(self.index)},
                dropped=(*self.found.dropped, *self.dropped),
            ),
            claim_ir=claim_ir,
            verification=measured.results,
            decisions=decided.decisions,
            answer=summary,
            policy=self._policy,
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
        return signed_answer(record, services, self.request, complete=finished)

    def with_quotes(
        self, claim_ir: ClaimIR, quotes: Sequence[Claim]
    ) -> tuple[ClaimIR, tuple[str, ...]]:
        """Return *claim_ir* with *quotes* where it says less than they do, and the ids that they have.

        That is so where no claim that is borne out answers as surely as the best quote, or a part
        of the question stays open. Quotes that are borne out then stand with the claims that are,
        the best first; the claims that are not are left out, by id: the parts before have them.
        """
        written = self._decided(claim_ir)
        best = _surest(written)
        said = {claim.text.casefold() for claim in claim_ir.claims}
        taken = {claim.id for claim in claim_ir.claims}
        free = (name for name in map("c{}".format, count(1)) if name not in taken)
        fresh = [
            replace(quote, id=next(free), draft_start=0, draft_end=0)  # it stands in no draft
            for quote in quotes
            if quote.text.casefold() not in said
        ]
        before = self.measured
        self.measure(tuple(fresh))
        whole = self._decided(replace(claim_ir, claims=(*claim_ir.claims, *fresh)))
        stand = _borne_out(whole)
        quoted = tuple(claim.id for claim in fresh if claim.id in stand)
        answered = written.summary.decision != "REJECT" and written.summary.reason_code not in _OPEN
        if not quoted or (answered and best >= FALL_OFF * _surest(whole)):
            self.measured = before
            return claim_ir, ()
        self.measured = self.measured.of(stand)
        self.citations = tuple(c for c in self.citations if c.claim_id in stand)
        # Without their words: strict mode shows these lines, and some may be contradicted.
        lost = [claim.id for claim in claim_ir.claims if claim.id not in stand]
        lines = [f"{name} is not borne out by the documents" for name in lost]
        kept = [claim for claim in whole.claim_ir.claims if claim.id in stand]
        kept.sort(key=lambda claim: -(claim.relevance or 0.0))
        return replace(claim_ir, claims=tuple(kept), dropped=(*claim_ir.dropped, *lines)), quoted

    @property
    def _policy(self) -> Policy:
        policy = self.services.policy
        return policy if self.asked_policy is None else policy.meet(self.asked_policy)

    def _decided(self, claim_ir: ClaimIR) -> _Decided:
        services, measured = self.services, self.measured
        chunks = with_selectors(measured.chunks or self.found.chunks, measured.results)
        with services.stage("compile"):
            claim_ir = with_instructions_named(claim_ir, chunks, services.reader)
            claim_ir = with_relevance(claim_ir, chunks, services.reader)
        with services.stage("decide"):
            decisions, summary = certify(
                claim_ir.claims,
                measured.results,
                chunks,
                self._policy,
                question=self.question,
                parts=claim_ir.parts,
            )
        return _Decided(claim_ir, chunks, decisions, summary)

    def _cited(self) -> CitationsRecord | None:
        if not (self.citations or self.unread):
            return None
        measured = self.measured
        return CitationsRecord(
            self.citations, measured.judgements, measured.corrections, self.unread
        )


@contextmanager
def received(services: Services, of: Received, **request: str) -> Iterator[str]:
    """Log that *request* came in, before any work on it; yield the id that ties it to its answer.

    Whatever ends the work without an answer is logged too, so that an entry without either shows
    an answer that vanished. Raises AuditError when the log refuses: then nothing is begun.
    """
    name = secrets.token_hex(16)
    content = json.dumps(request, ensure_ascii=False).encode("utf-8")
    services.audit_log.append(
        NewEntry("received", name, services.now(), content, detail={"of": of})
    )
    try:
        yield name
    except BaseException as error:
        cause = {"request": name, "error": type(error).__name__}
        # A log that broke meanwhile leaves the entry above without an end, which tells as much.
        with suppress(AuditError):
            services.audit_log.append(NewEntry("failed", name, services.now(), detail=cause))
        raise


def signed_answer(
    record: AnswerRecord, services: Services, request: str, *, complete: bool = True
) -> SignedAnswer:
    """Sign and log *record*; nothing is returned unless the log took it."""
    with services.stage("sign"):
        payload = statement_bytes(record)
        envelope = sign(payload, services.key)
    with services.stage("log"):
        entry = NewEntry(
            "answer",
            record.trace_id,
            services.now(),
            payload,
            (envelope.signatures[0].keyid, strict_base64(envelope.signatures[0].sig)),
            facets_of(record, request=request, complete=complete),
            {"request": request, "complete": complete},
        )
        proof = services.audit_log.append(entry)
    return SignedAnswer(record.trace_id, export_bytes(envelope, proof), complete)
