"""Why an answer was decided as it was, what it leaves out and why: plain words of fixed rules.

No line here repeats the text of a claim that the documents contradict: strict mode shows these
lines, and that text is for debug mode alone (CertiRAG seed §4.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.core.claim import Claim
from certirag.core.judgement import LeftOut, ReasonCode, Suggestions
from certirag.core.policy import Policy
from certirag.core.said import Message, ended, said, said_n
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import AnswerDecisionName, VerificationResult, is_score
from certirag.proof.certificate import AnswerRecord, AnswerSummary
from certirag.render.confidence import open_parts
from certirag.render.gate import Decision, RenderState, state_of
from certirag.render.why import telling
from certirag.text.question import asked_words, divided, quoted

REASONS: Final[Mapping[ReasonCode, Message]] = {
    "ALL_VERIFIED": "Every checkable claim passed every rule.",
    "SOME_UNVERIFIED": "The claims that passed every rule are the answer; the rest is left out.",
    "SOME_CONTRADICTED": "The claims that passed every rule are the answer; of the rest the "
    "documents contradict at least one.",
    "RELATED_ONLY": "These statements are verified and on the topic; none of them surely answers the "
    "question.",
    "PARTLY_ANSWERED": "The claims answer one part of the question and nothing answers the other.",
    "NO_CLAIMS": "Nothing was found here that says something on this and can be checked.",
    "UNGROUNDED_CLAIMS": "No passage of the documents could be attached to any claim of this "
    "answer.",
    "INSUFFICIENT_EVIDENCE": "The documents do not hold enough evidence for any claim of this "
    "answer.",
    "CONTRADICTED": "The documents contradict what the answer would say, and support none of it.",
    "CONTESTED": "One document supports what the answer would say and another one opposes it.",
    "PLANTED_ERRORS_PASSED": "Errors planted in the claims of this answer passed the same checks.",
    "MEASUREMENT_FAILED": "The claims could not be measured whole, so nothing is said of them.",
}
# The same in few words, for a row of a table.
REASON_WORDS: Final[Mapping[ReasonCode, Message]] = {
    "ALL_VERIFIED": "all verified",
    "SOME_UNVERIFIED": "some unverified",
    "SOME_CONTRADICTED": "some contradicted",
    "RELATED_ONLY": "related only",
    "PARTLY_ANSWERED": "partly answered",
    "NO_CLAIMS": "no claims",
    "UNGROUNDED_CLAIMS": "ungrounded claims",
    "INSUFFICIENT_EVIDENCE": "insufficient evidence",
    "CONTRADICTED": "contradicted",
    "CONTESTED": "contested",
    "PLANTED_ERRORS_PASSED": "planted errors passed",
    "MEASUREMENT_FAILED": "measurement failed",
}
# A refusal whose claims all failed on one of these is told by it.
_SOLE_CAUSE: Final[Mapping[str, ReasonCode]] = {
    "evidence": "UNGROUNDED_CLAIMS",
    "sound_measurement": "MEASUREMENT_FAILED",
    "isolated": "MEASUREMENT_FAILED",
    "planted_errors": "PLANTED_ERRORS_PASSED",
    "uncontested": "CONTESTED",
}
MAX_LINES: Final = 6
MAX_IDS: Final = 8


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer was judged on, beyond its claims and decisions."""

    question: str
    results: tuple[VerificationResult, ...]
    chunks: tuple[EvidenceChunk, ...]
    policy: Policy
    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: AnswerRecord, policy: Policy) -> Grounds:
        """Return what *record* was judged on, under *policy*."""
        parts = record.claim_ir.parts
        return cls(record.question, record.verification, record.retrieval.chunks, policy, parts)


@dataclass(frozen=True, slots=True)
class Unmet:
    """A checkable claim without a badge: *rule* is the failed one that says most, and why."""

    claim: Claim
    rule: str
    reason: str
    blocked: bool


def lacks_answer(summary: AnswerSummary) -> bool:
    """Say whether there is no answer, or too little of one to lean on (RFC-0004 §5.3, §8)."""
    return (
        summary.decision == "REJECT"
        or summary.reason_code in {"RELATED_ONLY", "PARTLY_ANSWERED"}
        or summary.confidence == "insufficient_evidence"
    )


def with_suggestions(summary: AnswerSummary, suggestions: Suggestions | None) -> AnswerSummary:
    """Return *summary* with what may help instead, if it lacks an answer.

    No decision looks at suggestions: they are carried, for a reader.
    """
    if suggestions is None or not lacks_answer(summary):
        return summary
    queries = tuple(suggestion.query for suggestion in suggestions.refinements)
    return replace(summary, query_refinements=queries, suggestions=suggestions)


def unmet_claims(claims: Sequence[Claim], decisions: Sequence[Decision]) -> tuple[Unmet, ...]:
    """Return the checkable claims that have no badge, each with the failure that says most."""
    found = []
    for claim, decision in zip(claims, decisions, strict=True):
        state = state_of(decision)
        if state is RenderState.VERIFIED or is_uncheckable(claim):
            continue
        blocked = state is RenderState.BLOCKED
        failed = [f for f in decision.findings if f.passed is not True]
        first = min(failed, key=lambda f: telling(f.rule, blocked=blocked), default=None)
        rule = "unknown" if first is None else first.rule
        reason = "no decision was made on it" if first is None else first.reason
        found.append(Unmet(claim, rule, reason, blocked))
    return tuple(found)


def left_out(unmet: Sequence[Unmet]) -> tuple[LeftOut, ...]:
    """Return the claims that are left out, by the rule that says most of each."""
    by_rule: dict[str, list[str]] = {}
    for one in unmet:
        by_rule.setdefault(one.rule, []).append(one.claim.id)
    return tuple(LeftOut(rule, tuple(ids)) for rule, ids in by_rule.items())


def answer_decision(
    total: int, verified: int, unmet: Sequence[Unmet]
) -> tuple[AnswerDecisionName, ReasonCode]:
    """Return the decision on an answer of *total* checkable claims, and its reason code.

    What has a badge is the answer, whatever else failed: claims are decided one by one, so it is
    the largest part that can be certified. Without any there is no answer.
    """
    blocked = any(one.blocked for one in unmet)
    if total < 1:
        return "REJECT", "NO_CLAIMS"
    if verified < 1:
        rules = {one.rule for one in unmet}
        causes = {_SOLE_CAUSE.get(rule, "INSUFFICIENT_EVIDENCE") for rule in rules}
        if blocked:
            return "REJECT", "CONTRADICTED"
        return "REJECT", causes.pop() if len(causes) == 1 else "INSUFFICIENT_EVIDENCE"
    if verified == total and not unmet:
        return "ACCEPT", "ALL_VERIFIED"
    return "STRIP", "SOME_CONTRADICTED" if blocked else "SOME_UNVERIFIED"


def limitations(
    claims: Sequence[Claim],
    decisions: Sequence[Decision],
    unmet: Sequence[Unmet],
    grounds: Grounds | None,
) -> tuple[str, ...]:
    """Return what is recorded of what the answer lacks: claims left out, disagreement, gaps.

    What a reader sees in its place says the same in words for people: `missing_lines`.
    """
    lines = _left_out_lines(claims, unmet)
    if unmet:
        lines += [f"Claim {one.claim.id} is left out: {one.reason}." for one in unmet[:MAX_LINES]]
    for group in left_out(unmet[MAX_LINES:]):
        lines.append(f"Also left out under the rule {group.rule}: {_ids(group.claims)}.")
    if grounds is None:
        return tuple(map(str, lines))
    told = disagreements(claims, grounds).items()
    lines += [f"{line} ({_ids(ids)})." for line, ids in told]
    # Plain text, for it is recorded.
    return tuple(str(line) for line in (*lines, *gaps(_answered(claims, decisions), grounds)))


def missing_lines(
    claims: Sequence[Claim],
    decisions: Sequence[Decision],
    grounds: Grounds,
    reasons: Sequence[str],
) -> tuple[str, ...]:
    """Return what the answer lacks as a reader is told it: claims by their number, plain words.

    *reasons* has one sentence for each claim: why it has no badge, as it is told of the claim.
    """
    unmet = unmet_claims(claims, decisions)
    lines = _left_out_lines(claims, unmet)
    numbers = {id(claim): number for number, claim in enumerate(claims, 1)}
    for number in [numbers[id(one.claim)] for one in unmet[:MAX_LINES]]:
        why = reasons[number - 1]
        lines.append(said("Claim {number} is left out. {why}", number=number, why=why))
    rest = len(unmet) - MAX_LINES
    if rest > 0:
        lines.append(said_n("{n} more is left out.", "{n} more are left out.", rest))
    told = {one.claim.id for one in unmet[:MAX_LINES] if one.blocked}
    by_id = {
        claim.id: str(number) for number, claim in enumerate(claims, 1) if claim.id not in told
    }
    for line, ids in disagreements(claims, grounds).items():
        which = [by_id[one] for one in ids if one in by_id]
        if which:
            lines.append(
                said_n(
                    "Claim {which}: {sentence}",
                    "Claims {which}: {sentence}",
                    len(which),
                    which=", ".join(which[:MAX_LINES]),
                    sentence=ended(line),
                )
            )
    return (*lines, *gaps(_answered(claims, decisions), grounds))


def _left_out_lines(claims: Sequence[Claim], unmet: Sequence[Unmet]) -> list[str]:
    total = sum(not is_uncheckable(claim) for claim in claims)
    line = said_n(
        "{n} of {total} checkable claims is left out.",
        "{n} of {total} checkable claims are left out.",
        len(unmet),
        total=total,
    )
    return [line] * bool(unmet)


def _answered(claims: Sequence[Claim], decisions: Sequence[Decision]) -> list[Claim]:
    pairs = zip(claims, decisions, strict=True)
    return [claim for claim, decision in pairs if state_of(decision) is RenderState.VERIFIED]


def disagreements(claims: Sequence[Claim], grounds: Grounds) -> dict[str, list[str]]:
    """Say which documents disagree, by title and without a full stop, and on which claims by id.

    A sentence of a claim's own document opposes it from where it contradicts it on; that one
    document contests itself is no rule of any policy.
    """
    titles = {chunk.chunk_id: chunk.source.title or chunk.doc_id for chunk in grounds.chunks}
    documents = {chunk.chunk_id: chunk.doc_id for chunk in grounds.chunks}
    contradicts = grounds.policy.tau_contradict
    limit = min(contradicts, grounds.policy.tau_contest)
    results = {result.claim_id: result for result in grounds.results}
    found: dict[str, list[str]] = {}
    for claim in claims:
        result = results.get(claim.id)
        if result is None or is_uncheckable(claim):
            continue
        entailed = is_score(result.score) and (result.score or 0.0) >= grounds.policy.tau_entail
        attached = [ref.chunk_id for ref in result.best_evidence if entailed]
        own = {titles.get(chunk_id, chunk_id) for chunk_id in attached}
        held = {documents.get(chunk_id) for chunk_id in attached}
        against = {
            titles.get(score.chunk_id, score.chunk_id)
            for score in result.all_scores
            if is_score(score.contradicted)
            and (score.contradicted or 0.0)
            >= (contradicts if documents.get(score.chunk_id) in held else limit)
        }
        for other in sorted(against):
            sides = sorted(own - {other})
            # In one order, whichever of the two a claim follows: they disagree once.
            one, two = sorted((sides[0], other)) if sides else ("", other)
            line = (
                said("“{title}” and “{other}” disagree", title=one, other=two)
                if sides
                else said("“{other}” says otherwise", other=other)
            )
            found.setdefault(line, []).append(claim.id)
    return dict(list(found.items())[:MAX_LINES])


def is_uncheckable(claim: Claim) -> bool:
    """Say whether *claim* states nothing that could be checked (a greeting, a question)."""
    return any(problem.startswith("not_checkable") for problem in claim.problems)


def gaps(answered: Sequence[Claim], grounds: Grounds) -> tuple[str, ...]:
    """Say which part, which names and figures of the question no claim of the answer speaks of."""
    if not answered:
        return ()
    results = {result.claim_id: result for result in grounds.results}
    chunks = {chunk.chunk_id: chunk for chunk in grounds.chunks}
    texts = [claim.text for claim in answered]
    for claim in answered:
        result = results.get(claim.id)
        for ref in () if result is None else result.best_evidence:
            chunk = chunks.get(ref.chunk_id)
            texts += [] if chunk is None else [chunk.context]
    telling = [word for word in asked_words(grounds.question) if word.telling]
    _, missing = divided(telling, texts)
    lines = [
        said("Nothing that is verified answers “{part}”.", part=part)
        for at, part in enumerate(grounds.parts)
        if at in open_parts(answered)
    ]
    return (
        *lines,
        *([said("The answer says nothing of {words}.", words=quoted(missing))] if missing else []),
    )


def _ids(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:MAX_IDS])
    return shown if len(ids) <= MAX_IDS else f"{shown} and {len(ids) - MAX_IDS} more"
