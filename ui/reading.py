"""Files while they are read: which one of how many, the state of each, and a way to break it off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import streamlit as st

from certirag.ingest.collect import Watch
from ui.inert import draw_table, tell
from ui.language import tr

# So many rows around the file that is read: all of them are in sight, of thousands too.
_ROWS: Final = 9
_EVERY: Final = 0.4  # seconds between looks at whether somebody cancelled
_READING: Final = "Reading "  # how a line of progress on a file begins


class ReadingBoard:
    """Draws what `Watch` tells; a click on Cancel ends the script at the next thing it draws.

    *names* are the files' where they are known before, as text from outside.
    """

    def __init__(self, key: str, names: Sequence[str], on_cancel: Callable[[], None]) -> None:
        self._names, self._states = list(names), list[str]()
        self._reads, self._since, self._total = False, time.monotonic(), len(names)
        self._slot = st.empty()
        with self._slot.container(key=f"{key}-reading"):
            self._status = st.status(tr("Starting"))
            st.button(tr("Cancel"), key=f"{key}-cancel", on_click=on_cancel)
            self._rows, self._spoken = st.empty(), st.empty()

    @property
    def watch(self) -> Watch:
        """What is given to whoever reads."""
        return Watch(self._progress, self._outcome, self._waiting)

    @contextmanager
    def turn(self, several: threading.Semaphore) -> Iterator[None]:
        """Wait for one's turn, where few read at once, within reach of Cancel."""
        while not several.acquire(timeout=_EVERY):
            self._waiting()
        try:
            yield
        finally:
            several.release()

    def close(self) -> None:
        """Take it off the page."""
        self._slot.empty()

    def _progress(self, line: str, done: int, total: int) -> None:
        self._reads = line.startswith(_READING) and done < total
        self._since = time.monotonic()
        if not self._reads:
            self._status.update(label=tr("Making it searchable"))
            return
        self._total = total
        if done >= len(self._names):
            self._names.append(line.removeprefix(_READING))
        self._waiting()
        with self._spoken:  # a status is silent
            tell(tr("Reading file {number:d} of {total:d}", number=done + 1, total=total))
        self._draw()

    def _outcome(self, reason: str) -> None:
        self._states.append(tr("not read") if reason else tr("read"))

    def _waiting(self) -> None:
        if not self._reads:
            self._status.update(label=tr("Waiting until others' documents are read"))
            return
        done, seconds = len(self._states), int(time.monotonic() - self._since)
        self._status.update(
            label=tr(
                "Reading file {number:d} of {total:d} · {seconds:d} s",
                number=done + 1,
                total=self._total,
                seconds=seconds,
            )
        )

    def _draw(self) -> None:
        done = len(self._states)
        waiting = len(self._names) - done - 1
        states = [*self._states, tr("being read"), *[tr("waiting")] * waiting]
        first = max(0, min(done - _ROWS // 2, len(self._names) - _ROWS))
        shown = slice(first, first + _ROWS)
        with self._rows:
            draw_table(
                (tr("File"), tr("State")),
                list(zip(self._names[shown], states[shown], strict=True)),
            )
