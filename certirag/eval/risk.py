"""`certirag eval risk`: how often badges are wrong, set by set and policy by policy, as pages say it of a badge.

Three sets, through the whole gate: claims about small documents, claims of drafts with planted errors over
the demo corpora, and pairs that people labelled, which do not ship. What is measured once is decided under
each policy, and again with other thresholds of entailment in the place of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from certirag.bootstrap import load_policy
from certirag.core.policy import Policy
from certirag.errors import InputError
from certirag.eval.builtin import (
    Draft,
    draft_counts,
    draft_record,
    drafts_with_errors,
    fixture_files,
    fixture_lines,
    scratch_services,
)
from certirag.eval.figure_tables import FigureTable
from certirag.eval.gate_counts import BadgeCount, LabelledRow, measure_set, measurements_of
from certirag.eval.pair_rows import PairRow, read_pair_rows
from certirag.ports import Progress
from certirag.settings import Settings
from certirag.verification.measured import Measurement, measurements_bytes, read_measurements

T = TypeVar("T")
Measure = Callable[[Sequence[Policy], Settings, Progress], list[Measurement]]

_POLICIES: Final = ("strict-1", "strict-2")
_MOST_PUBLIC: Final = 2_000
# What each set is called in a sentence; what it is, and who labelled it.
_DOCUMENTS: Final = (
    "claims about {} small documents",
    "Written by hand for this; the untrue ones, more than half, are one step from the text.",
)
_DRAFTS: Final = (
    "claims of drafts with planted errors, over the demo corpora",
    (
        "Drafts and errors were written by the makers of the gate, who looked at them while they "
        "built it; a claim that touches an error is untrue."
    ),
)
_PUBLIC: Final = (
    "pairs of eight public development sets",
    (
        "Labelled by people for MNLI, ConjNLI, HealthVer, COVID-Fact, QAGS, WiCE, AttributionBench "
        "and SufficientFacts; none of them was trained on."
    ),
)


@dataclass(frozen=True, slots=True)
class RiskRun:
    """What to measure: sets and policies by name (all that can be, where none is named).

    *data* holds the pairs of the set ``public``; of each set about *limit* units are taken, evenly
    spread; *out* is a file of measurements to renew.
    """

    sets: Sequence[str] = ()
    policies: Sequence[str] = ()
    data: Path | None = None
    limit: int | None = None
    out: Path | None = None


def run_risk(run: RiskRun, settings: Settings, progress: Progress) -> list[Measurement]:
    """Measure each set; one that is measured stands in *run*'s file before the next begins.

    Raises InputError where data or fixtures are missing, and ModelError where a policy grants no badge on a set or the
    file cannot be renewed.
    """
    sets = dict.fromkeys(run.sets or ("documents", "drafts", *(("public",) if run.data else ())))
    if run.data and "public" not in sets:
        raise InputError("--data is for the set public: name it too, or leave --data out")
    policies = [load_policy(name) for name in dict.fromkeys(run.policies or _POLICIES)]
    if run.out:
        read_measurements(run.out)  # what cannot be renewed is said before minutes of measuring
    found = []
    for measure in [_READ[name](run) for name in sets]:
        measured = measure(policies, settings, progress)
        if run.out:
            _renew(run.out, measured)
        found += measured
    return found


def risk_table(found: Sequence[Measurement]) -> FigureTable:
    """Return what was measured as a table, a line for each set and policy."""
    head = ("set", "policy", "badges", "wrong", "95 % interval", "true statements with a badge")
    rows = []
    for one in found:
        own = one.at(one.policy.tau_entail)
        covered = f"{own.covered} of {one.true_rows}" if own else None
        between = " to ".join(one.between)
        rows.append((one.set_name, one.policy.name, one.badges, one.wrong, between, covered))
    return FigureTable("How often badges are wrong", head, tuple(rows))


def _documents(run: RiskRun) -> Measure:
    files = fixture_files("heldout/documents*.jsonl")
    documents = [
        one for file in files if not file.stem.endswith("_questions") for one in fixture_lines(file)
    ]
    rows = [
        PairRow(one["document"], claim, "entailed" if true else "not_entailed")
        for one in documents
        for claim, true, _ in one["claims"]
    ]
    name, description = _DOCUMENTS
    named = (name.format(len(documents)), description)
    return partial(_measure_rows, named, _spread(_labelled(rows), run.limit))


def _drafts(run: RiskRun) -> Measure:
    return partial(_measure_drafts, _spread(drafts_with_errors(), run.limit))


def _public(run: RiskRun) -> Measure:
    if run.data is None:
        raise InputError("the set public does not ship: give its pairs with --data FILE")
    rows = [PairRow(row.premise, row.hypothesis, row.label) for row in read_pair_rows(run.data)]
    return partial(_measure_rows, _PUBLIC, _spread(_labelled(rows), run.limit or _MOST_PUBLIC))


_READ: Final = {"documents": _documents, "drafts": _drafts, "public": _public}


def _labelled(rows: Sequence[PairRow]) -> list[LabelledRow]:
    return [row.labelled(number) for number, row in enumerate(rows)]


def _spread(units: Sequence[T], limit: int | None) -> Sequence[T]:
    """Return about *limit* of *units*, evenly spread."""
    return units[:: max(1, len(units) // limit)] if limit else units


def _measure_rows(
    named: tuple[str, str],
    rows: Sequence[LabelledRow],
    policies: Sequence[Policy],
    settings: Settings,
    progress: Progress,
) -> list[Measurement]:
    services = scratch_services(settings)

    def say(done: int) -> None:
        progress(f"Measuring {named[0]}", done, len(rows))

    say(0)
    return measure_set(named, rows, services.verifier, policies, services.split, settings, say)


def _measure_drafts(
    drafts: Sequence[Draft], policies: Sequence[Policy], settings: Settings, progress: Progress
) -> list[Measurement]:
    def count(trials: Sequence[Policy]) -> list[BadgeCount]:
        counts = [BadgeCount()] * len(trials)
        for done, draft in enumerate(drafts):
            progress(f"Measuring {_DRAFTS[0]}", done, len(drafts))
            for each in draft_counts(draft, draft_record(draft, settings), trials).values():
                counts = [old + new for old, new in zip(counts, each, strict=True)]
        progress(f"Measuring {_DRAFTS[0]}", len(drafts), len(drafts))
        return counts

    verifier = scratch_services(settings).verifier.identity.sha256
    return measurements_of(_DRAFTS, verifier, policies, count)


def _renew(path: Path, measured: Sequence[Measurement]) -> None:
    """Put *measured* into the file, whole or not at all; nothing of another verifier stays there."""
    renewed = {(one.set_name, one.policy.name) for one in measured}
    verifiers = {one.verifier for one in measured}
    kept = [
        one
        for one in read_measurements(path)
        if one.verifier in verifiers and (one.set_name, one.policy.name) not in renewed
    ]
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(measurements_bytes([*kept, *measured]))
    beside.replace(path)
