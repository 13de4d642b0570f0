"""An answer of the log, opened again: its record, and its export with today's proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.errors import AuditError
from certirag.ports import AuditLog, LogEntry
from certirag.proof.certificate import AnswerRecord, export_bytes, parse_statement
from certirag.proof.envelope import Envelope, envelope_of, verified_payload
from certirag.proof.facets import MAX_PAGE, AnswerPage, AnswerQuery, AnswerRow
from certirag.proof.log import Leaf, commitment, parse_leaf
from certirag.proof.trust import require_in_range


def open_answer(
    entry: LogEntry, trusted: Mapping[str, Ed25519PublicKey]
) -> tuple[Leaf, AnswerRecord]:
    """Return leaf and record of an answer's entry once commitment and signature hold.

    Raises AuditError for another kind of entry and for an erased one, CertificateError for one
    that does not hold.
    """
    leaf = parse_leaf(entry.leaf)
    envelope = _envelope(leaf, entry)
    payload = verified_payload(envelope, trusted)
    require_in_range(trusted, envelope.signatures[0].keyid, leaf.index, leaf.origin)
    record = parse_statement(payload)
    if record.trace_id != leaf.trace_id:
        raise AuditError(f"entry {leaf.index} of the log holds another answer's record")
    return leaf, record


def pages(log: AuditLog, query: AnswerQuery) -> Iterator[AnswerPage]:
    """Yield the pages of *query* from the newest to the last one."""
    after: int | None = None
    while True:
        page = log.search(query, after=after, limit=MAX_PAGE)
        yield page
        if page.after is None:
            return
        after = page.after


def rows(log: AuditLog, query: AnswerQuery) -> Iterator[AnswerRow]:
    """Yield every answer that *query* asks for, newest first; memory does not grow with them."""
    for page in pages(log, query):
        yield from page.rows


def export_again(log: AuditLog, trace_id: str) -> bytes:
    """Return the audit export of a logged answer, with a proof from the newest checkpoint."""
    entry = log.find(trace_id)
    leaf = parse_leaf(entry.leaf)
    return export_bytes(_envelope(leaf, entry), log.proof(leaf.index))


def _envelope(leaf: Leaf, entry: LogEntry) -> Envelope:
    if leaf.kind != "answer":
        raise AuditError(f"entry {leaf.index} of the log is no answer, it is {leaf.kind!r}")
    if entry.content is None or entry.salt is None or entry.signature is None:
        raise AuditError(f"the answer of entry {leaf.index} was erased")
    if leaf.commit != commitment(entry.salt, entry.content):
        raise AuditError(f"the content of entry {leaf.index} is not what its leaf commits to")
    return envelope_of(entry.content, *entry.signature)
