"""Counts planted errors: which of them a claim touches, and which claims are Verified."""

from __future__ import annotations

from certirag.core.claim import Claim
from certirag.eval.builtin import touches
from certirag.proof.certificate import AnswerRecord


def touched_errors(claim: Claim, draft: dict) -> set[int]:
    """Return the numbers of the planted errors of *draft* that *claim* touches."""
    return {at for at, own in enumerate(draft["errors"]) if touches(claim, own, draft["text"])}


def verified_ids(record: AnswerRecord) -> set[str]:
    """Return the ids of the claims that *record* says are Verified."""
    return {d.claim_id for d in record.decisions if d.render_state == "VERIFIED"}


def checkable(claim: Claim) -> bool:
    """Say whether *claim* states something that could be checked at all."""
    return not any(problem.startswith("not_checkable") for problem in claim.problems)
