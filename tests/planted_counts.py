"""Counts planted errors: which of them a claim touches, and which claims are Verified."""

from __future__ import annotations

from certirag.core.claim import Claim
from certirag.proof.certificate import AnswerRecord


def touches(claim: Claim, error: dict, text: str) -> bool:
    """Say whether *claim* comes from the place of *error* in *text*, or carries its words from there.

    A piece of a sentence may repeat the subject of another piece, so an error elsewhere in the
    same sentence counts when its words stand in the claim.
    """
    if claim.draft_start < error["end"] and error["start"] < claim.draft_end:
        return True
    low, high = sorted([(claim.draft_start, claim.draft_end), (error["start"], error["end"])])
    between = text[max(0, low[1] - 1) : high[0]]  # with the full stop that ends a claim
    same_sentence = "\n" not in between and ". " not in between
    return same_sentence and error["text"].casefold() in claim.text.casefold()


def touched_errors(claim: Claim, draft: dict) -> set[int]:
    """Return the numbers of the planted errors of *draft* that *claim* touches."""
    return {at for at, own in enumerate(draft["errors"]) if touches(claim, own, draft["text"])}


def verified_ids(record: AnswerRecord) -> set[str]:
    """Return the ids of the claims that *record* says are Verified."""
    return {d.claim_id for d in record.decisions if d.render_state == "VERIFIED"}


def checkable(claim: Claim) -> bool:
    """Say whether *claim* states something that could be checked at all."""
    return not any(problem.startswith("not_checkable") for problem in claim.problems)
