"""The command line as a user meets it: outputs, exit codes, one clear line for each mistake."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import docx
import jsonschema
import pytest
from integration_fixtures import FIXTURES

from certirag.checker import check
from certirag.cli.arguments import MODES, command_line
from certirag.cli.main import command_of, main
from certirag.proof.keys import trusted_keys
from certirag.proof.schemas import published_schemas
from certirag.render import Mode

POLICY = FIXTURES / "corpora" / "policy"
QUESTION = "How many days of annual leave do full-time employees receive?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ingest the policy corpus and ask one question, once, with a home of their own."""
    folder = tmp_path_factory.mktemp("cli")
    assert run(folder, "ingest", str(POLICY), "--index", str(folder / "i"))[0] == 0
    code, out, _ = run(
        folder, "ask", QUESTION, "--index", str(folder / "i"), "--export", str(folder / "a.json")
    )
    assert code == 0, out
    return folder


def run(home: Path, *arguments: str) -> tuple[int, str, str]:
    """Run the command in a process of its own; return exit code, output, errors."""
    environment = {**os.environ, "CERTIRAG_HOME": str(home / "home")}
    command = [sys.executable, "-m", "certirag", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


def test_ask_prints_claims_with_their_states(home: Path) -> None:
    """The current allowance is Verified, with its evidence; the superseded one is not there."""
    code, out, err = run(home, "ask", QUESTION, "--index", str(home / "i"))
    assert code == 0
    assert "✅ Verified" in out
    assert "27 days of annual leave" in out
    assert "24 days" not in out
    assert "[5/5]" in err


def test_ask_writes_a_report_for_reading(home: Path, tmp_path: Path) -> None:
    """In the format that the file's name asks for; standard output stays what it was."""
    report = tmp_path / "a.DOCX"
    code, out, err = run(home, "ask", QUESTION, "--index", str(home / "i"), "--report", str(report))
    assert code == 0
    assert f"report written to {report}" in err
    lines = [paragraph.text for paragraph in docx.Document(str(report)).paragraphs]
    assert lines[lines.index("Claims") + 1] == "Claim 1: Verified"
    assert "✅ Verified" in out


def test_ask_json_prints_one_document_and_nothing_else(home: Path) -> None:
    """Standard output is the audit export, with the promised top-level keys."""
    code, out, _ = run(home, "ask", QUESTION, "--index", str(home / "i"), "--json")
    keys = {
        "question",
        "retrieval",
        "claim_ir",
        "verification",
        "decisions",
        "policy",
        "models",
        "config_hash",
        "created_at",
        "trace_id",
        "certificate",
    }
    assert code == 0
    export = json.loads(out)
    assert keys <= set(export)
    schemas = published_schemas()
    jsonschema.validate(export.pop("certificate"), schemas["envelope"])
    jsonschema.validate(export.pop("log"), schemas["log-proof"])
    jsonschema.validate(export, schemas["answer-record"])
    jsonschema.validate(export["claim_ir"], schemas["claim-ir"])


def test_equal_questions_give_equal_evidence(home: Path) -> None:
    """Retrieval, claims and scores are byte for byte the same; only time, trace and name differ."""
    command = ("ask", QUESTION, "--index", str(home / "i"), "--json")
    one, two = (json.loads(run(home, *command)[1]) for _ in range(2))
    for key in ("retrieval", "claim_ir", "verification", "decisions", "policy", "models"):
        assert json.dumps(one[key]) == json.dumps(two[key])


def test_an_unanswerable_question_is_refused(home: Path) -> None:
    """Exit code 3, no badge, and what to try next."""
    code, out, _ = run(
        home, "ask", "What is the airspeed of a swallow?", "--index", str(home / "i")
    )
    assert code == 3
    assert "✅" not in out


def test_check_says_valid_then_tampered(home: Path) -> None:
    """The untouched export is VALID; with one digit changed it is TAMPERED, exit 4."""
    assert run(home, "check", str(home / "a.json"))[:2][0] == 0
    text = (home / "a.json").read_text("utf-8")
    changed = home / "b.json"
    changed.write_text(text.replace("27 days", "28 days", 1), "utf-8")
    code, out, _ = run(home, "check", str(changed))
    assert (code, out.split()[0]) == (4, "TAMPERED")
    code, out, _ = run(home, "check", str(home / "a.json"), str(changed), "--json")
    assert code == 4
    assert [row["verdict"] for row in json.loads(out)] == ["VALID", "TAMPERED"]


# The values that a reader relies on, as they stand in an export.
_RELIED_ON = re.compile(
    rb'"(?:sentence|text|render_state|score|entailed|contradicted|tau_entail|tau_contradict|'
    rb'claim_id)": ("(?:[^"\\]|\\.)*"|[0-9.]+)'
)


def test_no_changed_byte_of_a_real_export_passes(home: Path) -> None:
    """Every seventh byte of sentences, scores, states, thresholds and claims, one at a time."""
    data = (home / "a.json").read_bytes()
    trusted = trusted_keys(home / "home")
    assert check(data, trusted).verdict == "VALID"
    places = [i for match in _RELIED_ON.finditer(data) for i in range(*match.span(1))]
    assert len(places) > 2000
    for place in places[::7]:
        changed = bytearray(data)
        changed[place] = ord("7") if changed[place] != ord("7") else ord("8")
        assert check(bytes(changed), trusted).verdict == "TAMPERED", place


def test_check_compares_sources_and_scores_again(home: Path, tmp_path: Path) -> None:
    """Today's files and a second scoring confirm it; a changed document makes it STALE."""
    export = str(home / "a.json")
    code, out, _ = run(home, "check", export, "--sources", str(POLICY), "--rescore")
    assert (code, out.split()[0]) == (0, "VALID")
    for path in POLICY.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes() + b"\n")
    code, out, _ = run(home, "check", export, "--sources", str(tmp_path))
    assert (code, out.split()[0]) == (4, "STALE")


def test_check_under_another_key_is_tampered(home: Path, tmp_path: Path) -> None:
    """Keys are pinned by the checker: another one does not fit."""
    key = tmp_path / "other.pub"
    key.write_text("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\n")
    code, out, _ = run(home, "check", str(home / "a.json"), "--public-key", str(key))
    assert (code, out.split()[0]) == (4, "TAMPERED")


def test_ingesting_again_changes_nothing(home: Path) -> None:
    """The second run embeds nothing and leaves the same generation in force."""
    before = (home / "i" / "CURRENT").read_text()
    code, out, _ = run(home, "ingest", str(POLICY), "--index", str(home / "i"))
    assert code == 0
    assert "unchanged; 0 chunks embedded" in out
    assert "leave-policy-2023-superseded.md" in out
    assert (home / "i" / "CURRENT").read_text() == before


def test_verify_shows_what_is_wrong(home: Path, tmp_path: Path) -> None:
    """A draft with one right and one wrong figure: one badge, one without."""
    draft = tmp_path / "draft.txt"
    draft.write_text(
        "Full-time employees receive 27 days of annual leave per calendar year. "
        "Full-time employees receive 40 days of annual leave per calendar year.",
        "utf-8",
    )
    code, out, _ = run(home, "verify", "--draft", str(draft), "--evidence", str(POLICY))
    assert code == 0
    assert out.count("✅ Verified") == 1


def test_score_adds_labels_and_keeps_fields(home: Path, tmp_path: Path) -> None:
    """Rows keep their other fields; a long premise is read to its end."""
    rows = [
        {"id": 7, "premise": "The limit is 40 kg.", "hypothesis": "The limit is 40 kg."},
        {
            "premise": "The canteen opens at noon. " * 400 + "The limit is 40 kg.",
            "hypothesis": "The limit is 40 kg.",
        },
        {"premise": "", "hypothesis": "The limit is 40 kg."},
    ]
    pairs, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert run(home, "score", "--pairs", str(pairs), "--out", str(out))[0] == 0
    scored = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["label"] for row in scored[:2]] == ["entailed", "entailed"]
    assert scored[0]["id"] == 7
    assert scored[2]["label"] != "entailed"
    for row in scored[:2]:
        total = row["entailed"] + row["not_enough_info"] + row["contradicted"]
        assert total == pytest.approx(1.0, abs=1e-5)


def test_score_reads_gzip_and_keeps_what_people_said(home: Path, tmp_path: Path) -> None:
    """The label of a row is its gold afterwards, and the report reads what score wrote."""
    rows = [
        {"source": "own", "premise": "The limit is 40 kg.", "hypothesis": text, "label": gold}
        for text, gold in (
            ("The limit is 40 kg.", "entailed"),
            ("The limit is 40 kg. Dogs are welcome.", "neutral"),
        )
    ]
    pairs, out = tmp_path / "in.jsonl.gz", tmp_path / "out.jsonl"
    pairs.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    assert run(home, "score", "--pairs", str(pairs), "--out", str(out))[0] == 0
    scored = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["gold"] for row in scored] == ["entailed", "neutral"]
    assert scored[0]["label"] == "entailed"
    assert scored[1]["entailed"] < scored[0]["entailed"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "x"], "--index"),
        (["ask", "", "--index", "{i}"], "after ask is empty"),
        (["ask", " ", "--index", "{i}"], "question is empty"),
        (["ask", "x", "--index", ""], "after --index is empty"),
        (["ask", "x", "--index="], "--index= is empty"),
        (["ingest", "", "--index", "{i}"], "after ingest is empty"),
        (["audit", "query", "--since", ""], "after --since is empty"),
        (["verify", "--draft", "/dev/zero", "--evidence", "{i}"], "no ordinary file"),
        (["verify", "--draft", "{pipe}", "--evidence", "{i}"], "no ordinary file"),
        (["audit", "export", "--out", "/dev/null"], "no ordinary file"),
        (["audit", "checkpoint", "--out", "{bad}/x"], "Not a directory"),
        (["audit", "export", "--out", "{long}"], "too long: check the path"),
        (["verify", "--draft", "{long}", "--evidence", "{i}"], "too long: check the path"),
        (["check", "{bad}", "--sources", "{long}"], "too long: check the path"),
        (["ask", "x", "--index", "{missing}"], "missing"),
        (["ask", "x", "--index", "{i}", "--profile", "auto"], "unknown profile 'auto'"),
        (["ask", "x", "--index", "{i}", "--mode", "lenient"], "--mode"),
        (["ask", "x", "--index", "{i}", "--report", "{tmp}/a.exe"], "take md, docx, pdf"),
        (["verify", "--draft", "{bad}", "--evidence", "{i}", "--report", "a"], "take md, docx"),
        (["verify", "--draft", "{missing}", "--evidence", "{i}"], "missing"),
        (["ingest", "{missing}", "--index", "{tmp}/j"], "missing"),
        (["check", "{missing}"], "cannot be read"),
        (["score", "--pairs", "{missing}", "--out", "{tmp}/o"], "missing"),
        (["score", "--pairs", "{bad}", "--out", "{tmp}/o"], "line 1"),
        (["score", "--pairs", "{ungzipped}", "--out", "{tmp}/o"], "cannot be read as gzip"),
        (["verify", "--draft", "{empty}", "--evidence", "{i}"], "draft is empty"),
        (["frobnicate"], "frobnicate"),
        ([], "COMMAND"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    """The line names the input and the mend."""
    monkeypatch.setenv("CERTIRAG_HOME", str(home / "home"))
    (tmp_path / "bad").write_text("not json\n")
    (tmp_path / "plain.gz").write_text("not packed\n")
    (tmp_path / "empty").write_text(" \n")
    os.mkfifo(tmp_path / "pipe")
    places = {
        "{i}": str(home / "i"),
        "{missing}": str(tmp_path / "missing"),
        "{bad}": str(tmp_path / "bad"),
        "{ungzipped}": str(tmp_path / "plain.gz"),
        "{empty}": str(tmp_path / "empty"),
        "{pipe}": str(tmp_path / "pipe"),
        "{tmp}": str(tmp_path),
        "{long}": str(tmp_path / ("x" * 300)),
    }
    filled = []
    for argument in arguments:
        for name, place in places.items():
            argument = argument.replace(name, place)  # noqa: PLW2901  # filled step by step
        filled.append(argument)
    try:
        code = main(filled)
    except SystemExit as stop:
        code = stop.code
    errors = [line for line in capsys.readouterr().err.splitlines() if "certirag:" in line]
    assert code == 2
    assert len(errors) == 1
    assert said in errors[0]


def test_a_log_that_cannot_be_written_shows_no_answer(home: Path, tmp_path: Path) -> None:
    """Recorded first: without the log there is no answer, on any output."""
    broken = tmp_path / "home"
    broken.mkdir()
    (broken / "audit.sqlite3").mkdir()
    environment = {**os.environ, "CERTIRAG_HOME": str(broken)}
    done = subprocess.run(
        [sys.executable, "-m", "certirag", "ask", QUESTION, "--index", str(home / "i")],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "audit log" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a device that is full")
def test_a_full_output_is_one_line(home: Path) -> None:
    """What the system refuses while an answer is printed is said without a traceback."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "certirag", "keys", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "CERTIRAG_HOME": str(home / "home")},
        )
    assert done.returncode == 2
    assert done.stderr == (
        "certirag: the output: no space left there; make room, or write elsewhere\n"
    )


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.Namespace]:
    """Yield what each command sets, by name, at whatever depth."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _commands(child)
    if "run" in parser._defaults:
        yield argparse.Namespace(**parser._defaults)


def test_every_command_has_its_function() -> None:
    """Commands are named in the parser and found when one is run."""
    found = [command_of(options) for options in _commands(command_line())]
    assert len(found) == 47
    assert len(set(found)) == 47
    assert set(MODES) == {mode.value for mode in Mode}


def test_help_loads_no_command() -> None:
    """Whoever asks for help, or mistypes, waits for no model, no key and no database."""
    program = (
        "import sys\n"
        "from certirag.cli.arguments import command_line\n"
        "command_line().format_help()\n"
        "heavy = {'cryptography', 'pydantic', 'sqlalchemy', 'numpy', 'certirag.bootstrap'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.split() == []


def test_the_default_path_never_imports_torch(home: Path) -> None:
    """Asking a question with the embedded parts leaves torch and transformers alone."""
    program = (
        "import sys; from certirag.cli.main import main; "
        f"main(['ask', {QUESTION!r}, '--index', {str(home / 'i')!r}]); "
        "sys.exit(bool({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    environment = {**os.environ, "CERTIRAG_HOME": str(home / "home")}
    done = subprocess.run([sys.executable, "-c", program], check=False, env=environment)
    assert done.returncode == 0
