"""Several processes that answer on one socket: forked once the networks are open, so shared.

Forked and not started anew, because pages that nobody writes to are kept once for all of them
(docs/gateway.md has the figures). The networks run in the thread that asks them: there is no pool
of threads that a fork would lose.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Final, NoReturn

MOST_ENDED: Final = 5  # workers that ended by themselves, within so many
WITHIN: Final = 60.0  # seconds: then something is wrong that one more worker does not mend
_STOPPING: Final = frozenset({signal.SIGTERM, signal.SIGINT})


def leave_when_told() -> None:
    """Let SIGTERM and SIGINT end this process with exit code 0.

    A server that runs takes them first, finishes what is under way, and hands them on to this.
    """

    def leave(*_: object) -> NoReturn:
        raise SystemExit(0)

    for number in _STOPPING:
        signal.signal(number, leave)


class Workers:
    """Processes that run *serve* on *listener*; one that ends by itself is replaced.

    *ended* is told the process id of such a one and how it ended.
    """

    def __init__(
        self,
        listener: socket.socket,
        serve: Callable[[], None],
        ended: Callable[[int, str], None],
    ) -> None:
        self._listener, self._serve, self._ended = listener, serve, ended
        self._running: set[int] = set()
        self._stopping = False
        # The end *life* is closed when this process is gone, however it went: workers see it.
        self._watch, self._life = os.pipe()

    def run(self, number: int) -> bool:
        """Run *number* of them until told to stop; False where too many ended by themselves."""
        gc.collect()
        gc.freeze()  # else the collector of each worker writes to the pages that all share
        for told in _STOPPING:
            signal.signal(told, lambda *_: self._stop())
        for _ in range(number):
            self._start()
        recent: deque[float] = deque(maxlen=MOST_ENDED)
        failed = False
        while self._running:
            worker, status = os.wait()
            self._running.discard(worker)
            if self._stopping:
                continue
            code = os.waitstatus_to_exitcode(status)
            self._ended(worker, f"signal {-code}" if code < 0 else f"exit code {code}")
            recent.append(time.monotonic())
            failed = len(recent) == MOST_ENDED and recent[-1] - recent[0] < WITHIN
            if failed:
                self._stop()
            else:
                self._start()
        return not failed

    def _start(self) -> None:
        # A signal between the fork and the note of it would miss the new worker.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        if not self._stopping:
            worker = os.fork()
            if not worker:
                self._work()
            self._running.add(worker)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)

    def _work(self) -> NoReturn:
        """Serve, and end the process here: nothing that its parent opened is its to close."""
        code = 1
        try:
            leave_when_told()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
            os.close(self._life)
            threading.Thread(target=self._leave_with_parent, daemon=True).start()
            self._serve()
        except SystemExit:
            code = 0
        except BaseException:  # noqa: BLE001  # said here, for whoever forked is another process
            traceback.print_exc()
        finally:
            os._exit(code)

    def _leave_with_parent(self) -> None:
        os.read(self._watch, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _stop(self) -> None:
        self._stopping = True
        self._listener.close()  # else clients wait at a socket that no worker reads any more
        for worker in self._running:
            os.kill(worker, signal.SIGTERM)
