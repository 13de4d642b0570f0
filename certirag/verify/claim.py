"""Candidate spans in, a measured opinion out; nothing here can say VERIFIED.

The steps of `verify_claims`, numbered as in the code:
  (1) one pair per claim and candidate span, judged in a single batch;
  (2) every judgement checked: what is not three sound numbers becomes the label ``error``;
  (3) the smallest set of spans that reaches the target is attached (`sufficient`);
  (4) the claim is judged once more without the attached sentences (load bearing).
Whether a score suffices is the policy's to say, in `render/rules.py`. No policy enters here: what
is measured and attached is the same under all of them, so that a stricter one can only lose badges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from certirag.core.claim import Claim
from certirag.core.text import SpanRef, pair_digest
from certirag.core.verdict import (
    VERDICT_OF_LABEL,
    Label,
    SpanScore,
    Verdict,
    VerificationResult,
)
from certirag.ports import Judgement, Pair, Verifier
from certirag.verify.candidates import Candidates
from certirag.verify.judge import judge_pairs
from certirag.verify.sufficient import SpanSet, attached_sets, pair_of

# Where no sentence and no heading is left to read, nothing supports the claim.
_NOTHING_LEFT: Final = Judgement("not_enough_info", 0.0, 1.0, 0.0)


def verify_claims(
    candidates: Sequence[Candidates], verifier: Verifier
) -> tuple[VerificationResult, ...]:
    """Return one result per claim, in order; a verifier that fails gives the label error.

    A claim that no set of spans supports is recorded all the same, with its best span.
    """
    pairs = [pair_of(c.claim, (s,)) for c in candidates for s in c.chosen]
    judgements = iter(judge_pairs(verifier, pairs))  # (1), (2)
    single = [[SpanSet((span,), next(judgements)) for span in c.chosen] for c in candidates]
    attached = attached_sets(candidates, single, verifier)  # (3)
    bare = _judge_without(candidates, attached, verifier)  # (4)
    return tuple(
        _result(c, sets, support, without)
        for c, sets, support, without in zip(candidates, single, attached, bare, strict=True)
    )


def _judge_without(
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


def _result(
    c: Candidates, single: Sequence[SpanSet], support: SpanSet | None, bare: Judgement | None
) -> VerificationResult:
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
    return VerificationResult(
        claim_id=c.claim.id,
        label=label,
        score=None if judged.label == "error" else judged.entailed,
        best_evidence=tuple(SpanRef(m.chunk.chunk_id, m.span.span_id) for m in support.members),
        all_scores=scores,
        verdict=_verdict(label, single),
        set_input_sha256=pair_digest(pair.claim, pair.evidence, pair.context),
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


def _verdict(label: Label, single: Sequence[SpanSet]) -> Verdict:
    topical = any(s.members[0].share >= 0.3 for s in single)
    if label == "not_enough_info" and not topical:
        return "NEI"
    return VERDICT_OF_LABEL[label]


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
        input_sha256=pair_digest(pair.claim, pair.evidence, pair.context),
        truncated=judgement.truncated,
        error=judgement.error,
        note=judgement.note,
    )
