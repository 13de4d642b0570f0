"""Premise and hypothesis rows → rows with scores; premises of any length, none cut off.

A long premise is read in windows of sentences. Support is the best over windows, and so is
contradiction. A hypothesis of several sentences is worth what its weakest sentence is worth: one
that is not supported is enough to be wrong. One window that fails, of any sentence, makes the row
an ``error``, never a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from certirag.core.text import joined_evidence
from certirag.ports import Judgement, Pair, Progress, SentenceSplitter, Verifier
from certirag.verification.judge import judge_pairs

WINDOW_SENTENCES: Final = 3
_BATCH_ROWS: Final = 64


def score_rows(
    rows: Sequence[Mapping[str, object]],
    verifier: Verifier,
    split: SentenceSplitter,
    progress: Progress,
    *,
    window_sentences: int | None = WINDOW_SENTENCES,
) -> list[dict[str, object]]:
    """Return *rows* with ``label``, ``entailed``, ``not_enough_info``, ``contradicted`` added.

    Each row holds strings ``premise`` and ``hypothesis``; its other fields pass through, but what
    it called ``label`` is called ``gold`` from here on, for ``label`` is the verifier's (a ``gold``
    that is there already stays). Scores are null where the label is ``error``. With
    *window_sentences* None a premise is handed over whole, to a verifier that cuts its own windows.
    """
    scored: list[dict[str, object]] = []
    for at in range(0, len(rows), _BATCH_ROWS):
        batch = rows[at : at + _BATCH_ROWS]
        asked = [_pairs(row, split, window_sentences) for row in batch]
        pairs = [pair for of_row in asked for of_sentence in of_row for pair in of_sentence]
        answers = iter(judge_pairs(verifier, pairs))
        for row, of_row in zip(batch, asked, strict=True):
            judged = [list(islice(answers, len(of_sentence))) for of_sentence in of_row]
            scored.append({**_with_gold(row), **_weakest(judged)})
        progress("Scoring pairs", len(scored), len(rows))
    return scored


def _with_gold(row: Mapping[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in row.items() if name != "label"}
    return {**kept, "gold": row["label"]} if "label" in row and "gold" not in row else kept


def _pairs(
    row: Mapping[str, object], split: SentenceSplitter, window_sentences: int | None
) -> list[list[Pair]]:
    """Return for each sentence of the hypothesis its pairs with every window of the premise."""
    premise, hypothesis = str(row["premise"]), str(row["hypothesis"])
    windows = [premise] if window_sentences is None else _windows(premise, split, window_sentences)
    sentences = [hypothesis[start:end] for start, end in split(hypothesis)]
    return [[Pair(sentence, window) for window in windows] for sentence in sentences]


def _windows(premise: str, split: SentenceSplitter, size: int) -> list[str]:
    """Return overlapping windows that together hold every sentence of *premise*."""
    sentences = [premise[start:end] for start, end in split(premise)]
    last = max(1, len(sentences) - size + 1)
    return [joined_evidence(sentences[at : at + size]) for at in range(last)]


def _weakest(sentences: Sequence[Sequence[Judgement]]) -> dict[str, object]:
    """Return the row's label and scores: least support and most contradiction of a sentence."""
    unsound = [not own or any(j.label == "error" or j.truncated for j in own) for own in sentences]
    if not sentences or any(unsound):
        nothing = dict.fromkeys(("entailed", "not_enough_info", "contradicted"))
        return {"label": "error", **nothing}
    over_windows = [_best(judgements) for judgements in sentences]
    # The two fit together: support is no more than what the most contradicted sentence has.
    entailed = min(support for support, _ in over_windows)
    contradicted = max(against for _, against in over_windows)
    scores = {
        "entailed": round(entailed, 6),
        "not_enough_info": round(max(0.0, 1.0 - entailed - contradicted), 6),
        "contradicted": round(contradicted, 6),
    }
    label = max(scores, key=lambda name: scores[name])
    return {"label": label, **scores}


def _best(judgements: Sequence[Judgement]) -> tuple[float, float]:
    """Return the support and the contradiction of one sentence over all windows."""
    entailed = max(judgement.entailed for judgement in judgements)
    # What some window supports is not contradicted by another that speaks of something else.
    return entailed, min(max(judgement.contradicted for judgement in judgements), 1.0 - entailed)
