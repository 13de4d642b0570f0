"""From a request to an answer that may leave, or to the reason why none does.

Every state is derived from the signed record again (`render.present`) under the meet of server,
key and request; what leaves is text of statements that are Verified there, and of nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from certirag.answers.pipeline import answer_question, verify_draft
from certirag.auditing.logged_answers import export_again
from certirag.auditing.review_queue import escalated, review_of
from certirag.claims.compile import is_remark
from certirag.errors import (
    AuditError,
    CertificateError,
    CertiRAGError,
    InputError,
    LanguageModelError,
    ModelError,
    PolicyError,
    VerifierError,
)
from certirag.gateway.allowed import Allowed, Corpora
from certirag.gateway.metrics import Measures
from certirag.gateway.profiles import Between, Profile, load_profile, stricter
from certirag.gateway.refusals import Code, Refused
from certirag.gateway.telemetry import tell_claims
from certirag.gateway.together import Together
from certirag.gateway.waiting import Gone, Places, still_there
from certirag.gateway.wire import AnswerResponse, CitationOut, ClaimOut, SourceOut
from certirag.render import Mode, Presentation, present

if TYPE_CHECKING:
    from certirag.answers.services import Services, SignedAnswer
    from certirag.auditing.review_queue import Escalated
    from certirag.core.citation import Citation
    from certirag.core.text import EvidenceChunk, SentenceSpan
    from certirag.gateway.access import Caller
    from certirag.proof.countersignature import Review
    from certirag.render import Chip

REVIEWS: Final = "/v1/reviews/"
# Rules that fail where a measurement failed, and not where the documents say otherwise.
_UNMEASURED: Final = frozenset({"sound_measurement", "isolated"})
# What the record says of an answer as a whole, as the gateway's code.
_CODES: Final[dict[str, Code]] = {
    "CONTRADICTED": "CONTRADICTED",
    "CONTESTED": "CONTRADICTED",
    "SOME_CONTRADICTED": "CONTRADICTED",
    "MEASUREMENT_FAILED": "VERIFIER_UNAVAILABLE",
}


@dataclass(frozen=True, slots=True)
class GatedRequest:
    """A question over *allowed* documents, with somebody's *draft* and citations *beside* it, if any."""

    question: str
    allowed: Allowed
    profile: Profile
    draft: str | None = None
    beside: tuple[Citation, ...] = ()

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """The allowed documents, path and SHA-256."""
        return self.allowed.sources


class AskedUnder(Protocol):
    """What an answer was asked for under."""

    @property
    def profile(self) -> Profile: ...

    @property
    def sources(self) -> tuple[tuple[str, str], ...]: ...


class Gate:
    """Answers one request at a time with the models; *waiting* others may wait, more are refused."""

    def __init__(
        self,
        services: Services,
        corpora: Corpora,
        profile: Profile,
        waiting: int,
        together: Together | None = None,
    ) -> None:
        self.measures, self.together = Measures(), together or Together()
        self.services = replace(services, stage=self.measures.around(services.stage))
        self.corpora, self.profile = corpora, profile
        corpora.index_found = self.measures.index_found
        self.places = Places(waiting, self.measures, self.services.stage)

    def asked(
        self,
        caller: Caller,
        question: str,
        *,
        corpus: str | None,
        sources: Sequence[str],
        profile: str | None,
        between: Between | None = None,
        draft: str | None = None,
    ) -> GatedRequest:
        """Return what *caller* asks, under no less than server and key ask for; Refused."""
        floor = self.floor(caller, profile)
        if between is not None:
            floor = replace(floor, between=stricter(floor.between, between))
        return GatedRequest(question, self.corpora.allowed(corpus, sources, caller), floor, draft)

    def floor(self, caller: Caller, profile: str | None) -> Profile:
        """Return the meet of server, *caller* and the *profile* that is asked for; Refused."""
        if caller.use != "ask":
            raise Refused("NOT_FOR_THIS_KEY")
        floor = self.profile
        try:
            for name in filter(None, (caller.profile, profile)):
                floor = floor.meet(load_profile(name))
        except PolicyError as error:
            raise Refused("BAD_REQUEST", str(error)) from error
        return floor

    def presented(
        self, caller: Caller, asked: GatedRequest, gone: Gone, mode: Mode = Mode.STRICT
    ) -> Presentation:
        """Return the answer as *mode* shows it; the log has it before this returns.

        ClientGone where *gone* says so on the way. Ask in a `place`.
        """

        def progress(_line: str, _done: int, _total: int) -> None:
            still_there(gone)

        with self.places.turn(gone):
            answer = self._signed(asked, progress)
        shown = present(
            answer.export,
            mode,
            trusted=self.services.trusted,
            floor=asked.profile.policy.meet(self.services.policy),
        )
        # What waits for a person, or should, has no certificate before; the queue gives it then.
        if not (asked.profile.between == "escalate" and is_between(shown, asked.profile)):
            self.together.give(answer.trace_id, caller.name)
        self.measures.answered(shown)
        tell_claims(shown, text=self.services.settings.trace_text)
        return shown

    def _signed(
        self, asked: GatedRequest, progress: Callable[[str, int, int], None]
    ) -> SignedAnswer:
        policy = asked.profile.policy
        index = asked.allowed.index
        progress("Waiting", 0, 1)  # who left while waiting is not worked for
        if asked.draft is None:  # the documents answer: no model writes, and none sees them
            services = replace(self.services, writer=None)
            return answer_question(
                asked.question, index, services, asked_policy=policy, progress=progress
            )
        return verify_draft(
            asked.draft,
            index,
            self.services,
            question=asked.question,
            beside=asked.beside,
            asked_policy=policy,
            progress=progress,
        )

    def export(self, caller: Caller, trace_id: str) -> dict[str, Any]:
        """Return the certificate of an answer that *caller* was given by this server; else Refused.

        An answer holds passages of its sources, which another key may not be allowed. That of an
        answer that was put before the reviewers is for them, and once it is released for who asked.
        """
        log, trusted = self.services.audit_log, self.services.trusted
        try:
            one = escalated(log, trace_id, trusted)
            if one is None:
                allowed = self.together.was_given(trace_id, caller.name)
            else:
                allowed = caller.use == "review" or asked_by(one, caller)
            if not allowed:
                raise Refused("UNKNOWN_ANSWER")
            if one is not None and caller.use != "review":
                require_released(review_of(log, trace_id, trusted), trace_id)
            found: dict[str, Any] = json.loads(export_again(log, trace_id))
        except (AuditError, CertificateError) as error:
            raise Refused("UNKNOWN_ANSWER") from error
        return found


def asked_by(one: Escalated, caller: Caller) -> bool:
    """Say whether *caller* asked for what was put before the reviewers."""
    return (one.caller, one.key, "ask") == (caller.name, caller.key, caller.use)


def require_released(review: Review | None, trace_id: str) -> Review:
    """Return *review*; Refused unless a reviewer decided that the answer leaves."""
    if review is None:
        raise Refused("WAITS_FOR_REVIEW", trace_id=trace_id)
    if review.decision != "release":
        raise Refused("REFUSED_BY_REVIEWER", trace_id=trace_id)
    return review


def _unread(shown: Presentation) -> int:
    """Count the statements of a draft that the cap left unchecked."""
    if shown.draft is None:
        return 0
    return sum(not is_remark(line) for line in shown.record.claim_ir.dropped)


def grounding_score(shown: Presentation) -> float:
    """Return the share in [0, 1] of all statements that could be checked that are Verified; 0 of none."""
    basis = shown.summary.basis
    if basis is None or not basis.checkable:
        return 0.0
    return round(shown.summary.verified / (basis.checkable + _unread(shown)), 6)


def is_between(shown: Presentation, profile: Profile) -> bool:
    """Say whether more is supported than nothing may leave of, and less than of a whole answer."""
    return bool(shown.shown) and profile.reject <= grounding_score(shown) < profile.accept


def require_measured(shown: Presentation) -> None:
    """Raise Refused where a statement has no badge because its measurement failed.

    What could not be measured is no verdict of the documents: nothing may be called unsupported.
    """
    if any(left.rule in _UNMEASURED for left in shown.summary.left_out):
        raise Refused(
            "VERIFIER_UNAVAILABLE", _MESSAGES["VERIFIER_UNAVAILABLE"], shown.record.trace_id
        )


def require_allowed(shown: Presentation, profile: Profile, *, answers: bool) -> None:
    """Raise Refused unless the answer may leave; *answers* asks that it answers the question too.

    Such an answer is the documents' own, which would be the same if it were asked for again.
    """
    summary, trace_id = shown.summary, shown.record.trace_id
    score = grounding_score(shown)
    related = answers and summary.reason_code == "RELATED_ONLY"
    if not shown.shown or related or score < profile.reject:
        require_measured(shown)
    if not shown.shown:
        code = _CODES.get(summary.reason_code, "UNGROUNDED_CLAIM")
        if code == "UNGROUNDED_CLAIM" and not shown.record.retrieval.chunks:
            code = "NO_EVIDENCE"
        raise Refused(code, _MESSAGES.get(code, ""), trace_id)
    if related:
        raise Refused("UNGROUNDED_CLAIM", _MESSAGES["UNGROUNDED_CLAIM"], trace_id)
    if score < profile.reject:
        message = (
            f"Of the statements {score:.2f} are supported; the profile {profile.name} lets nothing "
            f"through below {profile.reject:.2f}."
        )
        raise Refused("UNGROUNDED_CLAIM", message, trace_id)
    if score >= profile.accept or profile.between == "strip":
        return
    require_measured(shown)
    few = f"Of the statements {score:.2f} are supported; from {profile.accept:.2f} on"
    if profile.between == "escalate":
        message = f"{few} they leave by themselves. A person decides: look at {REVIEWS}{trace_id}."
        headers = {"Location": f"{REVIEWS}{trace_id}"}
        raise Refused("WAITS_FOR_REVIEW", message, trace_id, headers)
    if not answers:
        message = f"{few} they leave. Send a draft that says what the sources say, and no more."
        raise Refused("PARTLY_GROUNDED", message, trace_id)


_MESSAGES: Final[dict[Code, str]] = {
    "UNGROUNDED_CLAIM": "No supporting evidence found in provided sources.",
    "NO_EVIDENCE": "Nothing in the provided sources is on this.",
    "CONTRADICTED": "The provided sources contradict the answer or each other.",
    "VERIFIER_UNAVAILABLE": "Not every statement could be measured, so none is given.",
}


def answer_response(
    shown: Presentation,
    asked: AskedUnder,
    *,
    max_citations: int,
    certificate: str | dict[str, Any],
    retry_of: str = "",
) -> AnswerResponse:
    """Return the Verified statements that *max_citations* sentences carry, in their order.

    Raises Refused when not even the first one fits.
    """
    cited = _Citations(max_citations)
    claims = [(chip, cited.claim(chip)) for chip in shown.shown]
    kept = [claim for _, claim in claims if claim is not None]
    if not kept:
        message = f"max_citations is {max_citations}: the shortest proof needs more sentences"
        raise Refused("BAD_REQUEST", message, shown.record.trace_id)
    reasons = [chip.failures_first[0].rule for chip in shown.folded]
    reasons += ["not_contradicted"] * shown.hidden
    reasons += ["max_citations"] * (len(claims) - len(kept)) + ["max_claims"] * _unread(shown)
    withheld = [
        ClaimOut(text="", status="WITHHELD", entailment=None, citations=[], reason=reason)
        for reason in reasons
    ]
    return AnswerResponse(
        answer=" ".join(claim.text for claim in kept),
        citations=cited.found,
        grounding_score=grounding_score(shown),
        trace_id=shown.record.trace_id,
        decision="ALLOW",
        stripped=len(kept) < len(claims) or grounding_score(shown) < asked.profile.accept,
        reason_code=shown.summary.reason_code,
        confidence=shown.summary.confidence,
        claims=kept + withheld,
        sources=[SourceOut(source=name, sha256=sha256) for name, sha256 in asked.sources],
        profile=asked.profile.name,
        policy=shown.policy.name,
        certificate=certificate,
        retry_of=retry_of,
    )


def citation(number: int, chunk: EvidenceChunk, span: SentenceSpan) -> CitationOut:
    """Return a sentence with its source and place, under *number*."""
    source = chunk.source
    return CitationOut(
        id=number,
        source=source.url_or_path,
        title=source.title,
        section=source.section if source.page is None else f"p.{source.page}",
        quote_span=span.sentence,
        start=source.start + span.start,
        end=source.start + span.end,
        source_sha256=source.sha256,
    )


class _Citations:
    """The sentences that are cited, numbered from 1, each once, and at most *most* of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.found: list[CitationOut] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def claim(self, chip: Chip) -> ClaimOut | None:
        """Return *chip* with the numbers of its sentences; None where these are too many."""
        views = [view for view in chip.evidence if view.attached]
        new = [v for v in views if (v.chunk.chunk_id, v.span.span_id) not in self._numbers]
        if not views or len(self.found) + len(new) > self._most:
            return None
        for view in new:
            self.found.append(citation(len(self.found) + 1, view.chunk, view.span))
            self._numbers[view.chunk.chunk_id, view.span.span_id] = len(self.found)
        score = chip.result.score if chip.result else None
        return ClaimOut(
            text=chip.text,
            status="VERIFIED",
            entailment=score,
            citations=[self._numbers[v.chunk.chunk_id, v.span.span_id] for v in views],
            reason="",
        )


def refusal_of(error: CertiRAGError) -> Refused:
    """Return an error of the package as a refusal: an outage is never one of the documents'."""
    if isinstance(error, AuditError):
        return Refused("AUDIT_UNAVAILABLE")
    if isinstance(error, VerifierError | ModelError):
        return Refused("VERIFIER_UNAVAILABLE")
    if isinstance(error, LanguageModelError):
        return Refused("MODEL_UNAVAILABLE")
    if isinstance(error, InputError):
        return Refused("BAD_REQUEST", str(error))
    return Refused("INTERNAL")
