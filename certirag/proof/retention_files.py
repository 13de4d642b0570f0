"""Retention policies as TOML files: those that ship, and the user's own.

What an entry was written under must stay what it was. A shipped policy never changes under its
name. A policy of the user's is named by its words and the digest of its file, and a copy of that
file is kept beside the log: a changed file is another policy, and binds what is written from then on.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from certirag.errors import InputError
from certirag.proof.retention import Period, RetentionPolicy, after
from certirag.settings import ASSETS

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_KEPT: Final = re.compile(r"([a-z][a-z0-9_]{0,39})-([0-9a-f]{16})")
_PART: Final = re.compile(r"(0|[1-9][0-9]{0,4}) (day|month|year)s?")
_KEYS: Final = {
    "name": str,
    "archive_after": str,
    "delete_after": str,
    "keep_at_least": str,
    "authoriser": str,
    "officers": list,
    "justification": bool,
}
_REQUIRED: Final = ("name", "archive_after", "delete_after")
_MAX_BYTES: Final = 65_536
_SOME_DAY: Final = datetime(2001, 1, 1, tzinfo=UTC)


def shipped_names() -> tuple[str, ...]:
    """Return the names of the policies that ship."""
    return tuple(sorted(path.stem for path in (ASSETS / "retention").glob("*.toml")))


def retention_in_force(setting: str, home: Path) -> RetentionPolicy:
    """Return the policy that *setting* names, for what is written from now on.

    *setting* is the name of a policy that ships, or the path of a file. A file is copied below
    *home*, under the name that its entries bear, before anything is written under it. Raises
    InputError naming the file or the name.
    """
    if setting in shipped_names():
        return _read(ASSETS / "retention" / f"{setting}.toml")[0]
    path = Path(setting).expanduser()
    if not path.is_file():
        names = ", ".join(shipped_names())
        raise InputError(
            f"{setting[:200]!r} is no retention policy: give one of {names}, or the path of a file"
        )
    policy, data = _read(path)
    policy = _named_by(policy, data)
    _keep(home / "retention", f"{policy.name}.toml", data)
    return policy


def known_policies(home: Path) -> dict[str, RetentionPolicy]:
    """Return every policy that entries may have been written under, by the name that they bear.

    Raises InputError for a copy below *home* that is not what it was.
    """
    shipped = [_read(ASSETS / "retention" / f"{name}.toml")[0] for name in shipped_names()]
    known = {policy.name: policy for policy in shipped}
    for path in sorted((home / "retention").glob("*.toml")):
        policy, data = _read(path)
        policy = _named_by(policy, data)
        if policy.name != path.stem:
            raise InputError(
                f"{path}: has changed since entries were written under it: put the old file back"
            )
        known[policy.name] = policy
    return known


def _named_by(policy: RetentionPolicy, data: bytes) -> RetentionPolicy:
    name = f"{policy.name}-{hashlib.sha256(data).hexdigest()[:16]}"
    return RetentionPolicy(
        name,
        policy.archive_after,
        policy.delete_after,
        policy.keep_at_least,
        policy.authoriser,
        policy.officers,
        policy.justification,
    )


def _read(path: Path) -> tuple[RetentionPolicy, bytes]:
    """Return the policy of a file and the file's bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise InputError(f"{path}: too large for a retention policy")
        values = tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: is no retention policy, not TOML in UTF-8: {reason}") from error
    return _policy(values, path), data


def _policy(values: Mapping[str, Any], path: Path) -> RetentionPolicy:
    for key, value in values.items():
        if key not in _KEYS:
            names = ", ".join(_KEYS)
            raise InputError(f"{path}: {key[:80]!r} is no key of a retention policy, use {names}")
        if type(value) is not _KEYS[key]:
            raise InputError(f"{path}: {key!r} must be a {_KEYS[key].__name__}")
    for key in _REQUIRED:
        if key not in values:
            raise InputError(f"{path}: {key!r} is missing")
    if not _NAME.fullmatch(values["name"]):
        raise InputError(
            f"{path}: 'name' must be a lower-case letter, then letters, digits or _, 40 at most"
        )
    policy = RetentionPolicy(
        values["name"],
        _period(values["archive_after"], "archive_after", path),
        _period(values["delete_after"], "delete_after", path),
        _period(values.get("keep_at_least", "0 days"), "keep_at_least", path) or Period(),
        _staff(values.get("authoriser", ""), "authoriser", path),
        tuple(_staff(name, "officers", path) for name in values.get("officers", [])),
        values.get("justification", False),
    )
    _check_order(policy, values, path)
    return policy


def _check_order(policy: RetentionPolicy, values: Mapping[str, Any], path: Path) -> None:
    """Refuse a policy whose parts contradict each other."""
    if values.get("keep_at_least") == "never":
        raise InputError(f"{path}: 'keep_at_least' must be a length of time, as in '6 years'")
    if policy.delete_after is not None:
        deleted = after(_SOME_DAY, policy.delete_after)
        if deleted <= _SOME_DAY:
            raise InputError(f"{path}: 'delete_after' must be at least one day")
        if deleted < after(_SOME_DAY, policy.keep_at_least):
            raise InputError(f"{path}: 'delete_after' is shorter than 'keep_at_least'")
        if policy.archive_after is not None and after(_SOME_DAY, policy.archive_after) > deleted:
            raise InputError(f"{path}: 'archive_after' is longer than 'delete_after'")
    if policy.officers and not policy.authoriser:
        raise InputError(f"{path}: 'officers' needs 'authoriser', the role that they hold")


def _period(text: str, key: str, path: Path) -> Period | None:
    """Return the period of as in ``6 years 30 days``, None for ``never``."""
    if text == "never":
        return None
    words = text.split(" ")
    parts = [_PART.fullmatch(" ".join(words[i : i + 2])) for i in range(0, len(words), 2)]
    lengths = {part[2]: int(part[1]) for part in parts if part}
    if None in parts or len(lengths) != len(parts):
        raise InputError(
            f"{path}: {key!r} is {text[:80]!r}: write it as '90 days', '7 years', "
            "'1 year 6 months' or 'never'"
        )
    return Period(lengths.get("year", 0), lengths.get("month", 0), lengths.get("day", 0))


def _staff(text: object, key: str, path: Path) -> str:
    if not isinstance(text, str) or not text.isprintable() or len(text) > 80:
        raise InputError(f"{path}: {key!r} must be plain text of at most 80 characters")
    return text.strip()


def _keep(folder: Path, name: str, data: bytes) -> None:
    """Keep a copy, whole or not at all; one that is there is the same, its name is its digest."""
    target = folder / name
    temporary = folder / f".{name}.{os.getpid()}.tmp"
    try:
        if target.is_file() and target.read_bytes() == data:
            return
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"{target}: the policy cannot be kept ({error.strerror})") from error
    finally:
        temporary.unlink(missing_ok=True)
