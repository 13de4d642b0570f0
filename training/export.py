"""Turns a trained checkpoint into the int8 files that ship, and measures what that changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certirag.errors import InputError, ModelError
from training.bert_onnx import EncoderShape
from training.encode import NOT_ENTAILED, Example
from training.pair_onnx import INPUTS, write_pair_classifier

if TYPE_CHECKING:
    from training.network import PairClassifier

GRAPH = "model.int8.onnx"
TOKENIZER = "tokenizer.json"
SIZE_LIMIT = 95_000_000


@dataclass(frozen=True, slots=True)
class Agreement:
    """How close the int8 graph is to the 32-bit network, over *pairs* pairs.

    *labels* is the share whose largest logit is the same class, *entailed* the share on the same
    side of the entailed class; *largest* and *mean* are absolute differences of single logits.
    """

    pairs: int
    labels: float
    entailed: float
    largest: float
    mean: float


def export(checkpoint: Path, out: Path, *, fine: bool = False) -> dict[str, int]:
    """Write ``model.int8.onnx`` and ``tokenizer.json`` to *out*; return their sizes in bytes.

    *checkpoint* is the folder that a training run leaves: ``model.safetensors``, ``config.json``
    and ``tokenizer.json``. Equal weights give equal bytes. *fine* is that of
    `write_pair_classifier`. Raises InputError for a folder that is not a checkpoint, ModelError
    for weights of another network or a graph that is too large.
    """
    contents = {GRAPH: graph_of(checkpoint, fine=fine), TOKENIZER: _read(checkpoint, TOKENIZER)}
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (out / name).write_bytes(content)
    return {name: len(content) for name, content in contents.items()}


def graph_of(checkpoint: Path, *, fine: bool = False) -> bytes:
    """Return the int8 graph of the network in *checkpoint*; errors as in `export`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    shape = EncoderShape.from_config(_config(checkpoint))
    try:
        weights = load(_read(checkpoint, "model.safetensors"))
    except SafetensorError as error:
        message = f"{checkpoint / 'model.safetensors'} is not a safetensors file: {error}"
        raise InputError(message) from error
    wide = {name: value.astype("float32") for name, value in weights.items()}
    graph = write_pair_classifier(wide, shape, fine=fine)
    if len(graph) > SIZE_LIMIT:
        message = f"the int8 graph takes {len(graph)} bytes; {SIZE_LIMIT} are allowed"
        raise ModelError(message)
    return graph


def agreement(checkpoint: Path, graph: bytes, examples: Sequence[Example]) -> Agreement:
    """Compare *graph* with the 32-bit network of *checkpoint* on *examples*, one pair at a time.

    The labels of the examples are not looked at. Raises InputError for no examples or a folder
    that is not a checkpoint.
    """
    import numpy as np

    from training.fit import logits_of

    if not examples:
        message = "agreement needs at least one example"
        raise InputError(message)
    exact = np.array(logits_of(open_checkpoint(checkpoint), examples, device="cpu"))
    found = np.array(graph_logits(graph, examples))
    best_exact, best_found = exact.argmax(axis=1), found.argmax(axis=1)
    apart = np.abs(exact - found)
    return Agreement(
        pairs=len(examples),
        labels=float((best_exact == best_found).mean()),
        entailed=float(((best_exact == 0) == (best_found == 0)).mean()),
        largest=float(apart.max()),
        mean=float(apart.mean()),
    )


def graph_logits(graph: bytes, examples: Sequence[Example]) -> list[tuple[float, float, float]]:
    """Return the three logits that *graph* gives to each example, as the shipped runtime does."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    logits = []
    for example in examples:
        ids = np.array([example.ids], dtype=np.int64)
        segments = (np.arange(len(example.ids)) >= example.evidence).astype(np.int64)[None]
        feed = dict(zip(INPUTS, (ids, segments, np.ones_like(ids)), strict=True))
        first, second, third = session.run(["logits"], feed)[0][0].tolist()
        logits.append((first, second, third))
    return logits


def open_checkpoint(checkpoint: Path) -> PairClassifier:
    """Load the 32-bit network of *checkpoint*, ready to score; errors as in `export`."""
    from safetensors import SafetensorError
    from safetensors.torch import load
    from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

    from training.network import PairClassifier

    shape = _config(checkpoint)
    mpnet = shape.get("model_type") == "mpnet"
    config = (MPNetConfig if mpnet else BertConfig).from_dict(shape, attn_implementation="eager")
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    backbone = (MPNetModel if mpnet else BertModel)(config, add_pooling_layer=False)
    model = PairClassifier(backbone, config.hidden_size)
    try:
        model.load_state_dict(load(_read(checkpoint, "model.safetensors")))
    except (SafetensorError, RuntimeError) as error:
        first = str(error).splitlines()[0]
        message = f"{checkpoint / 'model.safetensors'} holds another network: {first}"
        raise InputError(message) from error
    return model.eval()


def open_model(weights: Path, layers: int | None = None) -> PairClassifier:
    """Load the encoder in *weights* under a new head, or under the head that lies there too.

    A folder that a training run left, or `widen` wrote, has both and is trained further; errors
    as in `open_backbone` and `open_checkpoint`.
    """
    from safetensors.torch import load_file

    from training.network import PairClassifier, open_backbone

    state = load_file(weights / "model.safetensors") if weights.is_dir() else {}
    if "classes.weight" not in state:
        backbone, config = open_backbone(weights, layers)
        return PairClassifier(backbone, config["hidden_size"])
    return open_checkpoint(weights)


def unlabelled(ids: Sequence[int], evidence: int) -> Example:
    """Return an example that is only to be scored; *evidence* counts ``[CLS] evidence [SEP]``."""
    return Example(tuple(ids), evidence, (NOT_ENTAILED,))


def _config(checkpoint: Path) -> dict[str, Any]:
    try:
        config = json.loads(_read(checkpoint, "config.json"))
    except ValueError as error:
        message = f"{checkpoint / 'config.json'} is not JSON: {error}"
        raise InputError(message) from error
    if not isinstance(config, dict):
        message = f"{checkpoint / 'config.json'} is not the configuration of a BERT model"
        raise InputError(message)
    return config


def _read(checkpoint: Path, name: str) -> bytes:
    try:
        return (checkpoint / name).read_bytes()
    except OSError as error:
        message = (
            f"no {name} in {checkpoint} ({error.strerror}); give the folder that training left"
        )
        raise InputError(message) from error
