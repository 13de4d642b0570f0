"""The commands for keys: list, rotate, retire."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime

from certirag.auditing.rotation import retire, rotate, trust_in_force
from certirag.bootstrap import existing_log
from certirag.cli.output import note, print_json
from certirag.proof.envelope import key_id
from certirag.proof.keys import ROOT_PUBLIC, TRUST_FILE, signing_key
from certirag.proof.trust import Trust
from certirag.render import visible
from certirag.settings import Settings


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
