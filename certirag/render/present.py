"""certificate + mode → what a reader sees; every badge is derived again on each call.

Nothing here accepts a decision: the input is the signed export, and the states come out of
the recorded scores and spans under the policy in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.core.claim import Claim
from certirag.core.policy import Policy
from certirag.core.said import Message, said, said_n
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.core.verdict import SpanScore, VerificationResult, is_score
from certirag.proof.certificate import AnswerRecord, AnswerSummary, FindingRecord, open_export
from certirag.quantities.against import figure_against, stands_in
from certirag.quantities.compare import describe
from certirag.quantities.figured_sentence import read_sentence
from certirag.render.abstain import Grounds, missing_lines, with_suggestions
from certirag.render.badge import Badge, badge_of
from certirag.render.certify import decide_all, summarise
from certirag.render.checked_draft import CheckedDraft, checked_draft
from certirag.render.conflicts import Conflict, conflicts
from certirag.render.differences import differences, lone_name, words_of
from certirag.render.gate import Decision, RenderState, state_of
from certirag.render.inert import shortened
from certirag.render.probe_verdicts import PlantedView, ProbeView, probe_view
from certirag.render.why import NOT_NAMED, Why, is_low, telling, why, why_any

_DISAGREE: Final[Message] = "Your documents disagree, so neither side is verified."


class Mode(StrEnum):
    """What is shown (CertiRAG seed §4.1)."""

    STRICT = "strict"
    MIXED = "mixed"
    DEBUG = "debug"


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """One scored span with its chunk, for the drawer; *attached* spans carry the claim."""

    chunk: EvidenceChunk
    span: SentenceSpan
    score: SpanScore
    attached: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """One claim as drawn: the badge from the gate, the text to be drawn inert."""

    claim_id: str
    badge: Badge
    text: str
    findings: tuple[FindingRecord, ...]
    evidence: tuple[EvidenceView, ...]
    claim: Claim
    result: VerificationResult | None
    planted: tuple[PlantedView, ...] = ()

    @property
    def failures_first(self) -> tuple[FindingRecord, ...]:
        """The rules with their reasons: the failed ones first, the most telling of them ahead."""
        blocked = self.badge.kind == "contradicted"
        failed = [f for f in self.findings if not f.passed]
        failed.sort(key=lambda f: telling(f.rule, blocked=blocked))
        return (*failed, *(f for f in self.findings if f.passed))

    @property
    def why(self) -> Why:
        """Why there is no badge, in one sentence, and what would make the claim verifiable."""
        first = self.failures_first[0]
        if first.passed:
            return Why(said("Every rule passed."), "")
        return self._with_what_differs(first, self.plain(first))

    def plain(self, finding: FindingRecord) -> Why:
        """Return one of the claim's findings in plain words."""
        return why(finding.rule, finding.reason, passed=finding.passed, titles=self._titles)

    def plain_planted(self, error: PlantedView) -> str:
        """Return in plain words what came of an error that was planted in the claim."""
        return why_any(error.reason, titles=self._titles).sentence

    @property
    def _titles(self) -> frozenset[str]:
        return frozenset(view.chunk.source.title for view in self.evidence)

    def _with_what_differs(self, failed: FindingRecord, told: Why) -> Why:
        """Return *told* with the figure or name that the passage at issue has otherwise, if any."""
        together = failed.rule == "not_contradicted" and "“" not in told.sentence
        if failed.rule in ("entailed", "numbers") or together:
            nearest = self._nearest()
            differs = None if nearest is None else self._otherwise_in(nearest)
            if failed.rule == "numbers" and not differs:
                # Where a passage has all figures and names of the claim, none stands in the way.
                seen = [view.span.sentence for view in self.evidence if view.span.visible]
                stands = any(not differences(self.text, one).in_claim for one in seen)
                return why("entailed", "") if stands else told
            if differs or failed.rule != "entailed" or not is_low(failed.reason):
                return differs or told
            near = [view for view in self.evidence if view.attached or view is nearest]
            texts = "\n".join(f"{view.chunk.context}\n{view.span.sentence}" for view in near)
            name = lone_name(self.text, texts) if near else ""
            return why("numbers", f"{NOT_NAMED}{name}") if name else told
        own = {view.chunk.doc_id for view in self.evidence if view.attached}
        against = [v for v in self.evidence if is_score(v.score.contradicted) and v.span.visible]
        if failed.rule == "uncontested":
            against = [v for v in against if v.chunk.doc_id not in own]
        elif failed.rule != "not_contradicted":
            return told
        worst = max(against, key=lambda v: v.score.contradicted or 0.0, default=None)
        title = "" if worst is None else f"“{shortened(worst.chunk.source.title)}”"
        if worst is None or title not in told.sentence or not title.strip("“” "):
            return told
        pair = figure_against(self.text, worst.span.sentence)
        if pair is None:
            return told
        sentence = said(
            "It says {ours}; {title} says {theirs}.",
            ours=describe(pair[0]),
            title=title,
            theirs=describe(pair[1]),
        )
        return replace(told, sentence=sentence)

    def _nearest(self) -> EvidenceView | None:
        """Return the passage that shares most words with the claim, half of them at least.

        The one with the highest score may speak of anything where all scores are low.
        """
        words = words_of(self.text)
        views = [v for v in self.evidence if v.span.visible and is_score(v.score.entailed)]

        def shared(view: EvidenceView) -> int:
            return len(words & words_of(view.span.sentence))

        best = max(views, key=lambda v: (shared(v), v.score.entailed or 0.0), default=None)
        return None if best is None or 2 * shared(best) < len(words) else best

    def _otherwise_in(self, nearest: EvidenceView) -> Why | None:
        """Say which one figure or name *nearest* has otherwise, None where that is not clear."""
        passage = nearest.span.sentence
        pair = figure_against(self.text, passage)
        if pair is not None:
            attached = [v.span.sentence for v in self.evidence if v.attached]
            if any(stands_in(pair[0], read_sentence(sentence)) for sentence in attached):
                return None  # a nearer passage that is about another figure
            ours, theirs = map(describe, pair)
            return why("numbers", f"the claim says {ours}; the evidence says {theirs}")
        both = f"{nearest.chunk.context}\n{passage}"
        name, rival = lone_name(self.text, both), lone_name(passage, self.text)
        rest = words_of(self.text) - words_of(name)
        alike = 4 * len(rest & words_of(passage)) >= 3 * len(rest)
        if name and rival and alike and not lone_name(passage, f"{self.text}\n{rival}"):
            return why("numbers", f"the claim says “{name}” where the evidence says “{rival}”")
        found = differences(self.text, passage)
        own = [self.text[slice(*place)] for place in found.in_claim]
        others = [passage[slice(*place)] for place in found.in_passage]
        if len(own) != 1 or own[0].casefold() in both.casefold() or own[0] == name:
            return None
        if len(others) != 1:
            return why("numbers", f"the evidence does not say {own[0]}")
        return why("numbers", f"the claim says “{own[0]}” where the evidence says “{others[0]}”")


@dataclass(frozen=True, slots=True)
class Presentation:
    """An answer ready to draw.

    *shown* are open, *folded* are drawn collapsed with a warning, *hidden* says how many claims
    this mode leaves out altogether. *probe* says what came of planted errors, if any were asked for,
    *conflicts* where documents disagree over a claim. *draft* is what somebody pasted, where they
    did: what this mode hides is marked in their own words and has no chip. *missing* is what the answer lacks.
    """

    mode: Mode
    question: str
    headline: str
    shown: tuple[Chip, ...]
    folded: tuple[Chip, ...]
    hidden: int
    summary: AnswerSummary
    policy: Policy
    record: AnswerRecord
    probe: ProbeView | None = None
    conflicts: tuple[Conflict, ...] = ()
    draft: CheckedDraft | None = None
    missing: tuple[str, ...] = ()


def present(
    export: bytes,
    mode: Mode,
    *,
    trusted: Mapping[str, Ed25519PublicKey],
    floor: Policy | None = None,
) -> Presentation:
    """Return what *mode* shows of a signed *export*; CertificateError unless it holds.

    *floor* is the policy of whoever displays: what applies is its meet with the recorded one,
    so a display can only tighten.
    """
    record = open_export(export, trusted)
    policy = record.policy if floor is None else record.policy.meet(floor)
    claims = record.claim_ir.claims
    measured = (claims, record.verification, record.retrieval.chunks)
    decisions = decide_all(*measured, policy, record.probe)
    probe = None if record.probe is None else probe_view(record.probe, *measured)
    by_state: dict[RenderState, list[Chip]] = {state: [] for state in RenderState}
    chips = []
    for claim, decision in zip(claims, decisions, strict=True):
        chip = _chip(claim, decision, record, probe)
        by_state[state_of(decision)].append(chip)
        chips.append(chip)
    verified = tuple(by_state[RenderState.VERIFIED])
    unverified = tuple(by_state[RenderState.UNVERIFIED])
    blocked = tuple(by_state[RenderState.BLOCKED])
    shown = tuple(chips) if mode is Mode.DEBUG else verified
    folded = () if mode is Mode.DEBUG else unverified
    grounds = Grounds.of(record, policy)
    summary = with_suggestions(summarise(claims, decisions, grounds), record.answer.suggestions)
    found = conflicts(claims, grounds)
    draft = checked_draft(record, decisions, policy)
    return Presentation(
        mode=mode,
        question=record.question,
        headline=_headline(summary, disagree=bool(found)) if draft is None else draft.headline,
        shown=shown,
        folded=folded,
        hidden=0 if mode is Mode.DEBUG else len(blocked),
        summary=summary,
        policy=policy,
        record=record,
        probe=probe,
        conflicts=found,
        draft=draft,
        missing=missing_lines(claims, decisions, grounds, [chip.why.sentence for chip in chips]),
    )


def _headline(summary: AnswerSummary, *, disagree: bool) -> str:
    total = summary.basis.checkable if summary.basis else 0
    if not total:
        return said("No claim was found that could be checked.")
    if not summary.verified and disagree:
        return said(_DISAGREE)
    if not summary.verified:
        return said("The documents do not support an answer that may be shown.")
    if summary.reason_code == "RELATED_ONLY":
        return said("The documents say this on the topic; it may not answer the question.")
    if summary.reason_code == "PARTLY_ANSWERED":
        return said("The documents answer one part of the question; see below what is missing.")
    if total == 1:
        return said("The one claim is verified against the documents.")
    return said_n(
        "{n} of {total} claims is verified against the documents.",
        "{n} of {total} claims are verified against the documents.",
        summary.verified,
        total=total,
    )


def _chip(claim: Claim, decision: Decision, record: AnswerRecord, probe: ProbeView | None) -> Chip:
    results = [r for r in record.verification if r.claim_id == claim.id]
    result = results[0] if len(results) == 1 else None
    return Chip(
        claim_id=claim.id,
        badge=badge_of(decision),
        text=claim.text,
        findings=tuple(FindingRecord(f.rule, f.passed, f.reason) for f in decision.findings),
        evidence=() if result is None else _evidence(result, record),
        claim=claim,
        result=result,
        planted=() if probe is None else tuple(p for p in probe.planted if p.claim_id == claim.id),
    )


def _evidence(result: VerificationResult, record: AnswerRecord) -> tuple[EvidenceView, ...]:
    """Return the scored spans that resolve: attached ones as they are read, then by what they say."""
    chunks = {chunk.chunk_id: chunk for chunk in record.retrieval.chunks}
    attached = [(ref.chunk_id, ref.span_id) for ref in result.best_evidence]
    views = []
    for score in result.all_scores:
        chunk = chunks.get(score.chunk_id)
        spans = [] if chunk is None else [s for s in chunk.spans if s.span_id == score.span_id]
        if chunk is None or len(spans) != 1:
            continue
        span = spans[0]
        if chunk.text[span.start : span.end] != span.sentence:
            continue
        views.append(EvidenceView(chunk, span, score, (score.chunk_id, score.span_id) in attached))
    return tuple(
        sorted(
            views,
            key=lambda v: (
                attached.index((v.score.chunk_id, v.score.span_id))
                if v.attached
                else len(attached),
                -max(v.score.entailed or 0.0, v.score.contradicted or 0.0),
                v.score.chunk_id,
                v.span.start,
            ),
        )
    )
