"""The measurements of the audit log: they are taken, and of what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from certirag.bootstrap import open_log
from certirag.errors import InputError
from certirag.eval.bench_audit import audit_report_lines, run_audit_bench
from certirag.proof.facets import AnswerQuery
from certirag.settings import Settings

ENTRIES = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty folder for the log."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    """Return the measurements of a small log."""
    said: list[tuple[str, int, int]] = []
    report = run_audit_bench(ENTRIES, folder, lambda *step: said.append(step))
    assert ("entries appended", ENTRIES, ENTRIES) in said
    return report


def test_the_log_is_as_large_as_the_report_says(report: dict, folder: Path) -> None:
    """All entries are there, and all but the genesis are answers that the queries see."""
    log = open_log(Settings(home=folder))
    assert log.size() == report["entries"] == ENTRIES
    assert log.count(AnswerQuery()) == ENTRIES - 1
    appended = report["append_single"]["entries"] + report["append_batch"]["entries"]
    assert appended == ENTRIES - 1


def test_proofs_are_timed_where_the_log_has_its_size(report: dict) -> None:
    """A path has about as many hashes as the logarithm of the size."""
    (at,) = report["proofs"]
    assert at["size"] == ENTRIES
    assert 7 <= at["hashes"] <= 9
    assert at["inclusion"]["median"] > 0


def test_every_question_was_asked_and_most_found_something(report: dict) -> None:
    """What is never found is asked too, and is said to be nothing."""
    found = {name: asked["found"] for name, asked in report["queries"].items()}
    assert found["newest page"] == found["page in the middle"] == 50
    assert found["by trace id"] == 1
    assert found["a model that was never used"] == found["a score that nothing has"] == 0
    assert found["count of all"] == ENTRIES - 1
    assert found["trend by month, all time"] >= 36
    assert sum(number > 0 for number in found.values()) >= 15


def test_the_report_is_json_and_lines(report: dict) -> None:
    """A machine and a person read the same numbers."""
    assert json.loads(json.dumps(report)) == report
    lines = audit_report_lines(report)
    assert lines[0] == "300 entries on sqlite"
    assert all(any(line.startswith(name) for line in lines) for name in report["queries"])
    assert report["bytes"]["total"] == pytest.approx(report["bytes"]["per_entry"] * 300, rel=0.01)


def test_a_log_that_is_there_is_left_alone(report: dict, folder: Path) -> None:
    """Nothing is appended to a log that somebody may need."""
    with pytest.raises(InputError, match="empty folder"):
        run_audit_bench(ENTRIES, folder, lambda *_: None)
    assert open_log(Settings(home=folder)).size() == ENTRIES
    with pytest.raises(InputError, match="at least 10"):
        run_audit_bench(9, folder, lambda *_: None)
