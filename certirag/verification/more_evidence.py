"""A second look for evidence, with the claim as the query (fifth seed, Stage 4 and Gap 3).

Off unless somebody switches it on. What is found is added to what was scored and never takes its
place: a span that spoke against the claim goes on doing so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.ports import Verifier
from certirag.verification.candidates import (
    EXTRA_PAIRS,
    Candidates,
    choose_candidates,
    content_words,
)
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
