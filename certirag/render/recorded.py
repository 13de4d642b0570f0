"""Recorded texts of known shapes: read back into what fills them, so that they can be told again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from certirag.core.said import Message, said

MAX_REASON: Final = 4_000  # characters: to read a longer one could take seconds
SLOT: Final = re.compile(r"\{(\w+)\}")
# The slots of a reason that hold our own words, and never those of a claim or a document.
OURS: Final = frozenset({"why", "count", "found", "kind"})
# What stands in them.
INSIDE: Final[tuple[Message, ...]] = (
    "there is no statement",
    "it is a question",
    "it is a greeting or a courtesy",
    "it speaks to the reader and states nothing",
    "it is an opinion or a recommendation",
    "it speaks about the answer itself",
    "it introduces what follows",
    "it is a judgement of taste",
    "it is a heading or a fragment without a verb",
    "it is more than one sentence",
    "it runs over several lines",
    "it states {count} facts",
    "it joins two statements",
    "A plain fact",
    "A statement about the past",
    "A comparison",
    "A statement of limits",
    "1 piece of evidence",
    "{count} pieces of evidence",
    "1 is",
    "{count} are",
    "{count} words",
    "{count} of {whole} planted errors",
)


def restated(recorded: str, messages: Sequence[Message]) -> str:
    """Return *recorded* as the one of *messages* that it is word for word; another text as it is."""
    for message in messages if len(recorded) <= MAX_REASON else ():
        found = reader(message).fullmatch(recorded)
        if found is not None:
            return said(message, **found.groupdict())
    return recorded


@cache
def reader(recorded: str) -> re.Pattern[str]:
    """Return what reads a recorded reason of this shape; each slot takes any text."""
    parts = SLOT.split(recorded)
    shape = "".join(
        f"(?P<{part}>.*)" if at % 2 else re.escape(part) for at, part in enumerate(parts)
    )
    return re.compile(shape, re.DOTALL)
