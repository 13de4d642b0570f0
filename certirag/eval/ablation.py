"""`certirag eval ablation`: the built-in benchmark with one thing changed at a time.

Each variant is measured into a folder of its own and goes on there after a stop; the policies are
certified from the measuring of the default, once for all. The statements are certified as `certirag eval
builtin` does, the drafts go through the whole pipeline.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from certirag import __version__
from certirag.answers.pipeline import verify_draft
from certirag.bootstrap import make_verifier
from certirag.core.policy import Policy
from certirag.errors import InputError
from certirag.eval.ablation_report import AblatedRow, write_ablation_report
from certirag.eval.builtin import (
    DRAFTS,
    Draft,
    corpus_index,
    drafts_with_errors,
    labelled_statements,
    scratch_services,
    touches,
)
from certirag.eval.gate_counts import counted, decided
from certirag.eval.pair_rows import PairRow
from certirag.eval.pairs import begin_run, head_of
from certirag.eval.resumable import measured_lines, own_processes
from certirag.eval.timings import timing, write_timings
from certirag.eval.variants import (
    DEFAULT,
    SELECTIONS,
    ShownTheAnswer,
    Variant,
    policies_of,
    variants_of,
)
from certirag.eval.workload import CountingVerifier
from certirag.ports import Progress
from certirag.proof.certificate import open_export
from certirag.render import certify
from certirag.settings import Settings

FORMAT: Final = 1  # of a variant's folder
_BATCH: Final = 25  # statements measured and written at once
_FIRST_DRAFT: Final = 1_000_000  # number of the first row of a draft, above all others


@dataclass(frozen=True, slots=True)
class AblationRun:
    """A run into the folder *out*, by so many processes; every *every*-th unit of each part.

    *verifiers* are measured beside those that ship, by name. *only* names the variants to measure,
    the default always among them; none: all.
    """

    out: Path
    every: int = 1
    jobs: int = 1
    verifiers: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AblatedDraft:
    """What was measured of the draft *number*: a row for each of its claims that can be checked."""

    number: int
    rows: tuple[AblatedRow, ...]


def run_ablation(run: AblationRun, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Measure what *run*'s folders do not have yet, and return the figures of all variants.

    Raises InputError for a variant that is none, where the fixtures are not there, and for a folder
    of another run.
    """
    statements = list(enumerate(labelled_statements()))[:: run.every]
    drafts = list(enumerate(drafts_with_errors()))[:: run.every]
    variants = variants_of(settings, run.verifiers)
    names = [variant.name for variant in variants]
    for name in run.only:
        if name not in names:
            raise InputError(f"--only {name}: is no variant: choose one of {', '.join(names)}")
    chosen = [v for v in variants if not run.only or v.name in (*run.only, DEFAULT)]
    policies = policies_of(settings)
    for verifier in dict.fromkeys(variant.verifier for variant in chosen):
        make_verifier(verifier)  # one that is not there is said before hours of others
    rows = {
        variant.name: _measured(run, variant, statements, drafts, settings, policies, progress)
        for variant in chosen
    }
    own = next(iter(policies))
    head = head_of(make_verifier(settings.verifier), policies[own])
    if run.every > 1:
        head += f" Every {run.every}th statement and draft alone."
    costs = {name: write_timings(run.out / name)["timings"] for name in rows}
    return write_ablation_report(rows, chosen, list(policies), run.out, head=head, costs=costs)


def _measured(
    run: AblationRun,
    variant: Variant,
    statements: Sequence[tuple[int, PairRow]],
    drafts: Sequence[tuple[int, Draft]],
    settings: Settings,
    policies: Mapping[str, Policy],
    progress: Progress,
) -> list[AblatedRow]:
    """Return the rows of *variant*, under those of *policies* that it is certified under."""
    policies = variant.policies(policies)
    plain = replace(settings, verifier=variant.verifier)
    out = run.out / variant.name
    begin_run(out, _described(run, variant, (statements, drafts), plain, policies))
    rows: list[AblatedRow] = []
    # In processes of its own: a verifier keeps what it judged, so that a later variant would cost less.
    if "statements" in variant.parts:
        rows += measured_lines(
            out / "statements.jsonl",
            TypeAdapter(AblatedRow),
            statements,
            partial(_statements, variant=variant, settings=plain, policies=policies, out=out),
            partial(progress, f"{variant.name}: statements"),
            batch=_BATCH,
            mapping=own_processes(run.jobs),
        )
    if "drafts" in variant.parts:
        found = measured_lines(
            out / "drafts.jsonl",
            TypeAdapter(AblatedDraft),
            drafts,
            partial(_drafts, variant=variant, settings=plain, policies=policies, out=out),
            partial(progress, f"{variant.name}: drafts"),
            mapping=own_processes(run.jobs),
        )
        rows += [row for draft in found for row in draft.rows]
    return rows


def _described(
    run: AblationRun,
    variant: Variant,
    units: Sequence[object],
    settings: Settings,
    policies: Mapping[str, Policy],
) -> dict[str, Any]:
    verifier = make_verifier(settings.verifier)
    return {
        "format": FORMAT,
        "what": "ablation",
        "data": {
            "name": "the built-in benchmark",
            "sha256": hashlib.sha256(repr(units).encode()).hexdigest(),
        },
        "limit": None,
        "every": run.every,
        "seed": 0,
        "variant": asdict(variant),
        "verifier": asdict(verifier.identity),
        "settings": settings.caps(),
        "policies": {name: asdict(policy) for name, policy in policies.items()},
        "certirag": __version__,
    }


def _statements(
    units: Sequence[tuple[int, PairRow]],
    variant: Variant,
    settings: Settings,
    policies: Mapping[str, Policy],
    out: Path,
) -> list[AblatedRow]:
    services = scratch_services(settings)
    verifier = CountingVerifier(
        services.verifier if variant.isolated else ShownTheAnswer(services.verifier)
    )
    labelled = [row.labelled(number) for number, row in units]
    with timing(out, "statements", len(units)) as spent:
        claims = list(
            decided(
                labelled,
                verifier,
                list(policies.values()),
                services.split,
                settings,
                verify=SELECTIONS[variant.selection],
                raw=variant.raw,
            )
        )
        spent.pairs = verifier.pairs
    found = []
    for (number, row), own, each in zip(units, labelled, claims, strict=True):
        counts = [counted(own, under) for under in each]
        found.append(
            AblatedRow(
                number=number,
                source=row.source,
                text=row.hypothesis,
                entailed=own.entailed,
                claims=tuple((claim.text, claim.state) for claim in each[0]),
                counts={
                    name: (count.badges, count.wrong, count.asked, count.whole)
                    for name, count in zip(policies, counts, strict=True)
                },
            )
        )
    return found


def _drafts(
    units: Sequence[tuple[int, Draft]],
    variant: Variant,
    settings: Settings,
    policies: Mapping[str, Policy],
    out: Path,
) -> list[AblatedDraft]:
    services = scratch_services(settings)
    switched: dict[str, Any] = dict(variant.toggles)
    verifier = CountingVerifier(services.verifier)
    toggled = replace(services, settings=replace(settings, **switched), verifier=verifier)
    found = []
    for number, draft in units:
        index = corpus_index(draft.corpus, settings)
        before = verifier.pairs
        with timing(out, "drafts", 1) as spent:
            answer = verify_draft(draft.text, index, toggled, question=draft.question)
            spent.pairs = verifier.pairs - before
        record = open_export(answer.export, services.trusted)
        claims, results = record.claim_ir.claims, record.verification
        verified = {
            name: {
                decision.claim_id
                for decision in certify(claims, results, record.retrieval.chunks, policy)[0]
                if decision.render_state == "VERIFIED"
            }
            for name, policy in policies.items()
        }
        states = {one.claim_id: one.render_state for one in record.decisions}
        rows = []
        for at, claim in enumerate(claims):
            if any(problem.startswith("not_checkable") for problem in claim.problems):
                continue
            true = not any(touches(claim, error, draft.text) for error in draft.errors)
            marks = {name: claim.id in own for name, own in verified.items()}
            rows.append(
                AblatedRow(
                    number=_FIRST_DRAFT + 1_000 * number + at,
                    source=DRAFTS,
                    text=claim.text,
                    entailed=true,
                    claims=((claim.text, states[claim.id]),),
                    counts={
                        name: (int(v), int(v and not true), int(true), int(v and true))
                        for name, v in marks.items()
                    },
                )
            )
        found.append(AblatedDraft(number, tuple(rows)))
    return found
