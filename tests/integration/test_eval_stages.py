"""Each stage alone through the command: the figures of the fixtures, the citations made wrong, going on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from integration_fixtures import CORPORA, Bench

from certirag.bootstrap import load_policy
from certirag.cli.main import main
from certirag.eval.builtin import fixture_lines
from certirag.eval.cited_cases import cited_cases
from certirag.eval.stages import PARTS, _instructions, _numbers_pass, _questions_cut
from certirag.eval.workload import FIXTURES
from certirag.settings import Settings

EVERY = 300


def test_figures_alone_are_judged_as_the_suite_expects() -> None:
    """No wrong value, unit or period passes; what passes wrongly is the right figure of another subject."""
    policy = load_policy("strict-1")
    rows = list(fixture_lines(FIXTURES / "numeric" / "cases.jsonl"))
    passed = {row["id"]: _numbers_pass(row, policy) for row in rows}
    right = [row for row in rows if row["expect"] != "no_match"]
    wrong = [row for row in rows if row["expect"] == "no_match"]
    assert (len(right), len(wrong)) == (132, 257)
    assert all(passed[row["id"]] for row in right)
    assert 0 < sum(passed[row["id"]] for row in wrong) <= 18
    kinds = {row["kind"] for row in wrong if passed[row["id"]]}
    assert not kinds & {"value", "unit", "currency", "scale", "period", "range", "bound"}


def test_three_citations_in_ten_are_wrong_and_the_same_each_time(bench: Bench) -> None:
    """A wrong one points at nothing that supports its claim, a right one does."""
    corpora = {corpus: tuple(bench.index(corpus).chunks()) for corpus in CORPORA}
    cases = cited_cases(corpora)
    assert len(cases) == 135
    assert sum(bool(case.wrong) for case in cases) == 40
    assert {case.wrong for case in cases} == {
        "",
        "other document",
        "neighbouring section",
        "invented source",
    }
    for case in cases:
        assert case.is_right(case.citation, corpora[case.corpus]) is (not case.wrong), case.claim.id
    assert cases == cited_cases(corpora)


def test_most_questions_and_instructions_are_told() -> None:
    """Over all of their rows, by the small network; and in a passage no less than alone."""
    settings = Settings(verifier="embedded", reader="embedded")
    found = [own for stage in (_questions_cut, _instructions) for own in stage(settings, 1)]
    for own in found:
        if "called so" in own.figure:
            assert own.share.part < 0.3 * own.share.whole, own
        else:
            assert own.share.part > own.share.whole / 2, own
    assert len({(own.data, own.figure) for own in found}) == 10


@pytest.mark.slow
def test_stages_are_a_table_and_go_on(tmp_path: Path, monkeypatch, capsys) -> None:
    """Every stage that has labels has a figure; nothing is measured twice."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CERTIRAG_VERIFIER", "embedded")
    out = tmp_path / "run"
    command = ["eval", "stages", "--out", str(out), "--every", str(EVERY)]
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    stages = {own["stage"]: own["share"] for own in report["figures"]}
    assert list(stages) == [
        "retrieval",
        "preselection",
        "question",
        "what is left out of answers",
        "figures",
        "citation correction",
        "questions about a claim",
        "verifier",
        "gate",
        "answer decision",
    ]
    by_figure = {own["figure"]: own["share"] for own in report["figures"]}
    restored, broken = by_figure["wrong ones restored"], by_figure["right ones broken"]
    assert restored["whole"] + broken["whole"] == len(range(0, 135, EVERY))
    assert broken["part"] == 0
    after = by_figure["right ones of all, after"]["part"]
    assert after == broken["whole"] + restored["part"]
    compared = [own for own in by_figure if "answers compared by" in own]
    assert len(compared) == 6
    assert len({by_figure[own]["whole"] for own in compared}) == 2
    asked = [
        own["share"]["whole"]
        for own in report["figures"]
        if own["figure"].startswith("complexity") and "true ones" in own["figure"]
    ]
    assert len(asked) == 5
    gate = by_figure["true ones Verified"]["whole"]
    assert sum(asked) == gate
    held = {name: (out / name).read_bytes() for name in (PARTS, "figures.md", "figures.json")}
    lines = held[PARTS].splitlines(keepends=True)
    (out / PARTS).write_bytes(b"".join(lines[1:]) + lines[0][:40])
    (out / "builtin" / "questions.jsonl").unlink()
    assert main(command) == 0
    assert {name: (out / name).read_bytes() for name in ("figures.md", "figures.json")} == {
        name: held[name] for name in ("figures.md", "figures.json")
    }
    assert "Claim splitting: no fixture holds splits" in capsys.readouterr().out
