"""The commands about what was answered, met by a newcomer: every mistake is one line that mends it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from certirag.bootstrap import open_log
from certirag.cli import replay_commands
from certirag.cli.main import main
from certirag.settings import read_settings

LEAVE = "# Leave\n\nFull-time employees receive 27 days of annual leave per calendar year.\n"
QUESTION = "How many days of annual leave do full-time employees receive?"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with documents, their index, a home with one answer, and its export."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "docs").mkdir()
    (folder / "docs" / "leave.md").write_text(LEAVE, "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CERTIRAG_HOME", str(folder / "home"))
        assert main(["ingest", str(folder / "docs"), "--index", str(folder / "index")]) == 0
        words = ["ask", QUESTION, "--index", str(folder / "index")]
        assert main([*words, "--export", str(folder / "answer.json")]) == 0
        assert main(["keys", "list"]) == 0
    return folder


@pytest.fixture
def place(asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Path:
    """Return a copy of that folder, at work in it and with its home."""
    shutil.copytree(asked, tmp_path / "place")
    monkeypatch.setenv("CERTIRAG_HOME", "home")
    monkeypatch.chdir(tmp_path / "place")
    Path("folder").mkdir()
    Path("torn.json").write_text('{"question"', "utf-8")
    capsys.readouterr()
    return tmp_path / "place"


def run(capsys: Capture, *words: str) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of ``certirag …``."""
    try:
        code = main(words)
    except SystemExit as end:
        code = int(str(end.code))
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return code, said.out, said.err


# What is given, the exit code, and what the one line must name.
MISTAKES: dict[str, tuple[int, str]] = {
    "audit": (2, "COMMAND"),
    "audit lst": (2, "'lst'"),
    "keys": (2, "COMMAND"),
    "replay": (2, "--profile"),
    "replay --profile base-1": (2, "--log"),
    "replay answer.json --log --profile base-1": (2, "--log"),
    "replay answer.json --profile base-1 --decision ACCEPT": (2, "--log"),
    "replay answer.json --profile nope": (2, "'nope': choose one of"),
    "replay --log --profile nope": (2, "'nope': choose one of"),
    "replay missing.json --profile base-1": (2, "missing.json"),
    "replay folder --profile base-1": (2, "folder"),
    "replay torn.json --profile base-1": (4, "torn.json"),
    "replay answer.json torn.json --profile base-1 --json": (4, "torn.json"),
    "replay --log --profile base-1 --since 2026-13-01": (2, "2026-13-01"),
    "replay --log --profile base-1 --trace-id xyz": (2, "'xyz'"),
    "replay --log --profile base-1 --json --when sometime": (2, "'sometime'"),
    "keys retire": (2, "KEYID"),
    "keys retire zz": (2, "'zz' names 0 keys"),
    "keys retire 0 --from-index -1": (2, "'-1'"),
    "keys retire 0 --from-index 99999999999999999999": (2, "99999999999999999999"),
    "audit stale": (2, "--index"),
    "audit stale --index index --sources docs": (2, "--sources"),
    "audit stale --index missing": (2, "missing"),
    "audit stale --index torn.json": (2, "torn.json"),
    "audit stale --index folder": (2, "folder"),
    "audit stale --sources missing": (2, "missing"),
    "audit list --limit 0": (2, "'0'"),
    "audit list --after -1": (2, "'-1'"),
    "audit query --since yesterdy": (2, "'yesterdy'"),
    "audit query --decision MAYBE": (2, "'MAYBE'"),
    "audit query --by hour": (2, "'hour'"),
    "audit query --score-from nan": (2, "'nan'"),
    "audit export": (2, "--out"),
    "audit export --out missing/x": (2, "missing"),
    "audit verify --checkpoint missing": (2, "missing"),
    "audit verify --checkpoint folder": (2, "folder"),
    "audit verify --checkpoint torn.json": (2, "torn.json"),
    "audit verify --public-key missing": (2, "missing"),
    "audit verify --public-key torn.json": (2, "torn.json"),
    "audit verify --trust torn.json": (2, "--root"),
    "audit verify --trust torn.json --root home/keys/root.pub": (2, "torn.json"),
    "audit verify --grace nan": (2, "nan"),
    "audit checkpoint --out torn.json": (2, "torn.json"),
    "audit checkpoint --out missing/x": (2, "missing/x"),
    "audit retain --now 2030-01-01": (2, "--dry-run"),
    "audit retain --dry-run --now 2030-13-01": (2, "2030-13-01"),
    "audit retain --rule nope": (2, "'nope'"),
    "audit hold Case": (2, "'Case'"),
    "audit hold case": (2, "nothing to hold"),
    "audit hold case --entries 5-2": (2, "'5-2'"),
    "audit release nope": (2, "'nope'"),
    "audit erase 00": (2, "--authoriser"),
    "audit erase 00 --authoriser Ann --justification asked": (2, "'00'"),
    "check": (2, "FILE"),
    "check missing.json": (2, "missing.json"),
    "check folder": (2, "folder"),
    "check answer.json --public-key torn.json": (2, "torn.json"),
    "check answer.json --trust torn.json": (2, "--root"),
    "check answer.json --trust torn.json --root home/keys/root.pub": (2, "torn.json"),
    "check answer.json --sources missing": (2, "missing"),
    "ask question --index missing": (2, "missing"),
    "verify --draft missing --evidence docs": (2, "missing"),
    "verify --draft folder --evidence docs": (2, "folder"),
    "ask question --index index --profile nope": (2, "'nope'"),
}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line_that_names_it(words: str, capsys: Capture) -> None:
    """Nothing on standard output, one line on standard error, and the home is as it was."""
    before = _contents(Path("home"))
    expected, named = MISTAKES[words]
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (expected, "")
    assert err.startswith("certirag: ")
    assert len(err.splitlines()) == 1
    assert named in err
    assert _contents(Path("home")) == before


def _contents(folder: Path) -> dict[str, bytes]:
    left = {"keys.lock", "audit.sqlite3-shm", "audit.sqlite3-wal", ".lock"}
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in left]
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("words", ["audit export --out", "ask question --index index --export"])
def test_an_empty_name_is_no_file(words: str, capsys: Capture) -> None:
    """It is said as any other mistake is."""
    code, _, err = run(capsys, *words.split(), "")
    assert code == 2
    assert f"after {words.rsplit(maxsplit=1)[-1]} is empty" in err.splitlines()[-1]


READING = (
    "audit list",
    "audit query --json",
    "audit verify",
    "audit checkpoint",
    "audit export --out rows.jsonl",
    "audit stale --index index",
    "audit stale --sources docs",
    "audit retain --dry-run",
    "audit hold case --entries 0",
    "keys list",
    "keys rotate",
    "keys retire 0",
    "replay --log --profile base-1",
    "check answer.json --log",
)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("words", READING)
def test_a_log_is_not_made_to_be_asked(
    words: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever names the wrong home is told so; an empty log there would look like no answers."""
    monkeypatch.setenv("CERTIRAG_HOME", "elsewhere")
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (2, "")
    line = "certirag: elsewhere/audit.sqlite3: there is no log: set CERTIRAG_HOME or CERTIRAG_AUDIT_URL"
    assert err.splitlines() == [line]
    assert not Path("elsewhere").exists()
    assert not Path("rows.jsonl").exists()


def _torn_trust(home: Path) -> None:
    (home / "keys" / "trust.json").write_text("{}", "utf-8")


def _strange_trust(home: Path) -> None:
    (home / "keys" / "root.pub").write_text("ab" * 32, "utf-8")


def _exposed(home: Path) -> None:
    (home / "keys" / "signing.key").chmod(0o644)


def _exposed_root(home: Path) -> None:
    (home / "keys" / "root.key").chmod(0o640)


def _damaged(home: Path) -> None:
    (home / "keys" / "signing.key").write_bytes(b"short")


def _gone(home: Path) -> None:
    (home / "keys" / "signing.key").unlink()


def _root_gone(home: Path) -> None:
    (home / "keys" / "root.key").unlink()


def _folder_for_key(home: Path) -> None:
    _gone(home)
    (home / "keys" / "signing.key").mkdir()


def _no_database(home: Path) -> None:
    for path in home.glob("audit.sqlite3*"):
        path.unlink()
    (home / "audit.sqlite3").write_bytes(b"no database " * 100)


def _file_for_home(home: Path) -> None:
    shutil.rmtree(home)
    home.write_text("a file", "utf-8")


BROKEN: list[tuple[Callable[[Path], None], str, str]] = [
    (_torn_trust, "keys list", "trust.json"),
    (_torn_trust, "keys rotate", "trust.json"),
    (_torn_trust, "replay --log --profile base-1", "trust.json"),
    (_torn_trust, "audit verify", "trust.json"),
    (_torn_trust, "check answer.json", "trust.json"),
    (_torn_trust, "audit stale --index index", "trust.json"),
    (_strange_trust, "check answer.json", "trust.json"),
    (_exposed, "keys list", "chmod 600"),
    (_exposed, "audit list", "chmod 600"),
    (_exposed, "ask question --index index", "chmod 600"),
    (_exposed_root, "keys rotate", "root.key can be read by others"),
    (_damaged, "keys list", "signing.key"),
    (_gone, "keys list", "put it back"),
    (_gone, "audit hold case --entries 0-1", "only read here"),
    (_gone, "ask question --index index", "put it back"),
    (_root_gone, "keys rotate", "root.key is gone"),
    (_root_gone, "keys retire 0", "root.key is gone"),
    (_folder_for_key, "keys list", "signing.key"),
    (_no_database, "audit list", "audit.sqlite3"),
    (_no_database, "keys rotate", "audit.sqlite3"),
    (_no_database, "replay --log --profile base-1", "audit.sqlite3"),
    (_file_for_home, "ask question --index index", "home"),
    (_file_for_home, "audit list", "home"),
]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("harm", "words", "named"), BROKEN, ids=[f"{b[0].__name__}: {b[1]}" for b in BROKEN]
)
def test_a_broken_home_is_one_line_too(
    harm: Callable[[Path], None], words: str, named: str, capsys: Capture
) -> None:
    """The file is named, nothing is shown, and nothing is made anew in its place."""
    harm(Path("home"))
    before = _contents(Path("home"))
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert named in err
    assert _contents(Path("home")) == before


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "words",
    [
        "audit list --json",
        "audit query --json",
        "audit query --by week --json",
        "audit verify --json",
        "audit retain --dry-run --json",
        "audit hold case --entries 0-1 --json",
        "audit stale --index index --json",
        "audit stale --sources docs --json",
        "audit stale --index index --recheck --json",
        "keys list --json",
        "keys rotate --json",
        "replay --log --profile strict-2 --json",
        "replay answer.json --profile strict-2 --json",
        "check answer.json --json",
        "check answer.json --log --json",
        f"ask|{QUESTION}|--index|index|--json",
        "verify --draft docs/leave.md --evidence docs --json",
        "ingest docs --index other --json",
    ],
)
def test_json_is_one_document_and_nothing_else(words: str, capsys: Capture) -> None:
    """Progress and notes are on standard error."""
    code, out, _ = run(capsys, *(words.split("|") if "|" in words else words.split()))
    assert code == 0
    assert json.loads(out) is not None
    assert out.endswith("\n")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "words",
    ["audit", "keys", "replay", "check", "keys retire", "audit stale", "audit query"],
)
def test_help_is_there(words: str, capsys: Capture) -> None:
    """It names the command as it is typed."""
    code, out, err = run(capsys, *words.split(), "--help")
    assert (code, err) == (0, "")
    assert f"usage: certirag {words}" in out


@pytest.mark.usefixtures("place")
def test_another_log_is_not_mistaken_for_it(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its name nor the keys of this home open it."""
    with monkeypatch.context() as patched:
        patched.setenv("CERTIRAG_LOG_ORIGIN", "example.org/other")
        code, _, err = run(capsys, "audit", "list")
        assert (code, "example.org/other" in err) == (2, True)
    monkeypatch.setenv("CERTIRAG_AUDIT_URL", "sqlite:///other.sqlite3")
    assert run(capsys, "keys", "list")[0] == 2
    assert not Path("other.sqlite3").exists()
    open_log(read_settings())
    code, out, err = run(capsys, "keys", "rotate")
    assert (code, out) == (2, "")
    assert "is for the log" in err
    assert run(capsys, "check", "answer.json", "--log")[0] == 2


@pytest.mark.usefixtures("place")
def test_an_interruption_and_a_closed_pipe_are_quiet(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is one line and 130."""

    def interrupt(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(replay_commands, "_say", interrupt)
    code, out, err = run(capsys, "replay", "--log", "--profile", "base-1")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1].startswith("certirag: interrupted")


@pytest.mark.usefixtures("place")
def test_a_changed_document_is_told_of_and_its_answer_revoked(capsys: Capture) -> None:
    """Ingest says so; stale lists it, by index and by files; checked again it is revoked for all."""
    assert run(capsys, "check", "answer.json", "--log")[0] == 0
    Path("docs/leave.md").write_text(LEAVE.replace("27", "25"), "utf-8")
    code, _, err = run(capsys, "ingest", "docs", "--index", "index")
    assert code == 0
    assert err.splitlines()[-1] == (
        "1 answer leans on documents that changed: see certirag audit stale --index index"
    )
    listed = run(capsys, "audit", "stale", "--index", "index")[1]
    assert "Leave changed" in listed
    assert run(capsys, "audit", "stale", "--sources", "docs")[1] == listed
    code, out, _ = run(capsys, "audit", "stale", "--sources", "docs", "--recheck")
    assert (code, "revoked: " in out) == (0, True)
    assert run(capsys, "audit", "stale", "--index", "index")[1].startswith("No answer leans")
    assert "[revoked: stale]" in run(capsys, "audit", "query")[1]
    assert "revoked already" in run(capsys, "replay", "--log", "--profile", "base-1")[1]
    assert run(capsys, "check", "answer.json")[0] == 0  # what is in the file still holds
    code, out, _ = run(capsys, "check", "answer.json", "--log")
    assert (code, out.split()[0]) == (4, "STALE")
    assert "(revoked)" in out
    code, _, err = run(capsys, "ingest", "docs", "--index", "index")
    assert "lean" not in err


@pytest.mark.usefixtures("place")
def test_a_retired_key_signs_nothing_and_harms_nobody(capsys: Capture) -> None:
    """A program that comes back with the old key is refused, and the log goes on without it."""
    keys = Path("home/keys")
    old, trust = (keys / "signing.key").read_bytes(), (keys / "trust.json").read_bytes()
    keyid = json.loads(run(capsys, "keys", "list", "--json")[1])["in_use"]
    assert run(capsys, "keys", "rotate")[0] == 0
    assert run(capsys, "keys", "retire", keyid[:12], "--reason", "stolen")[0] == 0
    new = (keys / "signing.key").read_bytes()
    (keys / "signing.key").write_bytes(old)
    for words in (["ask", QUESTION, "--index", "index"], ["audit", "hold", "x", "--entries", "0"]):
        code, out, err = run(capsys, *words)
        assert (code, out) == (2, "")
        assert "was retired" in err
    (keys / "signing.key").write_bytes(new)
    assert run(capsys, "audit", "verify")[0] == 0
    # A trust file of before, put back: the log says so, and `keys list` mends it.
    (keys / "trust.json").write_bytes(trust)
    code, out, err = run(capsys, "ask", QUESTION, "--index", "index")
    assert (code, out) == (2, "")
    assert "newest trust file" in err
    code, out, _ = run(capsys, "audit", "verify")
    assert code == 4
    ends = {
        one["keyid"]: one["until_index"]
        for one in json.loads(run(capsys, "keys", "list", "--json")[1])["keys"]
    }
    assert ends[keyid] is not None
    assert run(capsys, "audit", "verify")[0] == 0
    assert run(capsys, "ask", QUESTION, "--index", "index")[0] == 0


def test_what_holds_questions_is_for_its_owner_only(place: Path, capsys: Capture) -> None:
    """Home, keys, log, exports and index; what others may read is there to be given away."""
    assert run(capsys, "audit", "export", "--out", "rows.jsonl")[0] == 0
    log = open_log(read_settings())
    assert log.size()  # the connection is open, and so the log's other files are there
    private = [place / "rows.jsonl", place / "answer.json"]
    for folder in (place / "home", place / "index"):
        private += [folder, *folder.rglob("*")]
    assert {path.name for path in private} >= {"audit.sqlite3", "audit.sqlite3-wal", "keys"}
    readable = {path.name for path in private if stat.S_IMODE(path.stat().st_mode) & 0o077}
    assert readable <= {"signing.pub", "root.pub", "trust.json"}


def test_a_log_that_may_not_be_written_is_read(
    place: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An auditor's disk is read-only: nothing is put beside the file, and nothing is added."""

    def access(path: os.PathLike[str] | str, mode: int) -> bool:
        return mode != os.W_OK and Path(path).exists()

    before = _contents(place / "home")
    monkeypatch.setattr(os, "access", access)
    code, out, _ = run(capsys, "audit", "verify")
    assert (code, out.partition(":")[0]) == (0, "INTACT")
    code, _, err = run(capsys, "ask", QUESTION, "--index", "index")
    assert (code, "readonly" in err) == (2, True)
    assert _contents(place / "home") == before


def test_an_auditor_gets_no_key_of_their_own(
    place: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home without a key is one to read from: asking makes none, and acts are refused."""
    monkeypatch.setenv("CERTIRAG_HOME", "auditor")
    monkeypatch.setenv("CERTIRAG_AUDIT_URL", f"sqlite:///{place}/home/audit.sqlite3")
    key = ("--public-key", "home/keys/signing.pub")
    code, out, _ = run(capsys, "audit", "verify", *key)
    assert (code, out.partition(":")[0]) == (0, "INTACT")
    assert not (place / "auditor").exists()
    code, _, err = run(capsys, "audit", "hold", "case", "--entries", "0-1")
    assert (code, "only read here" in err) == (2, True)


HARMED = {
    "gone": "DROP TRIGGER log_entry_no_update",
    "idle": "DROP TRIGGER log_entry_no_update; "
    "CREATE TRIGGER log_entry_no_update BEFORE UPDATE ON log_entry BEGIN SELECT 1; END",
}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("statements", HARMED.values(), ids=list(HARMED))
def test_a_trigger_that_was_taken_away_is_told_and_put_back(
    statements: str, capsys: Capture
) -> None:
    """The log is not called intact while nothing would refuse a change of it."""
    with closing(sqlite3.connect("home/audit.sqlite3")) as database:
        database.executescript(statements)
    code, out, _ = run(capsys, "audit", "verify")
    assert (code, "lacks log_entry_no_update" in out) == (4, True)
    assert run(capsys, "ask", QUESTION, "--index", "index")[0] == 0
    assert run(capsys, "audit", "verify")[0] == 0
    with (
        closing(sqlite3.connect("home/audit.sqlite3")) as database,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        database.execute("UPDATE log_entry SET kind = 'answer'")
