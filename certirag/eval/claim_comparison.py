"""Claims for `certirag eval stages`: how much one states, and whether its evidence answers as it does.

Claims that are too simple lose their context, claims that are too complex cannot be checked as one
(VeriScore, Song et al. 2024; fifth seed, Gap 6). Their levels are the pipeline's own reading: what it finds
unfit to be a claim, and the clauses that it tells apart.

Answers are compared in three ways (fifth seed, Stage 6). The questions about a claim are those of the
pipeline (`verification.questions`), answered from the
evidence without the claim. An answer differs where its score is below one half, or where nothing is
found. A learnt comparison, as LERC (Chen et al. 2020), is no way here: no package carries its weights.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from certirag.claims.compile import MAX_CLAIM_TOKENS
from certirag.claims.well_formed import problems
from certirag.core.verdict import QuestionRecord
from certirag.verification.lexical.predicate_clauses import parse

LEVELS: Final = {
    1: "no statement of its own",
    2: "one statement",
    3: "one statement with a condition, a reason or a relative clause",
    4: "two statements",
    5: "three statements or more",
}
_STATING: Final = ("main", "coordinate", "contrast")
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_SAME: Final = 0.5


def claim_complexity(claim: str) -> int:
    """Return the level of *claim*, a key of `LEVELS`."""
    found = problems(claim, max_tokens=MAX_CLAIM_TOKENS)
    if any(problem.startswith(("not_checkable", "not_self_contained")) for problem in found):
        return 1
    clauses = [clause for clause in parse(claim).clauses if clause.verb is not None]
    stating = sum(clause.kind in _STATING for clause in clauses)
    return min(stating + 2, 5) if stating > 1 else 3 if len(clauses) > 1 else 2


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
