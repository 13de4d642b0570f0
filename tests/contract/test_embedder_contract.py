"""The Embedder port's contract, one suite for every adapter that keeps it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from certirag.adapters.embedders.minilm import OnnxEmbedder
from certirag.adapters.embedders.sentence_transformers_embedder import SentenceTransformersEmbedder
from certirag.core.generation import ModelIdentity
from certirag.errors import InputError, MissingExtra, ModelError
from certirag.ports import Embedder
from certirag.settings import ASSETS

WORDS = tuple(
    word
    for line in (
        "the a of pump claim flood house is not covered damage water insured from pipes burst",
        "1 2 3 10 $ % . , ; [ ] cl sep mask pad s ##s yes no",
    )
    for word in line.split()
)
TEXTS = ("The pump is not covered.", "Flood", "", "10 % of the claim, 3 pipes", "burst pipes " * 9)


@pytest.fixture(scope="module")
def small_model(tmp_path_factory) -> Path:
    """Return the directory of a tiny BERT with random weights, saved by sentence-transformers."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    bert = tmp_path_factory.mktemp("bert")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (bert / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    torch.manual_seed(11)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    transformers.BertModel(config).save_pretrained(bert)
    tokenizer = {token: place for place, token in enumerate(vocabulary)}
    transformers.BertTokenizer(vocab=tokenizer).save_pretrained(bert)
    saved = tmp_path_factory.mktemp("model") / "tiny-bert"
    encoder = Transformer(str(bert), max_seq_length=16)
    pooling = Pooling(encoder.get_embedding_dimension(), pooling_mode="mean")
    SentenceTransformer(modules=[encoder, pooling], device="cpu").save(str(saved))
    return saved


@pytest.fixture(
    params=["onnx", pytest.param("sentence-transformers", marks=pytest.mark.slow)], scope="module"
)
def embedder(request) -> Embedder:
    """Return each adapter in turn."""
    adapters: dict[str, Callable[[], Embedder]] = {
        "onnx": lambda: OnnxEmbedder(ASSETS / "models" / "embedder"),
        "sentence-transformers": lambda: SentenceTransformersEmbedder(
            str(request.getfixturevalue("small_model"))
        ),
    }
    return adapters[request.param]()


def test_identity_names_the_model(embedder: Embedder) -> None:
    """The identity says role, name and version, and a SHA-256; none of it is a path."""
    identity = embedder.identity
    assert isinstance(identity, ModelIdentity)
    assert identity.role == "embedder"
    assert identity.name
    assert identity.version
    assert "/" not in identity.name
    assert re.fullmatch(r"[0-9a-f]{64}", identity.sha256)


def test_embed_gives_unit_rows(embedder: Embedder) -> None:
    """One float32 row of length one per text, in order, the empty text included."""
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_embed_tokens_gives_unit_rows_per_token(embedder: Embedder) -> None:
    """One float32 array per text, a unit row per token, none for the empty text."""
    arrays = embedder.embed_tokens(TEXTS)
    assert isinstance(arrays, tuple)
    assert [rows.shape[0] for rows in arrays][:3] == [6, 1, 0]
    for rows in arrays:
        assert rows.shape[1:] == (embedder.dimension,)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    """An empty sequence is not an error."""
    assert embedder.embed([]).shape == (0, embedder.dimension)
    assert embedder.embed_tokens([]) == ()


def test_vectors_do_not_depend_on_company(embedder: Embedder) -> None:
    """A text's vectors are the same bits alone, among others, and again."""
    together, tokens_together = embedder.embed(TEXTS), embedder.embed_tokens(TEXTS)
    for place, text in enumerate(TEXTS):
        assert np.array_equal(embedder.embed([text])[0], together[place])
        assert np.array_equal(embedder.embed_tokens([text])[0], tokens_together[place])


def test_threads_may_share_an_embedder(embedder: Embedder) -> None:
    """Callers on several threads get what one caller gets."""
    alone = embedder.embed(TEXTS)
    # The embedder that ships gives the same bits; torch adds up on as many threads as are free.
    apart = 0.0 if isinstance(embedder, OnnxEmbedder) else 1e-6
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(embedder.embed, [TEXTS] * 8):
            assert np.abs(vectors - alone).max() <= apart


@pytest.mark.parametrize("blank", [" ", "\n\n", ""])
def test_nothing_of_a_long_text_is_dropped(embedder: Embedder, blank: str) -> None:
    """A text of many windows has a vector per token, and its end moves its vector."""
    text = f"the pump.{blank}" * 400
    (tokens,) = embedder.embed_tokens([text])
    assert tokens.shape == (1200, embedder.dimension)
    plain, changed = embedder.embed([text, text + " flood flood flood"])
    assert not np.array_equal(plain, changed)


@pytest.mark.parametrize("text", ["[SEP]", "[PAD]", "[MASK]"])
def test_written_markers_are_text(embedder: Embedder, text: str) -> None:
    """A marker's name in a document is read as text: bracket, word (or its pieces), bracket."""
    (rows,) = embedder.embed_tokens([text])
    assert rows.shape[0] >= 3


@pytest.mark.parametrize("text", ["\ud800", "\x00", "a" * 5000, " \t " * 500, "\u202e\u200b"])
def test_hostile_texts_give_finite_vectors(embedder: Embedder, text: str) -> None:
    """Broken code points, control characters and endless words have vectors like any text."""
    assert np.linalg.norm(embedder.embed([text])[0]) == pytest.approx(1, abs=1e-6)
    (rows,) = embedder.embed_tokens([text])
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("texts", ["a lone text", [None], [b"bytes"]])
def test_what_is_no_sequence_of_texts_is_refused(embedder: Embedder, texts: object) -> None:
    """A lone text, or a stranger among the texts, is an InputError."""
    for method in (embedder.embed, embedder.embed_tokens):
        with pytest.raises(InputError):
            method(texts)


@pytest.mark.slow
def test_identity_follows_the_weights(small_model: Path) -> None:
    """The same model has the same digest wherever it lies; other weights have another."""
    first = SentenceTransformersEmbedder(str(small_model))
    assert first.identity == SentenceTransformersEmbedder(str(small_model)).identity
    parameter = next(first._model.parameters())
    parameter.data[0, 0] += 1
    from certirag.adapters.embedders.sentence_transformers_embedder import _digest

    assert _digest(first._model) != first.identity.sha256


@pytest.mark.slow
def test_an_absent_model_is_named_with_the_mend(monkeypatch) -> None:
    """A model that the user does not have: ModelError that names it, and nothing is fetched."""
    import socket

    def refuse(*arguments: object) -> None:
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(ModelError, match="no-such-owner/no-such-model"):
        SentenceTransformersEmbedder("no-such-owner/no-such-model")


def test_a_missing_package_names_the_install_command(monkeypatch) -> None:
    """Without sentence-transformers: MissingExtra with the command that installs it."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install 'certirag\[models\]'"):
        SentenceTransformersEmbedder("any")
