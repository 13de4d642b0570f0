"""More evidence, and evidence against: found besides, never instead, and only where it is live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes import AlignedWords, chunk_of
from gate_cases import POLICY

from certirag.claims.compile import make_claim
from certirag.core.claim import Claim
from certirag.core.selector import with_selectors
from certirag.core.text import EvidenceChunk
from certirag.core.verdict import VerificationResult
from certirag.render import certify
from certirag.verification.candidates import Candidates, choose_candidates
from certirag.verification.further_search import (
    MAX_SEARCHES,
    MOST_QUERIES,
    OPPOSED,
    contest,
    counter_queries,
    needs_more,
    opposition,
    verify_with_retrieval,
    with_opposition,
)
from certirag.verification.opinion import verify_claims

LEAVE = "Full-time employees receive 27 days of annual leave per calendar year."
AGAINST = "Full-time employees receive 21 days of annual leave per calendar year."
CANTEEN = "The canteen opens at noon for guests of the house."
CLAIM = replace(make_claim(LEAVE, 0, len(LEAVE), ()), id="c1")


def candidates_of(chunks: Sequence[EvidenceChunk], claim: Claim = CLAIM) -> tuple[Candidates, ...]:
    """Return the candidates of one claim among *chunks*."""
    return choose_candidates([claim], chunks, max_spans=20, max_pairs=60)


def measured(chunks: Sequence[EvidenceChunk]) -> VerificationResult:
    """Return the claim's measurement over *chunks*."""
    return verify_claims(candidates_of(chunks), AlignedWords())[0]


def badge(result: VerificationResult, chunks: Sequence[EvidenceChunk]) -> bool:
    """Say whether the gate verifies the claim."""
    decisions, _ = certify([CLAIM], [result], with_selectors(chunks, [result]), POLICY)
    return decisions[0].render_state == "VERIFIED"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Guests may use the laundry.", "Guests may not use the laundry."),
        ("Guests may not use the laundry.", "Guests may use the laundry."),
        ("Staff do not pay for meals.", "Staff pay for meals."),
        ("No guests may smoke.", "guests may smoke."),
        ("Revenue rose in the spring.", "Revenue cut in the spring."),
        ("It takes more than a day.", "It takes fewer than a day."),
        ("The fee is $40 in 2024.", "The fee is in 2024."),
    ],
)
def test_queries_look_for_the_contrary(claim: str, expected: str) -> None:
    """Negated, opposite, and without the amounts; dates stay."""
    assert expected in counter_queries(claim)


@pytest.mark.parametrize("text", ["", " ", "not", "9 9 9", "x" * 3000, "🙂", "Guests use it."])
def test_queries_are_few_and_never_the_claim(text: str) -> None:
    """Any text; none of them is empty or the claim itself."""
    found = counter_queries(text)
    assert len(found) <= MOST_QUERIES
    assert all(query.strip() and query != text for query in found)


def test_a_live_document_against_it_is_opposition_and_both_sides_are_there() -> None:
    """The claim is marked with who says what; the marking changes no score."""
    chunks = [chunk_of(LEAVE, name="a"), chunk_of(AGAINST, name="b", title="Rules in force")]
    result = measured(chunks)
    found = opposition(CLAIM, result, chunks)
    assert [(o.doc_id, o.title, o.sentence) for o in found] == [("b", "Rules in force", AGAINST)]
    assert found[0].score >= OPPOSED
    both = contest(result, found)
    assert both is not None
    assert [ref.chunk_id for ref in both.supporting] == ["a#0"]
    assert [o.ref.chunk_id for o in both.opposing] == ["b#0"]
    marked = with_opposition(result, found)
    assert marked == replace(result, opposing=(found[0].ref,))
    assert not badge(marked, chunks)


def test_what_is_out_of_force_or_of_the_same_document_is_none() -> None:
    """By its own headings, by what the caller knows, or by standing beside the support."""
    support = chunk_of(LEAVE, name="a")
    old = [support, chunk_of(AGAINST, name="b", title="Leave rules (superseded)")]
    assert opposition(CLAIM, measured(old), old) == ()
    live = [support, chunk_of(AGAINST, name="b", title="Leave rules")]
    assert opposition(CLAIM, measured(live), live, superseded_documents={"b"}) == ()
    assert len(opposition(CLAIM, measured(live), live)) == 1
    same = [support, chunk_of(AGAINST, name="a", place=1)]
    assert opposition(CLAIM, measured(same), same) == ()


def test_a_claim_that_nothing_supports_is_not_contested() -> None:
    """It is contradicted: there are no two sides."""
    chunks = [chunk_of(AGAINST, name="b")]
    result = measured(chunks)
    found = opposition(CLAIM, result, chunks)
    assert len(found) == 1
    assert contest(result, found) is None


def test_unsound_scores_and_lost_chunks_are_no_opposition() -> None:
    """They are other rules' refusals; nothing raises."""
    chunks = [chunk_of(LEAVE, name="a"), chunk_of(AGAINST, name="b")]
    result = measured(chunks)
    odd = tuple(replace(s, contradicted=float("nan")) for s in result.all_scores)
    assert opposition(CLAIM, replace(result, all_scores=odd), chunks) == ()
    assert opposition(CLAIM, result, chunks[:1]) == ()


class Corpus:
    """Answers a search with what it was given, and keeps the queries."""

    def __init__(self, *answers: Sequence[EvidenceChunk] | Exception) -> None:
        self.answers = list(answers)
        self.queries: list[tuple[str, int]] = []

    def __call__(self, query: str, limit: int) -> Sequence[EvidenceChunk]:
        self.queries.append((query, limit))
        answer = self.answers.pop(0) if self.answers else ()
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_claim_without_evidence_is_searched_for_and_may_be_supported() -> None:
    """The claim is the query; what is found is returned for the record."""
    start, found = chunk_of(CANTEEN, name="a"), chunk_of(LEAVE, name="b")
    search = Corpus([found])
    given = verify_with_retrieval(candidates_of([start]), AlignedWords(), search)
    assert search.queries == [(LEAVE, 8)]
    assert (given.searches, given.chunks, given.failed) == (1, (found,), ())
    assert badge(given.results[0], [start, found])


@pytest.mark.parametrize("chunks", [[chunk_of(LEAVE, name="a")], [chunk_of(AGAINST, name="a")]])
def test_nothing_is_searched_for_what_is_settled(chunks: list[EvidenceChunk]) -> None:
    """Supported and contradicted claims need no more."""
    search = Corpus([chunk_of(LEAVE, name="z")])
    given = verify_with_retrieval(candidates_of(chunks), AlignedWords(), search)
    assert search.queries == []
    assert given.results == verify_claims(candidates_of(chunks), AlignedWords())


@pytest.mark.parametrize("asked", [0, 1, 2, 99])
def test_it_searches_at_most_twice(asked: int) -> None:
    """Whoever asks for more gets two; the second query differs and asks for more."""
    search = Corpus()
    candidates = candidates_of([chunk_of(CANTEEN)])
    given = verify_with_retrieval(candidates, AlignedWords(), search, max_searches=asked)
    assert given.searches == len(search.queries) == min(asked, MAX_SEARCHES)
    assert len(set(search.queries)) == len(search.queries)
    assert [limit for _, limit in search.queries] == sorted({limit for _, limit in search.queries})
    assert needs_more(given.results[0])


def test_a_search_that_breaks_leaves_the_result_as_it_was() -> None:
    """It is named, and no verdict is better for it."""
    candidates = candidates_of([chunk_of(CANTEEN)])
    given = verify_with_retrieval(candidates, AlignedWords(), Corpus(OSError(), OSError()))
    assert given.results == verify_claims(candidates, AlignedWords())
    assert given.failed == ("c1: the search failed (OSError)",) * 2


def test_what_was_scored_stays_scored() -> None:
    """New evidence comes after the old: no span that was read is pushed out by better ones."""
    start = [chunk_of("Employees receive notice of annual closing days.", name="a")]
    many = [
        chunk_of(f"At site {n} staff receive {n} days of annual leave.", name=f"n{n}")
        for n in range(40)
    ]
    given = verify_with_retrieval(candidates_of(start), AlignedWords(), Corpus(many))
    read = [(s.chunk_id, s.span_id) for s in given.results[0].all_scores]
    assert read[0] == ("a#0", "s1")
    assert given.results[0].pairs_dropped >= 30


def test_opposition_found_late_counts() -> None:
    """A search that brings the contrary ends in a contradiction."""
    given = verify_with_retrieval(
        candidates_of([chunk_of(CANTEEN, name="a")]),
        AlignedWords(),
        Corpus([chunk_of(LEAVE, name="b"), chunk_of(AGAINST, name="c")]),
    )
    chunks = [chunk_of(CANTEEN, name="a"), *given.chunks]
    assert not badge(given.results[0], chunks)
    assert len(opposition(CLAIM, given.results[0], chunks)) == 1


def test_another_text_under_a_known_chunk_id_is_not_taken() -> None:
    """A search cannot swap the evidence that was read."""
    start = chunk_of("Employees receive notice of annual closing days.", name="a")
    swapped = chunk_of(LEAVE, name="a")
    assert start.chunk_id == swapped.chunk_id
    search = Corpus([swapped], [swapped])
    given = verify_with_retrieval(candidates_of([start]), AlignedWords(), search)
    assert [s.chunk for c in given.candidates for s in c.chosen] == [start]
    assert given.searches == MAX_SEARCHES
