"""Work for somebody who waits: in a thread of its own, and no longer than they do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

from anyio.to_thread import run_sync

from certirag.errors import CertiRAGError

if TYPE_CHECKING:
    from certirag.gateway.gated import Gate

T = TypeVar("T")
LOOKED: Final = 0.5  # seconds between two looks at whether anybody still waits


class ClientGone(CertiRAGError):
    """Whoever asked has left: the work for them ends at the next step."""


Gone = Callable[[], bool]  # says whether nobody waits any more


def still_there(gone: Gone) -> None:
    """Raise ClientGone where nobody waits any more."""
    if gone():
        raise ClientGone("the request was cancelled")


async def watched(gate: Gate, work: Callable[[Gone], T], left: Callable[[], Awaitable[bool]]) -> T:
    """Run *work* in a place of *gate*, in a thread; it is told to stop when the client has *left*.

    The threads are of their own and no fewer than there are places: probes need none of them.
    """
    gone = threading.Event()

    def placed() -> T:
        with gate.place():
            return work(gone.is_set)

    task = asyncio.create_task(run_sync(placed, limiter=gate.threads))
    try:
        while not (await asyncio.wait({task}, timeout=LOOKED))[0]:
            if await left():
                gone.set()
    except asyncio.CancelledError:  # nobody waits for what becomes of it
        gone.set()
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise
    return task.result()
