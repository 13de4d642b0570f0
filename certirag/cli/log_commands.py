"""The commands for the log itself: whether it is whole, its checkpoints, its keys and its database."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.auditing.rotation import retire, rotate, trust_in_force
from certirag.auditing.verify_live import verify_live
from certirag.auditing.verify_log import LogReport
from certirag.bootstrap import existing_log, grant_role, scrub_log
from certirag.cli.files import write_beside
from certirag.cli.output import note, print_json, say_progress
from certirag.errors import InputError
from certirag.proof.envelope import key_id
from certirag.proof.keys import (
    ROOT_PUBLIC,
    TRUST_FILE,
    open_trust_file,
    read_public_key,
    signing_key,
    trusted_keys,
)
from certirag.proof.trust import Trust
from certirag.render import visible
from certirag.settings import Settings

_REMAINS = (
    "The server's write-ahead log, archives of it, replicas, backups and its own messages may "
    "hold erased contents still: see docs/postgresql.md"
)


def grant(options: argparse.Namespace, settings: Settings) -> int:
    """Let a role of PostgreSQL use the log."""
    if not settings.audit_url:
        raise InputError(
            "roles are PostgreSQL's: set CERTIRAG_AUDIT_URL to "
            "postgresql+pg8000://OWNER@HOST/DATABASE"
        )
    grant_role(settings, options.role, erases=options.retention)
    may = "read, append and erase contents" if options.retention else "read and append"
    print(visible(f"The role {options.role!r} may {may}, and nothing else."))
    return 0


def scrub(_options: argparse.Namespace, settings: Settings) -> int:
    """Take what was erased out of the database's files."""
    path = settings.home / "audit.sqlite3"
    if not settings.audit_url and not path.exists():
        raise InputError(f"{path}: there is no log: set CERTIRAG_HOME or CERTIRAG_AUDIT_URL")
    scrub_log(settings)
    print("The files of the log's tables hold nothing of what was erased.")
    if settings.audit_url and not settings.audit_url.startswith("sqlite"):
        note(_REMAINS)
    return 0


def list_keys(options: argparse.Namespace, settings: Settings) -> int:
    """Print the keys of the log."""
    return _show(trust_in_force(settings.home, existing_log(settings)), options, settings)


def rotate_key(options: argparse.Namespace, settings: Settings) -> int:
    """Make a new signing key."""
    trust = rotate(settings.home, existing_log(settings), datetime.now(UTC))
    note(
        "A new key signs from now on. Restart the servers, give the trust file to whoever checks, "
        "then retire the old key."
    )
    return _show(trust, options, settings)


def retire_key(options: argparse.Namespace, settings: Settings) -> int:
    """End what a key signs for."""
    trust = retire(
        settings.home,
        existing_log(settings),
        options.key,
        datetime.now(UTC),
        until=options.from_index,
        reason=options.reason,
    )
    return _show(trust, options, settings)


def _show(trust: Trust, options: argparse.Namespace, settings: Settings) -> int:
    in_use = key_id(signing_key(settings.home).public_key())
    folder = settings.home / "keys"
    if options.json:
        files = {"trust_file": str(folder / TRUST_FILE), "root_key": str(folder / ROOT_PUBLIC)}
        print_json({**asdict(trust), "in_use": in_use, **files})
        return 0
    print(visible(f"Log {trust.origin}, trust file version {trust.version}"))
    for one in trust.keys:
        end = "" if one.until_index is None else f" before {one.until_index}: {one.reason}"
        mark = ", in use" if one.keyid == in_use else ""
        print(visible(f"{one.keyid}  entries from {one.from_index}{end}{mark}"))
    print(visible(f"For whoever checks: {folder / TRUST_FILE} and {folder / ROOT_PUBLIC}"))
    return 0


CHECK_FAILED = 4
_NOT_HELD = (
    "No checkpoint was given that you held yourself. What cannot be known without one: whether "
    "the log was cut back to an earlier state of its own, and whether it was written anew by "
    "whoever has its key. Keep one with: certirag audit checkpoint --out FILE"
)
_HELD = (
    "Entries up to the newest checkpoint that you held are those of then. "
    "What came after it has the log's own word only."
)
_BROKEN = "The log is not the one that its checkpoints speak of, or holds what it may not hold."


def verify_log(options: argparse.Namespace, settings: Settings) -> int:
    """Verify the log; 0 when nothing speaks against it, else 4."""
    if not 0 <= options.grace <= 60 * 24 * 366:
        raise InputError(f"--grace {options.grace}: give minutes, from 0 to a year")
    held = [text for path in options.checkpoint for text in read_checkpoints(path)]
    log = existing_log(settings)
    report = verify_live(
        log,
        _keys(options, settings),
        held=held,
        grace=timedelta(minutes=options.grace),
        derived=not options.entries_only,
        progress=say_progress,
    )
    if options.json:
        print_json({"intact": report.intact, **asdict(report), "limits": _limits(report)})
    else:
        print("\n".join(visible(line) for line in report_lines(report)))
    return 0 if report.intact else CHECK_FAILED


def print_checkpoint(options: argparse.Namespace, settings: Settings) -> int:
    """Print the newest checkpoint, or add it to a file unless it is there."""
    text = existing_log(settings).checkpoint()
    if options.out is None:
        print(text, end="")
        return 0
    kept = read_checkpoints(options.out) if options.out.exists() else []
    if text not in kept:
        kept.append(text)
        write_beside(options.out, ["\n".join(kept).encode("utf-8")])
    note(f"{options.out}: {len(kept)} checkpoints, the newest of {text.split(chr(10))[1]} entries")
    return 0


def read_checkpoints(path: Path) -> list[str]:
    """Return the signed notes of a file, one after the other, parted by an empty line.

    A note has an empty line of its own before its signature, so it ends with the signature's
    line. Raises InputError naming the file when it is no such file or holds none.
    """
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as checkpoints: {error}") from error
    notes: list[str] = []
    begun: list[str] = []
    for line in lines:
        if not begun and not line:
            continue
        begun.append(line)
        if line.startswith("\N{EM DASH} "):
            notes.append("\n".join(begun) + "\n")
            begun = []
    if begun or not notes:
        raise InputError(
            f"{path}: holds no whole checkpoint: give what 'certirag audit checkpoint' printed"
        )
    return notes


def report_lines(report: LogReport) -> list[str]:
    """Return the report in plain words, for a person."""
    state = "INTACT" if report.intact else "BROKEN"
    lines = [f"{state}: {report.origin or 'a log without a name'}, {report.size} entries"]
    lines.append(f"root {report.root}")
    lines += [f"  {count} {kind}" for kind, count in sorted(report.kinds.items())]
    lines.append(
        f"{report.erased} contents erased, {len(report.revoked)} answers revoked, "
        f"{report.held} held checkpoints compared"
    )
    lines += [f"fault: {line}" for line in report.faults]
    if report.more_faults:
        lines.append(f"and {report.more_faults} more faults")
    lines += [f"note: {line}" for line in report.notes]
    lines += [
        f"vanished: request {name} was received and has neither an answer nor a failure"
        for name in report.vanished
    ]
    if report.under_way:
        lines.append(f"{len(report.under_way)} requests may be under way still")
    return [*lines, _limits(report)]


def _limits(report: LogReport) -> str:
    if not report.held:
        return _NOT_HELD
    return _HELD if report.intact else _BROKEN


def _keys(options: argparse.Namespace, settings: Settings) -> Mapping[str, Ed25519PublicKey]:
    if (options.trust is None) != (options.root is None):
        raise InputError("--trust and --root belong together: give the file and its root key")
    if options.trust is not None:
        if options.public_key is not None:
            raise InputError("give --public-key, or --trust with --root, not both")
        return open_trust_file(options.trust, options.root).ring()
    if options.public_key is not None:
        key = read_public_key(options.public_key)
        return {key_id(key): key}
    trusted = trusted_keys(settings.home)
    if not trusted:
        raise InputError(
            f"no public key is trusted in {settings.home / 'keys'}: name one with --public-key"
        )
    return trusted
