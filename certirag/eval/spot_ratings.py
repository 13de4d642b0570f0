"""What people say of the items of a spot check: a file for each rater, a line for each rating as it is made.

A line is never changed: a rating that its rater took back is followed by a line that says so. A last
line that a crash tore is cut off, here when it is read and on the disk before the next is written.
Each line says whether its rater lets it be used as training data; without their word, not.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from certirag.errors import InputError
from certirag.eval.failure_kinds import FailureKind

RATINGS: Final = "ratings"
MOST_REASON: Final = 500  # characters
RaterVerdict = Literal["supported", "not_supported", "cannot_tell"]
RATER_VERDICTS: Final[tuple[RaterVerdict, ...]] = get_args(RaterVerdict)
_RATER: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_TURN: Final = threading.Lock()  # of this process: one line at a time


@dataclass(frozen=True, slots=True)
class Rating:
    """What *rater* says of *item*, or that they took it back (*withdrawn*).

    *kind* is of a claim that is not supported, "" of any other; *suggested* is what the rule proposed.
    *consent*: the rater lets claim, evidence and rating be used to train verifiers. *at* is UTC.
    """

    item: str
    verdict: RaterVerdict
    kind: FailureKind | Literal[""] = ""
    suggested: FailureKind | Literal[""] = ""
    reason: str = ""
    rater: str = ""
    at: str = ""
    consent: bool = False
    withdrawn: bool = False


_RATING: Final = TypeAdapter(Rating)


def require_rater(name: str) -> str:
    """Return *name* where it can name a rater's file, InputError where it cannot."""
    if not _RATER.fullmatch(name):
        raise InputError(
            f"{name[:80]!r} names no rater: use small letters, digits and . _ - (64 at most)"
        )
    return name


def ratings_of(folder: Path, rater: str, items: Collection[str]) -> dict[str, Rating]:
    """Return what *rater* says by item, in the order in which it was said; {} before the first.

    *items* are those of the sample. Raises InputError naming a line that is no rating of one of them.
    """
    path = _path(folder, rater)
    return _read(path, require_rater(rater), items) if path.exists() else {}


def all_ratings(folder: Path, items: Collection[str]) -> dict[str, dict[str, Rating]]:
    """Return the ratings of every rater of the sample in *folder*, raters in order of their names."""
    files = sorted((folder / RATINGS).glob("*.jsonl"))
    return {path.stem: _read(path, require_rater(path.stem), items) for path in files}


def rate(folder: Path, rating: Rating, now: datetime) -> None:
    """Append *rating* to its rater's file, on the disk when this returns; *now* is when it was made.

    Raises InputError for a name, a kind or a reason that cannot stand, and where nothing can be written.
    """
    require_rater(rating.rater)
    if (rating.verdict == "not_supported") != bool(rating.kind) and not rating.withdrawn:
        raise InputError("a claim that is not supported has a kind of failure, another has none")
    reason = " ".join(rating.reason.split())
    if len(reason) > MOST_REASON:
        raise InputError(f"the reason: {MOST_REASON} characters at most")
    at = now.astimezone(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({**asdict(rating), "reason": reason, "at": at}, ensure_ascii=False)
    _append(_path(folder, rating.rater), line.encode("utf-8", "replace") + b"\n")


def withdraw_last(folder: Path, rater: str, items: Collection[str], now: datetime) -> Rating | None:
    """Take back what *rater* said last and return it, None where there is nothing to take back."""
    said = list(ratings_of(folder, rater, items).values())
    if not said:
        return None
    last = said[-1]
    rate(folder, Rating(last.item, last.verdict, rater=rater, withdrawn=True), now)
    return last


def _path(folder: Path, rater: str) -> Path:
    return folder / RATINGS / f"{require_rater(rater)}.jsonl"


def _read(path: Path, rater: str, items: Collection[str]) -> dict[str, Rating]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the folder") from error
    found: dict[str, Rating] = {}
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
        try:
            rating = _RATING.validate_json(line)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"])) or "the line"
            raise InputError(f"{path}, line {number}: {place}: is no rating") from error
        if rating.item not in items or rating.rater != rater:
            message = f"{path}, line {number}: is of another sample or rater: take the file away"
            raise InputError(message)
        found.pop(rating.item, None)
        if not rating.withdrawn:
            found[rating.item] = rating
    return found


def _append(path: Path, line: bytes) -> None:
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with _TURN, os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            whole = file.read().rfind(b"\n") + 1
            file.truncate(whole)
            file.seek(whole)
            try:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                file.truncate(whole)  # what is said not to be kept must not be there
                raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}): nothing was rated"
        ) from error
