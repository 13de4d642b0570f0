"""The graph of the pair classifier and its export: PyTorch's logits, bytes that do not vary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_pair import SHAPE, VOCABULARY, save_checkpoint, tiny_weights

from certirag.errors import InputError, ModelError
from training import export as export_module
from training.export import (
    agreement,
    export,
    graph_logits,
    graph_of,
    open_checkpoint,
    unlabelled,
)
from training.pair_onnx import INPUTS, write_pair_classifier

ORT = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


def _session(graph: bytes):
    options = ORT.SessionOptions()
    options.intra_op_num_threads = 1
    return ORT.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _feed(ids: np.ndarray, evidence: int, mask: np.ndarray | None = None) -> dict:
    segments = np.broadcast_to(np.arange(ids.shape[1]) >= evidence, ids.shape).astype(np.int64)
    whole = np.ones_like(ids) if mask is None else mask
    return dict(zip(INPUTS, (ids, segments, whole), strict=True))


def _pairs(rows: int, tokens: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(5, len(VOCABULARY), (rows, tokens))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """Return a folder as training leaves it, with random weights."""
    return save_checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.mark.parametrize("fine", [False, True])
def test_the_logits_are_those_of_pytorch(checkpoint: Path, fine: bool) -> None:
    """In a padded batch every logit is PyTorch's but for what the rounding of codes costs."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    ids, mask = _pairs(12, 24), np.ones((12, 24), dtype=np.int64)
    for row in range(12):
        mask[row, 24 - row :] = 0  # the twelfth has 13 of 24 tokens
    feed = _feed(ids, 10, mask)
    with torch.no_grad():
        wanted = open_checkpoint(checkpoint)(*(torch.from_numpy(feed[name]) for name in INPUTS))
    (found,) = _session(graph_of(checkpoint, fine=fine)).run(["logits"], feed)
    assert found.shape == (12, 3)
    assert found.dtype == np.float32
    apart = np.abs(found - wanted.numpy())
    assert np.ptp(wanted.numpy(), axis=0).min() > 1.5  # the pairs differ by far more than that
    assert apart.max() < 0.3
    assert apart.mean() < 0.1


def test_padding_does_not_count() -> None:
    """A pair with padding behind it has the logits that it has alone, whatever the padding."""
    session = _session(write_pair_classifier(tiny_weights(), SHAPE))
    ids = _pairs(1, 15)
    (alone,) = session.run(None, _feed(ids, 8))
    for filler in (0, 3, 40):
        padded = np.concatenate([ids, np.full((1, 9), filler)], axis=1)
        mask = (np.arange(24) < 15).astype(np.int64)[None]
        (found,) = session.run(None, _feed(padded, 8, mask))
        assert np.abs(found - alone).max() < 1e-3


@pytest.mark.parametrize("fine", [False, True])
def test_a_batch_of_one_length_gives_the_bits_of_each_pair_alone(fine: bool) -> None:
    """Pairs of one length may share a run: not a bit of the logits changes by it."""
    session = _session(write_pair_classifier(tiny_weights(), SHAPE, fine=fine))
    for tokens in (5, 16, 33, 100):
        ids = _pairs(8, tokens, seed=tokens)
        alone = np.concatenate([session.run(None, _feed(row[None], 3))[0] for row in ids])
        for size in (2, 3, 8):
            (found,) = session.run(None, _feed(ids[:size], 3))
            assert found.tobytes() == alone[:size].tobytes()


def test_the_segments_count() -> None:
    """Where the evidence ends changes the logits."""
    session = _session(write_pair_classifier(tiny_weights(), SHAPE))
    ids = _pairs(1, 12)
    (early,), (late,) = (session.run(None, _feed(ids, at)) for at in (4, 9))
    assert np.abs(early - late).max() > 1e-2


def test_equal_weights_give_equal_bytes(checkpoint: Path, tmp_path: Path) -> None:
    """Neither the order of the weights nor a second run changes a byte; other weights do."""
    graph = write_pair_classifier(tiny_weights(), SHAPE, fine=True)
    assert write_pair_classifier(dict(reversed(tiny_weights().items())), SHAPE, fine=True) == graph
    assert write_pair_classifier(tiny_weights(4), SHAPE, fine=True) != graph
    sizes = export(checkpoint, tmp_path / "one", fine=True)
    assert (tmp_path / "one" / "model.int8.onnx").read_bytes() == graph
    assert export(checkpoint, tmp_path / "two", fine=True) == sizes
    for name, size in sizes.items():
        content = (tmp_path / "one" / name).read_bytes()
        assert len(content) == size
        assert (tmp_path / "two" / name).read_bytes() == content
    assert set(sizes) == {"model.int8.onnx", "tokenizer.json"}


@pytest.mark.parametrize("absent", ["dense.bias", "backbone.encoder.layer.1.output.dense.weight"])
def test_weights_that_lack_a_tensor_are_not_written(absent: str) -> None:
    """A missing tensor is a ModelError with its name."""
    weights = tiny_weights()
    del weights[absent]
    with pytest.raises(ModelError, match=absent.removeprefix("backbone.")):
        write_pair_classifier(weights, SHAPE)


def test_a_head_of_another_size_is_not_written() -> None:
    """A head with two classes is refused with both shapes."""
    weights = tiny_weights()
    weights["classes.weight"] = weights["classes.weight"][:2]
    with pytest.raises(ModelError, match=r"\(2, 32\).*\(3, 32\)"):
        write_pair_classifier(weights, SHAPE)


def test_agreement_sees_how_far_a_graph_is(checkpoint: Path) -> None:
    """The checkpoint's own graph agrees nearly always, that of other weights does not."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    examples = [unlabelled(row.tolist(), 6) for row in _pairs(60, 14)]
    own = agreement(checkpoint, graph_of(checkpoint), examples)
    other = agreement(checkpoint, write_pair_classifier(tiny_weights(5), SHAPE), examples)
    assert own.pairs == other.pairs == 60
    assert own.labels >= 0.95
    assert other.labels < 0.9
    assert 0 < own.mean <= own.largest < other.mean
    exact = graph_logits(graph_of(checkpoint), examples)
    assert len(exact) == 60
    with pytest.raises(InputError):
        agreement(checkpoint, b"", [])


def test_a_folder_that_is_no_checkpoint_is_refused(tmp_path: Path, monkeypatch) -> None:
    """Missing and broken files are named; so is a graph that is too large."""
    with pytest.raises(InputError, match=r"config\.json"):
        export(tmp_path, tmp_path / "out")
    folder = save_checkpoint(tmp_path / "run")
    monkeypatch.setattr(export_module, "SIZE_LIMIT", 1000)
    with pytest.raises(ModelError, match="1000 are allowed"):
        export(folder, tmp_path / "out")
    (folder / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(InputError, match=r"model\.safetensors"):
        export(folder, tmp_path / "out")
    (folder / "config.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.json"):
        export(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory) -> Path:
    """Return the folder of a narrow MPNet pair classifier with random weights."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from safetensors.torch import save_file

    from training.network import PairClassifier

    torch.manual_seed(2)
    shape = transformers.MPNetConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=12,
        intermediate_size=96,
        max_position_embeddings=400,
        initializer_range=0.4,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    backbone = transformers.MPNetModel(shape, add_pooling_layer=False)
    model = PairClassifier(backbone, shape.hidden_size)
    torch.nn.init.normal_(model.dense.weight, std=0.3)
    torch.nn.init.normal_(model.classes.weight, std=0.3)
    folder = tmp_path_factory.mktemp("mpnet")
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(state, folder / "model.safetensors")
    (folder / "config.json").write_text(shape.to_json_string(use_diff=False), encoding="utf-8")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    return folder


@pytest.mark.parametrize("tokens", [6, 40, 300])
def test_mpnet_s_distances_are_those_of_pytorch(mpnet: Path, tokens: int) -> None:
    """Every bucket of distance, far ones too, has its own bias; positions are counted from two."""
    torch = pytest.importorskip("torch")
    feed = _feed(_pairs(3, tokens, seed=tokens), tokens // 2)
    with torch.no_grad():
        wanted = open_checkpoint(mpnet)(*(torch.from_numpy(feed[name]) for name in INPUTS)).numpy()
    (found,) = _session(graph_of(mpnet, fine=True)).run(["logits"], feed)
    assert np.abs(found - wanted).max() < 0.15 * np.ptp(wanted)
    assert (found.argmax(axis=1) == wanted.argmax(axis=1)).all()


def test_claims_that_are_read_together_do_not_see_each_other(mpnet: Path) -> None:
    """MPNet gives each claim about one text what it gives that claim alone, padded or not."""
    torch = pytest.importorskip("torch")
    from training.encode import Example
    from training.fit import tensors

    model = open_checkpoint(mpnet)
    text, claims = (5, 6, 7, 8, 9, 10), [(11, 12, 3), (13, 14, 15, 16, 3), (17, 3)]
    alone = [Example((*text, *claim), len(text), (0,)) for claim in claims]
    ids = (*text, *(token for claim in claims for token in claim))
    together = Example(ids, len(text), (0, 1, 2), tuple(map(len, claims)))
    with torch.no_grad():
        wanted = torch.cat([model(*tensors([one], "cpu")[:3]) for one in alone])
        found = model(*tensors([together, alone[1]], "cpu")[:3])
    assert torch.allclose(found[:3], wanted, atol=1e-5)
    assert torch.allclose(found[3], wanted[1], atol=1e-5)
    assert not torch.allclose(wanted[0], wanted[1], atol=1e-3)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_a_shipped_graph_can_be_trained_further(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """What `widen` takes out of the graph is the network that went in, within its rounding."""
    pytest.importorskip("torch")
    from onnx import load_from_string, numpy_helper

    from training.widen import wide_weights

    folder = request.getfixturevalue("checkpoint" if kind == "bert" else "mpnet")
    graph = load_from_string(graph_of(folder)).graph
    found = wide_weights({t.name: numpy_helper.to_array(t) for t in graph.initializer})
    wanted = open_checkpoint(folder).state_dict()
    assert set(found) == set(wanted)
    for name, value in found.items():
        own = wanted[name].numpy()[: len(value)]
        first = 2 if "position_embeddings" in name and kind == "mpnet" else 0
        # Clipping a few far weights may cost those more than a step.
        apart = np.abs(value[first:] - own[first:])
        assert apart.max() <= 0.25 * max(1e-4, np.abs(own).max()), name
        assert apart.mean() <= 0.02 * max(1e-4, np.abs(own).max()), name


def test_a_weight_that_is_to_be_trained_lies_anywhere_within_its_step(
    mpnet: Path, tmp_path: Path
) -> None:
    """On its code, what training changes by less than half a step would be rounded away again."""
    from onnx import load_from_string, numpy_helper
    from safetensors.numpy import load_file

    from training.build import write_manifest
    from training.config import read_config
    from training.export import export
    from training.widen import wide_weights, widen

    model, out = tmp_path / "model", tmp_path / "out"
    export(mpnet, model)
    recipe = Path(__file__).resolve().parents[2] / "training" / "near_misses.toml"
    write_manifest(read_config(recipe), model, ["model.int8.onnx", "tokenizer.json"])
    graph = load_from_string((model / "model.int8.onnx").read_bytes()).graph
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    exact = wide_weights(tensors)
    widen(model, out, frozen=1)
    found = load_file(out / "model.safetensors")
    for layer, moved in ((0, False), (1, True)):
        name = f"encoder.layer.{layer}.intermediate.dense"
        step = tensors[f"{name}.scale"][:, None]
        apart = (found[f"backbone.{name}.weight"] - exact[f"backbone.{name}.weight"]) / step
        assert np.abs(apart).max() <= 0.5 + 1e-4
        assert bool(np.abs(apart).mean() > 0.2) == moved
