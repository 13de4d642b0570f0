"""The same certificates under another policy: what would be lost, and what would be gained.

Nothing is measured again: decisions are a function of the recorded scores, so another policy is
another function of the same record. A policy that refines the recorded one gains nothing; where
it seems to, the replay refuses to speak (DESIGN §2, monotone).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.auditing.logged_answers import open_answer, rows
from certirag.core.policy import Policy
from certirag.errors import AuditError, CertificateError, PolicyError
from certirag.ports import AuditLog, Progress
from certirag.proof.certificate import AnswerRecord, FindingRecord, RendererDecision
from certirag.proof.facets import AnswerQuery, AnswerRow
from certirag.render import certify


@dataclass(frozen=True, slots=True)
class ReplayedClaim:
    """A claim whose badge differs: its states, and the reason of the policy that withholds it.

    *failed* are the rules that the claim does not pass under that policy.
    """

    claim_id: str
    text: str
    was: str
    becomes: str
    reason: str
    failed: tuple[FindingRecord, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """One answer under two policies; *tightens* says that the second refines the recorded one.

    *revoked* is why the log no longer stands by the answer, "" while it does.
    """

    trace_id: str
    question: str
    policy: str
    other: str
    tightens: bool
    decision: str
    becomes: str
    verified: int
    still_verified: int
    lost: tuple[ReplayedClaim, ...]
    gained: tuple[ReplayedClaim, ...]
    revoked: str = ""

    @property
    def differs(self) -> bool:
        """Whether anything would have been shown otherwise."""
        return bool(self.lost or self.gained) or self.decision != self.becomes


def replay(record: AnswerRecord, other: Policy) -> Replay:
    """Return what *other* would have shown of *record*, beside what its own policy shows.

    Raises PolicyError if a tighter policy gains a badge, for then one of the two is broken.
    """
    measured = (record.claim_ir.claims, record.verification, record.retrieval.chunks)
    question, parts = record.question, record.claim_ir.parts
    decisions, summary = certify(
        *measured, record.policy, record.probe, question=question, parts=parts
    )
    others, becomes = certify(*measured, other, record.probe, question=question, parts=parts)
    texts = {claim.id: claim.text for claim in record.claim_ir.claims}
    lost, gained = [], []
    for one, two in zip(decisions, others, strict=True):
        if one.render_state == two.render_state:
            continue
        if one.render_state == "VERIFIED":
            lost.append(_claim(texts, one, two, two))
        elif two.render_state == "VERIFIED":
            gained.append(_claim(texts, one, two, one))
    tightens = other.refines(record.policy)
    if tightens and gained:
        raise PolicyError(
            f"under {other.name!r}, which is tighter than {record.policy.name!r}, claim "
            f"{gained[0].claim_id} of {record.trace_id} would gain a badge: do not trust it"
        )
    return Replay(
        record.trace_id,
        record.question,
        record.policy.name,
        other.name,
        tightens,
        summary.decision,
        becomes.decision,
        summary.verified,
        becomes.verified,
        tuple(lost),
        tuple(gained),
    )


def replay_log(
    log: AuditLog,
    query: AnswerQuery,
    other: Policy,
    trusted: Mapping[str, Ed25519PublicKey],
    progress: Progress,
) -> Iterator[Replay]:
    """Yield the replay of every answer that *query* asks for, newest first.

    Raises AuditError or CertificateError at an entry that does not hold, naming it.
    """
    total = log.count(query)
    for done, row in enumerate(rows(log, query), start=1):
        record = _opened(log, row, trusted)
        progress("Replaying", done, max(done, total))
        yield replace(replay(record, other), revoked=row.revoked)


def _opened(log: AuditLog, row: AnswerRow, trusted: Mapping[str, Ed25519PublicKey]) -> AnswerRecord:
    try:
        leaf, record = open_answer(log.find(row.facets.trace_id), trusted)
    except CertificateError as error:
        raise CertificateError(f"entry {row.index} of the log does not hold: {error}") from error
    if (leaf.index, record.trace_id) != (row.index, row.facets.trace_id):
        raise AuditError(f"entry {row.index} holds another answer than its facets say")
    return record


def _claim(
    texts: Mapping[str, str],
    one: RendererDecision,
    two: RendererDecision,
    withholds: RendererDecision,
) -> ReplayedClaim:
    return ReplayedClaim(
        one.claim_id,
        texts.get(one.claim_id, ""),
        one.render_state,
        two.render_state,
        withholds.reason,
        tuple(finding for finding in withholds.findings if finding.passed is not True),
    )
