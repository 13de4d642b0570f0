"""What speaks against a claim: how to search for it, and who among the documents in force says it.

A search with the claim's own words finds what supports it first; these queries look for the
contrary. Opposition counts when it is live: of another document than the support's, and of one
that is still in force (docs/adr/0006).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk, SpanRef
from certirag.core.verdict import VerificationResult, is_score
from certirag.quantities.find import find_quantities
from certirag.text.word_classes import PREPOSITIONS
from certirag.verification.lexical.framing import superseded
from certirag.verification.lexical.lemmas import lemma_of
from certirag.verification.lexical.opposites import OPPOSITES

# From here on a span speaks against a claim; as strict-1's own threshold for opposition.
OPPOSED: Final = 0.70
MOST_QUERIES: Final = 4
_AUXILIARY: Final = re.compile(
    r"\b(is|are|was|were|may|can|could|might|must|shall|should|will|would|has|have|had|does|do|did)"
    r"\b(?!\s+not\b)",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"\b(?:do|does|did)\s+not\s+|\s+not\b|\bnever\s+|(?<=\w)n['’]t\b", re.IGNORECASE
)
_NO: Final = re.compile(r"\b(?:no|none of the|neither)\s+", re.IGNORECASE)
_COMPARATIVES: Final = frozenset({"less", "fewer", "lower", "more", "higher", "larger", "shorter"})
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Opposing:
    """A span of another document that speaks against a claim, with its score in [0, 1]."""

    ref: SpanRef
    doc_id: str
    title: str
    sentence: str
    score: float


@dataclass(frozen=True, slots=True)
class Contest:
    """Both sides of a claim on which documents in force disagree."""

    claim_id: str
    supporting: tuple[SpanRef, ...]
    opposing: tuple[Opposing, ...]


def counter_queries(claim: str) -> tuple[str, ...]:
    """Return queries for spans against *claim*, at most `MOST_QUERIES`, without the claim itself.

    Its negated form, its form with an opposite word, and its form without figures, which finds
    the same matter with other ones.
    """
    found = [_turned(claim), *_opposite_forms(claim), _without_figures(claim)]
    distinct = dict.fromkeys(" ".join(query.split()) for query in found if query.strip())
    distinct.pop(" ".join(claim.split()), None)
    return tuple(distinct)[:MOST_QUERIES]


def opposition(
    claim: Claim,
    result: VerificationResult,
    chunks: Sequence[EvidenceChunk],
    *,
    superseded_documents: Collection[str] = (),
) -> tuple[Opposing, ...]:
    """Return the live spans against *claim* among the scored ones, strongest first.

    Spans of the supporting documents are no opposition: one document that speaks against itself
    is a contradiction, which its own rule finds. *superseded_documents* are ids of documents
    known to be out of force; one whose headings say so of it is left out too.
    """
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    supported = result.label == "entailed"
    own = {
        by_id[ref.chunk_id].doc_id
        for ref in result.best_evidence
        if supported and ref.chunk_id in by_id
    }
    found = []
    for score in result.all_scores:
        chunk = by_id.get(score.chunk_id)
        if chunk is None or not is_score(score.contradicted) or score.contradicted is None:
            continue
        if score.contradicted < OPPOSED or chunk.doc_id in own:
            continue
        if chunk.doc_id in superseded_documents or superseded(claim.text, chunk.context):
            continue
        ref = SpanRef(score.chunk_id, score.span_id)
        said = next((s.sentence for s in chunk.spans if s.span_id == score.span_id), "")
        title = chunk.source.title or chunk.doc_id
        found.append(Opposing(ref, chunk.doc_id, title, said, score.contradicted))
    return tuple(sorted(found, key=lambda o: (-o.score, o.ref.chunk_id, o.ref.span_id)))


def contest(result: VerificationResult, opposing: Sequence[Opposing]) -> Contest | None:
    """Return both sides of a supported claim that live documents oppose, or None."""
    if result.label != "entailed" or not opposing:
        return None
    return Contest(result.claim_id, result.best_evidence, tuple(opposing))


def with_opposition(result: VerificationResult, opposing: Sequence[Opposing]) -> VerificationResult:
    """Return *result* with the spans against it on record; nothing else of it changes."""
    return replace(result, opposing=tuple(o.ref for o in opposing))


def _turned(claim: str) -> str:
    """Return the claim negated, or without its negation; as it is where neither is in sight."""
    for pattern in (_NEGATION, _NO):
        if pattern.search(claim):
            return pattern.sub(" ", claim, count=1)
    if _AUXILIARY.search(claim):
        return _AUXILIARY.sub(r"\1 not", claim, count=1)
    return f"It is not so that {claim}"


def _opposite_forms(claim: str) -> list[str]:
    """Return the claim with the first words that have an opposite replaced, one at a time."""
    found = []
    for match in _WORD.finditer(claim):
        others = OPPOSITES.get(match.group().casefold()) or OPPOSITES.get(lemma_of(match.group()))
        if others:
            compared = claim[match.end() :].lstrip().startswith("than ")
            fitting = others & _COMPARATIVES if compared else others - PREPOSITIONS
            other = min(fitting or others)
            found.append(f"{claim[: match.start()]}{other}{claim[match.end() :]}")
        if len(found) == 2:
            break
    return found


def _without_figures(claim: str) -> str:
    """Return the claim without its amounts; its dates stay, for they say what it is about."""
    text = claim
    for quantity in reversed(find_quantities(claim)):
        if quantity.kind not in ("date", "year", "period"):
            text = text[: quantity.start] + text[quantity.end :]
    return text
