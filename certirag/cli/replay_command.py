"""The command that replays: what another policy would have shown, of exports or of the whole log."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from certirag.auditing.replay import Replay, replay, replay_log
from certirag.bootstrap import existing_log, load_policy
from certirag.cli.output import print_json, say_progress
from certirag.cli.query_commands import query_of
from certirag.core.policy import Policy
from certirag.errors import CertificateError, InputError
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
