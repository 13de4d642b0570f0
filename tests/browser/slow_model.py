"""A language model's endpoint in a process of its own, which tells a recorded answer slowly.

Run as `python slow_model.py SECONDS [HELD]`: the first line on standard output is its address. The
pause stands behind each claim, so that whoever watches has something to see. After HELD claims it
says nothing more and stays: what is done to it then is done in the middle, however slow the reader is.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from llm_server import END, endpoint, event, stream

RECORDED = Path(__file__).with_name("recorded_answer.json")
_PIECE = 24  # characters of one event


def pieces(claims: list[dict[str, Any]], pause: float, held: int) -> Iterator[bytes]:
    """Yield the events of an answer that makes *claims*, a pause of *pause* seconds behind each.

    Behind the claim *held*, counted from 1, the pause does not end.
    """
    yield event('{"claims": [')
    for number, claim in enumerate(claims):
        text = (", " if number else "") + json.dumps(claim)
        for start in range(0, len(text), _PIECE):
            yield event(text[start : start + _PIECE])
        time.sleep(3600 if number + 1 == held else pause)
    yield event("]}")
    yield END


def main(pause: float, held: int = 0) -> None:
    """Serve until the process is ended."""
    claims = json.loads(RECORDED.read_text("utf-8"))["claims"]

    def answer(_sent: dict[str, Any], handler: Any) -> None:
        stream(handler, pieces(claims, pause, held))

    with endpoint(answer) as played:
        print(played.url, flush=True)  # noqa: T201  # how its address is told
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(float(sys.argv[1]), *map(int, sys.argv[2:]))
