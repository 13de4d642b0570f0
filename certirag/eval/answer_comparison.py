"""Three ways to compare what a claim answers with what its evidence answers (fifth seed, Stage 6).

The questions about a claim are those of the pipeline (`verification.questions`), answered from the
evidence without the claim. An answer differs where its score is below one half, or where nothing is
found. A learnt comparison, as LERC (Chen et al. 2020), is no way here: no package carries its weights.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from certirag.core.verdict import QuestionRecord

_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_SAME: Final = 0.5


def exact_match(said: str, found: str) -> float:
    """Return 1.0 where both are the same answer, else 0.0 (SQuAD, Rajpurkar et al. 2016)."""
    return float(_normalised(said) == _normalised(found))


def token_f1(said: str, found: str) -> float:
    """Return the F1 of the words that two answers share (SQuAD, Rajpurkar et al. 2016)."""
    one, other = _normalised(said), _normalised(found)
    shared = (Counter(one) & Counter(other)).total()
    return 2 * shared / (len(one) + len(other)) if shared else float(one == other)


def _normalised(answer: str) -> list[str]:
    return _ARTICLES.sub(" ", answer.casefold().translate(_PUNCTUATION)).split()


def _as_the_pipeline(records: Sequence[QuestionRecord]) -> bool:
    return all(record.outcome == "agree" for record in records)


def _by(measure: Callable[[str, str], float]) -> Callable[[Sequence[QuestionRecord]], bool]:
    def agree(records: Sequence[QuestionRecord]) -> bool:
        return all(
            max(measure(record.said, one) for one in record.answer.split("; ")) >= _SAME
            for record in records
        )

    return agree


# Name → whether all questions about a claim are answered as the claim does.
COMPARISONS: Final[dict[str, Callable[[Sequence[QuestionRecord]], bool]]] = {
    "by figure, date, name and denial, as the pipeline does": _as_the_pipeline,
    "by exact match": _by(exact_match),
    "by token F1 from 0.5": _by(token_f1),
}
