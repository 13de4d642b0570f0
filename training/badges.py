"""Measures how often badges are wrong: labelled pairs through the whole gate, counted.

    python -m training.badges --pairs held.jsonl --name "held-out pairs" \
        --description "Pairs that people labelled, none of them trained on." --out measured.json

What is measured once is decided under each policy that is asked for, and under each again with
other thresholds of entailment in its place.

What counts is told in `certirag.eval.gate_counts`. ``--each-check`` leaves out each check of the
word aligner in turn, and says which untrue rows it alone stops and which true ones it alone costs.
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
from certirag.eval.gate_counts import LabelledRow, decided, measure_set
from certirag.eval.pair_rows import read_pair_rows
from certirag.ports import SentenceSplitter, Verifier
from certirag.settings import Settings, read_settings
from certirag.verification.lexical import scoring
from certirag.verification.measured import measurements_bytes, read_measurements

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
    parser.add_argument("--name", required=True, help="what the set is called in a sentence")
    parser.add_argument("--description", required=True, help="what it is, and who labelled it")
    parser.add_argument("--verifier", default="", help="as in CERTIRAG_VERIFIER")
    parser.add_argument("--policy", nargs="+", default=[], help="one or more, as CERTIRAG_POLICY")
    parser.add_argument("--limit", type=int, help="about so many rows, evenly spread")
    parser.add_argument("--each-check", action="store_true", help="what each word check is worth")
    parser.add_argument("--out", type=Path, help="file of measurements to add this one to")
    options = parser.parse_args(arguments)
    try:
        _measure(options)
    except (CertiRAGError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _measure(options: argparse.Namespace) -> None:
    settings = read_settings()
    policies = [load_policy(name) for name in options.policy or [settings.policy]]
    verifier = make_verifier(options.verifier or settings.verifier)
    rows = read_labelled(options.pairs, options.limit)

    def say(done: int) -> None:
        print(f"{done} of {len(rows)} rows decided", file=sys.stderr)

    split = make_splitter(settings.sentences)
    if options.each_check:
        print("check | untrue rows that it alone stops | true rows that it alone costs")
        for name, stopped, costs in each_check(rows, verifier, policies[0], split, settings):
            print(f"{name} | {stopped} | {costs}", flush=True)
        return
    measured = measure_set(
        (options.name, options.description), rows, verifier, policies, split, settings, say
    )
    for one in measured:
        own = one.at(one.policy.tau_entail)
        print(
            f"{one.wrong} of {one.badges} badges wrong; of {one.true_rows} entailed rows "
            f"{own and own.covered} are Verified whole; {len(rows)} rows, policy {one.policy.name}"
        )
    if options.out is None:
        return
    renewed = {(options.name, policy.name) for policy in policies}
    kept = [
        one
        for one in read_measurements(options.out)
        if one.verifier == verifier.identity.sha256
        and (one.set_name, one.policy.name) not in renewed
    ]
    beside = options.out.with_suffix(".new")
    beside.write_bytes(measurements_bytes([*kept, *measured]))
    beside.replace(options.out)


if __name__ == "__main__":
    sys.exit(main())
