"""Writes the pair classifier as an int8 ONNX graph: the encoder, its segments and the head.

The encoder is written as in `training.bert_onnx`. The head is small and stays in 32 bits.
Its products are written so that a pair's logits are the same bits in a batch of any size: the
mean over the tokens is one product per pair, and the head's two products have one row per pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from certirag.errors import ModelError
from training.bert_onnx import EncoderGraph, EncoderShape
from training.mpnet import RELATIVE, as_bert

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLASSES = 3
INPUTS = ("input_ids", "segments", "attention_mask")
MOST_POSITIONS = 384  # tokens of an MPNet pair; more are never asked for
_BACKBONE = "backbone."


def write_pair_classifier(
    weights: Mapping[str, NDArray[np.float32]], shape: EncoderShape, *, fine: bool = False
) -> bytes:
    """Return a serialised ONNX model: ids, segments and mask in, three logits a pair out.

    Inputs ``input_ids``, ``segments`` (0 evidence, 1 claim) and ``attention_mask`` are int64 of
    shape (batch, tokens); the output ``logits`` is float32 (batch, 3). *weights* are named as in
    `training.network.PairClassifier`: ``backbone.*``, ``dense.*`` and ``classes.*``.
    *fine* codes the inputs of the value and intermediate products twice: closer, but slower.
    Raises ModelError for weights that lack a tensor or whose head is of another size.
    """
    try:
        _checked_head(weights, shape)
        own = {name.removeprefix(_BACKBONE): value for name, value in weights.items()}
        own = as_bert(own, MOST_POSITIONS)
        return _PairGraph(own, shape, fine=fine).serialise()
    except KeyError as error:
        message = f"the weights have no tensor {error.args[0]!r}; give those of a PairClassifier"
        raise ModelError(message) from error


def _checked_head(weights: Mapping[str, NDArray[np.float32]], shape: EncoderShape) -> None:
    hidden = shape.hidden
    wanted = {
        "dense.weight": (hidden, 2 * hidden),
        "dense.bias": (hidden,),
        "classes.weight": (CLASSES, hidden),
        "classes.bias": (CLASSES,),
    }
    for name, size in wanted.items():
        if weights[name].shape != size:
            message = f"{name} has shape {weights[name].shape}; the head of a pair needs {size}"
            raise ModelError(message)


class _PairGraph(EncoderGraph):
    """An encoder with segments and a head, as `training.network.PairClassifier` has them.

    Over BERT the head reads the first token and the mean of all; over MPNet, where evidence does
    not see the claim, the claim's last token and the mean of its own.
    """

    def serialise(self) -> bytes:
        vectors = self._token_vectors()
        if RELATIVE in self._weights:
            parts = self._last(vectors), self._mean(vectors, "segments")
        else:
            parts = self._first(vectors), self._mean(vectors, "attention_mask")
        joined = self._op("Concat", *parts, axis=-1)
        inner = self._op("Gelu", self._product(joined, "dense"))
        last = self._constant("middle_axis", [1], "int64")
        self._op("Squeeze", self._product(inner, "classes"), last, name="logits")
        return self._model(
            "bert_pair_classifier_int8",
            inputs=INPUTS,
            output=("logits", ["batch", CLASSES]),
            producer="training.pair_onnx",
        )

    def _places(self) -> str:
        places = self._positions(self._weights["embeddings.position_embeddings.weight"])
        if RELATIVE in self._weights:
            return places  # MPNet knows the two texts by the marker between them
        table = self._constant(
            "segment_vectors", self._weights["embeddings.token_type_embeddings.weight"]
        )
        return self._op("Add", places, self._op("Gather", table, "segments"))

    def _first(self, vectors: str) -> str:
        """The first token's vector, of shape (batch, 1, hidden)."""
        return self._op("Gather", vectors, self._constant("first", [0], "int64"), axis=1)

    def _mask(self) -> str:
        if RELATIVE not in self._weights:
            return super()._mask()
        # Nobody sees padding, and evidence (rows) no claim (columns).
        seen = self._op("Sub", self._constant("one", 1.0), self._float("segments"))
        rows = self._op("Unsqueeze", seen, self._constant("row_axes", [1, 3], "int64"))
        claim = self._op(
            "Unsqueeze", self._float("segments"), self._constant("heads_axes", [1, 2], "int64")
        )
        hidden = self._op("Mul", self._op("Mul", rows, claim), self._constant("penalty", -1e4))
        return self._op("Add", super()._mask(), hidden)

    def _last(self, vectors: str) -> str:
        """The vector of the last token that is no padding, of shape (batch, 1, hidden)."""
        last = self._constant("last", [-1], "int64")
        so_far = self._op("CumSum", "attention_mask", self._constant("along", 1, "int64"))
        total = self._op("ReduceSum", "attention_mask", last, keepdims=1)
        ends = self._op(
            "Mul", self._float(self._op("Equal", so_far, total)), self._float("attention_mask")
        )
        middle = self._constant("middle_axis", [1], "int64")
        return self._op("MatMul", self._op("Unsqueeze", ends, middle), vectors)

    def _mean(self, vectors: str, counting: str) -> str:
        """The mean of the vectors that the input *counting* counts, of shape (batch, 1, hidden)."""
        middle = self._constant("middle_axis", [1], "int64")
        counted = self._op("Unsqueeze", self._float(counting), middle)
        total = self._op("MatMul", counted, vectors)
        number = self._op("ReduceSum", counted, self._constant("last", [-1], "int64"), keepdims=1)
        return self._op("Div", total, number)

    def _product(self, rows: str, prefix: str) -> str:
        weight = self._constant(f"{prefix}.weight", self._weights[f"{prefix}.weight"].T)
        bias = self._constant(f"{prefix}.bias", self._weights[f"{prefix}.bias"])
        return self._op("Add", self._op("MatMul", rows, weight), bias)
