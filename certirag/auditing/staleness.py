"""Answers that lean on a document that has changed: found by digest, checked again, revoked.

An answer says of each document what bytes it read. When an index holds the document with other
bytes, or no longer at all, the answer is stale. Checking it again means: its claims, as they were
written, measured against the index of today and logged as a new answer. The old entry is revoked
for what it lost, or set aside for the new one (DESIGN §2, checked when displayed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from certirag.answers.answering import GrowingAnswer, received
from certirag.answers.services import Services
from certirag.auditing.logged_answers import open_answer, rows
from certirag.core.text import sha256_hex
from certirag.errors import CertificateError, CertiRAGError
from certirag.ingest.collect import CollectedFile, collect
from certirag.ingest.extract import Limits
from certirag.ingest.load import doc_id_of
from certirag.ports import AuditLog, Index, NewEntry, Progress
from certirag.proof.certificate import AnswerRecord, open_export
from certirag.proof.facets import AnswerQuery, AnswerRow, CitedDocument
from certirag.proof.log import Leaf, parse_leaf
from certirag.retrieve.hybrid import RetrievalOutcome

STALE, RENEWED = "stale", "renewed"  # why an entry is no longer stood by


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """An answer of the log with the documents that *changed* since, and those that are *gone*."""

    row: AnswerRow
    changed: tuple[CitedDocument, ...]
    gone: tuple[CitedDocument, ...]


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A stale answer checked again: *lost* are the claims whose badge is gone, *renewed* its entry."""

    trace_id: str
    renewed: str
    verified: int
    still_verified: int
    lost: tuple[str, ...]


def digests_of(index: Index) -> dict[str, str]:
    """Return the SHA-256 of each document of *index* by doc_id."""
    return {chunk.doc_id: chunk.source.sha256 for chunk in index.chunks()}


def digests_of_files(paths: Sequence[Path], limits: Limits) -> dict[str, str]:
    """Return the SHA-256 of each file of *paths* by the doc_id that an ingest of them gives it."""
    found = collect(paths, limits=limits)
    return {
        doc_id_of(one.path): sha256_hex(one.data) for one in found if isinstance(one, CollectedFile)
    }


def stale_answers(
    log: AuditLog, today: Mapping[str, str], *, gone: bool = False
) -> Iterator[StaleAnswer]:
    """Yield the answers that lean on documents whose digest is not *today*'s, newest first.

    *today* maps doc_id to SHA-256. A document that it lacks may belong to another index, so
    answers that lean on such ones alone are yielded only if *gone* is asked for. Revoked answers
    and parts of answers are left out.
    """
    seen: set[int] = set()
    cited = log.documents()
    for document in cited:
        now = today.get(document.doc_id)
        if now == document.sha256 or (now is None and not gone):
            continue
        for row in rows(log, AnswerQuery(document=document.sha256)):
            if row.index in seen or row.revoked:
                continue
            seen.add(row.index)
            changed, missing = _differing(row, today)
            if changed or (gone and missing):
                yield StaleAnswer(row, changed, missing)


def recheck_answers(
    stale: Sequence[StaleAnswer], index: Index, services: Services, progress: Progress
) -> Iterator[Rechecked]:
    """Check *stale* answers again, one by one; each is whole in the log before it is yielded.

    An entry that does not hold, or was erased meanwhile, stops none of the others: the first such
    error is raised after them. Raises AuditError when the log refuses; what was yielded stands.
    """
    unread: list[CertiRAGError] = []
    for done, one in enumerate(stale, start=1):
        progress("Checking again", done - 1, len(stale))
        try:
            leaf, old = _opened(one, services)
        except CertiRAGError as error:
            unread.append(error)
        else:
            yield _rechecked(leaf, old, index, services)
        progress("Checking again", done, len(stale))
    if unread:
        message = f"{len(unread)} of {len(stale)} answers could not be checked again: {unread[0]}"
        raise CertificateError(message) from unread[0]


def revocation(log: AuditLog, index: int) -> Leaf | None:
    """Return the first entry that revokes the answer of entry *index*, None while it stands."""
    for text in log.leaves(index + 1):
        if '"revoke"' not in text:  # a million others need not be parsed
            continue
        leaf = parse_leaf(text)
        if leaf.kind == "revoke" and leaf.detail.get("target") == index:
            return leaf
    return None


def _opened(stale: StaleAnswer, services: Services) -> tuple[Leaf, AnswerRecord]:
    trace_id = stale.row.facets.trace_id
    leaf, record = open_answer(services.audit_log.find(trace_id), services.trusted)
    if (leaf.index, record.trace_id) != (stale.row.index, trace_id):
        raise CertificateError(f"entry {stale.row.index} is another answer than its facets say")
    return leaf, record


def _rechecked(leaf: Leaf, old: AnswerRecord, index: Index, services: Services) -> Rechecked:
    log, trace_id = services.audit_log, old.trace_id
    before = {d.claim_id for d in old.decisions if d.render_state == "VERIFIED"}
    # The places that a claim was cut from are of the old documents.
    claims = tuple(replace(claim, evidence_candidates=()) for claim in old.claim_ir.claims)
    nothing = RetrievalOutcome(chunks=(), dropped=(), settings={})
    with received(services, "recheck", answer=trace_id) as request:
        answer = GrowingAnswer(old.question, nothing, index, services, old.policy, request)
        answer.measure(claims)
        signed = answer.signed(replace(old.claim_ir, claims=claims))
    renewed = open_export(signed.export, services.trusted)
    after = {d.claim_id for d in renewed.decisions if d.render_state == "VERIFIED"}
    lost = tuple(claim.id for claim in claims if claim.id in before - after)
    by = parse_leaf(log.find(signed.trace_id).leaf).index
    detail = {"target": leaf.index, "reason": STALE if lost else RENEWED, "by": by}
    log.append(NewEntry("revoke", trace_id, services.now(), detail={**detail, "authoriser": ""}))
    return Rechecked(trace_id, signed.trace_id, len(before), len(before & after), lost)


def _differing(
    row: AnswerRow, today: Mapping[str, str]
) -> tuple[tuple[CitedDocument, ...], tuple[CitedDocument, ...]]:
    cited = row.facets.documents
    changed = tuple(d for d in cited if d.doc_id in today and today[d.doc_id] != d.sha256)
    return changed, tuple(d for d in cited if d.doc_id not in today)
