"""The runs that a folder keeps: what each of them measured, read without trust in what the folder holds.

A folder may be half written, torn, somebody else's or made to deceive: what cannot be read is one line
that says so, and the other runs are read all the same.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from certirag.core.generation import ModelIdentity
from certirag.core.policy import Policy
from certirag.core.verdict import is_score
from certirag.errors import CertiRAGError, InputError
from certirag.eval.builtin_questions import QuestionFigures
from certirag.eval.pairs import FORMAT, ROWS, RUN
from certirag.eval.systems import Share, SystemFigures

FIGURES: Final = "figures.json"
MOST_FOLDERS: Final = 500  # the newest ones are read
_MOST_BYTES: Final = 20_000_000  # of run.json and of figures.json
_MOST_COUNTED: Final = 10**9

FileIdentity = tuple[int, int, int, int]  # device, inode, size in bytes, time of change in ns


@dataclass(frozen=True, slots=True)
class MeasuredData:
    """The data of a run: what it is called, and the SHA-256 of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a run measures, as its ``run.json`` says: *data* by *verifier* under *policy*.

    *rows* is how many rows there are, and *units* how many units (rows, drafts and questions), None
    where nobody wrote it down. *every* is set for the built-in benchmark alone.
    """

    format: int
    what: str
    data: MeasuredData
    verifier: ModelIdentity
    policy: Policy
    rows: int | None = None
    units: int | None = None
    limit: int | None = None
    every: int | None = None
    seed: int = 0
    reader: str = ""
    certirag: str = ""

    @property
    def same_rows(self) -> tuple[str, str, int | None, int | None, int]:
        """What two runs have in common that may be compared."""
        return self.what, self.data.sha256, self.limit, self.every, self.seed


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder among the runs: *run*, or one line in *problem* that says why there is none.

    *changed* is when its ``run.json`` was written (seconds since 1970), and *finished* whether its
    figures were.
    """

    path: Path
    run: KeptRun | None
    problem: str
    changed: float
    finished: bool

    @property
    def name(self) -> str:
        """The folder's own name: text from outside."""
        return self.path.name


_RUN: Final = TypeAdapter(KeptRun)


@dataclass(frozen=True, slots=True)
class KeptFigures:
    """The figures of a finished run that are of all its rows together."""

    systems: list[SystemFigures]
    questions: list[QuestionFigures]


def runs_home(home: Path) -> Path:
    """Return the folder of a server's runs below its *home*."""
    return home / "runs"


def kept_runs(folder: Path) -> list[RunFolder]:
    """Return what the sub-folders of *folder* hold, the newest first; none where it is not there.

    Files, links and hidden names are left out, and what is below the newest `MOST_FOLDERS`.
    """
    try:
        found = [path for path in folder.iterdir() if _is_own_folder(path)]
    except OSError:
        return []
    dated = sorted(((_changed(path), path.name, path) for path in found), reverse=True)
    return [_read_folder(path, changed) for changed, _, path in dated[:MOST_FOLDERS]]


def file_identity(path: Path) -> FileIdentity:
    """Return what tells the file *path* from another state of it; InputError where it is no file."""
    try:
        of = path.stat()
    except OSError as error:
        raise InputError(
            f"{path.name}: cannot be read ({error.strerror}): measure again"
        ) from error
    if not stat.S_ISREG(of.st_mode):  # a pipe would be waited for
        raise InputError(f"{path.name}: is no ordinary file: take it away and measure again")
    return of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns


def read_run(folder: Path) -> KeptRun:
    """Return what the run in *folder* measures; InputError with one line where it holds none."""
    return _run_of(folder / RUN, file_identity(folder / RUN))


def read_figures(folder: Path) -> KeptFigures:
    """Return the figures of the run in *folder*; InputError where they are not there or not sound."""
    return _figures_of(folder / FIGURES, file_identity(folder / FIGURES))


def rows_so_far(folder: Path) -> FileIdentity | None:
    """Return the identity of the run's rows, None while it has none."""
    return file_identity(folder / ROWS) if (folder / ROWS).exists() else None


def _is_own_folder(path: Path) -> bool:
    return not path.name.startswith(".") and path.is_dir() and not path.is_symlink()


def _changed(path: Path) -> float:
    try:
        return (path / RUN).stat().st_mtime
    except OSError:
        return 0.0


def _read_folder(path: Path, changed: float) -> RunFolder:
    try:
        run, problem = read_run(path), ""
    except CertiRAGError as error:
        run, problem = None, str(error)
    return RunFolder(path, run, problem, changed, (path / FIGURES).is_file())


def _text_of(path: Path, identity: FileIdentity) -> bytes:
    if identity[2] > _MOST_BYTES:
        raise InputError(f"{path.name}: has {identity[2]} bytes, more than such a file ever has")
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror})") from error


@lru_cache(maxsize=1024)
def _run_of(path: Path, identity: FileIdentity) -> KeptRun:
    try:
        run = _RUN.validate_json(_text_of(path, identity))
    except ValidationError as error:
        raise InputError(_unreadable(path, error, "is no run of this version")) from error
    if run.format != FORMAT:
        message = f"{path.name}: is of format {run.format}, this version reads {FORMAT}: "
        raise InputError(message + "measure again into another folder")
    return run


@lru_cache(maxsize=64)
def _figures_of(path: Path, identity: FileIdentity) -> KeptFigures:
    try:
        found = TypeAdapter(_Figures).validate_json(_text_of(path, identity))
    except ValidationError as error:
        raise InputError(_unreadable(path, error, "are no figures of this version")) from error
    for share in _shares(found):
        if not 0 <= share.part <= share.whole <= _MOST_COUNTED:
            raise InputError(f"{path.name}: a count is not possible: run the same command again")
    if any(own.p is not None and not is_score(own.p) for own in found.systems):
        raise InputError(f"{path.name}: a p is not between 0 and 1: run the same command again")
    return KeptFigures(found.systems, found.questions or [])


@dataclass(frozen=True, slots=True)
class _Figures:
    systems: list[SystemFigures]
    questions: list[QuestionFigures] | None = None


def _shares(found: _Figures) -> Iterator[Share]:
    for one in (*found.systems, *(found.questions or ())):
        for name in type(one).__slots__:
            value = getattr(one, name)
            if isinstance(value, Share):
                yield value


def _unreadable(path: Path, error: ValidationError, said: str) -> str:
    first: Any = error.errors()[0]
    place = ".".join(map(str, first["loc"]))[:80]
    field = f"{place}: " if place else ""
    return f"{path.name}: {said} ({field}{first['msg'][:120]}): name another, or measure again"
