"""Check an audit export again: by the checker alone, today's sources, the verifier run once more."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag import checker
from certirag.auditing.staleness import revocation
from certirag.bootstrap import (
    make_embedder,
    make_reader,
    make_verifier,
    read_limits,
    reading_process,
)
from certirag.core.text import EvidenceChunk, sha256_hex
from certirag.errors import CertificateError, IngestError, InputError
from certirag.ingest.collect import CollectedFile, DocumentReader, collect
from certirag.ports import AuditLog, Reader
from certirag.proof.certificate import AnswerRecord, open_export
from certirag.proof.envelope import key_id
from certirag.proof.keys import read_public_key, trusted_keys
from certirag.proof.log import parse_leaf
from certirag.proof.trust import KeyRing
from certirag.render import certify
from certirag.retrieve.relevance import with_instructions_named, with_relevance
from certirag.settings import Settings
from certirag.verification.judge import TOLERANCE, first_difference
from certirag.verification.mutation_probe import PLANTER, plant_errors

Pinned = Mapping[str, Ed25519PublicKey] | checker.TrustFile
_QUOTED: Final = 160
CheckVerdict = checker.Verdict | Literal["NOT-REPRODUCIBLE"]


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict on one export; *code* is that of docs/certificate.md §4, "" when VALID."""

    verdict: CheckVerdict
    code: str
    reason: str


def check_file(
    path: Path,
    settings: Settings,
    *,
    public_key: Path | None = None,
    trust: Path | None = None,
    root: Path | None = None,
    sources: Sequence[Path] = (),
    rescore: bool = False,
) -> Checked:
    """Return the verdict on one export, by `checker.check`.

    Keys are the *public_key* of a file, or those of a *trust* file that the *root* key signed, or
    the ones that this home trusts. *sources* are compared with the recorded digests (STALE) and read
    again: every passage of the record must stand in them (NOT-REPRODUCIBLE). *rescore* runs the recorded verifier and today's rules again (NOT-REPRODUCIBLE). Raises
    InputError when a file cannot be read or no key is pinned.
    """
    data = _read(path)
    pinned = _pinned(settings, public_key, trust, root)
    for source in sources:
        if not source.exists():
            raise InputError(f"{source}: there is no such file or folder: check the path")
    found = collect(sources, limits=read_limits(settings)) if sources else ()
    files = {
        sha256_hex(source.data): source for source in found if isinstance(source, CollectedFile)
    }
    report = check_under(data, pinned, frozenset(files) if sources else None)
    if report.verdict != "VALID" or not (rescore or sources):
        return Checked(report.verdict, report.code, report.reason)
    try:
        record = open_export(data, pinned.keys if isinstance(pinned, checker.TrustFile) else pinned)
    except CertificateError as error:  # this program reads more narrowly than the checker
        return Checked("NOT-REPRODUCIBLE", "record", f"this program does not read it: {error}")
    again = []
    if sources:
        difference = read_otherwise(record, files, settings)
        if difference:
            return Checked("NOT-REPRODUCIBLE", "quote", difference)
        again.append("every passage stands in its source")
    if rescore:
        difference = judged_otherwise(record) or scored_otherwise(record, settings)
        if difference:
            return Checked("NOT-REPRODUCIBLE", "rescore", difference)
        again.append(f"every rule and, within {TOLERANCE}, every score came out again")
    return Checked("VALID", "", "; ".join([report.reason, *again]))


def read_otherwise(
    record: AnswerRecord, files: Mapping[str, CollectedFile], settings: Settings
) -> str:
    """Return the first passage of *record* that its source, read again, does not hold, or "".

    *files* are the sources by digest. An index is a copy: what it quotes need not be what the
    document says, though the digest beside it is the document's. Passage, sentences and section
    are compared, the title unless the file has another name today.
    """
    with reading_process(settings) as read:
        return _read_otherwise(record, files, read)


def _read_otherwise(
    record: AnswerRecord, files: Mapping[str, CollectedFile], read: DocumentReader
) -> str:
    known: dict[str, set[object]] = {}
    for chunk in record.retrieval.chunks:
        source, digest = chunk.source, chunk.source.sha256
        where = f"“{source.title}”"
        file = files.get(digest)
        if file is None:  # the checker said STALE already
            return f"{where} is not among the sources"
        renamed = PurePath(file.path).name != PurePath(source.url_or_path).name
        if digest not in known:
            try:
                _, chunks = read(file.data, file.path)
            except IngestError as error:
                return f"{where} cannot be read again: {error}"
            known[digest] = {_passage(one, renamed=renamed) for one in chunks}
        if _passage(chunk, renamed=renamed) not in known[digest]:
            return f"{where}, read again, does not say: “{chunk.text[:_QUOTED]}”"
    return ""


def _passage(chunk: EvidenceChunk, *, renamed: bool) -> object:
    sentences = tuple((span.sentence, span.visible) for span in chunk.spans)
    return chunk.text, sentences, chunk.source.section, "" if renamed else chunk.source.title


def check_again(
    data: bytes, pinned: Pinned, log: AuditLog, sources: Collection[str] | None = None
) -> Checked:
    """Return the verdict on an export's bytes: by the checker, today's rules, and *log*.

    *sources* are the SHA-256 of today's documents (STALE), None: not compared. Raises InputError
    for an export of another log, AuditError when *log* cannot be read.
    """
    report = check_under(data, pinned, sources)
    if report.verdict != "VALID":
        return Checked(report.verdict, report.code, report.reason)
    try:
        record = open_export(data, pinned.keys if isinstance(pinned, checker.TrustFile) else pinned)
    except CertificateError as error:  # this program reads more narrowly than the checker
        return Checked("NOT-REPRODUCIBLE", "record", f"this program does not read it: {error}")
    if difference := judged_otherwise(record):
        return Checked("NOT-REPRODUCIBLE", "rescore", difference)
    return revoked_since(data, "the export", log, Checked("VALID", "", report.reason))


def revoked_since(data: bytes, name: str, log: AuditLog, report: Checked) -> Checked:
    """Return *report* on the VALID export *data*, or STALE with the code ``revoked``.

    *log* is the one that the export is of; it is asked for an entry that revokes the answer.
    Raises InputError for an export of another log, or of an entry that this log has not.
    """
    if report.verdict != "VALID":
        return report
    text = json.loads(data)["log"]["leaf"]
    leaf = parse_leaf(text)
    if leaf.origin != log.origin:
        raise InputError(f"{name}: is of the log {leaf.origin}, not of {log.origin}: use that log")
    if next(iter(log.leaves(leaf.index, leaf.index + 1)), "") != text:
        return Checked("TAMPERED", "inclusion", f"entry {leaf.index} of the log here is another")
    by = revocation(log, leaf.index)
    if by is None:
        return replace(report, reason=f"{report.reason}; the log has not revoked it")
    why = str(by.detail.get("reason"))
    return Checked("STALE", "revoked", f"entry {by.index} of the log revoked it: {why}")


def check_under(
    data: bytes, pinned: Pinned, sources: Collection[str] | None = None
) -> checker.Report:
    """Return `checker.check` of *data* under keys that may be a home's `KeyRing`.

    Its trust file's keys are good for their ranges. The keys beside it are good for every entry,
    but only together: an export that needs both kinds is not VALID.
    """
    if not isinstance(pinned, KeyRing):
        return checker.check(data, pinned, sources)
    ranges = {one.keyid: (one.from_index, one.until_index) for one in pinned.trust.keys}
    ranged = {keyid: key for keyid, key in pinned.items() if not pinned.is_outright(keyid)}
    report = checker.check(data, checker.TrustFile(pinned.trust.origin, ranged, ranges), sources)
    outright = {keyid: key for keyid, key in pinned.items() if pinned.is_outright(keyid)}
    if report.code == "untrusted-key" and outright:
        return checker.check(data, outright, sources)
    return report


def judged_otherwise(record: AnswerRecord) -> str:
    """Return which claim and rule this program's renderer judges otherwise, or ""."""
    measured = (record.claim_ir.claims, record.verification, record.retrieval.chunks)
    decisions, _ = certify(*measured, record.policy, record.probe)
    for now, then in zip(decisions, record.decisions, strict=True):
        for one, other in zip(now.findings, then.findings, strict=True):
            if (one.rule, one.passed) != (other.rule, other.passed):
                was = "passed" if other.passed else "failed"
                return f"claim {then.claim_id}: the rule {other.rule} {was}, now: {one.reason}"
        if now.render_state != then.render_state:
            return f"claim {then.claim_id} was {then.render_state}, now it is {now.render_state}"
    return ""


def scored_otherwise(record: AnswerRecord, settings: Settings) -> str:
    """Return the first score that differs by more than the tolerance, or what cannot be run, or ""."""
    embedder = make_embedder(settings.embedder)
    recorded = {model.role: model for model in record.models}
    if not {"embedder", "verifier"} <= recorded.keys():
        return "the record names no embedder or no verifier"
    name = recorded["verifier"].name
    if "llm:" in name and name != settings.verifier:
        # Somebody else's file must not make this program send text to the reader's endpoint.
        message = (
            f"--rescore would send the claims to a language model ({name[:80]!r}); "
            "to allow that, set CERTIRAG_VERIFIER to this name"
        )
        raise InputError(message)
    reads = recorded["reader"].name if "reader" in recorded else settings.reader
    verifier, reader = make_verifier(name), make_reader(reads, embedder)
    for model in (embedder.identity, verifier.identity, reader.identity):
        if model.role in recorded and recorded[model.role] != model:
            return f"the {model.role} here is {model.name} {model.version} with another digest"
    difference = (
        planted_otherwise(record)
        or first_difference(record, verifier)
        or rated_otherwise(record, reader)
    )
    return f"{difference} (tolerance {TOLERANCE})" if difference else ""


def planted_otherwise(record: AnswerRecord) -> str:
    """Say what is planted in the record's claims now and was not, or ""; no probe, no difference."""
    probe = record.probe
    if probe is None:
        return ""
    if probe.planter != PLANTER:
        return f"the errors were planted by {probe.planter!r}, here it is {PLANTER!r}"
    measured = (record.claim_ir.claims, record.verification, record.retrieval.chunks)
    decisions, _ = certify(*measured, record.policy)
    verified = {d.claim_id for d in decisions if d.render_state == "VERIFIED"}
    claims = [claim for claim in record.claim_ir.claims if claim.id in verified]
    limit = record.policy.max_claim_tokens
    planted = plant_errors(claims, *measured[1:], max_tokens=limit)
    if (planted.errors, planted.left_out) != (probe.planted, probe.left_out):
        return "other errors are planted in its claims here than in the record"
    return ""


def rated_otherwise(record: AnswerRecord, reader: Reader) -> str:
    """Say which claim's relevance differs by more than the tolerance, or "" when none does.

    So does one that tells a model what to do, and of which that was not recorded.
    """
    now = with_relevance(record.claim_ir, record.retrieval.chunks, reader)
    told = with_instructions_named(record.claim_ir, record.retrieval.chunks, reader)
    for then, again in zip(record.claim_ir.claims, told.claims, strict=True):
        if again.problems != then.problems:
            return f"claim {then.id}: now {again.problems[-1].replace('_', ' ')}"
    if now.parts != record.claim_ir.parts:
        return "the question is read in other parts than in the record"
    for then, again in zip(record.claim_ir.claims, now.claims, strict=True):
        if then.relevance is None:  # recorded before relevance was, or where nobody asked
            continue
        pairs = zip(
            (then.relevance, *then.by_part), (again.relevance, *again.by_part), strict=False
        )
        if any(
            one is None or other is None or abs(one - other) > TOLERANCE for one, other in pairs
        ):
            return f"claim {then.id}: its relevance was {then.relevance}, now {again.relevance}"
    return ""


def _pinned(
    settings: Settings, public_key: Path | None, trust: Path | None, root: Path | None
) -> Pinned:
    if (trust is None) != (root is None) or (trust and public_key):
        raise InputError("name the keys with --public-key, or with --trust and --root together")
    if trust is not None and root is not None:
        try:
            return checker.open_trust(_read(trust), read_public_key(root))
        except checker.Unusable as error:
            raise InputError(f"{trust}: {error}") from error
    if public_key is not None:
        key = read_public_key(public_key)
        return {key_id(key): key}
    trusted = trusted_keys(settings.home)
    if not trusted:
        raise InputError(
            f"no public key is trusted in {settings.home / 'keys'}: name one with --public-key"
        )
    return trusted


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
