"""audit list, audit query and audit export, over a log in a folder of its own."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from audit_facets import asked_for, made_facets

from certirag.bootstrap import open_log
from certirag.cli import query_commands
from certirag.cli.main import main
from certirag.errors import AuditError
from certirag.ports import AuditLog, NewEntry
from certirag.proof.facets import AnswerFacets, AnswerQuery
from certirag.settings import read_settings

HOSTILE = (
    "=cmd()\n\u202e\x1b[31m ✅ Verified how much leave is there, in all, for each and every one?"
)
MADE = [facets for _, facets in made_facets(60, seed=3)]
FACETS = [replace(MADE[0], complete=True, question=HOSTILE), *MADE[1:]]
COMPLETE = [facets for facets in FACETS if facets.complete]


@pytest.fixture
def log() -> AuditLog:
    """Return the log of the test's own home with the made-up answers in it."""
    log = open_log(read_settings())
    log.append_all([_entry(facets) for facets in FACETS])
    return log


def _entry(facets: AnswerFacets) -> NewEntry:
    at = datetime.fromisoformat(facets.at)
    detail = {"request": facets.request, "complete": facets.complete}
    return NewEntry("answer", facets.trace_id, at, b"content", None, facets, detail)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of ``certirag audit …``."""
    try:
        code = main(["audit", *words])
    except SystemExit as end:
        code = int(str(end.code))
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.usefixtures("log")
def test_list_shows_the_newest_first_page_by_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Every finished answer is on one page; standard error says how to get the next one."""
    seen: list[str] = []
    more: list[str] = []
    for _ in range(20):
        code, out, err = run(capsys, "list", "--limit", "7", *more)
        assert code == 0
        seen += [line.split()[3] for line in out.splitlines()[1:]]
        if "more:" not in err:
            break
        more = ["--after", err.split()[-1]]
    assert seen == [facets.trace_id for facets in reversed(COMPLETE)]


@pytest.mark.usefixtures("log")
def test_hostile_text_is_inert_and_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """No control character, no mark and no line of a question reaches the terminal."""
    _, out, _ = run(capsys, "query", "--trace-id", FACETS[0].trace_id)
    header, line = out.splitlines()
    assert header.split() == [
        "entry",
        "time",
        "(UTC)",
        "trace",
        "id",
        "decision",
        "score",
        "question",
    ]
    assert not {"\u202e", "\x1b", "✅"} & set(out)
    assert "⟨Verified⟩" in line
    assert line.endswith("…")


@pytest.mark.usefixtures("log")
def test_accepted_with_a_low_score_is_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The seed's own question, and it finds what a second reading finds."""
    query = AnswerQuery(decisions=("ACCEPT", "STRIP"), score_below=0.8, since="2026-01-01T00:00Z")
    words = ("--decision", "accept", "strip", "--score-below", "0.80", "--since", "2026")
    code, out, _ = run(capsys, "query", *words, "--limit", "500", "--json")
    found = json.loads(out)
    expected = [facets.trace_id for facets in reversed(FACETS) if asked_for(query, facets)]
    assert code == 0
    assert [row["trace_id"] for row in found["answers"]] == expected
    assert (found["found"], found["after"]) == (len(expected), None)
    assert expected


@pytest.mark.usefixtures("log")
def test_last_quarter_is_counted_from_today(
    capsys: pytest.CaptureFixture[str], log: AuditLog
) -> None:
    """An answer of now is not in the last quarter, one of a quarter ago is."""
    now = datetime.now(UTC)
    first = now.replace(month=(now.month - 1) // 3 * 3 + 1, day=1)
    for number, at in enumerate((now, first - timedelta(days=5))):
        late = replace(FACETS[1], trace_id=f"{number:032d}", at=at.isoformat(), complete=True)
        log.append(_entry(replace(late, policy="late-1")))
    _, out, _ = run(capsys, "query", "--policy", "late-1", "--when", "last-quarter", "--json")
    assert [row["trace_id"] for row in json.loads(out)["answers"]] == [f"{1:032d}"]


@pytest.mark.usefixtures("log")
def test_the_score_per_topic_and_week_is_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Groups as a table, and the same as JSON."""
    code, out, _ = run(capsys, "query", "--by", "topic", "week")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["topic", "week", "answers", "score", "ACCEPT", "STRIP", "REJECT"]
    _, out, _ = run(capsys, "query", "--by", "topic", "week", "--json")
    groups = json.loads(out)["groups"]
    assert len(groups) == len(lines) - 1
    assert sum(group["answers"] for group in groups) == len(COMPLETE)
    assert set(groups[0]) == {"topic", "week", "answers", "grounding", "decisions"}
    _, shown, _ = run(capsys, "query", "--help")
    assert "certirag audit query --by topic week" in shown
    assert "--decision ACCEPT STRIP --score-below 0.80 --when last-quarter" in shown


def test_an_empty_log_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nothing found is an answer: exit code 0 and a sentence, or empty JSON, or an empty file."""
    open_log(read_settings())
    for words in (["list"], ["query"], ["query", "--by", "week"], ["list", "--after", "3"]):
        code, out, _ = run(capsys, *words)
        assert code == 0
        assert out.startswith(("The log holds no answers", "No answer in the log"))
    _, out, _ = run(capsys, "query", "--json")
    assert json.loads(out) == {"found": 0, "answers": [], "after": None}
    path = tmp_path / "none.csv"
    code, _, err = run(capsys, "export", "--out", str(path), "--format", "csv")
    assert (code, len(path.read_text().splitlines())) == (0, 1)
    assert "no answer" in err


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["query", "--score-below", "80"], "80"),
        (["query", "--when", "last-fortnight"], "last-fortnight"),
        (["query", "--decision", "MAYBE"], "MAYBE"),
        (["query", "--by", "hour"], "hour"),
        (["query", "--by", "week", "--after", "3"], "--after 3"),
        (["list", "--limit", "501"], "501"),
        (["list", "--after", "-1"], "-1"),
        (["export", "--out", "no/such/folder/x.csv"], "folder"),
        (["export", "--out", "x.xml", "--format", "xml"], "xml"),
    ],
)
def test_bad_words_are_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    """The line names what was given; there is nothing on standard output."""
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert named in err


def test_an_export_holds_every_answer_once(
    capsys: pytest.CaptureFixture[str],
    log: AuditLog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both formats hold all answers, over more than one page; texts are whole."""
    expected = [facets.trace_id for facets in reversed(COMPLETE)]
    lines, table = tmp_path / "answers.jsonl", tmp_path / "answers.csv"
    code, out, err = run(capsys, "export", "--out", str(lines))
    assert (code, out) == (0, "")
    assert f"{len(expected)} answers written" in err
    rows = [json.loads(line) for line in lines.read_bytes().splitlines()]
    assert [row["trace_id"] for row in rows] == expected
    assert rows[-1]["question"] == HOSTILE
    run(capsys, "export", "--out", str(table), "--format", "csv", "--parts")
    with table.open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file, strict=True))
    assert [row["trace_id"] for row in cells] == [f.trace_id for f in reversed(FACETS)]
    assert cells[-1]["question"] == f"'{HOSTILE}"
    assert log.size() == len(FACETS) + 1


@pytest.mark.usefixtures("log")
def test_an_export_that_fails_half_way_leaves_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is there whole or not at all; an older one stays as it was."""
    monkeypatch.setattr("certirag.auditing.logged_answers.MAX_PAGE", 9)
    read = query_commands.pages

    def cut(*words: object) -> object:
        yield next(read(*words))  # type: ignore[arg-type]
        raise AuditError("the audit log cannot be read: the connection broke")

    monkeypatch.setattr(query_commands, "pages", cut)
    path = tmp_path / "answers.jsonl"
    path.write_text("older")
    code, _, err = run(capsys, "export", "--out", str(path))
    assert code == 2
    assert "the connection broke" in err
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "older"
