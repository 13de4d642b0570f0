"""What is asked over which documents: the demo corpora, or a user's own files and questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

from certirag.errors import InputError
from certirag.settings import ASSETS

FIXTURES: Final = ASSETS.parent / "fixtures"  # in a checkout; a wheel has none


@dataclass(frozen=True, slots=True)
class Workload:
    """Documents that belong together and the questions that are asked over them."""

    name: str
    paths: tuple[Path, ...]
    questions: tuple[str, ...]


def demo_workloads(root: Path = FIXTURES) -> tuple[Workload, ...]:
    """Return the demo corpora under *root* with their questions.

    Raises InputError where there are none, as in an installed package.
    """
    files = sorted((root / "questions").glob("*.jsonl"))
    found = [
        Workload(path.stem, (root / "corpora" / path.stem,), read_questions(path))
        for path in files
        if (root / "corpora" / path.stem).is_dir()
    ]
    if not found:
        raise InputError(
            f"the demo corpora are not in {root} (an installed package has none): "
            "give documents with --data PATH and questions with --questions FILE"
        )
    return tuple(found)


def own_workload(paths: Sequence[Path], questions: Path | None) -> tuple[Workload, ...]:
    """Return the workload of the user's documents *paths* and the rows of *questions*."""
    if questions is None:
        raise InputError(
            '--data needs questions too: give --questions FILE, one {"question": "…"} a line'
        )
    return (Workload("data", tuple(paths), read_questions(questions)),)


def read_questions(path: Path) -> tuple[str, ...]:
    """Return the field ``question`` of every row of a JSONL file; InputError names the line."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: save it as UTF-8") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = json.loads(line)["question"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f"{path}, line {number}: a row is an object with a string 'question'"
            ) from error
        if not isinstance(question, str) or not question.strip():
            raise InputError(f"{path}, line {number}: 'question' must be a string with words")
        questions.append(question)
    if not questions:
        raise InputError(f"{path}: holds no question: write one row a line")
    return tuple(questions)


def in_turn(workloads: Sequence[Workload], limit: int | None) -> list[tuple[str, str]]:
    """Return (workload, question), the workloads in turn, so that a limit touches all of them."""
    rows = [
        [(workload.name, question) for question in workload.questions] for workload in workloads
    ]
    mixed = [pair for pair in chain.from_iterable(zip_longest(*rows)) if pair is not None]
    return mixed[:limit]
