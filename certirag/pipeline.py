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
from dataclasses import replace

from certirag.answering import GrowingAnswer, signed_answer
from certirag.claim_ir.citation_marks import cited_sources, read_citations
from certirag.claim_ir.cited_claims import citations_of, with_marks
from certirag.claim_ir.compile import claims_from_draft
from certirag.claim_ir.generate_prose import (
    prose,
    prose_sentences,
    sentence_flags,
    surviving_prose,
)
from certirag.claim_ir.generate_steps import DraftStep, claim_ir_of
from certirag.claim_ir.planted import PLANTER
from certirag.core.certificate import open_export
from certirag.core.generation import DraftEnd, GenerationRecord
from certirag.core.policy import Policy
from certirag.core.probe import Probe
from certirag.drafting import extracted, preselected, prompts_of, strategy_of, written
from certirag.errors import GroundingError, InputError, LanguageModelError
from certirag.ports import Index, Progress
from certirag.render import certify
from certirag.render.abstain import with_suggestions
from certirag.retrieve.hybrid import RetrievalOutcome, retrieve
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
    answer = GrowingAnswer(text, found, index, services, asked_policy)
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
    answer = GrowingAnswer(claim_ir.question, nothing, index, services, asked_policy)
    answer.measure(claim_ir.claims, own.citations, own.dropped)
    progress("Signing and recording", 5, 5)
    return answer.signed(claim_ir)


def _written_answer(
    answer: GrowingAnswer, writer: Writer, steps: Iterator[DraftStep], progress: Progress
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
    return signed_answer(record, services)


def write_prose(
    export: bytes, index: Index, services: Services, *, progress: Progress = _silent
) -> SignedAnswer:
    """Have the language model write a paragraph from the Verified claims of *export*, and check it.

    The model sees those claims and nothing else (CertiRAG seed §5.1.5). What it writes is a draft
    like any other, under the policy of *export*; `prose_of` is what may be shown of it. Raises
    InputError without a language model or a Verified claim, LanguageModelError when the model has
    no usable answer, CertificateError for an export that does not hold, AuditError when the log
    refuses.
    """
    old = open_export(export, services.trusted)
    writer = services.writer
    if writer is None:
        raise InputError("a paragraph needs a language model: give --generator openai:MODEL")
    policy = services.policy.meet(old.policy)
    measured = (old.claim_ir.claims, old.verification, old.retrieval.chunks)
    decisions, _ = certify(*measured, policy, old.probe)
    verified = {d.claim_id for d in decisions if d.render_state == "VERIFIED"}
    texts = [claim.text for claim in old.claim_ir.claims if claim.id in verified]
    if not texts:
        raise InputError("no claim of the answer is Verified, so there is nothing to write from")
    progress("The language model is writing", 1, 3)
    prompts = prompts_of(writer, "prose")
    text = prose(texts, writer.model, writer.prompts["prose"], secrets.token_hex(16))
    progress("Checking what it wrote", 2, 3)
    claim_ir = claims_from_draft(
        old.question, text, services.split, max_claims=services.settings.max_claims
    )
    nothing = RetrievalOutcome(chunks=(), dropped=(), settings={})
    answer = GrowingAnswer(old.question, nothing, index, services, policy)
    answer.measure(claim_ir.claims)
    progress("Signing and recording", 3, 3)
    record = GenerationRecord("prose", prompts, secrets.token_hex(16), 1, "complete")
    return answer.signed(claim_ir, record)


def prose_of(export: bytes, services: Services) -> str:
    """Return the sentences of a checked paragraph of which every claim is Verified, derived again."""
    record = open_export(export, services.trusted)
    policy = services.policy.meet(record.policy)
    measured = (record.claim_ir.claims, record.verification, record.retrieval.chunks)
    decisions, _ = certify(*measured, policy, record.probe)
    verified = {d.claim_id for d in decisions if d.render_state == "VERIFIED"}
    sentences = prose_sentences(record.claim_ir.draft, services.split)
    return surviving_prose(sentences, sentence_flags(sentences, record.claim_ir, verified))


def _bounded(text: str, what: str, limit: int) -> str:
    if not text.strip():
        raise InputError(f"{what} is empty: write at least one sentence")
    if len(text) > limit:
        raise InputError(f"{what} has {len(text)} characters: the limit is {limit}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} holds bytes that are not text: write it as UTF-8")
    return text
