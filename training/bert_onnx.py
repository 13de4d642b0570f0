"""Writes a BERT encoder as an int8 ONNX graph, node by node, so that equal weights give equal bytes.

The graph is written here rather than traced from PyTorch because a tracer's output changes with
its version, and because four choices of the quantisation are ours to make:

* Activations are quantised per token (one scale per row), not per tensor. A token's codes then
  depend on that token alone; measured on all-MiniLM-L6-v2 it halves the loss of cosine.
* The inputs of the value and intermediate products, where a few far channels make the steps of a
  row coarse, are coded twice: the rounded steps, then what the rounding left, in 254ths of a step.
  The same integer weights serve both. It halves the loss again for a quarter more time.
* Weights are quantised per output column to 7 bits. The product of an unsigned 8-bit activation
  and a 7-bit weight, added in pairs, stays within 16 bits, so the AVX2 instruction that processors
  without VNNI use cannot saturate: every processor computes the same integers.
* GELU is never below -0.17, so its output is shifted up by that, coded on all 255 steps, and the
  shift is taken back exactly in the next bias.

Weights are named as in the Hugging Face BertModel; only exact GELU and absolute positions are
written, anything else is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from certirag.errors import ModelError
from training.mpnet import RELATIVE, distance_buckets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPSET = 20  # the first with Gelu
IR_VERSION = 9  # the one that belongs to opset 20; older runtimes read it
WEIGHT_STEPS = 63
FINE_STEPS = 254.0  # what rounding leaves is within half a step: 127 fine ones
GELU_SHIFT = 0.17  # the minimum of exact GELU is -0.16997


@dataclass(frozen=True, slots=True)
class _Codes:
    """Names of an activation's 8-bit *steps* and of the *scale* of a step, one per row.

    *form* says how to read the steps: ``centred`` on 128; ``doubled``, the same with the finer
    steps stacked below on the batch axis; ``floored``, counted from -GELU_SHIFT up.
    """

    steps: str
    scale: str
    form: str


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The figures of a BERT or MPNet encoder that its weights do not state themselves."""

    layers: int
    heads: int
    hidden: int
    epsilon: float

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> EncoderShape:
        """Read a Hugging Face config.json; raise ModelError for an encoder of another kind."""
        wanted = {
            "model_type": ("bert", "mpnet"),
            "hidden_act": ("gelu",),
            "position_embedding_type": ("absolute",),
        }
        for key, values in wanted.items():
            if config.get(key, values[0]) not in values:
                one = " or ".join(map(repr, values))
                message = f"config.json says {key}={config[key]!r}; only {one} can be written"
                raise ModelError(message)
        try:
            return cls(
                layers=int(config["num_hidden_layers"]),
                heads=int(config["num_attention_heads"]),
                hidden=int(config["hidden_size"]),
                epsilon=float(config["layer_norm_eps"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            message = f"config.json is not a BERT configuration: {error!r}"
            raise ModelError(message) from error


def write_encoder(weights: Mapping[str, NDArray[np.float32]], shape: EncoderShape) -> bytes:
    """Return a serialised ONNX model: ids and mask in, token vectors out.

    Inputs ``input_ids`` and ``attention_mask`` are int64 of shape (batch, tokens); the output
    ``token_vectors`` is float32 of shape (batch, tokens, hidden), the last hidden state. A
    pooler, if the weights have one, is left out.
    """
    try:
        return EncoderGraph(weights, shape).serialise()
    except KeyError as error:
        message = f"the weights have no tensor {error.args[0]!r}; give those of a BertModel"
        raise ModelError(message) from error


class EncoderGraph:
    """The nodes and constants of one encoder, in the order in which they run.

    *fine* codes the inputs of the value and intermediate products twice. A graph that ends in
    something else than token vectors is a subclass with its own `serialise` and `_places`.
    """

    def __init__(
        self, weights: Mapping[str, NDArray[np.float32]], shape: EncoderShape, *, fine: bool = True
    ) -> None:
        import numpy as np
        import onnx

        self._np, self._onnx = np, onnx
        self._weights, self._shape, self._fine = weights, shape, fine
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def serialise(self) -> bytes:
        self._op("Identity", self._token_vectors(), name="token_vectors")
        return self._model(
            "bert_encoder_int8",
            inputs=("input_ids", "attention_mask"),
            output=("token_vectors", ["batch", "tokens", self._shape.hidden]),
            producer="training.bert_onnx",
        )

    def _token_vectors(self) -> str:
        hidden = self._embeddings()
        mask = self._mask()
        for layer in range(self._shape.layers):
            hidden = self._layer(hidden, mask, f"encoder.layer.{layer}.")
        return hidden

    def _model(
        self, name: str, *, inputs: Sequence[str], output: tuple[str, list[Any]], producer: str
    ) -> bytes:
        """Serialise all nodes so far as a checked model with int64 *inputs* (batch, tokens)."""
        onnx, helper = self._onnx, self._onnx.helper
        int64, float32 = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info(one, int64, ["batch", "tokens"]) for one in inputs],
            [helper.make_tensor_value_info(output[0], float32, output[1])],
            list(self._constants.values()),
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name=producer,
        )
        onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))

    def _op(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        output = name or f"{kind}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _constant(self, name: str, value: Any, kind: str = "float32") -> str:
        if name not in self._constants:
            array = self._np.ascontiguousarray(value, dtype=kind).reshape(self._np.shape(value))
            self._constants[name] = self._onnx.numpy_helper.from_array(array, name)
        return name

    def _float(self, value: str) -> str:
        return self._op("Cast", value, to=self._onnx.TensorProto.FLOAT)

    def _byte(self, value: str) -> str:
        return self._op("Cast", value, to=self._onnx.TensorProto.UINT8)

    def _embeddings(self) -> str:
        np = self._np
        words = self._weights["embeddings.word_embeddings.weight"]
        scale = np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-12) / 127
        codes = self._constant("words.codes", np.rint(words / scale), "int8")
        scales = self._constant("words.scale", scale)
        word = self._op(
            "Mul",
            self._float(self._op("Gather", codes, "input_ids")),
            self._op("Gather", scales, "input_ids"),
        )
        return self._norm(self._op("Add", word, self._places()), "embeddings.LayerNorm")

    def _places(self) -> str:
        """Return what is added to a word for its place: here its position and the only segment."""
        # One segment only, so its vector is added to the positions once and for all.
        segment = self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._positions(self._weights["embeddings.position_embeddings.weight"] + segment)

    def _positions(self, places: NDArray[np.float32]) -> str:
        return self._op(
            "Slice",
            self._constant("positions", places),
            self._constant("zero", [0], "int64"),
            self._op("Shape", "input_ids", start=1, end=2),
            self._constant("zero", [0], "int64"),
        )

    def _mask(self) -> str:
        absent = self._op("Sub", self._constant("one", 1.0), self._float("attention_mask"))
        penalty = self._op("Mul", absent, self._constant("penalty", -1e4))
        mask = self._op("Unsqueeze", penalty, self._constant("heads_axes", [1, 2], "int64"))
        if RELATIVE not in self._weights:
            return mask
        return self._op("Add", mask, self._relative_bias())

    def _relative_bias(self) -> str:
        """What MPNet adds to every attention score for the distance: (heads, tokens, tokens)."""
        tokens = self._op("Shape", "input_ids", start=1, end=2)
        most = self._weights["embeddings.position_embeddings.weight"].shape[0]
        buckets = self._op(
            "Slice",
            self._constant("buckets", distance_buckets(most), "uint8"),
            self._constant("corner", [0, 0], "int64"),
            self._op("Concat", tokens, tokens, axis=0),
            self._constant("both_axes", [0, 1], "int64"),
        )
        places = self._op("Cast", buckets, to=self._onnx.TensorProto.INT32)
        biases = self._op("Gather", self._constant("biases", self._weights[RELATIVE]), places)
        return self._op("Transpose", biases, perm=[2, 0, 1])

    def _layer(self, hidden: str, mask: str, prefix: str) -> str:
        coarse, fine = self._codes(hidden), self._fine_codes(hidden)
        query, key, value = (
            self._split_heads(self._linear(codes, f"{prefix}attention.self.{part}"))
            for part, codes in (("query", coarse), ("key", coarse), ("value", fine))
        )
        mixed = self._codes(self._attend(query, key, value, mask))
        dense = self._linear(mixed, f"{prefix}attention.output.dense")
        attended = self._norm(self._op("Add", hidden, dense), f"{prefix}attention.output.LayerNorm")
        fine = self._fine_codes(attended)
        inner = self._op("Gelu", self._linear(fine, f"{prefix}intermediate.dense"))
        outer = self._linear(self._gelu_codes(inner), f"{prefix}output.dense")
        return self._norm(self._op("Add", attended, outer), f"{prefix}output.LayerNorm")

    def _split_heads(self, value: str) -> str:
        size = self._shape.hidden // self._shape.heads
        split = self._constant("split", [0, 0, self._shape.heads, size], "int64")
        return self._op("Reshape", value, split)

    def _attend(self, query: str, key: str, value: str, mask: str) -> str:
        size = self._shape.hidden // self._shape.heads
        query = self._op("Mul", query, self._constant("root", size**-0.5))
        weights = self._op(
            "MatMul",
            self._op("Transpose", query, perm=[0, 2, 1, 3]),
            self._op("Transpose", key, perm=[0, 2, 3, 1]),
        )
        weights = self._op("Softmax", self._op("Add", weights, mask), axis=-1)
        mixed = self._op("MatMul", weights, self._op("Transpose", value, perm=[0, 2, 1, 3]))
        join = self._constant("join", [0, 0, self._shape.hidden], "int64")
        return self._op("Reshape", self._op("Transpose", mixed, perm=[0, 2, 1, 3]), join)

    def _norm(self, value: str, prefix: str) -> str:
        return self._op(
            "LayerNormalization",
            value,
            self._constant(f"{prefix}.gain", self._weights[f"{prefix}.weight"]),
            self._constant(f"{prefix}.bias", self._weights[f"{prefix}.bias"]),
            axis=-1,
            epsilon=self._shape.epsilon,
        )

    def _codes(self, value: str) -> _Codes:
        """Code each row about 128, in 127 steps up and down, with its own scale."""
        exact, scale = self._steps(value)
        return _Codes(self._about_middle(self._op("Round", exact)), scale, "centred")

    def _fine_codes(self, value: str) -> _Codes:
        """Code each row as `_codes` does, and below it what the rounding left, unless told not to."""
        if not self._fine:
            return self._codes(value)
        exact, scale = self._steps(value)
        coarse = self._op("Round", exact)
        rest = self._op("Sub", exact, coarse)
        fine = self._op("Round", self._op("Mul", rest, self._constant("fine", FINE_STEPS)))
        both = self._op("Concat", coarse, fine, axis=0)
        return _Codes(self._about_middle(both), scale, "doubled")

    def _steps(self, value: str) -> tuple[str, str]:
        top = self._row_top(self._op("Abs", value))
        scale = self._op("Div", top, self._constant("half_steps", 127.0))
        return self._op("Div", value, scale), scale

    def _gelu_codes(self, value: str) -> _Codes:
        """Code each row of GELU's output upwards from -GELU_SHIFT."""
        shift = self._constant("gelu_shift", GELU_SHIFT)
        shifted = self._op("Relu", self._op("Add", value, shift))
        scale = self._op("Div", self._row_top(shifted), self._constant("steps", 255.0))
        return _Codes(
            self._byte(self._op("Round", self._op("Div", shifted, scale))), scale, "floored"
        )

    def _row_top(self, value: str) -> str:
        top = self._op("ReduceMax", value, self._constant("last", [-1], "int64"), keepdims=1)
        return self._op("Max", top, self._constant("tiny", 1e-12))

    def _about_middle(self, steps: str) -> str:
        return self._byte(self._op("Add", steps, self._constant("middle", 128.0)))

    def _linear(self, codes: _Codes, prefix: str) -> str:
        """Multiply coded rows by the weights of *prefix* and add its bias."""
        weight = self._weights[f"{prefix}.weight"].T.astype("float64")
        bias = self._weights[f"{prefix}.bias"].astype("float64")
        columns, column_scale = _quantise_columns(weight)
        floored = codes.form == "floored"
        if floored:
            bias = bias - GELU_SHIFT * columns.sum(axis=0) * column_scale
        product = self._float(
            self._op(
                "MatMulInteger",
                codes.steps,
                self._constant(f"{prefix}.codes", columns, "int8"),
                self._constant("floor" if floored else "centre", 0 if floored else 128, "uint8"),
                self._constant("weight_zero", 0, "int8"),
            )
        )
        if codes.form == "doubled":
            coarse, fine = self._halves(product)
            fine = self._op("Mul", fine, self._constant("fine_step", 1 / FINE_STEPS))
            product = self._op("Add", coarse, fine)
        rows = self._op("Mul", product, codes.scale)
        scaled = self._op("Mul", rows, self._constant(f"{prefix}.scale", column_scale))
        return self._op("Add", scaled, self._constant(f"{prefix}.bias", bias))

    def _halves(self, value: str) -> tuple[str, str]:
        halves = (f"{value}_upper", f"{value}_lower")
        node = self._onnx.helper.make_node("Split", [value], halves, axis=0, num_outputs=2)
        self._nodes.append(node)
        return halves


def _quantise_columns(
    weight: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return whole codes in ±WEIGHT_STEPS (inputs, outputs) and scales (outputs,).

    Each column's scale is the one of 21, from 60 % of its range to all of it, with the least
    squared error: clipping a few far weights costs less than coarse steps for all the others.
    """
    import numpy as np

    widest = np.maximum(np.abs(weight).max(axis=0), 1e-12) / WEIGHT_STEPS
    best_scale = widest
    best_error = np.full(weight.shape[1], np.inf)
    for part in range(60, 101, 2):
        scale = widest * (part / 100)
        error = np.square(_round_to_steps(weight, scale) * scale - weight).sum(axis=0)
        better = error < best_error
        best_scale = np.where(better, scale, best_scale)
        best_error = np.where(better, error, best_error)
    return _round_to_steps(weight, best_scale), best_scale


def _round_to_steps(weight: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    steps: NDArray[np.float64] = np.clip(np.rint(weight / scale), -WEIGHT_STEPS, WEIGHT_STEPS)
    return steps
