"""`certirag eval retrieval`: at which place each search finds the passage and the sentence that answer.

The same questions go through BM25 alone, the vectors alone, both fused, and both fused and reranked, as
`retrieve` does, and through the plain cosine of every sentence. A search ranks passages; its sentences
are those of its first passages, in the order of the pipeline's own preselection, which is the same for
all searches. The cosine ranks the sentences of the whole corpus, and each passage by its best one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import TypeAdapter

from certirag import __version__
from certirag.answers.draft import preselected
from certirag.answers.services import Services
from certirag.bootstrap import index_of_paths
from certirag.core.text import EvidenceChunk
from certirag.eval.builtin import corpus_index, scratch_services
from certirag.eval.pairs import begin_run
from certirag.eval.resumable import measured_lines
from certirag.eval.retrieval_report import (
    BM25,
    COSINE,
    DENSE,
    DENSE_RERANKED,
    HYBRID,
    RERANKED,
    FoundPlaces,
    RankedQuestion,
    write_retrieval_report,
)
from certirag.eval.sought import (
    DEMO,
    Sought,
    SoughtQuestion,
    Texts,
    sought_in_data,
    sought_in_fixtures,
)
from certirag.ports import Index, Progress
from certirag.retrieve.hybrid import DECIMALS, RetrievalOutcome, retrieve, search_text
from certirag.retrieve.relevance import Place, read_text
from certirag.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANKED: Final = "ranked.jsonl"
FORMAT: Final = 2  # of a run
POOL: Final = 50  # places that are looked at, of passages and of sentences
_BATCH: Final = 10  # questions searched and written at once


@dataclass(frozen=True, slots=True)
class RetrievalRun:
    """A run into the folder *out* over the questions of *data*, or over those of the fixtures (None)."""

    data: Path | None
    out: Path
    every: int = 1  # every N-th question alone
    jobs: int = 1  # processes


def run_retrieval(run: RetrievalRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Search every question that *run*'s folder does not have yet, and return the figures of all.

    Raises InputError for bad rows, where there are no fixtures, and for a folder of another run.
    """
    sought = sought_in_data(run.data) if run.data else sought_in_fixtures()
    units = list(enumerate(sought.questions))[:: run.every]
    services = scratch_services(settings)
    models = [asdict(own.identity) for own in (services.embedder, services.reranker)]
    begin_run(run.out, _described(run, sought, units, models, settings))
    rows = measured_lines(
        run.out / RANKED,
        TypeAdapter(RankedQuestion),
        units,
        partial(_search, texts=sought.texts, settings=settings),
        partial(progress, "Searching"),
        batch=_BATCH,
        jobs=run.jobs,
    )
    head = (
        f"Measured: embedder `{models[0]['name']}`, SHA-256 `{models[0]['sha256']}`; reranker "
        f"`{models[1]['name']}`; preselection `{settings.preselection}` of the first "
        f"{settings.max_chunks} passages."
    )
    if run.every > 1:
        head += f" Every {run.every}th question alone."
    return write_retrieval_report(rows, run.out, head=head, without_answer=sought.without_answer)


def _described(
    run: RetrievalRun,
    sought: Sought,
    units: Sequence[object],
    models: Sequence[dict[str, Any]],
    settings: Settings,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "what": "retrieval",
        "data": {
            "name": run.data.name if run.data else "questions of the fixtures",
            "sha256": hashlib.sha256(repr((units, sought.texts)).encode()).hexdigest(),
        },
        "limit": None,
        "every": run.every,
        "seed": 0,
        "pool": POOL,
        "models": models,
        "settings": {
            name: getattr(settings, name)
            for name in (
                "max_chunks",
                "preselection",
                "enable_evidence_preselection",
                "max_spans_per_source",
            )
        },
        "certirag": __version__,
    }


def _search(
    units: Sequence[tuple[int, SoughtQuestion]],
    texts: tuple[tuple[str, Texts], ...],
    settings: Settings,
) -> list[RankedQuestion]:
    return [_ranked(number, unit, texts, settings) for number, unit in units]


def _ranked(
    number: int,
    unit: SoughtQuestion,
    texts: tuple[tuple[str, Texts], ...],
    settings: Settings,
) -> RankedQuestion:
    services = scratch_services(settings)
    index = _index(unit.corpus, texts, settings)
    relevant = {_key(place) for place in unit.relevant(index)}
    passages = {chunk_id for chunk_id, _ in relevant}
    found = {}
    for name, chunks in _searches(unit.question, index, services).items():
        best = RetrievalOutcome(tuple(chunks[: settings.max_chunks]), (), {})
        spans = preselected(unit.question, best, services.instruments).spans
        sentences = [_key((own.chunk, own.span)) for own in spans]
        found[name] = _places([c.chunk_id for c in chunks], sentences, passages, relevant)
    closest = _by_cosine(unit.question, unit.corpus, texts, settings)
    ranked = dict.fromkeys(chunk_id for chunk_id, _ in closest)
    found[COSINE] = _places(list(ranked), closest, passages, relevant)
    return RankedQuestion(
        number, unit.part, unit.corpus, unit.question, len(passages), len(relevant), found
    )


def _searches(
    question: str, index: Index, services: Services
) -> dict[str, Sequence[EvidenceChunk]]:
    """Return the passages that each search finds, best first, at most `POOL`."""
    vector = services.embedder.embed([question])[0]
    hits = {
        BM25: index.search_terms(question, limit=POOL),
        DENSE: index.search_vector(vector, limit=POOL),
    }
    alone = {name: [index.chunk(hit.chunk_id) for hit in own] for name, own in hits.items()}
    texts = [search_text(chunk) for chunk in alone[DENSE]]
    scores = np.round(services.reranker.score(question, texts), DECIMALS)
    order = np.argsort(-scores, kind="stable")
    both = {HYBRID: None, RERANKED: services.reranker}
    return {
        **alone,
        DENSE_RERANKED: [alone[DENSE][at] for at in order],
        **{
            name: retrieve(
                question, index, services.embedder, reranker, max_chunks=POOL, pool=POOL
            ).chunks
            for name, reranker in both.items()
        },
    }


def _key(place: Place) -> tuple[str, str]:
    chunk, span = place
    return chunk.chunk_id, span.span_id


def _places(
    ranked_passages: Sequence[str],
    ranked_sentences: Sequence[tuple[str, str]],
    passages: set[str],
    sentences: set[tuple[str, str]],
) -> FoundPlaces:
    """Return the 1-based places of what is relevant among the first `POOL`."""
    return FoundPlaces(
        tuple(at for at, own in enumerate(ranked_passages[:POOL], 1) if own in passages),
        tuple(at for at, own in enumerate(ranked_sentences[:POOL], 1) if own in sentences),
    )


@cache
def _index(corpus: str, texts: tuple[tuple[str, Texts], ...], settings: Settings) -> Index:
    if corpus in DEMO:
        return corpus_index(corpus, settings)
    with TemporaryDirectory(prefix="certirag-retrieval-") as folder:
        for name, text in dict(texts)[corpus]:
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return index_of_paths([Path(folder)], scratch_services(settings), lambda *_: None)[0]


@cache
def _vectors(
    corpus: str, texts: tuple[tuple[str, Texts], ...], settings: Settings
) -> tuple[list[tuple[str, str]], NDArray[np.float32]]:
    """Return every visible sentence of *corpus* and their vectors, shape (sentences, dimension)."""
    places = [
        (chunk, span)
        for chunk in _index(corpus, texts, settings).chunks()
        for span in chunk.spans
        if span.visible
    ]
    vectors = scratch_services(settings).embedder.embed([read_text(place) for place in places])
    return [_key(place) for place in places], vectors


def _by_cosine(
    question: str, corpus: str, texts: tuple[tuple[str, Texts], ...], settings: Settings
) -> list[tuple[str, str]]:
    """Return all sentences of *corpus* by their cosine with *question*, ties in document order."""
    places, vectors = _vectors(corpus, texts, settings)
    cosines = np.round(vectors @ scratch_services(settings).embedder.embed([question])[0], 6)
    return [places[at] for at in np.argsort(-cosines, kind="stable")]
