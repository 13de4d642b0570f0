"""Questions with what a search for them has to find: marked sentences of a file, or those of the fixtures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from certirag.eval.answers import read_answer_rows, same_sentence
from certirag.eval.builtin import fixture_lines
from certirag.eval.builtin_questions import everyday_questions, read_questions_with_answers
from certirag.eval.workload import FIXTURES
from certirag.ports import Index
from certirag.retrieve.relevance import Place

# Questions about small documents that nobody trained on, all of them in one corpus.
_DOCUMENTS: Final = ("fresh", "late", "seventh", "eighth")
_ABOUT: Final = "questions about 104 small documents"
DEMO: Final = ("policy", "finance", "clinical")  # corpora that are folders of the fixtures
Texts = tuple[tuple[str, str], ...]  # (name of the document, its Markdown)


@dataclass(frozen=True, slots=True)
class SoughtQuestion:
    """A question over *corpus*, and what tells a relevant sentence there.

    Where *document* is named, only its sentences are. A sentence is relevant that is one of *marked*, a
    part of one or holds one, and one that holds all of one of *pieces*, together with the headings
    over it and never by them alone.
    """

    part: str
    corpus: str
    question: str
    document: str = ""
    marked: tuple[str, ...] = ()
    pieces: tuple[tuple[str, ...], ...] = ()

    def relevant(self, index: Index) -> list[Place]:
        """Return the places of *index* that a search for the question has to find."""
        return [
            (chunk, span)
            for chunk in index.chunks()
            if not self.document or chunk.source.url_or_path == self.document
            for span in chunk.spans
            if span.visible and self._tells(chunk.context, span.sentence)
        ]

    def _tells(self, headings: str, sentence: str) -> bool:
        if same_sentence(sentence, self.marked):
            return True
        own, around = _flat(sentence), _flat(f"{headings} {sentence}")
        return any(
            all(_flat(piece) in around for piece in all_of)
            and any(_flat(piece) in own for piece in all_of)
            for all_of in self.pieces
        )


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


@dataclass(frozen=True, slots=True)
class Sought:
    """Questions to be searched, the texts of corpora that are no folder, and how many have no answer."""

    questions: tuple[SoughtQuestion, ...]
    texts: tuple[tuple[str, Texts], ...]  # by the name of the corpus
    without_answer: int


def sought_in_data(path: Path) -> Sought:
    """Return the questions of a file of `certirag eval answers`; each passage is a document of one corpus.

    A passage that two questions have is one document. Raises InputError naming a bad line.
    """
    rows = read_answer_rows(path)
    passages = dict.fromkeys((" ".join(row.title.split()), row.sentences) for row in rows)
    names = {passage: f"{number:05d}.md" for number, passage in enumerate(passages)}
    texts = tuple((names[own], f"# {own[0]}\n\n{' '.join(own[1])}\n") for own in passages)
    questions = tuple(
        SoughtQuestion(
            row.source or path.name,
            "data",
            row.question,
            document=names[" ".join(row.title.split()), row.sentences],
            marked=tuple(row.sentences[at] for at in row.gold),
        )
        for row in rows
        if row.gold
    )
    return Sought(questions, (("data", texts),), len(rows) - len(questions))


def sought_in_fixtures() -> Sought:
    """Return the questions of the fixtures whose answers are told; InputError where there are none."""
    texts = (("documents", _documents()),)
    found = [*_told(), *_about_documents()]
    questions = tuple(question for question in found if question)
    return Sought(questions, texts, len(found) - len(questions))


def _told() -> Iterator[SoughtQuestion | None]:
    """Yield the questions over the demo corpora; None for one that has no answer there."""
    folder = FIXTURES / "questions"
    for row in (
        *everyday_questions(folder / "everyday.jsonl"),
        *read_questions_with_answers(folder),
    ):
        pieces = row.required or tuple((piece,) for part in row.answer for piece in part)
        yield SoughtQuestion(row.part, row.corpus, row.question, pieces=pieces) if pieces else None


def _documents() -> Texts:
    return tuple(
        (f"{part}-{row['name']}.md", row["document"])
        for part in _DOCUMENTS
        for row in fixture_lines(FIXTURES / "heldout" / f"documents_{part}.jsonl")
    )


def _about_documents() -> Iterator[SoughtQuestion | None]:
    for part in _DOCUMENTS:
        for row in fixture_lines(FIXTURES / "heldout" / f"documents_{part}_questions.jsonl"):
            yield _about(f"{part}-{row['name']}.md", row) if row["answer"] else None


def _about(document: str, row: Mapping[str, Any]) -> SoughtQuestion:
    """Return a question about *document*; the cells of a table's row are read under its columns."""
    answer = row["answer"]
    cells = tuple(cell.strip() for cell in answer.strip("|").split("|") if cell.strip())
    if answer.startswith("|"):
        return SoughtQuestion(_ABOUT, "documents", row["question"], document, pieces=(cells,))
    return SoughtQuestion(_ABOUT, "documents", row["question"], document, marked=(answer,))
