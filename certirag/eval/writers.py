"""`certirag eval writers`: your language model beside itself, with and without certificates (CertiRAG seed §11).

The same questions go to each of `writing_systems.SYSTEMS`, over the demo corpora or an index of the user's. What
each showed is kept as a result file of ALCE too, so that `certirag eval alce` measures it by any verifier.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from pydantic import TypeAdapter

from certirag import __version__
from certirag.answers.services import Services
from certirag.bootstrap import build_services, make_verifier, open_index
from certirag.errors import InputError, LanguageModelError
from certirag.eval.alce import (
    AnswerWithCitations,
    CitedSentence,
    MeasuredCitations,
    citation_figures,
    judged_citations,
)
from certirag.eval.builtin import corpus_index, fixture_lines, scratch_services
from certirag.eval.builtin_questions import everyday_questions
from certirag.eval.figure_tables import FigureTable
from certirag.eval.measures import holm, mcnemar
from certirag.eval.pair_figures import json_values
from certirag.eval.pairs import begin_run
from certirag.eval.resumable import measured_lines
from certirag.eval.systems import Share
from certirag.eval.workload import FIXTURES, read_questions
from certirag.eval.writing_systems import CERTIFIED, SYSTEMS, WrittenAnswer, written_answers
from certirag.ports import Index, Progress, Verifier
from certirag.settings import Settings

FORMAT: Final = 1  # of a run and its figures
LINES: Final = "answers.jsonl"


@dataclass(frozen=True, slots=True)
class WritersRun:
    """Every *every*-th question of the demo corpora, or of *questions* over the *index*, into the folder *out*.

    *judge* is the verifier that says what citations bear out; None: that of the settings, which has
    decided over CertiRAG's badges already.
    """

    out: Path
    questions: Path | None = None
    index: Path | None = None
    judge: str | None = None
    every: int = 1
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class AskedOfAll:
    """A question over a demo corpus or, where *corpus* is "", over the run's index; *answer* as in the fixtures."""

    corpus: str
    question: str
    answerable: bool
    answer: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class AnsweredByAll:
    """What each system said to the question *number*, and its sentences as the judge sees them."""

    number: int
    asked: AskedOfAll
    answers: tuple[WrittenAnswer, ...]
    sentences: tuple[tuple[CitedSentence, ...], ...]


@dataclass(frozen=True, slots=True)
class WriterFigures:
    """What one system made of the questions.

    *told*: of those with a recorded answer, every part of it stands in an answer, in the documents' words.
    *without*: of what is answered among them, no part does. *unanswerable*: of those without one, it answers
    nevertheless. *recall* and *precision* of citations are ALCE's, means over the answers, NaN where there is none.
    *p* is McNemar's of *told* against CertiRAG, adjusted by Holm; None for CertiRAG itself.
    """

    system: str
    told: Share
    without: Share
    unanswerable: Share
    sentences: int
    uncited: Share
    unsupported: Share
    recall: float
    precision: float
    quoted: int
    requests: float
    characters: float
    seconds: float
    failed: int
    p: float | None


def run_writers(run: WritersRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Ask what *run*'s folder has no answers to yet, and return the figures of all.

    Raises InputError without a language model, for a bad file, and where the folder holds another run.
    """
    if settings.generator == "extractive":
        message = "these systems need a language model: add --generator openai:MODEL or llamacpp:FILE.gguf"
        raise InputError(message)
    if (run.questions is None) != (run.index is None):
        raise InputError("--questions and --index belong together: give both, or neither")
    units = list(enumerate(_questions(run)))[:: run.every]
    services = _services(run.index, settings)
    judge = make_verifier(run.judge or settings.verifier)
    begin_run(run.out, _described(run, units, services, judge))
    try:
        lines = measured_lines(
            run.out / LINES,
            TypeAdapter(AnsweredByAll),
            units,
            partial(
                _ask, settings=settings, folder=run.index, judge=run.judge or settings.verifier
            ),
            partial(progress, "Asking each system"),
            jobs=run.jobs,
        )
    except LanguageModelError as error:
        message = (
            f"the language model cannot be asked: {error}: run the same command again to go on"
        )
        raise InputError(message) from error
    return _report(lines, run, services, judge)


def _questions(run: WritersRun) -> list[AskedOfAll]:
    if run.questions is not None:
        return [AskedOfAll("", question, True) for question in read_questions(run.questions)]
    path = FIXTURES / "questions" / "everyday_blind.jsonl"
    next(fixture_lines(path))  # says what to do where there are no fixtures
    return [
        AskedOfAll(own.corpus, own.question, own.answerable, own.answer)
        for own in everyday_questions(path)
    ]


def _described(
    run: WritersRun, units: Sequence[object], services: Services, judge: Verifier
) -> dict[str, Any]:
    index = {} if run.index is None else {"corpus": open_index(run.index, services).fingerprint}
    return {
        "format": FORMAT,
        "what": "writers",
        "data": {
            "name": f"{len(units)} questions",
            "sha256": hashlib.sha256(repr(units).encode()).hexdigest(),
        },
        **index,
        "limit": None,
        "every": run.every,
        "seed": 0,
        "strategy": services.settings.strategy,
        "models": [asdict(model) for model in services.models],
        "judge": asdict(judge.identity),
        "policy": asdict(services.policy),
        "settings": services.settings.caps(),
        "certirag": __version__,
    }


@cache
def _services(folder: Path | None, settings: Settings) -> Services:
    """Return the services of the home that signed the user's index, or of one that goes with the process."""
    return scratch_services(settings) if folder is None else build_services(settings)


@cache
def _index(folder: Path, settings: Settings) -> Index:
    return open_index(folder, _services(folder, settings))


_verifier = cache(make_verifier)


def _ask(
    units: Sequence[tuple[int, AskedOfAll]], settings: Settings, folder: Path | None, judge: str
) -> list[AnsweredByAll]:
    services, found = _services(folder, settings), []
    for number, asked in units:
        index = corpus_index(asked.corpus, settings) if folder is None else _index(folder, settings)
        answers = tuple(written_answers(asked.question, index, services))
        cited = [AnswerWithCitations(asked.question, own.output, list(own.docs)) for own in answers]
        judged = judged_citations(cited, _verifier(judge), services.split)
        found.append(AnsweredByAll(number, asked, answers, tuple(map(tuple, judged))))
    return found


def _tells(asked: AskedOfAll, answer: WrittenAnswer, *, whole: bool) -> bool:
    """Say whether *answer* holds *whole* the recorded answer, or a part of it."""
    text = " ".join(answer.output.split()).casefold()
    parts = (any(piece.casefold() in text for piece in part) for part in asked.answer)
    return answer.answers and (all(parts) if whole else any(parts))


def writer_figures(lines: Sequence[AnsweredByAll]) -> list[WriterFigures]:
    """Return the figures of each system over *lines*."""
    recorded = [line for line in lines if line.asked.answer]
    told = {
        name: [_tells(line.asked, line.answers[at], whole=True) for line in recorded]
        for at, name in enumerate(SYSTEMS)
    }
    others = [name for name in SYSTEMS if name != CERTIFIED]
    pairs = {name: list(zip(told[CERTIFIED], told[name], strict=True)) for name in others}
    raw = [mcnemar(own.count((True, False)), own.count((False, True))) for own in pairs.values()]
    p = dict(zip(others, holm(raw), strict=True))
    return [_figures(at, name, lines, p.get(name)) for at, name in enumerate(SYSTEMS)]


def _figures(at: int, name: str, lines: Sequence[AnsweredByAll], p: float | None) -> WriterFigures:
    answers = [line.answers[at] for line in lines]
    recorded = [(line.asked, line.answers[at]) for line in lines if line.asked.answer]
    answered = [(asked, answer) for asked, answer in recorded if answer.answers]
    unanswerable = [line.answers[at] for line in lines if not line.asked.answerable]
    sentences = [own for line in lines for own in line.sentences[at]]
    cited = citation_figures(
        [MeasuredCitations(line.number, line.asked.question, line.sentences[at]) for line in lines],
        seed=0,
    )
    return WriterFigures(
        system=name,
        told=Share(sum(_tells(*one, whole=True) for one in recorded), len(recorded)),
        without=Share(sum(not _tells(*one, whole=False) for one in answered), len(answered)),
        unanswerable=Share(sum(own.answers for own in unanswerable), len(unanswerable)),
        sentences=len(sentences),
        uncited=Share(sum(not own.cited for own in sentences), len(sentences)),
        unsupported=Share(sum(not own.supported for own in sentences), len(sentences)),
        recall=cited.recall,
        precision=cited.precision,
        quoted=sum(own.quoted for own in answers),
        requests=fmean(own.requests for own in answers),
        characters=fmean(own.characters for own in answers),
        seconds=median(own.seconds for own in answers),
        failed=sum(bool(own.failed) for own in answers),
        p=p,
    )


def _report(
    lines: Sequence[AnsweredByAll], run: WritersRun, services: Services, judge: Verifier
) -> dict[str, Any]:
    figures = writer_figures(lines)
    for at, name in enumerate(SYSTEMS):
        data = [
            {
                "question": line.asked.question,
                "output": line.answers[at].output,
                "docs": [asdict(one) for one in line.answers[at].docs],
            }
            for line in lines
        ]
        path = run.out / f"system-{at + 1}.json"
        path.write_text(
            json.dumps({"system": name, "data": data}, ensure_ascii=False) + "\n", "utf-8"
        )
    report = {"format": FORMAT, "systems": json_values(figures)}
    text = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    (run.out / "figures.json").write_text(text + "\n", "utf-8")
    (run.out / "figures.md").write_text(_markdown(figures, lines, services, judge), "utf-8")
    return report


_LABELS: Final = {
    "told": "every part of the recorded answer is told, in the documents' words",
    "p": "p of that against CertiRAG",
    "without": "answered, and no part of it told",
    "unanswerable": "the documents have no answer, yet answered",
    "sentences": "sentences shown",
    "uncited": "of them cite nothing that is there",
    "unsupported": "of them what they cite, if anything, does not bear out",
    "recall": "citation recall",
    "precision": "citation precision",
    "quoted": "statements quoted in place of the model's",
    "requests": "requests to the model, mean",
    "characters": "characters sent and written, mean",
    "seconds": "seconds, median",
    "failed": "the model failed",
}


def _markdown(
    figures: Sequence[WriterFigures],
    lines: Sequence[AnsweredByAll],
    services: Services,
    judge: Verifier,
) -> str:
    writer = services.writer
    model = writer.model.identity.name if writer else ""
    own = judge.identity
    head = f"{len(lines)} questions to `{model}`; citations judged by `{own.name}`, version {own.version}"
    same = own == services.verifier.identity
    head += (
        ", which decides CertiRAG's badges too: take another judge to compare by.\n"
        if same
        else ".\n"
    )
    rows = tuple(
        (label, *(_cell(getattr(own, name)) for own in figures)) for name, label in _LABELS.items()
    )
    table = FigureTable("Writers", ("Figure", *(own.system for own in figures)), rows)
    return f"{head}\n{table.markdown()}\n"


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    if math.isnan(value):  # no answer has a sentence
        return "–"
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"
