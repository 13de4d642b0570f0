"""What the command line prints: results on standard output, the rest on standard error."""

from __future__ import annotations

import json
import sys
from typing import Final

_FEW_STEPS: Final = 5


def print_json(value: object) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n")


def say_progress(line: str, done: int, total: int) -> None:
    """Say what is being done: one line that moves on a terminal, few lines in a log."""
    from certirag.render import visible  # noqa: PLC0415  # not for --help

    text = f"[{done}/{total}] {line}" if total else line
    if sys.stderr.isatty():
        end = "\n" if done >= total else ""
        print(f"\r\x1b[K{visible(text)}", end=end, file=sys.stderr, flush=True)
    elif total <= _FEW_STEPS or done in {0, total}:
        note(text)


def note(line: str) -> None:
    """Print one line on standard error, hostile characters made visible."""
    from certirag.render import visible  # noqa: PLC0415  # not for --help

    print(visible(line), file=sys.stderr, flush=True)


def complain(message: str, code: int) -> int:
    """Print an error as one line on standard error and return *code*."""
    note("certirag: " + " ".join(message.split()))
    return code
