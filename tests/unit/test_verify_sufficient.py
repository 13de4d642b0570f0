"""The smallest set of spans that suffices is found, proved smallest, and paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from fakes import chunk_of

from certirag.core.claim import Claim, RiskClass
from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk, joined_evidence, pair_digest, shared_context
from certirag.core.verdict import VerificationResult
from certirag.ports import Judgement, Pair
from certirag.verification.candidates import (
    EXTRA_PAIRS,
    MOST_SETS,
    Candidates,
    choose_candidates,
)
from certirag.verification.opinion import verify_claims

ALPHA = "The Orlen crane was bought from Keswick Lifting."
BETA = "Keswick Lifting is owned by the Dorrin group."
GAMMA = "The Dorrin group has its seat in Bremen."
NOISE = "The Orlen crane was painted in spring."
TEXT = "The Orlen crane was bought from a group with its seat in Bremen."


class Table:
    """A verifier with known scores: *scores* by the set of sentences read, else *rest*."""

    def __init__(self, scores: dict[frozenset[str], float], rest: float = 0.1) -> None:
        self.scores = scores
        self.rest = rest
        self.calls: list[list[Pair]] = []
        self.broken: set[frozenset[str]] = set()

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("verifier", "table", "1", "0" * 64)

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        self.calls.append(list(pairs))
        return [self._one(pair) for pair in pairs]

    def _one(self, pair: Pair) -> Judgement:
        read = frozenset(pair.evidence.split("\n"))
        if read in self.broken:
            return Judgement("error", 0.0, 0.0, 0.0, error="late")
        score = self.scores.get(read, self.rest)
        label = "entailed" if score >= 0.5 else "not_enough_info"
        return Judgement(label, score, round(1.0 - score, 6), 0.0)

    @property
    def asked(self) -> list[frozenset[str]]:
        return [frozenset(pair.evidence.split("\n")) for call in self.calls for pair in call]


def measured(
    scores: dict[frozenset[str], float],
    chunks: Sequence[EvidenceChunk],
    *,
    risk: RiskClass = "factual_lit_claim",
    max_pairs: int = 240,
    broken: Sequence[frozenset[str]] = (),
) -> tuple[list[str], VerificationResult, Table]:
    """Verify `TEXT` against *chunks*; return the attached sentences, the result, the verifier."""
    claim = Claim("c1", TEXT, "fact", risk)
    verifier = Table(scores)
    verifier.broken = set(broken)
    candidates = choose_candidates([claim], chunks, max_spans=20, max_pairs=max_pairs)
    (result,) = verify_claims(candidates, verifier)
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    sentences = [by_id[ref.chunk_id].span(ref.span_id).sentence for ref in result.best_evidence]
    return sentences, result, verifier


def documents(*sentences: str) -> list[EvidenceChunk]:
    """Return one document with a chunk for each sentence, in order."""
    return [chunk_of(text, place=n) for n, text in enumerate(sentences)]


def passage(*sentences: str) -> list[EvidenceChunk]:
    """Return one document of one chunk that holds the sentences, one behind the other."""
    return [chunk_of(" ".join(sentences))]


def test_one_span_that_suffices_is_attached_alone() -> None:
    """No set is judged where a single span reaches the target."""
    sets = {frozenset([ALPHA]): 0.9, frozenset([ALPHA, BETA]): 0.99}
    sentences, result, verifier = measured(sets, documents(ALPHA, BETA, GAMMA))
    assert sentences == [ALPHA]
    assert result.score == 0.9
    assert {len(read) for read in verifier.asked} == {1}


def test_two_spans_side_by_side_are_found_where_none_suffices_alone() -> None:
    """The pair is recorded with its own score, not with that of a member."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, GAMMA]): 0.93}
    sentences, result, verifier = measured(sets, passage(ALPHA, GAMMA, NOISE))
    assert sentences == [ALPHA, GAMMA]
    assert (result.score, result.label) == (0.93, "entailed")
    assert max(len(read) for read in verifier.asked) == 2


def test_a_sentence_without_a_word_of_the_claim_completes_the_one_before_it() -> None:
    """The neighbours of the best spans are scored too, so that a set may hold them."""
    strange = "Nobody had expected that."
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, strange]): 0.93}
    sentences, result, _ = measured(sets, passage(NOISE, ALPHA, strange))
    assert sentences == [ALPHA, strange]
    assert {score.span_id for score in result.all_scores} >= {
        r.span_id for r in result.best_evidence
    }


def test_sentences_with_another_between_them_are_no_proof() -> None:
    """A network was seen to join them to claims that what stands between denies."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, GAMMA]): 0.99}
    for chunks in (passage(ALPHA, NOISE, GAMMA), documents(ALPHA, GAMMA)):
        sentences, _, verifier = measured(sets, chunks)
        assert sentences == [ALPHA]
        assert frozenset([ALPHA, GAMMA]) not in verifier.asked


def test_of_two_sufficient_pairs_the_better_scored_is_attached() -> None:
    """Equal size: the higher score wins."""
    sets = {
        frozenset([ALPHA]): 0.4,
        frozenset([BETA, ALPHA]): 0.92,
        frozenset([ALPHA, GAMMA]): 0.95,
    }
    assert measured(sets, passage(BETA, ALPHA, GAMMA))[0] == [ALPHA, GAMMA]


def test_where_nothing_suffices_the_best_span_shows_how_far_it_fell_short() -> None:
    """Sets below the target are not attached; of two sentences 0.90 is asked."""
    sets = {frozenset([BETA]): 0.5, frozenset([ALPHA, BETA]): 0.89}
    sentences, result, _ = measured(sets, passage(ALPHA, BETA, GAMMA))
    assert sentences == [BETA]
    assert result.score == 0.5


def test_a_comparison_keeps_two_spans_though_one_would_do() -> None:
    """Its class asks for two pieces of evidence."""
    sets = {frozenset([ALPHA]): 0.95, frozenset([ALPHA, BETA]): 0.9}
    chunks = documents(ALPHA, BETA, GAMMA)
    sentences, _, _ = measured(sets, chunks, risk="comparative_claim")
    assert sentences == [ALPHA, BETA]


def test_sentences_of_two_documents_are_one_proof_of_a_comparison_alone() -> None:
    """A network was seen to join two unrelated sentences of two documents to a false claim."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, BETA]): 0.93}
    chunks = [chunk_of(ALPHA, name="d1"), chunk_of(BETA, name="d2"), chunk_of(NOISE, name="d3")]
    assert measured(sets, chunks)[0] == [ALPHA]
    assert measured(sets, chunks, risk="comparative_claim")[0] == [ALPHA, BETA]


def test_with_room_for_one_set_it_has_most_of_the_words() -> None:
    """The two sentences that together share most words with the claim are tried first."""
    repeats = [f"The Orlen crane was greased on day {n}." for n in range(5)]
    claim = Claim("c1", TEXT, "fact", "factual_lit_claim")
    (chosen,) = choose_candidates(
        [claim], passage(*repeats, ALPHA, GAMMA), max_spans=20, max_pairs=240
    )
    verifier = Table({frozenset([ALPHA]): 0.4})
    verify_claims([replace(chosen, spare=2)], verifier)
    assert [read for read in verifier.asked if len(read) == 2] == [frozenset([ALPHA, GAMMA])]


def test_the_same_sentence_elsewhere_is_no_second_piece_of_evidence() -> None:
    """Sets hold different sentences."""
    _, _, verifier = measured({frozenset([ALPHA]): 0.4}, passage(ALPHA, ALPHA, BETA))
    for call in verifier.calls[1:]:
        for pair in call:
            read = pair.evidence.split("\n")
            assert len(set(read)) == len(read)


def test_the_digest_is_of_the_set_that_was_judged() -> None:
    """What the record says was given is what was given."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, GAMMA]): 0.93}
    chunks = [chunk_of(f"{BETA} {ALPHA} {GAMMA}", title="Crane file", section="History")]
    sentences, result, verifier = measured(sets, chunks)
    context = shared_context(chunks)
    given = pair_digest(TEXT, joined_evidence(sentences), context, chunks[0].text)
    assert sentences == [ALPHA, GAMMA]
    assert result.set_input_sha256 == given
    asked = [pair for call in verifier.calls for pair in call]
    assert given in {pair_digest(p.claim, p.evidence, p.context, p.window) for p in asked}
    assert result.score_without == 0.1, "the headings alone were judged"


def test_what_is_only_quoted_proves_nothing_together() -> None:
    """A comparison over two chunks has no window; a quoted sentence in it is found out all the same."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, GAMMA]): 0.93}
    free = [chunk_of(f"{ALPHA} {BETA}"), chunk_of(GAMMA, place=1)]
    quoted = [chunk_of(f'He wrote: "{BETA} {ALPHA} {BETA}"'), free[1]]
    assert len(measured(sets, free, risk="comparative_claim")[0]) == 2
    assert len(measured(sets, quoted, risk="comparative_claim")[0]) == 1


@pytest.mark.parametrize("spare", range(12))
def test_the_spare_pairs_are_never_exceeded(spare: int) -> None:
    """Sets of two and the reading without evidence count."""
    sentences = [f"The Orlen crane and group {n} have a seat in Bremen." for n in range(9)]
    chunks = [chunk_of(" ".join(sentences), title="Crane file")]
    claim = Claim("c1", TEXT, "fact", "factual_lit_claim")
    (chosen,) = choose_candidates([claim], chunks, max_spans=20, max_pairs=240)
    verifier = Table({frozenset(pair): 0.95 for pair in pairwise(sentences)})
    (result,) = verify_claims([replace(chosen, spare=spare)], verifier)
    assert len(verifier.asked) - len(chosen.chosen) <= max(1, spare)
    assert len(result.best_evidence) == (2 if spare > 1 else 1)


def test_single_spans_are_not_given_up_for_sets() -> None:
    """A long answer keeps its spans; a short one has pairs to spare."""
    sentences = [f"Crane {n} has its seat in Bremen." for n in range(30)]
    chunks = documents(*sentences)
    many = [Claim(f"c{n}", TEXT, "fact", "factual_lit_claim") for n in range(12)]
    crowded: tuple[Candidates, ...] = choose_candidates(many, chunks, max_spans=20, max_pairs=240)
    assert {(len(c.chosen), c.spare) for c in crowded} == {(20 - EXTRA_PAIRS, EXTRA_PAIRS)}
    (alone,) = choose_candidates(many[:1], chunks, max_spans=20, max_pairs=240)
    assert alone.spare >= 1 + MOST_SETS


def test_what_stands_beside_the_best_spans_is_within_the_cap() -> None:
    """Neighbours take the places of the spans that share least."""
    related = [f"Crane {n} has its seat in Bremen." for n in range(6)]
    chunks = passage("Nobody saw it.", ALPHA, "Nobody did.", *related)
    claim = Claim("c1", TEXT, "fact", "factual_lit_claim")
    (chosen,) = choose_candidates([claim], chunks, max_spans=5, max_pairs=240)
    assert len(chosen.chosen) == 5
    assert chosen.dropped == len(related) + 3 - 5
    assert "Nobody did." in [c.span.sentence for c in chosen.chosen]


def test_the_verifier_is_asked_in_few_calls() -> None:
    """At most three batches, whatever the number of claims."""
    chunks = passage(NOISE, ALPHA, BETA)
    claims = [Claim(f"c{n}", TEXT, "fact", "factual_lit_claim") for n in range(4)]
    candidates = choose_candidates(claims, chunks, max_spans=20, max_pairs=240)
    verifier = Table({frozenset([ALPHA, BETA]): 0.94})
    results = verify_claims(candidates, verifier)
    assert [len(r.best_evidence) for r in results] == [2, 2, 2, 2]
    assert len(verifier.calls) <= 3
