"""Whole numbers as arguments: read, or refused in one line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

_DIGITS: Final = 15


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number from *low* to *high*, or of any size."""
    wanted = f"from {low} to {high}" if high else f"of at least {low}"

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
        if number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"{text[:40]!r}: give a whole number {wanted}")
        return number

    return read


def entry(text: str) -> int:
    """Return the number of an entry of the log."""
    if not text.isascii() or not text.isdigit() or len(text) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: give the number of an entry, from 0")
    return int(text)
