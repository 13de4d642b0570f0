"""Which sentences to try as a claim's citation: similarity proposes, and decides nothing.

No strategy is best for every model that wrote the draft (CiteFix, Maheshwari et al. 2025; fifth
seed, Gap 2), so they stand behind one Protocol. What they propose is judged by the verifier in
`verification/correction`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, Protocol

from certirag.errors import InputError, ModelError
from certirag.ports import Embedder, Verifier
from certirag.verification.candidates import Candidate, content_words
from certirag.verification.judge import judge_pairs
from certirag.verification.places import Place
from certirag.verification.sufficient import pair_with

StrategyName = Literal["keyword", "semantic", "hybrid", "verifier"]
STRATEGIES: Final[tuple[StrategyName, ...]] = ("keyword", "semantic", "hybrid", "verifier")
# CiteFix's weight of keywords against meaning.
HYBRID_WEIGHT: Final = 0.8
# Sentences that the verifier reads for each claim where it proposes by itself.
MOST_JUDGED: Final = 24
# A word that stands only in the headings over a sentence counts for a third.
_HEADING: Final = 1 / 3


class CorrectionStrategy(Protocol):
    """Ranks a pool of sentences as possible citations of claims; equal input, equal output."""

    @property
    def name(self) -> str: ...

    def proposes(
        self, claims: Sequence[str], pool: Sequence[Place], *, most: int
    ) -> tuple[tuple[Candidate, ...], ...]:
        """Return for each claim at most *most* sentences of *pool*, best first.

        Each one's ``share`` is its similarity in (0, 1]; a sentence of none is not proposed.
        """
        ...


class KeywordStrategy:
    """By the share of a claim's content words in the sentence, rare words weighing more."""

    name = "keyword"

    def proposes(
        self, claims: Sequence[str], pool: Sequence[Place], *, most: int
    ) -> tuple[tuple[Candidate, ...], ...]:
        """Propose by words; see `CorrectionStrategy`."""
        return tuple(_best(pool, row, most) for row in _by_words(claims, pool))


class SemanticStrategy:
    """By the cosine of the claim with the sentence under its headings."""

    name = "semantic"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def proposes(
        self, claims: Sequence[str], pool: Sequence[Place], *, most: int
    ) -> tuple[tuple[Candidate, ...], ...]:
        """Propose by meaning; ModelError when the embedder answers with no sound vectors."""
        return tuple(_best(pool, row, most) for row in _by_meaning(claims, pool, self._embedder))


class HybridStrategy:
    """By both: *weight* × keyword + (1 − *weight*) × semantic (CiteFix, weight 0.8)."""

    name = "hybrid"

    def __init__(self, embedder: Embedder, *, weight: float = HYBRID_WEIGHT) -> None:
        if not 0.0 <= weight <= 1.0:
            raise InputError(f"the keyword weight {weight} is no share: give a number from 0 to 1")
        self._embedder = embedder
        self._weight = weight

    def proposes(
        self, claims: Sequence[str], pool: Sequence[Place], *, most: int
    ) -> tuple[tuple[Candidate, ...], ...]:
        """Propose by words and meaning; ModelError as for meaning alone."""
        words = _by_words(claims, pool)
        meaning = _by_meaning(claims, pool, self._embedder)
        rows = (
            [self._weight * w + (1.0 - self._weight) * m for w, m in zip(ws, ms, strict=True)]
            for ws, ms in zip(words, meaning, strict=True)
        )
        return tuple(_best(pool, row, most) for row in rows)


class VerifierStrategy:
    """By the verifier's own entailment of each of the `MOST_JUDGED` closest sentences by words."""

    name = "verifier"

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    def proposes(
        self, claims: Sequence[str], pool: Sequence[Place], *, most: int
    ) -> tuple[tuple[Candidate, ...], ...]:
        """Propose by entailment; sentences that could not be judged are not proposed."""
        close = [_best(pool, row, MOST_JUDGED) for row in _by_words(claims, pool)]
        pairs = [
            pair_with(claim, (c,)) for claim, own in zip(claims, close, strict=True) for c in own
        ]
        judgements = iter(judge_pairs(self._verifier, pairs))
        proposed = []
        for own in close:
            judged = [next(judgements) for _ in own]
            scores = [0.0 if j.label == "error" or j.truncated else j.entailed for j in judged]
            ranked = [
                Candidate(c.chunk, c.span, round(score, 6))
                for c, score in zip(own, scores, strict=True)
                if score > 0.0
            ]
            ranked.sort(key=lambda c: -c.share)  # stable: ties by words
            proposed.append(tuple(ranked[: max(0, most)]))
        return tuple(proposed)


def correction_strategy(
    name: str, embedder: Embedder, verifier: Verifier, *, weight: float = HYBRID_WEIGHT
) -> CorrectionStrategy:
    """Return the strategy called *name*; InputError for an unknown one."""
    if name == "keyword":
        return KeywordStrategy()
    if name == "semantic":
        return SemanticStrategy(embedder)
    if name == "hybrid":
        return HybridStrategy(embedder, weight=weight)
    if name == "verifier":
        return VerifierStrategy(verifier)
    raise InputError(
        f"unknown citation correction strategy {name!r}: choose {', '.join(STRATEGIES)}"
    )


def _best(pool: Sequence[Place], similarity: Sequence[float], most: int) -> tuple[Candidate, ...]:
    """Return the *most* similar of *pool* that are similar at all; ties by place."""
    proposed = [
        Candidate(chunk, span, round(min(1.0, value), 6))
        for (chunk, span), value in zip(pool, similarity, strict=True)
        if value > 0.0
    ]
    proposed.sort(key=lambda c: (-c.share, c.chunk.chunk_id, c.span.start, c.span.span_id))
    return tuple(proposed[: max(0, most)])


def _by_words(claims: Sequence[str], pool: Sequence[Place]) -> list[list[float]]:
    """Return for each claim and sentence the weight of shared words over all of the claim's."""
    own = [content_words(span.sentence) for _, span in pool]
    around = [content_words(chunk.context) for chunk, _ in pool]
    spread = Counter(word for words in own for word in words)
    rows = []
    for claim in claims:
        weights = {w: 1.0 / (1.0 + math.log1p(spread[w])) for w in sorted(content_words(claim))}
        total = math.fsum(weights.values())
        rows.append(
            [
                _shared(weights, words, headings) / total if total else 0.0
                for words, headings in zip(own, around, strict=True)
            ]
        )
    return rows


def _shared(weights: dict[str, float], own: frozenset[str], around: frozenset[str]) -> float:
    found = math.fsum(weight for word, weight in weights.items() if word in own)
    headed = math.fsum(w for word, w in weights.items() if word in around and word not in own)
    return found + _HEADING * headed if found else 0.0


def _by_meaning(
    claims: Sequence[str], pool: Sequence[Place], embedder: Embedder
) -> list[list[float]]:
    """Return for each claim and sentence their cosine."""
    if not claims or not pool:
        return [[] for _ in claims]
    texts = [f"{chunk.context}\n{span.sentence}" for chunk, span in pool]
    vectors = embedder.embed([_plain(text) for text in (*claims, *texts)])
    if vectors.shape != (len(claims) + len(pool), embedder.dimension):
        raise _unsound(embedder)
    rows = (vectors[: len(claims)] @ vectors[len(claims) :].T).tolist()
    if not all(math.isfinite(value) for row in rows for value in row):
        raise _unsound(embedder)
    return [[float(value) for value in row] for row in rows]


def _plain(text: str) -> str:
    """Return *text* without lone surrogates, which no tokeniser takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unsound(embedder: Embedder) -> ModelError:
    return ModelError(
        f"the embedder {embedder.identity.name} did not give one sound vector for each text: "
        "choose another with CERTIRAG_EMBEDDER"
    )
