"""Look-alikes of published files through the commands: verifier, gate and pipeline, end to end."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from certirag.cli.main import main
from certirag.eval.pairs import ROWS, RUN

MILL = (
    "The old mill of Corrant was sold in 1987. The wheel of the mill is made of oak. "
    "A guide shows the mill on Sundays at three."
)
TRUE = "The old mill of Corrant was sold in 1987."
UNTRUE = "The old mill of Corrant was sold in 1988."


@pytest.fixture(autouse=True)
def _small_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTIRAG_VERIFIER", "embedded")
    monkeypatch.setenv("CERTIRAG_READER", "embedded")


def _pairs(data: Path, name: str, out: Path, *more: str) -> int:
    return main(["eval", "pairs", "--data", str(data), "--format", name, "--out", str(out), *more])


def _gate(capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[int, int, int]]:
    report = json.loads(capsys.readouterr().out)
    return {own["source"]: (own["rows"], own["badges"], own["wrong"]) for own in report["gate"]}


def test_ragtruth_from_its_folder_to_its_figures(tmp_path, capsys) -> None:
    """Three sentences of two responses; the marked one gets no badge, the run says what it read."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    source = {"source_id": "1", "task_type": "Summary", "source": "CNN/DM", "source_info": MILL}
    (folder / "source_info.jsonl").write_text(json.dumps(source) + "\n", "utf-8")
    shared = {"source_id": "1", "model": "m", "split": "test", "quality": "good"}
    text = f"{UNTRUE} The wheel of the mill is made of oak."
    start = text.index("1988")
    mark = {"start": start, "end": start + 4, "text": "1988", "label_type": "Evident Conflict"}
    responses = [
        shared | {"id": "1", "response": text, "labels": [mark]},
        shared | {"id": "2", "response": TRUE, "labels": []},
        shared | {"id": "3", "response": TRUE, "labels": [], "split": "train"},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in responses)
    (folder / "response.jsonl").write_text(lines, "utf-8")
    out = tmp_path / "run"
    assert _pairs(tmp_path, "ragtruth", out, "--json") == 0
    assert _gate(capsys)["ragtruth_summary"] == (3, 2, 0)
    described = json.loads((out / RUN).read_text("utf-8"))
    assert described["data"]["format"] == "ragtruth"
    assert described["data"]["left_out"] == {"of another split than test": 1}
    assert "as `ragtruth`; left out: 1 of another split than test." in (
        out / "figures.md"
    ).read_text("utf-8")
    # Another reading of the same files is another run.
    assert _pairs(tmp_path, "ragtruth-responses", out) == 2
    assert "name another folder" in capsys.readouterr().err
    # Which has other rows, though of the same files.
    other = tmp_path / "other"
    assert _pairs(tmp_path, "ragtruth-responses", other) == 0
    capsys.readouterr()
    assert main(["eval", "compare", str(out), str(other)]) == 2
    assert "are runs over other rows" in capsys.readouterr().err
    # So is another source file beside the same responses.
    (folder / "source_info.jsonl").write_text(json.dumps(source | {"source": ""}) + "\n", "utf-8")
    assert _pairs(tmp_path, "ragtruth", out) == 2


def test_a_csv_is_drawn_from_and_gone_on_with(tmp_path, capsys) -> None:
    """HealthVer: the drawn rows keep their numbers, and a run that was stopped ends the same."""
    data = tmp_path / "healthver_dev.csv"
    with data.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "evidence", "claim", "label", "topic_ip", "question"])
        for number in range(6):
            claim, label = ((TRUE, "Supports"), (UNTRUE, "Refutes"))[number % 2]
            writer.writerow([number, MILL, claim, label, 1, "When?"])
    out = tmp_path / "run"
    command = ["--limit", "4", "--seed", "3"]
    assert _pairs(data, "healthver", out, *command) == 0
    lines = (out / ROWS).read_bytes().splitlines(keepends=True)
    rows = [json.loads(line) for line in lines]
    numbers = [row["number"] for row in rows]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 4
    for row in rows:
        wanted = ("entailed", TRUE) if row["number"] % 2 == 0 else ("contradicted", UNTRUE)
        assert (row["gold"], row["hypothesis"]) == wanted
    (out / ROWS).write_bytes(lines[0] + lines[1][:30])
    assert _pairs(data, "healthver", out, *command) == 0
    assert (out / ROWS).read_bytes() == b"".join(lines)
    data.write_text(data.read_text("utf-8") + "7,a,b,Maybe,1,\n", "utf-8")
    capsys.readouterr()
    assert _pairs(data, "healthver", tmp_path / "other") == 2
    error = capsys.readouterr().err
    assert f"{data}, line 8: label: " in error
    assert error.count("\n") == 1
    assert not (tmp_path / "other").exists()


def test_scifact_by_several_processes(tmp_path, capsys) -> None:
    """The rows of a format reach other processes as those of any other."""
    abstract = {
        "title": "The mill",
        "structured": False,
        "abstract": MILL.replace(". ", ".|").split("|"),
    }
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"doc_id": 4} | abstract) + "\n", "utf-8")
    claims = [
        {"id": n, "claim": claim, "cited_doc_ids": [4],
         "evidence": {"4": [{"sentences": [0], "label": label}]}}
        for n, (claim, label) in enumerate(((TRUE, "SUPPORT"), (UNTRUE, "CONTRADICT")))
    ]  # fmt: skip
    claims.append(
        {"id": 9, "claim": "The mill has two floors.", "evidence": {}, "cited_doc_ids": [4]}
    )
    path = tmp_path / "claims_dev.jsonl"
    path.write_text("".join(json.dumps(claim) + "\n" for claim in claims), "utf-8")
    assert _pairs(path, "scifact", tmp_path / "run", "--json", "--jobs", "2") == 0
    rows, badges, wrong = _gate(capsys)["scifact"]
    assert (rows, wrong) == (3, 0)
    assert badges == 1


def test_clapnq_is_asked_through_the_whole_pipeline(tmp_path, capsys) -> None:
    """An answerable question is answered by its sentence, and the report says the format."""
    sentences = ["The old mill of Corrant was sold in 1987 .", "Its wheel , a big one , is oak ."]

    def line(question: str, selected: list[str] | None) -> str:
        passage = {"title": "Corrant", "text": " ".join(sentences), "sentences": sentences}
        output = [{"answer": "…", "selected_sentences": selected, "meta": {}}]
        row = {"id": question, "input": question, "passages": [passage], "output": output}
        return json.dumps(row) + "\n"

    data = tmp_path / "clapnq_dev_answerable.jsonl"
    data.write_text(line("When was the old mill of Corrant sold?", sentences[:1]), "utf-8")
    other = tmp_path / "clapnq_dev_unanswerable.jsonl"
    other.write_text(line("Who won the chess tournament in Lowmere?", None), "utf-8")
    command = ["eval", "answers", "--data", str(tmp_path), "--format", "clapnq", "--json"]
    assert main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["data"] == {"name": tmp_path.name, "format": "clapnq"}
    assert report["all"]["first_claim_marked"] == 1.0
    assert report["all"]["refused_or_related"] == 1.0


def test_an_unknown_format_is_one_line(tmp_path, capsys) -> None:
    """Exit code 2, for both commands."""
    assert _pairs(tmp_path, "nli", tmp_path / "run") == 2
    assert "no format is called 'nli'" in capsys.readouterr().err
    assert main(["eval", "answers", "--data", str(tmp_path), "--format", "nli"]) == 2
    assert "take clapnq, plain, selqa" in capsys.readouterr().err
