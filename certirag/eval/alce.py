"""`certirag eval alce`: citation recall, precision and F1 of answers in ALCE's result files.

As Gao et al. 2023 (EMNLP, section 3.3) define them, with the verifier that is named in place of TRUE.
Nobody labelled these sentences: the figures say what the verifier thinks of the citations.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import TypeAdapter

from certirag import __version__
from certirag.bootstrap import make_splitter, make_verifier
from certirag.eval.figure_tables import FigureTable
from certirag.eval.measures import bootstrap_interval
from certirag.eval.pair_figures import json_values
from certirag.eval.pairs import ROWS, begin_run, drawn_numbers
from certirag.eval.published_files import digest_of, one_file, plain_name, typed_rows
from certirag.eval.resumable import measured_lines
from certirag.ports import Progress, SentenceSplitter, Verifier
from certirag.settings import Settings
from certirag.verification.judge import score_rows

FORMAT: Final = 1  # of a run
MOST_CITATIONS: Final = 3  # of a sentence; its authors' script takes no more
_YES: Final = "entailed"  # the verifier's label, its highest score, where TRUE says 1
_BATCH: Final = 20  # answers measured and written at once
_CITATION = re.compile(r"\[(\d{1,9})")
_MARK = re.compile(r" ?\[\d+\]?")


@dataclass(frozen=True, slots=True)
class AlceDocument:
    """A document; *sent* is what was taken from it, and is read in place of its *text*."""

    title: str
    text: str = ""
    sent: str | None = None

    @property
    def premise(self) -> str:
        return f"Title: {self.title}\n{self.text if self.sent is None else self.sent}"


@dataclass(frozen=True, slots=True)
class AnswerWithCitations:
    """An entry of ``data`` in a result file: what a model answered, with marks like [2] into *docs*."""

    question: str
    output: str
    docs: list[AlceDocument]


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its marks, and the numbers of the documents it cites, counted from 0.

    *supported*: they bear it out together. *needed* are those of them that count as precise: each bears
    it out alone, or the others together do not. *misplaced*: it cites a document that is not there.
    *failed*: the verifier gave no sound answer, which supports nothing.
    """

    text: str
    cited: tuple[int, ...]
    supported: bool
    needed: tuple[int, ...]
    misplaced: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class MeasuredCitations:
    """What was measured of the answer *number*; without sentences it is in no figure."""

    number: int
    question: str
    sentences: tuple[CitedSentence, ...]

    @property
    def recall(self) -> float:
        """Share of the sentences that their citations bear out."""
        return sum(own.supported for own in self.sentences) / len(self.sentences)

    @property
    def precision(self) -> float:
        """Share of the citations that are precise; 0 where there is none."""
        cited = sum(len(own.cited) for own in self.sentences)
        return sum(len(own.needed) for own in self.sentences) / cited if cited else 0.0


@dataclass(frozen=True, slots=True)
class CitationFigures:
    """Means over the answers, in [0, 1], with intervals by the bootstrap over answers (95 %)."""

    answers: int
    without_sentences: int
    sentences: int
    uncited: int
    misplaced: int
    failed: int
    recall: float
    recall_interval: tuple[float, float]
    precision: float
    precision_interval: tuple[float, float]
    f1: float
    f1_interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class AlceRun:
    """Answers of the file *data*, *limit* of them drawn by *seed*; *listed* ones are lists, as QAMPARI's."""

    data: Path
    out: Path
    limit: int | None
    seed: int
    jobs: int = 1
    listed: bool = False


def run_alce(run: AlceRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Measure the answers that *run*'s folder does not have yet, and return the figures of all.

    Raises InputError for what is no result file, and where the folder holds a run of something else.
    """
    files = one_file(run.data)
    adapter = TypeAdapter(AnswerWithCitations)
    answers = [row for _, row in typed_rows(run.data, adapter, key="data")]
    numbers = drawn_numbers(len(answers), run.limit, run.seed)
    units = [(number, answers[number]) for number in numbers]
    verifier = make_verifier(settings.verifier)
    described = {
        "format": FORMAT,
        "what": "alce",
        "data": {"name": run.data.name, "format": "alce", "sha256": digest_of(files)},
        "answers": len(units),
        "limit": run.limit,
        "seed": run.seed,
        "listed": run.listed,
        "verifier": asdict(verifier.identity),
        "sentences": settings.sentences,
        "certirag": __version__,
    }
    begin_run(run.out, described)
    measured = measured_lines(
        run.out / ROWS,
        TypeAdapter(MeasuredCitations),
        units,
        partial(_measure, settings=settings, listed=run.listed),
        partial(progress, "Measuring answers"),
        batch=_BATCH,
        jobs=run.jobs,
    )
    return _report(measured, verifier, run)


@cache
def _parts(settings: Settings) -> tuple[Verifier, SentenceSplitter]:
    return make_verifier(settings.verifier), make_splitter(settings.sentences)


def _measure(
    answers: Sequence[tuple[int, AnswerWithCitations]], settings: Settings, *, listed: bool
) -> list[MeasuredCitations]:
    verifier, split = _parts(settings)
    judged = judged_citations([answer for _, answer in answers], verifier, split, listed=listed)
    return [
        MeasuredCitations(number, answer.question, tuple(sentences))
        for (number, answer), sentences in zip(answers, judged, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence of the answer numbered *answer* and what it cites; None where a document is not there."""

    answer: int
    docs: Sequence[AlceDocument]
    text: str
    cited: tuple[int, ...] | None

    def pair(self, cited: Sequence[int]) -> tuple[str, str]:
        """Return the documents *cited* as one premise, and the sentence."""
        return "\n".join(self.docs[at].premise for at in cited), self.text


def judged_citations(
    answers: Sequence[AnswerWithCitations],
    verifier: Verifier,
    split: SentenceSplitter,
    *,
    listed: bool = False,
) -> list[list[CitedSentence]]:
    """Return for each answer its sentences with what *verifier* says of their citations.

    With *listed* an answer is a list with commas, and each of its parts a sentence behind the question.
    """
    statements = [
        _Statement(at, answer.docs, _MARK.sub("", text).strip(), _cited(text, len(answer.docs)))
        for at, answer in enumerate(answers)
        for text in _sentences(answer, split, listed=listed)
    ]
    says: dict[tuple[str, str], str] = {}
    # Two rounds, so that a verifier is asked about many pairs at once.
    _ask(says, [one.pair(one.cited) for one in statements if one.cited], verifier, split)
    shared = [
        (one, at)
        for one in statements
        if one.cited and len(one.cited) > 1 and says[one.pair(one.cited)] == _YES
        for at in one.cited
    ]
    alone = [one.pair((at,)) for one, at in shared]
    others = [one.pair(_without(one.cited or (), at)) for one, at in shared]
    _ask(says, [*alone, *others], verifier, split)
    found: list[list[CitedSentence]] = [[] for _ in answers]
    for one in statements:
        cited = one.cited or ()
        label = says[one.pair(cited)] if cited else ""
        supported = label == _YES
        needed = tuple(
            at
            for at in cited
            if supported
            and (
                len(cited) == 1
                or says[one.pair((at,))] == _YES
                or says[one.pair(_without(cited, at))] != _YES
            )
        )
        found[one.answer].append(
            CitedSentence(one.text, cited, supported, needed, one.cited is None, label == "error")
        )
    return found


def _ask(
    says: dict[tuple[str, str], str],
    pairs: Sequence[tuple[str, str]],
    verifier: Verifier,
    split: SentenceSplitter,
) -> None:
    """Put into *says* what *verifier* calls each of *pairs*, asking about none twice."""
    left = list(dict.fromkeys(pair for pair in pairs if pair not in says))
    rows = [{"premise": premise, "hypothesis": text} for premise, text in left]
    scored = score_rows(rows, verifier, split, lambda *_: None)
    says |= {pair: str(row["label"]) for pair, row in zip(left, scored, strict=True)}


def _sentences(
    answer: AnswerWithCitations, split: SentenceSplitter, *, listed: bool
) -> Iterator[str]:
    """Yield the sentences of the answer's first line, which is all that its authors' script reads."""
    text = answer.output.strip().split("\n")[0].replace("<|im_end|>", "")
    if listed:
        parts = text.rstrip().rstrip(".").rstrip(",").split(",")
        yield from (f"{answer.question} {part.strip()}" for part in parts)
    else:
        yield from (text[start:end] for start, end in split(text))


def _cited(text: str, documents: int) -> tuple[int, ...] | None:
    """Return the documents that *text* cites, no more than are counted; None where one is not there."""
    found = [int(number) - 1 for number in _CITATION.findall(text)]
    if not all(0 <= at < documents for at in found):
        return None
    return tuple(found[:MOST_CITATIONS])


def _without(cited: Sequence[int], at: int) -> list[int]:
    others = list(cited)
    others.remove(at)
    return others


def citation_figures(measured: Sequence[MeasuredCitations], seed: int) -> CitationFigures:
    """Return the figures of *measured*; NaN where no answer has a sentence."""
    told = [one for one in measured if one.sentences]
    recalls = np.array([one.recall for one in told])
    precisions = np.array([one.precision for one in told])

    def mean(values: Any, drawn: Any) -> float:
        return float(values[drawn].mean()) if len(told) else math.nan

    def f1(drawn: Any) -> float:
        both = mean(recalls, drawn), mean(precisions, drawn)
        return 2 * both[0] * both[1] / sum(both) if sum(both) else 0.0

    def between(measure: Callable[[Any], float]) -> tuple[float, float]:
        return bootstrap_interval(measure, len(told), seed=seed) if told else (math.nan, math.nan)

    every = np.arange(len(told))
    sentences = [own for one in told for own in one.sentences]
    return CitationFigures(
        answers=len(measured),
        without_sentences=len(measured) - len(told),
        sentences=len(sentences),
        uncited=sum(not own.cited and not own.misplaced for own in sentences),
        misplaced=sum(own.misplaced for own in sentences),
        failed=sum(own.failed for own in sentences),
        recall=mean(recalls, every),
        recall_interval=between(partial(mean, recalls)),
        precision=mean(precisions, every),
        precision_interval=between(partial(mean, precisions)),
        f1=f1(every),
        f1_interval=between(f1),
    )


def _report(
    measured: Sequence[MeasuredCitations], verifier: Verifier, run: AlceRun
) -> dict[str, Any]:
    """Write the figures into the run's folder, and return them."""
    figures = citation_figures(measured, run.seed)
    (plain,) = json_values([figures])
    report = {"format": FORMAT, "citations": plain}
    text = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    (run.out / "figures.json").write_text(text + "\n", "utf-8")
    found = verifier.identity
    rows = tuple(
        (name, f"{value:.1%}", f"{low:.1%} to {high:.1%}")
        for name, value, (low, high) in (
            ("Citation recall", figures.recall, figures.recall_interval),
            ("Citation precision", figures.precision, figures.precision_interval),
            ("F1 of the two", figures.f1, figures.f1_interval),
        )
    )
    head = (
        f"Measured: verifier `{found.name}`, version {found.version}, SHA-256 `{found.sha256}`, in place "
        f"of TRUE. Data: `{plain_name(run.data.absolute().name)}`: {figures.answers} answers "
        f"({figures.without_sentences} without a sentence), {figures.sentences} sentences, of which "
        f"{figures.uncited} cite nothing and {figures.misplaced} a document that is not there; "
        f"the verifier failed on {figures.failed}."
    )
    table = FigureTable("ALCE", ("ALCE", "Mean over answers", "95 % (bootstrap)"), rows)
    (run.out / "figures.md").write_text(f"{head}\n\n{table.markdown()}\n", "utf-8")
    return report
