"""Judges an answer's citations: whether what is cited exists, and whether it supports the claim.

The checks come in the order of what they cost, and the first that fails decides (Project 10,
Citation Integrity Validation): the source exists, the place in it exists, the quoted words stand
there, the claim is entailed. Only what has passed the first three is given to the verifier, by
`verify_claims`, so that a citation is measured exactly as a claim is. Citations of one claim that
support it only together are judged together (Gao et al. 2023, "Enabling Large Language Models to
Generate Text with Citations", ALCE).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from certirag.core.citation import Citation, CitationJudgement, CitationQuality
from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.errors import InputError
from certirag.ports import Verifier
from certirag.verification.candidates import EXTRA_PAIRS, Candidate, Candidates, choose_candidates
from certirag.verification.opinion import verify_claims
from certirag.verification.places import CitedPlace, Place, find_cited
from certirag.verification.sufficient import ATTACH_TARGET

# From this contradiction on a sentence speaks against the claim (DESIGN §2, rule 3).
AGAINST: Final = 0.70
# Below the target a citation is WEAK from this entailment on (Project 10: 0.50 to 0.80), or when
# one cited sentence holds this share of the claim's words; with less it is INVALID.
WEAK_FROM: Final = 0.50
TOPIC_SHARE: Final = 0.50
# Sentences of one cited place that are read, those that share most words with the claim first.
MOST_READ: Final = 12
MOST_TOGETHER: Final = 3


def judge_citations(
    claims: Sequence[Claim],
    citations: Sequence[Citation],
    chunks: Sequence[EvidenceChunk],
    verifier: Verifier,
    *,
    target: float = ATTACH_TARGET,
    against: float = AGAINST,
) -> tuple[CitationJudgement, ...]:
    """Return one judgement per citation, in order.

    *chunks* must hold every chunk of the sources that may be cited, for a place that is not among
    them is taken not to exist. *target* is the entailment score in (0, 1] that a VALID citation
    reaches, *against* the contradiction score from which a sentence opposes. A verifier that
    fails makes a citation INVALID with its error, never VALID. Raises InputError for a citation
    of a claim that is not among *claims*, and for a target or ceiling outside (0, 1].
    """
    _check(claims, citations, target=target, against=against)
    of_claim = {claim.id: claim for claim in claims}
    found = [find_cited(citation, chunks) for citation in citations]
    asked = [at for at, place in enumerate(found) if place.failed is None]
    read = {at: _candidates(of_claim[citations[at].claim_id], found[at].spans) for at in asked}
    results = dict(zip(asked, verify_claims([read[at] for at in asked], verifier), strict=True))
    judged = [
        _judged(citation, read[at], results[at], target, against)
        if at in results
        else _not_there(citation, found[at])
        for at, citation in enumerate(citations)
    ]
    return _with_joint_support(of_claim, judged, read, verifier, target, against)


def is_supported(result: VerificationResult, *, target: float, against: float) -> bool:
    """Say whether the attached sentences reach *target* and none of them speaks against."""
    if result.label == "error" or result.truncated or result.error or result.score is None:
        return False
    attached = {(ref.chunk_id, ref.span_id) for ref in result.best_evidence}
    opposed = any(
        (score.chunk_id, score.span_id) in attached
        and (score.contradicted is None or score.contradicted >= against)
        for score in result.all_scores
    )
    return result.score >= target and bool(attached) and not opposed


def citation_precision_recall(
    claim_ids: Sequence[str], judgements: Sequence[CitationJudgement]
) -> CitationQuality:
    """Return how well the claims in *claim_ids* are cited (ALCE §4; Project 10).

    Precision is the share of citations that are VALID, alone or needed beside others; a citation
    that exists but supports nothing counts against it. Recall is the share of *claim_ids* with a
    VALID citation: name every claim that needs one, cited or not. Citations of other claims are
    not counted. Unlike ALCE's, recall asks for one set of citations that supports the claim, not
    that all of them read in one go still do: a wrong citation beside a right one costs precision.
    """
    wanted = frozenset(claim_ids)
    counted = [j for j in judgements if j.citation.claim_id in wanted]
    valid = [j for j in counted if j.verdict == "VALID"]
    return CitationQuality(
        citations=len(counted),
        valid=len(valid),
        claims=len(wanted),
        supported=len({j.citation.claim_id for j in valid}),
    )


def _check(
    claims: Sequence[Claim], citations: Sequence[Citation], *, target: float, against: float
) -> None:
    known = {claim.id for claim in claims}
    for citation in citations:
        if citation.claim_id not in known:
            raise InputError(
                f"a citation belongs to claim {citation.claim_id!r}, which is not in the answer: "
                "give it the id of one of its claims"
            )
    for name, value in (("target", target), ("against", against)):
        if not 0.0 < value <= 1.0:
            raise InputError(f"{name}={value}: give a number above 0, at most 1")


def _candidates(claim: Claim, places: Sequence[Place]) -> Candidates:
    """Return the cited sentences as candidates for *claim*, and nothing else of their chunks."""
    spans = defaultdict(list)
    for chunk, span in places:
        spans[chunk.chunk_id].append(span)
    chunks = {chunk.chunk_id: chunk for chunk, _ in places}
    cut = [replace(chunk, spans=tuple(spans[name])) for name, chunk in chunks.items()]
    (chosen,) = choose_candidates(
        [replace(claim, evidence_candidates=())],
        cut,
        max_spans=MOST_READ,
        max_pairs=MOST_READ + 2 * EXTRA_PAIRS,
    )
    return chosen


def _not_there(citation: Citation, found: CitedPlace) -> CitationJudgement:
    return CitationJudgement(citation, "HALLUCINATED", found.reason, failed=found.failed)


def _judged(
    citation: Citation,
    read: Candidates,
    result: VerificationResult,
    target: float,
    against: float,
) -> CitationJudgement:
    """Return the judgement of a citation whose place exists."""
    base = CitationJudgement(
        citation,
        "INVALID",
        "",
        failed="entailment",
        entailed=result.score,
        evidence=result.best_evidence,
    )
    if result.label == "error" or result.error or result.truncated or result.score is None:
        error = result.error or "the verifier did not read all of it"
        return replace(base, entailed=None, reason=f"not judged: {error}", error=error)
    if is_supported(result, target=target, against=against):
        return replace(base, verdict="VALID", failed=None, reason="the cited place supports it")
    if any((s.contradicted or 0.0) >= against for s in result.all_scores):
        return replace(base, reason="the cited place speaks against it")
    closest = max((c.share for c in read.chosen), default=0.0)
    if result.score >= WEAK_FROM or closest >= TOPIC_SHARE:
        reason = "the cited place is about it, but does not say it"
        return replace(base, verdict="WEAK", reason=reason)
    return replace(base, reason="the cited place is about something else")


def _with_joint_support(
    of_claim: Mapping[str, Claim],
    judged: list[CitationJudgement],
    read: Mapping[int, Candidates],
    verifier: Verifier,
    target: float,
    against: float,
) -> tuple[CitationJudgement, ...]:
    """Judge together the citations of each claim that none of them supports alone.

    Those whose sentences are in the smallest set that supports the claim become VALID. A citation
    that could not be judged is given to nobody, for what was read of it is not known.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for at, judgement in enumerate(judged):
        if at in read and not judgement.error:
            groups[judgement.citation.claim_id].append(at)
    open_groups = {
        name: places
        for name, places in groups.items()
        if len(places) > 1 and all(judged[at].verdict != "VALID" for at in places)
    }
    asked = [
        Candidates(of_claim[name], _union([read[at] for at in places]), 0, 0, 2 * EXTRA_PAIRS)
        for name, places in open_groups.items()
    ]
    results = verify_claims(asked, verifier)
    final = list(judged)
    for places, result in zip(open_groups.values(), results, strict=True):
        if not is_supported(result, target=target, against=against):
            continue
        needed = set(result.best_evidence)
        for at in places:
            own = {(c.chunk.chunk_id, c.span.span_id) for c in read[at].chosen}
            mine = tuple(r for r in result.best_evidence if (r.chunk_id, r.span_id) in own)
            if mine and needed:
                needed -= set(mine)  # what one citation gives, a second one need not
                final[at] = replace(
                    judged[at],
                    verdict="VALID",
                    failed=None,
                    reason="the cited place supports it together with the other citations",
                    entailed=result.score,
                    evidence=mine,
                    together=True,
                )
    return tuple(final)


def _union(read: Sequence[Candidates]) -> tuple[Candidate, ...]:
    """Return the closest sentences of each citation, none of them twice."""
    taken = {
        (c.chunk.chunk_id, c.span.span_id): c for own in read for c in own.chosen[:MOST_TOGETHER]
    }
    return tuple(taken.values())
