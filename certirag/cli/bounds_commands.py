"""The command that holds a run's figures against named bounds."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Final

from certirag.cli.output import print_json
from certirag.eval.bounds import bounds_lines, check_bounds, read_bounds
from certirag.render import visible
from certirag.settings import Settings

FORMAT: Final = 1  # of what became of the bounds, as JSON
CHECK_FAILED: Final = 4


def eval_bounds(options: argparse.Namespace, _settings: Settings) -> int:
    """Say of each bound whether it holds; the exit code is 4 where one does not."""
    checked = check_bounds(options.folder, read_bounds(options.bounds))
    if options.json:
        print_json({"format": FORMAT, "bounds": list(map(asdict, checked))})
    else:
        print("\n".join(map(visible, bounds_lines(checked))))
    return CHECK_FAILED if any(one.broken for one in checked) else 0
