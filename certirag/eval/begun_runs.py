"""A run as a process of its own: one at a time below a home, watched, interrupted and gone on with.

It is the command line that runs, so that a server's models and locks are not held by it. A lock on a file
lasts as long as the process does, whoever began it: no second one begins beside it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from certirag.errors import CertiRAGError, InputError
from certirag.eval.builtin import UNIT_FILES
from certirag.eval.kept_runs import FileIdentity, KeptRun, file_identity, read_run, runs_home
from certirag.eval.opened_rows import MOST_ROWS
from certirag.eval.pair_rows import read_pair_rows

DATA: Final = "pairs.jsonl"  # of a run over pairs that were handed in
MOST_HANDED_IN: Final = 100_000_000  # bytes
_LOCK: Final = ".running"
_LOG: Final = "progress.log"
_PATIENCE: Final = 10.0  # seconds for a process to end by itself
_PACKAGE: Final = Path(__file__).resolve().parents[2]  # what `-m certirag` is found in
_LAST: Final = 4_000  # bytes of the log that are looked at
BUSY: Final = "another run is under way on this server: wait for it, or cancel it"


@dataclass(frozen=True, slots=True)
class BegunRun:
    """How far the run *name* is: *done* of *total* units, None while nobody knows; *ended* with its exit code.

    *complaint* is the last line that it said where it failed: text that may quote its data.
    """

    name: str
    done: int
    total: int | None
    ended: int | None
    complaint: str = ""


class RunProcess:
    """The one run that may be under way below *home*; threads may share it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None

    def begin_builtin(self, every: int, now: datetime) -> None:
        """Begin the built-in benchmark, every *every*-th unit; InputError where another run is under way."""
        with self._guard:
            self._require_none()
            folder = self._new_folder(f"builtin-{every}", now)
            self._begin(folder, _builtin(folder, every))

    def begin_pairs(self, content: bytes, now: datetime) -> None:
        """Begin a run over labelled pairs as JSON Lines; InputError for bad rows, or where another is under way."""
        if len(content) > MOST_HANDED_IN:
            raise InputError(f"the file has more than {MOST_HANDED_IN // 1_000_000} MB")
        with self._guard:
            self._require_none()
            folder = self._new_folder("pairs", now)
            try:
                (folder / DATA).write_bytes(content)
                if sum(1 for _ in read_pair_rows(folder / DATA)) > MOST_ROWS:
                    raise InputError(f"the file has more than {MOST_ROWS} rows")
            except (OSError, CertiRAGError) as error:
                shutil.rmtree(folder, ignore_errors=True)
                message = str(error).replace(str(folder / DATA), "the file")
                raise InputError(message) from error
            self._begin(folder, _pairs(folder, None, 0))

    def go_on(self, folder: Path) -> None:
        """Begin the run of *folder* again where it stands; InputError where it cannot be."""
        with self._guard:
            self._require_none()
            command = command_of_run(folder, read_run(folder))
            if command is None:
                raise InputError(f"{folder.name}: its data is not here: start its command again")
            self._begin(folder, command)

    def cancel(self) -> None:
        """End the run, and wait for its end; what it measured is kept. Nothing happens where none is."""
        with self._guard:
            if self._process is None:
                return
            for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                if self._process.poll() is None:
                    self._process.send_signal(sent)
                    try:
                        self._process.wait(_PATIENCE)
                    except subprocess.TimeoutExpired:
                        continue
            self._process = self._folder = None

    def look(self) -> BegunRun | None:
        """Return how far the run is that was begun here last, None where none was, or it was cancelled."""
        with self._guard:
            if self._process is None or self._folder is None:
                return None
            ended = self._process.poll()
            done, total = units_so_far(self._folder)
            complaint = _last_line(self._folder / _LOG) if ended else ""
            return BegunRun(self._folder.name, done, total, ended, complaint)

    def is_under_way(self) -> bool:
        """Say whether a run is under way below the home, whoever began it."""
        try:
            with self._guard:
                lock = _locked(self._home)
        except InputError:
            return True
        os.close(lock)
        return False

    def _require_none(self) -> None:
        os.close(_locked(self._home))

    def _new_folder(self, name: str, now: datetime) -> Path:
        wanted = runs_home(self._home) / f"{name}-{now:%Y-%m-%d-%H%M%S}"
        for folder in (wanted, *(wanted.with_name(f"{wanted.name}-{n}") for n in range(2, 100))):
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
            return folder
        raise InputError(f"{wanted}: is there already: wait a second")

    def _begin(self, folder: Path, arguments: list[str]) -> None:
        lock = _locked(self._home)
        path = os.pathsep.join(filter(None, (str(_PACKAGE), os.environ.get("PYTHONPATH"))))
        try:
            with (folder / _LOG).open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603  # our own command, no text of a user in it
                    [sys.executable, "-m", "certirag", "eval", *arguments],
                    env={**os.environ, "CERTIRAG_HOME": str(self._home), "PYTHONPATH": path},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    pass_fds=(lock,),  # held by the process, and gone with it
                )
        except OSError as error:
            raise InputError(f"{folder}: a run cannot be begun ({error.strerror})") from error
        finally:
            os.close(lock)
        self._folder = folder


def command_of_run(folder: Path, run: KeptRun) -> list[str] | None:
    """Return the arguments of `certirag eval` that go on with *run* in *folder*; None where its data is elsewhere."""
    if run.what == "builtin" and run.every is not None and run.every > 0:
        return _builtin(folder, run.every)
    own = folder / DATA
    if run.what == "pairs" and run.data.name == DATA and own.is_file() and not own.is_symlink():
        return _pairs(folder, run.limit, run.seed)
    return None


def units_so_far(folder: Path) -> tuple[int, int | None]:
    """Return how many units the run in *folder* has measured, and of how many; None while nobody knows."""
    try:
        run = read_run(folder)
    except CertiRAGError:
        return 0, None
    total = run.units or run.rows
    done = sum(_lines_in(folder / name) for name in UNIT_FILES)
    return (done if total is None else min(done, total)), total


def _builtin(folder: Path, every: int) -> list[str]:
    return ["builtin", "--out", str(folder), "--every", str(every)]


def _pairs(folder: Path, limit: int | None, seed: int) -> list[str]:
    of_limit = [] if limit is None else ["--limit", str(limit)]
    data = str(folder / DATA)
    return ["pairs", "--data", data, "--out", str(folder), "--seed", str(seed), *of_limit]


def _locked(home: Path) -> int:
    """Return the descriptor of the lock, held; InputError where a run holds it, or it cannot be had."""
    try:
        import fcntl  # noqa: PLC0415  # this file is read on systems without it too

        runs_home(home).mkdir(parents=True, exist_ok=True)
        lock = os.open(runs_home(home) / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (ImportError, OSError) as error:
        raise InputError(f"no run can be begun here ({error})") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise InputError(BUSY) from error
    return lock


def _lines_in(path: Path) -> int:
    try:
        return _counted_lines(path, file_identity(path))
    except (OSError, InputError):
        return 0


@lru_cache(maxsize=64)
def _counted_lines(path: Path, _identity: FileIdentity) -> int:
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))


def _last_line(path: Path) -> str:
    try:
        text = path.read_bytes()[-_LAST:].decode("utf-8", "replace")
    except OSError:
        return ""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
