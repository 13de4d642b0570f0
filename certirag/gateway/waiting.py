"""Work for somebody who waits: in a thread of its own, and no longer than they do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from certirag.errors import CertiRAGError
from certirag.gateway.refusals import Refused

if TYPE_CHECKING:
    from certirag.answers.services import Stage
    from certirag.gateway.metrics import Measures

T = TypeVar("T")
LOOKED: Final = 0.5  # seconds between two looks at whether anybody still waits


class ClientGone(CertiRAGError):
    """Whoever asked has left: the work for them ends at the next step."""


Gone = Callable[[], bool]  # says whether nobody waits any more


def still_there(gone: Gone) -> None:
    """Raise ClientGone where nobody waits any more."""
    if gone():
        raise ClientGone("the request was cancelled")


class Places:
    """Room for one request that is worked on with the models, and *waiting* others."""

    def __init__(self, waiting: int, measures: Measures, stage: Stage) -> None:
        self._measures, self._stage = measures, stage
        self._models = threading.Lock()
        self._free = threading.Semaphore(waiting + 1)
        self.threads = CapacityLimiter(waiting + 2)  # one more than places: to refuse in
        measures.room.set(waiting + 1)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place among those that are worked for or wait; Refused where all are taken."""
        if not self._free.acquire(blocking=False):
            raise Refused("OVERLOADED", headers={"Retry-After": "2"})
        try:
            with self._measures.places.track_inprogress():
                yield
        finally:
            self._free.release()

    @contextmanager
    def turn(self, gone: Gone) -> Iterator[None]:
        """Wait for the models, and no longer than anybody waits for the answer."""
        with self._stage("turn"):
            while not self._models.acquire(timeout=LOOKED):
                still_there(gone)
        try:
            yield
        finally:
            self._models.release()


async def watched(
    places: Places, work: Callable[[Gone], T], left: Callable[[], Awaitable[bool]]
) -> T:
    """Run *work* in one of *places*, in a thread; it is told to stop when the client has *left*.

    The threads are of their own and no fewer than there are places: probes need none of them.
    """
    gone = threading.Event()

    def placed() -> T:
        with places.place():
            return work(gone.is_set)

    task = asyncio.create_task(run_sync(placed, limiter=places.threads))
    try:
        while not (await asyncio.wait({task}, timeout=LOOKED))[0]:
            if await left():
                gone.set()
    except asyncio.CancelledError:  # nobody waits for what becomes of it
        gone.set()
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise
    return task.result()
