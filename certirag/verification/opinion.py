"""Candidate spans in, a measured opinion out; nothing here can say VERIFIED.

The steps of `verify_claims`, numbered as in the code:
  (1) one pair per claim and candidate span, judged in a single batch;
  (2) every judgement checked: what is not three sound numbers becomes the label ``error``;
  (3) the smallest set of spans that reaches the target is attached (`sufficient`);
  (4) the claim is judged once more without the attached sentences (load bearing).
Whether a score suffices is the policy's to say, in `render/rules.py`. No policy enters here: what
is measured and attached is the same under all of them, so that a stricter one can only lose badges.
How closely each claim is looked at besides is `depth`'s to say, which is built of the same steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.claim import Claim
from certirag.core.text import SpanRef, pair_digest
from certirag.core.verdict import (
    VERDICT_OF_LABEL,
    Label,
    Outcome,
    SpanScore,
    Verdict,
    VerificationResult,
)
from certirag.ports import Judgement, Pair, Verifier
from certirag.verification.candidates import Candidate, Candidates
from certirag.verification.judge import judge_pairs
from certirag.verification.sufficient import ATTACH_TARGET, SpanSet, attached_sets, pair_of

# The five verdicts from what was measured: one pure decision tree (fifth seed, Stage 4, Gap 4).
#
# is any candidate span about the topic?  no  → NEI
# does the evidence state all of it, as surely as evidence must to be attached, and no question differ?
#                                                              → SUPPORTED
# does it state the contrary, or answer a question otherwise?  → CONTRADICTED
# does it state a part, or leave a question open?              → PARTIAL
# otherwise                                                    → UNSUPPORTED

# A span that shares at least this part of a claim's content words is about its topic.
TOPIC_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Opinion:
    """All that the verdict on one claim rests on.

    *label* is the verifier's, of the attached set or of what opposes it, and *score* its support;
    *topical* says whether any candidate span reaches `TOPIC_SHARE`; *parts* are the labels of the
    claim's parts, where it was taken apart; *questions* what came of the questions put to the
    evidence.
    """

    label: Label
    score: float | None
    topical: bool
    parts: tuple[Label, ...] = ()
    questions: tuple[Outcome, ...] = ()


def verdict_of(opinion: Opinion, *, nei: bool = True) -> Verdict:
    """Return the verdict on one claim; *nei* False says UNSUPPORTED where no evidence was found.

    A measurement that failed (label ``error``) is NEI under either setting: nothing was found out.
    """
    if opinion.label == "error":
        return VERDICT_OF_LABEL["error"]
    if opinion.label == "contradicted" or "contradicted" in opinion.parts:
        return "CONTRADICTED"
    if opinion.label == "entailed":
        if "differ" in opinion.questions:
            return "CONTRADICTED"
        if "not_found" in opinion.questions:
            return "PARTIAL"
        # A verifier leans towards one word for what it only half believes: "supported" is said of
        # what evidence is attached for, whatever the policy asks besides.
        if opinion.score is not None and opinion.score >= ATTACH_TARGET:
            return "SUPPORTED"
    if not opinion.topical:
        return "NEI" if nei else "UNSUPPORTED"
    return "PARTIAL" if "entailed" in opinion.parts else "UNSUPPORTED"


# Where no sentence and no heading is left to read, nothing supports the claim.
_NOTHING_LEFT: Final = Judgement("not_enough_info", 0.0, 1.0, 0.0)


def verify_claims(
    candidates: Sequence[Candidates], verifier: Verifier
) -> tuple[VerificationResult, ...]:
    """Return one result per claim, in order; a verifier that fails gives the label error.

    A claim that no set of spans supports is recorded all the same, with its best span.
    """
    single = judged_spans(candidates, [c.chosen for c in candidates], verifier)  # (1), (2)
    attached = attached_sets(candidates, single, verifier)  # (3)
    bare = judged_without(candidates, attached, verifier)  # (4)
    return tuple(
        measured_result(c, sets, support, without)
        for c, sets, support, without in zip(candidates, single, attached, bare, strict=True)
    )


def judged_spans(
    candidates: Sequence[Candidates], spans: Sequence[Sequence[Candidate]], verifier: Verifier
) -> list[list[SpanSet]]:
    """Judge each claim against each of its *spans* alone, all of them in a single batch."""
    pairs = [
        pair_of(c.claim, (span,)) for c, own in zip(candidates, spans, strict=True) for span in own
    ]
    judgements = iter(judge_pairs(verifier, pairs))
    return [[SpanSet((span,), next(judgements)) for span in own] for own in spans]


def judged_without(
    candidates: Sequence[Candidates], attached: Sequence[SpanSet | None], verifier: Verifier
) -> list[Judgement | None]:
    """Judge each claim against titles and headings alone, without the attached sentences."""
    contexts = [
        "" if support is None else pair_of(c.claim, support.members).context
        for c, support in zip(candidates, attached, strict=True)
    ]
    pairs = [
        Pair(c.claim.text, context)
        for c, context in zip(candidates, contexts, strict=True)
        if context.strip()
    ]
    judgements = iter(judge_pairs(verifier, pairs))
    return [
        None if support is None else next(judgements) if context.strip() else _NOTHING_LEFT
        for context, support in zip(contexts, attached, strict=True)
    ]


def measured_result(
    c: Candidates, single: Sequence[SpanSet], support: SpanSet | None, bare: Judgement | None
) -> VerificationResult:
    """Return what was measured of one claim: its judged spans, the attached set, what is left.

    *support* None: the claim had no span. *bare* is the judgement without the attached sentences.
    """
    scores = tuple(_span_score(c.claim, s) for s in single)
    if support is None:
        reason = "" if c.dropped == 0 else "the pair budget left no span for this claim"
        return VerificationResult(
            claim_id=c.claim.id,
            label="error" if reason else "not_enough_info",
            score=0.0,
            best_evidence=(),
            all_scores=(),
            pairs_dropped=c.dropped,
            needed_dropped=c.needed_dropped,
            error=reason,
        )
    judged = support.judgement
    label = _label(judged, single)
    pair = pair_of(c.claim, support.members)
    without = None if bare is None or bare.label == "error" else bare.entailed
    score = None if judged.label == "error" else judged.entailed
    return VerificationResult(
        claim_id=c.claim.id,
        label=label,
        score=score,
        best_evidence=tuple(SpanRef(m.chunk.chunk_id, m.span.span_id) for m in support.members),
        all_scores=scores,
        verdict=verdict_of(Opinion(label, score, topical=is_topical(single))),
        set_input_sha256=pair_digest(pair.claim, pair.evidence, pair.context, pair.window),
        score_without=without,
        truncated=judged.truncated,
        pairs_dropped=c.dropped,
        needed_dropped=c.needed_dropped,
        error=judged.error,
    )


def _label(judged: Judgement, single: Sequence[SpanSet]) -> Label:
    """Return the set's own label; a contradiction elsewhere is said when nothing supports the claim."""
    if judged.label == "not_enough_info" and any(
        s.judgement.label == "contradicted" for s in single
    ):
        return "contradicted"
    return judged.label


def is_topical(single: Sequence[SpanSet]) -> bool:
    """Say whether any judged span is about the claim's topic."""
    return any(s.members[0].share >= TOPIC_SHARE for s in single)


def _span_score(claim: Claim, judged: SpanSet) -> SpanScore:
    (member,) = judged.members
    pair = pair_of(claim, judged.members)
    judgement = judged.judgement
    values: dict[Label, float | None] = {
        "entailed": judgement.entailed,
        "not_enough_info": judgement.not_enough_info,
        "contradicted": judgement.contradicted,
        "error": None,
    }
    failed = judgement.label == "error"
    return SpanScore(
        chunk_id=member.chunk.chunk_id,
        span_id=member.span.span_id,
        label=judgement.label,
        score=values[judgement.label],
        entailed=None if failed else judgement.entailed,
        not_enough_info=None if failed else judgement.not_enough_info,
        contradicted=None if failed else judgement.contradicted,
        input_sha256=pair_digest(pair.claim, pair.evidence, pair.context, pair.window),
        truncated=judgement.truncated,
        error=judgement.error,
        note=judgement.note,
    )
