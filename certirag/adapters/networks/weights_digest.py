"""SHA-256 over a torch model and its tokeniser: everything that shapes a vector or a score."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def weights_digest(model: Any, tokenizer: Any, settings: str) -> str:
    """Return the digest in hex, the same wherever the model lies on disk.

    *model* is any torch module, *tokenizer* one of transformers; *settings* names what else
    decides about the outcome: window, pooling, label order, prompt.
    """
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        plain = tensor.detach().cpu().contiguous()
        digest.update(f"{name} {plain.dtype} {tuple(plain.shape)}\n".encode())
        digest.update(plain.flatten().view(torch.uint8).numpy().tobytes())
    backend = getattr(tokenizer, "backend_tokenizer", None)
    words = backend.to_str() if backend is not None else json.dumps(tokenizer.get_vocab())
    digest.update(words.encode())
    digest.update(settings.encode())
    return digest.hexdigest()
