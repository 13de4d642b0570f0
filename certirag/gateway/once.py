"""An answer for each idempotency key, once: who repeats a request gets what the first one got.

Kept are answers and refusals by the documents, both of which are in the log. What failed is
forgotten, and may be tried again. It is all in memory: a restart forgets every key.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Final

from certirag.gateway.refusals import OF_THE_DOCUMENTS, Refused
from certirag.gateway.waiting import ClientGone

KEPT_SECONDS: Final = 86_400.0
KEPT_EACH: Final = 200  # keys of one caller, so that nobody pushes out another's


@dataclass(slots=True)
class Turn:
    """What comes of the request that is asked under a key: *outcome*. *first*: nobody else works."""

    digest: str
    until: float
    first: bool = True
    outcome: Future[Any] = field(default_factory=Future)


class Once:
    """What was asked under which key, by caller. *now* gives seconds. Threads may share it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._of: dict[str, OrderedDict[str, Turn]] = {}
        self._lock = threading.Lock()

    def turn(self, caller: str, key: str, digest: str) -> Turn:
        """Return the turn of *caller*'s *key*; whoever is first has to `settle` it.

        *digest* is of all that is asked: Refused where the key was used for something else.
        """
        now = self._now()
        with self._lock:
            own = self._of.setdefault(caller, OrderedDict())
            for name in [n for n, t in own.items() if t.until <= now and t.outcome.done()]:
                del own[name]
            if found := own.get(key):
                if found.digest != digest:
                    raise Refused("KEY_REUSED")
                return replace(found, first=False)
            done = [name for name, turn in own.items() if turn.outcome.done()]
            for name in done[: max(0, len(own) - KEPT_EACH + 1)]:
                del own[name]
            own[key] = Turn(digest, now + KEPT_SECONDS)
            return own[key]

    def settle(self, caller: str, key: str, outcome: object) -> None:
        """Give *outcome*, an answer or what was raised, to all who wait; a failure is forgotten."""
        with self._lock:
            turn = self._of[caller][key]
            refused = isinstance(outcome, Refused) and outcome.code in OF_THE_DOCUMENTS
            failed = isinstance(outcome, BaseException) and not refused
            if failed:
                del self._of[caller][key]
        if not failed:
            turn.outcome.set_result(replace(outcome) if isinstance(outcome, Refused) else outcome)
        elif isinstance(outcome, Exception):
            turn.outcome.set_exception(outcome)
        else:  # the first one was broken off, as when its client leaves
            turn.outcome.set_exception(ClientGone("the request was cancelled"))
