"""The commands of retention: audit retain, hold, release and erase."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from certirag.cli.output import note, print_json, say_progress
from certirag.cli.query_commands import add_query_options, query_of
from certirag.errors import InputError
from certirag.proof.facets import MAX_PAGE, AnswerQuery
from certirag.render import visible
from certirag.settings import Settings

if TYPE_CHECKING:  # starts fast
    from certirag.auditing.legal_hold import Acted
    from certirag.auditing.retain import Retained, Retention
    from certirag.cli.output import Commands
    from certirag.ports import AuditLog

_FATES = {
    "archive": "archive",
    "erase": "erase",
    "held": "kept by a hold",
    "waiting": "waiting for an authoriser",
    "unknown": "under a policy that is not known here, kept",
    "ahead": "written at a time that has not come, kept",
}


def add_commands(commands: Commands) -> None:
    """Add ``retain``, ``hold``, ``release`` and ``erase`` to those of ``certirag audit``."""
    retain = commands.add_parser("retain", help="archive and erase what is due")
    retain.add_argument("--dry-run", action="store_true", help="say what is due and do nothing")
    retain.add_argument("--now", metavar="TIME", help="with --dry-run: as if it were then")
    retain.add_argument("--rule", default="", metavar="POLICY", help="what --authoriser is for")
    _add_authorisation(retain)
    retain.set_defaults(run=_retain)

    hold = commands.add_parser("hold", help="keep answers from being erased")
    hold.add_argument("name", metavar="NAME")
    hold.add_argument(
        "--trace", nargs="+", default=[], metavar="ID", help="answers or requests, by their ids"
    )
    hold.add_argument(
        "--entries", nargs="+", default=[], metavar="FIRST-LAST", help="entries of the log"
    )
    add_query_options(hold)
    hold.add_argument("--authoriser", default="", metavar="NAME")
    hold.add_argument("--json", action="store_true")
    hold.set_defaults(run=_hold)

    release = commands.add_parser("release", help="end a hold")
    release.add_argument("name", metavar="NAME")
    release.add_argument("--authoriser", default="", metavar="NAME")
    release.add_argument("--json", action="store_true")
    release.set_defaults(run=_release)

    erase = commands.add_parser("erase", help="erase an answer and its request, as a person asks")
    erase.add_argument("trace_id", metavar="TRACE_ID")
    _add_authorisation(erase)
    erase.set_defaults(run=_erase)


def _add_authorisation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--authoriser", default="", metavar="NAME", help="who answers for it")
    parser.add_argument("--justification", default="", metavar="TEXT", help="why")
    parser.add_argument("--json", action="store_true")


def _retain(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.auditing.legal_hold import authorisation_of  # noqa: PLC0415  # starts fast
    from certirag.auditing.retain import retain  # noqa: PLC0415

    if options.now and not options.dry_run:
        raise InputError("--now is for --dry-run: what is erased goes by the clock")
    report = retain(
        _retention(settings),
        _time(options.now) if options.now else datetime.now(UTC),
        authorisation=authorisation_of(options.authoriser, options.justification),
        rule=options.rule,
        dry_run=options.dry_run,
        progress=say_progress,
    )
    if options.json:
        print_json(asdict(report))
    else:
        for line in _lines(report):
            print(visible(line))
    if not options.dry_run:
        _say_remains(settings)
    return 0


def _lines(report: Retained) -> Iterator[str]:
    """Yield what a run did, or would do, in words."""
    told = False
    for rule, fates in sorted(report.rules.items()):
        for fate, words in _FATES.items():
            tally = fates[fate]
            if tally.entries:
                told = True
                would = "to " if report.dry_run and fate in {"archive", "erase"} else ""
                done = {"archive": "archived", "erase": "erased"}.get(fate, words)
                yield f"{rule}: {would}{words if would else done}: {tally.entries}, oldest {tally.oldest}"
    if not told:
        yield "Nothing is due."
    if report.mended:
        yield f"archived files written again or deleted: {report.mended}"
    for name in report.foreign:
        yield f"the archive holds a file of another log, left alone: {name}.jsonl"
    if report.acts:
        yield "recorded in the log as entries " + ", ".join(map(str, report.acts))


def _hold(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.auditing.legal_hold import (  # noqa: PLC0415
        authorisation_of,
        hold,
        related,
    )

    log = _retention(settings).log
    names = {*options.trace, *_asked_for(options, log)}
    indexes = {leaf.index for leaf in related(log, names)} if names else set()
    for words in options.entries:
        indexes |= _entries(words, log.size())
    by = authorisation_of(options.authoriser, "").name
    done = hold(log, options.name, sorted(indexes), datetime.now(UTC), by)
    return _say(done, options, f"held under {options.name!r}")


def _asked_for(options: argparse.Namespace, log: AuditLog) -> Iterator[str]:
    """Yield the trace ids of the answers that the options of a query ask for."""
    asked = replace(query_of(options, now=datetime.now(UTC)), parts=True)
    if asked == AnswerQuery(parts=True):
        return
    after = None
    while True:
        page = log.search(asked, after=after, limit=MAX_PAGE)
        for row in page.rows:
            yield row.facets.trace_id
        after = page.after
        if after is None:
            return


def _entries(words: str, size: int) -> set[int]:
    first, dash, last = words.partition("-")
    ends = (first, last if dash else first)
    if not all(end.isascii() and end.isdigit() and len(end) <= 15 for end in ends):
        raise InputError(f"--entries {words[:80]!r}: give entries as FIRST-LAST, as in 12-40")
    if not int(ends[0]) <= int(ends[1]) < size:
        raise InputError(f"--entries {words[:80]!r}: the log has the entries 0 to {size - 1}")
    return set(range(int(ends[0]), int(ends[1]) + 1))


def _release(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.auditing.legal_hold import authorisation_of, release  # noqa: PLC0415

    by = authorisation_of(options.authoriser, "").name
    done = release(_retention(settings).log, options.name, datetime.now(UTC), by)
    return _say(done, options, f"released from {options.name!r}")


def _erase(options: argparse.Namespace, settings: Settings) -> int:
    from certirag.auditing.legal_hold import authorisation_of, erase_on_request  # noqa: PLC0415

    given = authorisation_of(options.authoriser, options.justification)
    done = erase_on_request(_retention(settings), options.trace_id, given, datetime.now(UTC))
    if not done.entries:
        note("its contents were erased before")
    _say_remains(settings)
    return _say(done, options, "erased")


def _say_remains(settings: Settings) -> None:
    """Say what an erasure leaves behind that only the owner of a database can take away."""
    if settings.audit_url and not settings.audit_url.startswith("sqlite"):
        note(
            "On PostgreSQL run 'certirag audit scrub' as the owner of the tables if this role is "
            "another; its write-ahead log, archives and backups are the operator's."
        )


def _say(done: Acted, options: argparse.Namespace, what: str) -> int:
    if options.json:
        print_json(asdict(done))
    else:
        acts = ", ".join(map(str, done.acts)) or "none"
        print(visible(f"{what}: {done.entries} entries; recorded in the log as entries {acts}"))
    return 0


def _retention(settings: Settings) -> Retention:
    from certirag.auditing.retain import Retention  # noqa: PLC0415
    from certirag.bootstrap import existing_log  # noqa: PLC0415
    from certirag.proof.retention_files import known_policies  # noqa: PLC0415

    return Retention.at(settings.home, existing_log(settings), known_policies(settings.home))


def _time(text: str) -> datetime:
    """Return a time in UTC; one without a zone is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"--now {text[:80]!r}: give a time as in 2026-03-01 or 2026-03-01T12:00:00Z"
        ) from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
