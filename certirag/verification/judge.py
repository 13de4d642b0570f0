"""Asks a verifier and believes only sound answers: everything else becomes the label ``error``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from certirag.core.verdict import is_score
from certirag.errors import VerifierError
from certirag.ports import Judgement, Pair, Verifier

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
