"""What is asked over which documents, and the seconds that each stage of a question takes.

The demo corpora are asked, or a user's own files and questions; ports report what passes them.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final

from certirag.answers.services import Stage
from certirag.core.generation import ModelIdentity
from certirag.errors import InputError
from certirag.ports import Embedder, Judgement, Pair, Reranker, Verifier
from certirag.settings import ASSETS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Stopwatch:
    """Adds up the seconds of each stage, without those of the stages opened inside it.

    The sum over all stages is therefore the time of the outermost ones. For one thread at a time.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._inside: list[float] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what happens in this context as *name*, also when it raises."""
        started = self._clock()
        self._inside.append(0.0)
        try:
            yield
        finally:
            spent = self._clock() - started
            self.seconds[name] += spent - self._inside.pop()
            if self._inside:
                self._inside[-1] += spent

    def taken(self) -> dict[str, float]:
        """Return the seconds of each stage so far, and begin again at zero."""
        taken = dict(self.seconds)
        self.seconds.clear()
        return taken


class TimedEmbedder:
    """An embedder (Embedder port) whose work counts as the stage ``embed``."""

    def __init__(self, embedder: Embedder, stage: Stage) -> None:
        self._embedder = embedder
        self._stage = stage

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the embedder inside."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """The dimension of the embedder inside."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what the embedder inside returns."""
        with self._stage("embed"):
            return self._embedder.embed(texts)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        """Return what the embedder inside returns."""
        with self._stage("embed"):
            return self._embedder.embed_tokens(texts)


class TimedReranker:
    """A reranker (Reranker port) whose work counts as the stage ``rerank``."""

    def __init__(self, reranker: Reranker, stage: Stage) -> None:
        self._reranker = reranker
        self._stage = stage

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the reranker inside."""
        return self._reranker.identity

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return what the reranker inside returns."""
        with self._stage("rerank"):
            return self._reranker.score(query, texts)


class CountingVerifier:
    """A verifier (Verifier port) that counts the *pairs* it was asked, in how many *calls*."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.pairs = 0
        self.calls = 0

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the verifier inside."""
        return self._verifier.identity

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Return what the verifier inside returns."""
        self.pairs += len(pairs)
        self.calls += 1
        return self._verifier.judge(pairs)


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
