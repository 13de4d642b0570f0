"""Corrects an answer's citations: what is right stays, what is wrong is replaced or removed.

Most statements with a wrong citation are right and wrongly attributed (CiteFix, Maheshwari et al.
2025; fifth seed, Stage 5). Similarity only proposes sentences (`verification/proposals`); a citation is
made of one only when the verifier's entailment of the claim by it reaches the target and it does
not speak against the claim. Nothing here changes a claim's verdict or grants a badge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from certirag.core.citation import Citation, CitationJudgement, Correction
from certirag.core.claim import Claim, RiskClass
from certirag.core.text import EvidenceChunk, SpanRef
from certirag.core.verdict import VerificationResult
from certirag.errors import InputError
from certirag.ports import Verifier
from certirag.verification.candidates import EXTRA_PAIRS, Candidate, Candidates
from certirag.verification.citation_check import AGAINST, is_supported
from certirag.verification.opinion import verify_claims
from certirag.verification.places import find_cited
from certirag.verification.proposals import CorrectionStrategy
from certirag.verification.sufficient import ATTACH_TARGET

# Sentences that are proposed and judged for each claim.
MOST_PROPOSED: Final = 6
# Sentences as similar as this part of the most similar one count as no less close to the claim.
CLOSEST: Final = 0.95
# Citations that a claim of this class should have (RFC-0004 §6.2); every other class one.
_WANTED: Final[dict[RiskClass, int]] = {"comparative_claim": 2}


@dataclass(frozen=True, slots=True)
class _Support:
    """Sentences of one document that may be cited, and the score of the set they are of."""

    doc_id: str
    spans: tuple[SpanRef, ...]
    entailed: float


@dataclass(frozen=True, slots=True)
class _Search:
    """What was found to cite for one claim; *error* says that it could not be looked for.

    *closest* are the sentences most similar to the claim, whether or not they support it.
    """

    supports: tuple[_Support, ...] = ()
    closest: frozenset[SpanRef] = frozenset()
    error: str = ""


_NOT_SOUGHT: Final = _Search(error="a citation of the claim could not be judged")


def correct_citations(
    claims: Sequence[Claim],
    judgements: Sequence[CitationJudgement],
    chunks: Sequence[EvidenceChunk],
    verifier: Verifier,
    strategy: CorrectionStrategy,
    *,
    target: float = ATTACH_TARGET,
    against: float = AGAINST,
    cite_uncited: bool = True,
) -> tuple[Correction, ...]:
    """Return what becomes of each citation, claim by claim, the additions of a claim last.

    VALID citations are kept. Any other is replaced where a sentence of *chunks* supports the
    claim, and removed where none does or the claim's other citations support it already; only a
    WEAK one stays, as WEAK, where nothing supports the claim and no sentence anywhere is closer to
    it than those cited: what the verifier cannot confirm need not be wrong. A claim
    without a citation (unless *cite_uncited* is False), or of a class that asks for more, gains
    one by ADD_ALTERNATE. A citation that could not be judged is kept as it is and says so, and so
    is one for which the search for a better one failed, except that what does not exist goes.

    *target* and *against* are the policy's entailment and contradiction thresholds. Raises
    InputError for a judgement of a claim that is not among *claims* and for thresholds outside
    (0, 1], ModelError when the strategy's embedder gives no sound vectors.
    """
    of_claim: dict[str, list[CitationJudgement]] = {claim.id: [] for claim in claims}
    for judgement in judgements:
        claim_id = judgement.citation.claim_id
        if claim_id not in of_claim:
            raise InputError(
                f"a judged citation belongs to claim {claim_id!r}, which is not in the answer: "
                "give the answer's own claims"
            )
        of_claim[claim_id].append(judgement)
    for name, value in (("target", target), ("against", against)):
        if not 0.0 < value <= 1.0:
            raise InputError(f"{name}={value}: give a number above 0, at most 1")
    short = [c for c in claims if _is_short(c, of_claim[c.id], cite_uncited=cite_uncited)]
    found = _searched(short, of_claim, chunks, verifier, strategy, target, against)
    return tuple(
        correction
        for claim in claims
        for correction in _corrections(
            claim, of_claim[claim.id], found.get(claim.id, _NOT_SOUGHT), chunks
        )
    )


def keep_citations(citations: Sequence[Citation]) -> tuple[Correction, ...]:
    """Return KEEP for each citation: correction switched off, nothing judged, nothing changed."""
    reason = "citation correction is switched off"
    return tuple(Correction(c.claim_id, "KEEP", c, c, reason) for c in citations)


def corrected(corrections: Sequence[Correction]) -> tuple[Citation, ...]:
    """Return the citations that are left after *corrections*, in order."""
    return tuple(c.new for c in corrections if c.new is not None)


def _is_short(claim: Claim, judgements: Sequence[CitationJudgement], *, cite_uncited: bool) -> bool:
    """Say whether something to cite must be looked for."""
    if not judgements:
        return cite_uncited
    if any(j.error for j in judgements):
        return False  # how far short it falls is not known
    return _missing(claim, judgements) > 0


def _missing(claim: Claim, judgements: Sequence[CitationJudgement]) -> int:
    """Return how many citations *claim* lacks; several that support it together are enough."""
    valid = [j for j in judgements if j.verdict == "VALID"]
    if any(j.together for j in valid):
        return 0
    cited = {ref for j in valid for ref in j.evidence}
    return max(0, _WANTED.get(claim.risk_class, 1) - len(cited))


def _searched(
    claims: Sequence[Claim],
    of_claim: Mapping[str, Sequence[CitationJudgement]],
    chunks: Sequence[EvidenceChunk],
    verifier: Verifier,
    strategy: CorrectionStrategy,
    target: float,
    against: float,
) -> dict[str, _Search]:
    """Return for each claim what can be cited for it, everything judged in one batch."""
    pool = [(chunk, span) for chunk in chunks for span in chunk.spans if span.visible]
    texts = [claim.text for claim in claims]
    proposed = strategy.proposes(texts, pool, most=MOST_PROPOSED) if texts and pool else ()
    if proposed and len(proposed) != len(claims):
        return {claim.id: _Search(error="the strategy dropped claims") for claim in claims}
    known = {(chunk.chunk_id, span.span_id): (chunk, span) for chunk, span in pool}
    asked = []
    for at, claim in enumerate(claims):
        own = [(_key(c), c.share) for c in (proposed[at] if proposed else ()) if _key(c) in known]
        # the sentence is the pool's: whatever a strategy returns, it names places and no more
        sound = tuple(Candidate(*known[key], share) for key, share in own[:MOST_PROPOSED])
        asked.append(Candidates(claim, sound, 0, 0, 2 * EXTRA_PAIRS))
    results = verify_claims(asked, verifier)
    return {
        claim.id: _search(of_claim[claim.id], own, result, target, against)
        for claim, own, result in zip(claims, asked, results, strict=True)
    }


def _key(candidate: Candidate) -> tuple[str, str]:
    return candidate.chunk.chunk_id, candidate.span.span_id


def _search(
    judgements: Sequence[CitationJudgement],
    asked: Candidates,
    result: VerificationResult,
    target: float,
    against: float,
) -> _Search:
    if not asked.chosen:
        return _Search()
    if result.label == "error" or result.error:
        return _Search(error=result.error or "the verifier gave no sound judgement")
    most = max(c.share for c in asked.chosen)
    closest = frozenset(SpanRef(*_key(c)) for c in asked.chosen if c.share >= CLOSEST * most)
    return _Search(_supports(judgements, asked, result, target, against), closest)


def _supports(
    judgements: Sequence[CitationJudgement],
    asked: Candidates,
    result: VerificationResult,
    target: float,
    against: float,
) -> tuple[_Support, ...]:
    """Return what supports the claim: single sentences, or else several of one document.

    Of sentences that suffice, those of a document that the claim cites already come first: the
    author meant that one. Sentences of two documents that suffice only together are not proposed:
    a reader of either would not find the claim there, and the second is often there by chance.
    """
    documents = {c.chunk.chunk_id: c.chunk.doc_id for c in asked.chosen}
    order = {_key(c): at for at, c in enumerate(asked.chosen)}
    meant = {j.citation.doc_id for j in judgements}
    cited = {ref for j in judgements if j.verdict == "VALID" for ref in j.evidence}
    singles = [
        _Support(documents[s.chunk_id], (SpanRef(s.chunk_id, s.span_id),), s.entailed)
        for s in sorted(result.all_scores, key=lambda s: order[s.chunk_id, s.span_id])
        if s.label != "error" and not s.truncated and SpanRef(s.chunk_id, s.span_id) not in cited
        if s.entailed is not None and s.entailed >= target
        if s.contradicted is not None and s.contradicted < against
    ]
    singles.sort(key=lambda s: (s.doc_id not in meant, -s.entailed))  # stable: then by similarity
    if singles:
        return tuple(singles[: max(1, _missing(asked.claim, judgements))])
    if cited or not is_supported(result, target=target, against=against) or result.score is None:
        return ()
    named = {documents[ref.chunk_id] for ref in result.best_evidence}
    if len(named) > 1:
        return ()
    return (_Support(named.pop(), result.best_evidence, result.score),)


def _corrections(
    claim: Claim,
    judgements: Sequence[CitationJudgement],
    search: _Search,
    chunks: Sequence[EvidenceChunk],
) -> list[Correction]:
    """Return the corrections of one claim: its citations in order, then what is added."""
    left = list(search.supports)
    supported = any(j.verdict == "VALID" for j in judgements)
    done = []
    for judgement in judgements:
        old = judgement.citation
        if judgement.verdict == "VALID":
            done.append(_kept(judgement, judgement.reason))
        elif judgement.error:
            done.append(_kept(judgement, f"left as it is: {judgement.reason}"))
        elif left:
            new = left.pop(_nearest(old, left))
            reason = f"{judgement.reason}; the new place supports the claim"
            citation = Citation(claim.id, new.doc_id, spans=new.spans)
            done.append(Correction(claim.id, "REPLACE", old, citation, reason, new.entailed))
        elif search.error and not supported and judgement.verdict != "HALLUCINATED":
            reason = f"left as it is: no better one could be looked for ({search.error})"
            done.append(_kept(judgement, reason))
        elif not supported and not search.supports and _is_closest(judgement, search, chunks):
            reason = f"{judgement.reason}; nothing supports the claim, and nothing is closer to it"
            done.append(_kept(judgement, reason))
        else:
            reason = f"{judgement.reason}; {_why_removed(search, supported=supported)}"
            done.append(Correction(claim.id, "REMOVE", old, None, reason))
    for new in left:
        citation = Citation(claim.id, new.doc_id, spans=new.spans)
        reason = "this place supports the claim too" if supported else "this place supports it"
        done.append(Correction(claim.id, "ADD_ALTERNATE", None, citation, reason, new.entailed))
    return done


def _is_closest(
    judgement: CitationJudgement, search: _Search, chunks: Sequence[EvidenceChunk]
) -> bool:
    """Say whether a WEAK citation holds one of the sentences closest to the claim."""
    if judgement.verdict != "WEAK":
        return False
    spans = find_cited(judgement.citation, chunks).spans
    return any(SpanRef(chunk.chunk_id, span.span_id) in search.closest for chunk, span in spans)


def _why_removed(search: _Search, *, supported: bool) -> str:
    if supported or search.supports:
        return "another citation of the claim supports it"
    if search.error:
        return f"no better one could be looked for ({search.error})"
    return "nothing found in the sources supports the claim"


def _kept(judgement: CitationJudgement, reason: str) -> Correction:
    own = judgement.citation
    return Correction(own.claim_id, "KEEP", own, own, reason, judgement.entailed)


def _nearest(old: Citation, supports: Sequence[_Support]) -> int:
    """Return which of *supports* takes the place of *old*: the first of its document, or the first."""
    same = [at for at, support in enumerate(supports) if support.doc_id == old.doc_id]
    return same[0] if same else 0
