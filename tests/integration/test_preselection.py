"""Preselection over the demo questions: how high each strategy ranks the expected sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from integration_fixtures import Bench, part_of, questions

from certirag.drafting.extractive import QuotableSentence, claims_from_evidence
from certirag.retrieve.hybrid import RetrievalOutcome, retrieve
from certirag.retrieve.preselect import (
    STRATEGIES,
    PreselectionRules,
    every_span,
    preselect,
)

CUTS = (1, 3, 5, 10)
Ranks = list[int | None]


@pytest.fixture(scope="module")
def found(bench: Bench) -> list[tuple[dict, RetrievalOutcome]]:
    """Retrieve for each question that has an answer, once for all strategies."""
    services = bench.services
    return [
        (
            question,
            retrieve(
                question["question"],
                bench.index(question["corpus"]),
                services.embedder,
                services.reranker,
                max_chunks=services.settings.max_chunks,
            ),
        )
        for question in part_of([one for one in questions() if one["must_verify"]], 3)
    ]


def ranks_of(question: dict, candidates: Sequence[QuotableSentence]) -> Ranks:
    """Return the 1-based rank of the first span that holds each expected statement."""
    texts = [f"{c.chunk.context} {c.span.sentence}".casefold() for c in candidates]
    return [
        next(
            (n for n, text in enumerate(texts, 1) if all(w.casefold() in text for w in words)),
            None,
        )
        for words in question["must_verify"]
    ]


def reciprocal(ranks: Ranks) -> float:
    """Return the mean reciprocal rank; what is not there counts as 0."""
    return sum(1 / rank for rank in ranks if rank) / len(ranks)


def within(ranks: Ranks, cut: int) -> float:
    """Return the share of ranks up to *cut*."""
    return sum(rank is not None and rank <= cut for rank in ranks) / len(ranks)


@pytest.mark.slow
def test_how_high_each_strategy_ranks_what_is_expected(
    bench: Bench,
    found: list[tuple[dict, RetrievalOutcome]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Printed for each; preselection loses no expected sentence that the chunks hold."""
    rules = {name: PreselectionRules(name) for name in STRATEGIES}
    rules["hybrid, boost 0.05"] = replace(rules["hybrid"], numeric_boost=0.05)
    rules["rerank, boost 0.05"] = replace(rules["rerank"], numeric_boost=0.05)
    ranks: dict[str, Ranks] = {"off": []}
    compiled: dict[str, int] = {"off": 0}
    for question, outcome in found:
        chosen = {"off": every_span(outcome.chunks).candidates}
        for name, rule in rules.items():
            chosen[name] = preselect(
                question["question"],
                outcome.chunks,
                embedder=bench.services.embedder,
                reranker=bench.services.reranker,
                rules=rule,
            ).candidates
        for name, candidates in chosen.items():
            ranks.setdefault(name, []).extend(ranks_of(question, candidates))
            reader = bench.services.reader
            claims = claims_from_evidence(
                question["question"], candidates, reader, max_claims=12
            ).claims
            compiled[name] = compiled.get(name, 0) + sum(
                any(all(w.casefold() in c.text.casefold() for w in words) for c in claims)
                for words in question["must_verify"]
            )
    with capsys.disabled():
        print(f"\nexpected sentences of {len(found)} questions, by strategy:")
        for name, own in ranks.items():
            cuts = ", ".join(f"{within(own, cut):.2f} in {cut}" for cut in CUTS)
            print(
                f"  {name:19} MRR {reciprocal(own):.3f}; {cuts}; "
                f"compiled into a claim {compiled[name]} of {len(own)}"
            )
    there = sum(rank is not None for rank in ranks["off"])
    for name in STRATEGIES:
        assert sum(rank is not None for rank in ranks[name]) == there
        assert reciprocal(ranks[name]) > 2 * reciprocal(ranks["off"])
        assert within(ranks[name], 10) >= 0.9
        assert compiled[name] >= compiled["off"] - 2
