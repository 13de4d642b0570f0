"""The ablation through the command: folders that go on, the default as the benchmark has it, bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from certirag.cli.main import main
from certirag.eval.pairs import ROWS

ONLY = ("evidence-top-1", "claims-raw", "isolation-off", "toggle-confidence-classification")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set a home of its own; the small network judges."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CERTIRAG_VERIFIER", "embedded")
    return tmp_path


def test_variants_are_measured_apart_and_the_default_is_the_benchmark(home, capsys) -> None:
    """The same badges as `certirag eval builtin`; a stopped variant goes on to the same table."""
    out, builtin = home / "run", home / "builtin"
    command = ["eval", "ablation", "--out", str(out), "--every", "200"]
    command += [part for name in ONLY for part in ("--only", name)]
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    by_name = {(own["changed"], own["to"]): own for own in report["figures"]}
    default = by_name["nothing", "as it comes"]
    assert main(["eval", "builtin", "--out", str(builtin), "--every", "200"]) == 0
    rows = [json.loads(line) for line in (builtin / ROWS).read_text("utf-8").splitlines()]
    states = {
        row["number"]: [[claim["text"], claim["state"]] for claim in row["claims"]] for row in rows
    }
    measured = [
        *map(json.loads, (out / "default/statements.jsonl").read_text("utf-8").splitlines()),
        *(
            row
            for line in (out / "default/drafts.jsonl").read_text("utf-8").splitlines()
            for row in json.loads(line)["rows"]
        ),
    ]
    assert {row["number"]: row["claims"] for row in measured} == states
    assert default["rows"] == len(rows)
    shown = by_name["isolation", "the verifier is shown the answer beside the evidence"]
    leaking = by_name["isolation", "the same, both without load_bearing"]
    assert leaking["wrong"]["part"] > shown["wrong"]["part"] >= default["wrong"]["part"]
    assert {own["changed"] for own in report["figures"]} == {
        "nothing",
        "evidence",
        "claims",
        "isolation",
        "toggle",
        "policy",
    }
    lines = (out / "claims-raw/statements.jsonl").read_bytes().splitlines(keepends=True)
    assert all(len(json.loads(line)["claims"]) == 1 for line in lines)
    with (out / "figures.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(report["figures"])
    costs = json.loads((out / "claims-raw/timings.json").read_text("utf-8"))["timings"]
    assert costs["statements"]["units"] <= len(lines)
    assert costs["statements"]["pairs_per_unit"] > 1
    assert all(
        (out / f"{plot}.png").read_bytes()[:4] == b"\x89PNG" for plot in ("latency", "pairs")
    )
    table = (out / "figures.md").read_bytes()
    (out / "claims-raw/statements.jsonl").write_bytes(b"".join(lines[:5]) + lines[5][:20])
    (out / "toggle-confidence-classification/drafts.jsonl").unlink()
    assert main(command) == 0
    assert (out / "figures.md").read_bytes() == table
    assert main([*command, "--profile", "strict-2"]) == 2
    assert "name another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--only", "evidence-top-9"],
            "--only evidence-top-9: is no variant: choose one of default,",
        ),
        (["--verifier", "lexical"], "unknown verifier 'lexical'"),
        (["--profile", "lax"], "unknown profile 'lax'"),
    ],
)
def test_what_is_not_there_is_one_line(home, capsys, more, said) -> None:
    """Before anything is measured."""
    assert main(["eval", "ablation", "--out", str(home / "run"), "--every", "900", *more]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert not (home / "run").exists()
