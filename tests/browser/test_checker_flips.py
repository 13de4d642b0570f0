"""Bits of a real export, flipped by scripts/flip_bits.py in both checkers: none is accepted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checker_page import HEX
from gate_cases import export

pytestmark = pytest.mark.browser

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "flip_bits.py"


def _flipped(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _counts(line: str) -> tuple[int, int, int, int]:
    """Return bytes, flips and what checker.py and the page accepted, of one line of the table."""
    found = re.fullmatch(r" *(\d+) +(\d+) +(\d+) accepted +\d+ +(\d+) accepted +\d+  .*", line)
    assert found, line
    size, flips, by_checker, by_page = map(int, found.groups())
    return size, flips, by_checker, by_page


def test_no_sampled_bit_of_a_real_export_is_accepted(capsys) -> None:
    """An answer of the whole pipeline; the script itself takes all bits of ten."""
    done = _flipped("--exports", 1, "--limit", 6400, "--jobs", 2)
    assert done.returncode == 0, done.stderr
    _, first, whole = done.stdout.splitlines()
    size, flips, by_checker, by_page = _counts(whole)
    with capsys.disabled():
        print(f"\nbits flipped of {size} bytes: {flips}, accepted: {by_checker}, {by_page}")  # noqa: T201
    assert _counts(first) == (size, 6400, 0, 0)
    assert size > 10_000
    assert "accepted 0" in done.stderr


def test_an_accepted_bit_is_counted_and_named(tmp_path: Path) -> None:
    """A tab between values may become a carriage return, which both checkers accept."""
    path, key = tmp_path / "tabs.json", tmp_path / "key.pub"
    data = json.dumps(json.loads(export()), ensure_ascii=False, indent="\t").encode("utf-8")
    path.write_bytes(data)
    key.write_text(HEX, "ascii")
    done = _flipped(path, "--public-key", key, "--limit", 3200, "--jobs", 2)
    assert done.returncode == 1, done.stderr
    _, flips, by_checker, by_page = _counts(done.stdout.splitlines()[1])
    assert flips == 3200
    assert by_checker == by_page > 10
    one, other = re.findall(r"with bits \[([0-9, ]+)\]", done.stdout)
    for bit in map(int, (*one.split(", "), *other.split(", "))):
        assert (data[bit // 8], bit % 8) == (ord("\t"), 2)


def test_what_is_not_valid_is_not_flipped(tmp_path: Path) -> None:
    """Exit code 1 and one line: nothing would be shown by changing it."""
    path, key = tmp_path / "bad.json", tmp_path / "key.pub"
    path.write_bytes(export().replace(b"27 days", b"28 days", 1))
    key.write_text(HEX, "ascii")
    done = _flipped(path, "--public-key", key)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not VALID" in done.stderr
    assert _flipped(path).returncode == 2
