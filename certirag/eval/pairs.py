"""`certirag eval pairs`: labelled pairs through the verifier and the whole gate, into a run's folder.

The folder holds ``run.json`` (what was run: data, verifier, policy), ``rows.jsonl`` (a line for each
row, written as it is measured) and, at the end, tables and plots. A run that was interrupted goes on
from its rows: each is measured by itself, so the figures are those of a run that was not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from certirag import __version__
from certirag.bootstrap import load_policy, make_embedder, make_splitter, make_verifier
from certirag.core.policy import Policy
from certirag.errors import InputError
from certirag.eval.gate_counts import counted, decided, trials_of
from certirag.eval.pair_figures import GOLD
from certirag.eval.pair_report import write_report
from certirag.eval.pair_rows import MEASURED, MeasuredRow, PairRow
from certirag.eval.published_files import plain_name, told
from certirag.eval.published_formats import PLAIN, PublishedPairs, published_pairs
from certirag.eval.resumable import measured_lines
from certirag.eval.timings import timed, write_timings
from certirag.ports import Embedder, Progress, SentenceSplitter, Verifier
from certirag.settings import Settings
from certirag.verification.judge import score_rows

FORMAT: Final = 2  # of a run
RUN, ROWS = "run.json", "rows.jsonl"
_BATCH: Final = 50  # rows measured and written at once


@dataclass(frozen=True, slots=True)
class PairsRun:
    """What a run measures: rows of *data* with a verifier and a policy; *limit* of them, drawn by *seed*.

    *data* is the file or folder of a published *format*.
    """

    data: Path
    out: Path
    limit: int | None
    seed: int
    jobs: int = 1  # processes
    format: str = PLAIN


def run_pairs(run: PairsRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Measure every row that *run*'s folder does not have yet, and return the figures of all.

    Raises InputError for bad rows, and where the folder holds a run of something else.
    """
    data = published_pairs(run.format, run.data)
    rows = _drawn(data, run, progress)
    verifier, policy = make_verifier(settings.verifier), load_policy(settings.policy)
    begin_run(run.out, _described(run, data, len(rows), verifier, policy))
    measured = measure_rows(run.out, rows, settings, progress, jobs=run.jobs)
    write_timings(run.out)
    head = head_of(verifier, policy)
    if run.format != PLAIN:
        name = plain_name(run.data.absolute().name)
        head += f" Data: `{name}`, as `{run.format}`; left out: {told(data.left_out)}."
    return write_report(measured, policy, run.out, seed=run.seed, head=head)


def _drawn(data: PublishedPairs, run: PairsRun, progress: Progress) -> list[tuple[int, PairRow]]:
    """Return the numbered rows of *run*; of a limited one no more are held than are drawn."""
    if not run.limit:
        return list(enumerate(data.rows(progress)))
    drawn = set(drawn_numbers(sum(1 for _ in data.rows(progress)), run.limit, run.seed))
    return [(number, row) for number, row in enumerate(data.rows(progress)) if number in drawn]


def drawn_numbers(count: int, limit: int | None, seed: int) -> list[int]:
    """Return *limit* of the numbers below *count*, drawn by *seed* and rising; all where it is no less."""
    if not limit or limit >= count:
        return list(range(count))
    numbers: list[int] = np.random.default_rng(seed).choice(count, limit, replace=False).tolist()
    return sorted(numbers)


def measure_rows(
    out: Path,
    rows: Sequence[tuple[int, PairRow]],
    settings: Settings,
    progress: Progress,
    *,
    jobs: int,
) -> list[MeasuredRow]:
    """Return the numbered *rows* as measured by the verifier and the policy of *settings*."""
    return measured_lines(
        out / ROWS,
        MEASURED,
        rows,
        timed(partial(_measure, settings=settings), out, "rows"),
        partial(progress, "Measuring rows"),
        batch=_BATCH,
        jobs=jobs,
    )


def _described(
    run: PairsRun, data: PublishedPairs, rows: int, verifier: Verifier, policy: Policy
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "what": "pairs",
        "data": {
            "name": run.data.absolute().name,
            "format": data.format,
            "sha256": data.sha256(),
            "left_out": dict(sorted(data.left_out.items())),
        },
        "rows": rows,
        "limit": run.limit,
        "seed": run.seed,
        "verifier": asdict(verifier.identity),
        "policy": asdict(policy),
        "certirag": __version__,
    }


def head_of(verifier: Verifier, policy: Policy) -> str:
    """Return what was measured, as a line above tables."""
    found = verifier.identity
    return (
        f"Measured: verifier `{found.name}`, version {found.version}, SHA-256 `{found.sha256}`; "
        f"policy `{policy.name}`, entailment from {policy.tau_entail:g}."
    )


def begin_run(out: Path, described: Mapping[str, Any]) -> None:
    """Make the run's folder *out*, or see that it is of the same run; InputError where it is not."""
    text = json.dumps(described, ensure_ascii=False, indent=1) + "\n"
    try:
        out.mkdir(parents=True, exist_ok=True)
        held = (out / RUN).read_text("utf-8") if (out / RUN).exists() else ""
        if held and held != text:
            message = f"{out}: holds a run of other data, verifier or policy: name another folder"
            raise InputError(message)
        (out / RUN).write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}): name a folder") from error


@cache
def _parts(settings: Settings) -> tuple[Verifier, Embedder, SentenceSplitter]:
    """Return what measures, made once in each process."""
    return (
        make_verifier(settings.verifier),
        make_embedder(settings.embedder),
        make_splitter(settings.sentences),
    )


def _measure(rows: Sequence[tuple[int, PairRow]], settings: Settings) -> list[MeasuredRow]:
    verifier, embedder, split = _parts(settings)
    policy = load_policy(settings.policy)
    pairs = [{"premise": row.premise, "hypothesis": row.hypothesis} for _, row in rows]
    scored = score_rows(pairs, verifier, split, lambda *_: None)
    trials = trials_of(policy)
    own = next(at for at, trial in enumerate(trials) if trial.tau_entail == policy.tau_entail)
    labelled = [row.labelled(number) for number, row in rows]
    claims = decided(labelled, verifier, trials, split, settings)
    found = []
    for (number, row), own_row, score, each in zip(rows, labelled, scored, claims, strict=True):
        counts = [counted(own_row, own_claims) for own_claims in each]
        found.append(
            MeasuredRow(
                number=number,
                source=row.source,
                gold=GOLD[row.label],
                label=str(score["label"]),
                entailed=_score(score["entailed"]),
                not_enough_info=_score(score["not_enough_info"]),
                contradicted=_score(score["contradicted"]),
                cosine=_cosine(row, embedder, split),
                premise_words=len(row.premise.split()),
                hypothesis_words=len(row.hypothesis.split()),
                title=row.title,
                premise=row.premise,
                hypothesis=row.hypothesis,
                false=row.false,
                claims=each[own],
                counts=[(n.badges, n.wrong, n.asked, n.whole) for n in counts],
            )
        )
    return found


def _score(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _cosine(row: PairRow, embedder: Embedder, split: SentenceSplitter) -> float:
    """Return the cosine of the hypothesis and the closest sentence of the premise, in [0, 1]."""
    found = [row.premise[start:end] for start, end in split(row.premise)]
    vectors = embedder.embed([row.hypothesis, *(found or [row.premise])])
    return round(float(np.clip((vectors[1:] @ vectors[0]).max(), 0.0, 1.0)), 6)
