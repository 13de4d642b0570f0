"""Answers between a profile's two shares: put before a reviewer, and what comes of it.

A reviewer says whether the supported statements leave. Which these are is derived from the signed
record each time; a statement that the policy refuses leaves under no decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from certirag.auditing.logged_answers import export_again
from certirag.auditing.review_queue import (
    MOST_LISTED,
    Terms,
    decide_review,
    escalate,
    escalated,
    review_of,
    waiting,
)
from certirag.errors import AuditError, CertificateError, InputError
from certirag.gateway.gated import (
    answer_response,
    asked_by,
    grounding_score,
    require_allowed,
    require_released,
)
from certirag.gateway.profiles import Profile, load_profile
from certirag.gateway.refusals import Refused
from certirag.gateway.wire import QueueOut, ReviewOut, WaitingOut
from certirag.render import Mode, Presentation, present

if TYPE_CHECKING:
    from certirag.auditing.review_queue import Escalated
    from certirag.gateway.access import Caller
    from certirag.gateway.gated import Gate, GatedRequest
    from certirag.gateway.wire import AnswerResponse, ReviewRequest
    from certirag.proof.countersignature import Review


@dataclass(frozen=True, slots=True)
class _Reopened:
    """What an answer was asked for under, read again from the log."""

    profile: Profile
    sources: tuple[tuple[str, str], ...]


def require_leave(
    gate: Gate, caller: Caller, asked: GatedRequest, shown: Presentation, *, max_citations: int
) -> None:
    """Raise Refused unless the answer may leave now; one that waits is in the queue before that."""
    try:
        require_allowed(shown, asked.profile, answers=asked.draft is None)
    except Refused as refused:
        if refused.decision == "ESCALATE":
            # Refused where nothing could be released: nobody should decide on that.
            answer_response(shown, asked, max_citations=max_citations, certificate="")
            terms = Terms(asked.profile.name, asked.sources, max_citations, grounding_score(shown))
            services, trace_id = gate.services, shown.record.trace_id
            escalate(
                services.audit_log,
                trace_id,
                terms,
                caller=caller.name,
                key=caller.key,
                now=services.now(),
            )
        raise


def reviewed(gate: Gate, caller: Caller, trace_id: str) -> AnswerResponse | WaitingOut:
    """Return to a reviewer what waits; to who asked, what a reviewer let leave; Refused otherwise."""
    one, review = _found(gate, trace_id)
    if caller.use == "review":
        return _waiting(gate, one)
    if not asked_by(one, caller):
        raise Refused("UNKNOWN_ANSWER")
    review = require_released(review, trace_id)
    said = ReviewOut(decision=review.decision, reviewer=review.reviewer, at=review.at)
    return _released(gate, one)[0].model_copy(update={"review": said})


def queue(gate: Gate, caller: Caller) -> QueueOut:
    """Return what waits, what waits longest first; Refused to who is no reviewer."""
    if caller.use != "review":
        raise Refused("NOT_FOR_THIS_KEY")
    every = waiting(gate.services.audit_log)
    listed = [_waiting(gate, _found(gate, trace_id)[0]) for trace_id in every[:MOST_LISTED]]
    return QueueOut(waiting=len(every), reviews=listed)


def decided(gate: Gate, caller: Caller, trace_id: str, body: ReviewRequest) -> ReviewOut:
    """Log and countersign what the reviewer *caller* decides; Refused where that cannot be."""
    if caller.use != "review":
        raise Refused("NOT_FOR_THIS_KEY")
    one, review = _found(gate, trace_id)
    if review is None and body.decision == "release":
        _released(gate, one)  # Refused where there is nothing that could leave
    services = gate.services
    try:
        if review is not None:
            raise InputError("it was decided on before")
        made = decide_review(
            services.audit_log,
            services.settings.home,
            trace_id,
            body.decision,
            reviewer=caller.name,
            reason=body.reason,
            trusted=services.trusted,
            now=services.now(),
        )
    except (AuditError, InputError) as error:
        if _found(gate, trace_id)[1] is not None:  # before, or by somebody who was faster
            raise Refused("ALREADY_DECIDED", trace_id=trace_id) from error
        raise
    return ReviewOut(decision=made.decision, reviewer=made.reviewer, at=made.at)


def _found(gate: Gate, trace_id: str) -> tuple[Escalated, Review | None]:
    """Return the answer that was put before the reviewers, and a decision; Refused for any other."""
    log, trusted = gate.services.audit_log, gate.services.trusted
    try:
        one = escalated(log, trace_id, trusted)
        if one is not None:
            return one, review_of(log, trace_id, trusted)
    except (AuditError, CertificateError) as error:
        raise Refused("UNKNOWN_ANSWER") from error
    raise Refused("UNKNOWN_ANSWER")


def _released(gate: Gate, one: Escalated) -> tuple[AnswerResponse, Presentation]:
    """Return what leaves of *one* when it is released, under no less than was asked for then.

    Raises Refused where the policies of today leave nothing of it.
    """
    profile = gate.profile
    for name in one.terms.profile.split("+"):
        profile = profile.meet(load_profile(name))
    shown = _presented(gate, one, profile)
    require_allowed(shown, replace(profile, between="strip"), answers=shown.draft is None)
    given = answer_response(
        shown,
        _Reopened(profile, one.terms.sources),
        max_citations=one.terms.max_citations,
        certificate=f"/v1/certificates/{one.trace_id}",
    )
    return given, shown


def _presented(gate: Gate, one: Escalated, profile: Profile) -> Presentation:
    services = gate.services
    return present(
        export_again(services.audit_log, one.trace_id),
        Mode.STRICT,
        trusted=services.trusted,
        floor=profile.policy.meet(services.policy),
    )


def _waiting(gate: Gate, one: Escalated) -> WaitingOut:
    """Return *one* for a reviewer to read: what would leave, and what would not."""
    answer, problem = None, ""
    try:
        answer, shown = _released(gate, one)
    except Refused as refused:
        shown, problem = _presented(gate, one, gate.profile), refused.message
    return WaitingOut(
        trace_id=one.trace_id,
        at=one.at,
        caller=one.caller,
        question=shown.question,
        grounding_score=one.terms.score,
        answer=answer,
        unsupported=[chip.text for chip in shown.folded],
        contradicted=shown.hidden,
        problem=problem,
    )
