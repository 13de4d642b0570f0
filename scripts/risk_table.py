"""Measures how often badges of the verifier that ships are wrong, and writes what the page says of it.

    PYTHONPATH=.:tests python scripts/risk_table.py [--public grounding/dev.jsonl.gz]

Three sets, through the whole gate, under strict-1 and strict-2 and each of them with other thresholds
of entailment: sentences of the demo corpora and copies with one wrong edit; claims about whole
documents, half of them one step from the text; and, where *public* names them, about 2,000 of the
pairs that people labelled. ``--limit 40 --sets demo --out FILE`` is a trial of minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from planted_contrasts import planted_contrasts, true_sentences

from training.badges import main as measure

ROOT: Final = Path(__file__).resolve().parents[1]
MEASURED: Final = ROOT / "assets" / "models" / "verifier" / "measured.json"
MOST_PUBLIC: Final = 2_000
DEMO: Final = (
    "sentences of the demo corpora and copies of them with one wrong edit",
    "Made from the documents that ship; an edit that makes a sentence untrue was planted by rule.",
)
DOCUMENTS: Final = (
    "claims about {} small documents",
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


def _documents() -> list[dict[str, Any]]:
    paths = sorted((ROOT / "fixtures" / "heldout").glob("documents*.jsonl"))
    return [
        json.loads(line)
        for path in paths
        if not path.stem.endswith("_questions")
        for line in path.read_text("utf-8").splitlines()
    ]


def _claims(documents: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in documents:
        for claim, true, _ in one["claims"]:
            label = "entailed" if true else "not_entailed"
            yield {"premise": one["document"], "hypothesis": claim, "label": label}


def _public(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield {name: row[name] for name in ("premise", "hypothesis", "label")}


def main() -> int:
    """Measure each set under both policies; return 0, or what the measuring returned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--public", type=Path, help="JSON lines, gzipped: premise, hypothesis, label"
    )
    parser.add_argument("--sets", nargs="+", choices=("demo", "documents", "public"))
    parser.add_argument("--limit", type=int, help="about so many rows of each set, evenly spread")
    parser.add_argument("--out", type=Path, default=MEASURED, help="file of measurements to add to")
    options = parser.parse_args()
    documents = _documents()
    name, description = DOCUMENTS
    sets = {
        "demo": (DEMO, _demo(), options.limit),
        "documents": (
            (name.format(len(documents)), description),
            _claims(documents),
            options.limit,
        ),
    }
    if options.public:
        sets["public"] = (PUBLIC, _public(options.public), options.limit or MOST_PUBLIC)
    chosen = options.sets or list(sets)
    if not sets.keys() >= set(chosen):
        parser.error("--sets public needs --public FILE")
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.jsonl"
        for (name, description), rows, limit in (sets[one] for one in chosen):
            pairs.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            words = ["--pairs", str(pairs), "--name", name, "--description", description]
            words += ["--limit", str(limit)] if limit else []
            code = measure([*words, "--policy", "strict-1", "strict-2", "--out", str(options.out)])
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
