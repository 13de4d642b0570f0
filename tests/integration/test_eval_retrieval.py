"""Searches over the same questions: what counts as found, going on after a stop, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from certirag.cli.main import main
from certirag.eval.retrieval import RANKED
from certirag.eval.retrieval_report import BM25, COSINE, DENSE, DENSE_RERANKED, HYBRID, RERANKED
from certirag.eval.sought import SoughtQuestion, sought_in_data, sought_in_fixtures

PASSAGES = {
    "Corrant mill": (
        "The old mill of Corrant was sold in 1987.",
        "Its wheel is made of oak and turns in the spring.",
        "A guide shows the mill on Sundays at three.",
    ),
    "Dune ferry": (
        "The ferry over the Dune leaves every twenty minutes.",
        "Bicycles travel without a charge.",
        "In fog the ferry waits until the captain sees the other bank.",
    ),
    "Tarn museum": (
        "The museum of Tarn keeps four hundred clocks.",
        "Visitors may wind one of them on Fridays.",
    ),
}
QUESTIONS = (
    ("When was the mill of Corrant sold?", "Corrant mill", [0]),
    ("What is the wheel of the mill made of?", "Corrant mill", [1]),
    ("Do bicycles cost anything on the ferry?", "Dune ferry", [1]),
    ("How many clocks does the museum keep?", "Tarn museum", [0]),
    ("Who built the ferry?", "Dune ferry", []),
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return five questions over three passages; one has no answer."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    rows = [
        {"id": f"q{n}", "question": q, "title": t, "sentences": PASSAGES[t], "gold": gold}
        for n, (q, t, gold) in enumerate(QUESTIONS)
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _run(out: Path, *more: str) -> int:
    return main(["eval", "retrieval", "--out", str(out), *more])


def test_each_search_is_measured_over_the_same_questions(data, tmp_path, capsys) -> None:
    """Three passages, so that every search has found all within five; a shared passage is one document."""
    sought = sought_in_data(data)
    assert (len(sought.questions), sought.without_answer) == (4, 1)
    assert len(sought.texts[0][1]) == 3
    out = tmp_path / "run"
    assert _run(out, "--data", str(data), "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["questions"], report["without_answer"], report["unplaced"]) == (4, 1, [])
    means = {
        (own["level"], own["system"], own["measure"]): own["mean"]
        for own in report["figures"]
        if own["part"] == "all rows"
    }
    assert {system for _, system, _ in means} == {
        *(BM25, DENSE, DENSE_RERANKED, HYBRID, RERANKED, COSINE)
    }
    for system in (
        DENSE,
        DENSE_RERANKED,
        HYBRID,
        RERANKED,
        COSINE,
    ):  # words alone need not find a passage
        assert means["passages", system, "Recall@5"] == 1.0
    rows = [json.loads(line) for line in (out / RANKED).read_text("utf-8").splitlines()]
    assert all((row["passages"], row["sentences"]) == (1, 1) for row in rows)
    for level in ("passages", "sentences"):
        for system in (BM25, COSINE):
            ranks = [row["found"][system][level] for row in rows]
            by_hand = sum(1 / own[0] if own else 0.0 for own in ranks) / len(ranks)
            assert means[level, system, "MRR"] == pytest.approx(by_hand)
            first = sum(own[:1] == [1] for own in ranks) / len(ranks)
            assert means[level, system, "Recall@1"] == pytest.approx(first)
    assert {own["p"] for own in report["figures"] if own["system"] == HYBRID} == {None}
    assert "1 of the data have no answer" in (out / "figures.md").read_text("utf-8")


def test_a_search_that_was_stopped_goes_on_and_another_run_is_refused(
    data, tmp_path, capsys
) -> None:
    """What was measured is kept, the rest is measured; other questions are one line."""
    out = tmp_path / "run"
    assert _run(out, "--data", str(data)) == 0
    held = {name: (out / name).read_bytes() for name in (RANKED, "figures.json", "figures.md")}
    lines = held[RANKED].splitlines(keepends=True)
    (out / RANKED).write_bytes(lines[0] + lines[1][:30])
    assert _run(out, "--data", str(data)) == 0
    assert {name: (out / name).read_bytes() for name in held} == held
    assert _run(out, "--data", str(data), "--every", "2") == 2
    assert "name another folder" in capsys.readouterr().err
    data.write_text('{"id": "a", "question": "b"}\n', "utf-8")
    assert _run(tmp_path / "other", "--data", str(data)) == 2
    error = capsys.readouterr().err
    assert f"{data}, line 1: title: " in error
    assert not (tmp_path / "other").exists()


def test_pieces_are_read_under_their_headings_and_never_in_them_alone() -> None:
    """A heading that holds the answer makes no sentence under it relevant."""
    asked = SoughtQuestion("part", "policy", "?", pieces=(("Annual leave", "27 days"),))
    assert asked._tells("Annual leave", "Full-time staff have 27 days.")
    assert not asked._tells("Annual leave: 27 days", "It is asked for in the portal.")
    assert not asked._tells("Notice", "Full-time staff have 27 days.")
    either = SoughtQuestion("part", "policy", "?", pieces=(("40 pence",), ("0.40",)))
    assert either._tells("", "It is 40  Pence a mile.")


def test_the_questions_of_the_fixtures_are_those_whose_answer_is_told() -> None:
    """208 about small documents, and the everyday and recorded ones over the demo corpora."""
    sought = sought_in_fixtures()
    parts = [question.part for question in sought.questions]
    assert parts.count("questions about 104 small documents") == 208
    assert len(set(parts)) == 4
    assert {question.corpus for question in sought.questions} == {
        "policy",
        "finance",
        "clinical",
        "documents",
    }
    assert len(dict(sought.texts)["documents"]) == 104
    assert sought.without_answer > 100
