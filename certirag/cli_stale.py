"""The command for answers whose documents have changed: list them, check them again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from certirag.cli_say import note, print_json, say_progress
from certirag.render import visible
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.cli_say import Commands
    from certirag.expiry import Rechecked, StaleAnswer


def add_commands(commands: Commands) -> None:
    """Add ``certirag audit stale``."""
    parser = commands.add_parser("stale", help="answers whose documents have changed since")
    parser.add_argument("--index", required=True, type=Path, metavar="DIR")
    parser.add_argument(
        "--gone", action="store_true", help="also those whose documents the index has no more"
    )
    parser.add_argument(
        "--recheck",
        action="store_true",
        help="measure their claims on today's documents; revoke what fails",
    )
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_stale)


def _stale(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.bootstrap import build_services, open_index  # noqa: PLC0415  # starts fast
    from certirag.expiry import digests_of, recheck_answers, stale_answers  # noqa: PLC0415

    services = build_services(replace(settings, generator="extractive"))
    index = open_index(options.index, services)
    stale = list(stale_answers(services.audit_log, digests_of(index), gone=options.gone))
    if not options.json:
        _say_stale(stale)
    checked: list[Rechecked] = []
    if options.recheck:
        for one in recheck_answers(stale, index, services, say_progress):
            checked.append(one)
            if not options.json:
                print(visible(_line(one)))
    if options.json:
        print_json(
            {"stale": [asdict(one) for one in stale], "checked": [asdict(one) for one in checked]}
        )
    elif stale and not options.recheck:
        note("add --recheck to measure their claims on today's documents")
    return 0


def _say_stale(stale: Sequence[StaleAnswer]) -> None:
    if not stale:
        print("No answer leans on a document that has changed.")
    for one in stale:
        changed = [f"{d.title} changed" for d in one.changed] + [
            f"{d.title} gone" for d in one.gone
        ]
        facets = one.row.facets
        print(visible(f"{facets.trace_id}  {', '.join(changed)}  {facets.question[:80]}"))


def _line(one: Rechecked) -> str:
    if one.lost:
        lost = ", ".join(one.lost)
        return f"{one.trace_id}  revoked: {lost} lost the badge; checked again as {one.renewed}"
    return f"{one.trace_id}  holds: {one.verified} of {one.verified} badges; now {one.renewed}"
