"""Any sentence-transformers model by name, through the Embedder port; needs the extra 'models'."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certirag.adapters.embedders.unit_vectors import checked_texts, mean_of_windows, unit_rows
from certirag.adapters.networks.model_files import weights_digest
from certirag.core.generation import ModelIdentity
from certirag.errors import MissingExtra, ModelError


class SentenceTransformersEmbedder:
    """Embeds with a model that the user has: its name on the hub, or its directory.

    Nothing is fetched unless *allow_download*, and code that comes with a model is never run.
    *batch_size* is 1 because padding changes the last bits of a text's vector according to what
    it is embedded with; on a GPU a larger one is faster, at that price. Texts longer than the
    model's window are split at the blank nearest their middle until the parts fit, and nothing is
    dropped; prompts that a model sets for queries are not used, since the port does not tell
    queries from passages. Safe to share between threads: a lock is held while the model and its
    tokeniser, which keeps state between calls, are at work.

    Raises MissingExtra without the package, ModelError when the model is not there or not usable.
    """

    def __init__(
        self,
        name: str,
        *,
        device: str = "cpu",
        batch_size: int = 1,
        allow_download: bool = False,
    ) -> None:
        if batch_size < 1:
            message = f"batch_size must be at least 1, not {batch_size}"
            raise ModelError(message)
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._model = _open_model(name, device=device, allow_download=allow_download)
        self._name = name
        # text is text: a marker such as "[SEP]" written in a document is no marker
        self._model.tokenizer.split_special_tokens = True
        self._dimension = int(self._model.encode([""], prompt="").shape[1])
        self._max_tokens = self._model.get_max_seq_length()
        self._identity = ModelIdentity(
            role="embedder",
            name=Path(name).name if Path(name).is_dir() else name,
            version=_revision(self._model),
            sha256=_digest(self._model),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name, hub revision (or "local") and a digest of weights, tokeniser and pooling."""
        return self._identity

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array (len(texts), dimension) of unit rows."""
        parts = [self._parts(text) for text in checked_texts(texts)]
        flat = [part for of_text in parts for part in of_text]
        if not flat:
            return np.empty((0, self._dimension), dtype=np.float32)
        rows = iter(unit_rows(np.asarray(self._encode(flat, "sentence_embedding"))))
        return np.stack([mean_of_windows([next(rows) for _ in of_text]) for of_text in parts])

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        """Return per text an array (tokens, dimension) of unit rows, special tokens removed."""
        parts = [self._parts(text) for text in checked_texts(texts)]
        flat = [part for of_text in parts for part in of_text]
        features = iter(self._encode(flat, None) if flat else [])
        return tuple(
            np.concatenate([self._token_rows(next(features)) for _ in of_text]) for of_text in parts
        )

    def _encode(self, texts: list[str], output: str | None) -> Any:
        try:
            with self._lock:
                return self._model.encode(
                    texts,
                    prompt="",
                    batch_size=self._batch_size,
                    show_progress_bar=False,
                    output_value=output,
                )
        except Exception as error:
            message = f"the model {self._name!r} failed on {len(texts)} texts: {error}"
            raise ModelError(message) from error

    def _token_rows(self, features: Any) -> NDArray[np.float32]:
        if "token_embeddings" not in features or "input_ids" not in features:
            message = f"the model {self._name!r} has no token vectors; choose a transformer model"
            raise ModelError(message)
        ids = features["input_ids"].tolist()
        rows = features["token_embeddings"].detach().cpu().float().numpy()
        present = features["attention_mask"].cpu().numpy().astype(bool)
        special = np.isin(ids, self._model.tokenizer.all_special_ids)
        # An unknown word is a word of the text: it stays, though its id is listed as special.
        special &= np.asarray(ids) != self._model.tokenizer.unk_token_id
        if rows.shape[1] != self._dimension:
            message = (
                f"the model {self._name!r} has token vectors of {rows.shape[1]} numbers and text "
                f"vectors of {self._dimension}; late interaction needs one that has them alike"
            )
            raise ModelError(message)
        return unit_rows(rows[present & ~special])

    def _parts(self, text: str) -> list[str]:
        """Split *text* until each part fits the window; only blanks between parts are lost."""
        if self._max_tokens is None or self._length(text) <= self._max_tokens:
            return [text]
        cut = _cut_near_middle(text)
        if cut is None:
            message = (
                f"the model {self._name!r} reads {self._max_tokens} tokens, which {text!r} exceeds"
            )
            raise ModelError(message)
        parts = [text[:cut].rstrip(), text[cut:].lstrip()]
        return [piece for part in parts if part for piece in self._parts(part)] or [""]

    def _length(self, text: str) -> int:
        with self._lock:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])


def _cut_near_middle(text: str) -> int | None:
    """Return the place of the blank nearest the middle, else the middle; None for one letter."""
    middle = len(text) // 2
    if middle == 0:
        return None
    blanks = [place for place in range(1, len(text)) if text[place].isspace()]
    return min(blanks, key=lambda place: abs(place - middle), default=middle)


def _open_model(name: str, *, device: str, allow_download: bool) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        message = (
            f"the embedder {name!r} needs sentence-transformers; "
            "install it with: pip install 'certirag[models]'"
        )
        raise MissingExtra(message) from error
    try:
        model = SentenceTransformer(
            name,
            device=device,
            local_files_only=not allow_download,
            trust_remote_code=False,
        )
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        message = (
            f"the embedding model {name!r} does not load ({reason}); give the directory of a "
            "sentence-transformers model, or the name of one that was downloaded before"
        )
        raise ModelError(message) from error
    model.eval()
    return model


def _revision(model: Any) -> str:
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(config, "_commit_hash", None) or "local")


def _digest(model: Any) -> str:
    """Return the SHA-256 over everything that shapes a vector: weights, words, window, modules."""
    settings = f"{model.get_max_seq_length()}\n{[str(module) for module in model]}"
    return weights_digest(model, model.tokenizer, settings)
