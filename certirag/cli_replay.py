"""The command that replays: what another policy would have shown, of exports or of the whole log."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from certirag.cli_audit_query import add_query_options, query_of
from certirag.cli_say import print_json, say_progress
from certirag.errors import InputError
from certirag.render import visible
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.cli_say import Commands
    from certirag.core.policy import Policy
    from certirag.replaying import Replay


def add_commands(commands: Commands) -> None:
    """Add ``certirag replay``."""
    parser = commands.add_parser(
        "replay",
        help="what another policy would have shown",
        description="Derive every badge again under another policy. Nothing is measured again.",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="audit exports")
    parser.add_argument("--log", action="store_true", help="the answers of the audit log")
    parser.add_argument("--profile", required=True, metavar="NAME", help="the other policy")
    parser.add_argument("--json", action="store_true")
    add_query_options(parser)
    parser.set_defaults(run=_replay)


def _replay(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import load_policy  # noqa: PLC0415  # starts fast

    if bool(options.files) == bool(options.log):
        raise InputError("replay wants audit exports, or --log for the answers of the log")
    other = load_policy(options.profile)
    found = _of_log if options.log else _of_files
    replays = []
    for one in found(options, settings, other):
        replays.append(one)
        if not options.json:
            _say(one)
    if options.json:
        print_json([asdict(one) for one in replays])
    else:
        print(visible(_summary(replays, other.name)))
    return 0


def _of_files(options: argparse.Namespace, settings: Settings, other: Policy) -> Iterator[Replay]:
    from certirag.audit.keys import trusted_keys  # noqa: PLC0415
    from certirag.core.certificate import open_export  # noqa: PLC0415
    from certirag.replaying import replay  # noqa: PLC0415

    trusted = trusted_keys(settings.home)
    for path in options.files:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}): check the path"
            ) from error
        yield replay(open_export(data, trusted), other)


def _of_log(options: argparse.Namespace, settings: Settings, other: Policy) -> Iterator[Replay]:
    from certirag.audit.keys import trusted_keys  # noqa: PLC0415
    from certirag.bootstrap import open_log  # noqa: PLC0415
    from certirag.replaying import replay_log  # noqa: PLC0415

    query = query_of(options, now=datetime.now(UTC))
    trusted = trusted_keys(settings.home)
    return replay_log(open_log(settings), query, other, trusted, say_progress)


def _say(one: Replay) -> None:
    if not one.differs:
        return
    print(visible(f"{one.trace_id}  {one.decision} → {one.becomes}  {one.question[:80]}"))
    for claim in one.lost:
        print(visible(f"  loses  {claim.claim_id}: {claim.text}"))
        print(visible(f"         {claim.reason}"))
    for claim in one.gained:
        print(visible(f"  gains  {claim.claim_id}: {claim.text}"))


def _summary(replays: list[Replay], name: str) -> str:
    badges = sum(one.verified for one in replays)
    lost = sum(len(one.lost) for one in replays)
    gained = sum(len(one.gained) for one in replays)
    changed = sum(one.decision != one.becomes for one in replays)
    return (
        f"{len(replays)} answers, {badges} badges. Under {name}: {lost} would be lost, "
        f"{gained} gained; {changed} answers would be decided otherwise."
    )
