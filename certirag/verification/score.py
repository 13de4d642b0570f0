"""Premise and hypothesis rows → rows with scores; premises of any length, none cut off.

A premise is handed over whole: a verifier cuts its own windows. A hypothesis of several sentences
is worth what its weakest sentence is worth: one that is not supported is enough to be wrong. One
sentence that fails makes the row an ``error``, never a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from certirag.ports import Judgement, Pair, Progress, SentenceSplitter, Verifier
from certirag.verification.judge import judge_pairs

_BATCH_ROWS: Final = 64


def score_rows(
    rows: Sequence[Mapping[str, object]],
    verifier: Verifier,
    split: SentenceSplitter,
    progress: Progress,
) -> list[dict[str, object]]:
    """Return *rows* with ``label``, ``entailed``, ``not_enough_info``, ``contradicted`` added.

    Each row holds strings ``premise`` and ``hypothesis``; its other fields pass through, but what
    it called ``label`` is called ``gold`` from here on, for ``label`` is the verifier's (a ``gold``
    that is there already stays). Scores are null where the label is ``error``.
    """
    scored: list[dict[str, object]] = []
    for at in range(0, len(rows), _BATCH_ROWS):
        batch = rows[at : at + _BATCH_ROWS]
        asked = [_pairs(row, split) for row in batch]
        answers = iter(judge_pairs(verifier, [pair for of_row in asked for pair in of_row]))
        for row, of_row in zip(batch, asked, strict=True):
            scored.append({**_with_gold(row), **_weakest(list(islice(answers, len(of_row))))})
        progress("Scoring pairs", len(scored), len(rows))
    return scored


def _with_gold(row: Mapping[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in row.items() if name != "label"}
    return {**kept, "gold": row["label"]} if "label" in row and "gold" not in row else kept


def _pairs(row: Mapping[str, object], split: SentenceSplitter) -> list[Pair]:
    """Return the pair of each sentence of the hypothesis with the premise."""
    premise, hypothesis = str(row["premise"]), str(row["hypothesis"])
    return [Pair(hypothesis[start:end], premise) for start, end in split(hypothesis)]


def _weakest(sentences: Sequence[Judgement]) -> dict[str, object]:
    """Return the row's label and scores: least support and most contradiction of a sentence."""
    if not sentences or any(one.label == "error" or one.truncated for one in sentences):
        nothing = dict.fromkeys(("entailed", "not_enough_info", "contradicted"))
        return {"label": "error", **nothing}
    # The two fit together: support is no more than what the most contradicted sentence has.
    entailed = min(one.entailed for one in sentences)
    contradicted = max(min(one.contradicted, 1.0 - one.entailed) for one in sentences)
    scores = {
        "entailed": round(entailed, 6),
        "not_enough_info": round(max(0.0, 1.0 - entailed - contradicted), 6),
        "contradicted": round(contradicted, 6),
    }
    label = max(scores, key=lambda name: scores[name])
    return {"label": label, **scores}
