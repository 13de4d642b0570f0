"""The command for answers whose documents have changed: list them, check them again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace

from certirag.answers.services import Services
from certirag.auditing.staleness import (
    Rechecked,
    StaleAnswer,
    digests_of,
    digests_of_files,
    recheck_answers,
    stale_answers,
)
from certirag.bootstrap import build_services, existing_log, index_of_paths, open_index, read_limits
from certirag.cli.output import note, print_json, say_progress
from certirag.errors import InputError
from certirag.ports import Index
from certirag.render import visible
from certirag.settings import Settings


def list_stale(options: argparse.Namespace, settings: Settings) -> int:
    """Print the answers whose documents have changed, and check them again if asked to."""
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
    if options.sources:
        return digests_of_files(options.sources, read_limits(settings))
    return digests_of(index or _opened(options, settings)[1])


def _opened(options: argparse.Namespace, settings: Settings) -> tuple[Services, Index]:
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
