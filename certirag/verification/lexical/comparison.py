"""A claim beside one evidence sentence, and what a check has to say of the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from certirag.verification.lexical.alignment import (
    FROM_CONTEXT,
    SAME,
    UNALIGNED,
    Alignment,
    match,
)
from certirag.verification.lexical.lemmas import VERBS
from certirag.verification.lexical.predicate_clauses import Parsed


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim beside one evidence sentence, aligned."""

    claim: Parsed
    evidence: Parsed
    alignment: Alignment

    def partner(self, at: int) -> int:
        """The evidence position of a claim token, or a negative number."""
        return self.alignment.target[at]

    def used(self) -> set[int]:
        """Evidence positions that bear out a word of the claim."""
        return {position for position in self.alignment.target if position >= 0}

    def used_clauses(self) -> set[int]:
        """The numbers of the evidence clauses that bear out a word of the claim."""
        return {self.evidence.clause_of[position] for position in self.used()}

    def counterpart(self, number: int) -> int:
        """The evidence clause that shares most predicate weight with a claim clause, or -1."""
        clause = self.claim.clauses[number]
        votes: dict[int, float] = {}
        for at in clause.tokens:
            position = self.partner(at)
            if position >= 0:
                token = self.claim.tokens[at]
                weight = 2.0 if clause.verb is not None and at >= clause.verb else 1.0
                weight *= 2.0 if token.lemma in VERBS else 1.0
                home = self.evidence.clause_of[position]
                votes[home] = votes.get(home, 0.0) + weight
        return max(votes, key=lambda home: (votes[home], -home)) if votes else -1


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One reason against entailment; *opposes* where the evidence states the contrary."""

    name: str
    detail: str
    opposes: bool = False


Check = Callable[[Comparison], list[CheckFinding]]


def unsaid_verb(comparison: Comparison) -> bool:
    """Say whether a light verb heads a clause of the claim and nothing bears it out."""
    return any(
        clause.verb is not None
        and comparison.claim.tokens[clause.verb].kind == "light"
        and comparison.partner(clause.verb) == UNALIGNED
        for clause in comparison.claim.clauses
    )


def borne_out(comparison: Comparison, position: int) -> bool:
    """Say whether an evidence token is the same as some word of the claim."""
    token = comparison.evidence.tokens[position]
    return any(
        match(other, token) >= SAME
        for other in comparison.claim.tokens
        if other.carries or other.text.lower() == token.text.lower()
    )


def from_context(comparison: Comparison) -> int:
    """How many words of the claim rest on title and headings alone."""
    return sum(1 for position in comparison.alignment.target if position == FROM_CONTEXT)
