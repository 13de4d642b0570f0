"""Preselection: which spans an answer may be written from, and what is said of the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from fakes import FakeEmbedder, WordReader, chunk_of

from certirag.core.generation import ModelIdentity
from certirag.core.text import EvidenceChunk
from certirag.drafting.extractive import claims_from_evidence
from certirag.errors import InputError, ModelError
from certirag.retrieve.preselect import (
    STRATEGIES,
    Preselection,
    PreselectionRules,
    every_span,
    preselect,
)

QUESTION = "How many days of annual leave do employees receive?"
LEAVE = chunk_of(
    "Employees receive 27 days of annual leave. Public holidays are not annual leave. "
    "The canteen opens at noon.",
    name="leave",
)
TRAVEL = chunk_of("Trips are approved by the line manager. Flights are booked early.", name="trip")


class WordReranker:
    """Scores a text by the words that it shares with the query, in a unit of its own."""

    identity = ModelIdentity("reranker", "words", "1", "0" * 64)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        asked = set(query.lower().split())
        return [10.0 * len(asked & set(text.lower().split())) - 7.0 for text in texts]


def chosen(*chunks: EvidenceChunk, **rules: object) -> Preselection:
    """Choose under *rules*, ranking by words."""
    return preselect(
        QUESTION,
        chunks,
        embedder=FakeEmbedder(),
        reranker=WordReranker(),
        rules=PreselectionRules(**rules),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_sentence_that_answers_comes_first(strategy: str) -> None:
    """Whatever ranks, every visible span is there, scored from 0 to 1, best first."""
    found = chosen(TRAVEL, LEAVE, strategy=strategy)
    assert found.spans[0].span.sentence == "Employees receive 27 days of annual leave."
    assert len(found.spans) == 5
    assert not found.dropped
    scores = [s.score for s in found.spans]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= s.relevance <= 1.0 for s in found.spans)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equal_input_gives_equal_output_whatever_the_order(strategy: str) -> None:
    """Ties fall to the place, not to the order in which chunks came."""
    twin = replace(TRAVEL, chunk_id="twin#0", doc_id="twin")
    forth = chosen(LEAVE, TRAVEL, twin, strategy=strategy).spans
    back = chosen(twin, TRAVEL, LEAVE, strategy=strategy).spans
    assert [(s.chunk.chunk_id, s.span.span_id, s.score) for s in forth] == [
        (s.chunk.chunk_id, s.span.span_id, s.score) for s in back
    ]


def test_the_extractive_compiler_takes_the_spans() -> None:
    """The candidates are chunk, span and score, in the order chosen."""
    claims = claims_from_evidence(
        QUESTION,
        chosen(LEAVE, TRAVEL).candidates,
        WordReader(),
        max_claims=3,
    ).claims
    assert [claim.text for claim in claims] == ["Employees receive 27 days of annual leave."]


def test_text_that_nobody_sees_is_never_chosen() -> None:
    """Neither with preselection nor without it, and the former says so."""
    hidden = chunk_of(
        "Employees receive 99 days of annual leave. The canteen opens at noon.", hidden=("99 days",)
    )
    found = chosen(hidden)
    assert [s.span.sentence for s in found.spans] == ["The canteen opens at noon."]
    assert found.dropped == ("1 spans left out: a reader of the page cannot see them",)
    assert [s.span.span_id for s in every_span([hidden]).spans] == ["s2"]


def test_a_span_that_does_not_resolve_is_left_out() -> None:
    """Its sentence is not what stands in the chunk."""
    first, *rest = LEAVE.spans
    forged = replace(LEAVE, spans=(replace(first, sentence="Employees receive 99 days."), *rest))
    found = chosen(forged)
    assert all(s.span.sentence != "Employees receive 99 days." for s in found.spans)
    assert found.dropped == ("1 spans left out: they do not resolve to their chunk's text",)


def test_lengths_are_filtered_but_a_row_may_be_longer() -> None:
    """A scrap and an endless sentence go; a table row of the same length stays."""
    endless = "Leave " + "and leave " * 60 + "ends."
    row = "Role: Team Lead; " + "; ".join(f"Limit {n}: {n}000 EUR" for n in range(30)) + "."
    found = chosen(chunk_of(f"Yes. {endless} {row}"))
    assert len(row) > 500
    assert [s.span.sentence for s in found.spans] == [row]
    assert found.dropped == (
        "1 spans left out: longer than 500 characters",
        "1 spans left out: shorter than 12 characters",
    )


def test_a_short_answer_is_not_filtered() -> None:
    """The seed's 50 characters would lose it."""
    short = chunk_of("The probation period lasts six months.")
    assert len(chosen(short).spans) == 1
    assert not chosen(short, min_characters=50).spans


def test_a_quantity_is_worth_a_little_more() -> None:
    """By exactly the boost, and the relevance is told without it."""
    plain = {s.span.span_id: s for s in chosen(LEAVE).spans}
    boosted = {s.span.span_id: s for s in chosen(LEAVE, numeric_boost=0.1).spans}
    assert [boosted[name].numeric for name in ("s1", "s2", "s3")] == [True, False, False]
    assert boosted["s1"].score == pytest.approx(plain["s1"].score + 0.1)
    assert boosted["s1"].relevance == plain["s1"].relevance
    assert boosted["s2"].score == plain["s2"].score


def test_caps_and_threshold_keep_the_best_and_say_what_went() -> None:
    """Each with its own line."""
    capped = chosen(LEAVE, TRAVEL, max_spans_per_source=1)
    assert sorted(s.chunk.doc_id for s in capped.spans) == ["leave", "trip"]
    assert capped.dropped == (
        "leave: 2 spans left out by the cap of 1 spans a source",
        "trip: 1 spans left out by the cap of 1 spans a source",
    )
    few = chosen(LEAVE, TRAVEL, max_spans=2)
    assert few.spans == chosen(LEAVE, TRAVEL).spans[:2]
    assert few.dropped == ("3 spans left out by the cap of 2 spans",)
    relevant = chosen(LEAVE, TRAVEL, strategy="keyword", threshold=0.5)
    assert [s.span.span_id for s in relevant.spans] == ["s1"]
    assert relevant.dropped == ("4 spans left out: relevance below 0.5",)


def test_switched_off_means_every_span_in_document_order() -> None:
    """Unranked, unfiltered, documents in the order found, chunks by their place."""
    late = replace(
        chunk_of("Yes. It ends.", name="leave", place=1),
        source=replace(LEAVE.source, start=500),
    )
    found = every_span([late, TRAVEL, LEAVE])
    assert [(s.chunk.chunk_id, s.span.span_id) for s in found.spans] == [
        *(("leave#0", name) for name in ("s1", "s2", "s3")),
        *(("leave#1", name) for name in ("s1", "s2")),
        *(("trip#0", name) for name in ("s1", "s2")),
    ]
    assert {s.score for s in found.spans} == {1.0}
    assert found.settings == {"strategy": "off"}


def test_no_chunks_and_no_words_are_no_error() -> None:
    """Nothing found gives nothing; a question of stop words ranks all alike by keyword."""
    assert not chosen().spans
    found = preselect(
        "What is it?",
        [LEAVE],
        embedder=FakeEmbedder(),
        reranker=WordReranker(),
        rules=PreselectionRules("keyword"),
    )
    assert {s.score for s in found.spans} == {0.0}


@pytest.mark.parametrize(
    "rules",
    [
        {"strategy": "best"},
        {"threshold": math.nan},
        {"threshold": 1.5},
        {"numeric_boost": -0.1},
        {"keyword_weight": 2.0},
        {"max_spans": 0},
        {"max_spans_per_source": 0},
        {"min_characters": 0},
        {"max_characters": 5},
    ],
)
def test_rules_that_cannot_be_meant_are_refused(rules: dict) -> None:
    """With the name of the field in the line."""
    with pytest.raises(InputError):
        PreselectionRules(**rules)


class FewScores(WordReranker):
    """Drops a score."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return super().score(query, texts)[1:]


class NanScores(WordReranker):
    """Gives what is no number."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [math.nan, *super().score(query, texts)[1:]]


class NanEmbedder(FakeEmbedder):
    """Gives vectors that are no numbers."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return super().embed(texts) * np.float32(np.nan)


class FewVectors(FakeEmbedder):
    """Drops a vector."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return super().embed(texts)[1:]


@pytest.mark.parametrize("reranker", [FewScores(), NanScores()])
def test_an_unsound_reranker_is_an_error(reranker: WordReranker) -> None:
    """Nothing is ranked by what was not measured."""
    with pytest.raises(ModelError, match="CERTIRAG_RERANKER"):
        preselect(QUESTION, [LEAVE], embedder=FakeEmbedder(), reranker=reranker)


@pytest.mark.parametrize("embedder", [NanEmbedder(), FewVectors()])
@pytest.mark.parametrize("strategy", ["semantic", "hybrid"])
def test_an_unsound_embedder_is_an_error(embedder: FakeEmbedder, strategy: str) -> None:
    """The same for vectors."""
    with pytest.raises(ModelError, match="CERTIRAG_EMBEDDER"):
        preselect(
            QUESTION,
            [LEAVE],
            embedder=embedder,
            reranker=WordReranker(),
            rules=PreselectionRules(strategy),  # type: ignore[arg-type]
        )
