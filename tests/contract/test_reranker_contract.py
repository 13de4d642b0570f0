"""What every Reranker keeps to, and what each adapter promises besides."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeEmbedder
from numpy.typing import NDArray

from certirag.adapters.rerankers.cross_encoder import CrossEncoderReranker
from certirag.adapters.rerankers.late_interaction import LateInteractionReranker
from certirag.errors import MissingExtra, ModelError
from certirag.ports import Reranker

TEXTS = (
    "annual leave is thirty days",
    "travel expenses need approval",
    "",
    "\ud800 half a pair",
    "leave " * 400,
)


def save_tiny_cross_encoder(directory: Path, *, labels: int = 1, head: bool = True) -> Path:
    """Save an untrained BERT of a few kilobytes, with or without a head for pairs."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

    words = ("annual", "leave", "is", "thirty", "days", "travel", "expenses", "need", "how", "many")
    directory.mkdir(parents=True, exist_ok=True)
    vocabulary = directory / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=5 + len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=labels,
    )
    model = BertForSequenceClassification(config) if head else BertModel(config)
    model.save_pretrained(directory)
    BertTokenizerFast(str(vocabulary), model_max_length=64).save_pretrained(directory)
    return directory


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a tiny cross-encoder with one output."""
    return save_tiny_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(params=["late-interaction", "cross-encoder"])
def reranker(request: pytest.FixtureRequest) -> Reranker:
    """Return each adapter in turn."""
    if request.param == "late-interaction":
        return LateInteractionReranker(FakeEmbedder())
    return CrossEncoderReranker(str(request.getfixturevalue("tiny")))


def test_one_finite_score_for_each_text_in_order(reranker: Reranker) -> None:
    """Scores are finite floats that belong to the texts, whatever the order."""
    scores = reranker.score("how many days of annual leave", TEXTS)
    assert len(scores) == len(TEXTS)
    assert all(isinstance(score, float) and math.isfinite(score) for score in scores)
    backwards = reranker.score("how many days of annual leave", TEXTS[::-1])
    assert list(backwards)[::-1] == list(scores)


def test_a_score_does_not_depend_on_its_neighbours(reranker: Reranker) -> None:
    """Alone, together or again: the same text has the same score to the last bit."""
    together = reranker.score("annual leave", TEXTS)
    assert [reranker.score("annual leave", [text])[0] for text in TEXTS] == list(together)
    assert list(reranker.score("annual leave", TEXTS)) == list(together)


def test_no_texts_have_no_scores(reranker: Reranker) -> None:
    """Nothing to score is not an error."""
    assert list(reranker.score("annual leave", [])) == []


@pytest.mark.parametrize("query", ["", "?!", "\udfff"])
def test_a_query_without_words_is_scored(reranker: Reranker, query: str) -> None:
    """A query that says nothing still gives finite scores."""
    assert all(math.isfinite(score) for score in reranker.score(query, TEXTS))


def test_identity_names_the_method_and_a_digest(reranker: Reranker) -> None:
    """The role is reranker, the name says the kind, the digest is SHA-256 in hex."""
    identity = reranker.identity
    assert identity.role == "reranker"
    assert identity.name.startswith(("late-interaction/", "cross-encoder/"))
    assert len(bytes.fromhex(identity.sha256)) == 32
    assert identity.version


def test_late_interaction_is_the_mean_of_best_cosines() -> None:
    """Each query token takes its best match; equal words match with 1."""
    embedder = FakeEmbedder()
    late = LateInteractionReranker(embedder)
    (same, half, empty) = late.score("annual leave", ["leave annual x", "annual", ""])
    annual, leave = embedder.embed_tokens(["annual leave"])[0]
    assert same == pytest.approx(1.0, abs=1e-6)
    assert half == pytest.approx((1.0 + float(annual @ leave)) / 2, abs=1e-6)
    assert empty == -1.0
    assert list(late.score("?", ["annual", "leave"])) == [0.0, 0.0]


def test_late_interaction_identity_follows_the_embedder() -> None:
    """Another embedder makes another reranker."""
    one, other = (LateInteractionReranker(FakeEmbedder(version=v)).identity for v in "12")
    assert one.name == other.name == "late-interaction/fake"
    assert one.sha256 != other.sha256


class CountingEmbedder(FakeEmbedder):
    """Counts the texts whose token vectors were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        self.asked += texts
        return super().embed_tokens(texts)


def test_token_vectors_are_computed_once() -> None:
    """A text seen before is not embedded again, nor twice in one call."""
    embedder = CountingEmbedder()
    late = LateInteractionReranker(embedder)
    late.score("q", ["a b", "c d", "a b"])
    late.score("q", ["c d", "e"])
    assert embedder.asked == ["q", "a b", "c d", "e"]


def test_the_cache_is_bounded_and_forgets_the_least_recent() -> None:
    """Beyond its bytes the cache lets the oldest go; scores stay the same."""
    embedder = CountingEmbedder()
    row = 4 * embedder.dimension
    late = LateInteractionReranker(embedder, cache_bytes=3 * row)
    first = late.score("q", ["a", "b"])  # three rows: full
    late.score("q", ["c"])  # lets "a" go
    embedder.asked.clear()
    assert late.score("q", ["b"]) == first[1:]
    assert embedder.asked == []
    assert late.score("q", ["a"]) == first[:1]
    assert embedder.asked == ["a"]
    assert late._cached_bytes == sum(v.nbytes for v in late._cache.values()) <= 3 * row
    late.score("q", ["x " * 50])  # larger than the whole cache: used, not kept
    assert late._cached_bytes <= 3 * row


def test_late_interaction_is_safe_between_threads() -> None:
    """Eight threads that share a small cache all get the scores that one gets alone."""
    embedder = FakeEmbedder()
    late = LateInteractionReranker(embedder, cache_bytes=20 * 4 * embedder.dimension)
    texts = [f"text number {n}" for n in range(30)]
    expected = LateInteractionReranker(embedder).score("number 7", texts)
    answers: list[Sequence[float]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(late.score("number 7", texts)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 8
    assert late._cached_bytes == sum(v.nbytes for v in late._cache.values())


def test_token_vectors_of_a_wrong_shape_are_refused() -> None:
    """An embedder that gives too few or too narrow arrays is an error, not a score."""

    class Narrow(FakeEmbedder):
        def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
            return tuple(rows[:, 1:] for rows in super().embed_tokens(texts))

    class Few(FakeEmbedder):
        def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
            return super().embed_tokens(texts)[1:]

    for embedder in (Narrow(), Few()):
        with pytest.raises(ModelError, match="wrong shape"):
            LateInteractionReranker(embedder).score("q", ["a"])


def test_cross_encoder_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sentence-transformers is not installed, the error says how to install it."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install 'certirag\[models\]'"):
        CrossEncoderReranker("some/model")


def test_cross_encoder_that_is_not_there(tmp_path: Path) -> None:
    """An unknown model is one line that names it, and no download is tried."""
    with pytest.raises(ModelError, match="no-such-model") as caught:
        CrossEncoderReranker(str(tmp_path / "no-such-model"))
    assert "\n" not in str(caught.value)


def test_cross_encoder_with_several_outputs_is_refused(tmp_path: Path) -> None:
    """A classifier of three labels has no one relevance to sort by."""
    with pytest.raises(ModelError, match="3 outputs"):
        CrossEncoderReranker(str(save_tiny_cross_encoder(tmp_path / "m", labels=3)))


def test_cross_encoder_without_a_trained_head_is_refused(tmp_path: Path) -> None:
    """A bare encoder would be given a random head; that must not rank anything."""
    with pytest.raises(ModelError, match="no head trained"):
        CrossEncoderReranker(str(save_tiny_cross_encoder(tmp_path / "m", head=False)))


def test_cross_encoder_identity_is_of_the_weights(tiny: Path) -> None:
    """Opened twice, a model has one identity, and it names no path of this machine."""
    one, again = (CrossEncoderReranker(str(tiny)).identity for _ in range(2))
    assert one == again
    assert one.name == "cross-encoder/tiny"
