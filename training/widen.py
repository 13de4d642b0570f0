r"""The int8 model that ships → a 32-bit checkpoint from which training goes on.

    python -m training.widen --model assets/models/verifier-large --frozen 3 --out CHECKPOINT

The checkpoints of earlier runs are too large to keep; the shipped graph holds their weights within
its own rounding. Of the layers that are to be trained each weight is drawn from the whole step that
was rounded to its code: one that began on the code itself would be rounded back to it, for a stage of
training moves it less than half a step. Scores differ as little as between two seeds.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certirag.adapters.networks.model_files import GRAPH, TOKENIZER, read_model_files
from certirag.errors import CertiRAGError
from training.bert_onnx import GELU_SHIFT
from training.mpnet import MPNET_NAMES, RELATIVE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HEADS = 12  # of MiniLM and of MPNet, whatever their width
_SEED = 1


def widen(model: Path, out: Path, *, frozen: int = 0) -> None:
    """Write ``model.safetensors``, ``config.json`` and ``tokenizer.json`` to *out*.

    *model* is the folder of a verifier as `training` writes it; its *frozen* lowest layers
    will not be trained and keep the values of their codes. Raises ModelError for any other folder,
    or for one that differs from its manifest.
    """
    from onnx import load_from_string, numpy_helper
    from safetensors.numpy import save_file

    files = read_model_files(model, needed=(GRAPH, TOKENIZER))
    graph = load_from_string(files.contents[GRAPH]).graph
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    weights = wide_weights(_within_steps(tensors, frozen))
    out.mkdir(parents=True, exist_ok=True)
    save_file(weights, out / "model.safetensors")
    (out / "config.json").write_text(json.dumps(_config(weights), indent=1) + "\n", "utf-8")
    (out / "tokenizer.json").write_bytes(files.contents[TOKENIZER])


def _within_steps(tensors: dict[str, NDArray[Any]], frozen: int) -> dict[str, NDArray[Any]]:
    import numpy as np

    chance = np.random.default_rng(_SEED)
    found = dict(tensors)
    for name, value in tensors.items():
        layer = re.match(r"encoder\.layer\.(\d+)\..*\.codes$", name)
        if layer and int(layer[1]) >= frozen:
            found[name] = value + chance.uniform(-0.5, 0.5, value.shape).astype(np.float32)
    return found


def wide_weights(tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """Return the weights of a PairClassifier, by name, from the initialisers of its graph."""
    import numpy as np

    mpnet = "biases" in tensors
    words = tensors["words.codes"] * tensors["words.scale"]
    places = tensors["positions"]
    found = {"embeddings.word_embeddings.weight": words}
    if mpnet:  # it counts positions from 2
        places = np.concatenate([np.zeros_like(places[:2]), places])
        found[RELATIVE] = tensors["biases"]
    else:
        found["embeddings.token_type_embeddings.weight"] = tensors["segment_vectors"]
    found["embeddings.position_embeddings.weight"] = places
    for name, value in tensors.items():
        part, _, kind = name.rpartition(".")
        if kind == "codes" and part != "words":
            columns = value * tensors[f"{part}.scale"]
            bias = tensors[f"{part}.bias"]
            if part.endswith(".output.dense") and ".attention." not in part:
                bias = bias + GELU_SHIFT * columns.sum(axis=0)
            found |= {f"{part}.weight": columns.T, f"{part}.bias": bias}
        elif kind == "gain":
            found |= {f"{part}.weight": value, f"{part}.bias": tensors[f"{part}.bias"]}
    found = {f"backbone.{_own_name(name, mpnet)}": value for name, value in found.items()}
    for head in ("dense", "classes"):
        found[f"{head}.weight"] = tensors[f"{head}.weight"].T
        found[f"{head}.bias"] = tensors[f"{head}.bias"]
    return {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in found.items()}


def _own_name(name: str, mpnet: bool) -> str:
    for own, berts in MPNET_NAMES.items() if mpnet else ():
        name = name.replace(berts, own)
    return name


def _config(weights: dict[str, NDArray[np.float32]]) -> dict[str, Any]:
    words, hidden = weights["backbone.embeddings.word_embeddings.weight"].shape
    places = weights["backbone.embeddings.position_embeddings.weight"]
    mpnet = f"backbone.{RELATIVE}" in weights
    return {
        "model_type": "mpnet" if mpnet else "bert",
        "vocab_size": words,
        "hidden_size": hidden,
        "num_hidden_layers": sum(name.endswith("intermediate.dense.bias") for name in weights),
        "num_attention_heads": _HEADS,
        "intermediate_size": weights["backbone.encoder.layer.0.intermediate.dense.bias"].shape[0],
        "max_position_embeddings": places.shape[0],
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-5 if mpnet else 1e-12,
        "pad_token_id": 1 if mpnet else 0,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.widen", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--model", type=Path, required=True, help="folder of the shipped verifier")
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--frozen", type=int, default=0, help="layers that will not be trained")
    options = parser.parse_args(arguments)
    try:
        widen(options.model, options.out, frozen=options.frozen)
    except (CertiRAGError, KeyError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
