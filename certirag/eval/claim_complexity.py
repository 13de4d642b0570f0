"""How much one claim states, from 1 (nothing by itself) to 5 (three statements or more).

Claims that are too simple lose their context, claims that are too complex cannot be checked as one
(VeriScore, Song et al. 2024; fifth seed, Gap 6). The levels are the pipeline's own reading: what it finds
unfit to be a claim, and the clauses that it tells apart.
"""

from __future__ import annotations

from typing import Final

from certirag.claims.compile import MAX_CLAIM_TOKENS
from certirag.claims.well_formed import problems
from certirag.verification.lexical.predicate_clauses import parse

LEVELS: Final = {
    1: "no statement of its own",
    2: "one statement",
    3: "one statement with a condition, a reason or a relative clause",
    4: "two statements",
    5: "three statements or more",
}
_STATING: Final = ("main", "coordinate", "contrast")


def claim_complexity(claim: str) -> int:
    """Return the level of *claim*, a key of `LEVELS`."""
    found = problems(claim, max_tokens=MAX_CLAIM_TOKENS)
    if any(problem.startswith(("not_checkable", "not_self_contained")) for problem in found):
        return 1
    clauses = [clause for clause in parse(claim).clauses if clause.verb is not None]
    stating = sum(clause.kind in _STATING for clause in clauses)
    return min(stating + 2, 5) if stating > 1 else 3 if len(clauses) > 1 else 2
