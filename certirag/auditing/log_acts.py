"""What the entries of a log do to each other: holds, erasures, revocations, requests, rotations.

The account is kept while the entries stream by: one byte an entry, the requests that are open,
the holds in force. A detail that does not read as its kind's is a CertificateError.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from certirag.errors import CertificateError
from certirag.proof.log import Leaf, rotation_message
from certirag.proof.trust import signs_no_longer

Range = tuple[int, int]  # first and last index, both included
_ANSWER, _PRESENT, _GONE, _ERASED = 1, 2, 4, 8
# Erased although the content is there; gone although nothing erased it.
_KEPT: Final = re.compile(b"[%s]" % re.escape(bytes(m for m in range(16) if m & 10 == 10)))
_LOST: Final = re.compile(b"[%s]" % re.escape(bytes(m for m in range(16) if m & 12 == 4)))


class Account:
    """The state of a log after the entries that were `enter`-ed, in order."""

    def __init__(self) -> None:
        self._marks = bytearray()
        self._open: dict[str, datetime] = {}
        self.holds: dict[str, tuple[Range, ...]] = {}
        self.revoked: dict[int, str] = {}
        self.kinds: Counter[str] = Counter()
        self.in_force: frozenset[str] = frozenset()  # the keys that may sign from here on
        self.unasked = 0
        self._ends: dict[str, int] = {}  # of the keys that were retired
        self._waiting: dict[str, int] = {}  # answers that a person decides on, by trace
        self._reviewed: set[str] = set()

    @property
    def size(self) -> int:
        """How many entries were entered, readable or not."""
        return len(self._marks)

    def erased(self, *, answers: bool = False) -> int:
        """Return how many contents (of answers only) an erasure names and are gone."""
        wanted = _GONE | _ERASED | (_ANSWER if answers else 0)
        marks = Counter(self._marks).items()
        return sum(count for mark, count in marks if mark & wanted == wanted)

    def skip(self) -> None:
        """Count an entry whose leaf cannot be read."""
        self._marks.append(0)

    def enter(
        self, leaf: Leaf, at: datetime, present: bool, keys: Mapping[str, Ed25519PublicKey]
    ) -> None:
        """Take *leaf* into the account; *present* says that its content is there.

        Raises CertificateError for what the leaf may not do; it is counted all the same.
        """
        index = self.size
        mark = _ANSWER if leaf.kind == "answer" else 0
        if leaf.commit:
            mark |= _PRESENT if present else _GONE
        self._marks.append(mark)
        self.kinds[leaf.kind] += 1
        if (leaf.kind == "genesis") != (index == 0):
            raise CertificateError("a log begins with its genesis and has no other")
        if index == 0:
            self.in_force = frozenset({leaf.keyid})
        may_sign = self.in_force
        self._act(leaf, at, index, keys)
        if leaf.keyid not in may_sign | self.in_force:
            raise CertificateError("the log's key changed and no rotation says so")

    def lost(self) -> list[int]:
        """Return the entries whose content is missing and was not erased by any entry."""
        return [found.start() for found in _LOST.finditer(self._marks)]

    def kept(self) -> list[int]:
        """Return the entries that were erased and whose content is still there."""
        return [found.start() for found in _KEPT.finditer(self._marks)]

    def unfinished(self, newest: datetime, grace: timedelta) -> tuple[list[str], list[str]]:
        """Return the requests that vanished, and those that may be under way still."""
        limit = newest - min(grace, newest - datetime.min.replace(tzinfo=newest.tzinfo))
        vanished = [request for request, at in self._open.items() if at < limit]
        return vanished, [request for request, at in self._open.items() if at >= limit]

    def _act(
        self, leaf: Leaf, at: datetime, index: int, keys: Mapping[str, Ed25519PublicKey]
    ) -> None:
        detail = leaf.detail
        if leaf.kind == "received":
            self._open.setdefault(leaf.trace_id, at)
        elif leaf.kind == "answer":
            request = _text(detail, "request")
            self.unasked += request not in self._open
            if _flag(detail, "complete"):
                self._open.pop(request, None)
        elif leaf.kind == "failed":
            self._open.pop(_text(detail, "request"), None)
        elif leaf.kind == "revoke":
            self._revoke(detail, index)
        elif leaf.kind in {"escalate", "review"}:
            self._ask_a_person(leaf, index)
        elif leaf.kind == "erase":
            self._erase(target_ranges(detail, index))
        elif leaf.kind == "archive":
            target_ranges(detail, index)
        elif leaf.kind == "hold":
            name = _text(detail, "hold")
            self.holds[name] = (*self.holds.get(name, ()), *target_ranges(detail, index))
        elif leaf.kind == "release":
            self._release(_text(detail, "hold"), target_ranges(detail, index))
        elif leaf.kind == "rotate":
            self._rotate(leaf, keys)
        elif leaf.kind == "retire":
            self._retire(_text(detail, "key"), detail.get("until_index"), index, keys)

    def _revoke(self, detail: Mapping[str, Any], index: int) -> None:
        target = detail.get("target")
        if type(target) is not int or not 0 <= target < index or not self._marks[target] & _ANSWER:
            raise CertificateError(f"it revokes {target!r}, which is no answer before it")
        self.revoked.setdefault(target, _text(detail, "reason"))

    def _ask_a_person(self, leaf: Leaf, index: int) -> None:
        """Let an answer wait, or end that; each happens once, and the second after the first."""
        target = leaf.detail.get("target")
        if leaf.kind == "review":
            if type(target) is not int or self._waiting.get(leaf.trace_id) != target:
                raise CertificateError(f"it decides on {target!r}, which nothing escalated")
            if leaf.trace_id in self._reviewed:
                raise CertificateError("it decides on an answer for the second time")
            self._reviewed.add(leaf.trace_id)
            return
        if type(target) is not int or not 0 <= target < index or not self._marks[target] & _ANSWER:
            raise CertificateError(f"it escalates {target!r}, which is no answer before it")
        if leaf.trace_id in self._waiting:
            raise CertificateError("it escalates an answer for the second time")
        self._waiting[leaf.trace_id] = target

    def _erase(self, targets: tuple[Range, ...]) -> None:
        held = ""
        for first, last in targets:
            named = self._marks[first : last + 1]
            self._marks[first : last + 1] = named.translate(_WITH_ERASED)
            for name, ranges in self.holds.items():
                if any(low <= last and first <= high for low, high in ranges):
                    held = name
        if held:
            raise CertificateError(f"it erases what the hold {held!r} keeps")

    def _release(self, name: str, targets: tuple[Range, ...]) -> None:
        left = self.holds.pop(name, ())
        for target in targets:
            left = tuple(part for part in left for part in _without(part, target))
        if left:
            self.holds[name] = left

    def _rotate(self, leaf: Leaf, keys: Mapping[str, Ed25519PublicKey]) -> None:
        old, new = _text(leaf.detail, "old"), _text(leaf.detail, "new")
        if old not in self.in_force or new == old:
            raise CertificateError("it rotates away from a key that is not the log's")
        message = rotation_message(leaf.origin, old, new)
        for keyid, name in ((old, "old_signature"), (new, "new_signature")):
            key = keys.get(keyid)
            if key is None:
                raise CertificateError(f"it rotates with key {keyid[:16]!r}…, which is not trusted")
            try:
                key.verify(bytes.fromhex(_text(leaf.detail, name)), message)
            except (InvalidSignature, ValueError) as error:
                raise CertificateError(f"its {name} does not hold") from error
        self.in_force |= {new}

    def _retire(
        self, keyid: str, until: object, index: int, keys: Mapping[str, Ed25519PublicKey]
    ) -> None:
        """End what *keyid* signs for; one that was retired before may lose more of it."""
        earlier = self._ends.get(keyid)
        if earlier is None and (keyid not in self.in_force or len(self.in_force) == 1):
            raise CertificateError("it retires a key that is not in force, or the last one")
        if type(until) is not int or not 0 <= until <= (index if earlier is None else earlier):
            raise CertificateError(f"it retires a key from entry {until!r} on, which is not there")
        self._ends[keyid] = until
        self.in_force -= {keyid}
        if not signs_no_longer(keys, keyid, until):
            raise CertificateError(
                "the trust file lets the key that it retires sign on: it is an older one"
            )


def target_ranges(detail: Mapping[str, Any], index: int) -> tuple[Range, ...]:
    """Return the targets that entry *index* names; CertificateError unless all stand before it."""
    targets = detail.get("targets")
    if not isinstance(targets, list):
        raise CertificateError("its targets are missing")
    ranges: list[Range] = []
    for target in targets:
        if not isinstance(target, list) or [type(end) for end in target] != [int, int]:
            raise CertificateError("its targets are no ranges of entries")
        first, last = target
        if not 0 <= first <= last < index:
            raise CertificateError(f"its targets {first}-{last} are not entries before it")
        ranges.append((first, last))
    return tuple(ranges)


_WITH_ERASED: Final = bytes(mark | _ERASED for mark in range(256))


def _without(part: Range, target: Range) -> tuple[Range, ...]:
    """Return what *target* leaves of *part*."""
    (low, high), (first, last) = part, target
    before, after = (low, min(high, first - 1)), (max(low, last + 1), high)
    return tuple(rest for rest in (before, after) if rest[0] <= rest[1])


def _text(detail: Mapping[str, Any], name: str) -> str:
    value = detail.get(name)
    if not isinstance(value, str) or not value:
        raise CertificateError(f"its detail {name!r} is missing")
    return value


def _flag(detail: Mapping[str, Any], name: str) -> bool:
    value = detail.get(name)
    if not isinstance(value, bool):
        raise CertificateError(f"its detail {name!r} is missing")
    return value
