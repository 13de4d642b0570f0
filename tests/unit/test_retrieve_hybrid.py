"""Fusion, reranking, caps and determinism of retrieval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from fakes import FakeEmbedder, chunk_of
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.adapters.index.local import LocalIndex
from certirag.adapters.rerankers.late_interaction import LateInteractionReranker
from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk
from certirag.errors import InputError, ModelError
from certirag.ports import Hit
from certirag.retrieve.hybrid import RetrievalOutcome, retrieve, retrieve_parts

TEXTS = (
    "Employees may carry five days of annual leave into the next year.",
    "Travel expenses above 250 euros need the approval of a manager.",
    "Remote work is possible for up to three days a week.",
    "Sick leave longer than three days needs a certificate.",
    "The notice period is four weeks to the end of a month.",
    "Expenses are paid within thirty days of approval.",
)
EMBEDDER = FakeEmbedder()
CORPUS = LocalIndex.of(
    [chunk_of(t, name=f"d{n}", title="Handbook") for n, t in enumerate(TEXTS)], EMBEDDER
)
RERANKER = LateInteractionReranker(EMBEDDER)


class FixedIndex:
    """An index whose two searches answer what they are told."""

    fingerprint = "f" * 64
    foreign = False

    def __init__(self, by_terms: Sequence[str], by_vector: Sequence[str]) -> None:
        self.by_terms = [Hit(c, 9.0 - n) for n, c in enumerate(by_terms)]
        self.by_vector = [Hit(c, 0.9 - n / 10) for n, c in enumerate(by_vector)]

    def chunks(self) -> Sequence[EvidenceChunk]:
        return ()

    def chunk(self, chunk_id: str) -> EvidenceChunk:
        return replace(chunk_of(f"Text of {chunk_id}."), chunk_id=chunk_id)

    def search_terms(self, query: str, *, limit: int) -> Sequence[Hit]:
        return self.by_terms[:limit]

    def search_vector(self, vector: np.ndarray, *, limit: int) -> Sequence[Hit]:
        return self.by_vector[:limit]


class FixedReranker:
    """A reranker that answers what it is told."""

    identity = ModelIdentity("reranker", "fixed", "1", "0" * 64)

    def __init__(self, *scores: float) -> None:
        self.scores = scores

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return self.scores


def ids(outcome: RetrievalOutcome) -> list[str]:
    """Return the names of the chunks kept, best first."""
    return [chunk.chunk_id for chunk in outcome.chunks]


def test_the_answering_chunk_comes_first_with_every_score() -> None:
    """The best chunk carries score and rank of each stage."""
    outcome = retrieve("How many days of annual leave?", CORPUS, EMBEDDER, RERANKER, max_chunks=3)
    best = outcome.chunks[0].retrieval
    assert ids(outcome)[0] == "d0#0"
    assert (best.bm25_rank, best.rank) == (1, 1)
    assert best.dense_rank is not None
    assert best.fused == round(1 / 61 + 1 / (60 + best.dense_rank), 6)
    assert None not in (best.bm25, best.dense, best.rerank, best.fused_rank)
    assert [chunk.retrieval.rank for chunk in outcome.chunks] == [1, 2, 3]


def test_a_chunk_that_one_search_missed_has_no_score_of_it() -> None:
    """A stage that did not find a chunk leaves None, not zero."""
    outcome = retrieve("annual", CORPUS, EMBEDDER, None, max_chunks=6)
    missed = [chunk.retrieval for chunk in outcome.chunks if chunk.chunk_id != "d0#0"]
    assert all(s.bm25 is None and s.bm25_rank is None and s.dense_rank for s in missed)


def test_fusion_is_the_sum_of_reciprocal_ranks() -> None:
    """1/(60 + rank) is added up over the searches that found a chunk."""
    index = FixedIndex(["a", "b", "c"], ["c", "a"])
    outcome = retrieve("q", index, EMBEDDER, None, max_chunks=9)
    assert {c.chunk_id: c.retrieval.fused for c in outcome.chunks} == {
        "a": round(1 / 61 + 1 / 62, 6),
        "b": round(1 / 62, 6),
        "c": round(1 / 63 + 1 / 61, 6),
    }
    assert ids(outcome) == ["a", "c", "b"]


def test_equal_fused_scores_are_ordered_by_chunk_id() -> None:
    """Chunks at mirrored ranks are equal, and their names decide."""
    assert ids(retrieve("q", FixedIndex("zb", "bz"), EMBEDDER, None, max_chunks=9)) == ["b", "z"]


def test_equal_rerank_scores_keep_the_fused_order() -> None:
    """A reranker that cannot tell two chunks apart does not reorder them."""
    index = FixedIndex("zya", "zya")
    outcome = retrieve("q", index, EMBEDDER, FixedReranker(0.1, 0.7, 0.1), max_chunks=9)
    assert ids(outcome) == ["y", "z", "a"]
    # Apart by less than the six decimals of the record is equal.
    outcome = retrieve("q", index, EMBEDDER, FixedReranker(0.1, 0.1 + 1e-8, 0), max_chunks=9)
    assert ids(outcome) == ["z", "y", "a"]


def test_negative_rerank_scores_are_ordered_too() -> None:
    """A logit below zero is a score like any other."""
    outcome = retrieve(
        "q", FixedIndex("abc", ""), EMBEDDER, FixedReranker(-9, -2, -4), max_chunks=9
    )
    assert ids(outcome) == ["b", "c", "a"]


@pytest.mark.parametrize(
    "scores", [(math.nan, 1.0, 1.0), (1.0, math.inf, 1.0), (1.0, 1.0), (1.0,) * 4, ()]
)
def test_a_reranker_that_fails_is_refused(scores: tuple[float, ...]) -> None:
    """NaN, infinity or a wrong number of scores stops retrieval; nothing is guessed."""
    with pytest.raises(ModelError, match="fixed"):
        retrieve("q", FixedIndex("abc", ""), EMBEDDER, FixedReranker(*scores), max_chunks=2)


def test_caps_say_what_they_left_out() -> None:
    """The pool and max_chunks each leave a line that counts what is missing."""
    index = FixedIndex("abcdef", "ghijkl")
    outcome = retrieve("q", index, EMBEDDER, None, max_chunks=2, pool=5)
    assert outcome.dropped == (
        "5 of 10 chunks found were left out by the pool",
        "3 of 5 ranked chunks were left out by max_chunks",
    )
    assert len(outcome.chunks) == 2


def test_nothing_dropped_is_an_empty_record() -> None:
    """When every chunk is kept, no line claims a loss."""
    assert retrieve("annual leave", CORPUS, EMBEDDER, RERANKER, max_chunks=6).dropped == ()


def test_a_question_without_terms_uses_vectors_alone() -> None:
    """Stop words only: BM25 finds nothing, vectors do, and the record says so."""
    outcome = retrieve("What is it?", CORPUS, EMBEDDER, RERANKER, max_chunks=6)
    assert len(outcome.chunks) == 6
    assert all(chunk.retrieval.bm25 is None for chunk in outcome.chunks)
    assert "by vectors alone" in outcome.dropped[0]


def test_settings_name_what_was_used() -> None:
    """The record holds caps, constants, corpus and both models."""
    chosen = retrieve("leave", CORPUS, EMBEDDER, RERANKER, max_chunks=2, pool=7).settings
    assert chosen["corpus"] == CORPUS.fingerprint
    assert chosen["reranker"] == "late-interaction/fake"
    assert (chosen["max_chunks"], chosen["pool"], chosen["rrf_k"]) == (2, 7, 60)
    assert retrieve("x", CORPUS, EMBEDDER, None, max_chunks=2).settings["reranker"] == "none"


@pytest.mark.parametrize("question", ["", " \n", "\u2003"])
def test_an_empty_question_is_refused(question: str) -> None:
    """Nothing is retrieved for nothing."""
    with pytest.raises(InputError, match="question is empty"):
        retrieve(question, CORPUS, EMBEDDER, RERANKER, max_chunks=2)


@pytest.mark.parametrize("cap", ["max_chunks", "pool", "rrf_k"])
def test_a_cap_below_one_is_refused(cap: str) -> None:
    """A cap that would keep nothing is an error that names it."""
    with pytest.raises(InputError, match=f"{cap}=0"):
        retrieve("leave", CORPUS, EMBEDDER, RERANKER, **{"max_chunks": 3, cap: 0})


def test_an_empty_corpus_gives_no_chunks() -> None:
    """A corpus without chunks is searched without an error."""
    assert retrieve("leave", LocalIndex.of((), EMBEDDER), EMBEDDER, RERANKER, max_chunks=3) == (
        RetrievalOutcome(
            (),
            (),
            {
                **retrieve("leave", CORPUS, EMBEDDER, RERANKER, max_chunks=3).settings,
                "corpus": LocalIndex.of((), EMBEDDER).fingerprint,
            },
        )
    )


def test_equal_texts_of_two_documents_both_stay() -> None:
    """A text that two documents hold is found twice: they are two sources."""
    twins = [chunk_of("Leave is thirty days.", name=name) for name in ("b", "a")]
    outcome = retrieve("leave", LocalIndex.of(twins, EMBEDDER), EMBEDDER, RERANKER, max_chunks=5)
    assert ids(outcome) == ["a#0", "b#0"]


@examples(60)
@given(st.text(alphabet=st.characters(), min_size=1, max_size=80))
def test_the_same_question_gives_an_equal_outcome(question: str) -> None:
    """Any question over the same corpus, with cold and with warm caches, is answered alike."""
    if not question.strip():
        return
    cold = LateInteractionReranker(EMBEDDER)
    first = retrieve(question, CORPUS, EMBEDDER, cold, max_chunks=4)
    assert retrieve(question, CORPUS, EMBEDDER, RERANKER, max_chunks=4) == first
    assert repr(retrieve(question, CORPUS, EMBEDDER, cold, max_chunks=4)) == repr(first)


def _parts(question: str, *parts: str, most: int = 4) -> RetrievalOutcome:
    return retrieve_parts(question, parts, CORPUS, EMBEDDER, RERANKER, max_chunks=most)


def test_each_part_of_a_question_is_searched_for() -> None:
    """The first of each search comes before the second of any, each chunk once."""
    question = "How much leave is carried over, and what is the notice period?"
    parts = ("How much leave is carried over", "what is the notice period?")
    outcome = _parts(question, *parts)
    assert len({c.chunk_id for c in outcome.chunks}) == len(outcome.chunks) == 4
    assert [c.retrieval.rank for c in outcome.chunks] == [1, 2, 3, 4]
    first = [
        retrieve(q, CORPUS, EMBEDDER, RERANKER, max_chunks=1).chunks[0].chunk_id
        for q in (question, *parts)
    ]
    assert [c.chunk_id for c in outcome.chunks][: len(set(first))] == list(dict.fromkeys(first))
    assert outcome.settings["parts"] == " | ".join(parts)
    assert any("left out by max_chunks" in note for note in outcome.dropped)


def test_a_question_in_one_part_is_searched_for_once() -> None:
    """Nothing of the outcome or its record differs."""
    question = "How much leave is carried over?"
    once = retrieve(question, CORPUS, EMBEDDER, RERANKER, max_chunks=4)
    assert _parts(question, question) == _parts(question) == once
