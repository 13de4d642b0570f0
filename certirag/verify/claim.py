"""Candidate spans in, a measured opinion out; nothing here can say VERIFIED.

The steps of `verify_claims`, numbered as in the code:
  (1) one pair per claim and candidate span, judged in a single batch;
  (2) every judgement checked: what is not three sound numbers becomes the label ``error``;
  (3) the smallest set of spans that reaches the target is attached (seed §7.2);
  (4) the claim is judged once more without the attached sentences (load bearing).
Whether a score suffices is the policy's to say, in `render/rules.py`. No policy enters here: what
is measured and attached is the same under all of them, so that a stricter one can only lose badges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.claim import Claim, RiskClass
from certirag.core.text import SpanRef, joined_evidence, pair_digest, shared_context
from certirag.core.verdict import (
    VERDICT_OF_LABEL,
    Label,
    SpanScore,
    Verdict,
    VerificationResult,
)
from certirag.ports import Judgement, Pair, Verifier
from certirag.verify.candidates import EXTRA_PAIRS, Candidate, Candidates
from certirag.verify.judge import judge_pairs

# Where the search for a smallest set of spans ends (CertiRAG seed §7.2, its example threshold).
ATTACH_TARGET: Final = 0.85
# A comparison is looked up in two places (RFC-0004 §6.2); every other class in one.
_WANTED: Final[dict[RiskClass, int]] = {"comparative_claim": 2}


@dataclass(frozen=True, slots=True)
class _Set:
    """Spans judged together, in reading order."""

    members: tuple[Candidate, ...]
    judgement: Judgement

    @property
    def entailed(self) -> float:
        return self.judgement.entailed if self.judgement.label != "error" else -1.0


def verify_claims(
    candidates: Sequence[Candidates], verifier: Verifier
) -> tuple[VerificationResult, ...]:
    """Return one result per claim, in order; a verifier that fails gives the label error.

    A set that does not reach `ATTACH_TARGET` is recorded all the same.
    """
    pairs = [_pair(c.claim, (s,)) for c in candidates for s in c.chosen]
    judgements = iter(judge_pairs(verifier, pairs))  # (1), (2)
    single = {
        c.claim.id: [_Set((span,), next(judgements)) for span in c.chosen] for c in candidates
    }
    together = _judge_sets(candidates, single, verifier)
    attached = {c.claim.id: _attach(c, single, together) for c in candidates}  # (3)
    bare = _judge_without(candidates, attached, verifier)  # (4)
    return tuple(
        _result(c, single[c.claim.id], attached[c.claim.id], bare.get(c.claim.id))
        for c in candidates
    )


def _pair(claim: Claim, spans: Sequence[Candidate]) -> Pair:
    """Return what the verifier sees: the claim's text, the sentences, their headings."""
    context = shared_context([span.chunk for span in spans])
    sentences = [span.span.sentence for span in spans]
    return Pair(claim.text, joined_evidence(sentences), context)


def _judge_sets(
    candidates: Sequence[Candidates],
    single: Mapping[str, Sequence[_Set]],
    verifier: Verifier,
) -> dict[str, list[_Set]]:
    """Judge several spans together where one does not suffice, by score or by class."""
    tried: dict[str, list[tuple[Candidate, ...]]] = {}
    pairs = []
    for c in candidates:
        ranked = _ranked(single[c.claim.id])
        wanted = _WANTED.get(c.claim.risk_class, 1)
        if len(ranked) < 2 or (wanted == 1 and ranked[0].entailed >= ATTACH_TARGET):
            continue
        first = ranked[0].members[0]
        partners = _partners(first, ranked[1:], apart=wanted > 1)
        for at in range(0, len(partners), max(1, wanted - 1)):
            chosen = (first, *partners[at : at + max(1, wanted - 1)])
            members = tuple(sorted(chosen, key=lambda m: (m.chunk.chunk_id, m.span.start)))
            tried.setdefault(c.claim.id, []).append(members)
            pairs.append(_pair(c.claim, members))
    judgements = iter(judge_pairs(verifier, pairs))
    return {
        claim_id: [_Set(members, next(judgements)) for members in sets]
        for claim_id, sets in tried.items()
    }


def _partners(first: Candidate, others: Sequence[_Set], *, apart: bool) -> list[Candidate]:
    """Return the spans to try beside *first*.

    Neighbours in its chunk come first, for there the rest of a thought stands; where a class
    asks for several pieces of evidence (*apart*), the best-scored ones with other words do.
    """
    spans = [o.members[0] for o in others if o.members[0].span.sentence != first.span.sentence]
    near = [s for s in spans if not apart and s.chunk.chunk_id == first.chunk.chunk_id]
    return [*near, *(s for s in spans if s not in near)][: EXTRA_PAIRS - 1]


def _ranked(sets: Sequence[_Set]) -> list[_Set]:
    return sorted(sets, key=lambda s: (-s.entailed, s.members[0].chunk.chunk_id))


def _attach(
    c: Candidates,
    single: Mapping[str, Sequence[_Set]],
    together: Mapping[str, Sequence[_Set]],
) -> _Set | None:
    """Return the smallest set that reaches the target and the class's number of spans.

    Where none does, the best single span is attached, so that the record shows how far it
    fell short.
    """
    ranked = _ranked(single[c.claim.id])
    if not ranked:
        return None
    wanted = _WANTED.get(c.claim.risk_class, 1)
    if wanted == 1 and ranked[0].entailed >= ATTACH_TARGET:
        return ranked[0]
    enough = [
        s
        for s in together.get(c.claim.id, ())
        if s.entailed >= ATTACH_TARGET and len(s.members) >= wanted
    ]
    return _ranked(enough)[0] if enough else ranked[0]


def _judge_without(
    candidates: Sequence[Candidates],
    attached: Mapping[str, _Set | None],
    verifier: Verifier,
) -> dict[str, Judgement]:
    """Judge each claim against titles and headings alone, without the attached sentences."""
    bare: dict[str, Judgement] = {}
    asked = []
    for c in candidates:
        support = attached[c.claim.id]
        if support is None:
            continue
        context = _pair(c.claim, support.members).context
        if context.strip():
            asked.append((c.claim.id, Pair(c.claim.text, context)))
        else:  # nothing is left to read, so nothing supports the claim
            bare[c.claim.id] = Judgement("not_enough_info", 0.0, 1.0, 0.0)
    judgements = judge_pairs(verifier, [pair for _, pair in asked])
    return bare | {name: j for (name, _), j in zip(asked, judgements, strict=True)}


def _result(
    c: Candidates, single: Sequence[_Set], support: _Set | None, bare: Judgement | None
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
    pair = _pair(c.claim, support.members)
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


def _label(judged: Judgement, single: Sequence[_Set]) -> Label:
    """Return the set's own label; a contradiction elsewhere is said when nothing supports the claim."""
    if judged.label == "not_enough_info" and any(
        s.judgement.label == "contradicted" for s in single
    ):
        return "contradicted"
    return judged.label


def _verdict(label: Label, single: Sequence[_Set]) -> Verdict:
    topical = any(s.members[0].share >= 0.3 for s in single)
    if label == "not_enough_info" and not topical:
        return "NEI"
    return VERDICT_OF_LABEL[label]


def _span_score(claim: Claim, judged: _Set) -> SpanScore:
    (member,) = judged.members
    pair = _pair(claim, judged.members)
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
