"""Published questions with the sentences that answer them: CLAPNQ and SelQA as `certirag eval answers` asks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from certirag.errors import InputError
from certirag.eval.answers import QuestionRow, read_answer_rows
from certirag.eval.published_files import (
    LeftOut,
    files_named,
    joined_tokens,
    one_file,
    told,
    typed_rows,
)


@dataclass(frozen=True, slots=True)
class _Passage:
    title: str
    sentences: list[str]


@dataclass(frozen=True, slots=True)
class _LongAnswer:
    selected_sentences: list[str] | None = None


@dataclass(frozen=True, slots=True)
class _NaturalQuestion:
    id: str | int
    input: str
    passages: list[_Passage]
    output: list[_LongAnswer]


@dataclass(frozen=True, slots=True)
class _SectionQuestion:
    question: str
    article: str
    section: str
    candidates: list[str]
    answers: list[int]


def read_clapnq(files: Sequence[Path], left_out: LeftOut) -> Iterator[QuestionRow]:
    """Yield CLAPNQ (Rosenthal et al. 2025, TACL): a search and a passage of Wikipedia.

    github.com/primeqa/clapnq has ``annotated_data/dev/clapnq_dev_answerable.jsonl`` and
    ``clapnq_dev_unanswerable.jsonl``. A sentence counts as an answer where any annotator selected
    it. The passages are tokenized; they are joined as people write.
    """
    for path in files:
        for place, row in typed_rows(path, TypeAdapter(_NaturalQuestion)):
            if len(row.passages) != 1:
                raise InputError(f"{place}: passages: should be one")
            (passage,) = row.passages
            selected = {
                _letters(sentence)
                for answer in row.output
                for sentence in answer.selected_sentences or ()
            }
            letters = [_letters(sentence) for sentence in passage.sentences]
            if selected and selected.isdisjoint(letters):
                left_out["whose selected sentences are not in the passage"] += 1
                continue
            yield QuestionRow(
                id=str(row.id),
                question=row.input,
                title=joined_tokens(passage.title),
                sentences=tuple(map(joined_tokens, passage.sentences)),
                gold=tuple(at for at, own in enumerate(letters) if own in selected),
                source="clapnq",
            )


def _letters(text: str) -> str:
    """Return what tells one sentence from another; some are published with a ``&`` behind them."""
    return "".join(filter(str.isalnum, text))


def read_selqa(files: Sequence[Path], left_out: LeftOut) -> Iterator[QuestionRow]:
    """Yield SelQA (Jurczyk et al. 2016, ICTAI): a question and a section of Wikipedia.

    github.com/emorynlp/selqa has ``ass/selqa-ass-train.json``, ``-dev.json`` and ``-test.json``.
    """
    for path in files:
        for number, (place, row) in enumerate(typed_rows(path, TypeAdapter(_SectionQuestion)), 1):
            if not all(0 <= at < len(row.candidates) for at in row.answers):
                raise InputError(f"{place}: answers: names a candidate that is not there")
            if not all(row.candidates[at].strip() for at in row.answers):
                left_out["whose answer is an empty sentence"] += 1
                continue
            yield QuestionRow(
                id=f"{path.stem}-{number}",
                question=row.question,
                title=f"{row.article} › {row.section}" if row.section else row.article,
                sentences=tuple(row.candidates),
                gold=tuple(sorted(set(row.answers))),
                source="selqa",
            )


_Files = Callable[[Path], list[Path]]
_Read = Callable[[Sequence[Path], LeftOut], Iterator[QuestionRow]]
_FORMATS: Final[dict[str, tuple[_Files, _Read]]] = {
    "clapnq": (files_named("clapnq_*.jsonl"), read_clapnq),
    "plain": (one_file, lambda files, _: iter(read_answer_rows(files[0]))),
    "selqa": (one_file, read_selqa),
}
ANSWER_FORMATS: Final = tuple(_FORMATS)


def read_published_answers(name: str, path: Path) -> tuple[list[QuestionRow], LeftOut]:
    """Return the questions of the file or folder *path* in the format *name*, and those left out by reason.

    Raises InputError for another name, for what is not of the format, and for a file of none.
    """
    if name not in _FORMATS:
        raise InputError(f"no format is called {name[:40]!r}: take {', '.join(_FORMATS)}")
    files_of, read = _FORMATS[name]
    left_out: LeftOut = Counter()
    rows = list(read(files_of(path), left_out))
    if not rows:
        raise InputError(f"{path} holds no questions to ask; left out: {told(left_out)}")
    return rows, left_out
