"""What each check of the word aligner is worth, counted in badges: labelled pairs through the whole gate.

    python -m training.badges --pairs held.jsonl

Each check is left out in turn; printed are the untrue rows that it alone stops and the true ones that
it alone costs. How often badges are wrong, `certirag eval risk` counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from certirag.adapters.verifiers.embedded_verifier import forget_wording
from certirag.bootstrap import load_policy, make_splitter, make_verifier
from certirag.core.policy import Policy
from certirag.errors import CertiRAGError
from certirag.eval.gate_counts import LabelledRow, decided
from certirag.eval.pair_rows import read_pair_rows
from certirag.ports import SentenceSplitter, Verifier
from certirag.settings import Settings, read_settings
from certirag.verification.lexical import scoring

_AT_ONCE = 200  # rows whose pairs the verifier batches by length


def read_labelled(path: Path, limit: int | None) -> list[LabelledRow]:
    """Return the rows of a JSON Lines file, about *limit* evenly spread; InputError naming a line."""
    rows = [row.labelled(number) for number, row in enumerate(read_pair_rows(path))]
    return rows[:: max(1, len(rows) // limit)] if limit else rows


def each_check(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policy: Policy,
    split: SentenceSplitter,
    settings: Settings,
) -> Iterator[tuple[str, int, int]]:
    """Yield each check with the untrue rows that it alone stops and the true ones it alone costs.

    A row counts where all of its claims are Verified without the check and not with it. The head
    that weighs the findings is not fitted anew. The last line is that of all checks together.
    """
    with_all = _whole(rows, verifier, policy, split, settings)
    checks = scoring.CHECKS
    try:
        for out in [*((check,) for check in checks), checks]:
            scoring.CHECKS = tuple(check for check in checks if check not in out)  # type: ignore[misc]
            forget_wording()
            without = _whole(rows, verifier, policy, split, settings)
            new = [r for r, a, b in zip(rows, with_all, without, strict=True) if b and not a]
            true = sum(row.entailed for row in new)
            name = "all of them" if out is checks else out[0].__name__
            yield name, len(new) - true, true
    finally:
        scoring.CHECKS = checks  # type: ignore[misc]
        forget_wording()


def _whole(
    rows: Sequence[LabelledRow],
    verifier: Verifier,
    policy: Policy,
    split: SentenceSplitter,
    settings: Settings,
) -> list[bool]:
    """Return for each row whether it makes claims and all of them are Verified."""
    found = []
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        for (claims,) in decided(part, verifier, (policy,), split, settings):
            found.append(bool(claims) and all(claim.state == "VERIFIED" for claim in claims))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.badges", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pairs", type=Path, required=True, help="JSON lines")
    parser.add_argument("--verifier", default="", help="as in CERTIRAG_VERIFIER")
    parser.add_argument("--policy", default="", help="as in CERTIRAG_POLICY")
    parser.add_argument("--limit", type=int, help="about so many rows, evenly spread")
    options = parser.parse_args(arguments)
    try:
        _print_each_check(options)
    except (CertiRAGError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _print_each_check(options: argparse.Namespace) -> None:
    settings = read_settings()
    policy = load_policy(options.policy or settings.policy)
    verifier = make_verifier(options.verifier or settings.verifier)
    rows = read_labelled(options.pairs, options.limit)
    split = make_splitter(settings.sentences)
    print("check | untrue rows that it alone stops | true rows that it alone costs")
    for name, stopped, costs in each_check(rows, verifier, policy, split, settings):
        print(f"{name} | {stopped} | {costs}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
