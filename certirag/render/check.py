"""An audit export in, a verdict on it out: every badge derived again from the signed bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.core.certificate import AnswerRecord, open_export
from certirag.errors import CertificateError
from certirag.render.certify import certify
from certirag.render.planted import probe_view

CheckVerdict = Literal["VALID", "STALE", "TAMPERED", "NOT-REPRODUCIBLE"]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The verdict on one export, with the first reason; *record* only when it is genuine."""

    verdict: CheckVerdict
    reason: str
    record: AnswerRecord | None = None


def check_export(data: bytes, trusted: Mapping[str, Ed25519PublicKey]) -> CheckReport:
    """Verify signature, digests and spans of an export and derive each decision again."""
    try:
        record = open_export(data, trusted)
    except CertificateError as error:
        return CheckReport("TAMPERED", str(error))
    measured = (record.claim_ir.claims, record.verification, record.retrieval.chunks)
    decisions, summary = certify(*measured, record.policy, record.probe)
    if len(decisions) != len(record.decisions):
        return CheckReport("TAMPERED", "there is not one decision per claim")
    for derived, recorded in zip(decisions, record.decisions, strict=True):
        if derived.claim_id != recorded.claim_id or derived.render_state != recorded.render_state:
            return CheckReport(
                "TAMPERED",
                f"claim {recorded.claim_id} is recorded as {recorded.render_state}, "
                f"the record gives {derived.render_state}: {derived.reason}",
            )
    if (summary.decision, summary.verified) != (record.answer.decision, record.answer.verified):
        return CheckReport("TAMPERED", "the answer's summary does not follow from its claims")
    verified = sum(decision.render_state == "VERIFIED" for decision in decisions)
    reason = f"signature holds; {verified} of {len(decisions)} claims verified"
    if record.probe is not None:
        reason += f"; planted errors: {probe_view(record.probe, *measured).sentence.rstrip('.')}"
    return CheckReport("VALID", reason, record)
