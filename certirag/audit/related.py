"""Which entries of the log hold the same person's words: a request, its answers, what they led to."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from certirag.core.log import Leaf, parse_leaf
from certirag.errors import InputError
from certirag.ports import AuditLog, LogEntry


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
