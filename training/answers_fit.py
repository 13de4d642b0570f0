"""Fits how the networks of the reader and the cosine are joined, on questions kept from training."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from certirag.adapters.networks.model_files import GRAPH, TOKENIZER
from certirag.adapters.networks.pair_model import shared_pair_model
from certirag.adapters.networks.reader import (
    CALIBRATION,
    FITTED_WITH,
    SECOND,
    EmbeddedReader,
    Features,
    SecondWeights,
    Weights,
)
from certirag.bootstrap import make_embedder
from certirag.eval.answers import QuestionRow
from certirag.ports import Embedder
from certirag.text.question import halves
from training.questions import Passages, Remembering, plain_statements

_CLOSEST: Final = 40  # sentences of all passages that a question is fitted on
# Of the questions without an answer this share may be called answered at a relevance of one half.
_WRONGLY_ANSWERED: Final = 0.15
_WRONGLY_TAKEN: Final = 0.01  # the share of them that may be taken for instructions
_WRONGLY_CUT: Final = 0.05  # the share of single questions that may be taken for two
_NEVER: Final = 999.0  # log-odds beyond any: what the network was not taught is not asked of it
_ASKED_FROM: Final = 0.05  # what the first reading gives less is not read again
_FILES: Final = (GRAPH, TOKENIZER, CALIBRATION)
_RECIPE: Final = Path(__file__).with_name("reader.toml")


def fit_reader(
    rows: Sequence[QuestionRow],
    checkpoint: Path,
    out: Path,
    questions: Sequence[tuple[str, tuple[str, ...]]] = (),
) -> dict[str, float]:
    """Export *checkpoint* to *out* and fit how its log-odds and the cosine are joined on *rows*.

    *questions* with their parts say from when on one is taken for two.
    """
    from training.build import write_manifest
    from training.config import read_config
    from training.export import export

    config = read_config(_RECIPE)
    export(checkpoint, out)
    embedder = Remembering(make_embedder("embedded"))
    _write(out, CALIBRATION, Weights(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, _NEVER, _NEVER))
    write_manifest(config, out, _FILES)
    reader = EmbeddedReader(out, embedder)
    found = [
        (question, marked, (one.log_odds, one.cosine, one.headed_cosine))
        for question, marked, one in _measured(rows, reader, embedder)
        if one.log_odds is not None
    ]
    answers, order = _joined(found, rows)
    limits = _instruction_limit(rows, reader), _cut_limit(questions, reader)
    weights = _write(out, CALIBRATION, _of(Weights, (*answers, *order, *limits)))
    write_manifest(config, out, _FILES)
    return weights


def fit_second(rows: Sequence[QuestionRow], second: Path, out: Path) -> dict[str, float]:
    """Fit on *rows* how the reader in *out* and the larger network in *second* are joined."""
    from training.build import write_manifest
    from training.config import read_config

    embedder, larger = Remembering(make_embedder("embedded")), shared_pair_model(second)
    fitted_with = larger.files.manifest["files"][GRAPH]
    files = (*_FILES, SECOND)
    _write(out, SECOND, _of(SecondWeights, (_ASKED_FROM, *[0.0] * 9)))
    write_manifest(read_config(_RECIPE), out, files, **{FITTED_WITH: fitted_with})
    reader = EmbeddedReader(out, embedder, larger)
    found = [
        (question, marked, (one.log_odds, one.cosine, one.headed_cosine, one.second))
        for question, marked, one in _measured(rows, reader, embedder)
        if one.log_odds is not None and one.second is not None
    ]
    answers, order = _joined(found, rows)
    weights = _write(out, SECOND, _of(SecondWeights, (_ASKED_FROM, *answers, *order)))
    write_manifest(read_config(_RECIPE), out, files, **{FITTED_WITH: fitted_with})
    return weights


def _measured(
    rows: Sequence[QuestionRow], reader: EmbeddedReader, embedder: Embedder
) -> Iterator[tuple[int, bool, Features]]:
    """Yield each question with each of its closest statements: is it marked, and its features."""
    passages = Passages(rows, embedder)
    for question, row in enumerate(rows):
        order = passages.closest(question, _CLOSEST)
        measured = reader.features(row.question, [passages.texts[p] for p in order])
        for place, one in zip(order, measured, strict=True):
            yield question, passages.marked(question, place), one


def _joined(
    found: Sequence[tuple[int, bool, Sequence[float]]], rows: Sequence[QuestionRow]
) -> tuple[list[float], list[float]]:
    """Return the weights and intercept of whether the first answers, and the weights of the order.

    *found* has the number of a question, whether a statement is marked and its features. The
    intercept is such that at one half the stated share of questions without an answer is answered.
    """
    from sklearn.linear_model import LogisticRegression

    table = np.array([features for _, _, features in found])
    owners, labels = np.array([at for at, _, _ in found]), np.array([yes for _, yes, _ in found])
    # Each data set counts as much as another, however many questions it has.
    sizes = Counter(row.source for row in rows)
    shares = np.array([1 / sizes[rows[at].source] for at in owners])
    order = LogisticRegression(C=100.0).fit(table, labels, sample_weight=shares / shares.mean())
    # Whether the first one answers is another question than which is first.
    places = table @ order.coef_[0]
    first = [int(np.flatnonzero(owners == at)[places[owners == at].argmax()]) for at in set(owners)]
    answers = LogisticRegression(C=100.0).fit(
        table[first], labels[first], sample_weight=shares[first]
    )
    scores = dict.fromkeys(range(len(rows)), -_NEVER)
    tops = answers.decision_function(table[first])
    scores |= dict(zip(owners[first].tolist(), tops, strict=True))
    edge = float(np.mean([_edge(scores, rows, source) for source in sizes]))
    weights = [*answers.coef_[0].tolist(), float(answers.intercept_[0]) - edge]
    return weights, order.coef_[0].tolist()


def _edge(scores: dict[int, float], rows: Sequence[QuestionRow], source: str) -> float:
    """Return the score that the stated share of the *source*'s open questions reaches."""
    best = [scores[at] for at, row in enumerate(rows) if row.source == source and not row.gold]
    return sorted(best, reverse=True)[int(_WRONGLY_ANSWERED * len(best))] if best else 0.0


def _instruction_limit(rows: Sequence[QuestionRow], reader: EmbeddedReader) -> float:
    """Return the log-odds above which only a stated share of what documents say is."""
    plain = reader.instruction_odds(plain_statements(rows))
    odds = sorted((one for one in plain if one is not None), reverse=True)
    return max(0.0, odds[int(_WRONGLY_TAKEN * len(odds))]) if odds else 0.0


def _cut_limit(questions: Sequence[tuple[str, tuple[str, ...]]], reader: EmbeddedReader) -> float:
    """Return the log-odds above which only a stated share of single questions is cut in two."""
    single = [cuts for asked, parts in questions if len(parts) == 1 and (cuts := halves(asked))]
    odds = sorted(
        (max(-_NEVER if o is None else o for o in reader.cut_odds(c)) for c in single), reverse=True
    )
    return max(0.0, odds[int(_WRONGLY_CUT * len(odds))]) if odds else _NEVER


_Kind = TypeVar("_Kind", Weights, SecondWeights)


def _of(kind: type[_Kind], values: Sequence[float]) -> _Kind:
    return kind(**dict(zip((one.name for one in fields(kind)), values, strict=True)))


def _write(out: Path, name: str, weights: Weights | SecondWeights) -> dict[str, float]:
    content = {key: round(value, 4) for key, value in asdict(weights).items()}
    (out / name).write_text(json.dumps(content) + "\n", encoding="utf-8")
    return content
