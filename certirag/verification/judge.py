"""Asks a verifier and believes only sound answers: everything else becomes the label ``error``.

Rows of premise and hypothesis are scored as they are: a premise is handed over whole, for a
verifier cuts its own windows, and a hypothesis of several sentences is worth what its weakest
sentence is worth. One sentence that fails makes the row an ``error``, never a label. A recorded
answer is asked again for the first score that does not come out as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from certirag.core.text import (
    EvidenceChunk,
    joined_evidence,
    pair_digests,
    shared_context,
)
from certirag.core.verdict import is_score
from certirag.errors import VerifierError
from certirag.ports import Judgement, Pair, Progress, SentenceSplitter, Verifier
from certirag.proof.certificate import AnswerRecord

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


_ERROR: Final = Judgement("error", 0.0, 0.0, 0.0, error="the verifier gave no sound judgement")
_LABELS: Final = frozenset({"entailed", "contradicted", "not_enough_info"})


def judge_pairs(verifier: Verifier, pairs: Sequence[Pair]) -> list[Judgement]:
    """Return one sound judgement per pair, in order.

    Whatever *verifier* does instead (raise, drop pairs, answer with anything but three sound
    numbers and a known label) becomes the label ``error`` with its reason.
    """
    if not pairs:
        return []
    try:
        judgements = list(verifier.judge(pairs))
    except VerifierError as error:
        return [replace(_ERROR, error=str(error))] * len(pairs)
    except Exception as error:  # noqa: BLE001  # whatever an adapter does, nothing is supported
        return [replace(_ERROR, error=f"the verifier broke: {type(error).__name__}")] * len(pairs)
    if len(judgements) != len(pairs):
        return [replace(_ERROR, error="the verifier dropped pairs")] * len(pairs)
    return [_sound(judgement) for judgement in judgements]


def _sound(judgement: object) -> Judgement:
    """Return *judgement* with six decimals, or the error judgement when anything is off."""
    if not isinstance(judgement, Judgement):
        return _ERROR
    scores = (judgement.entailed, judgement.not_enough_info, judgement.contradicted)
    if judgement.error or judgement.label not in _LABELS or not all(map(is_score, scores)):
        return replace(_ERROR, error=judgement.error or _ERROR.error)
    entailed, neutral, contradicted = (round(float(score), 6) for score in scores)
    return replace(judgement, entailed=entailed, not_enough_info=neutral, contradicted=contradicted)


# Scores are recorded with six decimals; float sums may differ in the last ones elsewhere.
TOLERANCE: Final = 0.005


def first_difference(record: AnswerRecord, verifier: Verifier) -> str:
    """Return in plain words which score differs by more than `TOLERANCE`, or "" when none does.

    Every scored span is judged again, and every attached set, of the claims and of the errors
    planted in them; what cannot be judged differs.
    """
    chunks = {chunk.chunk_id: chunk for chunk in record.retrieval.chunks}
    claims = {claim.id: claim.text for claim in record.claim_ir.claims}
    results = record.verification
    if record.probe is not None:
        claims |= {error.id: error.text for error in record.probe.planted}
        results += record.probe.verification
    asked: list[tuple[str, Pair, float | None]] = []
    for result in results:
        claim = claims[result.claim_id]
        for score in result.all_scores:
            chunk = chunks[score.chunk_id]
            sentence = chunk.span(score.span_id).sentence
            pair = _as_recorded(claim, [chunk], [sentence], score.input_sha256)
            asked.append((f"{result.claim_id} on {score.chunk_id}", pair, score.entailed))
        attached = [chunks[ref.chunk_id] for ref in result.best_evidence]
        if attached:
            sentences = [
                chunk.span(ref.span_id).sentence
                for chunk, ref in zip(attached, result.best_evidence, strict=True)
            ]
            pair = _as_recorded(claim, attached, sentences, result.set_input_sha256)
            asked.append((f"{result.claim_id} on its evidence", pair, result.score))
    judgements = judge_pairs(verifier, [pair for _, pair, _ in asked])
    for (place, _, recorded), judgement in zip(asked, judgements, strict=True):
        now = None if judgement.label == "error" else judgement.entailed
        if now is None or recorded is None:
            if now is not recorded:
                return f"claim {place}: recorded {recorded}, now {now}"
        elif abs(now - recorded) > TOLERANCE:
            return f"claim {place}: recorded {recorded:.6f}, now {now:.6f}"
    return ""


def _as_recorded(
    claim: str, chunks: Sequence[EvidenceChunk], sentences: Sequence[str], digest: str
) -> Pair:
    """Return what the verifier was given, with the window that the record's *digest* stands for."""
    evidence, context = joined_evidence(sentences), shared_context(chunks)
    window = pair_digests(claim, evidence, context, chunks).get(digest, "")
    return Pair(claim, evidence, context, window)
