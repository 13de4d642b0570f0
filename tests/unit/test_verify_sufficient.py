"""The smallest set of spans that suffices is found, proved smallest, and paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes import chunk_of

from certirag.core.claim import Claim, RiskClass
from certirag.core.models import ModelIdentity
from certirag.core.text import EvidenceChunk, joined_evidence, pair_digest, shared_context
from certirag.core.verdict import VerificationResult
from certirag.ports import Judgement, Pair
from certirag.verification.candidates import (
    EXTRA_PAIRS,
    MOST_PAIR_SETS,
    MOST_PARTS,
    MOST_TRIPLE_SETS,
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


def test_one_span_that_suffices_is_attached_alone() -> None:
    """No set is judged where a single span reaches the target."""
    sets = {frozenset([ALPHA]): 0.9, frozenset([ALPHA, BETA]): 0.99}
    sentences, result, verifier = measured(sets, documents(ALPHA, BETA, GAMMA))
    assert sentences == [ALPHA]
    assert result.score == 0.9
    assert {len(read) for read in verifier.asked} == {1}


def test_two_spans_are_found_where_none_suffices_alone() -> None:
    """The pair is recorded with its own score, not with that of a member."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, GAMMA]): 0.93}
    sentences, result, verifier = measured(sets, documents(ALPHA, BETA, GAMMA, NOISE))
    assert sentences == [ALPHA, GAMMA]
    assert (result.score, result.label) == (0.93, "entailed")
    assert max(len(read) for read in verifier.asked) == 2


def test_of_two_sufficient_pairs_the_better_scored_is_attached() -> None:
    """Equal size: the higher score wins."""
    sets = {
        frozenset([ALPHA]): 0.4,
        frozenset([ALPHA, BETA]): 0.87,
        frozenset([ALPHA, GAMMA]): 0.95,
    }
    assert measured(sets, documents(ALPHA, BETA, GAMMA))[0] == [ALPHA, GAMMA]


def test_three_spans_are_found_over_a_bridge() -> None:
    """Where no two suffice, the span that adds most to the best two is tried with them."""
    sets = {
        frozenset([ALPHA]): 0.4,
        frozenset([ALPHA, GAMMA]): 0.6,
        frozenset([ALPHA, BETA, GAMMA]): 0.94,
    }
    sentences, result, _ = measured(sets, documents(ALPHA, BETA, GAMMA, NOISE))
    assert sentences == [ALPHA, BETA, GAMMA]
    assert result.score == 0.94


def test_a_redundant_member_is_dropped() -> None:
    """A set of three is given up for a part of it that nobody had judged before."""
    sets = {
        frozenset([ALPHA]): 0.4,
        frozenset([ALPHA, GAMMA]): 0.6,
        frozenset([ALPHA, BETA, GAMMA]): 0.97,
        frozenset([BETA, GAMMA]): 0.88,
    }
    sentences, result, verifier = measured(sets, documents(ALPHA, BETA, GAMMA, NOISE))
    assert sentences == [BETA, GAMMA]
    assert result.score == 0.88
    assert verifier.asked.count(frozenset([ALPHA, GAMMA])) == 1, "judged before, not again"


def test_every_attached_member_is_needed() -> None:
    """Whatever the scores, no part of the attached set was seen to reach the target."""
    sentences, _, verifier = measured(
        {frozenset([ALPHA]): 0.4, frozenset([ALPHA, BETA, GAMMA]): 0.94},
        documents(ALPHA, BETA, GAMMA),
    )
    whole = frozenset(sentences)
    parts = {whole - {one} for one in whole} | {frozenset([one]) for one in whole}
    assert len(whole) == 3
    assert parts <= set(verifier.asked)


def test_a_part_that_cannot_be_judged_leaves_no_support() -> None:
    """A set of three that was not shown to be smallest gets the label error."""
    sets = {
        frozenset([ALPHA]): 0.4,
        frozenset([ALPHA, GAMMA]): 0.6,
        frozenset([ALPHA, BETA, GAMMA]): 0.97,
    }
    _, result, _ = measured(sets, documents(ALPHA, BETA, GAMMA), broken=[frozenset([BETA, GAMMA])])
    assert result.label == "error"
    assert result.score is None


def test_where_nothing_suffices_the_best_span_shows_how_far_it_fell_short() -> None:
    """Sets below the target are not attached."""
    sets = {frozenset([BETA]): 0.5, frozenset([ALPHA, BETA]): 0.84}
    sentences, result, _ = measured(sets, documents(ALPHA, BETA, GAMMA))
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


def test_a_comparison_drops_the_third_and_never_the_second() -> None:
    """The minimum of the class bounds what may be dropped."""
    sets = {
        frozenset([ALPHA]): 0.95,
        frozenset([ALPHA, BETA, GAMMA]): 0.96,
        frozenset([BETA, GAMMA]): 0.9,
    }
    chunks = documents(ALPHA, BETA, GAMMA)
    assert measured(sets, chunks, risk="comparative_claim")[0] == [BETA, GAMMA]


def test_the_partner_over_a_bridge_comes_before_one_that_repeats() -> None:
    """With room for one set of two, it is the one that says what the first leaves unsaid."""
    repeats = [f"The Orlen crane was greased on day {n}." for n in range(5)]
    chunks = documents(ALPHA, *repeats, GAMMA)
    claim = Claim("c1", TEXT, "fact", "factual_lit_claim")
    (chosen,) = choose_candidates([claim], chunks, max_spans=20, max_pairs=240)
    verifier = Table({frozenset([ALPHA]): 0.4})
    verify_claims([replace(chosen, spare=2)], verifier)
    assert [read for read in verifier.asked if len(read) == 2] == [frozenset([ALPHA, GAMMA])]


def test_the_same_sentence_elsewhere_is_no_second_piece_of_evidence() -> None:
    """Sets hold different sentences."""
    _, _, verifier = measured({frozenset([ALPHA]): 0.4}, documents(ALPHA, ALPHA, BETA))
    for call in verifier.calls[1:]:
        for pair in call:
            read = pair.evidence.split("\n")
            assert len(set(read)) == len(read)


def test_the_digest_is_of_the_set_that_was_judged() -> None:
    """What the record says was given is what was given."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, GAMMA]): 0.93}
    chunks = [chunk_of(f"{ALPHA} {BETA} {GAMMA}", title="Crane file", section="History")]
    sentences, result, verifier = measured(sets, chunks)
    context = shared_context(chunks)
    given = pair_digest(TEXT, joined_evidence(sentences), context, chunks[0].text)
    assert sentences == [ALPHA, GAMMA]
    assert result.set_input_sha256 == given
    asked = [pair for call in verifier.calls for pair in call]
    assert given in {pair_digest(p.claim, p.evidence, p.context, p.window) for p in asked}
    assert result.score_without == 0.1, "the headings alone were judged"


def test_what_is_only_quoted_proves_nothing_together() -> None:
    """A set of two chunks has no window; a quoted sentence in it is found out all the same."""
    sets = {frozenset([ALPHA]): 0.4, frozenset([ALPHA, GAMMA]): 0.93}
    free = [chunk_of(f"{ALPHA} {BETA}"), chunk_of(GAMMA, place=1)]
    quoted = [chunk_of(f'He wrote: "{BETA} {ALPHA} {BETA}"'), free[1]]
    assert len(measured(sets, free)[0]) == 2
    assert len(measured(sets, quoted)[0]) == 1


@pytest.mark.parametrize("spare", range(12))
def test_the_spare_pairs_are_never_exceeded(spare: int) -> None:
    """Sets of two, sets of three, their parts and the reading without evidence all count."""
    sentences = [f"The Orlen crane and group {n} have a seat in Bremen." for n in range(9)]
    chunks = [chunk_of(" ".join(sentences), title="Crane file")]
    claim = Claim("c1", TEXT, "fact", "factual_lit_claim")
    (chosen,) = choose_candidates([claim], chunks, max_spans=20, max_pairs=240)
    threes = {
        frozenset([a, b, c]): 0.95
        for a in sentences
        for b in sentences
        for c in sentences
        if len({a, b, c}) == 3
    }
    verifier = Table(threes)
    (result,) = verify_claims([replace(chosen, spare=spare)], verifier)
    assert len(verifier.asked) - len(chosen.chosen) <= max(1, spare)
    everything = 1 + MOST_PAIR_SETS + MOST_PARTS
    assert len(result.best_evidence) == (3 if spare > everything else 1)


def test_single_spans_are_not_given_up_for_sets_of_three() -> None:
    """A long answer keeps its spans; a short one has pairs to spare for larger sets."""
    sentences = [f"Crane {n} has its seat in Bremen." for n in range(30)]
    chunks = documents(*sentences)
    many = [Claim(f"c{n}", TEXT, "fact", "factual_lit_claim") for n in range(12)]
    crowded: tuple[Candidates, ...] = choose_candidates(many, chunks, max_spans=20, max_pairs=240)
    assert {(len(c.chosen), c.spare) for c in crowded} == {(20 - EXTRA_PAIRS, EXTRA_PAIRS)}
    (alone,) = choose_candidates(many[:1], chunks, max_spans=20, max_pairs=240)
    assert alone.spare >= 1 + MOST_PAIR_SETS + MOST_TRIPLE_SETS + MOST_PARTS


def test_the_verifier_is_asked_in_few_calls() -> None:
    """At most five batches, whatever the number of claims."""
    chunks = documents(ALPHA, BETA, GAMMA, NOISE)
    claims = [Claim(f"c{n}", TEXT, "fact", "factual_lit_claim") for n in range(4)]
    candidates = choose_candidates(claims, chunks, max_spans=20, max_pairs=240)
    verifier = Table({frozenset([ALPHA, BETA, GAMMA]): 0.94})
    results = verify_claims(candidates, verifier)
    assert [len(r.best_evidence) for r in results] == [3, 3, 3, 3]
    assert len(verifier.calls) <= 5
