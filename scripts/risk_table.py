"""Measures how often badges of the verifier that ships are wrong, and writes what the page says of it.

    PYTHONPATH=.:tests python scripts/risk_table.py [--public grounding/dev.jsonl.gz] [--limit N]

Three sets, through the whole gate, under strict-1 and strict-2: sentences of the demo corpora and
copies with one wrong edit; claims about whole documents, half of them one step from the text; and,
where *public* names them, about N of the pairs that people labelled.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from planted_contrasts import planted_contrasts, true_sentences

from training.badges import main as measure

ROOT: Final = Path(__file__).resolve().parents[1]
MEASURED: Final = ROOT / "assets" / "models" / "verifier" / "measured.json"
DEMO: Final = (
    "sentences of the demo corpora and copies of them with one wrong edit",
    "Made from the documents that ship; an edit that makes a sentence untrue was planted by rule.",
)
DOCUMENTS: Final = (
    "claims about 180 small documents",
    "Written by hand for this; the untrue ones, more than half, are one step from the text.",
)
PUBLIC: Final = (
    "pairs of eight public development sets",
    (
        "Labelled by people for MNLI, ConjNLI, HealthVer, COVID-Fact, QAGS, WiCE, AttributionBench "
        "and SufficientFacts; none of them was trained on."
    ),
)


def _demo() -> Iterator[dict[str, Any]]:
    for label, rows in (("not_entailed", planted_contrasts()), ("entailed", true_sentences())):
        for row in rows:
            yield {
                "title": row["title"],
                "premise": row["evidence"],
                "hypothesis": row["claim"],
                "label": label,
                "false": row["false"],
            }


def _documents() -> Iterator[dict[str, Any]]:
    for path in sorted((ROOT / "fixtures" / "heldout").glob("documents*.jsonl")):
        if path.stem.endswith("_questions"):
            continue
        for line in path.read_text("utf-8").splitlines():
            one = json.loads(line)
            for claim, true, _ in one["claims"]:
                label = "entailed" if true else "not_entailed"
                yield {"premise": one["document"], "hypothesis": claim, "label": label}


def _public(path: Path, limit: int) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows[:: max(1, len(rows) // limit)]:
        yield {name: row[name] for name in ("premise", "hypothesis", "label")}


def main() -> int:
    """Measure every set under both policies; return 0, or what the measuring returned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--public", type=Path, help="JSON lines, gzipped: premise, hypothesis, label"
    )
    parser.add_argument("--limit", type=int, default=2_000, help="about so many of them")
    options = parser.parse_args()
    sets = [(DEMO, _demo()), (DOCUMENTS, _documents())]
    if options.public:
        sets.append((PUBLIC, _public(options.public, options.limit)))
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.jsonl"
        for (name, description), rows in sets:
            pairs.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            for policy in ("strict-1", "strict-2"):
                words = ["--pairs", str(pairs), "--name", name, "--description", description]
                code = measure([*words, "--policy", policy, "--out", str(MEASURED)])
                if code:
                    return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
