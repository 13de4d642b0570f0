"""A measured run of four claims with a badge and two without, and samples drawn of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from certirag.eval.measured_claims import MeasuredClaim
from certirag.eval.pair_rows import MEASURED, MeasuredRow
from certirag.eval.pairs import ROWS, RUN
from certirag.eval.spot_draw import claims_of_run, draw_sample
from certirag.eval.spot_ratings import Rating, rate

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
SALE = "The old mill of Corrant was sold in 1987."
GUIDE = "A guide shows the mill on Sundays at three."


def claim(text: str = SALE, state: str = "VERIFIED", **changed: Any) -> MeasuredClaim:
    """Return a claim that passed every rule, or as *changed*."""
    fields: dict[str, Any] = {
        "verdict": "SUPPORTED",
        "entailed": 0.987654,
        "contradicted": 0.012345,
        "evidence": (SALE,),
        "against": GUIDE,
        "failed": (),
        "stage": "",
    }
    return MeasuredClaim(text, state, **(fields | changed))


def row(
    number: int, source: str, gold: str, *claims: MeasuredClaim, false: str = ""
) -> MeasuredRow:
    """Return a measured row of so many claims."""
    return MeasuredRow(
        number=number,
        source=source,
        title="",
        premise=f"{SALE} {GUIDE}",
        hypothesis=" ".join(one.text for one in claims),
        false=false,
        gold=gold,
        label="entailed",
        entailed=0.987654,
        not_enough_info=0.0,
        contradicted=0.012345,
        cosine=0.5,
        premise_words=16,
        hypothesis_words=8,
        claims=list(claims),
        counts=[],
    )


ROWS_OF_RUN = (
    row(0, "secret-true", "entailed", claim(), claim(GUIDE, evidence=(GUIDE,))),
    row(1, "secret-true", "entailed", claim("The mill of Corrant was sold in 1987.")),
    row(2, "secret-untrue", "not_entailed", claim("The mill was sold in 1988.")),
    row(3, "secret-untrue", "contradicted", claim("The mill was never sold.", "BLOCKED")),
    row(4, "secret-rest", "entailed", claim("It is old.", "UNVERIFIED")),
)


def run_folder(folder: Path, rows: tuple[MeasuredRow, ...] = ROWS_OF_RUN) -> Path:
    """Write *rows* as the folder of a run, and return it."""
    folder.mkdir(parents=True)
    (folder / RUN).write_text(json.dumps({"what": "pairs"}), "utf-8")
    (folder / ROWS).write_bytes(b"".join(MEASURED.dump_json(one) + b"\n" for one in rows))
    return folder


def sample_folder(folder: Path, rows: tuple[MeasuredRow, ...] = ROWS_OF_RUN, **how: int) -> Path:
    """Draw a sample of *rows* into *folder*, and return it."""
    run = folder.parent / f"run-of-{folder.name}"
    draw_sample(claims_of_run(run_folder(run, rows)), folder, **how)
    return folder


def say(folder: Path, rater: str, verdicts: dict[str, str], **more: Any) -> None:
    """Let *rater* rate items of *folder*: s, n or c each, n as *more* says."""
    names = {"s": "supported", "n": "not_supported", "c": "cannot_tell"}
    for item, letter in verdicts.items():
        kind = more.get("kind", "unsupported") if letter == "n" else ""
        own: Any = {name: value for name, value in more.items() if name != "kind"}
        verdict: Any = names[letter]
        rate(folder, Rating(item, verdict, kind, rater=rater, **own), NOW)
