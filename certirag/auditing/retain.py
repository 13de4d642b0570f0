"""Retention over a log: what is due is archived and erased, and each act is an entry of the log.

The act is in the log before anything is gone, and the log's part of an erasure is one transaction.
What archived files still hold of erased entries goes next; a run that is cut off between the two
is finished by the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from certirag.auditing.archive_files import ArchiveFolder, Written, archived_line
from certirag.errors import InputError
from certirag.ports import AuditLog, NewEntry, Progress
from certirag.proof.log import LogProof, parse_leaf
from certirag.proof.retention import (
    FATES,
    Acts,
    Authorisation,
    Due,
    RetentionPolicy,
    Span,
    due,
    indexes_of,
    lacks,
    read_leaf,
    spans_before,
    spans_of,
)

_WINDOW: Final = 4_096  # leaves read at once
# Contents of one act. A file of the archive should be quick to write again; after an erasure the
# log's file is written anew, which should be seldom.
_BATCH: Final = {"archive": 2_000, "erase": 100_000}
_ACT: Final = re.compile(r'"kind":"(?:archive|erase|hold|release)"')
SPANS_OF_AN_ACT: Final = 2_000  # spans of entries in one act's leaf


@runtime_checkable
class Scrubbing(Protocol):
    """A log that can be cut off between an erasure and the last bytes of what it erased."""

    @property
    def is_scrubbed(self) -> bool: ...

    def scrub(self) -> None: ...


@dataclass(slots=True)
class RetentionTally:
    """How many entries share a fate, and the time of the oldest ("": there is none)."""

    entries: int = 0
    oldest: str = ""

    def add(self, entries: int, oldest: str) -> None:
        """Count more of them."""
        self.entries += entries
        self.oldest = min(filter(None, (self.oldest, oldest)), default="")


@dataclass(slots=True)
class Retained:
    """What a run did, or what it would do: tallies by policy and fate, the acts' entries.

    *mended* counts archived files that were written again or deleted, *foreign* names files of
    the archive that this log did not write and that were left alone.
    """

    now: str
    dry_run: bool
    rules: dict[str, dict[str, RetentionTally]] = field(default_factory=dict)
    acts: list[int] = field(default_factory=list)
    mended: int = 0
    foreign: list[str] = field(default_factory=list)

    def take(self, found: Due) -> None:
        """Count what is due of a window."""
        for fate in FATES:
            for rule, entries in getattr(found, fate).items():
                of = self.rules.setdefault(rule, {name: RetentionTally() for name in FATES})
                of[fate].add(len(entries.indexes), entries.oldest)


@dataclass(frozen=True, slots=True)
class Retention:
    """A log with what retention needs beside it: its policies by name, and its archive."""

    log: AuditLog
    policies: Mapping[str, RetentionPolicy]
    archive: ArchiveFolder

    @classmethod
    def at(cls, home: Path, log: AuditLog, policies: Mapping[str, RetentionPolicy]) -> Retention:
        """Return the retention of the log whose archive stands below *home*."""
        return cls(log, policies, ArchiveFolder(home / "archive"))


def retain(
    of: Retention,
    now: datetime,
    *,
    authorisation: Authorisation = Authorisation(),  # noqa: B008  # frozen
    rule: str = "",
    dry_run: bool = False,
    progress: Progress = lambda *_: None,
) -> Retained:
    """Archive and erase what is due, or with *dry_run* say what is; see `audit.retention.due`.

    *authorisation* is for the deletions of one policy, *rule*, which may be left out when one
    policy alone waits for it. Done twice it does nothing the second time. It can be interrupted
    at any moment. Raises InputError for an authorisation that is not what the policy asks for,
    AuditError when the log or the archive refuses.
    """
    if dry_run:
        acts = read_acts(of.log)
        allowed = _authorised(of, acts, now, authorisation, rule)
        report = Retained(now.isoformat(), dry_run=True)
        for found in _windows(of, acts, now, allowed, progress):
            report.take(found)
        return report
    with of.archive.locked():
        report = Retained(now.isoformat(), dry_run=False)
        acts = read_acts(of.log)
        allowed = _authorised(of, acts, now, authorisation, rule)
        run = Run(of, acts, now, authorisation, allowed, report)
        run.mend()
        try:
            for found in _windows(of, acts, now, allowed, progress):
                report.take(found)
                run.take(found)
            run.finish()
        finally:
            run.mend()
    return report


@dataclass(slots=True)
class Run:
    """The acts of one run; contents wait until there are enough for one act."""

    of: Retention
    acts: Acts
    now: datetime
    authorisation: Authorisation
    allowed: frozenset[str]
    report: Retained
    waiting: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def take(self, found: Due) -> None:
        for what, due_now in (("archive", found.archive), ("erase", found.erase)):
            for rule, entries in due_now.items():
                pending = self.waiting.setdefault((what, rule), [])
                pending += entries.indexes
                for batch in _full_batches(pending, _BATCH[what]):
                    self._act(what, rule, batch)

    def finish(self) -> None:
        for (what, rule), pending in self.waiting.items():
            for batch in (*_full_batches(pending, _BATCH[what]), pending):
                if batch:
                    self._act(what, rule, batch)
        self.waiting.clear()

    def _act(self, what: str, rule: str, indexes: Sequence[int]) -> None:
        if what == "archive":
            proof = _archive(self.of, rule, indexes, self.now)
        else:
            named = self.authorisation if rule in self.allowed else Authorisation()
            proof = _erase(self.of.log, rule, indexes, self.now, named)
        if proof is not None:
            self.report.acts.append(parse_leaf(proof.leaf).index)

    def mend(self) -> None:
        """Finish what a run left behind: erased bytes in files of the log and of the archive."""
        log = self.of.log
        if isinstance(log, Scrubbing) and not log.is_scrubbed:
            log.scrub()
        read_acts(self.of.log, self.acts)
        mended, acts, foreign = _mend(self.of, self.acts, self.now)
        self.report.mended += mended
        self.report.acts += acts
        self.report.foreign = foreign


def _full_batches(pending: list[int], entries: int) -> Iterator[list[int]]:
    """Take batches out of *pending* while it has more than one act should name."""
    while len(pending) >= entries or len(spans_of(pending)) >= SPANS_OF_AN_ACT:
        cut = min(entries, spans_before(pending, SPANS_OF_AN_ACT))
        batch = pending[:cut]
        del pending[:cut]
        yield batch


def read_acts(log: AuditLog, acts: Acts | None = None) -> Acts:
    """Return what the acts of *log* did; *acts* are those read before, and are read on."""
    acts = Acts() if acts is None else acts
    for index, leaf in enumerate(log.leaves(acts.size), start=acts.size):
        if _ACT.search(leaf):  # few are, and a leaf is written in one way
            acts.add(read_leaf(leaf))
        acts.size = index + 1
    return acts


def _windows(
    of: Retention, acts: Acts, now: datetime, allowed: frozenset[str], progress: Progress
) -> Iterator[Due]:
    """Yield what is due, some thousand entries at a time; nothing of the log is open meanwhile."""
    size = of.log.size()
    clock = Due().clock
    for start in range(0, size, _WINDOW):
        stop = min(start + _WINDOW, size)
        progress("Reading what is due", start, size)
        leaves = [read_leaf(leaf) for leaf in of.log.leaves(start, stop)]
        found = due(leaves, of.policies, acts, now, authorised=allowed, clock=clock)
        clock = found.clock
        yield found
    progress("Reading what is due", size, size)


def _authorised(
    of: Retention, acts: Acts, now: datetime, given: Authorisation, rule: str
) -> frozenset[str]:
    """Return the policy that *given* authorises deletions of; InputError when it cannot."""
    if rule and rule not in of.policies:
        names = ", ".join(sorted(of.policies))
        raise InputError(f"{rule[:80]!r} is no retention policy that is known here: {names}")
    if not given.name and not given.justification:
        return frozenset()
    if not rule:
        report = Retained("", dry_run=True)
        for found in _windows(of, acts, now, frozenset(), lambda *_: None):
            report.take(found)
        asking = sorted(name for name, fates in report.rules.items() if fates["waiting"].entries)
        if not asking:
            return frozenset()
        if len(asking) > 1:
            raise InputError(
                f"{' and '.join(asking)} wait for an authoriser: name one with --rule, "
                "for nobody authorises by accident"
            )
        rule = asking[0]
    missing = lacks(of.policies[rule], given)
    if missing:
        raise InputError(f"{rule} needs {missing}: give --authoriser and --justification")
    return frozenset({rule})


def _archive(of: Retention, rule: str, indexes: Sequence[int], now: datetime) -> LogProof | None:
    """Copy the contents of *indexes* to a file, then log that; None when all are gone already."""

    def lines() -> Iterator[tuple[int, bytes]]:
        for first, last in spans_of(indexes):
            for index, entry in enumerate(of.log.entries(first, last + 1), start=first):
                if entry.content is not None:
                    yield index, archived_line(entry, of.log.proof(index))

    written = of.archive.write(lines())
    return None if written is None else _log_archive(of.log, rule, written, now)


def _log_archive(
    log: AuditLog, rule: str, written: Written, now: datetime, replaces: str = ""
) -> LogProof:
    detail = _detail(spans_of(written.indexes), rule, Authorisation())
    detail["file"] = written.sha256
    if replaces:
        detail["replaces"] = replaces
    return log.append(NewEntry("archive", "", now, detail=detail))


def _erase(
    log: AuditLog, rule: str, indexes: Sequence[int], now: datetime, given: Authorisation
) -> LogProof:
    act = NewEntry("erase", "", now, detail=_detail(spans_of(indexes), rule, given))
    return log.erase(act, indexes)


def _detail(spans: Sequence[Span], rule: str, given: Authorisation) -> dict[str, Any]:
    return {
        "targets": [list(span) for span in spans],
        "rule": rule,
        "authoriser": given.name,
        "justification": given.justification,
    }


def _mend(of: Retention, acts: Acts, now: datetime) -> tuple[int, list[int], list[str]]:
    """Make the archive agree with the log: return the files changed, the acts, foreign files.

    A file that holds erased entries is written again without them, and logged, before it is
    deleted. One that no act tells of is a copy that a run did not come to log: what it holds is
    in the log's contents, or erased.
    """
    of.archive.sweep()
    mended, logged, foreign = 0, [], []
    for name in of.archive.names():
        if name not in acts.files:
            if any(leaf.origin != of.log.origin for leaf in of.archive.leaves(name)):
                foreign.append(name)
                continue
            of.archive.remove(name)
            mended += 1
            continue
        rule, spans = acts.files[name]
        if not any(acts.erased(index) for index in indexes_of(spans)):
            continue
        written = of.archive.write_without(name, acts.erased)
        if written is not None and written.sha256 not in acts.files:
            proof = _log_archive(of.log, rule, written, now, replaces=name)
            logged.append(parse_leaf(proof.leaf).index)
            read_acts(of.log, acts)
        of.archive.remove(name)
        mended += 1
    return mended, logged, foreign
