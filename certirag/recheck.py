"""Check an audit export again: pinned keys, today's sources, the verifier run once more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from certirag.audit.keys import read_public_key, trusted_keys
from certirag.bootstrap import make_embedder, make_verifier, read_limits
from certirag.claim_ir.planted import PLANTER
from certirag.core.certificate import AnswerRecord, key_id
from certirag.core.text import sha256_hex
from certirag.errors import InputError
from certirag.ingest.collect import Found, collect
from certirag.render import CheckReport, certify, check_export
from certirag.settings import Settings
from certirag.verify.plant import plant_errors
from certirag.verify.rescore import first_difference


def check_file(
    path: Path,
    settings: Settings,
    *,
    public_key: Path | None = None,
    sources: Sequence[Path] = (),
    rescore: bool = False,
) -> CheckReport:
    """Check one audit export under pinned keys; see `render.check_export`.

    *sources* are compared with the recorded digests (STALE), and *rescore* plants the recorded
    errors and runs the recorded verifier again (NOT-REPRODUCIBLE). Raises InputError when a file
    cannot be read or no key is pinned.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    if public_key is not None:
        key = read_public_key(public_key)
        trusted = {key_id(key): key}
    else:
        trusted = trusted_keys(settings.home)
    if not trusted:
        raise InputError(
            f"no public key is trusted in {settings.home / 'keys'}: name one with --public-key"
        )
    report = check_export(data, trusted)
    if report.record is not None and sources:
        report = _compared(report, report.record, sources, settings)
    if report.record is not None and report.verdict == "VALID" and rescore:
        report = _rescored(report, report.record, settings)
    return report


def _compared(
    report: CheckReport, record: AnswerRecord, sources: Sequence[Path], settings: Settings
) -> CheckReport:
    """STALE when a document that an attached span stands in is no longer there unchanged."""
    found = collect(sources, limits=read_limits(settings))
    digests = {sha256_hex(source.data) for source in found if isinstance(source, Found)}
    attached = {ref.chunk_id for result in record.verification for ref in result.best_evidence}
    for chunk in record.retrieval.chunks:
        if chunk.chunk_id in attached and chunk.source.sha256 not in digests:
            where = f"{chunk.source.url_or_path} ({chunk.chunk_id})"
            return CheckReport("STALE", f"{where} has changed or is not among the sources", record)
    return report


def _rescored(report: CheckReport, record: AnswerRecord, settings: Settings) -> CheckReport:
    """NOT-REPRODUCIBLE when the verifier of the record now scores a span differently."""
    embedder = make_embedder(settings.embedder)
    recorded = {model.role: model for model in record.models}
    name = recorded["verifier"].name
    if "llm:" in name and name != settings.verifier:
        # Somebody else's file must not make this program send text to the reader's endpoint.
        message = (
            f"--rescore would send the claims to a language model ({name[:80]!r}); "
            "to allow that, set CERTIRAG_VERIFIER to this name"
        )
        raise InputError(message)
    verifier = make_verifier(name, embedder)
    for model in (embedder.identity, verifier.identity):
        if recorded[model.role] != model:
            reason = f"the {model.role} here is {model.name} {model.version} with another digest"
            return CheckReport("NOT-REPRODUCIBLE", reason, record)
    difference = _planted_otherwise(record) or first_difference(record, verifier)
    return CheckReport("NOT-REPRODUCIBLE", difference, record) if difference else report


def _planted_otherwise(record: AnswerRecord) -> str:
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
