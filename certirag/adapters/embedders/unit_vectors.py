"""What every embedder does the same way: take texts in, give unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certirag.errors import InputError, ModelError


def checked_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return *texts* as a tuple of texts that any tokeniser can read.

    Half of a surrogate pair, which a damaged file can hold and UTF-8 cannot, becomes U+FFFD.
    Raises InputError for a lone text, which would otherwise be embedded letter by letter, and for
    anything that is not a text.
    """
    if isinstance(texts, str | bytes):
        message = f"embed takes a sequence of texts, not one {type(texts).__name__}; put it in [ ]"
        raise InputError(message)
    strangers = [text for text in texts if not isinstance(text, str)]
    if strangers:
        message = f"embed takes texts, not {type(strangers[0]).__name__} {strangers[0]!r:.60}"
        raise InputError(message)
    return tuple(
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts
    )


def unit_rows(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """Scale each row of an array (n, dimension) to length one.

    Raises ModelError for a row that has no direction (zero, NaN or infinite): the caller must not
    be given a vector that compares as if it meant something.
    """
    wide = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        message = "the embedder computed a vector without direction (zero or not finite)"
        raise ModelError(message)
    unit: NDArray[np.float32] = (wide / lengths).astype(np.float32)
    return unit


def mean_of_windows(windows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the unit vector (dimension,) of a text from those of its windows."""
    if len(windows) == 1:
        return windows[0]  # as computed: a second scaling could change its last bit
    mean = np.mean(np.stack(windows).astype(np.float64), axis=0, keepdims=True)
    vector: NDArray[np.float32] = unit_rows(mean)[0]
    return vector
