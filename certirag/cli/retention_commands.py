"""The commands of retention: audit retain, hold, release and erase."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime

from certirag.auditing.legal_hold import (
    Acted,
    authorisation_of,
    erase_on_request,
    hold,
    related,
    release,
)
from certirag.auditing.retain import Retained, Retention, retain
from certirag.bootstrap import existing_log
from certirag.cli.output import note, print_json, say_progress
from certirag.cli.query_commands import query_of
from certirag.errors import InputError
from certirag.ports import AuditLog
from certirag.proof.facets import MAX_PAGE, AnswerQuery
from certirag.proof.retention_files import known_policies
from certirag.render import visible
from certirag.settings import Settings

_FATES = {
    "archive": "archive",
    "erase": "erase",
    "held": "kept by a hold",
    "waiting": "waiting for an authoriser",
    "unknown": "under a policy that is not known here, kept",
    "ahead": "written at a time that has not come, kept",
}


def retain_due(options: argparse.Namespace, settings: Settings) -> int:
    """Archive and erase what is due, or say what would be."""
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


def hold_answers(options: argparse.Namespace, settings: Settings) -> int:
    """Keep answers from being erased."""
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


def release_hold(options: argparse.Namespace, settings: Settings) -> int:
    """End a hold."""
    by = authorisation_of(options.authoriser, "").name
    done = release(_retention(settings).log, options.name, datetime.now(UTC), by)
    return _say(done, options, f"released from {options.name!r}")


def erase_answer(options: argparse.Namespace, settings: Settings) -> int:
    """Erase an answer and its request."""
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
