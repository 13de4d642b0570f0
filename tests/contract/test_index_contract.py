"""What every Index keeps to: in memory, and written to disk and opened again."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeEmbedder, chunk_of, document_of
from index_cases import corpus_of

from certirag.adapters.index.index_store import write_corpus
from certirag.adapters.index.local import LocalIndex
from certirag.core.text import EvidenceChunk
from certirag.errors import CorpusError, ModelError
from certirag.ports import Index

EMBEDDER = FakeEmbedder()
Make = Callable[[Sequence[EvidenceChunk]], Index]


@pytest.fixture(params=["memory", "disk"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return what turns chunks into an index of the kind under test."""

    def on_disk(chunks: Sequence[EvidenceChunk]) -> Index:
        by_document: dict[str, list[EvidenceChunk]] = {}
        for chunk in chunks:
            by_document.setdefault(chunk.doc_id, []).append(chunk)
        documents = [(document_of(name)[0], held) for name, held in by_document.items()]
        write_corpus(tmp_path / "index", corpus_of(documents), EMBEDDER)
        return LocalIndex.open(tmp_path / "index", embedder=EMBEDDER.identity)

    return on_disk if request.param == "disk" else lambda c: LocalIndex.of(c, EMBEDDER)


def corpus(count: int = 30) -> list[EvidenceChunk]:
    """Return chunks of words drawn from a small vocabulary, many of them alike."""
    drawn = random.Random(11)
    words = ("leave", "days", "manager", "approval", "expense", "travel", "notice", "office")
    return [
        chunk_of(" ".join(drawn.choices(words, k=4)) + ".", name=f"d{n // 3:02}", place=n % 3)
        for n in range(count)
    ]


def unit(text: str) -> np.ndarray:
    """Return the vector of *text*."""
    return EMBEDDER.embed([text])[0]


def test_chunks_are_those_that_went_in(make: Make) -> None:
    """Every chunk comes out equal, in order, and by its name."""
    chunks = corpus()
    index = make(chunks)
    assert list(index.chunks()) == chunks
    assert all(index.chunk(chunk.chunk_id) == chunk for chunk in chunks)


def test_an_unknown_chunk_is_an_error(make: Make) -> None:
    """Asking for a chunk that is not there names it."""
    with pytest.raises(CorpusError, match="nowhere"):
        make(corpus()).chunk("nowhere")


def test_terms_found_are_shared_and_scored_above_zero(make: Make) -> None:
    """A chunk is found exactly when it holds a term of the query, however common the term."""
    chunks = corpus()
    hits = make(chunks).search_terms("expenses of the office", limit=99)
    holders = {c.chunk_id for c in chunks if "expense" in c.text or "office" in c.text}
    assert {hit.chunk_id for hit in hits} == holders
    assert all(hit.score > 0 for hit in hits)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_term_of_every_chunk_still_scores_above_zero(make: Make, count: int) -> None:
    """In a tiny corpus a term that all chunks hold has weight: they are found."""
    chunks = [chunk_of("Leave is granted.", name=f"d{n}") for n in range(count)]
    hits = make(chunks).search_terms("leave", limit=9)
    assert [hit.chunk_id for hit in hits] == [f"d{n}#0" for n in range(count)]
    assert all(hit.score > 0 for hit in hits)


def test_a_rare_term_outweighs_a_common_one(make: Make) -> None:
    """The chunk that holds the rarer of two terms comes first."""
    chunks = [chunk_of(f"Common word {n}.", name=f"d{n}") for n in range(6)]
    chunks.append(chunk_of("Rare thing here.", name="d9"))
    assert make(chunks).search_terms("rare common", limit=3)[0].chunk_id == "d9#0"


def test_titles_and_headings_are_searched(make: Make) -> None:
    """A term that only the context holds finds the chunk."""
    index = make([chunk_of("Thirty days.", title="Handbook", section="Annual leave")])
    assert [hit.chunk_id for hit in index.search_terms("annual leave", limit=3)] == ["d1#0"]


def test_vectors_give_exact_cosines(make: Make) -> None:
    """Scores are the cosines themselves, all chunks of them, best first."""
    chunks = corpus()
    hits = make(chunks).search_vector(unit("leave days"), limit=99)
    texts = {chunk.chunk_id: f"\n{chunk.text}" for chunk in chunks}
    assert len(hits) == len(chunks)
    for hit in hits:
        assert hit.score == pytest.approx(
            float(unit(texts[hit.chunk_id]) @ unit("leave days")), abs=2e-6
        )
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
def test_ties_at_the_cut_are_decided_by_chunk_id(make: Make, limit: int) -> None:
    """Of equal chunks the first names are kept, whatever the order they came in."""
    chunks = [chunk_of("Leave is thirty days.", name=f"d{n}") for n in (5, 3, 1, 4, 2)]
    index = make(chunks)
    expected = [f"d{n}#0" for n in (1, 2, 3, 4, 5)][:limit]
    assert [h.chunk_id for h in index.search_terms("leave", limit=limit)] == expected
    assert [h.chunk_id for h in index.search_vector(unit("leave"), limit=limit)] == expected


def test_a_shorter_list_is_the_start_of_a_longer_one(make: Make) -> None:
    """The limit cuts the list and changes nothing else, with many ties about."""
    index = make(corpus(60))
    for search in (
        lambda n: index.search_terms("leave approval", limit=n),
        lambda n: index.search_vector(unit("leave approval"), limit=n),
    ):
        whole = list(search(60))
        assert all(list(search(n)) == whole[:n] for n in range(61))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_finds_nothing(make: Make, limit: int) -> None:
    """No room, no hits."""
    index = make(corpus())
    assert list(index.search_terms("leave", limit=limit)) == []
    assert list(index.search_vector(unit("leave"), limit=limit)) == []


def test_an_empty_corpus_is_searched(make: Make) -> None:
    """Without chunks both searches find nothing and the fingerprint is there."""
    index = make([])
    assert list(index.chunks()) == []
    assert list(index.search_terms("leave", limit=5)) == []
    assert list(index.search_vector(unit("leave"), limit=5)) == []
    assert len(bytes.fromhex(index.fingerprint)) == 32


@pytest.mark.parametrize("text", ["…", "?!", " ", "the of and"])
def test_a_corpus_without_terms_is_searched_by_vectors(make: Make, text: str) -> None:
    """Chunks that hold no term are no error for BM25."""
    index = make([chunk_of(text)])
    assert list(index.search_terms("leave the", limit=5)) == []
    assert len(index.search_vector(unit("leave"), limit=5)) == (1 if text.strip() else 0)


def test_what_a_reader_cannot_see_is_not_found(make: Make) -> None:
    """Hidden sentences find nothing, and a chunk of nothing else is never a hit."""
    chunks = [
        chunk_of("Seen text. Unseen payment rule.", name="d1", hidden=["Unseen"]),
        chunk_of("Unseen payment rule.", name="d2", hidden=["Unseen"]),
    ]
    index = make(chunks)
    assert list(index.search_terms("payment", limit=5)) == []
    assert [h.chunk_id for h in index.search_vector(unit("payment"), limit=5)] == ["d1#0"]
    assert index.search_vector(unit("seen text"), limit=5)[0].score == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "query", ["", "\ud800", "\x00", "'" * 50, "1,2.3,4", "лист 葉 🌿", "a" * 9999]
)
def test_any_query_is_answered(make: Make, query: str) -> None:
    """No text breaks the term search."""
    assert isinstance(list(make(corpus()).search_terms(query, limit=5)), list)


@pytest.mark.parametrize(
    "vector",
    [
        np.zeros(32, np.float32),
        np.full(32, np.nan, np.float32),
        np.ones(32, np.float32),
        np.ones(1, np.float32),
        np.eye(1, 33, dtype=np.float32)[0],
        np.eye(1, 32, dtype=np.float32),
    ],
    ids=["zero", "nan", "long", "short", "other dimension", "two axes"],
)
def test_a_vector_that_is_no_unit_vector_is_refused(make: Make, vector: np.ndarray) -> None:
    """A query of another space, or of none, is an error rather than a ranking."""
    with pytest.raises(ModelError, match="fake"):
        make(corpus()).search_vector(vector, limit=3)


def test_the_fingerprint_follows_the_content(make: Make) -> None:
    """Equal corpora have one fingerprint; a changed word makes another."""
    chunks = corpus()
    assert make(chunks).fingerprint == make(chunks).fingerprint
    changed = [*chunks[:-1], chunk_of("Another text.", name="d09", place=2)]
    assert make(changed).fingerprint != make(chunks).fingerprint


def test_another_process_finds_the_same(tmp_path: Path) -> None:
    """Two fresh processes with other hash seeds print the same hits."""
    documents = [document_of(c.chunk_id.replace("#", "-"), c.text) for c in corpus()]
    write_corpus(tmp_path, corpus_of(documents), EMBEDDER)
    script = (
        "import sys; from pathlib import Path; from fakes import FakeEmbedder;"
        "from certirag.adapters.index.local import LocalIndex;"
        "e = FakeEmbedder(); i = LocalIndex.open(Path(sys.argv[1]), embedder=e.identity);"
        "print(i.search_terms('leave office days', limit=20));"
        "print(i.search_vector(e.embed(['leave office days'])[0], limit=20))"
    )
    root = Path(__file__).parents[2]
    printed = [
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            env={"PYTHONPATH": f"{root}:{root / 'tests'}", "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count(b"Hit(") > 20
