"""Retrieved chunks → the spans that an answer may be written from, chosen before it is written.

What is chosen here limits what an answer is compiled from and nothing else: candidates for and
against a claim are chosen from the chunks (`verification/candidates`), so that a span left out here
still opposes what it contradicts. The steps, after the fifth seed's Stage 1:
  (1) spans that can be cited: visible, resolving, of a sound length;
  (2) each one's relevance to the question, in [0, 1];
  (3) a little more for a span that holds a quantity;
  (4) the threshold, the cap of each source, the cap of all, each with a line on what it left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

from certirag.claims.split import is_table_row
from certirag.core.text import EvidenceChunk, SentenceSpan
from certirag.drafting.extractive import QuotableSentence
from certirag.errors import InputError
from certirag.ports import Embedder, Reranker
from certirag.quantities.find import find_quantities
from certirag.retrieve.hybrid import clean_text
from certirag.retrieve.relevance import (
    keyword_relevance,
    rerank_relevance,
    semantic_relevance,
)

# "rerank": the reranker's own score, as retrieval ranks chunks; the others are the seed's.
Strategy = Literal["rerank", "semantic", "keyword", "hybrid"]
STRATEGIES: Final[tuple[Strategy, ...]] = ("rerank", "semantic", "keyword", "hybrid")
DECIMALS: Final = 6
# A row carries its column heads, so it is longer than a sentence that says the same.
ROW_FACTOR: Final = 4


@dataclass(frozen=True, slots=True)
class PreselectionRules:
    """What makes a span citable, and how many are kept.

    Lengths are code points. The seed keeps 50 to 500; its lower end would throw away one
    sentence in five of the demo corpora, "The probation period lasts six months." among them, so
    it is *min_characters* here, which drops what is no statement at all. A table row may be
    `ROW_FACTOR` times as long as *max_characters*. *threshold* is on the relevance without
    *numeric_boost*, and both are in its unit, [0, 1]. *keyword_weight* is the keyword's share
    in "hybrid". *max_spans_per_source* counts by document.
    """

    strategy: Strategy = "rerank"
    min_characters: int = 12
    max_characters: int = 500
    threshold: float = 0.0
    numeric_boost: float = 0.0
    keyword_weight: float = 0.5
    max_spans_per_source: int = 32
    max_spans: int = 96

    def __post_init__(self) -> None:
        """Refuse rules that cannot be meant; InputError names the value."""
        if self.strategy not in STRATEGIES:
            raise InputError(
                f"unknown preselection strategy {self.strategy!r}: "
                f"choose one of {', '.join(STRATEGIES)}"
            )
        for name in ("threshold", "numeric_boost", "keyword_weight"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name}={getattr(self, name)}: give a number from 0 to 1")
        for name in ("min_characters", "max_spans_per_source", "max_spans"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}={getattr(self, name)}: give at least 1")
        if self.max_characters < self.min_characters:
            raise InputError(
                f"max_characters={self.max_characters} is below min_characters="
                f"{self.min_characters}: give a larger number"
            )


@dataclass(frozen=True, slots=True)
class RankedSpan:
    """One citable span: *score* is its relevance with the boost, larger is better."""

    chunk: EvidenceChunk
    span: SentenceSpan
    score: float
    relevance: float
    numeric: bool


@dataclass(frozen=True, slots=True)
class Preselection:
    """The spans chosen, in their order, and one line for each rule that left some out.

    *settings* are what another program needs to choose the same again.
    """

    spans: tuple[RankedSpan, ...]
    dropped: tuple[str, ...] = ()
    settings: dict[str, str | int | float] = field(default_factory=dict)

    @property
    def candidates(self) -> tuple[QuotableSentence, ...]:
        """The spans as the extractive compiler takes them."""
        return tuple(QuotableSentence(s.chunk, s.span, s.score) for s in self.spans)


def preselect(
    question: str,
    chunks: Sequence[EvidenceChunk],
    *,
    embedder: Embedder,
    reranker: Reranker,
    rules: PreselectionRules | None = None,
) -> Preselection:
    """Return the spans of *chunks* to write an answer to *question* from, best first.

    Only the port that the strategy needs is asked. Equal scores fall to chunk_id, then to the
    place in the chunk, so that equal input gives equal output. Raises ModelError when the port
    does not give one finite number for each span.
    """
    rules = rules or PreselectionRules()
    spans, dropped = _citable(chunks, rules)
    relevance = _relevance(question, spans, rules, embedder, reranker)
    ranked = []
    for (chunk, span), relevant in zip(spans, relevance, strict=True):
        numeric = rules.numeric_boost > 0.0 and bool(find_quantities(span.sentence))
        score = round(relevant + rules.numeric_boost * numeric, DECIMALS)
        ranked.append(RankedSpan(chunk, span, score, round(relevant, DECIMALS), numeric))
    ranked.sort(key=lambda s: (-s.score, s.chunk.chunk_id, s.span.start, s.span.span_id))
    kept, more = _capped(ranked, rules)
    return Preselection(kept, (*dropped, *more), asdict(rules))


def every_span(chunks: Sequence[EvidenceChunk]) -> Preselection:
    """Return every visible span of *chunks* in document order: preselection switched off.

    The seed falls back on whole documents as single spans. A citation here must resolve to one
    sentence, character for character, and a whole document as evidence would let a claim lean on
    sentences pages apart; so "off" ranks, filters and caps nothing instead, and all spans score
    alike. Documents come in the order in which they were found.
    """
    first: dict[str, int] = {}
    for chunk in chunks:
        first.setdefault(chunk.doc_id, len(first))
    ordered = sorted(chunks, key=lambda c: (first[c.doc_id], c.source.start, c.chunk_id))
    spans = tuple(
        RankedSpan(chunk, span, 1.0, 1.0, numeric=False)
        for chunk in ordered
        for span in sorted(chunk.spans, key=lambda s: (s.start, s.span_id))
        if span.visible
    )
    return Preselection(spans, (), {"strategy": "off"})


def _citable(
    chunks: Sequence[EvidenceChunk], rules: PreselectionRules
) -> tuple[list[tuple[EvidenceChunk, SentenceSpan]], tuple[str, ...]]:
    """Return the spans that can be cited, and what was left out of them and why."""
    kept: list[tuple[EvidenceChunk, SentenceSpan]] = []
    why: Counter[str] = Counter()
    for chunk in chunks:
        for span in chunk.spans:
            reason = _unfit(chunk, span, rules)
            if reason:
                why[reason] += 1
            else:
                kept.append((chunk, span))
    return kept, tuple(f"{count} spans {reason}" for reason, count in sorted(why.items()))


def _unfit(chunk: EvidenceChunk, span: SentenceSpan, rules: PreselectionRules) -> str:
    """Return why *span* cannot be cited, or ""."""
    if not span.visible:
        return "left out: a reader of the page cannot see them"
    if chunk.text[span.start : span.end] != span.sentence:
        return "left out: they do not resolve to their chunk's text"
    length = len(span.sentence.strip())
    if length < rules.min_characters:
        return f"left out: shorter than {rules.min_characters} characters"
    if length > rules.max_characters and not (
        length <= ROW_FACTOR * rules.max_characters and is_table_row(span.sentence)
    ):
        return f"left out: longer than {rules.max_characters} characters"
    return ""


def _relevance(
    question: str,
    spans: Sequence[tuple[EvidenceChunk, SentenceSpan]],
    rules: PreselectionRules,
    embedder: Embedder,
    reranker: Reranker,
) -> list[float]:
    query = clean_text(question)
    if not spans:
        return []
    if rules.strategy == "rerank":
        return rerank_relevance(query, spans, reranker)
    if rules.strategy == "keyword":
        return keyword_relevance(query, spans)
    semantic = semantic_relevance(query, spans, embedder)
    if rules.strategy == "semantic":
        return semantic
    weight = rules.keyword_weight
    by_words = keyword_relevance(query, spans)
    return [weight * k + (1.0 - weight) * s for k, s in zip(by_words, semantic, strict=True)]


def _capped(
    ranked: Sequence[RankedSpan], rules: PreselectionRules
) -> tuple[tuple[RankedSpan, ...], tuple[str, ...]]:
    """Apply the threshold and both caps to *ranked*, best first."""
    notes: list[str] = []
    relevant = [s for s in ranked if s.relevance >= rules.threshold]
    if below := len(ranked) - len(relevant):
        notes.append(f"{below} spans left out: relevance below {rules.threshold}")
    taken: Counter[str] = Counter()
    within: list[RankedSpan] = []
    for s in relevant:
        taken[s.chunk.doc_id] += 1
        if taken[s.chunk.doc_id] <= rules.max_spans_per_source:
            within.append(s)
    notes += [
        f"{doc_id}: {count - rules.max_spans_per_source} spans left out by the cap of "
        f"{rules.max_spans_per_source} spans a source"
        for doc_id, count in sorted(taken.items())
        if count > rules.max_spans_per_source
    ]
    if (beyond := len(within) - rules.max_spans) > 0:
        notes.append(f"{beyond} spans left out by the cap of {rules.max_spans} spans")
    return tuple(within[: rules.max_spans]), tuple(notes)
