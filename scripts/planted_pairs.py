"""Writes the planted contrasts of the demo corpora, and the sentences they were made from, as pairs.

PYTHONPATH=.:tests python scripts/planted_pairs.py planted.jsonl
python -m certirag.train.badges --pairs planted.jsonl --name … --description … --out …
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from planted_contrasts import planted_contrasts, true_sentences


def main(path: Path) -> None:
    """Write one row a line: title, premise, hypothesis, label and what makes it untrue."""
    groups = (("not_entailed", planted_contrasts()), ("entailed", true_sentences()))
    lines = [
        json.dumps(
            {
                "title": row["title"],
                "premise": row["evidence"],
                "hypothesis": row["claim"],
                "label": label,
                "false": row["false"],
            },
            ensure_ascii=False,
        )
        for label, rows in groups
        for row in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} rows written to {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
