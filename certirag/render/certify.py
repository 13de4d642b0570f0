"""Claims and opinions in, recorded decisions out; also the decision on the whole answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from certirag.core.claim import Claim
from certirag.core.judgement import ConfidenceBasis
from certirag.core.policy import Policy
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import Probe, VerificationResult
from certirag.proof.certificate import AnswerSummary, FindingRecord, RendererDecision
from certirag.render.abstain import (
    REASONS,
    Grounds,
    Unmet,
    answer_decision,
    is_uncheckable,
    left_out,
    limitations,
    unmet_claims,
)
from certirag.render.closest import closest_references
from certirag.render.confidence import (
    HIGH_RISK,
    answers,
    confidence_of,
    contested_claims,
    evidence_quality,
    open_parts,
    with_caveats,
)
from certirag.render.gate import Case, Decision, NamedFinding, RenderState, decide, state_of
from certirag.render.probe_verdicts import PLANTED_ERRORS, planted_cases, planted_errors
from certirag.render.rules import RULES

_ALL_RULES: Final = {**RULES, PLANTED_ERRORS: planted_errors}


def certify(
    claims: Sequence[Claim],
    results: Sequence[VerificationResult],
    chunks: Sequence[EvidenceChunk],
    policy: Policy,
    probe: Probe | None = None,
    *,
    question: str = "",
    parts: Sequence[str] = (),
) -> tuple[tuple[RendererDecision, ...], AnswerSummary]:
    """Decide every claim under *policy* and return the decisions as records.

    A *probe* can only take badges: from the claims whose planted errors were not all caught. The
    *question* and its *parts*, where it asks two things, decide nothing: they are for saying what
    the answer lacks.
    """
    decisions = decide_all(claims, results, chunks, policy, probe)
    records = tuple(_record(decision, policy) for decision in decisions)
    grounds = Grounds(question, tuple(results), tuple(chunks), policy, tuple(parts))
    return records, summarise(claims, decisions, grounds)


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


def summarise(
    claims: Sequence[Claim], decisions: Sequence[Decision], grounds: Grounds | None = None
) -> AnswerSummary:
    """Return the answer's decision, reason code, confidence and what it lacks (RFC-0004 §7, §8).

    Statements that are not checkable claims (greetings, questions) do not count against the
    answer; an answer without any checkable claim is rejected, never "all verified". Without
    *grounds* the quality of the evidence and the nearest passages are not looked at.
    """
    states = [state_of(decision) for decision in decisions]
    counted = [not is_uncheckable(claim) for claim in claims]
    unmet = unmet_claims(claims, decisions)
    verified = states.count(RenderState.VERIFIED)
    blocked = states.count(RenderState.BLOCKED)
    basis = _basis(claims, decisions, unmet, grounds)
    decision, code = answer_decision(sum(counted), verified, unmet)
    if verified and not answers(basis.relevance):
        code = "RELATED_ONLY"
    elif verified and basis.open_parts:
        code = "PARTLY_ANSWERED"
    abstains = decision == "REJECT" and grounds is not None
    return AnswerSummary(
        decision=decision,
        reason_code=code,
        confidence=confidence_of(basis),
        verified=verified,
        unverified=len(states) - verified - blocked,
        blocked=blocked,
        limitations=limitations(claims, decisions, unmet, grounds),
        reason=REASONS[code],
        basis=basis,
        left_out=left_out(unmet),
        closest_references=closest_references(claims, grounds) if abstains and grounds else (),
    )


def _basis(
    claims: Sequence[Claim],
    decisions: Sequence[Decision],
    unmet: Sequence[Unmet],
    grounds: Grounds | None,
) -> ConfidenceBasis:
    """Return the inputs of the confidence: pass rate, risk, contradiction, evidence (§7)."""
    checkable = sum(not is_uncheckable(claim) for claim in claims)
    answered = [
        claim
        for claim, decision in zip(claims, decisions, strict=True)
        if state_of(decision) is RenderState.VERIFIED
    ]
    opposed = {d.claim_id for d in decisions for f in d.findings if _opposed(f)}
    retrieval, specificity = None, None
    if grounds is not None:
        results = {result.claim_id: result for result in grounds.results}
        chunks = {chunk.chunk_id: chunk for chunk in grounds.chunks}
        opposed |= contested_claims(claims, results, chunks, grounds.policy)
        retrieval, specificity = evidence_quality(answered, results, chunks)
    return with_caveats(
        ConfidenceBasis(
            checkable=checkable,
            verified=len(answered),
            pass_rate=round(len(answered) / checkable, 6) if checkable else 0.0,
            high_risk_unresolved=sum(one.claim.risk_class in HIGH_RISK for one in unmet),
            contradicted=sum(one.blocked for one in unmet),
            contested=sum(c.id in opposed for c in claims if not is_uncheckable(c)),
            retrieval=retrieval,
            specificity=specificity,
            relevance=max((c.relevance for c in answered if c.relevance is not None), default=None),
            open_parts=len(open_parts(answered)),
        )
    )


def _opposed(finding: NamedFinding) -> bool:
    return finding.rule == "uncontested" and finding.passed is not True


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
