"""How long each stage of an answer took: heard while it is made, kept in the session alone.

A signed record holds no durations, so an answer that is read back from the log has none.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

import streamlit as st

from certirag.core.said import Message
from ui.inert import draw_table, draw_text
from ui.language import tr

# A stage in words of ours, and its seconds.
StageTimes = tuple[tuple[str, float], ...]
MOST_TIMED: Final = 500
NO_TIMES: Final[Message] = (
    "Times are kept only while the page that asked is open; no record holds them."
)
TIMES: Final[Message] = "Of the whole answer, as this page saw it; no record holds these times."
_TIMES: Final = "stage_times"
_LEAST: Final = 0.1  # seconds; below it a figure would say more than was seen


class StageClock:
    """Adds up the seconds of each stage; a stage lasts until the next one is told.

    What passes before the first one is told, such as waiting for others, belongs to none.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._since = clock()
        self._stage = ""
        self._seconds: dict[str, float] = {}

    def tell(self, stage: str) -> None:
        """End the stage before, and begin *stage* or go on with it."""
        now = self._clock()
        if self._stage:
            self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now

    def taken(self) -> StageTimes:
        """Return the seconds of each stage so far, in the order in which they began."""
        self.tell(self._stage)
        return tuple(self._seconds.items())


def keep_times(trace_id: str, times: StageTimes) -> None:
    """Keep the *times* of the answer *trace_id* in this session; the oldest of many are forgotten."""
    others = (one for one in _kept() if one[0] != trace_id)
    st.session_state[_TIMES] = (*others, (trace_id, times))[-MOST_TIMED:]


def draw_times(trace_id: str) -> None:
    """Draw the time of each stage of the answer *trace_id* with its share, or why there is none."""
    times = dict(_kept()).get(trace_id, ())
    st.subheader(tr("Time of each stage"), anchor=False)
    if not times:
        st.caption(tr(NO_TIMES))
        return
    whole = sum(seconds for _, seconds in times)
    named = [(tr(stage), seconds) for stage, seconds in times]
    draw_text(" · ".join(f"{stage} {_in_words(seconds)}" for stage, seconds in named), "note")
    with st.container(key="times"):
        draw_table(
            (tr("Stage"), tr("Time"), tr("Share")),
            [
                *(
                    (f"{stage[:1].upper()}{stage[1:]}", _in_words(seconds), _share(seconds, whole))
                    for stage, seconds in named
                ),
                (tr("Together"), _in_words(whole), "100 %"),
            ],
        )
    st.caption(tr(TIMES))


def _kept() -> tuple[tuple[str, StageTimes], ...]:
    kept = st.session_state.get(_TIMES)
    return kept if isinstance(kept, tuple) else ()


def _in_words(seconds: float) -> str:
    return tr("under {least:.1f} s", least=_LEAST) if seconds < _LEAST else f"{seconds:.1f} s"


def _share(seconds: float, whole: float) -> str:
    share = 100 * seconds / whole if whole > 0 else 0.0
    return tr("under 1 %") if share < 1 else f"{share:.0f} %"
