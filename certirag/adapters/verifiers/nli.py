"""Any cross-encoder trained on natural language inference, through the Verifier port."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from certirag.adapters.networks.local_transformers import (
    judge_each,
    judge_in_windows,
    longest_input,
    open_model,
    rule_sentences,
)
from certirag.adapters.networks.model_files import weights_digest
from certirag.adapters.networks.pair_model import Reading
from certirag.core.generation import ModelIdentity
from certirag.errors import ModelError
from certirag.ports import Judgement, Pair
from certirag.retrieve.hybrid import clean_text

KIND: Final = "nli"
VERSION: Final = "1"
_AT_MOST: Final = 512  # tokens; what such models are trained on, whatever their positions allow
_OVERLAP: Final = 64  # tokens that a window repeats of the one before

# How models on the hub call the three classes, and the second of the models that have two.
_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("entailment", "entailed", "entails", "entail"), "entailed"),
    **dict.fromkeys(("supports", "supported", "support"), "entailed"),
    **dict.fromkeys(("neutral", "undetermined", "nei"), "rest"),
    **dict.fromkeys(("not_enough_info", "not_enough_information", "notenoughinfo"), "rest"),
    **dict.fromkeys(("contradiction", "contradicted", "contradicts"), "contradicted"),
    **dict.fromkeys(("contradictory", "refuted", "refutes", "refute"), "contradicted"),
    **dict.fromkeys(("not_entailment", "not_entailed", "non_entailment"), "rest"),
    **dict.fromkeys(("not_supported", "unsupported"), "rest"),
}


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """Which output of a model means what; *contradicted* is None for a model of two classes."""

    entailed: int
    rest: int
    contradicted: int | None


class NliVerifier:
    """Scores pairs with a sequence classifier that the user has: its hub name or directory.

    The evidence is the premise, the claim the hypothesis. Evidence longer than the model's
    window is read in windows of whole sentences; support and contradiction are each the highest
    of any window. A model of two classes never says "contradicted". Nothing is fetched unless
    *allow_download*, and code that comes with a model is never run. Safe between threads.

    Raises MissingExtra without the packages, ModelError when the model is not there, has no
    trained head, or does not say what its classes mean.
    """

    def __init__(self, name: str, *, device: str = "cpu", allow_download: bool = False) -> None:
        self._local = open_model(
            KIND,
            name,
            loader="AutoModelForSequenceClassification",
            device=device,
            allow_download=allow_download,
        )
        self._order = label_order(name, self._local.model.config.id2label)
        self._window = longest_input(self._local, at_most=_AT_MOST)
        self._markers = int(self._local.tokenizer.num_special_tokens_to_add(pair=True))
        self._split = rule_sentences()
        settings = [VERSION, asdict(self._order), self._window, _OVERLAP]
        self._identity = ModelIdentity(
            role="verifier",
            name=f"{KIND}:{self._local.name}",
            version=self._local.version,
            sha256=weights_digest(self._local.model, self._local.tokenizer, json.dumps(settings)),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name, hub revision (or "local") and a digest of weights, words, labels and window."""
        return self._identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order; the label ``error`` where the model fails."""
        return judge_each(self._local, pairs, self._judge)

    def _judge(self, pair: Pair) -> Judgement:
        claim = clean_text(pair.claim)
        room = self._window - self._markers - len(self._local.ids(claim))
        return judge_in_windows(
            pair,
            split=self._split,
            length=lambda sentence: len(self._local.ids(sentence)) + 1,
            room=room,
            overlap=min(_OVERLAP, room // 4),
            read=lambda window: self._read(window, claim),
        )

    def _read(self, window: str, claim: str) -> Reading | None:
        row = self._local.tokenizer(
            window, claim, truncation=False, verbose=False, return_tensors="pt"
        )
        if row["input_ids"].shape[1] > self._window:
            return None
        logits = self._local.model(**row.to(self._local.device)).logits[0]
        scores, order = self._local.probabilities(logits), self._order
        against = 0.0 if order.contradicted is None else scores[order.contradicted]
        return Reading(scores[order.entailed], against)


def label_order(name: str, id2label: Mapping[int, str]) -> LabelOrder:
    """Return what each output means by the model's own ``id2label``; it is never guessed.

    Three classes must be entailed, neutral and contradicted, two must be entailed and the rest;
    ModelError names the labels of any other model.
    """
    found: dict[str, int] = {}
    for index, label in sorted((int(index), str(label)) for index, label in id2label.items()):
        meaning = _NAMES.get(re.sub(r"[^a-z]+", "_", label.casefold()).strip("_"))
        if meaning is None or meaning in found:
            raise ModelError(_complaint(name, id2label))
        found[meaning] = index
    whole = sorted(found.values()) == list(range(len(found)))
    if not whole or not {"entailed", "rest"} <= set(found):
        raise ModelError(_complaint(name, id2label))
    return LabelOrder(found["entailed"], found["rest"], found.get("contradicted"))


def _complaint(name: str, id2label: Mapping[int, str]) -> str:
    labels = ", ".join(repr(str(label)) for label in id2label.values())
    return (
        f"the nli model {name!r} calls its classes {labels}; its config.json must say which is "
        "entailment, neutral and contradiction (or entailment and not_entailment)"
    )
