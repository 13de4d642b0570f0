"""ALCE's citation recall and precision, on answers whose figures a person counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from certirag.cli.main import main
from certirag.eval.alce import (
    AnswerWithCitations,
    MeasuredCitations,
    citation_figures,
    judged_citations,
)
from certirag.ingest.sentences import sentence_splitter
from certirag.ports import Judgement, Pair

DOCS = [
    {"id": "1", "title": "Mill", "text": "The mill was sold in 1987. Its wheel is made of oak."},
    {"title": "Guide", "text": "A guide shows the mill on Sundays.", "sent": "A guide comes."},
    {"title": "Town", "text": "The town has a bridge. The mill was sold in 1987."},
]


class WordsOf:
    """A verifier to whom a text bears out what has all its words in it."""

    def __init__(self) -> None:
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        self.asked += pairs
        found = []
        for pair in pairs:
            words = pair.claim.lower().strip(".").split()
            there = set(pair.evidence.lower().replace(".", " ").split())
            yes = set(words) <= there
            label = "entailed" if yes else "not_enough_info"
            found.append(Judgement(label, float(yes), float(not yes), 0.0))
        return found


def _answer(output: str) -> AnswerWithCitations:
    value = {"question": "When?", "output": output, "docs": DOCS, "answer": "1987"}
    return TypeAdapter(AnswerWithCitations).validate_python(value)


def _judged(*outputs: str, listed: bool = False) -> list[MeasuredCitations]:
    answers = [_answer(output) for output in outputs]
    found = judged_citations(answers, WordsOf(), sentence_splitter(None), listed=listed)
    return [MeasuredCitations(at, "When?", tuple(own)) for at, own in enumerate(found)]


@pytest.mark.parametrize(
    ("output", "supported", "needed", "recall", "precision"),
    [
        ("The mill was sold in 1987 [1].", [True], [(0,)], 1.0, 1.0),
        ("The mill was sold in 1987 [2].", [False], [()], 0.0, 0.0),
        ("The mill was sold in 1987.", [False], [()], 0.0, 0.0),
        ("The mill was sold in 1987 [1][9].", [False], [()], 0.0, 0.0),
        ("The mill was sold in 1987 [0].", [False], [()], 0.0, 0.0),
        # Either document alone bears it out, and so both are precise.
        ("The mill was sold in 1987 [1][3].", [True], [(0, 2)], 1.0, 1.0),
        # The second adds nothing.
        ("The mill was sold in 1987 [1][2].", [True], [(0,)], 1.0, 0.5),
        # Only together, so that neither can be missed.
        ("wheel bridge [1][3].", [True], [(0, 2)], 1.0, 1.0),
        # The extracted sentence is read in place of the text.
        ("A guide shows [2].", [False], [()], 0.0, 0.0),
        ("A guide comes [2].", [True], [(1,)], 1.0, 1.0),
        # No more than three citations of a sentence are read.
        ("The mill was sold in 1987 [2][2][2][1].", [False], [()], 0.0, 0.0),
        (
            "The mill was sold in 1987 [1][2]. Its wheel is made of gold [1].\nNo [1].",
            [True, False],
            [(0,), ()],
            0.5,
            1 / 3,
        ),
    ],
)
def test_recall_and_precision_by_hand(output, supported, needed, recall, precision) -> None:
    """A sentence, what it cites, and which of it counts."""
    (found,) = _judged(output)
    assert [own.supported for own in found.sentences] == supported
    assert [own.needed for own in found.sentences] == needed
    assert found.recall == recall
    assert found.precision == pytest.approx(precision)


class Broken(WordsOf):
    """A verifier that fails."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        raise RuntimeError


def test_what_a_verifier_fails_on_is_not_supported_and_counted() -> None:
    """A failure is no support, and no silence."""
    answers = [_answer("The mill was sold in 1987 [1].")]
    (found,) = judged_citations(answers, Broken(), sentence_splitter(None))
    figures = citation_figures([MeasuredCitations(0, "", tuple(found))], seed=0)
    assert (figures.recall, figures.failed) == (0.0, 1)


def test_a_list_is_cut_at_its_commas_behind_the_question() -> None:
    """As QAMPARI's answers are."""
    (found,) = _judged("oak [1], bronze [1].", listed=True)
    assert [own.text for own in found.sentences] == ["When? oak", "When? bronze"]


def test_figures_are_means_over_answers() -> None:
    """An answer without a sentence is in none; F1 is of the two means."""
    measured = _judged(
        "The mill was sold in 1987 [1][2].", "", "The mill was sold in 1986 [1]. A guide comes [9]."
    )
    found = citation_figures(measured, seed=0)
    assert (found.answers, found.without_sentences, found.sentences) == (3, 1, 3)
    assert (found.uncited, found.misplaced) == (0, 1)
    assert (found.recall, found.precision) == (0.5, 0.25)
    assert found.f1 == pytest.approx(1 / 3)
    low, high = found.recall_interval
    assert (low, high) == (0.0, 1.0)


def _result_file(path: Path, *outputs: str) -> Path:
    data = [
        {"question": "When?", "output": output, "docs": DOCS, "answer": "1987"}
        for output in outputs
    ]
    path.write_text(json.dumps({"args": {"model": "m"}, "data": data}), "utf-8")
    return path


def test_the_command_measures_with_the_network_that_ships(tmp_path, monkeypatch, capsys) -> None:
    """A run's folder, gone on with after a stop; a file that is no result file is one line."""
    monkeypatch.setenv("CERTIRAG_VERIFIER", "embedded")
    path = _result_file(
        tmp_path / "asqa.json",
        "The mill was sold in 1987 [1].",
        "The mill was sold in 1987 [2].",
        "A guide comes.",
    )
    command = ["eval", "alce", "--data", str(path), "--out", str(tmp_path / "run")]
    assert main([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["citations"]
    assert (printed["recall"], printed["precision"]) == pytest.approx((1 / 3, 1 / 3))
    assert (printed["uncited"], printed["misplaced"]) == (1, 0)
    rows = tmp_path / "run" / "rows.jsonl"
    whole = rows.read_bytes()
    rows.write_bytes(whole[: whole.index(b"\n") + 20])
    assert main(command) == 0
    assert rows.read_bytes() == whole
    assert "| Citation recall | 33.3% |" in capsys.readouterr().out
    assert main([*command, "--limit", "2"]) == 2
    assert "name another folder" in capsys.readouterr().err
    path.write_text(json.dumps([{"question": "When?", "docs": []}]), "utf-8")
    assert main([*command[:-1], str(tmp_path / "other")]) == 2
    assert f"{path}, entry 1: output: Field required" in capsys.readouterr().err
