"""Claims and opinions in, recorded decisions out; also the decision on the whole answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from certirag.core.certificate import (
    AnswerDecisionName,
    AnswerSummary,
    Confidence,
    FindingRecord,
    RendererDecision,
)
from certirag.core.claim import Claim
from certirag.core.policy import Policy
from certirag.core.probe import Probe
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.render.gate import Case, Decision, RenderState, decide, state_of
from certirag.render.planted import PLANTED_ERRORS, planted_cases, planted_errors
from certirag.render.rules import RULES

_ALL_RULES: Final = {**RULES, PLANTED_ERRORS: planted_errors}
_HIGH_RISK: Final = frozenset({"scope_claim", "comparative_claim"})


def certify(
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    policy: Policy,
    probe: Probe | None = None,
) -> tuple[tuple[RendererDecision, ...], AnswerSummary]:
    """Decide every claim under *policy* and return the decisions as records.

    A *probe* can only take badges: from the claims whose planted errors were not all caught.
    """
    decisions = decide_all(claims, results, chunks, policy, probe)
    records = tuple(_record(decision, policy) for decision in decisions)
    return records, summarise(claims, decisions)


def decide_all(
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    policy: Policy,
    probe: Probe | None = None,
) -> tuple[Decision, ...]:
    """Return one decision per claim, in order.

    A claim without a result of its own, an ambiguous id (of claim, result or chunk) and a
    missing chunk each leave a measurement that no rule accepts.
    """
    claim_ids = Counter(claim.id for claim in claims)
    result_ids = Counter(result.claim_id for result in results)
    chunk_ids = Counter(chunk.chunk_id for chunk in chunks)
    by_claim = {result.claim_id: result for result in results}
    by_chunk = {c.chunk_id: c for c in chunks if chunk_ids[c.chunk_id] == 1}
    planted = defaultdict[str, list[Case]](list)
    for error, case in planted_cases(probe, claims, results, by_chunk) if probe else ():
        planted[error.claim_id].append(case)
    decisions = []
    for claim in claims:
        sole = claim_ids[claim.id] == 1 and result_ids[claim.id] == 1
        result = by_claim[claim.id] if sole else _no_result(claim.id)
        case = Case(claim, result, by_chunk, policy, tuple(planted[claim.id]))
        decisions.append(decide(case, _ALL_RULES))
    return tuple(decisions)


def summarise(claims: Sequence[Claim], decisions: Sequence[Decision]) -> AnswerSummary:
    """Return the answer's decision, reason code and confidence (RFC-0004 §7, DESIGN §3).

    Statements that are not checkable claims (greetings, questions) do not count against the
    answer; an answer without any checkable claim is rejected, never "all verified".
    """
    states = [state_of(decision) for decision in decisions]
    checkable = [not _uncheckable(claim) for claim in claims]
    total = sum(checkable)
    verified = states.count(RenderState.VERIFIED)
    blocked = states.count(RenderState.BLOCKED)
    unresolved = any(
        claim.risk_class in _HIGH_RISK and state is not RenderState.VERIFIED
        for claim, state, counts in zip(claims, states, checkable, strict=True)
        if counts
    )
    share = verified / total if total else 0.0
    decision, code = _answer_decision(total, verified, blocked)
    return AnswerSummary(
        decision=decision,
        reason_code=code,
        confidence=_confidence(share, blocked, unresolved=unresolved),
        verified=verified,
        unverified=len(states) - verified - blocked,
        blocked=blocked,
        limitations=_limitations(total, verified, blocked),
        query_refinements=_refinements(code),
    )


def _answer_decision(total: int, verified: int, blocked: int) -> tuple[AnswerDecisionName, str]:
    if not total:
        return "REJECT", "NO_CLAIMS"
    if not verified:
        return "REJECT", "CONTRADICTED" if blocked else "INSUFFICIENT_EVIDENCE"
    if verified == total:
        return "ACCEPT", "ALL_VERIFIED"
    return "STRIP", "SOME_CONTRADICTED" if blocked else "SOME_UNVERIFIED"


def _confidence(share: float, blocked: int, *, unresolved: bool) -> Confidence:
    if share >= 0.90 and not unresolved and not blocked:
        return "high"
    if share >= 0.75 and not blocked:
        return "medium"
    return "low" if share >= 0.50 else "insufficient_evidence"


def _limitations(total: int, verified: int, blocked: int) -> tuple[str, ...]:
    lines = ["Verified means that retrieved evidence entails the claim, not that it is true."]
    if total > verified:
        lines.append(f"{total - verified} of {total} checkable claims are not verified.")
    if blocked:
        lines.append(f"{blocked} of them are contradicted by retrieved evidence.")
    return tuple(lines)


def _refinements(code: str) -> tuple[str, ...]:
    if code in {"ALL_VERIFIED", "SOME_UNVERIFIED"}:
        return ()
    if "CONTRADICTED" in code:
        return ("The documents disagree: name the document, version or period that you mean.",)
    return (
        "Use the words of the documents: a name, a product, a section heading.",
        "Name the period or version that you mean, or add the document that holds the answer.",
    )


def _uncheckable(claim: Claim) -> bool:
    return any(problem.startswith("not_checkable") for problem in claim.problems)


def _no_result(claim_id: str) -> VerificationResult:
    return VerificationResult(
        claim_id=claim_id,
        label="error",
        score=None,
        best_evidence=(),
        all_scores=(),
        error="there is no single verification result for this claim",
    )


def _record(decision: Decision, policy: Policy) -> RendererDecision:
    failed = [finding for finding in decision.findings if not finding.passed]
    shown = failed or list(decision.findings)
    return RendererDecision(
        claim_id=decision.claim_id,
        render_state=state_of(decision).value,
        policy={
            "name": policy.name,
            "tau_entail": policy.tau_entail,
            "tau_contradict": policy.tau_contradict,
        },
        reason="; ".join(f"{finding.rule}: {finding.reason}" for finding in shown),
        findings=tuple(FindingRecord(f.rule, f.passed, f.reason) for f in decision.findings),
    )
