"""The command line: parse, call, print. Exit codes are those of DESIGN §7.

0 done · 2 bad usage or bad input · 3 refused: the evidence does not support an answer ·
4 a check failed. Progress goes to standard error; ``--json`` prints one document on standard
output and nothing else there.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise

from certirag.cli.arguments import command_line
from certirag.cli.output import complain
from certirag.errors import CertiRAGError, InputError
from certirag.settings import Settings, read_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches the user."""
    parser = command_line()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _none_empty(given)
        options = parser.parse_args(given)
        code = command_of(options)(options, read_settings())
        sys.stdout.flush()
    except CertiRAGError as error:
        return complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return complain("interrupted; nothing was left half written", 130)
    except BrokenPipeError:
        _stop_printing()
        return 0
    except Exception as error:  # the last line of defence for the reader's eyes
        if os.environ.get("CERTIRAG_TRACEBACK"):
            raise
        if isinstance(error, OSError) and error.filename and error.strerror:
            return complain(f"{error.filename}: {error.strerror}: check the path", 2)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _stop_printing()
            return complain("the output: no space left there; make room, or write elsewhere", 2)
        return complain(
            f"unexpected {type(error).__name__}: {error}; "
            "set CERTIRAG_TRACEBACK=1 and run again to see where",
            2,
        )
    return code


def _stop_printing() -> None:
    """Let nothing more be written to a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _none_empty(given: Sequence[str]) -> None:
    """Refuse an empty argument: as a path it would be the current folder, elsewhere be ignored."""
    for before, one in pairwise(("certirag", *given)):
        name, equals, value = one.partition("=")
        if not one or (name.startswith("--") and equals and not value):
            raise InputError(f"the argument {one or f'after {before}'} is empty: give it a value")


def command_of(options: argparse.Namespace) -> Callable[[argparse.Namespace, Settings], int]:
    """Return the function that parsed *options* ask for, loading what it needs."""
    module, _, name = options.run.partition(":")
    found: Callable[[argparse.Namespace, Settings], int] = getattr(
        import_module(f"certirag.cli.{module}"), name
    )
    return found
