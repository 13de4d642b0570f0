"""The searches that a claim itself asks for: more evidence for it, and what speaks against it.

The claim is the query of the first (fifth seed, Stage 4 and Gap 3); of the second it is said who among
the documents in force opposes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.core.claim import Claim
from certirag.core.text import EvidenceChunk, SpanRef
from certirag.core.verdict import VerificationResult, is_score
from certirag.ports import Verifier
from certirag.quantities.find import find_quantities
from certirag.text.word_classes import PREPOSITIONS
from certirag.verification.candidates import (
    EXTRA_PAIRS,
    Candidates,
    choose_candidates,
    content_words,
)
from certirag.verification.lexical.framing import superseded
from certirag.verification.lexical.lemmas import lemma_of
from certirag.verification.lexical.lexicon import OPPOSITES
from certirag.verification.opinion import verify_claims

MAX_SEARCHES: Final = 2
# Chunks that the first search asks for; each further one asks for as many more.
FIRST_LIMIT: Final = 8
# New spans that one search may add to a claim's candidates.
MOST_NEW_SPANS: Final = 8
# Finds chunks for a query, best first: (query, limit).
Search = Callable[[str, int], Sequence[EvidenceChunk]]
# Verifies claims over their candidates, at whatever depth.
Verify = Callable[[Sequence[Candidates], Verifier], Sequence[VerificationResult]]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The results after the searches; *chunks* are those found besides, which the record needs.

    *candidates* are the claims with everything they were compared with, *searches* counts the
    queries, and *failed* says, one line each, which of them failed.
    """

    results: tuple[VerificationResult, ...]
    candidates: tuple[Candidates, ...]
    chunks: tuple[EvidenceChunk, ...]
    searches: int
    failed: tuple[str, ...] = ()


def needs_more(result: VerificationResult) -> bool:
    """Say whether more evidence could help: nothing supports the claim and nothing opposes it."""
    return result.verdict in ("UNSUPPORTED", "NEI") and result.label == "not_enough_info"


def verify_with_retrieval(
    candidates: Sequence[Candidates],
    verifier: Verifier,
    search: Search,
    *,
    max_searches: int = MAX_SEARCHES,
    verify: Verify = verify_claims,
) -> Retrieved:
    """Verify, then search again for the claims that found no evidence, at most *max_searches* times.

    The first query is the claim's text, the next its content words. A search that fails leaves
    the result as it was; more than `MAX_SEARCHES` searches are never made.
    """
    read = list(candidates)
    results = list(verify(read, verifier))
    chunks: dict[str, EvidenceChunk] = {}
    searches, failed = 0, []
    for turn in range(min(max_searches, MAX_SEARCHES)):
        widened: list[int] = []
        for at, result in enumerate(results):
            if not needs_more(result):
                continue
            searches += 1
            try:
                found = tuple(search(_query(read[at].claim.text, turn), FIRST_LIMIT * (turn + 1)))
            except Exception as error:  # noqa: BLE001  # a search that breaks brings no evidence
                failed.append(f"{result.claim_id}: the search failed ({type(error).__name__})")
                continue
            more = _widened(read[at], found)
            if len(more.chosen) > len(read[at].chosen):
                new = {s.chunk.chunk_id: s.chunk for s in more.chosen[len(read[at].chosen) :]}
                chunks.update(new)
                read[at] = more
                widened.append(at)
        if not widened:
            continue
        again = verify([read[at] for at in widened], verifier)
        for at, result in zip(widened, again, strict=True):
            results[at] = result
    return Retrieved(tuple(results), tuple(read), tuple(chunks.values()), searches, tuple(failed))


def _query(claim: str, turn: int) -> str:
    """Return the claim, and on the second turn its content words, in an order of their own."""
    return claim if turn == 0 else " ".join(sorted(content_words(claim))) or claim


def _widened(c: Candidates, found: Sequence[EvidenceChunk]) -> Candidates:
    """Return *c* with the best new spans of *found* after its own; what a cap leaves is counted."""
    known = {(s.chunk.chunk_id, s.span.span_id) for s in c.chosen}
    kept = {s.chunk.chunk_id: s.chunk for s in c.chosen}
    distinct = {
        chunk.chunk_id: chunk for chunk in found if kept.get(chunk.chunk_id, chunk) == chunk
    }
    (ranked,) = choose_candidates(
        [c.claim],
        tuple(distinct.values()),
        max_spans=len(known) + MOST_NEW_SPANS,
        max_pairs=len(known) + MOST_NEW_SPANS + EXTRA_PAIRS,
    )
    new = [s for s in ranked.chosen if (s.chunk.chunk_id, s.span.span_id) not in known]
    return replace(
        c,
        chosen=(*c.chosen, *new),
        dropped=c.dropped + ranked.dropped,
        needed_dropped=c.needed_dropped + ranked.needed_dropped,
    )


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
