"""Opens the tokeniser and the graph of a model that ships, so that equal text gives equal bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from certirag.adapters.model_files import ModelFiles
from certirag.errors import MissingExtra, ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

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
