"""The command for answers whose documents have changed: list them, check them again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from certirag.cli.output import note, print_json, say_progress
from certirag.errors import InputError
from certirag.render import visible
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.answers.services import Services
    from certirag.auditing.staleness import Rechecked, StaleAnswer
    from certirag.cli.output import Commands
    from certirag.ports import Index


def add_commands(commands: Commands) -> None:
    """Add ``certirag audit stale``."""
    parser = commands.add_parser("stale", help="answers whose documents have changed since")
    today = parser.add_mutually_exclusive_group(required=True)
    today.add_argument("--index", type=Path, metavar="DIR", help="today's documents, as ingested")
    today.add_argument(
        "--sources", nargs="+", type=Path, metavar="PATH", help="today's documents, as files"
    )
    parser.add_argument(
        "--gone", action="store_true", help="also those whose documents are not among them at all"
    )
    parser.add_argument(
        "--recheck",
        action="store_true",
        help="measure their claims on today's documents; revoke what fails",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=_stale)


def _stale(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.auditing.staleness import stale_answers  # noqa: PLC0415
    from certirag.bootstrap import existing_log  # noqa: PLC0415  # starts fast

    for path in options.sources or ():
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder: check the path")
    log = existing_log(settings)
    settings = replace(settings, generator="extractive")  # nothing is written
    if options.recheck:
        services, index = _opened(options, settings)
        stale = list(stale_answers(log, _today(options, settings, index), gone=options.gone))
        return _recheck(stale, index, services, options)
    stale = list(stale_answers(log, _today(options, settings), gone=options.gone))
    if options.json:
        print_json({"stale": [asdict(one) for one in stale], "checked": []})
        return 0
    _say_stale(stale)
    if stale:
        note("add --recheck to measure their claims on today's documents")
    return 0


def _today(
    options: argparse.Namespace, settings: Settings, index: Index | None = None
) -> dict[str, str]:
    """Return the digests of today's documents; those of files without any model being loaded."""
    from certirag.auditing.staleness import digests_of, digests_of_files  # noqa: PLC0415
    from certirag.bootstrap import read_limits  # noqa: PLC0415

    if options.sources:
        return digests_of_files(options.sources, read_limits(settings))
    return digests_of(index or _opened(options, settings)[1])


def _opened(options: argparse.Namespace, settings: Settings) -> tuple[Services, Index]:
    from certirag.bootstrap import build_services, index_of_paths, open_index  # noqa: PLC0415

    services = build_services(settings)
    if options.sources:
        index, skipped = index_of_paths(options.sources, services, say_progress)
        for line in skipped:
            note(f"skipped {line}")
        return services, index
    return services, open_index(options.index, services)


def _recheck(
    stale: Sequence[StaleAnswer],
    index: Index,
    services: Services,
    options: argparse.Namespace,
) -> int:
    from certirag.auditing.staleness import recheck_answers  # noqa: PLC0415

    if not options.json:
        _say_stale(stale)
    checked: list[Rechecked] = []
    try:
        for one in recheck_answers(stale, index, services, say_progress):
            checked.append(one)
            if not options.json:
                print(visible(_line(one)), flush=True)
    finally:  # what was checked is in the log, whatever stopped the rest
        if options.json:
            print_json(
                {
                    "stale": [asdict(one) for one in stale],
                    "checked": [asdict(one) for one in checked],
                }
            )
    return 0


def _say_stale(stale: Sequence[StaleAnswer]) -> None:
    if not stale:
        print("No answer leans on a document that has changed here.")
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
