"""From a question to ranked chunks: BM25 and vectors, fused by reciprocal rank, reranked.

What the two searches read of a chunk, and the terms that BM25 counts in a text, are here too.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, zip_longest

from certirag.core.text import EvidenceChunk, RetrievalScores
from certirag.errors import InputError, ModelError
from certirag.ports import Embedder, Hit, Index, Reranker

# A number with its separators is one term; anything else is a run of letters and digits, with
# an apostrophe inside ("employee's", "don't").
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:'[^\W_]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\uff07": "'"})

# Words that say nothing about a topic. Negations, quantifiers and modal verbs are not among
# them: "no", "not", "all", "only", "must" and "may" (also the month) tell passages apart.
_STOP_LIST = """
    a an the this that these those
    i me my we us our you your he him his she her it its they them their
    who whom whose which what when where why how
    am is are was were be been being do does did doing has have had having
    of in on at by to for from with about into onto upon as than
    and or but if then so there here also just please tell give show
    s t d m re ve ll
"""
_STOP_WORDS = frozenset(_STOP_LIST.split())


def search_text(chunk: EvidenceChunk) -> str:
    """Return what a search may read of *chunk*: its context, a newline, its visible text.

    Text that a reader of the page cannot see never decides what is found, as it is never
    evidence: the spans marked invisible are cut out. Lone surrogates become U+FFFD, because
    no tokeniser takes them.
    """
    return clean_text(f"{chunk.context}\n{visible_text(chunk)}")


def visible_text(chunk: EvidenceChunk) -> str:
    """Return ``chunk.text`` without its invisible spans; "" when none of it can be seen."""
    if all(span.visible for span in chunk.spans):
        return chunk.text
    if not any(span.visible for span in chunk.spans):
        return ""
    kept, place = [], 0
    for span in sorted(chunk.spans, key=lambda s: s.start):
        if not span.visible:
            kept.append(chunk.text[place : span.start])
            place = max(place, span.end)
    kept.append(chunk.text[place:])
    return "".join(kept)


def clean_text(text: str) -> str:
    """Return *text* with each lone surrogate replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def terms(text: str) -> tuple[str, ...]:
    """Return the BM25 terms of *text* in order, repeats kept.

    Words are lower-cased, accents and invisible format characters dropped, possessives cut
    and plurals folded (Harman 1991, "How effective is suffixing?", the S-stemmer). Numbers
    stay as they are, except that separators of thousands go: 1,250 and 1250 are one term.
    Stop words are dropped, unless written in capitals ("IT", "US").
    """
    found = []
    for match in _WORD.finditer(_plain(text)):
        word = match.group()
        acronym = len(word) > 1 and word.isupper()
        term = _folded(word.casefold())
        if term and (acronym or term not in _STOP_WORDS):
            found.append(term)
    return tuple(found)


def _plain(text: str) -> str:
    if text.isascii():
        return text
    spread = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))
    return "".join(c for c in spread if unicodedata.category(c) not in {"Mn", "Cf"})


@lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    """Return the term of a lower-case *word*; "" when only a possessive was there."""
    if word[0].isdigit():
        return word.replace(",", "") if _THOUSANDS.fullmatch(word) else word
    stem = word[:-2] if word.endswith("'s") else word
    if stem in _STOP_WORDS or len(stem) < 4 or not stem.endswith("s"):
        return stem
    if stem.endswith("ies") and not stem.endswith(("eies", "aies")):
        return stem[:-3] + "y"
    if stem.endswith("es") and not stem.endswith(("aes", "ees", "oes")):
        return _without_sibilant_plural(stem)
    return stem if stem.endswith(("us", "ss", "is")) else stem[:-1]


def _without_sibilant_plural(word: str) -> str:
    # "boxes", "branches", "losses" add a syllable; "expenses", "rates" only the s.
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zzes")) else word[:-1]


DECIMALS = 6


@dataclass(frozen=True, slots=True)
class RetrievalOutcome:
    """The chunks that were kept, best first, each with its score and rank at every stage.

    *dropped* says, one line each, what a cap left out or a stage could not do; *settings* are
    what another program needs to retrieve the same again.
    """

    chunks: tuple[EvidenceChunk, ...]
    dropped: tuple[str, ...] = ()
    settings: dict[str, str | int | float] = field(default_factory=dict)


def retrieve(
    question: str,
    index: Index,
    embedder: Embedder,
    reranker: Reranker | None,
    *,
    max_chunks: int,
    pool: int = 40,
    rrf_k: int = 60,
) -> RetrievalOutcome:
    """Return the at most *max_chunks* chunks of *index* that fit *question* best.

    Each search gives its best *pool* chunks; their ranks are fused as the sum of
    1 / (*rrf_k* + rank) (Cormack, Clarke, Büttcher 2009, "Reciprocal rank fusion", k = 60
    there); the best *pool* of these are scored by *reranker*, or left in fused order when it
    is None. A question without a searchable term is answered by vectors alone.

    Chunks with the same text stay apart: two documents that say the same are two sources.
    Scores are rounded to six decimals before anything is sorted by them. Equal scores are put
    in the order of the stage before, and in the first stages by chunk_id, so that the same
    question over the same corpus gives an equal outcome.

    Raises InputError for an empty question or a cap below 1, ModelError when the reranker
    answers with anything but one finite number for each text.
    """
    query = clean_text(question).strip()
    _check(query, max_chunks=max_chunks, pool=pool, rrf_k=rrf_k)
    notes = []
    by_terms = index.search_terms(query, limit=pool)
    if not terms(query):
        notes.append("the question holds no searchable term: found by vectors alone")
    by_vector = index.search_vector(embedder.embed([query])[0], limit=pool)
    fused = _fused(by_terms, by_vector, rrf_k)
    if len(fused) > pool:
        notes.append(f"{len(fused) - pool} of {len(fused)} chunks found were left out by the pool")
    found = [(index.chunk(chunk_id), scores) for chunk_id, scores in fused[:pool]]
    ranked = _reranked(query, found, reranker)
    if len(ranked) > max_chunks:
        left_out = len(ranked) - max_chunks
        notes.append(f"{left_out} of {len(ranked)} ranked chunks were left out by max_chunks")
    return RetrievalOutcome(
        chunks=tuple(replace(chunk, retrieval=scores) for chunk, scores in ranked[:max_chunks]),
        dropped=tuple(notes),
        settings={
            "method": "bm25+dense, reciprocal rank fusion",
            **corpus_settings(index),
            "embedder": embedder.identity.name,
            "reranker": "none" if reranker is None else reranker.identity.name,
            "max_chunks": max_chunks,
            "pool": pool,
            "rrf_k": rrf_k,
        },
    )


def retrieve_parts(
    question: str,
    parts: Sequence[str],
    index: Index,
    embedder: Embedder,
    reranker: Reranker | None,
    *,
    max_chunks: int,
) -> RetrievalOutcome:
    """Return the chunks that fit *question* best and, where it asks several things, each of *parts*.

    The searches are taken in turn, so that no part crowds out another; each chunk keeps the scores
    and ranks of the first search that brought it, but for its *rank*. A single part is the question.
    """
    asked = (question, *parts) if len(parts) > 1 else (question,)
    each = [retrieve(one, index, embedder, reranker, max_chunks=max_chunks) for one in asked]
    if len(each) == 1:
        return each[0]
    turns = chain.from_iterable(zip_longest(*(found.chunks for found in each)))
    first: dict[str, EvidenceChunk] = {}
    for chunk in turns:
        if chunk is not None:
            first.setdefault(chunk.chunk_id, chunk)
    kept = list(first.values())
    notes = [note for found in each for note in found.dropped]
    if len(kept) > max_chunks:
        notes.append(f"{len(kept) - max_chunks} of {len(kept)} chunks were left out by max_chunks")
    return RetrievalOutcome(
        chunks=tuple(
            replace(chunk, retrieval=replace(chunk.retrieval, rank=rank))
            for rank, chunk in enumerate(kept[:max_chunks], 1)
        ),
        dropped=tuple(dict.fromkeys(notes)),
        settings={**each[0].settings, "parts": " | ".join(parts)},
    )


def corpus_settings(index: Index) -> dict[str, str | int]:
    """Return how a certificate names *index*, and that it is foreign where it is."""
    origin = {"corpus_origin": "foreign: no key that this home trusts signed the index"}
    return {"corpus": index.fingerprint, **(origin if index.foreign else {})}


def _check(query: str, **caps: int) -> None:
    if not query:
        raise InputError("the question is empty: write at least one word")
    for name, value in caps.items():
        if value < 1:
            raise InputError(f"{name}={value}: give a whole number of at least 1")


def _fused(
    by_terms: Sequence[Hit], by_vector: Sequence[Hit], rrf_k: int
) -> list[tuple[str, RetrievalScores]]:
    """Return chunk ids with bm25, dense and fused scores and ranks, best first."""
    bm25 = _ranks(by_terms)
    dense = _ranks(by_vector)
    sums = {
        chunk_id: _rounded(
            math.fsum(
                1 / (rrf_k + ranks[chunk_id][0]) for ranks in (bm25, dense) if chunk_id in ranks
            )
        )
        for chunk_id in {*bm25, *dense}
    }
    order = sorted(sums, key=lambda chunk_id: (-sums[chunk_id], chunk_id))
    return [
        (
            chunk_id,
            RetrievalScores(
                bm25=bm25[chunk_id][1] if chunk_id in bm25 else None,
                bm25_rank=bm25[chunk_id][0] if chunk_id in bm25 else None,
                dense=dense[chunk_id][1] if chunk_id in dense else None,
                dense_rank=dense[chunk_id][0] if chunk_id in dense else None,
                fused=sums[chunk_id],
                fused_rank=rank,
            ),
        )
        for rank, chunk_id in enumerate(order, 1)
    ]


def _ranks(hits: Sequence[Hit]) -> Mapping[str, tuple[int, float]]:
    return {hit.chunk_id: (rank, _rounded(hit.score)) for rank, hit in enumerate(hits, 1)}


def _reranked(
    query: str,
    found: Sequence[tuple[EvidenceChunk, RetrievalScores]],
    reranker: Reranker | None,
) -> list[tuple[EvidenceChunk, RetrievalScores]]:
    """Return *found*, which is in fused order, in its final order with its final ranks."""
    if reranker is None or not found:
        return [(chunk, replace(s, rank=rank)) for rank, (chunk, s) in enumerate(found, 1)]
    answered = reranker.score(query, [search_text(chunk) for chunk, _ in found])
    if len(answered) != len(found) or not all(math.isfinite(score) for score in answered):
        raise ModelError(
            f"the reranker {reranker.identity.name} did not give one finite score for each of "
            f"{len(found)} texts: choose another with CERTIRAG_RERANKER"
        )
    scored = [
        (chunk, replace(s, rerank=_rounded(float(score))))
        for (chunk, s), score in zip(found, answered, strict=True)
    ]
    scored.sort(key=lambda pair: -(pair[1].rerank or 0.0))  # stable: ties keep the fused order
    return [(chunk, replace(s, rank=rank)) for rank, (chunk, s) in enumerate(scored, 1)]


def _rounded(score: float) -> float:
    return round(float(score), DECIMALS) + 0.0  # + 0.0 turns -0.0, which prints apart, into 0.0
