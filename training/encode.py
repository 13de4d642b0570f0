"""Turns rows into token ids, cut as the verifier cuts its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from certirag.errors import InputError
from certirag.ports import SentenceSplitter
from certirag.verification.windows import focused
from training.rows import LABELS, Row, RowLabel

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARKERS: Final = 3  # [CLS] evidence [SEP] claim [SEP]
CLASSES: Final = ("entailed", "not_enough_info", "contradicted")
NOT_ENTAILED: Final = 3  # the index of the label that leaves two classes open


@dataclass(frozen=True, slots=True)
class Example:
    """The token ids of evidence and of the claims about it, and the number of each claim's label.

    *evidence* counts the tokens of ``[CLS] evidence [SEP]``, *sizes* those of each ``claim [SEP]``;
    () where there is one claim.
    """

    ids: tuple[int, ...]
    evidence: int
    labels: tuple[int, ...]
    sizes: tuple[int, ...] = ()

    def segments(self) -> list[int]:
        """Return for each token 0 if it is the evidence's, or the number of its claim from 1."""
        sizes = self.sizes or (len(self.ids) - self.evidence,)
        claims = (number for number, size in enumerate(sizes, 1) for _ in range(size))
        return [0] * self.evidence + list(claims)


def label_number(label: RowLabel) -> int:
    """Return the place of *label* in CLASSES, or NOT_ENTAILED."""
    return LABELS.index(label)


def encode_rows(
    rows: Iterable[Row],
    tokenizer: Tokenizer,
    split: SentenceSplitter,
    *,
    room: int,
    together: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Example]:
    """Encode each row once; *room* is the most tokens of a whole pair.

    Claims with the same evidence go *together* while they take at most so many tokens.

    A premise that does not fit is represented by the window that the verifier would build around
    the hypothesis (`focused`), not by its beginning. A row of which nothing fits is left out.
    """
    cls, sep = _marker(tokenizer, "[CLS]", "<s>"), _marker(tokenizer, "[SEP]", "</s>")
    examples: list[Example] = []
    last: dict[tuple[int, ...], int] = {}  # evidence → where its latest example is
    for number, row in enumerate(rows, 1):
        claim = tokenizer.encode(row.hypothesis, add_special_tokens=False).ids
        left = room - MARKERS - len(claim)
        evidence = tokenizer.encode(row.premise, add_special_tokens=False).ids
        if len(evidence) > left:
            evidence = _window(row, tokenizer, split, left)
        if evidence and left > 0:
            own = (cls, *evidence, sep)
            one = Example((*own, *claim, sep), len(own), (label_number(row.label),))
            before = last.get(own)
            if before is not None and len(examples[before].ids) + len(claim) < together:
                examples[before] = _joined(examples[before], one)
            else:
                last[own] = len(examples)
                examples.append(one)
        progress(number)
    return examples


def _joined(first: Example, second: Example) -> Example:
    """Return one example of the claims of two with the same evidence."""
    claim = second.ids[second.evidence :]
    sizes = first.sizes or (len(first.ids) - first.evidence,)
    labels = (*first.labels, *second.labels)
    return Example((*first.ids, *claim), first.evidence, labels, (*sizes, len(claim)))


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
