"""Premise and hypothesis rows → rows with scores; premises of any length, none cut off.

A long premise is read in windows of sentences. Support is the best over windows, and so is
contradiction; one window that fails makes the row an ``error``, never a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from certirag.core.text import joined_evidence
from certirag.ports import Judgement, Pair, Progress, SentenceSplitter, Verifier
from certirag.verify.judge import judge_pairs

WINDOW_SENTENCES: Final = 3
_BATCH_ROWS: Final = 64


def score_rows(
    rows: Sequence[Mapping[str, object]],
    verifier: Verifier,
    split: SentenceSplitter,
    progress: Progress,
) -> list[dict[str, object]]:
    """Return *rows* with ``label``, ``entailed``, ``not_enough_info``, ``contradicted`` added.

    Each row holds strings ``premise`` and ``hypothesis``; its other fields pass through.
    Scores are null where the label is ``error``.
    """
    scored: list[dict[str, object]] = []
    for at in range(0, len(rows), _BATCH_ROWS):
        batch = rows[at : at + _BATCH_ROWS]
        windows = [_windows(str(row["premise"]), split) for row in batch]
        pairs = [
            Pair(str(row["hypothesis"]), window)
            for row, own in zip(batch, windows, strict=True)
            for window in own
        ]
        judgements = judge_pairs(verifier, pairs)
        taken = 0
        for row, own in zip(batch, windows, strict=True):
            scored.append({**row, **_aggregated(judgements[taken : taken + len(own)])})
            taken += len(own)
        progress("Scoring pairs", len(scored), len(rows))
    return scored


def _windows(premise: str, split: SentenceSplitter) -> list[str]:
    """Return overlapping windows that together hold every sentence of *premise*."""
    sentences = [premise[start:end] for start, end in split(premise)]
    last = max(1, len(sentences) - WINDOW_SENTENCES + 1)
    return [joined_evidence(sentences[at : at + WINDOW_SENTENCES]) for at in range(last)]


def _aggregated(judgements: Sequence[Judgement]) -> dict[str, object]:
    if not judgements or any(j.label == "error" or j.truncated for j in judgements):
        nothing = dict.fromkeys(("entailed", "not_enough_info", "contradicted"))
        return {"label": "error", **nothing}
    entailed = max(judgement.entailed for judgement in judgements)
    # What some window supports is not contradicted by another that speaks of something else.
    contradicted = min(max(judgement.contradicted for judgement in judgements), 1.0 - entailed)
    scores = {
        "entailed": round(entailed, 6),
        "not_enough_info": round(max(0.0, 1.0 - entailed - contradicted), 6),
        "contradicted": round(contradicted, 6),
    }
    label = max(scores, key=lambda name: scores[name])
    return {"label": label, **scores}
