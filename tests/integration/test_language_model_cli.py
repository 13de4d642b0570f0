"""`certirag ask --generator openai:MODEL` against a real server, as a user runs it.

Two variables say where the server is and with which key. Whatever the server does, the command
ends with one of its exit codes and a clear line, and the key is in nothing that it leaves behind.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration_fixtures import FIXTURES, part_of
from llm_server import END, endpoint, event, reply, spoken, stream

from certirag.proof.certificate import AnswerRecord, open_export
from certirag.proof.keys import trusted_keys

pytestmark = pytest.mark.slow

QUESTION = "How many days of annual leave do full-time employees receive?"
RIGHT = "Full-time employees receive 27 days of annual leave per calendar year."
WRONG = "Full-time employees receive 40 days of annual leave per calendar year."
KEY = "sk-test-7c1f0a9e4b"
BADGE = "✅ Verified"
Answer = Callable[[dict[str, Any], Any], bytes | None]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ingest the policy corpus once, with a home of its own."""
    folder = tmp_path_factory.mktemp("asked")
    policy = str(FIXTURES / "corpora" / "policy")
    done = run(folder, "", "ingest", policy, "--index", str(folder / "i"))
    assert done.returncode == 0, done.stderr
    return folder


def run(home: Path, url: str, *arguments: str, key: str = KEY) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with the two variables and no other of ours."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("CERTIRAG_", "OPENAI_"))}
    environment = {**kept, "CERTIRAG_HOME": str(home / "home"), "CERTIRAG_LLM_KEY": key}
    if url:
        environment["CERTIRAG_LLM_URL"] = url
    done = subprocess.run(
        [sys.executable, "-m", "certirag", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=300,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def ask(
    home: Path,
    url: str,
    *more: str,
    strategy: str = "generate-then-cite",
    question: str = QUESTION,
) -> tuple[subprocess.CompletedProcess[str], AnswerRecord]:
    """Ask the question of a language model at *url*; return what was said and what was recorded."""
    export = home / "export.json"
    export.unlink(missing_ok=True)
    done = run(
        home,
        url,
        "ask",
        question,
        "--index",
        str(home / "i"),
        "--generator",
        "openai:test",
        "--strategy",
        strategy,
        "--export",
        str(export),
        *more,
    )
    record = open_export(export.read_bytes(), trusted_keys(home / "home"))
    assert_no_key(home, done)
    return done, record


def assert_no_key(home: Path, done: subprocess.CompletedProcess[str]) -> None:
    """The key is in no output and in no file that was left behind, database and log included."""
    assert KEY not in done.stdout + done.stderr
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name.startswith("audit.sqlite3") for path in files)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def claims(*texts: str, cites: int = 1) -> str:
    """Return the answer of a model that states *texts*."""
    return json.dumps({"claims": [{"text": text, "citations": [cites]} for text in texts]})


def saying(text: str) -> Answer:
    """Return an answer that says *text* piece by piece."""
    return lambda _content, _handler: spoken(*re.findall(r".{1,9}", text, re.S))


def test_a_right_claim_gets_the_badge_and_a_wrong_one_does_not(home: Path) -> None:
    """The key goes to the server in its header, and nowhere else."""
    with endpoint(saying(claims(RIGHT, WRONG))) as played:
        done, record = ask(home, played.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(BADGE) == 1
    verified = next(line for line in done.stdout.splitlines() if line.startswith(BADGE))
    assert RIGHT in verified
    assert WRONG not in verified
    states = {
        claim.text: decision.render_state
        for claim, decision in zip(record.claim_ir.claims, record.decisions, strict=True)
    }
    assert states[RIGHT] == "VERIFIED"
    assert states[WRONG] != "VERIFIED"
    assert len(played.requests) == 1
    path, headers, content = played.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert content["model"] == "test"
    assert content["temperature"] == 0
    assert QUESTION in json.dumps(content["messages"])
    assert record.config["generator"] == "openai:test"
    assert record.generation.end == "complete"


def test_progress_goes_to_standard_error_claim_by_claim(home: Path) -> None:
    """And the export alone to standard output with --json."""
    with endpoint(saying(claims(RIGHT, WRONG))) as played:
        done, record = ask(home, played.url, "--json")
    lines = done.stderr.splitlines()
    assert "claims written: 1, verified: 1" in lines
    assert "claims written: 2, verified: 1" in lines
    assert json.loads(done.stdout)["trace_id"] == record.trace_id
    assert (home / "export.json").read_text("utf-8") == done.stdout


def test_the_export_checks_afterwards_without_the_server(home: Path) -> None:
    """The badge is derived again from the export; each part of the answer is in the log."""
    with endpoint(saying(claims(RIGHT))) as played:
        ask(home, played.url)
    done = run(home, "", "check", str(home / "export.json"))
    assert done.returncode == 0
    assert done.stdout.startswith("VALID")


@pytest.mark.parametrize("strategy", ["interleaved", "strict-quote"])
def test_other_strategies_by_name(home: Path, strategy: str) -> None:
    """Reference first asks for each sentence; strict quotes give the exact words."""

    def answer(content: dict[str, Any], _handler: object) -> bytes:
        asked = content["messages"][-1]["content"]
        if strategy == "interleaved":
            return spoken(RIGHT if "27 days" in asked else "NOTHING")
        source = re.search(r"<source (\S+) \w+>\n((?:(?!<source).*\n)*?.*27 days.*)\n", asked)
        assert source is not None
        line = next(line for line in source[2].split("\n") if "27 days" in line)
        return spoken(f"{RIGHT[:-1]} ({line}) [[{source[1]}]].")

    with endpoint(answer) as played:
        done, record = ask(home, played.url, strategy=strategy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert BADGE in done.stdout
    assert record.generation.strategy == strategy
    assert "generator" in {model.role for model in record.models}


def test_an_altered_quote_shows_nothing_of_the_answer(home: Path) -> None:
    """Exit code 3, the reason in one line, no claim."""

    def answer(content: dict[str, Any], _handler: object) -> bytes:
        name = re.search(r"<source (\S+) \w+>", content["messages"][-1]["content"])
        assert name is not None
        return spoken(f"{RIGHT[:-1]} (staff may take 41 days off) [[{name[1]}]].")

    with endpoint(answer) as played:
        done, record = ask(home, played.url, strategy="strict-quote")
    assert done.returncode == 3
    assert BADGE not in done.stdout
    assert record.claim_ir.claims == ()
    assert record.generation.end == "altered_quote"
    assert "Incomplete (altered quote)" in done.stdout
    assert "word for word" in done.stderr


def test_a_server_that_dies_half_way_leaves_what_was_certified(home: Path) -> None:
    """The first claim stays Verified; a clear line says that the rest is missing."""
    whole = claims(RIGHT, WRONG)
    half = whole[: whole.index(WRONG) + 30]

    def answer(_content: object, handler: Any) -> None:
        stream(handler, map(event, re.findall(r".{1,9}", half, re.S)), whole=False)

    with endpoint(answer) as played:
        done, record = ask(home, played.url)
    assert done.returncode == 0
    assert done.stdout.count(BADGE) == 1
    assert [claim.text for claim in record.claim_ir.claims] == [RIGHT]
    assert record.generation.end == "truncated"
    assert "Incomplete (truncated): the language model stopped" in done.stdout
    assert "the language model stopped" in done.stderr


def test_without_a_server_the_documents_are_quoted(home: Path) -> None:
    """One clear line that names the variable, and the sentence that answers, of nobody's writing."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    done, record = ask(home, url)
    assert done.returncode == 0
    quoted_instead(done.stdout, record)
    assert record.generation.end == "unreachable"
    told = [line for line in done.stderr.splitlines() if "cannot be reached" in line]
    assert len(told) == 1
    assert "check CERTIRAG_LLM_URL" in told[0]


UNUSABLE: dict[str, tuple[Answer, str | None]] = {
    "key refused": (
        lambda _c, handler: reply(handler, 401, {"error": {"message": KEY}}),
        "rejected",
    ),
    "another schema": (lambda _c, _h: spoken('{"claims": 7}'), "wrong_schema"),
    "prose": (lambda _c, _h: spoken("I would rather not."), "malformed"),
    "nothing": (lambda _c, _h: END, "empty"),
    "the key said back": (lambda _c, _h: spoken(claims(f"The key is {KEY}.")), None),
}


@pytest.mark.parametrize("what", part_of(list(UNUSABLE), 2))
def test_for_an_unusable_answer_the_documents_are_quoted(home: Path, what: str) -> None:
    """Nothing of it is shown, its name is, and the key is nowhere even where it is said back."""
    answer, end = UNUSABLE[what]
    with endpoint(answer) as played:
        done, record = ask(home, played.url)
    quoted_instead(done.stdout, record)
    assert end is None or record.generation.end == end
    assert record.generation.end != "complete"
    assert "the language model stopped" in done.stderr


def test_a_model_that_finds_no_answer_is_no_failure(home: Path) -> None:
    """Where the documents say nothing of it either: exit code 3, and a line that says so."""
    with endpoint(saying('{"claims": []}')) as played:
        done, record = ask(home, played.url, question="Who won the chess tournament?")
        assert done.returncode == 3
        assert record.generation.end == "abstained"
        assert record.generation.quoted == ()
        assert "found no answer in the documents" in done.stdout
        quoted_instead(*output_of(ask(home, played.url)))


def test_what_the_documents_answer_better_is_quoted_first(home: Path) -> None:
    """A true sentence beside the question keeps its badge, behind the one that answers."""
    beside = "Public holidays are not counted as annual leave."
    with endpoint(saying(claims(beside, WRONG))) as played:
        done, record = ask(home, played.url)
    assert done.returncode == 0
    assert [claim.text for claim in record.claim_ir.claims] == [RIGHT, beside]
    assert record.generation.quoted == (record.claim_ir.claims[0].id,)
    assert "c2 is not borne out by the documents" in record.claim_ir.dropped
    assert "40 days" not in done.stdout, "what may be contradicted is for debug mode alone"
    assert done.stdout.count(BADGE) == 2
    assert done.stdout.index(RIGHT) < done.stdout.index(beside)


def output_of(
    asked: tuple[subprocess.CompletedProcess[str], AnswerRecord],
) -> tuple[str, AnswerRecord]:
    """Return what was printed, and the record."""
    return asked[0].stdout, asked[1]


def quoted_instead(printed: str, record: AnswerRecord) -> None:
    """Assert that the answer is one sentence of the documents, Verified, and is called that."""
    (claim,) = record.claim_ir.claims
    assert (claim.text, record.generation.quoted) == (RIGHT, (claim.id,))
    assert printed.count(BADGE) == 1
    assert "sentences of them are quoted" in printed


@pytest.mark.parametrize(
    ("url", "arguments", "said"),
    [
        ("", ["--generator", "openai:test"], "CERTIRAG_LLM_URL"),
        ("ftp://127.0.0.1/v1", ["--generator", "openai:test"], "https://host/v1"),
        ("http://models.example/v1", ["--generator", "openai:test"], "use https"),
        ("http://127.0.0.1:9/v1", ["--generator", "openai:"], "unknown generator 'openai:'"),
        ("http://127.0.0.1:9/v1", ["--generator", "gpt"], "unknown generator 'gpt'"),
        (
            "http://127.0.0.1:9/v1",
            ["--generator", "openai:test", "--strategy", "guess"],
            "unknown strategy 'guess'",
        ),
        ("", ["--strategy", "strict-quote"], "needs a language model"),
        ("", ["--generator", "extractive", "--strategy", "strict-quote"], "add --generator"),
    ],
)
def test_a_wrong_name_or_variable_is_one_line_and_exit_code_2(
    home: Path, url: str, arguments: list[str], said: str
) -> None:
    """The line names the mend; nothing is asked, nothing is recorded."""
    done = run(home, url, "ask", QUESTION, "--index", str(home / "i"), *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert KEY not in done.stderr
