"""What the codes of measured rows are called on the page: labels, states, verdicts, systems, questions."""

from __future__ import annotations

from typing import Final

from certirag.core.said import Message
from certirag.core.verdict import is_score
from certirag.proof.facets import RENDER_STATES
from certirag.verification.clopper_pearson import exact_interval
from ui.language import tr

# In words: nothing of a run may look like the gate's mark.
RUN_STATES: Final[dict[str, Message]] = dict(
    zip(RENDER_STATES, ("with a badge", "without a badge", "contradicted"), strict=True)
)
LABEL_WORDS: Final[dict[str, Message]] = {
    "entailed": "entailed",
    "contradicted": "contradicted",
    "not_enough_info": "not enough information",
    "not_entailed": "not entailed",
    "error": "no measurement",
}
VERDICT_WORDS: Final[dict[str, Message]] = {
    "SUPPORTED": "supported",
    "PARTIAL": "supported in part",
    "UNSUPPORTED": "not supported",
    "CONTRADICTED": "contradicted",
    "NEI": "nothing on its topic",
}
_SYSTEMS: Final[tuple[Message, ...]] = (
    "Retrieval with citations: everything is shown and cited",
    "The same, cited where a text says it word for word",
    "The same, cited where the cosine is high",
    "A checker beside the answer: everything is shown, its warnings too",
    "The verifier alone: shown above the threshold",
)
# A system's name in the figures, which is English; another one stays as it is.
SYSTEM_WORDS: Final[dict[str, Message]] = {name: name for name in _SYSTEMS}
QUESTION_WORDS: Final[dict[str, Message]] = {
    "answered": "Answerable, and called answered",
    "first": "Answered, with an answering claim first",
    "cosine_first": "The closest sentence by cosine answers",
    "whole": "Answered, every part",
    "shown": "Every part shown, as an answer or as related",
    "required": "Required statements with a badge",
    "forbidden": "Forbidden statements with a badge",
    "answered_without_answer": "Without an answer, yet called answered",
}


def share_words(part: int, whole: int) -> str:
    """Return *part* of *whole* with its exact 95 % interval, in words; "–" of nothing."""
    if not whole:
        return "–"
    low, high = exact_interval(part, whole)
    return tr(
        "{part} of {whole}: {share:.1%} ({low:.1%} to {high:.1%})",
        part=part,
        whole=whole,
        share=part / whole,
        low=low,
        high=high,
    )


def score_words(score: float | None) -> str:
    """Return a score in [0, 1] with two places, "–" for anything else."""
    return f"{score:.2f}" if is_score(score) else "–"
