"""Turns rows into token ids, cut as the verifier cuts its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from certirag.errors import InputError
from certirag.ports import SentenceSplitter
from certirag.train.rows import LABELS, Row, RowLabel
from certirag.verify.windows import focused

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARKERS: Final = 3  # [CLS] evidence [SEP] claim [SEP]
CLASSES: Final = ("entailed", "not_enough_info", "contradicted")
NOT_ENTAILED: Final = 3  # the index of the label that leaves two classes open


@dataclass(frozen=True, slots=True)
class Example:
    """The token ids of one pair, how many belong to the evidence, and the label's number."""

    ids: tuple[int, ...]
    evidence: int  # tokens of [CLS] evidence [SEP]: segment 0
    label: int


def label_number(label: RowLabel) -> int:
    """Return the place of *label* in CLASSES, or NOT_ENTAILED."""
    return LABELS.index(label)


def encode_rows(
    rows: Iterable[Row],
    tokenizer: Tokenizer,
    split: SentenceSplitter,
    *,
    room: int,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Example]:
    """Encode each row once; *room* is the most tokens of a whole pair.

    A premise that does not fit is represented by the window that the verifier would build around
    the hypothesis (`focused`), not by its beginning. A row of which nothing fits is left out.
    """
    cls, sep = _marker(tokenizer, "[CLS]", "<s>"), _marker(tokenizer, "[SEP]", "</s>")
    examples = []
    for number, row in enumerate(rows, 1):
        claim = tokenizer.encode(row.hypothesis, add_special_tokens=False).ids
        left = room - MARKERS - len(claim)
        evidence = tokenizer.encode(row.premise, add_special_tokens=False).ids
        if len(evidence) > left:
            evidence = _window(row, tokenizer, split, left)
        if evidence and left > 0:
            ids = (cls, *evidence, sep, *claim, sep)
            examples.append(Example(ids, len(evidence) + 2, label_number(row.label)))
        progress(number)
    return examples


def _marker(tokenizer: Tokenizer, *names: str) -> int:
    """Return the id of the first of *names* that there is: BERT and MPNet call it differently."""
    for name in names:
        number: int | None = tokenizer.token_to_id(name)
        if number is not None:
            return number
    message = f"the tokenizer has no {names[0]}; give the folder of a BERT or MPNet model"
    raise InputError(message)


def _window(row: Row, tokenizer: Tokenizer, split: SentenceSplitter, room: int) -> list[int]:
    sentences = [row.premise[start:end] for start, end in split(row.premise)]
    ids = [encoding.ids for encoding in tokenizer.encode_batch(sentences, add_special_tokens=False)]
    chosen = focused(row.hypothesis, sentences, [len(own) for own in ids], room=room)
    return [token for at in chosen for token in ids[at]]
