"""A batch of questions: one answer each with its certificate, the same after a kill and by many workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from integration_fixtures import FIXTURES

from certirag.cli.main import main
from certirag.eval.batch import ANSWERS, LINES, said_by

QUESTIONS = (
    "How many days of annual leave do full-time employees receive?",
    "What does the canteen cost?",
    "How long is the notice period?",
    "Who may work remotely?",
    "What is insured against water?",
)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a home, an index of the policy corpus and a file of questions."""
    folder = tmp_path_factory.mktemp("batch")
    rows = "".join(json.dumps({"question": question}) + "\n" for question in QUESTIONS)
    (folder / "questions.jsonl").write_text(rows, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CERTIRAG_HOME", str(folder / "home"))
        corpus = FIXTURES / "corpora" / "policy"
        assert main(["ingest", str(corpus), "--index", str(folder / "index")]) == 0
    return folder


@pytest.fixture(autouse=True)
def _home(batch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTIRAG_HOME", str(batch / "home"))


def _command(batch: Path, out: str, *more: str) -> list[str]:
    given = ["--questions", str(batch / "questions.jsonl"), "--index", str(batch / "index")]
    return ["eval", "batch", *given, "--out", str(batch / out), *more]


def _said(batch: Path, out: str) -> list[tuple[int, str, str]]:
    lines = (batch / out / LINES).read_text("utf-8").splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: row["number"])
    return [(row["number"], row["question"], row["said"]) for row in rows]


@pytest.fixture(scope="module")
def whole(batch: Path) -> list[tuple[int, str, str]]:
    """Return what a run that nobody stopped says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CERTIRAG_HOME", str(batch / "home"))
        assert main(_command(batch, "whole")) == 0
    return _said(batch, "whole")


def test_each_answer_is_kept_with_a_certificate_that_checks(batch, whole, capsys) -> None:
    """Every export is valid, in the log, and says what its line says."""
    exports = sorted((batch / "whole" / ANSWERS).iterdir())
    assert len(exports) == len(whole) == len(QUESTIONS)
    assert main(["check", *map(str, exports)]) == 0
    asked = [json.loads(export.read_bytes()) for export in exports]
    assert [one["question"] for one in asked] == [*QUESTIONS]
    assert [said_by(one) for one in asked] == [said for _, _, said in whole]
    assert all(one["log"] for one in asked)
    figures = json.loads((batch / "whole" / "figures.json").read_text("utf-8"))
    assert figures["questions"] == sum(figures["decisions"].values()) == len(QUESTIONS)
    assert 0 < figures["p50_seconds"] <= figures["p95_seconds"]
    assert figures["verified"] == sum(
        own["render_state"] == "VERIFIED" for one in asked for own in one["decisions"]
    )


def test_what_is_said_has_no_time_and_no_name_in_it(batch, whole) -> None:
    """One changed word of it is another digest; another time and signature are not."""
    export = json.loads((batch / "whole" / ANSWERS / "00001.json").read_bytes())
    later = {**export, "created_at": "later", "trace_id": "other", "certificate": {}, "log": {}}
    assert said_by(later) == said_by(export)
    assert said_by({**export, "decisions": []}) != said_by(export)


def test_a_killed_batch_goes_on_to_the_same_answers(batch, whole) -> None:
    """Killed while it answers; nothing that was answered is asked again."""
    command = [sys.executable, "-m", "certirag", *_command(batch, "killed")]
    lines = batch / "killed" / LINES
    running = subprocess.Popen(
        command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 240
    while running.poll() is None and time.monotonic() < until:
        if lines.exists() and lines.read_bytes().count(b"\n") >= 2:
            running.send_signal(signal.SIGKILL)
            break
        time.sleep(0.02)
    assert running.wait(60) == -signal.SIGKILL
    before = lines.read_bytes()
    held = before[: before.rfind(b"\n") + 1]
    assert 2 <= held.count(b"\n") < len(QUESTIONS)
    assert main(_command(batch, "killed")) == 0
    assert lines.read_bytes().startswith(held)
    assert _said(batch, "killed") == whole
    figures = json.loads((batch / "killed" / "figures.json").read_text("utf-8"))
    assert figures["this_time"]["answered"] == len(QUESTIONS) - held.count(b"\n")
    exports = sorted((batch / "killed" / ANSWERS).glob("*.json"))
    assert main(["check", *map(str, exports)]) == 0


@pytest.mark.slow
def test_two_processes_say_the_same(batch, whole) -> None:
    """In the order of the questions, each recorded in the one log."""
    assert main(_command(batch, "two", "--jobs", "2")) == 0
    assert _said(batch, "two") == whole
    figures = [
        json.loads((batch / out / "figures.json").read_text("utf-8")) for out in ("two", "whole")
    ]
    assert figures[0]["said"] == figures[1]["said"]
    assert main(["audit", "verify"]) == 0


def test_an_answer_that_was_changed_since_is_named(batch, whole, capsys) -> None:
    """Its file is another by a letter, in the signed bytes too, or is gone."""
    path = batch / "whole" / ANSWERS / "00002.json"
    held = path.read_bytes()
    try:
        start = held.index(b'"payload"') + 20
        signed = held[:start] + bytes([held[start] ^ 1]) + held[start + 1 :]
        for other in (held.replace(b"VERIFIED", b"VERIFIEd"), held[:-1], signed):
            assert other != held
            path.write_bytes(other)
            assert main(_command(batch, "whole")) == 2
        path.unlink()
        assert main(_command(batch, "whole")) == 2
        assert f"{path}: is not there or was changed" in capsys.readouterr().err
    finally:
        path.write_bytes(held)
    assert main(_command(batch, "whole")) == 0


def test_bad_input_is_one_line(batch, capsys) -> None:
    """Another run's folder, a row without a question, an index that is none; a question too long is told."""
    assert main(_command(batch, "other", "--limit", "1")) == 0
    assert main(_command(batch, "other", "--limit", "2")) == 2
    assert "name another folder" in capsys.readouterr().err
    bad = batch / "bad.jsonl"
    bad.write_text('{"question": 3}\n', "utf-8")
    command = _command(batch, "bad")
    command[command.index("--questions") + 1] = str(bad)
    assert main(command) == 2
    assert f"{bad}, line 1" in capsys.readouterr().err
    bad.write_text(json.dumps({"question": "long " * 900}) + "\n", "utf-8")
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["failed"] == {"1": "the question has 4500 characters: the limit is 2000"}
    command[command.index("--index") + 1] = str(batch / "none")
    assert main(command) == 2
