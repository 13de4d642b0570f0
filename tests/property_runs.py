"""How often a property is tried: on the same cases each time, or on random ones for longer.

`make test` draws the same cases on every machine, so that it fails for a change and not by chance.
CERTIRAG_FUZZ=N draws at random, N times as many, which `make prove` does; what it finds becomes a
fixed case beside its property.
"""

from __future__ import annotations

import os
from typing import Any, Final

from hypothesis import settings

TIMES: Final = int(os.environ.get("CERTIRAG_FUZZ", "0"))
settings.register_profile(
    "project", max_examples=100 * max(TIMES, 1), derandomize=not TIMES, deadline=None
)
settings.load_profile("project")


def examples(count: int, **more: Any) -> settings:
    """Return the settings for *count* cases of a property, times CERTIRAG_FUZZ."""
    return settings(max_examples=count * max(TIMES, 1), **more)
