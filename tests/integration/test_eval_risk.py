"""How often badges are wrong, through the command: what it prints, what it renews, and what it refuses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from builders import FACTS, Statement, answer_record
from gate_cases import POLICY

import certirag.eval.builtin
import certirag.eval.risk
from certirag.bootstrap import make_verifier
from certirag.cli.main import main
from certirag.eval.builtin import Draft, draft_counts
from certirag.eval.gate_counts import BadgeCount
from certirag.eval.risk import RiskRun, run_risk
from certirag.settings import ASSETS, Settings
from certirag.verification.clopper_pearson import exact_interval
from certirag.verification.measured import (
    Measurement,
    measurements_bytes,
    read_measurements,
)

PREMISE = "The old mill of Corrant was sold in 1987. Its wheel is made of oak."
ROWS = (
    ("The old mill of Corrant was sold in 1987.", "entailed"),
    ("The old mill of Corrant was sold in 1987.", "not_entailed"),
    ("Its wheel is made of steel.", "not_entailed"),
    ("Nobody ever bought the oak.", "entailed"),
)
PUBLIC = certirag.eval.risk._PUBLIC[0]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four pairs, one of which is labelled wrongly; titles and marks of a pair are not read."""
    path = tmp_path / "pairs.jsonl.gz"
    rows = [
        {"premise": PREMISE, "hypothesis": said, "label": label, "title": "Oak", "false": "oak"}
        for said, label in ROWS
    ]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def _risk(*words: str | Path) -> int:
    return main(["eval", "risk", "--verifier", "embedded", *map(str, words)])


def test_a_line_is_printed_for_each_set_and_policy(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Badges, the wrong ones with their exact interval, and the true statements that have one."""
    assert _risk("--sets", "public", "--data", data) == 0
    printed = capsys.readouterr()
    low, high = exact_interval(1, 2)
    assert (low, high) == pytest.approx((0.0126, 0.9874), abs=1e-4)
    figures = "| 2 | 1 | 1.2 % to 98.8 % | 1 of 2 |"
    assert printed.out.splitlines()[2:] == [
        f"| {PUBLIC} | {policy} {figures}" for policy in ("strict-1", "strict-2")
    ]
    assert "[4/4] Measuring pairs of eight" in printed.err
    assert list(tmp_path.iterdir()) == [data]


def test_the_figures_as_json_are_those_of_the_file(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For the policies that are asked for, however they are given, each of them once."""
    out = tmp_path / "measured.json"
    words = ["--sets", "public", "public", "--data", data, "--out", out, "--json"]
    names = ["--policy", "strict-2", "base-1", "--policy", "strict-2"]
    assert _risk(*words, *names, "--limit", "2") == 0
    assert capsys.readouterr().out == out.read_text("utf-8")
    found = read_measurements(out)
    assert [(one.set_name, one.policy.name) for one in found] == [
        (PUBLIC, "strict-2"),
        (PUBLIC, "base-1"),
    ]
    assert {(one.badges, one.wrong, one.true_rows) for one in found} == {(1, 0, 1)}  # rows 1 and 3
    assert all(one.thresholds for one in found)


def test_what_was_measured_again_is_renewed_and_the_rest_stays(data: Path, tmp_path: Path) -> None:
    """Another set and another policy stay; nothing of another verifier does."""
    own = make_verifier("embedded").identity.sha256
    stale = Measurement(PUBLIC, "Old.", own, replace(POLICY, name="strict-1"), 99, 98)
    policy = replace(stale, policy=replace(POLICY, name="own"))
    other = replace(stale, set_name="other pairs")
    foreign = replace(other, verifier="ab" * 32)
    out = tmp_path / "measured.json"
    out.write_bytes(measurements_bytes([stale, policy, other, foreign]))
    assert _risk("--sets", "public", "--data", data, "--policy", "strict-1", "--out", out) == 0
    *kept, new = read_measurements(out)
    assert kept == [policy, other]
    assert (new.set_name, new.policy.name, new.badges, new.verifier) == (PUBLIC, "strict-1", 2, own)
    assert sorted(tmp_path.iterdir()) == [out, data]


def test_a_set_that_is_measured_is_in_the_file_before_the_next_begins(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stops a long run keeps what it has."""

    def stopped(*_: object) -> list[Measurement]:
        raise KeyboardInterrupt

    monkeypatch.setitem(certirag.eval.risk._READ, "documents", lambda _run: stopped)
    out = tmp_path / "measured.json"
    assert _risk("--sets", "public", "documents", "--data", data, "--out", out) == 130
    assert [one.set_name for one in read_measurements(out)] == [PUBLIC, PUBLIC]


@pytest.mark.slow
def test_what_ships_is_what_the_command_writes() -> None:
    """Names and descriptions of sets: under another one the old entry would stay beside the new."""
    run = RiskRun(policies=("base-1",), limit=4)
    found = run_risk(run, Settings(verifier="embedded"), lambda *_: None)
    shipped = read_measurements(ASSETS / "models" / "verifier" / "measured.json")
    own = [(one.set_name, one.description) for one in found]
    assert len(own) == 2
    assert {*own, certirag.eval.risk._PUBLIC} == {(o.set_name, o.description) for o in shipped}


def test_a_badge_on_a_planted_error_is_wrong() -> None:
    """Elsewhere it is right, and a true claim without one is not covered."""
    record = answer_record(
        [Statement(FACTS[0]), Statement(FACTS[1]), Statement(FACTS[2], "unsupported")]
    )
    text, claims = record.claim_ir.draft, []
    for claim in record.claim_ir.claims:
        start = text.index(claim.text)
        claims.append(replace(claim, draft_start=start, draft_end=start + len(claim.text)))
    record = replace(record, claim_ir=replace(record.claim_ir, claims=tuple(claims)))
    start = text.index("31 March")
    error = {"start": start, "end": start + len("31 March"), "text": "31 March"}
    draft = Draft("d", "policy", "", text, (error,))
    stricter = replace(POLICY, tau_entail=1.0)
    assert draft_counts(draft, record, [POLICY, stricter]) == {
        "c1": [BadgeCount(1, 0, 1, 1), BadgeCount(0, 0, 1, 0)],
        "c2": [BadgeCount(1, 1, 0, 0), BadgeCount(0, 0, 0, 0)],
        "c3": [BadgeCount(0, 0, 1, 0), BadgeCount(0, 0, 1, 0)],
    }


MISTAKES: dict[str, tuple[Callable[[Path], list[str]], str]] = {
    "no pairs": (lambda _: ["--sets", "public"], "the set public does not ship: give its pairs"),
    "pairs for nothing": (
        lambda folder: ["--sets", "drafts", "--data", f"{folder}/pairs.jsonl.gz"],
        "--data is for the set public",
    ),
    "no file": (
        lambda folder: ["--sets", "drafts", "public", "--data", f"{folder}/none.jsonl"],
        "none.jsonl: cannot be read",
    ),
    "no row": (
        lambda folder: ["--sets", "drafts", "public", "--data", f"{folder}/bad.jsonl"],
        "bad.jsonl, line 2: hypothesis: Field required",
    ),
    "an unknown policy": (lambda _: ["--policy", "lax"], "unknown profile 'lax'"),
    "no folder": (lambda folder: ["--out", f"{folder}/none/m.json"], "cannot be written"),
    "a file of something else": (
        lambda folder: ["--out", f"{folder}/bad.jsonl"],
        "bad.jsonl does not hold measurements",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_before_anything_is_measured(
    name: str,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2, nothing printed, and the file that was named stays as it was."""
    bad = data.parent / "bad.jsonl"
    text = (
        json.dumps({"premise": "a", "hypothesis": "b", "label": "entailed"}) + '\n{"premise": "a"}'
    )
    bad.write_text(text, "utf-8")
    monkeypatch.setattr(certirag.eval.risk, "scratch_services", lambda _: pytest.fail("measured"))
    words, told = MISTAKES[name]
    assert _risk(*words(data.parent)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert told in printed.err
    assert bad.read_text("utf-8") == text


@pytest.mark.parametrize("words", [("--sets", "demo"), ("--limit", "0"), ("--policy",)])
def test_arguments_that_are_none_are_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """One line names the argument."""
    with pytest.raises(SystemExit) as caught:
        _risk(*words)
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert f"argument {words[0]}: " in printed.err


@pytest.mark.parametrize("name", ["documents", "drafts"])
def test_without_the_fixtures_it_says_so(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An installed package has none of them: no set of nothing is measured."""
    monkeypatch.setattr(certirag.eval.builtin, "FIXTURES", tmp_path)
    assert _risk("--sets", name) == 2
    assert "run it in a checkout" in capsys.readouterr().err
