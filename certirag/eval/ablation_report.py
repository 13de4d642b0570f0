"""The table of an ablation: wrong badges and coverage of each variant, and McNemar's test against the default."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from certirag.errors import InputError
from certirag.eval.figure_tables import FigureTable
from certirag.eval.measures import holm, mcnemar
from certirag.eval.pair_figures import json_values
from certirag.eval.pair_plots import FigurePlot, PlotSeries, legend_name
from certirag.eval.plot_files import write_plots
from certirag.eval.systems import Share
from certirag.eval.variants import DEFAULT, Variant, left_out

FORMAT: Final = 1  # of the figures
_SHARES: Final = (-0.02, 1.02)
_ABSENT: Final = (
    "Retrieval: `certirag eval retrieval` compares dense, BM25, hybrid and reranked search.",
    (
        "`enable_evidence_preselection` and `enable_interleaved_generation`: they shape what is written, "
        "and these statements and drafts are written already."
    ),
    (
        "A lexical verifier: none has a name; `certirag eval builtin` has words found letter for letter "
        "as a system of its table."
    ),
    (
        "`nli:MODEL`, `minicheck:MODEL`, `hhem:MODEL` and `llm:MODEL`: with `--verifier NAME`, where the "
        "model is there."
    ),
    "A policy without one of the eight rules of the contract: none can be built.",
    (
        "Other evidence, whole statements and isolation are changed for the statements alone, where no "
        "setting leads to them; a toggle bears on the drafts alone."
    ),
)


@dataclass(frozen=True, slots=True)
class AblatedRow:
    """A statement or a claim of a draft, *number* of its data, *entailed* by its documents or not.

    *claims* are its claims and their states under the policy in force; *counts* has by the name of a
    policy badges, wrong ones, entailed rows and those whose claims are all Verified.
    """

    number: int
    source: str
    text: str
    entailed: bool
    claims: tuple[tuple[str, str], ...]
    counts: dict[str, tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class AblationFigures:
    """What a change comes to over *rows*, beside the default over the same ones.

    *wrong* are the wrong ones of the badges, *coverage* the true rows whose claims are all Verified.
    A row is right where all of it is Verified and true, or nothing untrue of it is; *only_default*
    and *only_this* count the rows that one of both has right. *p* is McNemar's, adjusted by Holm
    for all changes of the table; None for the default itself.
    """

    changed: str
    to: str
    rows: int
    wrong: Share
    coverage: Share
    only_default: int = 0
    only_this: int = 0
    p: float | None = None


def write_ablation_report(
    rows: Mapping[str, Sequence[AblatedRow]],
    variants: Sequence[Variant],
    policies: Sequence[str],
    out: Path,
    *,
    head: str,
    costs: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Write the table of all *variants* and *policies*, the own one first, and return its figures.

    *rows* are by the name of the variant; those of the default hold counts under each policy. *costs*
    are its timings, which are drawn beside what is right and are no figures.
    """
    found = ablation_figures(rows, variants, policies)
    absent = "\n".join(f"- {line}" for line in _ABSENT)
    text = f"{head}\n\n{ablation_table(found)}\n\nNot in this table:\n\n{absent}\n"
    report = {"format": FORMAT, "figures": json_values(found), "absent": list(_ABSENT)}
    out.mkdir(parents=True, exist_ok=True)
    (out / "figures.md").write_text(text, "utf-8")
    plain = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    (out / "figures.json").write_text(plain + "\n", "utf-8")
    (out / "figures.csv").write_text(_csv(found), "utf-8", newline="")
    write_plots(cost_plots(rows, variants, policies[0], costs), out)
    return report


def cost_plots(
    rows: Mapping[str, Sequence[AblatedRow]],
    variants: Sequence[Variant],
    policy: str,
    costs: Mapping[str, Mapping[str, Any]],
) -> list[FigurePlot]:
    """Return what is right of the statements against what each variant took for one, where it was timed.

    A variant of one batch has no time: that batch made the models ready too.
    """
    right: list[PlotSeries] = []
    precise: list[PlotSeries] = []
    for variant in variants:
        cost = costs.get(variant.name, {}).get("statements")
        own = [row for row in rows[variant.name] if not _of_draft(row)]
        if cost and own:
            share = Share(sum(_right(row, policy) for row in own), len(own))
            name = DEFAULT if variant.name == DEFAULT else f"{variant.changed}: {variant.to}"
            if cost["first_batches_left_out"]:
                right.append(_point(name, cost["ms_per_unit_p50"], share))
            wrong, _ = _shares(own, policy)
            if wrong.whole and "pairs_per_unit" in cost:
                correct = Share(wrong.whole - wrong.part, wrong.whole)
                precise.append(_point(name, cost["pairs_per_unit"], correct))
    return [
        FigurePlot(
            "latency",
            f"Statements decided rightly under {policy} against the time for one",
            "Median milliseconds a statement, in batches",
            "Share decided rightly",
            tuple(right),
            y_range=_SHARES,
        ),
        FigurePlot(
            "pairs",
            f"Precision of badges under {policy} against the pairs judged for a statement",
            "Pairs of claim and evidence a statement",
            "Verified-Claim Precision",
            tuple(precise),
            y_range=_SHARES,
        ),
    ]


def _point(name: str, cost: float, share: Share) -> PlotSeries:
    at = (share.part / share.whole,)
    return PlotSeries(legend_name(name), (cost,), at, "points", notes=(str(share),))


def ablation_figures(
    rows: Mapping[str, Sequence[AblatedRow]], variants: Sequence[Variant], policies: Sequence[str]
) -> list[AblationFigures]:
    """Return the figures of the default, whole and by part, of each variant and of each policy."""
    own, *others = policies
    default = {row.number: row for row in rows[DEFAULT]}
    drafts = [number for number, row in default.items() if _of_draft(row)]
    statements = [number for number in default if number not in set(drafts)]
    found = [
        _default("as it comes", [default[number] for number in default], own),
        _default("the statements of it", [default[number] for number in statements], own),
        _default("the drafts of it", [default[number] for number in drafts], own),
    ]
    changed = []
    for variant in variants:
        if variant.name != DEFAULT:
            mine = rows[variant.name]
            beside = [default.get(row.number) for row in mine]
            known = [row for row in beside if row is not None]
            if len(known) != len(mine):
                raise InputError(
                    f"{variant.name}: has other rows than {DEFAULT}: measure into another folder"
                )
            changed.append(_compared(variant.changed, variant.to, known, mine, (own, own)))
            other = left_out(own, variant.without)
            if other in policies:
                to = f"the same, both without {variant.without}"
                changed.append(_compared(variant.changed, to, known, mine, (other, other)))
    everything = list(default.values())
    changed += [_compared("policy", name, everything, everything, (own, name)) for name in others]
    p = holm([one.p or 0.0 for one in changed])
    found += [replace(one, p=adjusted) for one, adjusted in zip(changed, p, strict=True)]
    return found


def _of_draft(row: AblatedRow) -> bool:
    return row.source.startswith("drafts")


def _default(to: str, rows: Sequence[AblatedRow], policy: str) -> AblationFigures:
    return AblationFigures("nothing", to, len(rows), *_shares(rows, policy))


def _shares(rows: Sequence[AblatedRow], policy: str) -> tuple[Share, Share]:
    badges, wrong, asked, whole = (
        sum(row.counts[policy][column] for row in rows) for column in range(4)
    )
    return Share(wrong, badges), Share(whole, asked)


def _compared(
    changed: str,
    to: str,
    default: Sequence[AblatedRow],
    rows: Sequence[AblatedRow],
    policies: tuple[str, str],
) -> AblationFigures:
    """Compare *rows* with those of the *default*, each under its own of *policies*."""
    both = [
        (_right(one, policies[0]), _right(other, policies[1]))
        for one, other in zip(default, rows, strict=True)
    ]
    only_default, only_this = both.count((True, False)), both.count((False, True))
    shares = _shares(rows, policies[1])
    p = mcnemar(only_default, only_this)
    return AblationFigures(changed, to, len(rows), *shares, only_default, only_this, p)


def _right(row: AblatedRow, policy: str) -> bool:
    _, wrong, _, whole = row.counts[policy]
    return bool(whole) if row.entailed else not wrong


def ablation_table(found: Sequence[AblationFigures]) -> str:
    """Return *found* as a Markdown table, for a reader."""
    head = (
        "Changed",
        "To",
        "Rows",
        "Wrong of the badges",
        "True ones Verified",
        "Right by the default alone",
        "Right by this alone",
        "p",
    )
    rows = tuple(
        (
            one.changed,
            one.to,
            str(one.rows),
            str(one.wrong),
            str(one.coverage),
            *(
                ("–", "–", "–")
                if one.p is None
                else (str(one.only_default), str(one.only_this), f"{one.p:.2g}")
            ),
        )
        for one in found
    )
    return FigureTable("One thing changed", head, rows).markdown()


def _csv(found: Sequence[AblationFigures]) -> str:
    names = ("wrong", "badges", "covered", "asked", "only_default", "only_this", "p")
    rows = tuple(
        (
            *(one.changed, one.to, one.rows, one.wrong.part, one.wrong.whole),
            *(one.coverage.part, one.coverage.whole, one.only_default, one.only_this, one.p),
        )
        for one in found
    )
    return FigureTable("Ablation", ("changed", "to", "rows", *names), rows).csv()
