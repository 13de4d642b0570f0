"""MiniCheck (RoBERTa, DeBERTa or Flan-T5) as its authors run it, through the Verifier port.

Tang, Laban, Durrett: "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents" (2024).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from certirag.adapters.networks.local_transformers import (
    LocalModel,
    import_transformers,
    judge_each,
    judge_in_windows,
    longest_input,
    one_line_errors,
    open_model,
    rule_sentences,
)
from certirag.adapters.networks.model_files import weights_digest
from certirag.adapters.networks.pair_model import Reading
from certirag.core.generation import ModelIdentity
from certirag.errors import ModelError
from certirag.ports import Judgement, Pair
from certirag.retrieve.hybrid import clean_text

KIND: Final = "minicheck"
VERSION: Final = "1"
_AT_MOST: Final = 2_048  # tokens, markers included; 512 where positions are learned
_CHUNK_TOKENS: Final = 400  # of the classifiers
_CHUNK_WORDS: Final = 500  # of Flan-T5
_PROMPT: Final = "predict: "
_SUPPORT: Final = 1  # the classifiers' output for a supported claim


class MiniCheckVerifier:
    """Scores pairs with a MiniCheck model that the user has: its hub name or directory.

    Evidence is packed sentence by sentence into chunks (400 tokens, for Flan-T5 500 words), and
    a pair's support is the highest of any chunk. The model tells supported from not supported
    only: it never says "contradicted". Unlike the authors' code, which cuts what is too long,
    a pair with a sentence that does not fit is refused. Nothing is fetched unless
    *allow_download*, and code that comes with a model is never run. Safe between threads.

    Raises MissingExtra without the packages, ModelError when the model is not there or is none.
    """

    def __init__(self, name: str, *, device: str = "cpu", allow_download: bool = False) -> None:
        self._asks_t5 = _is_encoder_decoder(name, allow_download=allow_download)
        loader = "AutoModelForSeq2SeqLM" if self._asks_t5 else "AutoModelForSequenceClassification"
        self._local = open_model(
            KIND, name, loader=loader, device=device, allow_download=allow_download
        )
        self._answers = _answer_tokens(name, self._local) if self._asks_t5 else ()
        if not self._asks_t5:
            _check_classes(name, self._local.model.config)
        words = self._local.tokenizer
        framing = () if self._asks_t5 else (words.cls_token_id, words.sep_token_id)
        if None in (words.eos_token_id, *framing):
            raise ModelError(_complaint(name, "its tokeniser lacks the markers of a pair"))
        self._window = longest_input(self._local, at_most=_AT_MOST)
        self._chunk = _CHUNK_WORDS if self._asks_t5 else _CHUNK_TOKENS
        self._split = rule_sentences()
        settings = json.dumps([VERSION, _PROMPT, self._chunk, self._window, self._answers])
        self._identity = ModelIdentity(
            role="verifier",
            name=f"{KIND}:{self._local.name}",
            version=self._local.version,
            sha256=weights_digest(self._local.model, self._local.tokenizer, settings),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name, hub revision (or "local") and a digest of weights, words, prompt and chunk."""
        return self._identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return one judgement per pair, in order; the label ``error`` where the model fails."""
        return judge_each(self._local, pairs, self._judge)

    def _judge(self, pair: Pair) -> Judgement:
        claim = self._local.ids(clean_text(pair.claim))
        return judge_in_windows(
            pair,
            split=self._split,
            length=self._length,
            room=self._chunk,
            overlap=0,
            read=lambda chunk: self._read(chunk, claim),
        )

    def _length(self, sentence: str) -> int:
        return len(sentence.split()) if self._asks_t5 else len(self._local.ids(sentence))

    def _read(self, chunk: str, claim: list[int]) -> Reading | None:
        ids = self._input(chunk, claim)
        if len(ids) > self._window:
            return None
        row = self._local.row(ids)
        if not self._asks_t5:
            logits = self._local.model(**row).logits[0]
            return Reading(self._local.probabilities(logits)[_SUPPORT], 0.0)
        config = self._local.model.config
        begin = self._local.row([config.decoder_start_token_id or 0])["input_ids"]
        logits = self._local.model(**row, decoder_input_ids=begin).logits[0, 0]
        return Reading(self._local.probabilities(logits[list(self._answers)])[_SUPPORT], 0.0)

    def _input(self, chunk: str, claim: list[int]) -> list[int]:
        """Return chunk, end marker, claim between the model's own first and last marker.

        Put together from tokens, so that a marker written in a text cannot end the document.
        """
        words = self._local.tokenizer
        if self._asks_t5:
            document = self._local.ids(_PROMPT + chunk)
            return [*document, words.eos_token_id, *claim, words.eos_token_id]
        document = [words.cls_token_id, *self._local.ids(chunk)]
        return [*document, words.eos_token_id, *claim, words.sep_token_id]


def _is_encoder_decoder(name: str, *, allow_download: bool) -> bool:
    transformers = import_transformers(KIND, name)
    with one_line_errors(KIND, name):
        config = transformers.AutoConfig.from_pretrained(
            name, local_files_only=not allow_download, trust_remote_code=False
        )
    return bool(getattr(config, "is_encoder_decoder", False))


def _answer_tokens(name: str, local: LocalModel) -> tuple[int, int]:
    """Return the first token of "0" (not supported) and of "1" (supported): 3 and 209 in T5."""
    no, yes = (local.ids(answer)[:1] for answer in ("0", "1"))
    unknown = local.tokenizer.unk_token_id
    if not no or not yes or no == yes or unknown in {no[0], yes[0]}:
        raise ModelError(_complaint(name, "its tokeniser does not tell the answers 0 and 1 apart"))
    return no[0], yes[0]


def _check_classes(name: str, config: Any) -> None:
    """Refuse a classifier that has not two classes, or that names another one as support."""
    if config.num_labels != 2:
        raise ModelError(_complaint(name, f"it has {config.num_labels} classes, not two"))
    first = str(config.id2label.get(0, "")).casefold()
    if first.startswith(("entail", "support", "consistent")):
        raise ModelError(_complaint(name, f"its first class is {first!r}"))


def _complaint(name: str, fault: str) -> str:
    return f"{name!r} is no MiniCheck model: {fault}; choose one of its three sizes, or nli:{name}"
