"""How closely each claim is looked at: HIGH, MEDIUM or LOW confidence picks the depth of its check.

  HIGH    the spans that the gate needs and the best few, each judged alone; nothing else is asked
          while one of them suffices. Where none does, the claim is looked at as MEDIUM after all.
  MEDIUM  every candidate span, the smallest sufficient set, and the sentences beside it; where
          the claim is not supported, the part of it that is missing.
  LOW     as MEDIUM, and questions about the claim are put to the attached evidence alone; one
          that is answered otherwise, or not at all, takes the support back (fifth seed, Stage 4).

A closer look only adds scored spans and questions, each of which can only lose a badge, and every
span that shares `NEEDED_SHARE` of a claim is judged at each depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from certirag.core.claim import Claim
from certirag.core.generation import ModelIdentity
from certirag.core.verdict import QuestionRecord, Routing, VerificationResult
from certirag.ports import Judgement, Pair, Verifier
from certirag.verification.candidates import NEEDED_SHARE, Candidate, Candidates, content_words
from certirag.verification.judge import judge_pairs
from certirag.verification.opinion import (
    Opinion,
    is_topical,
    judged_spans,
    judged_without,
    measured_result,
    verdict_of,
)
from certirag.verification.parts import Missing, missing_part, part_pairs, parts_of
from certirag.verification.question_answers import question_records
from certirag.verification.routing import Route
from certirag.verification.sufficient import ATTACH_TARGET, SpanSet, attached_sets, pair_of

# The sentences beside the attached ones: what follows a sentence may take it back.

# For one claim: both sides of an attached sentence, and of a second one.
MOST_NEIGHBOURS: Final = 4


def neighbours_of(
    claim: Claim, attached: SpanSet | None, scored: Sequence[SpanSet], *, most: int
) -> tuple[Candidate, ...]:
    """Return the visible sentences beside those of *attached* that are not in *scored* yet.

    They stand in the same chunk, directly before or after; at most *most* and `MOST_NEIGHBOURS`.
    """
    if attached is None:
        return ()
    known = {(s.members[0].chunk.chunk_id, s.members[0].span.span_id) for s in scored}
    wanted = content_words(claim.text)
    found: dict[tuple[str, str], Candidate] = {}
    for member in attached.members:
        spans = member.chunk.spans
        at = next(i for i, span in enumerate(spans) if span.span_id == member.span.span_id)
        for beside in spans[max(0, at - 1) : at] + spans[at + 1 : at + 2]:
            place = (member.chunk.chunk_id, beside.span_id)
            if place not in known and beside.visible:
                share = len(wanted & content_words(beside.sentence)) / max(1, len(wanted))
                found[place] = Candidate(member.chunk, beside, round(share, 6))
    return tuple(found.values())[: max(0, min(most, MOST_NEIGHBOURS))]


# Of the spans that the gate can do without, how many of the best a HIGH claim is judged against.
HIGH_SPANS: Final = 6
DEPTHS: Final[tuple[Routing, ...]] = ("HIGH", "MEDIUM", "LOW")
# Puts questions about a claim to evidence: (claim, evidence, context) → the records of them.
Asker = Callable[[str, str, str], Sequence[QuestionRecord]]


@dataclass(slots=True)
class _Look:
    """One claim while it is looked at."""

    whole: Candidates
    depth: Routing
    read: Candidates
    single: list[SpanSet] = field(default_factory=list)
    support: SpanSet | None = None
    beside: list[SpanSet] = field(default_factory=list)
    pairs: int = 0

    @property
    def closer(self) -> bool:
        return self.depth != "HIGH"

    @property
    def spare(self) -> int:
        """Pairs of the claim's budget that are left, the reading without evidence set aside."""
        return self.whole.spare + len(self.whole.chosen) - self.pairs - 1


def verify_at_depths(
    candidates: Sequence[Candidates],
    routes: Sequence[Route],
    verifier: Verifier,
    *,
    ask: Asker | None = question_records,
    nei: bool = True,
) -> tuple[VerificationResult, ...]:
    """Return one result per claim, each looked at as closely as its route says.

    *ask* puts the questions of LOW claims (None: no questions); whatever it does instead of
    returning records takes the support back. *nei* False says UNSUPPORTED for NEI.
    Raises ValueError where *candidates* and *routes* differ in number.
    """
    looks = [_look(c, route) for c, route in zip(candidates, routes, strict=True)]
    _judge(looks, [look.read.chosen for look in looks], verifier)
    _escalate(looks, verifier)
    _attach(looks, verifier)
    _judge_beside(looks, verifier)
    bare = judged_without([k.read for k in looks], [k.support for k in looks], verifier)
    for look in looks:
        look.pairs += _asks_without(look)
    results = [
        measured_result(look.read, [*look.single, *look.beside], look.support, without)
        for look, without in zip(looks, bare, strict=True)
    ]
    missing = _missing_parts(looks, results, verifier)
    asked = [_asked(look, result, ask) for look, result in zip(looks, results, strict=True)]
    return tuple(
        _with_opinion(look, result, absent, questions, nei=nei)
        for look, result, absent, questions in zip(looks, results, missing, asked, strict=True)
    )


def _look(c: Candidates, route: Route) -> _Look:
    depth: Routing = route.routing if route.routing in DEPTHS else "LOW"
    if depth == "HIGH" and c.claim.risk_class == "comparative_claim":
        depth = "MEDIUM"  # a comparison is looked up in two places, which takes a search for sets
    read = c
    if depth == "HIGH":
        best = [s for s in c.chosen if s.share][:HIGH_SPANS]
        kept = tuple(s for s in c.chosen if s in best or _needed(s))
        left = len(c.chosen) - len(kept)
        read = replace(c, chosen=kept, dropped=c.dropped + left, spare=0)
    return _Look(c, depth, read)


def _needed(span: Candidate) -> bool:
    return span.share >= NEEDED_SHARE


def _judge(
    looks: Sequence[_Look], spans: Sequence[Sequence[Candidate]], verifier: Verifier
) -> None:
    judged = judged_spans([look.whole for look in looks], spans, verifier)
    for look, sets in zip(looks, judged, strict=True):
        look.single += sets
        look.pairs += len(sets)


def _escalate(looks: Sequence[_Look], verifier: Verifier) -> None:
    """Look at HIGH claims that no single span supports as at MEDIUM ones."""
    short = [
        look
        for look in looks
        if not look.closer and all(s.entailed < ATTACH_TARGET for s in look.single)
    ]
    left = [[s for s in k.whole.chosen if s not in k.read.chosen] for k in short]
    _judge(short, left, verifier)
    for look in short:
        place = {span: i for i, span in enumerate(look.whole.chosen)}
        look.single.sort(key=lambda s: place[s.members[0]])
        look.depth, look.read = "MEDIUM", look.whole


class _Counted:
    """A verifier that counts the pairs it is asked, by the claim's text."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.asked: Counter[str] = Counter()

    @property
    def identity(self) -> ModelIdentity:
        """The counted verifier's own."""
        return self._verifier.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Pass *pairs* on."""
        self.asked.update(pair.claim for pair in pairs)
        return self._verifier.judge(pairs)


def _attach(looks: Sequence[_Look], verifier: Verifier) -> None:
    counted = _Counted(verifier)
    sets = attached_sets([k.read for k in looks], [k.single for k in looks], counted)
    alike = Counter(look.whole.claim.text for look in looks)
    for look, support in zip(looks, sets, strict=True):
        text = look.whole.claim.text
        look.support = support
        look.pairs += counted.asked[text] // alike[text]


def _judge_beside(looks: Sequence[_Look], verifier: Verifier) -> None:
    """Judge the sentences beside the attached ones, for all but HIGH claims."""
    beside = [
        neighbours_of(k.whole.claim, k.support, k.single, most=k.spare)
        if k.closer and k.support
        else ()
        for k in looks
    ]
    judged = judged_spans([k.whole for k in looks], beside, verifier)
    for look, sets in zip(looks, judged, strict=True):
        look.beside = sets
        look.pairs += len(sets)


def _asks_without(look: _Look) -> int:
    if look.support is None:
        return 0
    return int(bool(pair_of(look.whole.claim, look.support.members).context.strip()))


def _missing_parts(
    looks: Sequence[_Look], results: Sequence[VerificationResult], verifier: Verifier
) -> list[Missing]:
    """Return the missing part of each claim that is neither supported nor contradicted."""
    found = [Missing("", ()) for _ in looks]
    asked = []
    for at, (look, result) in enumerate(zip(looks, results, strict=True)):
        open_ = result.label == "not_enough_info" and is_topical(look.single)
        if look.support is None or not open_ or not look.closer:
            continue
        parts = parts_of(look.whole.claim.text)[: max(0, look.spare)]
        if parts:
            pair = pair_of(look.whole.claim, look.support.members)
            asked.append((at, parts, part_pairs(parts, pair)))
    judgements = iter(judge_pairs(verifier, [pair for _, _, pairs in asked for pair in pairs]))
    for at, parts, pairs in asked:
        found[at] = missing_part(parts, [next(judgements) for _ in pairs])
        looks[at].pairs += len(pairs)
    return found


_BROKEN: Final = QuestionRecord("polarity", "Could questions be put?", "yes", "", "not_found")


def _asked(
    look: _Look, result: VerificationResult, ask: Asker | None
) -> tuple[QuestionRecord, ...]:
    """Put questions about a LOW claim that seems supported to its evidence."""
    if ask is None or look.depth != "LOW" or result.label != "entailed" or look.support is None:
        return ()
    pair = pair_of(look.whole.claim, look.support.members)
    try:
        records = tuple(ask(pair.claim, pair.evidence, pair.context))
    except Exception:  # noqa: BLE001  # whatever an asker does, it cannot leave the support whole
        return (_BROKEN,)
    if not all(isinstance(record, QuestionRecord) for record in records):
        return (_BROKEN,)
    return records


def _with_opinion(
    look: _Look,
    result: VerificationResult,
    missing: Missing,
    questions: tuple[QuestionRecord, ...],
    *,
    nei: bool,
) -> VerificationResult:
    """Return *result* with its depth, questions, missing part and verdict.

    A failed question takes the label ``entailed`` back; the scores stay as they were measured.
    """
    failed = [q for q in questions if q.outcome != "agree"]
    opinion = Opinion(
        label=result.label,
        score=result.score,
        topical=is_topical(look.single),
        parts=missing.labels,
        questions=tuple("differ" if q.outcome == "differ" else "not_found" for q in failed),
    )
    unsaid = "; ".join(dict.fromkeys(q.said for q in failed if q.outcome != "differ"))
    return replace(
        result,
        label="not_enough_info" if failed else result.label,
        verdict=verdict_of(opinion, nei=nei),
        depth=look.depth,
        questions=questions,
        missing_part=missing.words or unsaid,
    )
