"""Holds, and erasure at a person's request, of all that holds their words; each act is an entry of the log."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from certirag.auditing.retain import SPANS_OF_AN_ACT, Retained, Retention, Run, read_acts
from certirag.errors import AuditError, InputError
from certirag.ports import AuditLog, LogEntry, NewEntry
from certirag.proof.log import EntryKind, Leaf, parse_leaf
from certirag.proof.retention import Acts, Authorisation, Period, Span, lacks, leaf_time, spans_of

# Which entries of the log hold the same person's words: a request, its answers, what they led to.


def related(log: AuditLog, names: Collection[str]) -> tuple[Leaf, ...]:
    """Return the leaves with contents that belong to *names*, trace ids or request ids, in order.

    A request, every part of its answer, and each answer that was made from one of those (errors
    planted in it, a paragraph of it), before and after. Raises InputError naming a trace that the
    log does not have.
    """
    known, before = set(names), -1
    found: dict[int, Leaf] = {}
    while len(known) > before:  # a name found late may stand earlier in the log too
        before = len(known)
        for entry in log.entries():
            tied = _names(entry)
            if known.isdisjoint(tied):
                continue
            known.update(tied)
            leaf = parse_leaf(entry.leaf)
            if leaf.commit:
                found[leaf.index] = leaf
    traces = {leaf.trace_id for leaf in found.values()}
    for name in names:
        if name not in traces:
            raise InputError(f"the log has no answer or request {name[:64]!r}")
    return tuple(found[index] for index in sorted(found))


def _names(entry: LogEntry) -> tuple[str, ...]:
    """Return the names that an entry ties together: its own, its request's, its origin's."""
    leaf = json.loads(entry.leaf)
    if leaf["kind"] == "answer":
        return leaf["trace_id"], str(leaf["detail"].get("request") or leaf["trace_id"])
    if leaf["kind"] in {"escalate", "review"}:
        return (leaf["trace_id"],)
    if leaf["kind"] == "received":
        return leaf["trace_id"], _made_from(leaf, entry.content) or leaf["trace_id"]
    return ()


def _made_from(leaf: Any, content: bytes | None) -> str:
    """Return the answer that a request was about, "" for a question or a draft."""
    if content is None or leaf["detail"].get("of") in {"question", "draft"}:
        return ""
    try:
        request = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    answer = request.get("answer") if isinstance(request, dict) else None
    return answer if isinstance(answer, str) else ""


_HOLD: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def authorisation_of(name: str, justification: str) -> Authorisation:
    """Return who answers for a deletion; InputError for what cannot stand in the log.

    Both stay in the log for ever, so they are staff's own words and nobody else's.
    """
    for what, text, most in (("authoriser", name, 80), ("justification", justification, 500)):
        if not text.isprintable() or len(text) > most:
            raise InputError(f"--{what}: give plain text of one line, {most} characters at most")
    return Authorisation(name.strip(), justification.strip())


@dataclass(frozen=True, slots=True)
class Acted:
    """What was held, released or erased on request: contents, and the entries of the acts."""

    entries: int
    acts: tuple[int, ...]


def hold(
    log: AuditLog, name: str, indexes: Sequence[int], now: datetime, authoriser: str = ""
) -> Acted:
    """Keep the entries *indexes*, rising, from being erased until `release`.

    Raises InputError for a name that cannot stand in the log, or when there is nothing to hold.
    """
    if not _HOLD.fullmatch(name):
        raise InputError(
            f"{name[:80]!r} names no hold: use small letters, digits and . _ - (64 at most)"
        )
    if not indexes:
        raise InputError(f"there is nothing to hold under {name!r}: nothing was found")
    return Acted(len(indexes), _log_hold(log, "hold", name, spans_of(indexes), now, authoriser))


def release(log: AuditLog, name: str, now: datetime, authoriser: str = "") -> Acted:
    """End the hold *name*; InputError when there is no such hold."""
    acts = read_acts(log)
    spans = acts.held(name)
    if not spans:
        names = ", ".join(acts.hold_names) or "there is none"
        raise InputError(f"no hold {name!r} is in force: {names}")
    count = sum(last - first + 1 for first, last in spans)
    return Acted(count, _log_hold(log, "release", name, spans, now, authoriser))


def _log_hold(
    log: AuditLog,
    kind: EntryKind,
    name: str,
    spans: Sequence[Span],
    now: datetime,
    authoriser: str,
) -> tuple[int, ...]:
    acts = []
    for start in range(0, len(spans), SPANS_OF_AN_ACT):
        targets = [list(span) for span in spans[start : start + SPANS_OF_AN_ACT]]
        detail = {"hold": name, "targets": targets, "authoriser": authoriser}
        acts.append(NewEntry(kind, "", now, detail=detail))
    return tuple(parse_leaf(proof.leaf).index for proof in log.append_all(acts))


def erase_on_request(
    of: Retention, trace_id: str, authorisation: Authorisation, now: datetime
) -> Acted:
    """Erase an answer, its request, and every other answer made of them, wherever they are kept.

    Raises InputError when the trace is unknown, when nobody answers for the deletion, or while a
    policy must keep one of them; AuditError when one is under a hold. Nothing has happened then.
    """
    if not authorisation.name or not authorisation.justification:
        raise InputError("an erasure needs --authoriser and --justification")
    with of.archive.locked():
        acts = read_acts(of.log)
        by_rule: dict[str, list[int]] = {}
        for leaf in related(of.log, [trace_id]):
            if acts.erased(leaf.index):
                continue
            _check_erasable(of, leaf, acts, authorisation, now)
            by_rule.setdefault(leaf.retention, []).append(leaf.index)
        report = Retained(now.isoformat(), dry_run=False)
        run = Run(of, acts, now, authorisation, frozenset(by_rule), report)
        run.waiting = {("erase", rule): indexes for rule, indexes in by_rule.items()}
        try:
            run.finish()
        finally:
            run.mend()
    return Acted(sum(map(len, by_rule.values())), tuple(report.acts))


def _check_erasable(
    of: Retention, leaf: Leaf, acts: Acts, given: Authorisation, now: datetime
) -> None:
    held = acts.holds(leaf.index)
    if held:
        raise AuditError(f"entry {leaf.index} is under the hold {held[0]!r}: nothing was erased")
    policy = of.policies.get(leaf.retention)
    if policy is None:
        raise InputError(
            f"entry {leaf.index} was written under the retention policy {leaf.retention[:80]!r}, "
            "which is not known here: put its file into the folder 'retention' of the home"
        )
    until = policy.kept_until(leaf_time(leaf))
    if policy.keep_at_least != Period() and now < until:
        raise InputError(
            f"entry {leaf.index} must be kept until {until.date()} ({policy.name}): "
            "nothing was erased"
        )
    missing = lacks(policy, given)
    if missing:
        raise InputError(f"entry {leaf.index} ({policy.name}) needs {missing}: nothing was erased")
