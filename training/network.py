"""The network that is trained: a BERT encoder with a three-way head over a pair (PyTorch)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from certirag.errors import InputError
from training.encode import NOT_ENTAILED


class PairClassifier(nn.Module):
    """Scores (evidence, claim) pairs: three logits for entailed, not_enough_info, contradicted.

    Over BERT each token sees all others, and the head reads the first token's vector beside the
    mean of all: the backbone was trained to hold its meaning in the mean, and the first token is
    free to learn the relation. Over MPNet a claim sees the evidence and itself, the evidence only
    itself, and the head reads the claim's last token beside the mean of its own. So all claims
    about one text are read in one go: a claim costs its own tokens alone.
    """

    def __init__(self, backbone: nn.Module, hidden: int) -> None:
        super().__init__()
        self.backbone = backbone
        self._segmented = getattr(backbone.config, "type_vocab_size", 0) > 1  # MPNet has none
        self.dense = nn.Linear(2 * hidden, hidden)
        self.classes = nn.Linear(hidden, 3)
        for layer in (self.dense, self.classes):
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return logits (claims, 3) of int64 *ids*, *segments* and *mask* of (batch, tokens).

        *segments* are 0 for evidence and number the claims about it from 1, one after the other;
        over BERT there is one claim.
        """
        if self._segmented:
            whole = self.backbone(input_ids=ids, attention_mask=mask, token_type_ids=segments)
            vectors = whole.last_hidden_state
            weights = mask.unsqueeze(-1).to(vectors.dtype)
            mean = (vectors * weights).sum(dim=1) / weights.sum(dim=1)
            joined = torch.cat([vectors[:, 0], mean], dim=-1)
        else:
            segments = segments.masked_fill(mask == 0, -1)
            joined = _of_claims(self._one_way(ids, segments), segments)
        logits: Tensor = self.classes(nn.functional.gelu(self.dense(joined)))
        return logits

    def _one_way(self, ids: Tensor, segments: Tensor) -> Tensor:
        """Return MPNet's vectors (batch, tokens, hidden); padding has the segment -1."""
        encoder: Any = self.backbone.encoder
        places = _places(segments)
        own = segments.unsqueeze(2) == segments.unsqueeze(1)
        unseen = ~(own | (segments == 0).unsqueeze(1))
        away = places.unsqueeze(1) - places.unsqueeze(2)
        bias = encoder.relative_attention_bias(encoder.relative_position_bucket(away))
        bias = bias.permute(0, 3, 1, 2).masked_fill(unseen.unsqueeze(1), -1e4)
        embeddings: Any = self.backbone.embeddings
        vectors: Tensor = embeddings(input_ids=ids, position_ids=places + 2)
        for layer in encoder.layer:
            vectors = layer(vectors, None, bias)[0]
        return vectors


def _places(segments: Tensor) -> Tensor:
    """Return each token's place (batch, tokens): every claim stands right behind the evidence."""
    along = torch.arange(segments.shape[1], device=segments.device).expand_as(segments)
    begins = nn.functional.pad(segments[:, 1:] != segments[:, :-1], (1, 0))
    start = torch.where(begins, along, 0).cummax(dim=1).values
    evidence = (segments == 0).sum(dim=1, keepdim=True)
    return torch.where(segments == 0, along, evidence + along - start)


def _of_claims(vectors: Tensor, segments: Tensor) -> Tensor:
    """Return for each claim its last token's vector beside the mean of its own: (claims, 2 h)."""
    counts = segments.amax(dim=1)
    first = counts.cumsum(dim=0) - counts
    of_claim = segments > 0
    number = (first.unsqueeze(1) + segments - 1)[of_claim]
    own = vectors[of_claim].float()
    total = own.new_zeros(int(counts.sum()), own.shape[1]).index_add(0, number, own)
    sizes = torch.bincount(number, minlength=len(total))
    return torch.cat([own[sizes.cumsum(dim=0) - 1], total / sizes.unsqueeze(1)], dim=-1)


def open_backbone(weights: Path, layers: int | None = None) -> tuple[nn.Module, dict[str, Any]]:
    """Load the encoder in *weights* (a folder of BERT or MPNet) without dropout; and its config.

    Of *layers*, the lowest are kept (Sajjad et al. 2020: the top ones are missed least).

    Dropout is off: on a CPU its random numbers cost as much as the products, and the averaged
    weights regularise as well. Raises InputError when the folder is not such a model.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # everything is in the folder; ask nobody
    from transformers import BertModel, MPNetModel
    from transformers.utils import logging

    logging.set_verbosity_error()  # the unused pooler is no news
    logging.disable_progress_bar()
    try:
        config = json.loads((weights / "config.json").read_text(encoding="utf-8"))
        config["num_hidden_layers"] = layers or config["num_hidden_layers"]
        kind = MPNetModel if config.get("model_type") == "mpnet" else BertModel
        model = kind.from_pretrained(
            str(weights),
            num_hidden_layers=config["num_hidden_layers"],
            add_pooling_layer=False,
            local_files_only=True,
            attn_implementation="eager",  # faster than the fused one on a CPU at these lengths
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    except (OSError, ValueError) as error:
        message = f"{weights} is not the folder of a BERT or MPNet model: {error}"
        raise InputError(message) from error
    return model, config


def loss_of(logits: Tensor, labels: Tensor, smoothing: float) -> Tensor:
    """Mean cross-entropy; rows labelled NOT_ENTAILED count on the support side only.

    For those the loss is -log(1 - p(entailed)): neutral and contradicted together. A two-way
    entailed row is an ordinary entailed row.
    """
    logs = nn.functional.log_softmax(logits.float(), dim=-1)
    open_label = labels == NOT_ENTAILED
    known = labels.masked_fill(open_label, 1)
    exact = -logs.gather(1, known.unsqueeze(1)).squeeze(1)
    exact = (1 - smoothing) * exact - smoothing * logs.mean(dim=-1)
    either = -torch.logsumexp(logs[:, 1:], dim=-1)
    return torch.where(open_label, either, exact).mean()
