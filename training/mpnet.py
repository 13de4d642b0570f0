"""What MPNet (Song et al. 2020) has that BERT has not: other names, and a bias for each distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RELATIVE = "encoder.relative_attention_bias.weight"  # MPNet's, one row a bucket of distance
MPNET_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}


def as_bert(
    weights: Mapping[str, NDArray[np.float32]], most: int
) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an MPNet encoder under BERT's names; those of a BERT as they are.

    MPNet counts positions from 2 and has no segments; *most* positions are kept.
    """
    if RELATIVE not in weights:
        return dict(weights)
    found = {}
    for name, value in weights.items():
        for own, berts in MPNET_NAMES.items():
            name = name.replace(own, berts)  # noqa: PLW2901
        found[name] = value
    table = "embeddings.position_embeddings.weight"
    found[table] = found[table][2 : 2 + most]
    return found


def distance_buckets(most: int) -> NDArray[np.uint8]:
    """Return (most, most) buckets of the distances between tokens (Raffel et al. 2020, T5)."""
    import numpy as np

    places = np.arange(most)
    away = places[:, None] - places[None, :]
    half, exact, far = 16, 8, 128
    size = np.abs(away)
    with np.errstate(divide="ignore"):
        # In 32 bits, as it was trained: a distance on an edge falls into the same bucket.
        grown = np.log(size.astype(np.float32) / exact) / np.log(far / exact) * (half - exact)
    large = np.minimum(exact + np.where(size < exact, 0, grown).astype(np.int64), half - 1)
    buckets = np.where(size < exact, size, large) + half * (away < 0)
    found: NDArray[np.uint8] = buckets.astype(np.uint8)
    return found
