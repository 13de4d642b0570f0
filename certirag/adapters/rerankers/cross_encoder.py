"""Any sentence-transformers cross-encoder by name, through the Reranker port; extra 'models'."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from certirag.adapters.networks.model_files import weights_digest
from certirag.core.generation import ModelIdentity
from certirag.errors import MissingExtra, ModelError
from certirag.retrieve.hybrid import clean_text

_TRAINED_HEADS = ("ForSequenceClassification", "ForCausalLM", "ForConditionalGeneration")


class CrossEncoderReranker:
    """Scores with a cross-encoder that the user has: its name on the hub, or its directory.

    Nothing is fetched unless *allow_download*, and code that comes with a model is never run.
    The model must have one output, a relevance; its unit is its own. It reads what fits its
    window and no more: that only orders chunks, and what a verifier reads is not cut here.
    *batch_size* is 1 because padding changes the last bits of a score according to what it is
    computed with. Safe to share between threads: a lock is held while the model is at work.

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
        self._name = name
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._model = _open_model(name, device=device, allow_download=allow_download)
        self._identity = ModelIdentity(
            role="reranker",
            name=f"cross-encoder/{Path(name).name if Path(name).is_dir() else name}",
            version=str(getattr(self._model.config, "_commit_hash", None) or "local"),
            sha256=_digest(self._model),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name, hub revision (or "local") and a digest of weights and tokeniser."""
        return self._identity

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one finite relevance for each text; ModelError when the model cannot."""
        if not texts:
            return ()
        try:
            with self._lock:
                answered = self._model.predict(
                    [(clean_text(query), clean_text(text)) for text in texts],
                    batch_size=self._batch_size,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
        except Exception as error:
            message = f"the cross-encoder {self._name!r} failed on {len(texts)} texts: {error}"
            raise ModelError(message) from error
        return tuple(float(score) for score in answered)


def _open_model(name: str, *, device: str, allow_download: bool) -> Any:
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        message = (
            f"the reranker {name!r} needs sentence-transformers; "
            "install it with: pip install 'certirag[models]'"
        )
        raise MissingExtra(message) from error
    try:
        model = CrossEncoder(
            name, device=device, local_files_only=not allow_download, trust_remote_code=False
        )
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        message = (
            f"the cross-encoder {name!r} does not load ({reason}); give the directory of a "
            "sentence-transformers cross-encoder, or the name of one that was downloaded before"
        )
        raise ModelError(message) from error
    if model.num_labels != 1:
        message = (
            f"the cross-encoder {name!r} has {model.num_labels} outputs, not one relevance; "
            "choose a reranking model"
        )
        raise ModelError(message)
    # Without a trained head the library makes one up at random, and says so in a log line only.
    heads = [str(head) for head in getattr(model.config, "architectures", None) or ()]
    if not any(head.endswith(_TRAINED_HEADS) for head in heads):
        message = f"{name!r} ({', '.join(heads) or 'unknown'}) has no head trained to score pairs"
        raise ModelError(f"{message}; choose a reranking model")
    model.eval()
    return model


def _digest(model: Any) -> str:
    """Return the SHA-256 over everything that shapes a score: weights, words, window, activation."""
    window = getattr(model, "max_seq_length", None) or model.max_length  # renamed in version 6
    return weights_digest(model, model.tokenizer, f"{window} {model.activation_fn}\n")
