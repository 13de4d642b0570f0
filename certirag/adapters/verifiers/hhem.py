"""HHEM-2.1-open, Vectara's hallucination model, through the Verifier port; no remote code is run.

The hub's model is a T5 encoder with a linear head over tokens. What it comes with as code does
three things, all done here: it writes the pair into a fixed prompt that begins with the padding
marker, takes the head's output at that marker, and calls the second class "consistent".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from certirag.adapters.networks.local_transformers import (
    LocalModel,
    import_transformers,
    judge_each,
    judge_in_windows,
    one_line_errors,
    ready,
    rule_sentences,
)
from certirag.adapters.networks.model_files import weights_digest
from certirag.adapters.networks.pair_model import Reading, refused
from certirag.core.generation import ModelIdentity
from certirag.errors import ModelError
from certirag.ports import Judgement, Pair
from certirag.retrieve.hybrid import clean_text

KIND: Final = "hhem"
VERSION: Final = "1"
_FOUNDATION: Final = "google/flan-t5-base"  # whose dimensions and words the model has
_PROMPT: Final = (
    "Determine if the hypothesis is true given the premise?"
    "\n\nPremise: {text1}\n\nHypothesis: {text2}"
)
_CONSISTENT: Final = 1
_WINDOW: Final = 2_048  # tokens, prompt included; positions are relative, so there is no end
_OVERLAP: Final = 128
_PARTS: Final = re.compile(r"\b(?:premise|hypothesis)\s*:", re.IGNORECASE)


class HhemVerifier:
    """Scores pairs with HHEM-2.1-open: its hub name, or a directory with its files.

    The words and dimensions come from the model it is founded on (google/flan-t5-base, or the
    *foundation* of its config.json), which the user must have as well: by name, or as a
    directory of that name within the model's. Evidence is read whole up to 2,048 tokens, beyond
    in windows of whole sentences, of which the highest support counts. The model never says
    "contradicted". Its prompt is plain text, so a pair that writes "Premise:" or "Hypothesis:"
    itself is refused. Nothing is fetched unless *allow_download*. Safe between threads.

    Raises MissingExtra without the packages, ModelError when the model is not there or is none.
    """

    def __init__(self, name: str, *, device: str = "cpu", allow_download: bool = False) -> None:
        self._local = _open(name, device=device, allow_download=allow_download)
        self._split = rule_sentences()
        settings = json.dumps([VERSION, _PROMPT, _CONSISTENT, _WINDOW, _OVERLAP])
        self._identity = ModelIdentity(
            role="verifier",
            name=f"{KIND}:{self._local.name}",
            version=self._local.version,
            sha256=weights_digest(self._local.model, self._local.tokenizer, settings),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name, "local" and a digest of weights, words, prompt and window."""
        return self._identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order; the label ``error`` where the model fails."""
        return judge_each(self._local, pairs, self._judge)

    def _judge(self, pair: Pair) -> Judgement:
        claim = clean_text(pair.claim)
        if _PARTS.search(pair.evidence) or _PARTS.search(claim):
            return refused("the pair writes a part of the verifier's own prompt")
        room = _WINDOW - len(self._input("", claim))
        return judge_in_windows(
            pair,
            split=self._split,
            length=lambda sentence: len(self._local.ids(sentence)) + 1,
            room=room,
            overlap=min(_OVERLAP, room // 4),
            read=lambda window: self._read(window, claim),
        )

    def _input(self, window: str, claim: str) -> list[int]:
        """Return the padding marker, the prompt with the pair in it, and the end marker."""
        before, between, after = re.split(r"\{text[12]\}", _PROMPT)
        words = self._local.tokenizer
        prompt = self._local.ids(f"{before}{window}{between}{claim}{after}")
        return [words.pad_token_id, *prompt, words.eos_token_id]

    def _read(self, window: str, claim: str) -> Reading | None:
        ids = self._input(window, claim)
        if len(ids) > _WINDOW:
            return None
        logits = self._local.model(**self._local.row(ids)).logits[0, 0]
        return Reading(self._local.probabilities(logits)[_CONSISTENT], 0.0)


def _open(name: str, *, device: str, allow_download: bool) -> LocalModel:
    transformers = import_transformers(KIND, name)
    from safetensors.torch import load_file
    from transformers.utils.hub import cached_file

    local = {"local_files_only": not allow_download}
    with one_line_errors(KIND, name):
        described = json.loads(Path(cached_file(name, "config.json", **local)).read_text("utf-8"))
        foundation = _foundation(name, described)
        config = transformers.T5Config.from_pretrained(foundation, num_labels=2, **local)
        words = transformers.AutoTokenizer.from_pretrained(
            foundation, trust_remote_code=False, **local
        )
        weights = load_file(cached_file(name, "model.safetensors", **local))
        model = transformers.T5ForTokenClassification(config)
        model.load_state_dict(_plain_names(name, weights, model.state_dict()))
        if words.pad_token_id is None or words.eos_token_id is None:
            raise ModelError(_complaint(name, "its tokeniser has no markers for padding and end"))
    model.config._commit_hash = None  # noqa: SLF001  # it is the founding model's, not this one's
    return ready(name, model, words, device=device)


def _foundation(name: str, described: Any) -> str:
    """Return the name or directory of the founding model; ModelError for another prompt."""
    if not isinstance(described, dict):
        raise ModelError(_complaint(name, "its config.json is no object"))
    prompt = described.get("prompt", f"<pad> {_PROMPT}")
    if prompt != f"<pad> {_PROMPT}":
        raise ModelError(_complaint(name, "its config.json has another prompt"))
    foundation = described.get("foundation", _FOUNDATION)
    if not isinstance(foundation, str) or not foundation:
        raise ModelError(_complaint(name, "its config.json names no foundation"))
    within = Path(name) / foundation
    return str(within) if within.is_dir() else foundation


def _plain_names(
    name: str, weights: Mapping[str, Any], expected: Mapping[str, Any]
) -> dict[str, Any]:
    """Return *weights* under the names of the plain T5 class, every one of them accounted for.

    The file holds the word vectors once, under either of the two names that share them.
    """
    state = {key.removeprefix("t5."): value for key, value in weights.items()}
    shared = ("transformer.shared.weight", "transformer.encoder.embed_tokens.weight")
    held = next((state[key] for key in shared if key in state), None)
    if held is not None:
        state |= {key: held for key in shared if key in expected}
    if set(state) != set(expected):
        odd = sorted(set(state) ^ set(expected))[:3]
        raise ModelError(_complaint(name, f"its weights differ in {', '.join(odd)}"))
    return state


def _complaint(name: str, fault: str) -> str:
    return f"{name!r} is no HHEM-2.1 model: {fault}; choose vectara/hallucination_evaluation_model"
