"""How long contents of the log are kept, and which of them are due now; pure.

A retention policy (Project 10 §2.3) says when the contents of an entry are copied to an archive
and when they are erased, and who must answer for it. What is due follows from leaves, from the
acts that the log itself holds, and from *now*. Leaves are never erased.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import TypeAdapter, ValidationError

from certirag.errors import AuditError
from certirag.proof.log import Leaf

Span = tuple[int, int]  # indexes of entries, both inclusive
_LEAF: Final = TypeAdapter(Leaf)
_FAR: Final = datetime.max.replace(tzinfo=UTC)
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """A length of time by the calendar, in UTC: years and months first, then days of 24 hours."""

    years: int = 0
    months: int = 0
    days: int = 0


def after(start: datetime, period: Period) -> datetime:
    """Return the moment *period* after *start*, at the same time of day.

    A day that the month does not have becomes the first of the next month, so that nothing is
    kept for less than was said: 29 February and one year is 1 March. A moment beyond the
    calendar's end is its end, which never comes.
    """
    month = start.year * 12 + start.month - 1 + period.years * 12 + period.months
    try:
        first = start.replace(year=month // 12, month=month % 12 + 1, day=1)
        try:
            moved = first.replace(day=start.day)
        except ValueError:  # the month is shorter
            moved = (first + timedelta(days=31)).replace(day=1)
        return moved + timedelta(days=period.days)
    except (ValueError, OverflowError):
        return _FAR


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """When contents are archived and erased; None is never.

    *keep_at_least* binds whoever erases, on request too. *authoriser* is the role that must
    answer for deletion by name ("": nobody), *officers* the names that may (none: any name),
    *justification* whether a reason must be given.
    """

    name: str
    archive_after: Period | None
    delete_after: Period | None
    keep_at_least: Period = Period()
    authoriser: str = ""
    officers: tuple[str, ...] = ()
    justification: bool = False

    @property
    def asks(self) -> bool:
        """Tell whether somebody must answer for a deletion."""
        return bool(self.authoriser or self.justification)

    def kept_until(self, at: datetime) -> datetime:
        """Return the moment before which nothing may erase what was written *at*."""
        return after(at, self.keep_at_least)

    def erased_from(self, at: datetime) -> datetime:
        """Return the moment from which retention erases what was written *at*."""
        if self.delete_after is None:
            return _FAR
        return max(after(at, self.delete_after), self.kept_until(at))

    def archived_from(self, at: datetime) -> datetime:
        """Return the moment from which retention archives what was written *at*."""
        return _FAR if self.archive_after is None else after(at, self.archive_after)


@dataclass(frozen=True, slots=True)
class Authorisation:
    """Who answers for a deletion, and why, in words of theirs; both go into the log."""

    name: str = ""
    justification: str = ""


def lacks(policy: RetentionPolicy, given: Authorisation) -> str:
    """Return what *policy* still asks for before it erases, in words; "" when nothing."""
    if policy.authoriser and not given.name:
        return f"the name of the {policy.authoriser}"
    if policy.authoriser and policy.officers and given.name not in policy.officers:
        return f"a {policy.authoriser} whom the policy names"
    if policy.justification and not given.justification:
        return f"the justification of the {policy.authoriser or 'authoriser'}"
    return ""


class Acts:
    """What the acts of a log did to its entries, read from their leaves in order.

    Takes two bytes of memory for each entry, and one more for each hold.
    """

    def __init__(self) -> None:
        self.size = 0  # leaves up to here have been read
        self.files: dict[str, tuple[str, tuple[Span, ...]]] = {}  # SHA-256: rule, targets
        self._erased, self._archived = bytearray(), bytearray()
        self._holds: dict[str, bytearray] = {}

    def add(self, leaf: Leaf) -> None:
        """Take in the next act; AuditError for one whose targets cannot be read."""
        self.size = leaf.index + 1
        if leaf.kind not in {"archive", "erase", "hold", "release"}:
            return
        spans = _targets(leaf)
        if leaf.kind == "erase":
            _mark(self._erased, spans, 1)
        elif leaf.kind == "archive":
            _mark(self._archived, spans, 1)
            self.files[_word(leaf, "file")] = (_word(leaf, "rule"), spans)
        else:
            flags = self._holds.setdefault(_word(leaf, "hold"), bytearray())
            _mark(flags, spans, 1 if leaf.kind == "hold" else 0)

    def erased(self, index: int) -> bool:
        """Tell whether an act erased entry *index*."""
        return _marked(self._erased, index)

    def archived(self, index: int) -> bool:
        """Tell whether an act archived entry *index*."""
        return _marked(self._archived, index)

    def holds(self, index: int) -> tuple[str, ...]:
        """Return the names of the holds that entry *index* is under, in order."""
        return tuple(sorted(n for n, flags in self._holds.items() if _marked(flags, index)))

    def held(self, name: str) -> tuple[Span, ...]:
        """Return the entries under the hold *name*."""
        return spans_of(i for i, flag in enumerate(self._holds.get(name, b"")) if flag)

    @property
    def hold_names(self) -> tuple[str, ...]:
        """The holds that are in force."""
        return tuple(sorted(name for name, flags in self._holds.items() if any(flags)))


@dataclass(frozen=True, slots=True)
class FoundContent:
    """Entries of one policy that share a fate; *oldest* is the time of the oldest, "" for none."""

    indexes: tuple[int, ...] = ()
    oldest: str = ""


@dataclass(frozen=True, slots=True)
class Due:
    """What is due, by the policy that entries were written under.

    *held* and *waiting* would be erased but for a hold, and but for an authoriser. *unknown* were
    written under a policy that is not known here, *ahead* at a time that has not come: neither is
    ever due. *clock* is the latest time read, for the leaves that follow.
    """

    archive: Mapping[str, FoundContent] = field(default_factory=dict)
    erase: Mapping[str, FoundContent] = field(default_factory=dict)
    held: Mapping[str, FoundContent] = field(default_factory=dict)
    waiting: Mapping[str, FoundContent] = field(default_factory=dict)
    unknown: Mapping[str, FoundContent] = field(default_factory=dict)
    ahead: Mapping[str, FoundContent] = field(default_factory=dict)
    clock: datetime = _LONG_AGO


FATES: Final = ("archive", "erase", "held", "waiting", "unknown", "ahead")


def due(
    leaves: Iterable[Leaf],
    policies: Mapping[str, RetentionPolicy],
    acts: Acts,
    now: datetime,
    *,
    authorised: Collection[str] = (),
    clock: datetime = _LONG_AGO,
) -> Due:
    """Return what is due of *leaves*, which are in order; *clock* is that of the leaves before.

    *authorised* are the policies whose deletion somebody answers for now. An entry counts as
    written no earlier than those before it, so that a clock that fell back makes nothing old;
    times that have not come are left out of that, so that a clock that ran ahead keeps nothing.
    What is due to be erased is not archived first, unless a hold or an authoriser is waited for.
    """
    found: dict[str, dict[str, list[tuple[int, str]]]] = {fate: {} for fate in FATES}
    for leaf in leaves:
        at = leaf_time(leaf)
        if at <= now:
            clock = max(clock, at)
        if not leaf.commit or acts.erased(leaf.index):
            continue
        for fate in _fates(leaf, at, clock, policies, acts, now, authorised):
            found[fate].setdefault(leaf.retention, []).append((leaf.index, leaf.at))
    by_fate = {
        fate: {
            rule: FoundContent(tuple(i for i, _ in rows), min(at for _, at in rows))
            for rule, rows in of.items()
        }
        for fate, of in found.items()
    }
    return Due(**by_fate, clock=clock)


def _fates(
    leaf: Leaf,
    at: datetime,
    clock: datetime,
    policies: Mapping[str, RetentionPolicy],
    acts: Acts,
    now: datetime,
    authorised: Collection[str],
) -> tuple[str, ...]:
    policy = policies.get(leaf.retention)
    if policy is None:
        return ("unknown",)
    if at > now:
        return ("ahead",)
    written = max(at, clock)
    fates = []
    if now >= policy.erased_from(written):
        if acts.holds(leaf.index):
            fates.append("held")
        elif policy.asks and leaf.retention not in authorised:
            fates.append("waiting")
        else:
            return ("erase",)
    if now >= policy.archived_from(written) and not acts.archived(leaf.index):
        fates.append("archive")
    return tuple(fates)


def read_leaf(text: str) -> Leaf:
    """Return the leaf of *text*, quickly: its shape is checked, its spelling is for `verify_log`."""
    try:
        return _LEAF.validate_json(text, strict=True)
    except ValidationError as error:
        raise AuditError(
            "the log holds a leaf that cannot be read, so nothing is due for sure: "
            "run 'certirag audit verify'"
        ) from error


def leaf_time(leaf: Leaf) -> datetime:
    """Return the time of *leaf*; AuditError when it is none, for then nothing is due for sure."""
    try:
        at = datetime.fromisoformat(leaf.at)
    except ValueError as error:
        raise AuditError(f"entry {leaf.index} of the log has no readable time") from error
    if at.tzinfo is None:
        raise AuditError(f"entry {leaf.index} of the log has a time without a zone")
    return at


def spans_of(indexes: Iterable[int]) -> tuple[Span, ...]:
    """Return rising *indexes* as spans of neighbours."""
    spans: list[Span] = []
    for index in indexes:
        if spans and spans[-1][1] == index - 1:
            spans[-1] = (spans[-1][0], index)
        else:
            spans.append((index, index))
    return tuple(spans)


def spans_before(indexes: Sequence[int], spans: int) -> int:
    """Return how many of the rising *indexes* make the first so many *spans*."""
    seen = 0
    for place, index in enumerate(indexes):
        seen += place == 0 or indexes[place - 1] != index - 1
        if seen > spans:
            return place
    return len(indexes)


def indexes_of(spans: Iterable[Span]) -> Iterable[int]:
    """Yield the indexes of *spans*, one by one."""
    for first, last in spans:
        yield from range(first, last + 1)


def _targets(leaf: Leaf) -> tuple[Span, ...]:
    """Return what an act speaks of: entries before it; AuditError for anything else."""
    spans = leaf.detail.get("targets")
    if not isinstance(spans, list) or not all(_is_span(span, leaf.index) for span in spans):
        raise AuditError(f"entry {leaf.index} of the log, {leaf.kind!r}, has unreadable targets")
    return tuple((span[0], span[1]) for span in spans)


def _is_span(span: object, below: int) -> bool:
    if not isinstance(span, list) or len(span) != 2 or {type(end) for end in span} != {int}:
        return False
    return bool(0 <= span[0] <= span[1] < below)


def _word(leaf: Leaf, name: str) -> str:
    value = leaf.detail.get(name)
    if not isinstance(value, str):
        raise AuditError(f"entry {leaf.index} of the log, {leaf.kind!r}, has no readable {name!r}")
    return value


def _mark(flags: bytearray, spans: Sequence[Span], value: int) -> None:
    for first, last in spans:
        if last >= len(flags):
            flags.extend(bytes(last + 1 - len(flags)))
        flags[first : last + 1] = bytes([value]) * (last + 1 - first)


def _marked(flags: bytearray, index: int) -> bool:
    return index < len(flags) and bool(flags[index])
