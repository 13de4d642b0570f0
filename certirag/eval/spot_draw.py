"""`certirag eval sample`: a blind, stratified sample of a run's Verified claims, for people to judge.

Strata are the sources of the run's rows; each gives as many as its share of the Verified claims, and
one at least (Cochran 1977, "Sampling Techniques", §5.5). Drawn without replacement, by seed: the same
run and seed give the same files byte for byte. Items stand in an order of their own and under
numbers that say nothing, so that neither tells a source. CertiRAG seed §12.1 asks for 200.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from certirag.core.text import sha256_hex
from certirag.errors import InputError
from certirag.eval.measured_claims import MeasuredClaim
from certirag.eval.pair_rows import MeasuredRow, read_measured_rows
from certirag.eval.pairs import ROWS, RUN
from certirag.eval.spot_items import (
    FORMAT,
    ITEMS,
    KEY,
    SAMPLE,
    SEALED,
    KeyItem,
    SpotItem,
    SpotSample,
    json_lines,
)
from certirag.eval.spot_ratings import RATINGS

SIZE: Final = 200  # CertiRAG seed §12.1


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A Verified claim that may be drawn: claim *at* (from 0) of the row or entry *number* of *source*.

    *gold* is what people said of it before, "" where nobody did; *trace_id* is its answer's, "" for a
    claim of a run.
    """

    source: str
    number: int
    at: int
    claim: MeasuredClaim
    gold: str = ""
    trace_id: str = ""


def claims_of_run(run: Path) -> list[JudgedClaim]:
    """Return the Verified claims of the folder *run*; InputError where it is no run or has none."""
    if not (run / RUN).is_file():
        raise InputError(f"{run}: is no run of certirag eval: name a run's folder")
    found = [
        JudgedClaim(row.source, row.number, at, claim, gold_of(row, at))
        for row in read_measured_rows(run / ROWS)
        for at, claim in enumerate(row.claims)
        if claim.state == "VERIFIED"
    ]
    if not found:
        raise InputError(f"{run}: the run has no Verified claim: there is nothing to judge")
    return found


def draw_sample(
    claims: Sequence[JudgedClaim], out: Path, *, size: int = SIZE, seed: int = 0
) -> dict[str, int]:
    """Write a sample of *size* of *claims* into the folder *out*; all of them, where there are fewer.

    Returns how many were drawn of each source. Raises InputError for fewer items than sources, and
    where *out* holds something already.
    """
    strata: dict[str, list[JudgedClaim]] = {}
    for claim in claims:
        strata.setdefault(claim.source, []).append(claim)
    strata = dict(sorted(strata.items()))
    counts = allocate({name: len(own) for name, own in strata.items()}, size)
    random = np.random.default_rng(seed)
    drawn: list[JudgedClaim] = []
    for name, own in strata.items():
        chosen = random.choice(len(own), counts[name], replace=False)
        drawn += [own[at] for at in sorted(chosen)]
    _write(out, [drawn[at] for at in random.permutation(len(drawn))], seed)
    return counts


def allocate(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """Return how many of *size* each stratum gives: proportional to its size, at least one, never more.

    What is left after whole shares goes to the largest remainders, ties in the order given.
    """
    if size < len(sizes):
        raise InputError(
            f"--size {size}: the run's Verified claims have {len(sizes)} sources: give at least "
            f"{len(sizes)}"
        )
    size, total = min(size, sum(sizes.values())), sum(sizes.values())
    exact = {name: size * own / total for name, own in sizes.items()}
    counts = {name: min(own, max(1, int(exact[name]))) for name, own in sizes.items()}
    while sum(counts.values()) < size:
        open_ones = [name for name, own in sizes.items() if counts[name] < own]
        counts[max(open_ones, key=lambda name: exact[name] - counts[name])] += 1
    while sum(counts.values()) > size:  # what the least of one took, the largest give back
        several = [name for name in counts if counts[name] > 1]
        counts[max(several, key=lambda name: counts[name] - exact[name])] -= 1
    return counts


def gold_of(row: MeasuredRow, at: int) -> str:
    """Return what people said of claim *at* of *row*, "" where they said it of the whole row only.

    A row that is untrue names what makes it so, or has one claim: as `gate_counts.counted` counts.
    """
    if row.gold == "entailed":
        return row.gold
    if row.false and row.premise:
        untrue = row.false.casefold() in row.claims[at].text.casefold()
        return row.gold if untrue else "entailed"
    return row.gold if len(row.claims) == 1 else ""


def _write(out: Path, drawn: Sequence[JudgedClaim], seed: int) -> None:
    digits = max(3, len(str(len(drawn))))
    items, key = [], []
    for number, one in enumerate(drawn, 1):
        name, claim = f"{number:0{digits}d}", one.claim
        items.append(SpotItem(name, claim.text, claim.evidence, claim.against))
        key.append(
            KeyItem(
                id=name,
                number=one.number,
                claim=one.at,
                source=one.source,
                gold=one.gold,
                verdict=claim.verdict,
                entailed=claim.entailed,
                contradicted=claim.contradicted,
                trace_id=one.trace_id,
            )
        )
    read, sealed = json_lines(items), json_lines(key)
    sample = SpotSample(
        FORMAT, "spot check", len(items), seed, sha256_hex(read), sha256_hex(sealed)
    )
    text = json.dumps(asdict(sample), indent=1) + "\n"
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise InputError(f"{out}: holds something already: name another folder")
        for folder in (out, out / SEALED, out / RATINGS):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The file that makes it a sample comes last: a folder that was cut off is none.
        for path, data in (
            (out / SEALED / KEY, sealed),
            (out / ITEMS, read),
            (out / SAMPLE, text.encode()),
        ):
            path.touch(0o600)
            with path.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}): name a folder") from error
