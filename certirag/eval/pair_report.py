"""The figures of labelled pairs through the gate and through the verifier alone: what a run's folder gets.

``figures.json`` has all of them; ``figures.md`` and ``figures.tex`` are the tables for readers; ``figures.csv``
has a line for each source, ``systems.csv`` and ``questions.csv`` one for each of those. Each plot is a page and,
where matplotlib is installed, a picture.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from certirag.core.policy import Policy
from certirag.eval import measures
from certirag.eval.builtin_questions import QuestionFigures, questions_table
from certirag.eval.figure_tables import TEX_NEEDS, FigureTable, flat_table, latex_comment
from certirag.eval.gate_counts import BadgeCount, trials_of
from certirag.eval.pair_figures import (
    CALLED,
    SourceFigures,
    figures,
    json_values,
    sources_of,
    verifier_tables,
)
from certirag.eval.pair_plots import plots_of
from certirag.eval.pair_rows import MeasuredRow
from certirag.eval.plot_files import write_plots
from certirag.eval.systems import systems_of, systems_table
from certirag.render import visible
from certirag.verification.clopper_pearson import exact_interval

FORMAT: Final = 1  # of the figures
_OF_VERIFIER: Final = (
    "balanced_accuracy",
    "auroc",
    "ece",
    "brier",
    "three_way_accuracy",
    "errors",
    "auprc",
    "macro_f1",
    "three_way_macro_f1",
)


@dataclass(frozen=True, slots=True)
class GateFigures:
    """What the whole gate makes of one source: badges, how many are wrong, and what it costs.

    *precision* is the Verified-Claim Precision with its exact interval, *coverage* the Verified Coverage:
    the share of entailed rows whose claims are all Verified. *exposure* is the share of untrue rows among
    all, which a page that shows everything exposes; that of the strict page is 1 - *precision*. *band*
    is the exact interval of the precision at each threshold of *curve*.
    """

    source: str
    rows: int
    badges: int
    wrong: int
    precision: float | None
    low: float
    high: float
    coverage: float | None
    exposure: float
    cosine_auroc: float
    balanced_accuracy_low: float
    balanced_accuracy_high: float
    curve: tuple[tuple[float, float | None, float | None], ...]  # threshold, precision, coverage
    band: tuple[tuple[float, float], ...]


def write_report(
    rows: Sequence[MeasuredRow],
    policy: Policy,
    out: Path,
    *,
    seed: int,
    head: str,
    questions: Sequence[QuestionFigures] = (),
) -> dict[str, Any]:
    """Write tables and plots of *rows* into the folder *out*, and return their figures.

    *head* says of the tables what was measured. *questions* were asked besides, and have a table of
    their own.
    """
    verifier = figures([row.scored for row in rows], policy.tau_entail)
    gate = [
        _gate(name, own, policy, seed)
        for name, own in sources_of(rows, lambda row: row.source).items()
    ]
    systems = systems_of(rows, policy)
    parts = {
        "Systems over the same rows": (systems_table(systems),),
        "The whole gate": (gate_table(gate, policy),),
        "The verifier alone": verifier_tables(verifier),
    }
    report = {
        "format": FORMAT,
        "systems": json_values(systems),
        "gate": json_values(gate),
        "verifier": json_values(verifier),
    }
    if questions:
        parts["Questions"] = (questions_table(questions),)
        report["questions"] = json_values(questions)
    plain = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    files = {
        "figures.md": _markdown(head, parts),
        "figures.tex": _latex(head, parts),
        "figures.json": plain + "\n",
        "figures.csv": _by_source(gate, verifier).csv(),
        "systems.csv": flat_table("Systems", systems).csv(),
        **({"questions.csv": flat_table("Questions", questions).csv()} if questions else {}),
    }
    for name, text in files.items():
        (out / name).write_text(text, "utf-8", newline="")
    write_plots(plots_of(rows, policy.tau_entail, gate, verifier, systems), out)
    return report


def _markdown(head: str, parts: Mapping[str, Sequence[FigureTable]]) -> str:
    blocks = {name: "\n\n".join(one.markdown() for one in own) for name, own in parts.items()}
    text = "\n".join(f"## {name}\n\n{block}\n" for name, block in blocks.items())
    return f"{head}\n\n{text}"


def _latex(head: str, parts: Mapping[str, Sequence[FigureTable]]) -> str:
    tables = [one.latex() for own in parts.values() for one in own]
    return "\n\n".join((f"{latex_comment(head)}\n{TEX_NEEDS}", *tables)) + "\n"


def _gate(name: str, rows: Sequence[MeasuredRow], policy: Policy, seed: int) -> GateFigures:
    trials = trials_of(policy)
    counts = [
        sum((BadgeCount(*row.counts[at]) for row in rows), BadgeCount())
        for at in range(len(trials))
    ]
    own = next(
        n for n, trial in zip(counts, trials, strict=True) if trial.tau_entail == policy.tau_entail
    )
    positive = np.array([row.gold == "entailed" for row in rows])
    called = np.array([(row.entailed or 0.0) >= CALLED for row in rows])
    low, high = measures.bootstrap_interval(
        lambda drawn: measures.balanced_accuracy(called[drawn], positive[drawn]),
        len(rows),
        seed=seed,
    )
    right = own.badges - own.wrong
    low_precision, high_precision = _interval(own)
    return GateFigures(
        source=name,
        rows=len(rows),
        badges=own.badges,
        wrong=own.wrong,
        precision=right / own.badges if own.badges else None,
        low=low_precision,
        high=high_precision,
        coverage=own.whole / own.asked if own.asked else None,
        exposure=1 - float(positive.mean()),
        cosine_auroc=measures.auroc(np.array([row.cosine for row in rows]), positive),
        balanced_accuracy_low=low,
        balanced_accuracy_high=high,
        curve=tuple(
            (
                trial.tau_entail,
                (n.badges - n.wrong) / n.badges if n.badges else None,
                n.whole / n.asked if n.asked else None,
            )
            for trial, n in zip(trials, counts, strict=True)
        ),
        band=tuple(map(_interval, counts)),
    )


def _interval(count: BadgeCount) -> tuple[float, float]:
    """Return the exact interval of the share of right badges; all of [0, 1] without a badge."""
    if not count.badges:
        return 0.0, 1.0
    return exact_interval(count.badges - count.wrong, count.badges)


def gate_table(found: Sequence[GateFigures], policy: Policy) -> FigureTable:
    """Return the gate's figures as a table for a reader."""
    head = (
        "Source",
        "Rows",
        f"Wrong of the badges, {visible(policy.name)}",
        "Verified-Claim Precision (95 %)",
        "Verified Coverage",
        "Untrue of all, shown without a gate",
        "Balanced accuracy of the verifier (95 %)",
        "AUROC of the cosine alone",
    )
    rows = [
        (
            own.source,
            str(own.rows),
            f"{own.wrong} of {own.badges}",
            None
            if own.precision is None
            else f"{own.precision:.3f} ({own.low:.3f} to {own.high:.3f})",
            None if own.coverage is None else f"{own.coverage:.1%}",
            f"{own.exposure:.1%}",
            _range(own.balanced_accuracy_low, own.balanced_accuracy_high),
            None if math.isnan(own.cosine_auroc) else f"{own.cosine_auroc:.3f}",
        )
        for own in found
    ]
    return FigureTable("The whole gate", head, tuple(rows))


def _range(low: float, high: float) -> str | None:
    return None if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def _by_source(gate: Sequence[GateFigures], verifier: Sequence[SourceFigures]) -> FigureTable:
    """Return one line for each source with the figures of the gate and of the verifier alone."""
    own = [name for name in GateFigures.__slots__ if name not in {"curve", "band"}]
    rows = [
        (*(getattr(by_gate, name) for name in own), *(getattr(alone, n) for n in _OF_VERIFIER))
        for by_gate, alone in zip(gate, verifier, strict=True)
    ]
    return FigureTable("Figures by source", (*own, *_OF_VERIFIER), tuple(rows))
