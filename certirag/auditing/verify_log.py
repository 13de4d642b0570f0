"""Verify a whole log: every leaf, every content, the tree, and the checkpoints that are held.

The entries stream by once. What is kept is the tree's peaks, one byte an entry, and what is open
(`log_acts.Account`), so a log of any length can be verified. Without a checkpoint that was held
elsewhere, a log that was cut back to an earlier state, or written anew by whoever has its key,
looks whole (docs/log.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.auditing.log_acts import Account, Range
from certirag.errors import CertificateError
from certirag.ports import LogEntry, Progress
from certirag.proof.countersignature import REVIEW_TYPE, require_signed_review
from certirag.proof.envelope import envelope_of, verified_payload
from certirag.proof.log import (
    SALT_BYTES,
    Checkpoint,
    Leaf,
    commitment,
    open_checkpoint,
    parse_leaf,
)
from certirag.proof.merkle import completed_nodes, leaf_hash, root_hash
from certirag.proof.trust import require_in_range

MAX_FAULTS: Final = 20
GRACE: Final = timedelta(minutes=15)
_STEP: Final = 5_000
_WITH_CONTENT: Final = frozenset({"received", "answer", "escalate", "review"})


@dataclass(frozen=True, slots=True)
class LogReport:
    """What a log was found to be; *faults* are the first of them, *more_faults* counts the rest.

    *held* counts the held checkpoints that were compared. *vanished* are ids of requests that
    were received and have neither a whole answer nor a failure after them, *under_way* the same
    within the grace before the newest entry. *erased* counts contents, *erased_answers* those of
    answers, *revoked* gives the reason by entry, *holds* the ranges by name, *notes* are worth knowing and no fault.
    """

    origin: str
    size: int
    root: str
    kinds: Mapping[str, int]
    erased: int
    erased_answers: int
    revoked: Mapping[int, str]
    holds: Mapping[str, tuple[Range, ...]]
    vanished: tuple[str, ...]
    under_way: tuple[str, ...]
    held: int
    faults: tuple[str, ...]
    more_faults: int
    notes: tuple[str, ...]

    @property
    def intact(self) -> bool:
        """Nothing speaks against the log."""
        return not self.faults


def verify_log(
    entries: Iterable[LogEntry],
    *,
    checkpoint: str,
    keys: Mapping[str, Ed25519PublicKey],
    held: Sequence[str] = (),
    origin: str = "",
    grace: timedelta = GRACE,
    progress: Progress | None = None,
) -> LogReport:
    """Return what the log of *entries* is, from the first to the last.

    *checkpoint* is the newest one that the log shows, and must speak of exactly these entries;
    *held* are signed notes that were kept elsewhere. *keys* are pinned public keys by key id,
    each for its entries if they are a `core.trust.KeyRing`, *origin* the log's name if it is
    known. Nothing is raised for a log that is broken in any way.
    """
    run = _Run(keys, origin)
    newest = run.opened("the newest checkpoint", checkpoint, held=False)
    kept = [
        run.opened(f"held checkpoint {n}", text, held=True) for n, text in enumerate(held, start=1)
    ]
    marked: dict[int, list[Stated]] = {}
    for stated in (newest, *kept):
        if stated is not None:
            marked.setdefault(stated.checkpoint.size, []).append(stated)
    run.compare(marked.pop(0, []))
    total = newest.checkpoint.size if newest else 0
    for entry in entries:
        run.take(entry)
        run.compare(marked.pop(run.account.size, []))
        if progress and run.account.size % _STEP == 0:
            progress("verifying the log", run.account.size, max(total, run.account.size))
    size = run.account.size
    if progress:
        progress("verifying the log", size, size)
    for stated_size in sorted(marked):
        for stated in marked[stated_size]:
            run.fault(
                f"{stated.what} speaks of {stated_size} entries and the log ends after {size}: "
                "it was cut off, or an older state was put back"
            )
    if newest and newest.checkpoint.size < size:
        run.fault(
            f"entry {newest.checkpoint.size}: it and all after it are beyond the newest checkpoint"
        )
    return run.report(grace, sum(part is not None for part in kept))


@dataclass(frozen=True, slots=True)
class Stated:
    """A checkpoint that opened, and how to name it."""

    what: str
    checkpoint: Checkpoint
    held: bool


class _Run:
    """One pass over a log."""

    def __init__(self, keys: Mapping[str, Ed25519PublicKey], origin: str) -> None:
        self._keys, self._origin = keys, origin
        self._peaks: dict[int, bytes] = {}
        self._faults: list[str] = []
        self._more = 0
        self._strangers: set[str] = set()
        self._newest = self._last = datetime.min.replace(tzinfo=UTC)
        self._backwards: list[int] = []
        self._agreed = 0
        self._before: frozenset[str] = frozenset()
        self.account = Account()

    def fault(self, line: str) -> None:
        """Keep the first faults and count the rest."""
        if len(self._faults) < MAX_FAULTS:
            self._faults.append(line)
        else:
            self._more += 1

    def opened(self, what: str, text: str, *, held: bool) -> Stated | None:
        """Return a signed note as it is to be compared; a fault, and None, if it is none."""
        try:
            found = open_checkpoint(text, self._keys.values())
            self._origin = self._origin or found.origin
            if found.origin != self._origin:
                raise CertificateError(f"it is of the log {found.origin!r}")
            require_in_range(self._keys, found.keyid, found.size - 1, found.origin)
        except CertificateError as error:
            self.fault(f"{what} does not hold: {error}")
            return None
        return Stated(what, found, held)

    def take(self, entry: LogEntry) -> None:
        """Add one entry to the tree and the account."""
        index = self.account.size
        # What is no ASCII is a fault below; it is hashed all the same, so the rest is checked too.
        hashed = leaf_hash(entry.leaf.encode("utf-8", "surrogatepass"))
        nodes = completed_nodes(index, hashed, self._peak)
        self._peaks[len(nodes) - 1] = nodes[-1]
        try:
            leaf = parse_leaf(entry.leaf)
            at = _time(leaf)
        except CertificateError as error:
            self.account.skip()
            self.fault(f"entry {index}: {error}")
            return
        self._before = self.account.in_force
        checks: tuple[Callable[[], None], ...] = (
            lambda: self._place(leaf, index),
            lambda: self._content(entry, leaf),
            lambda: self.account.enter(leaf, at, entry.content is not None, self._keys),
            lambda: self._key(leaf),
        )
        for check in checks:
            try:
                check()
            except CertificateError as error:
                self.fault(f"entry {index} ({leaf.kind}): {error}")
        if at < self._last:
            self._backwards.append(index)
        self._last = at

    def compare(self, stated: Sequence[Stated]) -> None:
        """Compare the tree as it stands with the checkpoints of its size."""
        if not stated:
            return
        size = self.account.size
        root = root_hash(size, self._peak)
        in_force = self.account.in_force | self._before
        agreed = self._agreed
        for one in stated:
            what = one.what
            if one.checkpoint.root != root:
                self.fault(
                    f"{what} of {size} entries has another root: an entry from {self._agreed} to "
                    f"{size - 1} was changed, or this is another history of the log (a fork)"
                )
            elif size and one.checkpoint.keyid not in in_force:
                self.fault(f"{what} is signed by a key that was not the log's then")
            elif one.held:
                agreed = size
        self._agreed = agreed

    def report(self, grace: timedelta, held: int) -> LogReport:
        """Return the report, once all entries are taken."""
        account = self.account
        if not account.size:
            self.fault("entry 0: the log is empty, without even its genesis")
        for index in account.lost():
            self.fault(f"entry {index}: its content is missing and no entry erased it")
        for index in account.kept():
            self.fault(f"entry {index}: it was erased and its content is still there")
        notes = []
        if self._backwards:
            notes.append(
                f"the clock went back {len(self._backwards)} times, "
                f"first at entry {self._backwards[0]}"
            )
        if account.unasked:
            notes.append(f"{account.unasked} answers follow no open request")
        vanished, under_way = account.unfinished(self._last, grace)
        return LogReport(
            origin=self._origin,
            size=account.size,
            root=root_hash(account.size, self._peak).hex(),
            kinds=dict(account.kinds),
            erased=account.erased(),
            erased_answers=account.erased(answers=True),
            revoked=account.revoked,
            holds=account.holds,
            vanished=tuple(vanished),
            under_way=tuple(under_way),
            held=held,
            faults=tuple(self._faults),
            more_faults=self._more,
            notes=tuple(notes),
        )

    def _peak(self, level: int, number: int) -> bytes:  # noqa: ARG002  # one peak a level
        return self._peaks[level]

    def _place(self, leaf: Leaf, index: int) -> None:
        if leaf.index != index:
            raise CertificateError(f"its leaf is that of entry {leaf.index}")
        self._origin = self._origin or leaf.origin
        if leaf.origin != self._origin:
            raise CertificateError(f"its leaf is of the log {leaf.origin!r}")

    def _content(self, entry: LogEntry, leaf: Leaf) -> None:
        """The commitment holds, an answer is signed, and what was erased left nothing behind."""
        salt, content = entry.salt, entry.content
        if content is None or not leaf.commit:
            if content is not None or salt is not None or entry.signature is not None:
                raise CertificateError("there is a salt, signature or content without the rest")
            if leaf.kind in _WITH_CONTENT and not leaf.commit:
                raise CertificateError("it commits to no content")
            return
        if salt is None or len(salt) != SALT_BYTES or commitment(salt, content) != leaf.commit:
            raise CertificateError("its content is not the one that was logged")
        if leaf.kind not in {"answer", "review"}:
            if entry.signature is not None:
                raise CertificateError("only answers and reviews are signed")
            return
        if entry.signature is None:
            raise CertificateError(f"its {leaf.kind} is not signed")
        keyid, signature = entry.signature
        if leaf.kind == "review":
            require_signed_review(leaf, envelope_of(content, keyid, signature, REVIEW_TYPE))
            return
        verified_payload(envelope_of(content, keyid, signature), self._keys)
        require_in_range(self._keys, keyid, leaf.index, leaf.origin)

    def _key(self, leaf: Leaf) -> None:
        """Say once for each key that it is not trusted, or not for this entry."""
        if leaf.keyid in self._strangers:
            return
        try:
            if leaf.keyid not in self._keys:
                raise CertificateError(f"key {leaf.keyid[:16]!r}… is not trusted")
            require_in_range(self._keys, leaf.keyid, leaf.index, leaf.origin)
        except CertificateError:
            self._strangers.add(leaf.keyid)
            raise


def _time(leaf: Leaf) -> datetime:
    try:
        at = datetime.fromisoformat(leaf.at)
    except ValueError as error:
        raise CertificateError(f"its time {leaf.at!r} cannot be read") from error
    if at.utcoffset() != timedelta(0):
        raise CertificateError(f"its time {leaf.at!r} is not UTC")
    return at
