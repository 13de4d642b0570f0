"""A pair classifier of two layers with random weights and a tokeniser of a few words."""

from __future__ import annotations

import hashlib
import json
import string
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from training.bert_onnx import EncoderShape

WORDS = "the fee is not refundable a pump river rises by and falls in may june cat dog sleeps"
MARKERS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_SIGNS = string.ascii_lowercase + string.digits + ".,:;|[]!?"
VOCABULARY = [*MARKERS, *_SIGNS, *(f"##{sign}" for sign in _SIGNS), *WORDS.split()[:-1], "sleeps"]
VOCABULARY = list(dict.fromkeys(VOCABULARY))
POSITIONS = 128
MAX_TOKENS = 64
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "vocab_size": len(VOCABULARY),
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": POSITIONS,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
}
SHAPE = EncoderShape.from_config(CONFIG)


def tiny_weights(seed: int = 3) -> dict[str, Any]:
    """Return random weights, named as those of a PairClassifier."""
    rng = np.random.default_rng(seed)
    hidden, inner = 32, 64
    sizes = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), hidden),
        "embeddings.position_embeddings.weight": (POSITIONS, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
        "embeddings.LayerNorm": (hidden,),
    }
    for layer in range(2):
        prefix = f"encoder.layer.{layer}."
        linear = {
            "attention.self.query": (hidden, hidden),
            "attention.self.key": (hidden, hidden),
            "attention.self.value": (hidden, hidden),
            "attention.output.dense": (hidden, hidden),
            "intermediate.dense": (inner, hidden),
            "output.dense": (hidden, inner),
        }
        for name, size in linear.items():
            sizes[f"{prefix}{name}.weight"] = size
            sizes[f"{prefix}{name}.bias"] = size[:1]
        sizes[f"{prefix}attention.output.LayerNorm"] = (hidden,)
        sizes[f"{prefix}output.LayerNorm"] = (hidden,)
    weights = {}
    for name, size in sizes.items():
        if name.endswith("LayerNorm"):
            weights[f"backbone.{name}.weight"] = 1 + 0.1 * rng.standard_normal(size)
            weights[f"backbone.{name}.bias"] = 0.1 * rng.standard_normal(size)
        else:
            weights[f"backbone.{name}"] = 0.25 * rng.standard_normal(size)
    for name, size in {"dense": (hidden, 2 * hidden), "classes": (3, hidden)}.items():
        weights[f"{name}.weight"] = 0.3 * rng.standard_normal(size)
        weights[f"{name}.bias"] = 0.1 * rng.standard_normal(size[0])
    return {name: value.astype(np.float32) for name, value in weights.items()}


def tiny_tokenizer() -> Tokenizer:
    """Return a WordPiece tokeniser whose file asks for truncation and padding, as BERT's do."""
    vocabulary = {word: at for at, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=MARKERS[1]))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(MARKERS)
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    return tokenizer


def save_checkpoint(directory: Path, seed: int = 3) -> Path:
    """Write the folder that a training run leaves, with random weights."""
    from safetensors.numpy import save_file

    directory.mkdir(parents=True, exist_ok=True)
    save_file(tiny_weights(seed), directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    tiny_tokenizer().save(str(directory / "tokenizer.json"))
    return directory


def write_manifest(directory: Path, **changes: Any) -> None:
    """Write the manifest of the graph and the tokeniser in *directory*, with *changes*."""
    names = ("model.int8.onnx", "tokenizer.json")
    manifest = {
        "name": "tiny",
        "version": "1",
        "max_tokens": MAX_TOKENS,
        "files": {
            name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in names
        },
    }
    text = json.dumps({**manifest, **changes})
    (directory / "manifest.json").write_text(text, encoding="utf-8")
