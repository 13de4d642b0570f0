"""The only module that can say VERIFIED.

`decide` is total and closed: a rule that objects, breaks, or answers anything but a `Finding`
is a reason not to verify. Every other path to a `Decision` is shut (docs/adr/0003 says what
Python cannot give).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Never, NoReturn, final

from certirag.core.claim import Claim
from certirag.core.policy import Policy
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult, is_score


class RenderState(StrEnum):
    """What may be shown for a claim: permission, not opinion (DESIGN §3)."""

    VERIFIED = "VERIFIED"
    UNVERIFIED = "UNVERIFIED"
    BLOCKED = "BLOCKED"


class Finding(NamedTuple):
    """One rule's answer. Silence is not a pass: a rule must return a Finding."""

    passed: bool
    reason: str


class NamedFinding(NamedTuple):
    """A finding with the name of its rule."""

    rule: str
    passed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Case:
    """All that a decision may look at: the claim, its measurement, the evidence, the policy.

    *planted* are the cases of errors planted in the claim: where there are any, a decision asks
    one rule more, whatever the policy lists.
    """

    claim: Claim
    result: VerificationResult
    chunks: Mapping[str, EvidenceChunk]
    policy: Policy
    planted: tuple[Case, ...] = ()


Rule = Callable[[Case], Finding]


@final
class Decision:
    """What the page may say about one claim. Made only by `decide`, alive in this process only."""

    __slots__ = ("_seal", "claim_id", "claim_text", "findings", "state")
    claim_id: str
    claim_text: str
    findings: tuple[NamedFinding, ...]
    state: RenderState
    _seal: bytes

    def __init__(self, _only_decide_may_call: Never, /) -> None:
        raise TypeError("Decision has no public constructor; call decide()")

    def __init_subclass__(cls, **_kwargs: object) -> NoReturn:
        raise TypeError("Decision cannot be subclassed")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("Decision is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("Decision is immutable")

    def __reduce__(self) -> NoReturn:
        raise TypeError("Decision cannot be copied or pickled; store its certificate")


def decide(case: Case, rules: Mapping[str, Rule]) -> Decision:
    """Ask every rule of the policy; verify only when every one says so.

    *rules* maps rule names to functions; a name that the policy lists and the map lacks
    refuses. BLOCKED needs a sound contradiction at or above the policy's threshold.
    """
    asked = (*case.policy.rules, *(("planted_errors",) if case.planted else ()))
    findings = tuple(_ask(name, rules.get(name), case) for name in asked)
    if findings and all(finding.passed is True for finding in findings):
        state = RenderState.VERIFIED
    elif _contradicted(case):
        state = RenderState.BLOCKED
    else:
        state = RenderState.UNVERIFIED
    return _mint(case.claim.id, case.claim.text, findings, state)


def is_verified(decision: object) -> bool:
    """The one question that the badge asks. Anything unexpected is a no."""
    return state_of(decision) is RenderState.VERIFIED


def state_of(decision: object) -> RenderState:
    """Return the state of a genuine *decision*; anything else is UNVERIFIED."""
    if type(decision) is not Decision:
        return RenderState.UNVERIFIED
    try:
        expected = _seal(decision.claim_id, decision.claim_text, decision.findings, decision.state)
        genuine = hmac.compare_digest(decision._seal, expected)  # noqa: SLF001  # same module
        return decision.state if genuine else RenderState.UNVERIFIED
    except Exception:  # noqa: BLE001  # whatever a forgery does, the answer is no
        return RenderState.UNVERIFIED


def _ask(name: str, rule: Rule | None, case: Case) -> NamedFinding:
    if rule is None:
        return NamedFinding(name, False, "this rule is unknown here, so it cannot pass")
    try:
        finding = rule(case)
    except Exception as error:  # noqa: BLE001  # a broken rule must never verify
        return NamedFinding(name, False, f"the rule broke ({type(error).__name__}); no pass")
    if type(finding) is not Finding or type(finding.passed) is not bool:
        return NamedFinding(name, False, "the rule gave no finding; no pass")
    return NamedFinding(name, finding.passed, str(finding.reason))


def _contradicted(case: Case) -> bool:
    try:
        return any(
            is_score(score.contradicted)
            and (score.contradicted or 0.0) >= case.policy.tau_contradict
            for score in case.result.all_scores
        )
    except Exception:  # noqa: BLE001  # a malformed record is no ground for a statement
        return False


_PROCESS_KEY = secrets.token_bytes(32)


def _seal(
    claim_id: str, claim_text: str, findings: Sequence[NamedFinding], state: RenderState
) -> bytes:
    body = repr((claim_id, claim_text, tuple(map(tuple, findings)), state.value))
    raw = body.encode("utf-8", "surrogatepass")
    return hmac.digest(_PROCESS_KEY, raw, hashlib.sha256)


def _mint(
    claim_id: str, claim_text: str, findings: tuple[NamedFinding, ...], state: RenderState
) -> Decision:
    decision = object.__new__(Decision)
    for name, value in {
        "claim_id": claim_id,
        "claim_text": claim_text,
        "findings": findings,
        "state": state,
        "_seal": _seal(claim_id, claim_text, findings, state),
    }.items():
        object.__setattr__(decision, name, value)
    return decision
