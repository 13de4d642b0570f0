"""A local language model through transformers: greedy, from safetensors, nothing of its code run."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from certirag.adapters.llm_forms import encodable, instructions_with_schema
from certirag.adapters.local_transformers import (
    LocalModel,
    Unreadable,
    longest_input,
    one_line_errors,
)
from certirag.adapters.weights_digest import weights_digest
from certirag.core.models import ModelIdentity
from certirag.errors import LanguageModelError, MissingExtra, ModelError
from certirag.ports import Prompt

KIND: Final = "transformers"
VERSION: Final = "1"
_AT_MOST: Final = 131_072  # tokens, of a model whose positions have no end
# Stand where the texts will, while the chat template is read. No template changes such a word.
_SYSTEM: Final = "certiragsystemplace"
_USER: Final = "certiraguserplace"
_BOTH: Final = "certiragbothplace"
_UNFINISHED: Final = "\ufffd"  # how a tokeniser writes a character of which bytes are missing

Template = tuple[str, ...]  # text, then in turn the name of a place and text


class TransformersModel:
    """Writes with *name*, a causal model that the user has: its hub name or directory.

    Each token is the likeliest; sampling, penalties and other settings that come with the model
    are not used, so that equal prompts give equal answers on equal machines. A prompt is put in
    the model's chat template where it has one. The texts are tokenised apart from the template,
    so that no text can write the template's markers; one that does is ``rejected``. Weights are
    read from safetensors only. Nothing is fetched unless *allow_download*. An answer ends with
    the model's own end; at the prompt's limit, the context's end, or after *total* seconds of
    computing it is cut off, which is an error. Safe between threads.

    Raises MissingExtra without the packages, ModelError in one line when it does not load.
    """

    def __init__(
        self,
        name: str,
        *,
        device: str = "cpu",
        allow_download: bool = False,
        total: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._local = _opened(name, device=device, allow_download=allow_download)
        self._total, self._clock = total, clock
        with one_line_errors(KIND, name):
            self._context = longest_input(self._local, at_most=_AT_MOST)
            self._ends = _ends(self._local)
            self._template, self._begin = _template(self._local.tokenizer)
        told = instructions_with_schema(Prompt("", "", schema={}))
        written = getattr(self._local.tokenizer, "chat_template", None)
        settings = [VERSION, self._context, sorted(self._ends), self._begin, told, written]
        self._identity = ModelIdentity(
            role="generator",
            name=f"{KIND}:{self._local.name}",
            version=self._local.version,
            sha256=weights_digest(self._local.model, self._local.tokenizer, json.dumps(settings)),
        )

    @property
    def identity(self) -> ModelIdentity:
        """Name, hub revision (or "local") and a digest of weights, words, template and context."""
        return self._identity

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer as it is written; LanguageModelError, at once or half-way, for none."""
        ids = self._read(prompt)
        room = self._context - len(ids)
        if room < 1:
            message = (
                f"the prompt has {len(ids)} tokens, and {self._local.name} reads {self._context}: "
                "give it less evidence, or choose a model with a longer context"
            )
            raise LanguageModelError("rejected", message)
        written: list[int] = []
        shown = ""
        for token in self._tokens(ids, min(room, prompt.max_tokens)):
            written.append(token)
            text = self._text(written)
            if text.endswith(_UNFINISHED):  # a character of which this was only the beginning
                continue
            if not text.startswith(shown):
                message = f"{self._local.name} takes back what it has written"
                raise LanguageModelError("malformed", message)
            if len(text) > len(shown):
                yield text[len(shown) :]
                shown = text
        rest = self._text(written)[len(shown) :]
        if rest:
            yield rest
        if not (shown + rest).strip():
            raise LanguageModelError("empty", f"{self._local.name} answered with nothing")

    def _read(self, prompt: Prompt) -> list[int]:
        """Return the prompt's tokens; LanguageModelError if a text writes one of the markers."""
        texts = {
            _SYSTEM: encodable(instructions_with_schema(prompt)),
            _USER: encodable(prompt.content),
        }
        texts[_BOTH] = f"{texts[_SYSTEM]}\n\n{texts[_USER]}"
        tokenizer, ids = self._local.tokenizer, list(self._begin)
        try:
            for number, part in enumerate(self._template):
                if number % 2:
                    ids += self._local.ids(texts[part])
                elif part:
                    found = tokenizer(
                        part, add_special_tokens=False, split_special_tokens=False, verbose=False
                    )
                    ids += found["input_ids"]
        except Unreadable:
            message = f"the prompt holds one of the own markers of {self._local.name}"
            raise LanguageModelError("rejected", message) from None
        return ids

    def _tokens(self, ids: list[int], most: int) -> Iterator[int]:
        """Yield the likeliest tokens up to the model's own end, which is not one of them."""
        left, given, cache = self._total, ids, None
        for _ in range(most):
            started = self._clock()
            outcome = self._step(given, cache)
            if outcome is None:
                message = f"{self._local.name} failed while it answered"
                raise LanguageModelError("server_error", message)
            token, cache = outcome
            if token in self._ends:
                return
            yield token
            given = [token]
            left -= self._clock() - started
            if left <= 0.0:
                message = f"{self._local.name} gave no whole answer in {self._total:g} seconds"
                raise LanguageModelError("timed_out", message)
        message = f"the answer of {self._local.name} was cut off after {most} tokens"
        raise LanguageModelError("truncated", message)

    def _step(self, ids: list[int], cache: Any) -> tuple[int, Any] | None:
        """Return the token likeliest to follow, and the cache behind *ids*; None if it fails."""
        import torch

        try:
            with self._local.lock, torch.inference_mode():
                row = torch.tensor([ids], dtype=torch.long, device=self._local.device)
                found = self._local.model(input_ids=row, past_key_values=cache, use_cache=True)
                logits = found.logits[0, -1].float()
                highest = logits.max()
                if not bool(torch.isfinite(highest)):  # NaN anywhere makes it NaN
                    return None
                return int(logits.argmax()), found.past_key_values
        except Exception:  # noqa: BLE001  # whatever a model does, it gave no answer
            return None

    def _text(self, tokens: list[int]) -> str:
        decoded = self._local.tokenizer.decode(
            tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(decoded)


def _opened(name: str, *, device: str, allow_download: bool) -> LocalModel:
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        message = (
            f"the language model {KIND}:{name} needs torch and transformers; "
            "install them with: pip install 'certirag[models]'"
        )
        raise MissingExtra(message) from None
    options = {"local_files_only": not allow_download, "trust_remote_code": False}
    with one_line_errors(KIND, name):
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
        model, loading = transformers.AutoModelForCausalLM.from_pretrained(
            name, output_loading_info=True, use_safetensors=True, dtype="auto", **options
        )
    absent = [str(key) for part in ("missing_keys", "mismatched_keys") for key in loading[part]]
    if absent:
        message = (
            f"the {KIND} model {name!r} lacks trained weights for {', '.join(sorted(absent)[:3])}; "
            "choose a model that was trained to write"
        )
        raise ModelError(message)
    tokenizer.split_special_tokens = True  # text is text: a marker in a document is no marker
    return LocalModel(
        name=Path(name).name if Path(name).is_dir() else name,
        version=str(getattr(model.config, "_commit_hash", None) or "local"),
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        device=device,
        markers=frozenset(tokenizer.all_special_ids) - {tokenizer.unk_token_id},
        lock=threading.Lock(),
    )


def _ends(local: LocalModel) -> frozenset[int]:
    """Return the tokens that end an answer, by the model's settings and its tokeniser."""
    named = getattr(local.model.generation_config, "eos_token_id", None)
    found = {*(named if isinstance(named, list | tuple) else [named]), local.tokenizer.eos_token_id}
    ends = frozenset(token for token in found if isinstance(token, int))
    if not ends:
        message = (
            f"the {KIND} model {local.name!r} does not say which token ends an answer; "
            "choose a model whose tokeniser has an eos_token"
        )
        raise ModelError(message)
    return ends


def _template(tokenizer: Any) -> tuple[Template, tuple[int, ...]]:
    """Return the frame around instructions and content, and the tokens that come before it.

    A template that knows no system role is given both texts as the user's, one after the other.
    """
    if not getattr(tokenizer, "chat_template", None):
        begun = tokenizer("a")["input_ids"][:1] == [tokenizer.bos_token_id]
        first = (tokenizer.bos_token_id,) if begun else ()
        return ("", _SYSTEM, "\n\n", _USER, "\n\n"), first
    user = {"role": "user", "content": _USER}
    for messages in (
        [{"role": "system", "content": _SYSTEM}, user],
        [{"role": "user", "content": _BOTH}],
    ):
        places = [message["content"] for message in messages]
        try:
            text = tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        except Exception:  # noqa: BLE001, S112  # templates refuse with errors of their own
            continue
        if [text.count(place) for place in places] == [1] * len(places):
            return _cut(text, places), ()
    message = "its chat template does not show each message once"
    raise ModelError(f"the {KIND} model cannot be used: {message}; choose another")


def _cut(text: str, places: list[str]) -> Template:
    """Return *text* cut at *places*, which stay as parts between the others."""
    parts: list[str] = []
    for place in places:
        before, _, text = text.partition(place)
        parts += [before, place]
    return (*parts, text)
