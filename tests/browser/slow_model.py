"""A language model's endpoint in a process of its own, which tells a recorded answer slowly.

Run as `python slow_model.py SECONDS`: the first line on standard output is its address. The
pause stands behind each claim, so that whoever watches has something to see.
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


def pieces(claims: list[dict[str, Any]], pause: float) -> Iterator[bytes]:
    """Yield the events of an answer that makes *claims*, a pause of *pause* seconds behind each."""
    yield event('{"claims": [')
    for number, claim in enumerate(claims):
        text = (", " if number else "") + json.dumps(claim)
        for start in range(0, len(text), _PIECE):
            yield event(text[start : start + _PIECE])
        time.sleep(pause)
    yield event("]}")
    yield END


def main(pause: float) -> None:
    """Serve until the process is ended."""
    claims = json.loads(RECORDED.read_text("utf-8"))["claims"]

    def answer(_sent: dict[str, Any], handler: Any) -> None:
        stream(handler, pieces(claims, pause))

    with endpoint(answer) as played:
        print(played.url, flush=True)  # noqa: T201  # how its address is told
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(float(sys.argv[1]))
