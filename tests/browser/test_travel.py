"""Proof travels: an export is checked where nothing is left of the program that made it."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import venv
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from certirag.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = {
    "leave.md": "# Leave\n\n## Annual leave\n\nFull-time employees receive 27 days of annual leave "
    "per year. Unused days expire on 31 March.\n",
    "canteen.md": "# Canteen\n\n## Opening hours\n\nThe canteen in Skarholm is open from 7:30 to "
    "14:00 on working days.\n",
}
BEFORE = "How many days of annual leave do full-time employees receive?"
AFTER = "When is the canteen in Skarholm open?"
Verdict = tuple[str, str]


@dataclass(frozen=True)
class Kept:
    """What is left of the program: two exports and the files that whoever checks was given.

    *before* was signed by the key of *old*, *after* by the one that took over. *trust* names both,
    the old one as retired; under *distrust* its time ended before it signed *before*.
    """

    before: Path
    after: Path
    old: Path
    trust: Path
    distrust: Path
    root: Path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Ask by the command line, rotate the key, ask again, retire the old key, delete it all."""
    made, given = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("given")
    home, index = made / "home", made / "index"
    keys = home / "keys"

    def certirag(*arguments: object) -> str:
        said = io.StringIO()
        with redirect_stdout(said), pytest.MonkeyPatch.context() as patched:
            patched.setenv("CERTIRAG_HOME", str(home))
            assert main([*map(str, arguments)]) == 0
        return said.getvalue()

    def put(path: Path, name: str) -> Path:
        return Path(shutil.copyfile(path, given / name))

    (made / "documents").mkdir()
    for name, text in DOCUMENTS.items():
        (made / "documents" / name).write_text(text, "utf-8")
    certirag("ingest", made / "documents", "--index", index)
    certirag("ask", BEFORE, "--index", index, "--export", made / "before.json")
    old = json.loads(certirag("keys", "list", "--json"))["in_use"]
    before, key = put(made / "before.json", "before.json"), put(keys / "signing.pub", "old.pub")
    certirag("keys", "rotate")
    certirag("ask", AFTER, "--index", index, "--export", made / "after.json")
    after = put(made / "after.json", "after.json")
    certirag("keys", "retire", old, "--reason", "replaced")
    trust = put(keys / "trust.json", "trust.json")
    certirag("keys", "retire", old, "--from-index", 0, "--reason", "stolen")
    distrust, root = put(keys / "trust.json", "distrust.json"), put(keys / "root.pub", "root.pub")
    left = {path.suffix for path in home.rglob("*")}
    assert left >= {".key", ".sqlite3"}, left
    shutil.rmtree(made)
    assert not made.exists()
    return Kept(before, after, key, trust, distrust, root)


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python of its own that has `cryptography`, what that needs, and nothing else."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = "import sysconfig; print(sysconfig.get_path('purelib'))"
    installed = Path(_said(python, folder, "-I", "-c", site).strip())
    for name in ("cryptography", "cffi", "pycparser"):
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:  # not every version of cryptography needs all of them
            continue
        for file in files:
            if file.parts[0] != ".." and "__pycache__" not in file.parts:
                (installed / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), installed / file)
    return python


def _said(python: Path, folder: Path, *arguments: object, code: int = 0) -> str:
    done = subprocess.run(
        [str(python), *map(str, arguments)],
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={"PYTHONUTF8": "1"},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def _verdicts(
    python: Path, folder: Path, exports: list[Path], *keys: object
) -> list[tuple[str, str]]:
    """Return what checker.py says, copied to *folder*, which holds only what is named here."""
    for path in (ROOT / "certirag" / "checker.py", *exports, *keys):
        if isinstance(path, Path):
            shutil.copyfile(path, folder / path.name)
    named = [key.name if isinstance(key, Path) else key for key in keys]
    given = {path.name for path in (*exports, *keys) if isinstance(path, Path)}
    assert {path.name for path in folder.iterdir()} == {"checker.py"} | given
    missing = "import cryptography\ntry:\n import certirag\nexcept ImportError:\n print('none')"
    assert _said(python, folder, "-I", "-c", missing).strip() == "none"
    asked = ["-I", "checker.py", *(path.name for path in exports), *named, "--json"]
    done = subprocess.run(
        [str(python), *map(str, asked)], capture_output=True, check=False, cwd=folder, env={}
    )
    rows = json.loads(done.stdout)
    assert done.returncode == (0 if all(row["verdict"] == "VALID" for row in rows) else 4)
    return [(row["verdict"], row["code"]) for row in rows]


def _with_another_digit(export: Path, folder: Path, part: str) -> Path:
    """Write *export* again with one digit changed: the first one behind the first key *part*."""
    text = export.read_text("utf-8")
    place = next(i for i in range(text.index(f'"{part}": '), len(text)) if text[i].isdecimal())
    digit = str((int(text[place]) + 1) % 10)
    changed = folder / f"{part}.json"
    changed.write_text(text[:place] + digit + text[place + 1 :], "utf-8")
    return changed


# Behind which key a digit is changed, and the step that refuses it.
DIGITS = {
    "text": "readable",
    "score": "readable",
    "payload": "signature",
    "sig": "signature",
    "leaf": "leaf",
    "salt": "commitment",
    "checkpoint": "checkpoint",
}
TAMPERED = [("TAMPERED", code) for code in DIGITS.values()]


def test_a_copied_checker_needs_nothing_of_the_program(kept, interpreter, tmp_path) -> None:
    """Export, public key and checker.py alone: VALID, and TAMPERED with a digit changed."""
    folder, spoilt = tmp_path / "alone", tmp_path / "spoilt"
    folder.mkdir()
    spoilt.mkdir()
    assert _verdicts(interpreter, folder, [kept.before], "--public-key", kept.old) == [
        ("VALID", "")
    ]
    shutil.rmtree(folder)
    folder.mkdir()
    changed = [_with_another_digit(kept.before, spoilt, part) for part in DIGITS]
    assert _verdicts(interpreter, folder, changed, "--public-key", kept.old) == TAMPERED


def test_a_copied_checker_knows_the_keys_of_a_rotated_log(kept, interpreter, tmp_path) -> None:
    """The trust file tells which key signed what; a stolen key's entries are worth nothing."""
    both = [kept.before, kept.after]
    for name, keys, verdicts in (
        ("trust", ("--trust", kept.trust, "--root", kept.root), [("VALID", "")] * 2),
        (
            "distrust",
            ("--trust", kept.distrust, "--root", kept.root),
            [("TAMPERED", "key-range"), ("VALID", "")],
        ),
        (
            "the old key",
            ("--public-key", kept.old),
            [("VALID", ""), ("TAMPERED", "untrusted-key")],
        ),
    ):
        folder = tmp_path / name
        folder.mkdir()
        assert _verdicts(interpreter, folder, both, *keys) == verdicts, name


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Verdict]]:
    """Return a function that gives files to a copy of the page by hand and reads its verdict."""
    page_file = Path(shutil.copyfile(ROOT / "assets" / "checker.html", tmp_path / "checker.html"))
    context = browser.new_context(offline=True)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))

    def shown(export: Path, key: Path, trust: Path | None = None) -> Verdict:
        page = context.new_page()
        page.goto(page_file.as_uri())
        if trust is not None:
            page.check("#by-trust")
            page.set_input_files("#trust", str(trust))
        page.set_input_files("#key-file", str(key))
        page.locator("#pinned .fingerprint").wait_for()
        page.set_input_files("#export", str(export))
        page.wait_for_function(
            "document.querySelector('#verdict h2').textContent !== 'No verdict yet'"
        )
        code = page.locator("#verdict code")
        found = page.inner_text("#verdict h2"), code.inner_text() if code.count() else ""
        page.close()
        return found

    yield shown
    context.close()
    assert set(asked) == {page_file.as_uri()}


@pytest.mark.browser
def test_the_page_needs_nothing_of_the_program(kept, shown, tmp_path) -> None:
    """The same verdicts on the page, from its file, without a network."""
    assert shown(kept.before, kept.old) == ("VALID", "")
    changed = [_with_another_digit(kept.before, tmp_path, part) for part in DIGITS]
    assert [shown(path, kept.old) for path in changed] == TAMPERED


@pytest.mark.browser
def test_the_page_knows_the_keys_of_a_rotated_log(kept, shown) -> None:
    """Trust file and root key: as the copied checker says."""
    assert shown(kept.before, kept.root, kept.trust) == ("VALID", "")
    assert shown(kept.after, kept.root, kept.trust) == ("VALID", "")
    assert shown(kept.before, kept.root, kept.distrust) == ("TAMPERED", "key-range")
    assert shown(kept.after, kept.root, kept.distrust) == ("VALID", "")
    assert shown(kept.after, kept.old) == ("TAMPERED", "untrusted-key")
    assert shown(kept.before, kept.old, kept.trust)[0] == "Cannot check"
