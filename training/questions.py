"""What people asked of documents, as it is read for training: with the statements that answer."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from certirag.errors import InputError
from certirag.eval.answers import QuestionRow
from certirag.ports import Embedder
from certirag.text.question import halves

_BATCH: Final = 256
_PLAIN: Final = 3000
_SEED: Final = 5


class Passages:
    """The sentences of all passages under their headings, and their cosines with each question."""

    def __init__(self, rows: Sequence[QuestionRow], embedder: Embedder) -> None:
        self.rows = rows
        passages: dict[tuple[tuple[str, str], ...], int] = {}
        self.of_row = [passages.setdefault(_statements(row), len(passages)) for row in rows]
        self.places = [(at, n) for own, at in passages.items() for n in range(len(own))]
        self.texts = [statement for own in passages for statement in own]
        self._starts = np.cumsum([0, *(len(own) for own in passages)])
        self._vectors = _embedded(["\n".join(text) for text in self.texts], embedder)
        self._questions = _embedded([row.question for row in rows], embedder)

    def closest(self, question: int, count: int) -> list[int]:
        """Return the *count* sentences of the largest cosine with the question of row *question*."""
        cosines = self._vectors @ self._questions[question]
        best = np.argpartition(-cosines, min(count, len(cosines) - 1))[:count]
        order: list[int] = best[np.argsort(-cosines[best])].tolist()
        return order

    def of_passage(self, question: int) -> list[int]:
        """Return the sentences of that question's passage by falling cosine with it."""
        first = self._starts[self.of_row[question]]
        own = self._vectors[first : self._starts[self.of_row[question] + 1]]
        order: list[int] = (first + np.argsort(-(own @ self._questions[question]))).tolist()
        return order

    def own(self, question: int, place: int) -> bool:
        """Say whether the sentence *place* is of the passage of that question."""
        return self.places[place][0] == self.of_row[question]

    def marked(self, question: int, place: int) -> bool:
        """Say whether people marked the sentence *place* as an answer to that question."""
        return self.own(question, place) and self.places[place][1] in self.rows[question].gold


def _statements(row: QuestionRow) -> tuple[tuple[str, str], ...]:
    headings = row.headings or (row.title,) * len(row.sentences)
    return tuple(zip(headings, row.sentences, strict=True))


def read_everyday(path: Path) -> list[QuestionRow]:
    """Read documents with questions: ``id``, ``statements``, ``questions`` a line.

    A statement is its headings and its text, a question its text and the numbers of the
    statements that answer it. The rows' source is the name of the file's folder. Raises InputError
    naming a bad line.
    """
    rows, source = [], path.resolve().parent.name
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            content = json.loads(line)
            headings, texts = zip(*content["statements"], strict=True)
            title = headings[0].split(" › ")[0]
            rows += [
                QuestionRow(content["id"], asked, title, texts, tuple(gold), source, headings)
                for asked, gold in content["questions"]
            ]
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path}, line {number} is no document with questions: {error!r}"
            raise InputError(message) from error
    return rows


def plain_statements(rows: Sequence[QuestionRow]) -> list[str]:
    """Return up to 3,000 statements of *rows*, drawn always alike: none of them instructs a model."""
    said = sorted({statement for row in rows for statement in row.sentences})
    chance = random.Random(_SEED)  # noqa: S311  # no secret
    return chance.sample(said, min(_PLAIN, len(said)))


def _embedded(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    parts = [embedder.embed(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
    return np.concatenate(parts)


def read_two_part(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Return each question of *path* with its parts; InputError naming a bad line."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            content = json.loads(line)
            question, parts = str(content["question"]), tuple(map(str, content["parts"]))
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path}, line {number} is no question with its parts: {error!r}"
            raise InputError(message) from error
        if parts != (question,) and parts not in halves(question):
            raise InputError(f"{path}, line {number}: the parts are no halves of the question")
        found.append((question, parts))
    return found


class Remembering:
    """An embedder that embeds a text once: the closest of many questions are the same ones."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._known = embedder, dict[str, NDArray[np.float32]]()
        self.identity, self.dimension = embedder.identity, embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector for each of *texts*."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, _embedded(new, self._embedder), strict=True))
        return np.stack([self._known[text] for text in texts])

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        """Return what the embedder gives: nothing of it is kept."""
        return self._embedder.embed_tokens(texts)
