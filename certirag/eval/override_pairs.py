"""`certirag eval overrides`: what raters hold against the gate, as rows that verifiers are trained and measured on.

A verification pair (fifth seed, Gap 5: claim, evidence, verdict, override, reason) is written for each
claim that had the badge and that its raters find not supported. It is for training a later verifier
(`python -m training`) and for measuring one (`certirag eval pairs`); nothing that runs learns from
it. A pair is made from no rating whose rater did not consent, in the rating itself, and from none
that another rater of the claim contradicts: what people differ on is no label.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from certirag.errors import InputError
from certirag.eval.spot_agreement import read_rated
from certirag.eval.spot_items import KeyItem, SpotItem
from certirag.eval.spot_ratings import Rating

SOURCE: Final = "spot_check"


@dataclass(frozen=True, slots=True)
class Overrides:
    """The *rows* for training, and what was left out.

    That is ratings *without_consent*, claims that are *contested*, and those whose answer was *erased*.
    """

    rows: tuple[dict[str, Any], ...]
    without_consent: int
    contested: int
    erased: int


def override_rows(
    folders: Sequence[Path], kept: Callable[[Collection[str]], Collection[str]]
) -> Overrides:
    """Return the verification pairs of the rated samples in *folders*.

    *kept* says which of the given trace ids the audit log still holds; it is asked only where a sample
    was drawn from the log. Raises InputError for a folder that is no rated sample, for one from the
    log whose key is gone, and where no pair is left.
    """
    rows: list[dict[str, Any]] = []
    without = contested = erased = 0
    for folder in folders:
        sample = read_rated(folder)
        if not sample.key:
            raise InputError(
                f"{folder}: its key is gone, and with it where its claims are from: put it back"
            )
        traces = {key.trace_id for key in sample.key.values() if key.trace_id}
        there = {"", *kept(traces)} if traces else {""}
        for item in sample.items:
            if sample.key[item.id].trace_id not in there:
                erased += 1
                continue
            said = {r: by[item.id] for r, by in sample.ratings.items() if item.id in by}
            against = [one for one in said.values() if one.verdict == "not_supported"]
            if not against:
                continue
            if any(one.verdict == "supported" for one in said.values()):
                contested += 1
                continue
            willing = [one for one in against if one.consent]
            without += len(against) - len(willing)
            if willing and item.evidence:
                rows.append(_row(folder.name, item, sample.key[item.id], willing))
    if not rows:
        raise InputError(
            f"no override to write: {without} without the rater's consent, {contested} that raters "
            f"differ on, {erased} whose answer was erased"
        )
    return Overrides(tuple(rows), without, contested, erased)


def _row(sample: str, item: SpotItem, key: KeyItem, said: Sequence[Rating]) -> dict[str, Any]:
    """Return a row with what `training.rows` and `eval.pair_rows` read first, then the pair itself.

    Only where all say that the evidence speaks against the claim is it called contradicted:
    ``not_entailed`` leaves open whether the evidence is silent.
    """
    opposed = all(one.kind == "contradicted" for one in said)
    return {
        "source": SOURCE,
        "premise": "\n".join(item.evidence),
        "hypothesis": item.claim,
        "label": "contradicted" if opposed else "not_entailed",
        "verdict": "VERIFIED",
        "verifier": {"verdict": key.verdict, "entailed": key.entailed},
        "override": "not_supported",
        "sample": sample,
        "item": item.id,
        "ratings": [
            {
                "rater": one.rater,
                "kind": one.kind,
                "reason": one.reason,
                "at": one.at,
                "consent": one.consent,
            }
            for one in said
        ],
    }
