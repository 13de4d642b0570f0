"""Answers of the log that a reviewer refused: which of their Verified claims was wrong is for a rater to say.

A reviewer decides on a whole answer (`auditing.review_queue`), and may refuse one that is true and of
no use. So a refusal is no label of any claim and becomes none: the claims are put before raters,
blind, and only what these say is exported. Nothing that the log has erased is opened, nor what no
trusted key signed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.auditing.logged_answers import open_answer
from certirag.auditing.review_queue import review_of
from certirag.errors import AuditError, CertificateError, InputError
from certirag.eval.measured_claims import measured_claims
from certirag.eval.spot_draw import JudgedClaim
from certirag.ports import AuditLog
from certirag.proof.log import parse_leaf
from certirag.render import certify

SOURCE: Final = "answers that a reviewer refused"


def claims_of_refused(
    log: AuditLog, trusted: Mapping[str, Ed25519PublicKey]
) -> tuple[list[JudgedClaim], int]:
    """Return the Verified claims of refused answers, and how many answers are gone or do not hold.

    States are derived again under the policy of each answer, and a probe that took a badge takes it here. Raises InputError where there is none.
    """
    found: list[JudgedClaim] = []
    gone = 0
    for text in log.leaves_of("review"):
        told = parse_leaf(text)
        if told.detail.get("decision") != "refuse":
            continue
        trace_id = told.trace_id
        try:
            review = review_of(log, trace_id, trusted)
            leaf, record = open_answer(log.find(trace_id), trusted)
        except (AuditError, CertificateError):
            gone += 1
            continue
        if review is None or review.decision != "refuse":
            continue
        measured = (record.claim_ir.claims, record.verification, record.retrieval.chunks)
        decisions = {
            one.claim_id: one for one in certify(*measured, record.policy, record.probe)[0]
        }
        found += [
            JudgedClaim(SOURCE, leaf.index, at, claim, trace_id=trace_id)
            for at, claim in enumerate(measured_claims(*measured, decisions))
            if claim.state == "VERIFIED"
        ]
    if not found:
        raise InputError(
            f"the log has no refused answer with a Verified claim ({gone} are not in it any more)"
        )
    return found, gone


def kept_answers(log: AuditLog, trace_ids: Collection[str]) -> frozenset[str]:
    """Return those of *trace_ids* whose answers the log still holds: what is erased is not used."""
    kept = set()
    for trace_id in trace_ids:
        try:
            entry = log.find(trace_id)
        except AuditError:
            continue
        if entry.content is not None:
            kept.add(trace_id)
    return frozenset(kept)
