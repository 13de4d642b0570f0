"""Opens a transformers model that the user has, and feeds it evidence in windows, none cut."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from certirag.adapters.networks.pair_model import (
    Reading,
    answered_unasked,
    joined_sentences,
    judged,
    refused,
)
from certirag.errors import MissingExtra, ModelError
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import Judgement, Pair, SentenceSplitter
from certirag.retrieve.hybrid import clean_text
from certirag.verification.windows import spans_of_windows

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOO_LONG: Final = "a sentence of the evidence, with the claim, is longer than the model reads"


class Unreadable(Exception):
    """The pair cannot be given to the model as it stands; the message says why."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model in evaluation mode, its tokeniser, and the names under which it is recorded.

    *name* is the hub's name, or of a directory its last part alone: no record holds a path.
    *markers* are the token numbers of the model's own marks, such as the end of a text.
    """

    name: str
    version: str
    model: Any
    tokenizer: Any
    device: str
    markers: frozenset[int]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of *text*, however many; Unreadable if one of them is a marker.

        Most tokenisers read a marker's name as plain letters. Those built on Unigram (T5) have
        it among their words, and a document could end itself with ``</s>`` and write the claim.
        """
        found = self.tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)
        ids = list(found["input_ids"])
        if not self.markers.isdisjoint(ids):
            raise Unreadable("the pair writes one of the model's own markers")
        return ids

    def row(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return *ids* as the model's input, one row without padding."""
        import torch

        rows = torch.tensor([list(ids)], dtype=torch.long, device=self.device)
        return {"input_ids": rows, "attention_mask": torch.ones_like(rows)}

    def probabilities(self, logits: Any) -> list[float]:
        """Return the softmax of a vector of logits, in double precision."""
        import torch

        return [float(p) for p in torch.softmax(logits.detach().cpu().double(), dim=-1)]


def open_model(
    kind: str, name: str, *, loader: str, device: str, allow_download: bool
) -> LocalModel:
    """Return the model *name* as the transformers class *loader* opens it.

    Nothing is fetched unless *allow_download*; code that comes with a model is never run; a
    model whose file lacks weights, its head's above all, is refused rather than completed at
    random. Raises MissingExtra without the packages, ModelError in one line otherwise.
    """
    transformers = import_transformers(kind, name)
    options = {"local_files_only": not allow_download, "trust_remote_code": False}
    with one_line_errors(kind, name):
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
        opened = getattr(transformers, loader).from_pretrained(
            name, output_loading_info=True, **options
        )
    model, loading = opened
    absent = [str(key) for part in ("missing_keys", "mismatched_keys") for key in loading[part]]
    if absent:
        message = (
            f"the {kind} model {name!r} lacks trained weights for {', '.join(sorted(absent)[:3])}; "
            "choose a model that was trained to judge pairs"
        )
        raise ModelError(message)
    return ready(name, model, tokenizer, device=device)


def ready(name: str, model: Any, tokenizer: Any, *, device: str) -> LocalModel:
    """Return *model* in single precision, in evaluation mode, on *device*."""
    tokenizer.split_special_tokens = True  # text is text: a marker in a document is no marker
    return LocalModel(
        name=Path(name).name if Path(name).is_dir() else name,
        version=str(getattr(model.config, "_commit_hash", None) or "local"),
        model=model.float().to(device).eval(),
        tokenizer=tokenizer,
        device=device,
        # An unknown word is a word of the text, though its number is listed with the markers.
        markers=frozenset(tokenizer.all_special_ids) - {tokenizer.unk_token_id},
    )


def import_transformers(kind: str, name: str) -> Any:
    """Return the module transformers; MissingExtra where it, or torch, is not installed."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        message = (
            f"the verifier {kind}:{name} needs torch and transformers; "
            "install them with: pip install 'certirag[models]'"
        )
        raise MissingExtra(message) from error
    return transformers


@contextmanager
def one_line_errors(kind: str, name: str) -> Iterator[None]:
    """Turn whatever goes wrong while a model loads into a ModelError of one line."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        message = (
            f"the {kind} model {name!r} does not load ({reason}); give its directory, or the name "
            "of one that was downloaded before"
        )
        raise ModelError(message) from error


def longest_input(local: LocalModel, *, at_most: int) -> int:
    """Return how many tokens the model takes, markers included, and *at_most* that.

    Learned positions end where their table ends; a table with a padding row at *p* starts after
    it (RoBERTa). Relative positions (T5, DeBERTa) have no end, so that *at_most* is the limit.
    """
    config, limit = local.model.config, at_most
    relative = config.model_type in {"t5", "mt5", "umt5"}
    if config.model_type in {"deberta", "deberta-v2"}:
        relative = not getattr(config, "position_biased_input", True)
    if not relative:
        table = getattr(config, "max_position_embeddings", None) or at_most
        offset = config.model_type in {"roberta", "xlm-roberta", "camembert"}
        limit = min(limit, int(table) - (config.pad_token_id + 1 if offset else 0))
        limit = min(limit, int(local.tokenizer.model_max_length))
    return limit


def judge_in_windows(
    pair: Pair,
    *,
    split: SentenceSplitter,
    length: Callable[[str], int],
    room: int,
    overlap: int,
    read: Callable[[str], Reading | None],
) -> Judgement:
    """Return the judgement of *pair* from windows of whole sentences that cover its evidence.

    *length* measures a sentence in the unit of *room* and *overlap*; *read* returns None for a
    window that the model cannot take whole, which refuses the pair. The context is not read:
    what a title says could pass for evidence.
    """
    evidence = clean_text(pair.evidence)
    spans = split(evidence)
    lengths = [length(evidence[start:end]) for start, end in spans]
    readings = []
    for first, end in spans_of_windows(lengths, room=room, overlap=overlap):
        reading = read(joined_sentences(evidence, spans[first:end]))
        if reading is None:
            return refused(_TOO_LONG, truncated=True)
        readings.append(reading)
    return judged(readings)


def judge_each(
    local: LocalModel, pairs: Sequence[Pair], judge: Callable[[Pair], Judgement]
) -> tuple[Judgement, ...]:
    """Return one judgement per pair, asked one after the other under the model's lock.

    One row at a time, because padding changes the last bits of a score according to what it is
    computed with. A pair on which the model fails becomes the label ``error``.
    """
    return tuple(_judge_one(local, pair, judge) for pair in pairs)


def _judge_one(local: LocalModel, pair: Pair, judge: Callable[[Pair], Judgement]) -> Judgement:
    import torch

    unasked = answered_unasked(pair)
    if unasked is not None:
        return unasked
    try:
        with local.lock, torch.inference_mode():
            return judge(pair)
    except Unreadable as error:
        return refused(str(error))
    except Exception as error:  # noqa: BLE001  # whatever a model does, nothing is supported
        return refused(f"the model failed on the pair: {type(error).__name__}")


def rule_sentences() -> SentenceSplitter:
    """Return the splitter by which evidence is cut into the sentences that windows are made of."""
    return sentence_splitter(None)
