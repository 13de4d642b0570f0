"""The commands for keys: list, rotate, retire."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from certirag.auditing.rotation import retire, rotate, trust_in_force
from certirag.bootstrap import existing_log
from certirag.cli.output import note, print_json
from certirag.proof.envelope import key_id
from certirag.proof.keys import ROOT_PUBLIC, TRUST_FILE, signing_key
from certirag.proof.trust import Trust
from certirag.render import visible
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.cli.output import Commands

_DIGITS = 15


def add_commands(commands: Commands) -> None:
    """Add ``list``, ``rotate`` and ``retire`` to ``certirag keys``."""
    listed = commands.add_parser("list", help="the keys of the log and what each signs for")
    listed.set_defaults(run=_list)
    rotated = commands.add_parser("rotate", help="make a new signing key and hand over to it")
    rotated.set_defaults(run=_rotate)
    retired = commands.add_parser("retire", help="end what an old key signs for")
    retired.add_argument("key", metavar="KEYID", help="the beginning of its key id")
    retired.add_argument(
        "--from-index",
        type=_index,
        metavar="N",
        help="the first entry that it may have forged (default: the next one); from there on "
        "nothing that it signed holds any more, its own hand-over included",
    )
    retired.add_argument("--reason", default="retired", metavar="TEXT", help="why")
    retired.set_defaults(run=_retire)
    for parser in (listed, rotated, retired):
        parser.add_argument("--json", action="store_true", help="print one JSON document")


def _list(options: argparse.Namespace, settings: Settings) -> int:
    return _show(trust_in_force(settings.home, existing_log(settings)), options, settings)


def _rotate(options: argparse.Namespace, settings: Settings) -> int:
    trust = rotate(settings.home, existing_log(settings), datetime.now(UTC))
    note(
        "A new key signs from now on. Restart the servers, give the trust file to whoever checks, "
        "then retire the old key."
    )
    return _show(trust, options, settings)


def _retire(options: argparse.Namespace, settings: Settings) -> int:
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


def _index(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: give the number of an entry, from 0")
    return int(text)
