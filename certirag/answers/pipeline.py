"""The story, one screen each: the ways to an answer.

    question ─ retrieve ─▶ chunks ─ preselect ─▶ spans ─ draft (`drafting`) ─▶ claims
        ─ measure (`measuring`) ─▶ certify (the gate) ─▶ sign ─▶ audit log ─▶ the signed export

What comes out is the signed export and never a decision: whoever shows it derives every badge
again (`render.present`). A language model's answer comes in parts, each recorded before it is
shown; what a part verifies, every later part verifies too.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, get_args

from certirag.answers.answering import GrowingAnswer, received
from certirag.answers.draft import extracted, preselected, prompts_of, strategy_of, written
from certirag.answers.services import AnswerWriter, Services, SignedAnswer
from certirag.claims.citation_marks import citations_of, cited_sources, read_citations, with_marks
from certirag.claims.compile import claims_from_draft
from certirag.core.citation import Citation
from certirag.core.generation import DraftEnd, GenerationRecord
from certirag.core.policy import Policy
from certirag.drafting.draft_steps import DraftStep, claim_ir_of
from certirag.errors import GroundingError, GroundingFault, InputError, LanguageModelError
from certirag.ports import Index, Progress
from certirag.retrieve.hybrid import RetrievalOutcome, retrieve_parts
from certirag.retrieve.preselect import Preselection

MAX_QUESTION = 2_000
MAX_DRAFT = 40_000
# A draft that altered what it quotes is refused, and with it the answer (second seed).
_REFUSED_WHOLE: Final = frozenset(get_args(GroundingFault))


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
    with received(services, "question", question=text) as request:
        for part in _answer_parts(text, index, services, asked_policy, request, progress):
            if part.complete:
                break  # whoever leaves after it has the answer: that is no failure
            yield part
    yield part


def _answer_parts(
    question: str,
    index: Index,
    services: Services,
    asked_policy: Policy | None,
    request: str,
    progress: Progress,
) -> Iterator[SignedAnswer]:
    progress("Searching the documents", 1, 5)
    with services.stage("retrieve"):
        found = retrieve_parts(
            question,
            services.reader.parts(question),
            index,
            services.embedder,
            services.reranker,
            max_chunks=services.settings.max_chunks,
        )
    answer = GrowingAnswer(question, found, index, services, asked_policy, request)
    progress("Choosing the sentences that answer", 2, 5)
    with services.stage("compile"):
        spans = preselected(question, found, services.instruments)
    answer.dropped += spans.dropped
    if services.writer is None:
        with services.stage("compile"):
            claim_ir = extracted(question, spans, services.instruments)
        progress(f"Verifying {len(claim_ir.claims)} claims", 3, 5)
        answer.measure(claim_ir.claims)
        progress("Signing and recording", 5, 5)
        yield answer.signed(claim_ir)
        return
    yield from _written_answer(answer, services.writer, spans, progress)


def verify_draft(
    draft: str,
    index: Index,
    services: Services,
    *,
    question: str = "",
    beside: Sequence[Citation] = (),
    asked_policy: Policy | None = None,
    progress: Progress = _silent,
) -> SignedAnswer:
    """Check somebody else's answer against the corpus, claim by claim, and what it cites.

    *beside* are citations that came beside the draft and not as marks in it: each is of the claims
    that begin in its ``draft[start:end]``. Raises InputError for an unusable draft and AuditError when the log refuses.
    """
    text = _bounded(draft, "the draft", MAX_DRAFT)
    with received(services, "draft", question=question, draft=text) as request:
        progress("Splitting the draft into claims", 1, 5)
        with services.stage("compile"):
            chunks = index.chunks()
            cited = read_citations(text, cited_sources(chunks))
            plain = claims_from_draft(
                question,
                cited.text,
                services.split,
                max_claims=services.settings.max_draft_claims,
                sentences={s.sentence for c in chunks for s in c.spans if s.visible},
            )
            own = citations_of(plain.claims, cited)
            claim_ir = with_marks(plain, cited)
        nothing = RetrievalOutcome(chunks=(), dropped=(), settings={})
        answer = GrowingAnswer(claim_ir.question, nothing, index, services, asked_policy, request)
        given = [
            replace(citation, claim_id=claim.id, start=0, end=0)  # it is no mark of the draft
            for claim in claim_ir.claims
            for citation in beside
            if citation.start <= claim.draft_start < citation.end
        ]
        # A few at a time, so that whoever waits sees how far it is and can stop it.
        together, whole = services.settings.max_claims, len(claim_ir.claims)
        for at in range(0, whole, together):
            progress(f"Verifying claims from {at + 1} of {whole}", at, whole)
            some = claim_ir.claims[at : at + together]
            names = {claim.id for claim in some}
            cited_by_them = [c for c in (*own.citations, *given) if c.claim_id in names]
            answer.measure(some, tuple(cited_by_them))
        answer.unread += own.dropped
        progress("Signing and recording", 5, 5)
        return answer.signed(claim_ir)


def _written_answer(
    answer: GrowingAnswer, writer: AnswerWriter, spans: Preselection, progress: Progress
) -> Iterator[SignedAnswer]:
    """Yield an answer part by part while the model writes, whatever becomes of the model.

    Where the documents answer better than what it wrote and is borne out, the last part quotes them.
    """
    services = answer.services
    strategy = strategy_of(writer, services.instruments)
    record = GenerationRecord(
        strategy, prompts_of(writer, strategy), secrets.token_hex(16), 0, "under_way"
    )
    done: list[DraftStep] = []
    end: DraftEnd = "complete"
    note = ""
    most = services.settings.max_claims
    progress("The language model is writing", 3, 5)
    try:
        for step in written(answer.question, spans, writer, services.instruments):
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
    claim_ir = claim_ir_of(answer.question, done, generator=_name(writer))
    quoted: tuple[str, ...] = ()
    if note:
        progress(note, 4, 5)
    if end not in _REFUSED_WHOLE:
        progress("Comparing with what the documents say", 4, 5)
        quotes = extracted(answer.question, spans, services.instruments)
        claim_ir, quoted = answer.with_quotes(claim_ir, quotes.claims)
    record = replace(record, part=record.part + 1, end=end, note=note, quoted=quoted)
    progress("Signing and recording", 5, 5)
    yield answer.signed(claim_ir, record)


def _name(writer: AnswerWriter) -> str:
    return writer.model.identity.name


def _bounded(text: str, what: str, limit: int) -> str:
    if not text.strip():
        raise InputError(f"{what} is empty: write at least one sentence")
    if len(text) > limit:
        raise InputError(f"{what} has {len(text)} characters: the limit is {limit}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} holds bytes that are not text: write it as UTF-8")
    return text
