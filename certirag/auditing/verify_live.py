"""Verify a log that others may be writing to, and what its database keeps to answer questions.

The tree and its checkpoint cover the leaves, and through them the contents. What a query reads
(facets, the place of an answer by its trace id, what is revoked) and the nodes that proofs are
made of are derived; here they are derived again and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.auditing.verify_log import GRACE, MAX_FAULTS, LogReport, verify_log
from certirag.errors import AuditError, CertificateError, InputError
from certirag.ports import AuditLog, Progress
from certirag.proof.certificate import parse_statement
from certirag.proof.facets import (
    AnswerFacets,
    AnswerQuery,
    AnswerRow,
    CitedDocument,
    facets_of,
    question_words,
)
from certirag.proof.log import open_checkpoint, parse_leaf
from certirag.proof.merkle import is_consistent, leaf_hash, root_from_inclusion
from certirag.proof.trust import require_in_range

_PAGE: Final = 200
_ATTEMPTS: Final = 3
_INDEXED: Final = 512
_DOCUMENT: Final = tuple(CitedDocument.__dataclass_fields__)
_WHOLE: Final = AnswerQuery(parts=True)


def verify_live(
    log: AuditLog,
    keys: Mapping[str, Ed25519PublicKey],
    *,
    held: Sequence[str] = (),
    grace: timedelta = GRACE,
    derived: bool = True,
    progress: Progress | None = None,
) -> LogReport:
    """Return what *log* is up to its newest checkpoint, and that it only grew since.

    *derived* also compares what queries and proofs are made of with the signed entries. What
    the log cannot give, an entry or a checkpoint that does not read, is a fault like any other.
    """
    for _ in range(_ATTEMPTS):
        report = _verify_once(log, keys, held, grace, derived, progress)
        # An erasure that came in meanwhile explains what was missing: look once more.
        if report.intact or _size(log) in {None, report.size}:
            break
    return report


def _verify_once(
    log: AuditLog,
    keys: Mapping[str, Ed25519PublicKey],
    held: Sequence[str],
    grace: timedelta,
    derived: bool,
    progress: Progress | None,
) -> LogReport:
    later: list[str] = []
    try:
        checkpoint = log.checkpoint()
        size = _stated_size(checkpoint, keys)
        report = verify_log(
            log.entries(0, size),
            checkpoint=checkpoint,
            keys=keys,
            held=held,
            origin=log.origin,
            grace=grace,
            progress=progress,
        )
    except (AuditError, CertificateError) as error:
        empty = verify_log((), checkpoint="", keys=keys, grace=grace)
        return replace(empty, faults=(f"the log cannot be read: {error}",), more_faults=0)
    try:
        if size is not None:
            later += _grown(log, checkpoint, keys)
        later += [
            f"the database lacks {name}, which refuses changes" for name in log.missing_guards()
        ]
        if derived and report.intact:
            later += unproven(log, report, keys, progress)
            later += differing(log, report, progress)
    except (AuditError, CertificateError, InputError) as error:
        later.append(f"the log cannot be read: {error}")
    every = (*report.faults, *later)
    more = report.more_faults + max(0, len(every) - MAX_FAULTS)
    return replace(report, faults=every[:MAX_FAULTS], more_faults=more)


def unproven(
    log: AuditLog,
    report: LogReport,
    keys: Mapping[str, Ed25519PublicKey],
    progress: Progress | None = None,
) -> list[str]:
    """Return the entries whose proof, as the log gives it, does not lead to a signed root."""
    faults: list[str] = []
    signed = ""
    for index in range(report.size):
        try:
            proof = log.proof(index)
            if proof.checkpoint != signed:
                checkpoint = open_checkpoint(proof.checkpoint, keys.values())
                signed = proof.checkpoint
            path = [bytes.fromhex(step) for step in proof.path]
            leaf = leaf_hash(proof.leaf.encode("ascii"))
            if parse_leaf(proof.leaf).index != index or (
                root_from_inclusion(index, checkpoint.size, leaf, path) != checkpoint.root
            ):
                raise CertificateError("its proof does not hold")
        except (CertificateError, AuditError, ValueError) as error:
            faults.append(f"entry {index}: {error}")
        if progress and index % _PAGE == 0:
            progress("proving each entry", index, report.size)
    return faults


def differing(
    log: AuditLog,
    report: LogReport,
    progress: Progress | None = None,
) -> list[str]:
    """Return where the answers that queries find differ from the entries that were logged.

    Call it for a log whose *report* has no fault. Each answer whose content is there must have
    exactly the facets of its record, and be found under its trace id, its time, the words of its
    question and each document that it cites; nothing else may be found.
    """
    found: set[int] = set()
    faults: list[str] = []
    if log.held() != _held(report):
        faults.append("the log keeps other holds than its entries say")
    for row in _rows(log):
        if row.index >= report.size:
            continue  # came in while the log was verified
        found.add(row.index)
        try:
            _compare(log, row.index, row.facets)
            if row.revoked != report.revoked.get(row.index, ""):
                raise CertificateError("queries say otherwise whether it is revoked")
        except (CertificateError, AuditError) as error:
            faults.append(f"entry {row.index} (answer): {error}")
        if progress and len(found) % _PAGE == 0:
            progress("comparing the answers with their entries", len(found), 0)
    kept = report.kinds.get("answer", 0) - report.erased_answers
    if len(found) != kept:
        faults.append(f"queries find {len(found)} answers of the {kept} that are kept")
    return faults


def _compare(log: AuditLog, index: int, facets: AnswerFacets) -> None:
    entry = next(iter(log.entries(index, index + 1)), None)
    if entry is None or entry.content is None:
        raise CertificateError("queries find it and it has no content")
    leaf = parse_leaf(entry.leaf)
    if leaf.kind != "answer":
        raise CertificateError(f"queries find it and it is {leaf.kind!r}")
    record = parse_statement(entry.content)
    if record.trace_id != leaf.trace_id:
        raise CertificateError("its record has another trace id than its leaf")
    request, complete = leaf.detail.get("request"), leaf.detail.get("complete")
    expected = facets_of(record, request=str(request), complete=complete is True)
    for name in AnswerFacets.__dataclass_fields__:
        if not _is_kept(getattr(expected, name), getattr(facets, name)):
            raise CertificateError(f"queries read another {name!r} than its record says")
    if log.find(leaf.trace_id).leaf != entry.leaf:
        raise CertificateError("its trace id finds another entry")
    begun = datetime.fromisoformat(expected.at)
    query = AnswerQuery(
        trace_id=leaf.trace_id,
        since=begun.isoformat(),
        until=(begun + timedelta(milliseconds=1)).isoformat(),
        about=expected.question if question_words(expected.question) else "",
        parts=True,
    )
    if log.count(query) != 1:
        raise CertificateError("a query for its time and question does not find it")
    for document in expected.documents:
        for name in {document.doc_id, document.title, document.sha256} - {""}:
            if log.count(replace(query, document=name)) != 1:
                raise CertificateError(f"a query for the document {name!r} does not find it")


def _held(report: LogReport) -> dict[int, tuple[str, ...]]:
    held: dict[int, tuple[str, ...]] = {}
    for name in sorted(report.holds):
        indexes = {i for first, last in report.holds[name] for i in range(first, last + 1)}
        for index in indexes:
            held[index] = (*held.get(index, ()), name)
    return held


def _rows(log: AuditLog) -> Iterator[AnswerRow]:
    after: int | None = None
    while True:
        page = log.search(_WHOLE, after=after, limit=_PAGE)
        yield from page.rows
        if page.after is None:
            return
        if after is not None and page.after >= after:
            raise AuditError("the log's pages do not come to an end")
        after = page.after


def _is_kept(value: object, kept: object) -> bool:
    """Say whether *kept* is how a database keeps the facet *value*.

    U+0000 is no text in PostgreSQL, and a long text is cut where it is indexed.
    """
    if isinstance(value, str) and isinstance(kept, str):
        text = value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
        return kept == text or (len(kept) >= _INDEXED and text.startswith(kept))
    if isinstance(value, CitedDocument) and isinstance(kept, CitedDocument):
        return all(_is_kept(getattr(value, n), getattr(kept, n)) for n in _DOCUMENT)
    if isinstance(value, tuple) and isinstance(kept, tuple):
        return len(value) == len(kept) and all(map(_is_kept, value, kept))
    return value == kept


def _size(log: AuditLog) -> int | None:
    try:
        return log.size()
    except AuditError:
        return None


def _stated_size(checkpoint: str, keys: Mapping[str, Ed25519PublicKey]) -> int | None:
    """Return how many entries *checkpoint* speaks of, None when it does not hold."""
    try:
        return open_checkpoint(checkpoint, keys.values()).size
    except CertificateError:
        return None


def _grown(log: AuditLog, before: str, keys: Mapping[str, Ed25519PublicKey]) -> Iterator[str]:
    """Yield what is wrong with the entries that came in since the checkpoint *before*."""
    old = open_checkpoint(before, keys.values())
    size = log.size()  # asked first: an honest log's checkpoint is never behind it
    new = open_checkpoint(log.checkpoint(), keys.values())
    require_in_range(keys, new.keyid, new.size - 1, new.origin)
    if size > new.size:
        yield f"entry {new.size}: it and all after it are beyond the newest checkpoint"
    if old.size and not is_consistent(
        old.size, new.size, old.root, new.root, log.consistency(old.size, new.size)
    ):
        yield f"the tree of {new.size} entries does not extend that of {old.size}"
