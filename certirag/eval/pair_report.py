"""The figures of labelled pairs through the gate and through the verifier alone: tables and plots."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from certirag.core.policy import Policy
from certirag.eval import measures
from certirag.eval.builtin_questions import QuestionFigures, questions_table
from certirag.eval.gate_counts import BadgeCount, trials_of
from certirag.eval.pair_figures import (
    ALL,
    CALLED,
    SourceFigures,
    figures,
    json_values,
    markdown,
    sources_of,
    table,
)
from certirag.eval.pair_rows import MeasuredRow
from certirag.eval.systems import systems_of, systems_table
from certirag.verification.clopper_pearson import exact_interval

FORMAT: Final = 1  # of the figures


@dataclass(frozen=True, slots=True)
class GateFigures:
    """What the whole gate makes of one source: badges, how many are wrong, and what it costs.

    *precision* is the Verified-Claim Precision with its exact interval, *coverage* the Verified Coverage:
    the share of entailed rows whose claims are all Verified. *exposure* is the share of untrue rows among
    all, which a page that shows everything exposes; that of the strict page is 1 - *precision*.
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
        "Systems over the same rows": systems_table(systems),
        "The whole gate": gate_table(gate, policy),
        "The verifier alone": markdown(verifier),
    }
    report = {
        "format": FORMAT,
        "systems": json_values(systems),
        "gate": json_values(gate),
        "verifier": json_values(verifier),
    }
    if questions:
        parts["Questions"] = questions_table(questions)
        report["questions"] = json_values(questions)
    text = "\n".join(f"## {name}\n\n{part}\n" for name, part in parts.items())
    (out / "figures.md").write_text(f"{head}\n\n{text}", "utf-8")
    plain = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    (out / "figures.json").write_text(plain + "\n", "utf-8")
    (out / "figures.csv").write_text(_csv(gate, verifier), "utf-8", newline="")
    _plots(gate, verifier, out)
    return report


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
    interval = exact_interval(right, own.badges) if own.badges else (0.0, 1.0)
    return GateFigures(
        source=name,
        rows=len(rows),
        badges=own.badges,
        wrong=own.wrong,
        precision=right / own.badges if own.badges else None,
        low=interval[0],
        high=interval[1],
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
    )


def gate_table(found: Sequence[GateFigures], policy: Policy) -> str:
    """Return the gate's figures as a Markdown table, for a reader."""
    head = (
        "Source",
        "Rows",
        f"Wrong of the badges, {policy.name}",
        "Verified-Claim Precision (95 %)",
        "Verified Coverage",
        "Untrue of all, shown without a gate",
        "Balanced accuracy of the verifier (95 %)",
        "AUROC of the cosine alone",
    )
    return "\n".join(
        table(
            head,
            [
                (
                    own.source,
                    str(own.rows),
                    f"{own.wrong} of {own.badges}",
                    "–"
                    if own.precision is None
                    else f"{own.precision:.3f} ({own.low:.3f} to {own.high:.3f})",
                    "–" if own.coverage is None else f"{own.coverage:.1%}",
                    f"{own.exposure:.1%}",
                    _range(own.balanced_accuracy_low, own.balanced_accuracy_high),
                    "–" if math.isnan(own.cosine_auroc) else f"{own.cosine_auroc:.3f}",
                )
                for own in found
            ],
        )
    )


def _range(low: float, high: float) -> str:
    return "–" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def _csv(gate: Sequence[GateFigures], verifier: Sequence[SourceFigures]) -> str:
    """Return one line for each source with the figures of the gate and of the verifier alone."""
    text = io.StringIO()
    names = ("balanced_accuracy", "auroc", "ece", "brier", "three_way_accuracy", "errors")
    out = csv.writer(text)
    fields = [name for name in GateFigures.__slots__ if name != "curve"]
    out.writerow([*fields, *names])
    for own, alone in zip(gate, verifier, strict=True):
        out.writerow([*(getattr(own, f) for f in fields), *(getattr(alone, n) for n in names)])
    return text.getvalue()


def _plots(gate: Sequence[GateFigures], verifier: Sequence[SourceFigures], out: Path) -> None:
    """Write precision against coverage over the threshold, and the reliability curve, as pages."""
    from plotly.graph_objects import Figure, Scatter  # noqa: PLC0415  # only here needed

    risk = Figure(
        layout={"xaxis_title": "Verified Coverage", "yaxis_title": "Verified-Claim Precision"}
    )
    for own in gate:
        curve = [point for point in own.curve if None not in point]
        risk.add_trace(
            Scatter(
                x=[point[2] for point in curve],
                y=[point[1] for point in curve],
                text=[f"threshold {point[0]:.2f}" for point in curve],
                mode="lines+markers",
                name=f"{own.source[:40]} ({own.rows})",
                visible=True if own.source == ALL else "legendonly",
            )
        )
    bins = next(own for own in verifier if own.source == ALL).reliability
    reliable = Figure(layout={"xaxis_title": "Mean score", "yaxis_title": "Share that is entailed"})
    reliable.add_trace(Scatter(x=[0, 1], y=[0, 1], mode="lines", name="calibrated"))
    reliable.add_trace(
        Scatter(
            x=[one.mean_score for one in bins],
            y=[one.share_entailed for one in bins],
            text=[f"{one.rows} rows" for one in bins],
            mode="lines+markers",
            name="measured",
        )
    )
    for name, figure in (("risk.html", risk), ("reliability.html", reliable)):
        figure.write_html(out / name, include_plotlyjs="directory")
