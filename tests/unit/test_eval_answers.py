"""`certirag eval answers`: its figures on a few passages, and bad input in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from certirag.cli.main import main
from certirag.errors import InputError
from certirag.eval.answers import QuestionRow, read_answer_rows, run_answers
from certirag.settings import Settings

HOTEL = ("A room in Skarholm costs 175 euros a night.", "Breakfast is served from seven o'clock.")
LAMP = ("The lamp on the pier was lit in 1871.", "It can be seen from nine miles away.")
ROWS = (
    QuestionRow("a", "How much is a room in Skarholm per night?", "Hotels", HOTEL, (0,)),
    QuestionRow("b", "When was the lamp on the pier lit?", "The pier", LAMP, (0,)),
    QuestionRow("c", "Who won the chess tournament in Lowmere?", "The pier", LAMP, ()),
)


def _written(path: Path, *lines: object) -> Path:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)
    return path


def _json(row: QuestionRow) -> dict[str, object]:
    return {"id": row.id, "question": row.question, "title": row.title,
            "sentences": row.sentences, "gold": row.gold}  # fmt: skip


def test_its_figures_are_shares_of_the_questions(tmp_path: Path) -> None:
    """Both plain questions begin with their sentence, and the third is not answered."""
    settings = Settings(home=tmp_path / "home")
    report = run_answers(ROWS, settings, lambda *_: None)
    assert report["questions"] == 3
    assert report["all"]["answerable"] == 2
    assert report["all"]["first_claim_marked"] == 1.0
    assert report["all"]["refused_or_related"] == 1.0
    assert set(report["kinds"]) == {"how", "when", "who"}
    assert report["failed"] == []
    assert not (tmp_path / "home").exists()  # the user's own log is left alone


def test_the_command_prints_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a table, and as one JSON document; --limit takes so many."""
    data = _written(tmp_path / "d.jsonl.gz", *map(_json, ROWS))
    out = tmp_path / "out.json"
    assert main(["eval", "answers", "--data", str(data), "--limit", "1", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "| first claim marked |" in printed
    assert "| how | 1 of 1: 100.0% |" in printed
    assert json.loads(out.read_text("utf-8"))["questions"] == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "a"}, "line 1: question"),
        ({**_json(ROWS[0]), "gold": [7]}, "a sentence that is not there"),
        ([], "line 1"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: object, said: str) -> None:
    """File, line and field are in the one line of the error."""
    with pytest.raises(InputError, match=said):
        read_answer_rows(_written(tmp_path / "d.jsonl", line))


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    """Figures over nothing are none."""
    with pytest.raises(InputError, match="no questions"):
        read_answer_rows(_written(tmp_path / "d.jsonl"))
    with pytest.raises(InputError, match="cannot be read"):
        read_answer_rows(tmp_path / "none.jsonl")
