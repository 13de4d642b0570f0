"""The commands that ask again: under another policy, or because documents have changed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from certirag.answers.services import Services
from certirag.auditing.replay import Replay, replay, replay_log
from certirag.auditing.staleness import (
    Rechecked,
    StaleAnswer,
    digests_of,
    digests_of_files,
    recheck_answers,
    stale_answers,
)
from certirag.bootstrap import (
    build_services,
    existing_log,
    index_of_paths,
    load_policy,
    open_index,
    read_limits,
)
from certirag.cli.output import note, print_json, say_progress
from certirag.cli.query_commands import query_of
from certirag.core.policy import Policy
from certirag.errors import CertificateError, InputError
from certirag.ports import Index
from certirag.proof.certificate import open_export
from certirag.proof.facets import AnswerQuery
from certirag.proof.keys import trusted_keys
from certirag.render import visible
from certirag.settings import Settings


@dataclass(slots=True)
class _Tally:
    """What all replays came to; those that differ are kept only to be printed as JSON."""

    profile: str
    answers: int = 0
    badges: int = 0
    lost: int = 0
    gained: int = 0
    decided_otherwise: int = 0
    revoked: int = 0
    replays: list[Replay] = field(default_factory=list)

    def add(self, one: Replay, *, keep: bool) -> None:
        """Count *one*, and keep it if it differs and *keep* says so."""
        self.answers += 1
        self.badges += one.verified
        self.lost += len(one.lost)
        self.gained += len(one.gained)
        self.decided_otherwise += one.decision != one.becomes
        self.revoked += bool(one.revoked)
        if keep and one.differs:
            self.replays.append(one)

    def line(self) -> str:
        """Return the sum in words."""
        revoked = f" {self.revoked} of them are revoked already." if self.revoked else ""
        return (
            f"{self.answers} answers, {self.badges} badges. Under {self.profile}: {self.lost} "
            f"would be lost, {self.gained} gained; {self.decided_otherwise} answers would be "
            f"decided otherwise.{revoked}"
        )


def replay_answers(options: argparse.Namespace, settings: Settings) -> int:
    """Print what another policy would have shown."""
    if bool(options.files) == bool(options.log):
        raise InputError("replay wants audit exports, or --log for the answers of the log")
    query = query_of(options, now=datetime.now(UTC))
    if options.files and query != AnswerQuery():
        raise InputError("what to ask the log for goes with --log, not with files")
    other = load_policy(options.profile)
    tally = _Tally(other.name)
    replays = (
        _of_log(query, settings, other) if options.log else _of_files(options, settings, other)
    )
    for one in replays:
        tally.add(one, keep=options.json)
        if not options.json:
            _say(one)
    if options.json:
        print_json(asdict(tally))
    else:
        print(visible(tally.line()))
    return 0


def _of_files(options: argparse.Namespace, settings: Settings, other: Policy) -> Iterator[Replay]:
    trusted = trusted_keys(settings.home)
    for path in options.files:
        try:
            data = path.read_bytes()
            record = open_export(data, trusted)
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}): check the path"
            ) from error
        except CertificateError as error:
            raise CertificateError(f"{path}: {error}") from error
        yield replay(record, other)


def _of_log(query: AnswerQuery, settings: Settings, other: Policy) -> Iterator[Replay]:
    log = existing_log(settings)
    return replay_log(log, query, other, trusted_keys(settings.home), say_progress)


def _say(one: Replay) -> None:
    if not one.differs:
        return
    revoked = f"[revoked: {one.revoked}] " if one.revoked else ""
    question = " ".join(one.question[:80].split())
    print(visible(f"{one.trace_id}  {one.decision} → {one.becomes}  {revoked}{question}"))
    for claim in one.lost:
        print(visible(f"  loses  {claim.claim_id}: {claim.text}"))
        print(visible(f"         {claim.reason}"))
    for claim in one.gained:
        print(visible(f"  gains  {claim.claim_id}: {claim.text}"))


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
