"""A language model in a GGUF file, run by llama.cpp in this process; no other program is needed."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path
from typing import Any, Final

from certirag.adapters.llm.endpoint import Endpoint, NoAnswer
from certirag.adapters.llm.openai import OpenAiModel, Patience
from certirag.adapters.llm.prompt_forms import encodable, instructions_with_schema
from certirag.core.generation import ModelIdentity
from certirag.errors import LanguageModelError, MissingExtra, ModelError
from certirag.ports import Prompt

KIND: Final = "llamacpp"
CONTEXT: Final = 8_192  # tokens of prompt and answer; fewer where the model was trained on fewer
# A laptop reads a long prompt for minutes before it writes, and never better the second time.
_PATIENCE: Final = Patience(silence=600.0, total=900.0, tries=1)
_MAX_TOKENS_BYTES: Final = 16_000_000


class LlamaCppModel:
    """Writes with *name*: a GGUF file, or an installed package that holds one.

    llama.cpp serves it on a port of the loopback interface that only this process has the key
    to, and it is asked there like any endpoint. A prompt in which a text writes one of the
    model's own markers, such as the end of a turn, is ``refused``: a document could end itself
    and go on as the instructions. Nothing is fetched. Safe between threads, one answer at a time.

    Raises MissingExtra without the packages, ModelError in one line when it does not load.
    """

    def __init__(self, name: str) -> None:
        path = _file_of(name)
        key = secrets.token_hex(16)
        self._server, program = _served(path, key)
        self._name = path.name
        address = self._server.listening_address
        self._tokens = Endpoint(address, key, max_bytes=_MAX_TOKENS_BYTES)
        self._model = OpenAiModel(path.name, Endpoint(f"{address}/v1", key), patience=_PATIENCE)
        self._identity = ModelIdentity(
            role="generator", name=f"{KIND}:{path.name}", version=program, sha256=_digest(path)
        )

    @property
    def identity(self) -> ModelIdentity:
        """File name, version of llama.cpp's package, and a digest of the file and the context."""
        return self._identity

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer as it is written; LanguageModelError, at once or half-way, for none."""
        try:
            if any(map(self._writes_markers, (instructions_with_schema(prompt), prompt.content))):
                message = f"the prompt holds one of the own markers of {self._name}"
                raise LanguageModelError("refused", message)
            yield from self._model.stream(prompt)
        except NoAnswer as error:
            raise LanguageModelError("server_error", f"{self._name} failed: {error}") from None
        except LanguageModelError as error:
            told = str(error).replace(self._tokens.host, self._name)
            raise LanguageModelError(error.outcome, told) from None

    def _writes_markers(self, text: str) -> bool:
        """Say whether *text* is read as other tokens where markers count than where none do."""
        read = [
            self._tokens.post("/tokenize", {"content": encodable(text), "parse_special": special})
            for special in (True, False)
        ]
        return read[0] != read[1]


def _file_of(name: str) -> Path:
    """Return the GGUF file that *name* is, or that the package *name* holds; ModelError for none."""
    try:
        if Path(name).is_file():
            return Path(name)
        held = [file for file in files(name) or () if file.suffix == ".gguf"]
    except (PackageNotFoundError, ValueError, OSError):  # a name may be too long for a file
        held = []
    if len(held) == 1 and (found := Path(str(held[0].locate()))).is_file():
        return found
    message = (
        f"the language model {KIND}:{name} is no GGUF file, and no installed package that holds "
        "one; give the path of a file that ends in .gguf"
    )
    raise ModelError(message)


def _served(path: Path, key: str) -> tuple[Any, str]:
    """Return llama.cpp's server with *path* open, asked with *key* alone, and its version."""
    try:
        import xllamacpp
    except ImportError:
        message = (
            f"the language model {KIND}:{path.name} needs the package xllamacpp; "
            "install it with: pip install 'certirag[local]'"
        )
        raise MissingExtra(message) from None
    asked = xllamacpp.CommonParams()
    asked.model.path = str(path)
    asked.n_ctx, asked.n_parallel = CONTEXT, 1
    asked.api_keys, asked.port = [key], 0
    asked.ui = asked.endpoint_slots = asked.endpoint_props = False
    asked.offline, asked.verbosity = True, -1
    asked.cpuparams.poll = asked.cpuparams_batch.poll = 0  # a core that spins is another's lost
    try:
        return xllamacpp.Server(asked), version("xllamacpp")
    except RuntimeError:
        message = (
            f"the language model {KIND}:{path.name} does not load; give a whole GGUF file of a "
            "model that llama.cpp knows, and that fits in memory"
        )
        raise ModelError(message) from None


def _digest(path: Path) -> str:
    """Return the digest of the file and of what else decides what is written."""
    told = instructions_with_schema(Prompt("", "", schema={}))
    with path.open("rb") as opened:
        of_file = hashlib.file_digest(opened, "sha256").hexdigest()
    return hashlib.sha256(json.dumps([of_file, CONTEXT, told]).encode("ascii")).hexdigest()
