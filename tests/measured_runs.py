"""Small runs of `certirag eval`, made by hand: what their folders hold, and rows of any kind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gate_cases import POLICY

from certirag.core.policy import Policy
from certirag.eval.gate_counts import trials_of
from certirag.eval.measured_claims import MeasuredClaim
from certirag.eval.pair_report import write_report
from certirag.eval.pair_rows import MEASURED, MeasuredRow

VERIFIER = {"role": "verifier", "name": "by-hand", "version": "7", "sha256": "ab" * 32}
CLAIMS_OF_A_HOSTILE_ROW = 8
TRUE, WRONG, LOST, CAUGHT = range(4)  # numbers of the rows of `four_rows`


def measured_claim(state: str = "VERIFIED", **changes: Any) -> MeasuredClaim:
    """Return a claim with that state; one without a badge failed on what it is entailed by."""
    failed = () if state == "VERIFIED" else (("entailed", "supported with 0.30; 0.85 is needed"),)
    made = MeasuredClaim(
        text="The notice period is three months.",
        state=state,
        verdict="SUPPORTED" if state == "VERIFIED" else "UNSUPPORTED",
        entailed=0.9 if state == "VERIFIED" else 0.3,
        contradicted=0.1,
        evidence=("Notice is given three months ahead.",),
        against="Notice is given at any time.",
        failed=failed,
        stage="verification" if failed else "",
    )
    return replace(made, **changes)


def measured_row(
    number: int, *, true: bool, badge: bool, up_to: float = 1.0, **changes: Any
) -> MeasuredRow:
    """Return a row with one claim; its *badge* is there at each threshold up to *up_to*."""
    states = [badge and trial.tau_entail <= up_to for trial in trials_of(POLICY)]
    made = MeasuredRow(
        number=number,
        source="contracts" if number % 2 == 0 else "handbooks",
        title="Staff handbook",
        premise="Notice is given three months ahead. Notice is given at any time.",
        hypothesis=f"Statement {number} is about the notice period.",
        false="",
        gold="entailed" if true else "not_entailed",
        label="entailed" if badge else "not_enough_info",
        entailed=0.9 if badge else 0.3,
        not_enough_info=0.05 if badge else 0.6,
        contradicted=0.05 if badge else 0.1,
        cosine=0.8,
        premise_words=12,
        hypothesis_words=8,
        claims=[measured_claim("VERIFIED" if badge else "UNVERIFIED")],
        counts=[(int(s), int(s and not true), int(true), int(s and true)) for s in states],
    )
    return replace(made, **changes)


def four_rows() -> list[MeasuredRow]:
    """Return a true row with a badge, an untrue one up to 0.90, a true one without, an untrue one without."""
    return [
        measured_row(TRUE, true=True, badge=True),
        measured_row(WRONG, true=False, badge=True, up_to=0.9),
        measured_row(LOST, true=True, badge=False),
        measured_row(CAUGHT, true=False, badge=False),
    ]


def described(policy: Policy = POLICY, **changes: Any) -> dict[str, Any]:
    """Return the ``run.json`` of labelled pairs."""
    return {
        "format": 2,
        "what": "pairs",
        "data": {"name": "notice.jsonl", "sha256": "cd" * 32},
        "rows": 4,
        "limit": None,
        "seed": 0,
        "verifier": VERIFIER,
        "policy": asdict(policy),
        "certirag": "0.1.0",
        **changes,
    }


def lines_of(rows: Sequence[MeasuredRow]) -> bytes:
    """Return *rows* as a run keeps them."""
    return b"".join(MEASURED.dump_json(row) + b"\n" for row in rows)


def write_run(
    folder: Path,
    rows: Sequence[MeasuredRow] | None = None,
    *,
    finished: bool = True,
    **changes: Any,
) -> Path:
    """Write a run into *folder* and return it; its ``run.json`` has *changes*."""
    rows = four_rows() if rows is None else rows
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(described(**changes), ensure_ascii=False), "utf-8")
    (folder / "rows.jsonl").write_bytes(lines_of(rows))
    if finished:
        shutil.copytree(_report_of(lines_of(rows), rows), folder, dirs_exist_ok=True)
    return folder


_REPORTS: dict[bytes, TemporaryDirectory[str]] = {}


def _report_of(lines: bytes, rows: Sequence[MeasuredRow]) -> str:
    """Return a folder with the report of *rows*, written once: its plots take a second and more."""
    if lines not in _REPORTS:
        written = TemporaryDirectory(prefix="certirag-report-")
        write_report(rows, POLICY, Path(written.name), seed=0, head="made by hand")
        _REPORTS[lines] = written
    return _REPORTS[lines].name


def hostile_rows(strings: Sequence[str]) -> list[MeasuredRow]:
    """Return a row for each of *strings*, which stands in every text of it, and the next ones in its claims."""
    return [
        measured_row(
            number,
            true=False,
            badge=False,
            source=text,
            title=text,
            premise=text,
            hypothesis=text,
            false=text,
            claims=[
                measured_claim(
                    "UNVERIFIED",
                    text=own,
                    evidence=(own,),
                    against=own,
                    failed=(("entailed", own),),
                )
                for own in strings[number : number + CLAIMS_OF_A_HOSTILE_ROW]
            ],
        )
        for number, text in enumerate(strings)
    ]


Spoil = Callable[[Path], object]
# What may be wrong with a folder → how it comes to be so, and what the page says of it.
BROKEN: dict[str, tuple[Spoil, str]] = {
    "no run.json": (lambda at: (at / "run.json").unlink(), "cannot be read"),
    "an empty run.json": (lambda at: (at / "run.json").write_bytes(b""), "is no run"),
    "a torn run.json": (
        lambda at: (at / "run.json").write_bytes((at / "run.json").read_bytes()[:40]),
        "is no run",
    ),
    "no UTF-8": (lambda at: (at / "run.json").write_bytes(b'{"format": "\xff"}'), "is no run"),
    "a list": (lambda at: (at / "run.json").write_text("[]"), "is no run"),
    "deep nesting": (lambda at: (at / "run.json").write_text("[" * 100_000), "is no run"),
    "another format": (
        lambda at: (at / "run.json").write_text(json.dumps(described(format=1))),
        "is of format 1",
    ),
    "no verifier": (
        lambda at: (at / "run.json").write_text(json.dumps(described(verifier=None))),
        "verifier",
    ),
    "a lax policy": (
        lambda at: (at / "run.json").write_text(
            json.dumps({**described(), "policy": {**asdict(POLICY), "rules": []}})
        ),
        "rules must be",
    ),
    "a threshold of no number": (
        lambda at: (at / "run.json").write_text(
            json.dumps(described()).replace('"tau_entail": 0.85', '"tau_entail": NaN')
        ),
        "tau_entail",
    ),
    "a folder for a file": (
        lambda at: ((at / "run.json").unlink(), (at / "run.json").mkdir()),
        "is no ordinary file",
    ),
    "a huge run.json": (
        lambda at: (at / "run.json").write_bytes(b" " * 20_000_001),
        "more than such a file ever has",
    ),
}
