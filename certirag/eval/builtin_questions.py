"""The questions of the built-in benchmark: what became of each, and what that comes to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from certirag.eval.figure_tables import FigureTable
from certirag.eval.systems import Share
from certirag.render import Presentation

# File of everyday questions → what the part is called.
_EVERYDAY: Final = {
    "everyday": "everyday questions, looked at",
    "everyday_blind": "everyday questions, blind",
}


@dataclass(frozen=True, slots=True)
class QuestionWithAnswer:
    """A question over the demo corpus *corpus*, and the words that tell what became of it.

    *answer* has for each part of the question pieces of text of which one answers it. A statement of
    *required* holds all of its pieces and has to be Verified; one of *forbidden* must never be.
    """

    part: str
    corpus: str
    question: str
    answerable: bool
    answer: tuple[tuple[str, ...], ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What became of the question *number*; *first*, *whole* and *cosine* where it has an answer.

    *first*: it is answered, and the first claim shown answers a part. *whole*: it is answered, and
    every part is. *shown*: every part is, under whatever heading. *cosine*: the closest sentence
    answers a part.
    """

    number: int
    part: str
    answerable: bool
    answered: bool
    with_answer: bool
    first: bool
    whole: bool
    shown: bool
    cosine: bool
    required: int
    required_verified: int
    forbidden: int
    forbidden_verified: int


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """Figures of the questions of one *part*; a Share whose whole is 0 was not asked for."""

    part: str
    answered: Share
    first: Share
    cosine_first: Share
    whole: Share
    shown: Share
    required: Share
    forbidden: Share
    answered_without_answer: Share


def read_questions_with_answers(folder: Path) -> list[QuestionWithAnswer]:
    """Return the recorded questions over the demo corpora: the blind everyday ones, then the others."""
    return [*everyday_questions(folder / "everyday_blind.jsonl"), *_recorded(folder)]


def everyday_questions(path: Path) -> Iterator[QuestionWithAnswer]:
    """Yield the everyday questions of the file *path*."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        answer = row["answer"]
        parts = answer if answer and isinstance(answer[0], list) else [answer] if answer else []
        yield QuestionWithAnswer(
            _EVERYDAY[path.stem],
            row["corpus"],
            row["question"],
            row["answerable"],
            answer=tuple(map(tuple, parts)),
        )


def _recorded(folder: Path) -> Iterator[QuestionWithAnswer]:
    for path in sorted(folder.glob("*.jsonl")):
        if path.stem.startswith("everyday"):
            continue
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield QuestionWithAnswer(
                "questions with required and forbidden statements",
                row["corpus"],
                row["question"],
                row["answerable"],
                required=tuple(map(tuple, row["must_verify"])),
                forbidden=tuple(map(tuple, row["must_not_verify"])),
            )


def what_became(
    number: int, row: QuestionWithAnswer, seen: Presentation, closest: str
) -> AskedQuestion:
    """Return what the strict page *seen* makes of *row*; *closest* is the sentence of the cosine."""
    texts = [_flat(chip.text) for chip in seen.shown]
    answered = bool(texts) and seen.summary.reason_code != "RELATED_ONLY"
    pieces = [piece for part in row.answer for piece in part]
    # A quotation may hold several sentences: what is forbidden is that one of them says it.
    said = [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text)]
    return AskedQuestion(
        number=number,
        part=row.part,
        answerable=row.answerable,
        answered=answered,
        with_answer=bool(row.answer),
        first=answered and _any_of(texts[:1], pieces),
        whole=answered and all(_any_of(texts, part) for part in row.answer),
        shown=all(_any_of(texts, part) for part in row.answer),
        cosine=_any_of([_flat(closest)], pieces),
        required=len(row.required),
        required_verified=sum(any(_all_in(t, own) for t in texts) for own in row.required),
        forbidden=len(row.forbidden),
        forbidden_verified=sum(any(_all_in(t, own) for t in said) for own in row.forbidden),
    )


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _any_of(texts: Sequence[str], pieces: Sequence[str]) -> bool:
    return any(_flat(piece) in text for piece in pieces for text in texts)


def _all_in(text: str, pieces: Sequence[str]) -> bool:
    return all(_flat(piece) in text for piece in pieces)


def question_figures(asked: Sequence[AskedQuestion]) -> list[QuestionFigures]:
    """Return the figures of each part, in the order in which the parts come."""
    parts: dict[str, list[AskedQuestion]] = {}
    for one in asked:
        parts.setdefault(one.part, []).append(one)
    return [_figures(part, own) for part, own in parts.items()]


def _figures(part: str, asked: Sequence[AskedQuestion]) -> QuestionFigures:
    answerable = [one for one in asked if one.answerable]
    told = [one for one in answerable if one.with_answer]
    without = [one for one in asked if not one.answerable]
    return QuestionFigures(
        part=part,
        answered=Share(sum(one.answered for one in answerable), len(answerable)),
        first=Share(sum(one.first for one in told), len(told)),
        cosine_first=Share(sum(one.cosine for one in told), len(told)),
        whole=Share(sum(one.whole for one in told), len(told)),
        shown=Share(sum(one.shown for one in told), len(told)),
        required=Share(
            sum(one.required_verified for one in asked), sum(one.required for one in asked)
        ),
        forbidden=Share(
            sum(one.forbidden_verified for one in asked), sum(one.forbidden for one in asked)
        ),
        answered_without_answer=Share(sum(one.answered for one in without), len(without)),
    )


_SAID: Final = {
    "answered": "answerable, and called answered",
    "first": "answered, with an answering claim first",
    "cosine_first": "the closest sentence by cosine answers",
    "whole": "answered, every part",
    "shown": "every part shown, as an answer or as related",
    "required": "required statements that got the badge",
    "forbidden": "forbidden statements that got it",
    "answered_without_answer": "without an answer, yet called answered",
}


def questions_table(found: Sequence[QuestionFigures]) -> FigureTable:
    """Return *found* as a table for a reader: a line a figure."""
    rows = [
        (f"{own.part}: {said}", str(getattr(own, name)))
        for own in found
        for name, said in _SAID.items()
        if getattr(own, name).whole
    ]
    return FigureTable("Questions", ("Questions", "Result"), tuple(rows))
