"""`certirag bench`: what it reports and what it refuses; never how long anything took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes import FakeEmbedder

from certirag.answers.services import Services
from certirag.cli.main import main
from certirag.errors import InputError
from certirag.eval.bench import REST, BenchedQuestion, report_lines, spread, stage_shares
from certirag.eval.workload import (
    CountingVerifier,
    Stopwatch,
    TimedEmbedder,
    TimedReranker,
    Workload,
    demo_workloads,
    in_turn,
    read_questions,
)
from certirag.ports import Judgement, Pair
from certirag.proof.certificate import AnswerRecord

DOCUMENT = (
    "# Depot rules\n\nThe Marlow depot opens at six in the morning. Forklift drivers wear a yellow "
    "vest. The gate is locked at nine in the evening. Visitors sign the book at the gate.\n"
)
QUESTIONS = ("When does the Marlow depot open?", "What do forklift drivers wear?")
STAGES = {
    "retrieve",
    "embed",
    "rerank",
    "compile",
    "evidence",
    "candidates",
    "verify",
    "citations",
    "decide",
    "sign",
    "log",
    "present",
    REST,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one document and two questions."""
    place = tmp_path_factory.mktemp("bench")
    (place / "depot.md").write_text(DOCUMENT, "utf-8")
    rows = "".join(json.dumps({"question": q, "id": q[:4]}) + "\n" for q in QUESTIONS)
    (place / "questions.jsonl").write_text(rows, "utf-8")
    return place


@pytest.fixture(scope="module")
def done(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command once, each question twice, with a home that must stay empty."""
    command = [sys.executable, "-m", "certirag", "bench", "--data", str(folder / "depot.md")]
    command += ["--questions", str(folder / "questions.jsonl"), "--repeat", "2"]
    command += ["--verifier", "embedded", "--out", str(folder / "out.json"), "--json"]
    environment = {**os.environ, "CERTIRAG_HOME": str(folder / "home")}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def report(done: subprocess.CompletedProcess[str]) -> dict:
    """Return what the command printed on standard output."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_prints_one_document_and_writes_the_same(
    folder: Path, done: subprocess.CompletedProcess[str], report: dict
) -> None:
    """Standard output is the JSON alone; progress is on standard error."""
    assert json.loads((folder / "out.json").read_text("utf-8")) == report
    assert "Asking questions" in done.stderr


def test_every_stage_is_there_with_its_share(report: dict) -> None:
    """The shares sum to one, and no stage has a negative time."""
    assert set(report["stages"]) == STAGES
    assert list(report["stages"])[-1] == REST
    for stage in report["stages"].values():
        assert 0.0 <= stage["median_ms"] <= stage["p95_ms"]
    assert sum(s["share"] for s in report["stages"].values()) == pytest.approx(1.0, abs=1e-4)


def test_it_counts_what_was_asked(report: dict) -> None:
    """Two questions in two rounds; pairs of the questions, and pairs of the verifier alone."""
    assert report["questions"] == {"distinct": 2, "repeat": 2, "asked": 4}
    (corpus,) = report["corpora"]
    assert (corpus["documents"], corpus["questions"]) == (1, 2)
    assert report["pairs"]["judged"] >= 4
    assert report["pairs"]["most_per_question"] <= 240
    assert report["verifier"]["failed"] == 0
    assert report["verifier"]["pairs"] >= 1


def test_it_says_what_it_ran_on(report: dict) -> None:
    """Cores, threads, versions and models, without which a time means nothing."""
    machine = report["machine"]
    assert machine["cores"] >= 1
    assert set(machine["packages"]) >= {"numpy", "onnxruntime"}
    assert "OMP_NUM_THREADS" in machine["threads"]
    assert {model["role"] for model in report["models"]} == {
        "embedder",
        "reranker",
        "reader",
        "verifier",
    }
    assert {"median", "p95", "most"} == set(report["question_ms"])
    assert report["cold_start_ms"] > 0
    assert report["peak_memory_mb"] is None or report["peak_memory_mb"] > 1


def test_it_leaves_the_users_own_log_and_keys_alone(folder: Path, report: dict) -> None:
    """Nothing is written to the home of the settings."""
    assert report
    assert not (folder / "home").exists()


def test_the_table_names_every_stage(report: dict) -> None:
    """A person sees the same figures."""
    text = "\n".join(report_lines(report))
    assert all(f"\n{name} " in text for name in STAGES)
    assert "pairs judged" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--repeat", "0"], "at least 1"),
        (["--limit", "none"], "at least 1"),
        (["--data", "{doc}"], "--questions"),
        (["--questions", "{questions}"], "--data"),
        (["--data", "{doc}", "--questions", "{missing}"], "cannot be read"),
        (["--data", "{doc}", "--questions", "{doc}"], "line 1"),
        (["--data", "{doc}", "--questions", "{empty}"], "no question"),
        (["--data", "{missing}", "--questions", "{questions}"], "missing"),
        (["--data", "{doc}", "--questions", "{questions}", "--verifier", "best"], "best"),
        (["--out", "{missing}/o.json"], "no folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    """The line names the input and the mend."""
    (tmp_path / "empty").write_text("\n")
    places = {
        "{doc}": str(folder / "depot.md"),
        "{questions}": str(folder / "questions.jsonl"),
        "{missing}": str(tmp_path / "missing"),
        "{empty}": str(tmp_path / "empty"),
    }
    filled = []
    for argument in arguments:
        for name, place in places.items():
            argument = argument.replace(name, place)  # noqa: PLW2901  # filled step by step
        filled.append(argument)
    try:
        code = main(["bench", *filled])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    errors = [line for line in captured.err.splitlines() if "certirag:" in line]
    assert code == 2
    assert captured.out == ""
    assert len(errors) == 1
    assert said in errors[0]


def test_without_the_demo_corpora_it_says_how_to_give_documents(tmp_path: Path) -> None:
    """An installed package carries no fixtures."""
    with pytest.raises(InputError, match="--data PATH"):
        demo_workloads(tmp_path)


def test_the_demo_corpora_are_at_most_twenty_documents_each() -> None:
    """The whole question of the target is one over at most twenty documents."""
    workloads = demo_workloads()
    assert {workload.name for workload in workloads} == {"policy", "finance", "clinical"}
    for workload in workloads:
        assert len(list(workload.paths[0].iterdir())) <= 20
        assert workload.questions


@pytest.mark.parametrize("row", ['["q"]', '{"question": 3}', '{"question": " "}', "{", "[" * 9999])
def test_a_row_that_holds_no_question_is_named_by_its_line(tmp_path: Path, row: str) -> None:
    """The second row is the wrong one."""
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "When?"}\n' + row + "\n", "utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_questions(path)


def test_documents_without_two_sentences_cannot_time_a_verifier(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence makes no pair of different ones; the line says what to give."""
    (tmp_path / "one.txt").write_text("The depot opens at six.\n", "utf-8")
    data = ["--data", str(tmp_path / "one.txt"), "--questions", str(folder / "questions.jsonl")]
    assert main(["bench", *data]) == 2
    assert "too few to time" in capsys.readouterr().err


def test_a_limit_touches_every_corpus() -> None:
    """Questions are taken from the corpora in turn."""
    workloads = [Workload("a", (), ("1", "2", "3")), Workload("b", (), ("4",))]
    assert in_turn(workloads, 3) == [("a", "1"), ("b", "4"), ("a", "2")]
    assert len(in_turn(workloads, None)) == 4


def test_the_stopwatch_counts_each_second_once() -> None:
    """What a stage opened inside another takes is not counted for the other too."""
    ticks = iter(range(100))
    watch = Stopwatch(clock=lambda: float(next(ticks)))
    with watch.stage("whole"):  # 0 to 5
        with watch.stage("inner"):  # 1 to 2
            pass
        with watch.stage("inner"):  # 3 to 4
            pass
    assert watch.taken() == {"inner": 2.0, "whole": 3.0}
    assert watch.taken() == {}


def test_the_stopwatch_stops_when_a_stage_raises() -> None:
    """An error does not leave a stage open."""
    ticks = iter(range(100))
    watch = Stopwatch(clock=lambda: float(next(ticks)))
    with pytest.raises(ZeroDivisionError), watch.stage("whole"), watch.stage("inner"):
        raise ZeroDivisionError
    assert watch.taken() == {"inner": 1.0, "whole": 2.0}


def test_median_p95_and_share_are_over_all_questions() -> None:
    """A stage that a question did not enter counts as zero there; p95 is the nearest rank."""
    asked = [BenchedQuestion({"verify": n / 1000, REST: 0.0}, 1, 1) for n in range(1, 20)]
    asked.append(BenchedQuestion({"compile": 0.19, REST: 0.0}, 1, 1))
    stages = stage_shares(asked)
    assert stages["verify"] == {"median_ms": 9.5, "p95_ms": 18.0, "share": 0.5}
    assert stages["compile"]["median_ms"] == 0.0
    assert spread([0.1]) == {"median": 100.0, "p95": 100.0, "most": 100.0}


def test_timed_ports_pass_everything_through() -> None:
    """They answer as what they hold does, under its name."""
    stages = []

    @contextmanager
    def stage(name: str):
        stages.append(name)
        yield

    class Reranker:
        identity = FakeEmbedder().identity

        def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            return [float(len(query) + len(text)) for text in texts]

    class Verifier:
        identity = FakeEmbedder().identity

        def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
            return [Judgement("not_enough_info", 0.0, 1.0, 0.0) for _ in pairs]

    inner = FakeEmbedder()
    embedder = TimedEmbedder(inner, stage)
    assert (embedder.identity, embedder.dimension) == (inner.identity, inner.dimension)
    assert embedder.embed(["a"]).tolist() == inner.embed(["a"]).tolist()
    assert embedder.embed_tokens(["a b"])[0].tolist() == inner.embed_tokens(["a b"])[0].tolist()
    reranker = TimedReranker(Reranker(), stage)
    assert reranker.score("ab", ["c"]) == [3.0]
    assert stages == ["embed", "embed", "rerank"]
    verifier = CountingVerifier(Verifier())
    verifier.judge([Pair("a", "b")] * 3)
    verifier.judge([Pair("a", "b")])
    assert (verifier.pairs, verifier.calls) == (4, 2)
    assert reranker.identity == verifier.identity == Reranker.identity


def test_stages_are_outside_of_the_record() -> None:
    """The stage is a field of the services, and no record or certificate has one."""
    assert "stage" in Services.__dataclass_fields__
    assert "stage" not in AnswerRecord.__dataclass_fields__
