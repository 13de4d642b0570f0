"""What can be asked of an answer that is there: errors planted in it, a paragraph from it."""

from __future__ import annotations

import secrets
from dataclasses import replace

from certirag.answers.answering import GrowingAnswer, received, signed_answer
from certirag.answers.draft import prompts_of
from certirag.answers.services import Services, SignedAnswer
from certirag.claims.compile import claims_from_draft
from certirag.core.generation import GenerationRecord
from certirag.core.selector import with_selectors
from certirag.core.verdict import Probe
from certirag.drafting.prose import (
    prose,
    prose_sentences,
    sentence_flags,
    surviving_prose,
)
from certirag.errors import InputError
from certirag.ports import Index, Progress
from certirag.proof.certificate import open_export
from certirag.render import certify
from certirag.render.abstain import with_suggestions
from certirag.retrieve.hybrid import RetrievalOutcome
from certirag.verification.mutation_probe import PLANTER, measure_planted, plant_errors


def silent(_line: str, _done: int, _total: int) -> None:
    """Report nothing."""


def probe_answer(
    export: bytes,
    services: Services,
    *,
    progress: Progress = silent,
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
    with received(services, "probe", answer=old.trace_id) as request:
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
        chunks = with_selectors(old.retrieval.chunks, results)
        measured = (old.claim_ir.claims, old.verification, chunks)
        decisions, summary = certify(
            *measured, policy, probe, question=old.question, parts=old.claim_ir.parts
        )
        record = replace(
            old,
            retrieval=replace(old.retrieval, chunks=chunks),
            decisions=decisions,
            answer=with_suggestions(summary, old.answer.suggestions),
            policy=policy,
            created_at=services.now().isoformat(timespec="seconds"),
            trace_id=secrets.token_hex(16),
            probe=probe,
        )
        progress("Signing and recording", 3, 3)
        return signed_answer(record, services, request)


def write_prose(
    export: bytes, index: Index, services: Services, *, progress: Progress = silent
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
    with received(services, "prose", answer=old.trace_id) as request:
        progress("The language model is writing", 1, 3)
        prompts = prompts_of(writer, "prose")
        text = prose(texts, writer.model, writer.prompts["prose"], secrets.token_hex(16))
        progress("Checking what it wrote", 2, 3)
        claim_ir = claims_from_draft(
            old.question, text, services.split, max_claims=services.settings.max_claims
        )
        nothing = RetrievalOutcome(chunks=(), dropped=(), settings={})
        answer = GrowingAnswer(old.question, nothing, index, services, policy, request)
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
