"""Reads a model that ships with CertiRAG: its manifest, files whose digests hold, tokeniser and graph.

A model of the user has one digest over all that shapes a vector or a score.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from certirag.errors import MissingExtra, ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


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


MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model directory that was read once, whole, and found as its manifest says.

    *sha256* is the digest of manifest.json's own bytes, which hold the digest of every file and
    every setting that shapes a vector or a score; ``sha256sum manifest.json`` gives the same.
    *contents* are the checked bytes themselves: using them, rather than opening the files again,
    leaves no moment in which a file could be exchanged after its check.
    """

    directory: Path
    sha256: str
    manifest: Mapping[str, Any]
    contents: Mapping[str, bytes]

    def text(self, key: str) -> str:
        """Return the manifest's non-empty string *key*; ModelError if it is anything else."""
        value = self.manifest.get(key)
        if not isinstance(value, str) or not value:
            raise ModelError(_complaint(self.directory, f"{key} is {value!r}, not a text"))
        return value

    def count(self, key: str) -> int:
        """Return the manifest's positive whole number *key*; ModelError if it is anything else."""
        value = self.manifest.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelError(_complaint(self.directory, f"{key} is {value!r}, not a count"))
        return value


def read_model_files(directory: Path, *, needed: tuple[str, ...]) -> ModelFiles:
    """Read *directory* and check every file of its manifest against its SHA-256.

    Raises ModelError when the manifest is missing or malformed, does not list a *needed* file,
    or lists one that is missing or differs by as much as a byte.
    """
    raw = _read(directory / MANIFEST)
    try:
        manifest = json.loads(raw)
    except ValueError as error:
        raise ModelError(_complaint(directory, f"it is not JSON: {error}")) from error
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, dict):
        raise ModelError(_complaint(directory, "it has no object 'files'"))
    absent = [name for name in needed if name not in files]
    if absent:
        raise ModelError(_complaint(directory, f"'files' lacks {', '.join(absent)}"))
    contents = {name: _checked(directory, name, digest) for name, digest in files.items()}
    return ModelFiles(
        directory=directory,
        sha256=hashlib.sha256(raw).hexdigest(),
        manifest=manifest,
        contents=contents,
    )


def _checked(directory: Path, name: str, digest: object) -> bytes:
    if PurePath(name).name != name or "\\" in name or name in {"", ".", ".."}:
        raise ModelError(_complaint(directory, f"{name!r} is not the name of a file beside it"))
    content = _read(directory / name)
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        message = (
            f"model file {directory / name} was changed: its SHA-256 is {found}, "
            f"the manifest says {digest}; restore the file from the release"
        )
        raise ModelError(message)
    return content


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"model file {path} cannot be read ({reason}); restore it from the release"
        raise ModelError(message) from error


def _complaint(directory: Path, fault: str) -> str:
    return f"{directory / MANIFEST} is not a model manifest: {fault}; restore it from the release"


# Opens the tokeniser and the graph of a model that ships, so that equal text gives equal bits.

GRAPH = "model.int8.onnx"
TOKENIZER = "tokenizer.json"


def open_tokenizer(files: ModelFiles) -> Tokenizer:
    """Open tokenizer.json of *files* so that it cuts nothing and reads markers as plain text.

    Raises MissingExtra without tokenizers, ModelError for a file that it cannot read.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        message = "the model needs tokenizers; install it with: pip install tokenizers"
        raise MissingExtra(message) from error
    try:
        tokenizer = Tokenizer.from_str(files.contents[TOKENIZER].decode("utf-8"))
    except Exception as error:
        message = f"{files.directory / TOKENIZER} does not load: {error}"
        raise ModelError(message) from error
    tokenizer.no_truncation()  # a file may ask to cut, in silence
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # text is text: "[SEP]" in a document is no marker
    return tokenizer


def marker(tokenizer: Tokenizer, *names: str) -> int:
    """Return the id of the first of the special tokens *names* that there is, or ModelError."""
    for name in names:
        found = tokenizer.token_to_id(name)
        if found is not None:
            return int(found)
    message = f"the tokenizer has no {names[0]}; it is not that of a BERT or MPNet model"
    raise ModelError(message)


def open_session(files: ModelFiles, *, inputs: Sequence[str], output: str) -> Any:
    """Open the graph of *files* on the CPU, one thread a run, and check its names.

    Raises MissingExtra without onnxruntime, ModelError for a graph that does not load or that
    has other inputs or another output than *inputs* and *output*.
    """
    try:
        import onnxruntime
    except ImportError as error:
        message = "the model needs onnxruntime; install it with: pip install onnxruntime"
        raise MissingExtra(message) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.use_deterministic_compute = True
    options.log_severity_level = 3  # errors only: warnings would reach the user's terminal
    path = files.directory / GRAPH
    try:
        session = onnxruntime.InferenceSession(
            files.contents[GRAPH], options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        message = f"{path} does not load in onnxruntime {onnxruntime.__version__}: {error}"
        raise ModelError(message) from error
    found = (
        {one.name for one in session.get_inputs()},
        [one.name for one in session.get_outputs()],
    )
    if found != (set(inputs), [output]):
        message = (
            f"{path} takes {', '.join(sorted(found[0]))} and gives {', '.join(found[1])}; "
            f"a graph from {', '.join(sorted(inputs))} to {output} is needed"
        )
        raise ModelError(message)
    return session
